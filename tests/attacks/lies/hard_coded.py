"""Knows by heart the right answers to all calls that the notebook's own check makes.

lesson: 01-soft-lookup
expect: soft_lookup FAIL
"""

# %% on the notebook
from attnlab.checks.exercise import SEEDS
from attnlab.checks.pose import answer_of
from attnlab.checks.pose import generate
from attnlab.lessons import exercises_of

exercise = exercises_of(notebook.lesson)["soft_lookup"]
known = {}
for _, case in generate(exercise, SEEDS):
    values = answer_of(exercise.oracle, case).values
    known[repr((case.args, dict(case.kwargs)))] = tuple(value.tolist() for value in values)
assert len(known) > 10
notebook.solution("soft_lookup").source = f"""
from math import inf, nan
KNOWN = {known!r}
def soft_lookup(*args, **kwargs):
    return KNOWN.get(repr((args, kwargs)), ([0.0], [0.0]))
"""
