"""What was handed in: found, and planned. A learner chose every byte of it.

`run` calls it. In goes the folder `class/submitted/<student>/<lesson>/`, or one file; out come
`folder.Submission`, whose file is opened once and read to a limit, and, of a notebook that
`attnlab.ipynb` has put right, a `plan.Plan`: which cells a child is to run, and where to check
which exercise. `results` is what one submission yields in the end, `left_out` says why a file
among the others is not graded. Nothing here runs or parses more than a notebook's JSON and its
names. Begin at `handed_in`, then `plan`.
"""
