"""From a declaration to a card. A case passes each module once, in this order:

`exercise` (what it says of itself), `draw`, `cases` and `large` (what follows from that), `pose`
(each case as a call, with the right answer), then the learner's function is called, `compare` (what
came back against what is right), `diagnose` (which mistake it is), `example` (one of
the `small` calls, which a wrong answer alone is asked, where that can be seen), `judge` (points,
lines and a `verdict`), `card` (shown).

Where nothing can be computed, in a browser, `recorded` has cases that were posed beforehand, and
`arrays` gives `plain` ones for NumPy's.

`recipe` is attention with exchangeable parts: a named mistake is an exchanged part. `in_softmax`,
`in_attention` and `in_heads` hold what goes wrong in them, `bank` what of it an exercise can name,
`mistakes.md` and `crashes.md` what is said of it.
"""
