"""What people are shown: autograded notebooks, feedback, a class's summary.

`run` calls it. In goes what was graded and how it stands; out come text and HTML in which all that
a learner chose is inert: `feedback` is a learner's page, `report` the autograded notebook that an
instructor opens in formgrader, `summary` what a run prints about a class, `standing` the points
beside what a person set. Nothing here opens a gradebook or writes a file. Begin at `feedback`.
"""
