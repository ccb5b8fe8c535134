"""From a case to a card. A case passes each module once, in this order:

`cases` (made and posed, with the right answer), then the learner's function is called, `compare`
(what came back against what is right), `diagnose` (which mistake it is), `judge` (points, lines and
a `verdict`), `card` (shown).
"""
