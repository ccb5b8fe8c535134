"""nbgrader's settings and gradebook, through its API.

`run.classes` calls `Gradebook.record` with what was graded; `term` reads scores for a report or an
LMS. In go `Graded` results; out come what `nbgrader autograde` would have left: a score for each
exercise, its comment, the autograded notebook, so that formgrader and `nbgrader export` work. What
a person set stays, and recording twice is recording once. `course` says where a class's folders and
gradebook are, `rows` finds or makes nbgrader's, `agreement` what to do where notebook, checks and
gradebook disagree. Begin at `gradebook`.
"""
