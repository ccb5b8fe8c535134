"""A synthetic class: notebooks as honest learners hand them in.

`answers` says what learners write in the exercises: right, wrong, half finished. `habits` is what
else they do to a notebook, `front_ends` how their editors save it, and `submissions` deals all
three out to a class, the same for the same seed.
"""
