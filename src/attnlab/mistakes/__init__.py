"""One recipe of attention with exchangeable parts: a named mistake is an exchanged part.

`recipe` has the parts, `in_softmax` and `in_attention` what goes wrong in them. Each slug stands
there once, with its reason, its remedy and all ways to make it. A lesson names the parts that its
exercise has and gets all their mistakes. Two rules keep a diagnosis from falling silent, as it does
where two slugs fit the same numbers:

- What gives the same numbers in every exercise has one slug, and its reason says what both have in
  common: √d_k divided by twice is d_k.
- What gives the same numbers in some exercises is a part of its own, taken only where the numbers
  differ: without a batch, the first axis is that of the queries.
"""
