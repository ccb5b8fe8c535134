"""From a case to a card. A case passes each module once, in this order:

`pose` (made and posed, with the right answer), then the learner's function is called, `compare`
(what came back against what is right), `diagnose` (which mistake it is), `judge` (points, lines and
a `verdict`), `card` (shown).

`recipe` is attention with exchangeable parts: a named mistake is an exchanged part, and
`in_softmax` and `in_attention` hold what goes wrong in them.
"""
