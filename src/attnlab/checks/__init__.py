"""Checks: declare → generate → run → compare → diagnose → show.

The modules in the order that data flows through them: `declare` (what an exercise is), `trial` (its
cases generated and tried), `calling` with `observe`, `deadline` and `torch_calls` (one call,
watched), `compare`, `diagnose` with `advice`, `verdict` (all of it for an exercise, as `findings`),
`card` (shown), `notebook` (`check`, which a lesson calls).
"""
