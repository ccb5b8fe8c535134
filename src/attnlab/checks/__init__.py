"""Checks: declare → generate → run → compare → diagnose → show.

`check` is what a notebook calls. The modules in the order that data flows through them:
`declare` (what an exercise is), `calling` with `observe` and `deadline` (one call, watched),
`compare`, `diagnose` with `advice`, `verdict` (all of it for one exercise), `card` (shown).
"""
