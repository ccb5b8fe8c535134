"""`python -m autograder grade …` with the fake grader: `python -m tests.fake_run grade …`."""

from __future__ import annotations

from functools import partial

from autograder import __main__
from autograder.run import classes, pool
from tests.fake_grader import open_fake

if __name__ == "__main__":
    classes.grade_class = partial(classes.grade_class, opens=open_fake)
    pool.load_ahead = lambda: None  # what real workers need
    __main__._leave(__main__.main())
