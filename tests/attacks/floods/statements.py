"""Has so many statements in its cell that reading them takes longer than running them.

lesson: 06-causal-mask
expect: decoder_mask ERROR
"""

# %% on the notebook
notebook.solution("decoder_mask").source += "\nx = 1" * 30_000
