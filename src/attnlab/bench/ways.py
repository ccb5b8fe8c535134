"""The ways of computing attention that `python -m attnlab.bench` compares, by name.

From lists to the GPU: Python's loops, NumPy, PyTorch with all scores held, tiles (lesson 11's, see
`tiled`), PyTorch's own call as it chooses and with each of its backends, and lesson 13's kernel.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from importlib.util import find_spec
from math import exp
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from attnlab.bench.rows import Refused, Way

Lists = list[list[list[float]]]
Array = np.ndarray[Any, Any]
BACKENDS = {
    "math": SDPBackend.MATH,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "flash": SDPBackend.FLASH_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
}
PEERS = ("sdpa", *BACKENDS)  # what PyTorch brings
ON_CPU = ("python", "numpy", "naive", "tiled", "sdpa")
ON_GPU = ("naive", "tiled", "sdpa", *BACKENDS, "triton")
NAMES = (*ON_CPU, *BACKENDS, "triton")


def ways(causal: bool, device: str, tiled: Callable[..., Any] | None) -> dict[str, Way]:
    """Each way by its name.

    Args:
        causal: whether a query sees no later key.
        device: 'cpu' or 'cuda'.
        tiled: takes q, k, v and causal; None if there is none.
    """
    sdpa = partial(F.scaled_dot_product_attention, is_causal=causal)
    found = {
        "python": Way(partial(in_python, causal), _as_lists, tensors=False),
        "numpy": Way(partial(in_numpy, causal), _as_array, tensors=False),
        "naive": Way(partial(naive, causal)),
        "sdpa": Way(sdpa),
        **{name: Way(sdpa, within=_only(name, device)) for name in BACKENDS},
        "triton": Way(partial(_kernel(), causal=causal), within=_triton(device)),
    }
    if tiled is not None:
        found["tiled"] = Way(partial(tiled, causal=causal))
    return {name: found[name] for name in NAMES if name in found}


def in_python(causal: bool, queries: Lists, keys: Lists, values: Lists) -> Lists:
    """Loops over lists, a row of scores at a time, in Python's own float64.

    Args:
        queries, keys, values: (H, N, d).
    Returns:
        (H, N, d).
    """
    out = []
    for q, k, v in zip(queries, keys, values, strict=True):
        columns = list(zip(*v, strict=True))
        scale = len(q[0]) ** -0.5
        rows = []
        for i, query in enumerate(q):
            seen = k[: i + 1] if causal else k
            scores = [scale * sum(map(float.__mul__, query, key)) for key in seen]
            most = max(scores)
            weights = [exp(score - most) for score in scores]
            total = sum(weights)
            # A query sees the first keys alone, so that `map` may end with them.
            rows.append([sum(map(float.__mul__, weights, column)) / total for column in columns])
        out.append(rows)
    return out


def in_numpy(causal: bool, q: Array, k: Array, v: Array) -> Array:
    """All scores at once, (…, N, N), in NumPy."""
    scores = q @ k.swapaxes(-1, -2) * q.dtype.type(q.shape[-1] ** -0.5)
    if causal:
        scores[..., np.triu(np.ones(scores.shape[-2:], dtype=bool), 1)] = -np.inf
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ v


def naive(causal: bool, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """All scores at once, (…, N, N), in PyTorch: what everyone writes first."""
    scores = q @ k.mT * q.shape[-1] ** -0.5
    if causal:
        later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
        scores = scores.masked_fill(later, -torch.inf)
    return scores.softmax(dim=-1) @ v


def _as_lists(tensor: torch.Tensor) -> Lists:
    return [head.tolist() for head in _on_cpu(tensor, "python")[0].double()]


def _as_array(tensor: torch.Tensor) -> Array:
    if tensor.dtype == torch.bfloat16:
        raise Refused("NumPy has no bfloat16")
    return _on_cpu(tensor, "numpy").numpy()


def _on_cpu(tensor: torch.Tensor, name: str) -> torch.Tensor:
    if tensor.is_cuda:
        raise Refused(f"{name} computes on the CPU alone")
    return tensor


def _only(name: str, device: str) -> Callable[[], AbstractContextManager[Any]]:
    """PyTorch's call with one backend alone; if that refuses, PyTorch's words are the reason."""

    @contextmanager
    def within() -> Iterator[None]:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                with sdpa_kernel(BACKENDS[name]):
                    yield
            except torch.OutOfMemoryError:
                raise
            except RuntimeError as error:
                if "o available kernel" not in str(error) and "o viable backend" not in str(error):
                    raise
                raise Refused(_reason(name, device, [str(each.message) for each in said])) from None

    return within


def _reason(name: str, device: str, warned: list[str]) -> str:
    """Why a backend refuses, out of PyTorch's warnings: those on all other backends are left out.

    PyTorch warns of each backend in turn, 'Flash attention kernel not used because:' first, and
    then of what it lacks.
    """
    plain = [line.partition(" (Triggered internally")[0] for line in warned]
    heads = {"flash": "flash", "efficient": "memory efficient", "cudnn": "cudnn"}
    at = [n for n, line in enumerate(plain) if line.lower().startswith(heads.get(name, "-"))]
    why = plain[at[0] + 1 : at[0] + 2] if at else []
    return " ".join([f"PyTorch has no {name} kernel for these inputs on {device}.", *why])


def _kernel() -> Callable[..., Any]:
    """Lesson 13's kernel, imported when it is first called: Triton is not everywhere."""

    def run(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
        from attnlab.lessons.gpu_sdpa.kernel import attention

        return attention(q, k, v, causal=causal)

    return run


def _triton(device: str) -> Callable[[], AbstractContextManager[Any]]:
    """Says what the kernel lacks here before it is imported."""

    @contextmanager
    def within() -> Iterator[None]:
        if device != "cuda":
            raise Refused("a kernel in Triton runs on a GPU")
        if find_spec("triton") is None:
            raise Refused("Triton is not installed; `pip install triton` gets it, on Linux")
        yield

    return within
