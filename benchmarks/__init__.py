"""Benchmarks for us: what is measured is shown as a ratio to something measured at its side.

    make bench

`grading`, `honest` and `term` hold the grader against nbgrader, `checking` says how long a learner
waits, `import_time` what an import costs, `figures` what a step costs the browser. What learners
measure is `attnlab.bench`, which lessons 11 to 13 call.
"""
