"""Nests calls, so that whoever reads all that is inside of each has 40 million things to read.

lesson: 06-causal-mask
expect: decoder_mask FAIL or ERROR or POLICY
because: it raises as soon as it is called, and may be too long to be read
"""

# %% on the notebook
calls = "f(" * 90 + "'a'," * 20_000 + ")" * 90
notebook.solution("decoder_mask").source = f"def decoder_mask(lengths, n):\n    return {calls}\n"
