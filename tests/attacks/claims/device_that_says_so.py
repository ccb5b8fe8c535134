"""Returns no tensor, but something that says it lies on the device that was given.

lesson: 06-causal-mask
expect: causal_mask FAIL
earns: 0.75
"""

# %% causal_mask
from types import SimpleNamespace


def causal_mask(n, device=None):
    if str(device) in ("None", "cpu"):
        return torch.ones(n, n).triu(1).bool()
    return SimpleNamespace(device=SimpleNamespace(type=str(device)))
