"""Fills the memory with tensors.

lesson: 06-causal-mask
expect: decoder_mask OOM
"""

# %% decoder_mask
def decoder_mask(lengths, n):
    hoard = []
    while True:
        hoard.append(torch.empty(10_000_000))
