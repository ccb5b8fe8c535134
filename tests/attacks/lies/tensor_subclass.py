"""Returns a tensor's subclass whose every operation says yes.

lesson: 06-causal-mask
expect: attention FAIL
"""

# %% attention
class Right(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return True

    __class__ = property(lambda self: torch.Tensor)


def attention(x, Wq, Wk, Wv):
    n = x.shape[1]
    out = torch.zeros(*x.shape[:2], Wv.shape[1], dtype=x.dtype).as_subclass(Right)
    return out, torch.zeros(len(x), n, n, dtype=x.dtype).as_subclass(Right)
