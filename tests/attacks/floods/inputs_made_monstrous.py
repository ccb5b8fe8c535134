"""Makes its input a tensor of 8 terabytes that takes 8 bytes, for whoever looks at it afterwards.

lesson: 06-causal-mask
expect: decoder_mask FAIL or OOM or ERROR
because: the answer is wrong, and looking at what became of the inputs is too much memory
"""

# %% decoder_mask
def decoder_mask(lengths, n):
    lengths.data = torch.zeros(1, dtype=torch.int64).expand(1_000_000, 1_000_000)
    return lengths
