"""Decoding with kept keys and values: the exercise `KVCache`, with its `decode_step`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from attnlab.checks import in_attention, in_softmax
from attnlab.checks.attention import Attention, Parts
from attnlab.checks.bank import mistakes_in
from attnlab.checks.cases import derived
from attnlab.checks.exercise import Case, Claim, Exercise, Formula, Procedure, Slot, promises
from attnlab.checks.inputs import sizes
from attnlab.checks.recipe import Recipe

Generator = np.random.Generator
Tensor = torch.Tensor
Tensors = tuple[Tensor, ...]

GROUPS = promises(
    "gives back all keys and values so far, in their order",
    0.75,
    Claim("shapes", "takes any lengths and leading axes, and keeps two caches apart", 0.25),
    Claim("decode", "decodes as full causal attention does, after a prefill too", 1.25),
    precision_and_large=0.25,
    refuses=0.25,
    unchanged=0.25,
)


# append -------------------------------------------------------------------------------------------


def _all(ks: Tensors, vs: Tensors) -> Tensors:
    return torch.cat(ks, -2), torch.cat(vs, -2)


def _pairs(parts: Tensors) -> tuple[Tensors, Tensors]:
    return parts[::2], parts[1::2]


def _in_parts(lengths: list[int], k: Tensor, v: Tensor) -> Tensors:
    """Keys and values in turn, cut into parts of these lengths."""
    cut = k.split(lengths, -2), v.split(lengths, -2)
    return tuple(part for pair in zip(*cut, strict=True) for part in pair)


def _lengths(rng: Generator, n: int) -> list[int]:
    """Four lengths, as far as there are tokens for them, that make n."""
    ends = sorted(rng.choice(np.arange(1, n), min(n, 4) - 1, replace=False)) if n > 1 else []
    return [int(length) for length in np.diff([0, *ends, n])]


KEPT = (Slot("k_all", "tensor", "… M d_k"), Slot("v_all", "tensor", "… M d_v"))
BY_TURNS = 10  # keys and values that only the case with two caches has
OF_TWO = tuple(replace(slot, name=f"{slot.name} of cache {at}") for at in (1, 2) for slot in KEPT)
NAMES = tuple(f"{name}{at}" for at in range(1, 9) for name in ("k", "v"))
APPEND = Procedure("caching.append", KEPT, lambda *parts: _all(*_pairs(parts)), NAMES)
IN_TWO = Procedure("caching.two_caches", OF_TWO, lambda *parts: _of_two(_all, parts), NAMES)


def _of_two(append: Callable[[Tensors, Tensors], Tensors], parts: Tensors) -> Tensors:
    """What two caches give back that are filled by turns."""
    ks, vs = _pairs(parts)
    return *append(ks[::2], vs[::2]), *append(ks[1::2], vs[1::2])


def _appended(rng: Generator) -> Iterator[Case]:
    appending = Exercise(
        "append",
        "append(k, v) -> (k_all, v_all)",
        ("… n k", "… n v"),
        read="",
        returns=KEPT,
        claims=GROUPS[:2],
        stage="torch",
    )
    for case in derived(appending, rng):
        k = case.args[0]
        lengths = _lengths(rng, k.shape[-2])
        args, earlier = (
            _in_parts(lengths, *given) if given else () for given in (case.args, case.earlier)
        )
        group = case.claim if k.ndim > 2 else "shapes"
        yield replace(case, claim=group, args=args, earlier=earlier, procedure=APPEND)
    few, more, d_k, d_v, b = sizes(rng, 5)

    def parts(lengths: list[int], *leading: int) -> Tensors:
        n = sum(lengths)
        k, v = (torch.from_numpy(rng.normal(size=(*leading, n, d))) for d in (d_k, d_v))
        return _in_parts(lengths, k, v)

    for lengths in ([1, 1], [few, more], [more, 1, few]):
        note = f"parts of {' and '.join(map(str, lengths))} tokens are appended"
        yield Case("values", parts(lengths, b), note=note, procedure=APPEND)
    for lengths in ([few, 0, 1], [0, more], [few, int(rng.integers(4100, 5000)), 1]):
        note = f"parts of {', '.join(map(str, lengths))} tokens are appended"
        yield Case("shapes", parts(lengths, 1), note=note, procedure=APPEND)
    note = "there are batch and head axes"
    yield Case("shapes", parts([few, few], b, 2), note=note, procedure=APPEND)
    note = "two caches are appended to, by turns"
    yield Case("shapes", parts([few, 1, more, few, 1], b), note=note, procedure=IN_TWO)
    for kept, other in ((b, b + 1), (b, b - 1), (b, 1), (1, b)):
        note = f"the cache is of a batch of {kept} and gets one of {other}"
        yield _refused((*parts([few], kept), *parts([1], other)), note)
    for at, what in ((2, "keys"), (3, "values")):
        wide = [*parts([few, 1], b)]
        wide[at] = torch.cat([wide[at], wide[at][..., :1]], -1)
        yield _refused(tuple(wide), f"{what} are wider than before")


def _refused(parts: Tensors, note: str) -> Case:
    raises = "ValueError or RuntimeError"
    return Case("refuses", parts, raises=raises, note=note, procedure=APPEND)


# decode_step --------------------------------------------------------------------------------------


def _projected(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor, before: int = 0) -> Parts:
    future = torch.ones(x.shape[1], x.shape[1]).triu(1).bool()
    return Parts(x @ Wq, x @ Wk, x @ Wv, x, blocked=future)


def _steps(out: Tensor, weights: Tensor, *args: Any) -> Any:
    """The rows of the tokens that were not in the cache before."""
    rows = out[:, args[-1] :].split(1, 1)
    return rows if len(rows) > 1 else rows[0]


FULL = Attention(_projected, _steps)


def _decoded(rng: Generator) -> Iterator[Case]:
    decoding = Exercise(
        "decode_step",
        "decode_step(x, Wq, Wk, Wv) -> out",
        ("b n d", "d k", "d k", "d v"),
        read="",
        returns=(Slot("out", "tensor", "B N d_v"),),
        claims=GROUPS[2:4],
        attention=FULL,
        causal=True,
        stage="torch",
    )
    for case in derived(decoding, rng):
        n = case.args[0].shape[1]
        before = int(rng.integers(n))
        slots = tuple(Slot(f"out for token {at}", "tensor", "B 1 d_v") for at in range(before, n))
        yield replace(
            case,
            args=(*case.args, before),
            earlier=(*case.earlier, before) if case.earlier else (),
            exact_zeros=False,
            about=(*case.about, "decode"),
            procedure=Procedure(
                "caching.decode", slots, FULL.oracle, (*decoding.parameters, "tokens before")
            ),
        )


def _cases(rng: Generator) -> Iterator[Case]:
    yield from _appended(rng)
    yield from _decoded(rng)


# What goes wrong ----------------------------------------------------------------------------------


def _mistaken(
    append: Callable[[Tensors, Tensors], Any] = _all, decode: Formula = FULL.oracle
) -> Formula:
    """What comes of every case if one of the two is wrong."""

    def answer(*args: Any) -> Any:
        if isinstance(args[-1], int):
            return decode(*args)
        if any(part.shape[:-2] != args[0].shape[:-2] for part in args):
            raise ValueError("this cannot be joined")
        return _of_two(append, args) if len(args) == BY_TURNS else append(*_pairs(args))

    return answer


def _in_one_store(*args: Any) -> Any:
    """What two caches give back that keep all in one place."""
    if len(args) != BY_TURNS:
        return _mistaken()(*args)
    return *_all(*_pairs(args)), *_all(*_pairs(args[:-2]))


def _of_each(change: Callable[[Tensors], Any]) -> Formula:
    """What is returned of all keys, and likewise of all values."""
    return _mistaken(lambda ks, vs: (change(ks), change(vs)))


def _along(axis: int) -> Formula:
    return _of_each(lambda parts: torch.cat(parts, axis))


def _newest(most: int) -> Formula:
    return _of_each(lambda parts: torch.cat(parts, -2)[..., -most:, :])


def _stepping(step: Callable[..., Tensor]) -> Formula:
    """Each step by this: from queries, keys, values and tokens so far, and how many came before."""

    def decode(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor, before: int) -> Any:
        outs = [
            step(*(seen @ W for W in (Wq, Wk, Wv)), seen, before)
            for seen in (x[:, : at + 1] for at in range(before, x.shape[1]))
        ]
        return outs[0] if len(outs) == 1 else tuple(outs)

    return _mistaken(decode=decode)


def _by_recipe(recipe: Recipe) -> Formula:
    return _stepping(lambda q, k, v, x, before: recipe.compute(q[:, -1:], k, v, x[:, -1:])[0])


def _sdpa(q: Tensor, k: Tensor, v: Tensor, **how: Any) -> Tensor:
    return F.scaled_dot_product_attention(q[:, -1:], k, v, **how)


def _twice(part: Tensor, before: int, last: int) -> Tensor:
    """Tokens in the cache twice from the step on; the last one so many times."""
    doubled = part[:, before:].repeat_interleave(2, 1)
    return torch.cat([part[:, :before], doubled[:, : doubled.shape[1] - 2 + last]], 1)


SHARED = mistakes_in(
    _by_recipe,
    in_softmax.SOFTMAX,
    in_softmax.NO_SOFTMAX,
    in_softmax.BATCH,
    in_softmax.LARGE,
    in_softmax.PRECISION,
    in_attention.SCALE,
    in_attention.SCALE_LATE,
    in_attention.SCALE_BY_FIRST_AXIS,
    in_attention.SCALE_BY_VALUES,
    in_attention.SCALE_BY_INPUT,
    in_attention.SCORES,
    in_attention.RESHAPED,
    in_attention.MIX,
    in_attention.ROOT,
)

KV_CACHE = Exercise(
    name="KVCache",
    signature="KVCache() with append(k, v) -> (k_all, v_all); "
    "decode_step(x_t, cache, Wq, Wk, Wv) -> out",
    axes=(),  # it is used by procedures alone
    read="Keep what does not change: a cache",
    returns=KEPT,
    claims=GROUPS,
    cases=_cases,
    banned="attention",
    mistakes={
        **{
            each.slug: tuple(one.answer for one in SHARED if one.slug == each.slug)
            for each in SHARED
            if each.slug not in ("scale-by-sqrt-n", "best-value-only")  # one query; no weights seen
        },
        "cache-overwritten": (
            _of_each(lambda parts: parts[-1]),
            _mistaken(lambda ks, vs: (torch.cat(ks, -2), vs[-1])),
            _mistaken(lambda ks, vs: (ks[-1], torch.cat(vs, -2))),
        ),
        "joined-and-not-kept": (
            _of_each(lambda parts: parts[0]),
            _of_each(lambda parts: torch.cat(parts[-2:], -2)),
            _of_each(lambda parts: torch.cat([parts[0], *parts[1:][-1:]], -2)),
        ),
        "before-the-append": _of_each(lambda parts: torch.cat(parts[:-1] or parts, -2)),
        "new-before-old": _of_each(lambda parts: torch.cat(parts[::-1], -2)),
        "keeps-so-many": tuple(
            _newest(most)
            for most in (8, 10, 16, 20, 32, 50, 64, 100, 128, 256, 512, 1000, 1024, 2048, 4096)
        ),
        "swapped-results": _mistaken(lambda ks, vs: _all(vs, ks)),
        "keys-as-values": (
            _mistaken(lambda ks, vs: _all(ks, ks)),
            *(one.answer for one in SHARED if one.slug == "keys-as-values"),
        ),
        "appended-twice": (
            _of_each(lambda parts: torch.cat([one for part in parts for one in (part, part)], -2)),
            *(
                _stepping(
                    lambda q, k, v, x, before, last=last: _sdpa(
                        q, _twice(k, before, last), _twice(v, before, last)
                    )
                )
                for last in (1, 2)
            ),
        ),
        "joined-along-another-axis": (_along(0), _along(1), _along(-1)),
        "stacked": _of_each(torch.stack),
        "shared-by-caches": _in_one_store,
        "own-token-missing": _stepping(
            lambda q, k, v, x, before: _sdpa(q, k[:, :-1], v[:, :-1]) if k.shape[1] > 1 else v
        ),
        "cache-not-read": _stepping(lambda q, k, v, x, before: v[:, -1:]),
        "cache-not-filled": _stepping(
            lambda q, k, v, x, before: _sdpa(
                q, *(torch.cat([part[:, :before], part[:, -1:]], 1) for part in (k, v))
            )
        ),
        "mask-top-left": _stepping(lambda q, k, v, x, before: _sdpa(q, k, v, is_causal=True)),
        "scale-by-sqrt-n": _stepping(
            lambda q, k, v, x, before: _sdpa(q, k, v, scale=k.shape[1] ** -0.5)
        ),
        "swapped-q-k": _stepping(
            lambda q, k, v, x, before: _sdpa(k, torch.cat([k[:, :before], q[:, before:]], 1), v)
        ),
        "queries-from-w-k": _stepping(lambda q, k, v, x, before: _sdpa(k, k, v)),
        "keys-from-w-q": _stepping(
            lambda q, k, v, x, before: _sdpa(q, torch.cat([k[:, :before], q[:, before:]], 1), v)
        ),
    },
)
