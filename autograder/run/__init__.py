"""A submission graded, and a whole class: in parallel, resumable.

The commands `grade` and `grade-file` call it. In goes an order: which lesson, whom, which seed; out
come rows in the gradebook, autograded notebooks, feedback, a line a submission in the journal, and
results as JSON. `classes` finds everyone and alone writes; `engine` hands submissions to workers,
of this machine (`pool`) or of a cluster; in a `worker`, `marking` reads the file and `grade` does
the rest: rebuild, run, judge, report. What a kill leaves without a line in the `journal` is graded
again, with the same seed. Begin at `grade`, which is one submission, then `classes`.
"""
