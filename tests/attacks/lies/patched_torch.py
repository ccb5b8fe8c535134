"""Makes every comparison that PyTorch has say yes.

lesson: 06-causal-mask
expect: decoder_mask FAIL
"""

# %% decoder_mask
def yes(*things, **options):
    return torch.ones((), dtype=torch.bool)


for name in ("allclose", "isclose", "equal", "eq", "all", "isfinite"):
    setattr(torch, name, yes)
    setattr(torch.Tensor, name, yes)
torch.testing.assert_close = yes


def decoder_mask(lengths, n):
    return torch.ones(len(lengths), 1, n, n, dtype=torch.bool)
