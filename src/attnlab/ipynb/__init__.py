"""Notebooks as files: read from whatever bytes they are, put right, written whole or not at all.

The grader puts a submission right with it, and a learner's own copy is upgraded with it.
"""
