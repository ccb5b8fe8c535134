"""Has so many statements in its right answer's cell that they take longer to read than to run.

lesson: 06-causal-mask
expect: nothing
"""

# %% on the notebook
notebook.solution("decoder_mask").source += "\nx = 1" * 30_000
