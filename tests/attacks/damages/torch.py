"""Changes PyTorch's defaults and functions for the following exercises.

lesson: 06-causal-mask
expect: attention FAIL or ERROR
because: some of the changes break what calls it
spoils: its own answers
"""

# %% attention
def attention(x, Wq, Wk, Wv):
    torch.set_default_dtype(torch.float16)
    torch.set_default_device("meta")
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(1)
    torch.arange = torch.triu = torch.ones = lambda *things, **options: torch.zeros(1)
    torch.Tensor.__lt__ = lambda self, other: self
    torch._C._set_grad_enabled(False)
    return x, x
