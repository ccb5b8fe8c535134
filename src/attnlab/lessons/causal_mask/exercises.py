"""Lesson 06's exercises: the causal mask, attention that does not look ahead, and padding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch

from attnlab.checks.attention import Attention, Parts
from attnlab.checks.exercise import (
    LARGE_AND_BLOCKED,
    Case,
    Claim,
    Exercise,
    Slot,
    promises,
)
from attnlab.lessons.causal_mask.looking import LOOKS_AHEAD

Tensor = torch.Tensor


# causal_mask --------------------------------------------------------------------------------------


def _blocked(n: int, device: Any = None) -> Tensor:
    """True = blocked: where PyTorch's own causal float mask is -inf."""
    return torch.nn.Transformer.generate_square_subsequent_mask(n).isinf()


def _from_diagonal(k: int) -> Any:
    return lambda n, device=None: torch.ones(n, n).triu(k).bool()


def _on_a_device(rng: np.random.Generator) -> Iterator[Case]:
    n = int(rng.integers(2, 9))
    yield Case("device", (n,), {"device": "cpu"}, note="a device is given")
    note = "the device that is given is not the CPU"
    yield Case("device", (n,), {"device": "meta"}, laid="meta", note=note)


CAUSAL_MASK = Exercise(
    name="causal_mask",
    signature="(n, device=None) -> (n, n) bool",
    axes=("=n",),
    read="The lower triangle",
    returns=(Slot("blocked", "tensor", "n n"),),
    claims=promises(
        "is True above the diagonal alone (True = blocked)",
        0.5,
        Claim("device", "is made on the device that it is given", 0.25),
        shapes=0.25,
    ),
    oracle=_blocked,
    cases=_on_a_device,
    mistakes={
        "mask-inverted": lambda n, device=None: ~_blocked(n),
        "mask-transposed": lambda n, device=None: _blocked(n).mT,
        "mask-off-by-one": (_from_diagonal(0), _from_diagonal(2), _from_diagonal(-1)),
        "nothing-blocked": lambda n, device=None: torch.zeros(n, n, dtype=torch.bool),
        "all-blocked": lambda n, device=None: torch.ones(n, n, dtype=torch.bool),
        "diagonal-only": lambda n, device=None: ~torch.eye(n, dtype=torch.bool),
    },
)


# attention ----------------------------------------------------------------------------------------


def _projected(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> Parts:
    return Parts(x @ Wq, x @ Wk, x @ Wv, x, blocked=_blocked(x.shape[-2]))


BLOCK = Attention(_projected)
ATTENTION = Exercise(
    name="attention",
    signature="(x, Wq, Wk, Wv) -> (out, weights)",
    axes=("b n d", "d k", "d k", "d v"),
    read="Attention that does not look ahead",
    returns=(Slot("out", "tensor", "B N d_v"), Slot("weights", "tensor", "B N N")),
    claims=promises(
        "equals F.scaled_dot_product_attention(…, is_causal=True)",
        3.0,
        Claim("large", f"{LARGE_AND_BLOCKED}, and keeps its digits", 0.5, also=("precision",)),
        gradient=0.75,
        shapes=0.25,
        refuses=0.25,
        unchanged=0.25,
    ),
    attention=BLOCK,
    causal=True,
    banned="attention",
)


# padding_mask and decoder_mask --------------------------------------------------------------------


def _lengths(rng: np.random.Generator, sizes: Mapping[str, Any]) -> Tensor:
    """Lengths from 0 to the number of positions, or to one less; 0 and the longest among them."""
    longest = sizes["n"] - int(rng.integers(2))
    lengths = rng.integers(0, longest + 1, sizes["b"])
    if len(lengths) > 2:
        lengths[rng.choice(len(lengths), 3, replace=False)] = 0, longest, min(2, longest)
    return torch.from_numpy(lengths)


def _padding(lengths: Tensor, max_len: int) -> Tensor:
    """True = real token: sentences of ones, padded with zeros by PyTorch."""
    ones = [torch.ones(int(length)) for length in lengths] + [torch.ones(max_len)]
    return torch.nn.utils.rnn.pad_sequence(ones, batch_first=True)[:-1].bool()


PADDING_MASK = Exercise(
    name="padding_mask",
    signature="(lengths, max_len) -> (B, max_len) bool",
    axes=("b", "=n"),
    drawn={"lengths": _lengths},
    read="Padding",
    returns=(Slot("real", "tensor", "B max_len"),),
    claims=promises("is True for the real tokens (True = real)", 0.5, shapes=0.25, unchanged=0.25),
    oracle=_padding,
    mistakes={
        "mask-inverted": lambda lengths, n: ~_padding(lengths, n),
        "length-off-by-one": (
            lambda lengths, n: _padding((lengths + 1).clamp(max=n), n),
            lambda lengths, n: _padding((lengths - 1).clamp(min=0), n),
            lambda lengths, n: _padding(lengths.clamp(min=1), n),
        ),
        "padding-on-the-left": lambda lengths, n: _padding(lengths, n).flip(-1),
        "mask-transposed": lambda lengths, n: _padding(lengths, n).mT,
        "nothing-masked": lambda lengths, n: torch.ones(len(lengths), n, dtype=torch.bool),
        "one-token-only": lambda lengths, n: torch.arange(n) == (lengths - 1)[:, None],
        "longest-for-all": lambda lengths, n: _padding(lengths.max().expand(len(lengths)), n),
        "first-for-all": lambda lengths, n: _padding(lengths[:1].expand(len(lengths)), n),
    },
)


def _keys(lengths: Tensor, n: int) -> Tensor:
    """True = real, as (B, 1, 1, n)."""
    return _padding(lengths, n)[:, None, None, :]


def _decoder(lengths: Tensor, n: int) -> Tensor:
    """True = attend: neither in the future nor padding."""
    return ~_blocked(n) & _keys(lengths, n)


def _to_diagonal(k: int) -> Any:
    return lambda lengths, n: torch.ones(n, n).tril(k).bool() & _keys(lengths, n)


DECODER_MASK = Exercise(
    name="decoder_mask",
    signature="(lengths, n) -> (B, 1, n, n) bool",
    axes=("b", "=n"),
    drawn={"lengths": _lengths},
    read="Causal and padding in one",
    returns=(Slot("attend", "tensor", "B 1 n n"),),
    claims=promises(
        "is True for real keys that are not in the future", 1.25, shapes=0.5, unchanged=0.25
    ),
    oracle=_decoder,
    mistakes={
        "mask-inverted": lambda lengths, n: ~_decoder(lengths, n),
        "padding-missing": lambda lengths, n: ~_blocked(n).expand(len(lengths), 1, n, n),
        "mask-missing": lambda lengths, n: _keys(lengths, n).expand(-1, 1, n, n),
        "or-not-and": lambda lengths, n: ~_blocked(n) | _keys(lengths, n),
        "padding-on-queries": lambda lengths, n: ~_blocked(n) & _keys(lengths, n).mT,
        "mask-transposed": lambda lengths, n: ~_blocked(n).mT & _keys(lengths, n),
        "mask-off-by-one": (_to_diagonal(-1), _to_diagonal(1)),
        "length-off-by-one": (
            lambda lengths, n: _decoder((lengths + 1).clamp(max=n), n),
            lambda lengths, n: _decoder(lengths.clamp(min=1), n),
        ),
        "causal-inverted": lambda lengths, n: _blocked(n) & _keys(lengths, n),
        "not-of-both": lambda lengths, n: ~(_blocked(n) & _keys(lengths, n)),
        "padding-reads-itself": lambda lengths, n: _decoder(lengths, n) | torch.eye(n).bool(),
        "padding-inverted": lambda lengths, n: ~_blocked(n) & ~_keys(lengths, n),
        "head-axis-missing": lambda lengths, n: _decoder(lengths, n)[:, 0],
        "first-for-all": lambda lengths, n: _decoder(lengths[:1].expand(len(lengths)), n),
    },
)

EXERCISES = (CAUSAL_MASK, ATTENTION, LOOKS_AHEAD, PADDING_MASK, DECODER_MASK)
