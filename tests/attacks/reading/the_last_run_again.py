"""Is handed in by someone else, after the one who left a note.

lesson: 01-soft-lookup
expect: soft_lookup FAIL
"""

# %% on the notebook
from tests.attacks import HERE, read

notes = dict(read(HERE / "reading" / "the_last_run.py").cells)["soft_lookup"]
right = notebook.solution("soft_lookup").source
notebook.solution("soft_lookup").source = notes.replace("RIGHT_ANSWER", right)
