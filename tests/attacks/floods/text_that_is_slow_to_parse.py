"""Has a text in its cell that takes Python the square of its length to parse, and then no end.

lesson: 06-causal-mask
expect: attention ERROR or TIMEOUT
because: whether Python gives up before its time is up depends on the machine
limits: short
"""

# %% on the notebook
notebook.solution("attention").source = "f'" + "{a}" * 340_000 + "'\nx=+*"
