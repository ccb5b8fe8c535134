"""Lays modules beside its notebook that the grader might import; its answers are right.

lesson: 01-soft-lookup
expect: nothing
"""

# %% in the folder
for name in ("attnlab", "numpy", "json", "sitecustomize", "usercustomize", "nbgrader_config"):
    for place in (path.parent, folder):
        text = "open('/tmp/left-by-an-attack', 'w')\nraise SystemExit('imported')\n"
        (place / f"{name}.py").write_text(text)
