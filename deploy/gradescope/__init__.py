"""The grader as a Gradescope autograder.

    python -m deploy.gradescope 06-causal-mask

writes dist/gradescope-06-causal-mask.zip, by the layout that Gradescope publishes: `setup.sh`, run
once as its image is made, `run_autograder`, run for each submission, and what they need. Unpacked
there at /autograder/source, it holds the grader, the released notebooks, the package and `key`: no
solutions. It is tried in a container of that layout, see deploy/tried/; not on Gradescope.
"""
