"""Attention in heads: how they are laid out, and what goes wrong that only heads make possible."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from attnlab.checks.attention import Attention, Parts
from attnlab.checks.exercise import Formula, State
from attnlab.checks.recipe import Recipe, Tensor

Layout = Callable[..., Tensor]
Project = Callable[[State, str, Tensor], Tensor]


# Layouts: tokens (B, N, d), heads (B, H, N, d/H) --------------------------------------------------


def into_heads(x: Tensor, n_heads: int) -> Tensor:
    """PyTorch's own pieces of the last axis."""
    return torch.stack(torch.tensor_split(x, n_heads, dim=-1), dim=1)


def into_tokens(heads: Tensor) -> Tensor:
    return torch.cat(heads.unbind(1), dim=-1)


def in_reading_order(x: Tensor, n_heads: int) -> Tensor:
    return x.reshape(x.shape[0], n_heads, x.shape[1], -1)


def every_so_many(x: Tensor, n_heads: int) -> Tensor:
    """Head h gets the entries h, h + H, h + 2 H, …"""
    return x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)


def merged_in_reading_order(heads: Tensor) -> Tensor:
    return heads.reshape(heads.shape[0], heads.shape[2], -1)


def in_turn(heads: Tensor) -> Tensor:
    """The first entry of each head, then the second of each, …"""
    return heads.permute(0, 2, 3, 1).flatten(2)


def _tokens_first(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (n_heads, -1))


def _all_of_it(x: Tensor, n_heads: int) -> Tensor:
    """The whole width for each head."""
    return x.unsqueeze(1).expand(-1, n_heads, -1, -1)


def _first(heads: Tensor) -> Tensor:
    return heads[:, 0]


def _alone(keep: int) -> Layout:
    """All heads but one are lost."""

    def merge(heads: Tensor) -> Tensor:
        kept = torch.zeros_like(heads)
        kept[:, keep] = heads[:, keep]
        return into_tokens(kept)

    return merge


def _reread(heads: Tensor) -> Tensor:
    """(B, H, …) flattened to (B·H, …) and read back as (H, B, …)."""
    b, h = heads.shape[:2]
    return heads.flatten(0, 1).unflatten(0, (h, b)).transpose(0, 1)


def indivisible(rng: np.random.Generator) -> Iterator[tuple[int, int, str]]:
    """A width and numbers of heads that cannot share it: one over, one missing, more than d."""
    h, width = map(int, rng.choice([2, 3, 5, 6, 7], 2, replace=False))
    for d, heads in ((h * width + 1, h), (h * width - 1, h), (width, width + h)):
        yield d, heads, f"d = {d} does not divide by {heads} heads"


# A module with heads ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Heads:
    """A module's forward pass with heads, made of exchangeable parts.

    Attributes:
        given: takes what `forward` takes; says what queries, keys and values are made from, and
            what is blocked in each head's scores, None where nothing is.
        names: of the linears that make them.
        split, merge: the layouts.
        project: what the linear of a name makes of its input.
    """

    given: Callable[..., tuple[Tensor, Tensor, Tensor, Tensor | None]]
    names: tuple[str, ...] = ("W_q", "W_k", "W_v")
    split: Layout = into_heads
    merge: Layout = into_tokens
    project: Project = State.linear

    @property
    def attention(self) -> Attention:
        return Attention(self._parts, self._finish)

    def _parts(self, state: State, *args: Any, **kwargs: Any) -> Parts:
        n_heads = [size for size in state.sizes if not isinstance(size, bool)][-1]
        *sources, blocked = self.given(*args, **kwargs)
        q, k, v = (
            self.split(self.project(state, name, of), n_heads)
            for name, of in zip(self.names, sources, strict=True)
        )
        return Parts(q, k, v, into_heads(sources[0], n_heads), blocked)

    def _finish(
        self, out: Tensor, weights: Tensor, state: State, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        return self.project(state, "W_o", self.merge(out)), weights


def _instead(project: Project, *names: str) -> Project:
    """Another way to project, used for these linears alone."""
    return lambda state, name, x: (project if name in names else State.linear)(state, name, x)


def _wrong_side(state: State, name: str, x: Tensor) -> Tensor:
    return x @ state[f"{name}.weight"]


def _wrong_side_and_bias(state: State, name: str, x: Tensor) -> Tensor:
    return _wrong_side(state, name, x) + state.get(f"{name}.bias", 0.0)


def mistakes(heads: Heads) -> dict[str, Formula | tuple[Formula, ...]]:
    """What goes wrong in heads, whatever they attend to."""
    right = heads.attention.oracle
    whole = replace(heads, split=_all_of_it, merge=_first).attention
    linears = (*heads.names, "W_o"), heads.names, ("W_o",)

    def laid(**parts: Any) -> Formula:
        return replace(heads, **parts).attention.oracle

    def exchanged(**parts: Any) -> Formula:
        return heads.attention.answer(Recipe(**parts))

    def projected(project: Project) -> tuple[Formula, ...]:
        return tuple(laid(project=_instead(project, *names)) for names in linears)

    def with_residual(state: State, x: Tensor, *args: Any, **kwargs: Any) -> Any:
        out, weights = right(state, x, *args, **kwargs)
        return out + x, weights

    return {
        "heads-not-transposed": (
            laid(split=in_reading_order),
            laid(split=in_reading_order, merge=merged_in_reading_order),
            laid(merge=merged_in_reading_order),
        ),
        "heads-interleaved": (
            laid(split=every_so_many),
            laid(split=every_so_many, merge=in_turn),
            laid(merge=in_turn),
        ),
        "heads-attend-to-heads": (
            laid(split=_tokens_first, merge=lambda heads: heads.flatten(2)),
            laid(split=_tokens_first),
        ),
        "heads-and-batch-exchanged": (
            laid(merge=lambda heads: into_tokens(_reread(heads))),
            exchanged(give=lambda out, at: (out, _reread(at.weights))),
            exchanged(give=lambda out, at: (_reread(out), _reread(at.weights))),
        ),
        "heads-share-a-pattern": exchanged(mix=lambda at: at.weights.mean(1, keepdim=True) @ at.v),
        "same-slice-for-all": exchanged(
            roles=lambda q, k, v, x: tuple(part[:, :1].expand_as(part) for part in (q, k, v))
        ),
        "one-head-only": (laid(merge=_alone(0)), laid(merge=_alone(-1))),
        "not-split": tuple(
            whole.answer(Recipe(scale=scale, give=give))
            for scale in (
                lambda at: at.q.shape[-1] ** -0.5,
                lambda at: (at.q.shape[-1] / at.q.shape[1]) ** -0.5,
            )
            for give in (
                lambda out, at: (out, at.weights),
                lambda out, at: (out, at.weights[:, 0]),
                lambda out, at: (out, at.weights[:, :1]),
            )
        ),
        "scale-by-sqrt-d": exchanged(scale=lambda at: (at.q.shape[-1] * at.q.shape[1]) ** -0.5),
        "scale-by-sqrt-heads": exchanged(scale=lambda at: at.q.shape[1] ** -0.5),
        "softmax-over-heads": (
            exchanged(weigh=lambda s: torch.softmax(s, 1)),
            exchanged(weigh=lambda s: torch.softmax(s, 1).nan_to_num()),
        ),
        "weights-not-per-head": (
            exchanged(give=lambda out, at: (out, at.weights.mean(1))),
            exchanged(
                give=lambda out, at: (
                    out,
                    at.weights.mean(1, keepdim=True).expand_as(at.weights),
                )
            ),
            exchanged(give=lambda out, at: (out, at.weights[:, 0])),
            exchanged(give=lambda out, at: (out, at.weights[:, -1])),
        ),
        "swapped-k-v": exchanged(roles=lambda q, k, v, x: (q, v, k)),
        "swapped-results": lambda *args, **kwargs: right(*args, **kwargs)[::-1],
        "residual-added": with_residual,
        "output-not-mixed": laid(project=_instead(lambda state, name, x: x, "W_o")),
        "bias-ignored": projected(lambda state, name, x: x @ state[f"{name}.weight"].mT),
        "weight-not-transposed": (*projected(_wrong_side), *projected(_wrong_side_and_bias)),
        # W_o comes after the cut, and learns.
        "no-gradient": (
            exchanged(mix=lambda at: (at.weights @ at.v).detach()),
            exchanged(
                mix=lambda at: (at.weights @ at.v).detach(),
                give=lambda out, at: (out, at.weights.detach()),
            ),
        ),
    }
