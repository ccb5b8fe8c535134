"""Decoding with kept keys and values: the exercise `KVCache`, with its `decode_step`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from attnlab.checks import in_attention, in_softmax
from attnlab.checks.exercise import (
    FLOAT32_TOLERANCE,
    Case,
    Exercise,
    Group,
    Mistake,
    Slot,
    Way,
    unchanged,
)
from attnlab.checks.inputs import ones_in_turn, sizes
from attnlab.checks.recipe import Recipe, Tensor, mistakes_in
from attnlab.lessons.cost import LESSON
from attnlab.lessons.pytorch.exercises import REFUSED, normal

Generator = np.random.Generator
KEPT = (Slot("k_all", "tensor", "… M d_k"), Slot("v_all", "tensor", "… M d_v"))
OF_TWO = tuple(
    Slot(f"{name} of the {which} cache", "tensor", axes)
    for which in ("first", "second")
    for name, axes in (("k_all", "… M d_k"), ("v_all", "… M d_v"))
)
NAMES = tuple(f"{name}{at}" for at in range(1, 6) for name in ("k", "v"))
WEIGHTS = ("x", "Wq", "Wk", "Wv", "tokens before")


def _parts(rng: Generator, lengths: list[int], *leading: int, d_k: int, d_v: int) -> Any:
    """Keys and values in turn, (…, L, d_k) and (…, L, d_v), for each of these lengths."""
    return tuple(normal(rng, *leading, n, width) for n in lengths for width in (d_k, d_v))


def _joined(*parts: Tensor) -> Any:
    """Every second of them, put together along axis −2: the keys, and the values."""
    return torch.cat(parts[::2], dim=-2), torch.cat(parts[1::2], dim=-2)


IN_TWO = 8  # keys and values that only the case with two caches has


def _of_two(*parts: Tensor, append: Callable[..., Any] = _joined) -> Any:
    """Of two caches that are filled by turns."""
    pairs = list(zip(parts[::2], parts[1::2], strict=True))
    return tuple(
        whole
        for at in range(2)
        for whole in append(*(part for pair in pairs[at::2] for part in pair))
    )


def _appended(group: str, parts: Any, note: str, **how: Any) -> Case:
    return Case(group, parts, note=note, way=Way("caching.append", KEPT, _joined, NAMES), **how)


def _tokens(rng: Generator, b: int, n: int, d: int, d_k: int, d_v: int) -> tuple[Tensor, ...]:
    """x, W_q, W_k and W_v; queries and keys of about unit variance."""
    x = normal(rng, b, n, d)
    return x, *(normal(rng, d, width, std=d**-0.5) for width in (d_k, d_k, d_v))


def _decoded(group: str, inputs: tuple[Tensor, ...], prefill: int, note: str, **how: Any) -> Case:
    steps = range(prefill, inputs[0].shape[1])
    slots = tuple(Slot(f"out for token {at}", "tensor", "B 1 d_v") for at in steps)
    way = Way("caching.decode", slots, RIGHT, WEIGHTS)
    return Case(group, (*inputs, prefill), note=note, way=way, **how)


def _cases(rng: Generator) -> Iterator[Case]:
    b, few, more, d_k, d_v, h = sizes(rng, 6)
    width = {"d_k": d_k, "d_v": d_v}
    yield _appended("values", _parts(rng, [few], b, **width), "one part is appended")
    note = "one token is appended after another"
    yield _appended("values", _parts(rng, [1, 1], b, **width), note)
    note = "some tokens are appended, then others"
    yield _appended("values", _parts(rng, [few, more], b, **width), note)
    note = "three parts are appended"
    yield _appended("values", _parts(rng, [more, 1, few], b, **width), note)

    for lengths in ([1, few, 1], [few, 0, 1], [0, more], [few, few, few]):
        note = f"parts of {', '.join(map(str, lengths))} tokens are appended"
        yield _appended("lengths", _parts(rng, lengths, b, **width), note)
    parts = _parts(rng, [few, few], b, h, **width)
    yield _appended("leading", parts, "there are batch and head axes")
    yield _appended("leading", _parts(rng, [few, few], **width), "there is no batch axis")
    for one in ones_in_turn(rng, 3):
        parts = _parts(rng, [2, 3], one[0], d_k=one[1], d_v=one[2])
        yield _appended("leading", parts, "a batch or a width is 1")

    two = Way("caching.two_caches", OF_TWO, _of_two, NAMES)
    parts = _parts(rng, [few, 1, more, few], b, **width)
    note = "two caches are appended to, by turns"
    yield Case("own", parts, note=note, way=two)

    inputs = _tokens(rng, b, 3, *sizes(rng, 3, 3))
    yield _decoded("decode", inputs, 0, "it decodes from the first token on")
    inputs = _tokens(rng, b, 1, *sizes(rng, 3, 3))
    yield _decoded("decode", inputs, 0, "there is one token")
    for one in ones_in_turn(rng, 4):
        inputs = _tokens(rng, one[0], 2, *one[1:])
        yield _decoded("decode", inputs, 0, "a batch or a width is 1")
    for before in (few, 1):
        inputs = _tokens(rng, b, before + 2, *sizes(rng, 3, 3))
        yield _decoded("decode", inputs, before, f"{before} tokens are in the cache before")
    inputs = _tokens(rng, b, more + 2, *sizes(rng, 3, 3))
    inputs[1].mul_(60.0), inputs[2].mul_(60.0)
    yield _decoded("large", inputs, more, "scores are in the thousands")
    x, *matrices = _tokens(rng, b, more + 2, *sizes(rng, 3, 3))
    x = x[:, :1] + 1e-3 * x
    matrices[0].mul_(60.0), matrices[1].mul_(60.0)
    note = "scores are in the thousands, and close together"
    yield _decoded("large", (x, *matrices), more, note)

    single = tuple(part.float() for part in _tokens(rng, b, 5, *sizes(rng, 3, 3)))
    note = "inputs are float32"
    yield _decoded("float32", single, 2, note, tolerance=FLOAT32_TOLERANCE)
    parts = tuple(part.float() for part in _parts(rng, [few, more], b, **width))
    yield _appended("float32", parts, note)
    parts = _parts(rng, [few, more], b, **width)
    yield _appended("float32", parts, "inputs are not contiguous", laid="views")

    for kept, other in ((b, b + 1), (b, b - 1), (b, 1), (1, b)):
        parts = (*_parts(rng, [few], kept, **width), *_parts(rng, [1], other, **width))
        note = f"the cache is of a batch of {kept} and gets one of {other}"
        yield _appended("fits", parts, note, raises=REFUSED)
    for at, what in ((2, "keys"), (3, "values")):
        wide = list(_parts(rng, [few, 1], b, **width))
        wide[at] = torch.cat([wide[at], wide[at][..., :1]], -1)
        yield _appended("fits", tuple(wide), f"{what} are wider than before", raises=REFUSED)


# the right answer, and what goes wrong -----------------------------------------------------------

Step = Callable[..., Any]


def _decoding(recipe: Recipe, step: Callable[..., Tensor] | None = None) -> Callable[..., Any]:
    """What each step gives, from a recipe for causal attention, or by a step's own way.

    Args:
        step: takes queries, keys and values of all tokens so far and how many were there before;
            gives the last one's output.
    """

    def decode(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor, prefill: int) -> Any:
        outs = []
        for at in range(prefill, x.shape[1]):
            q, k, v = (x[:, : at + 1] @ matrix for matrix in (Wq, Wk, Wv))
            if step:
                outs.append(step(q, k, v, prefill))
            else:
                now = x[:, at : at + 1]
                outs.append(recipe.compute(q[:, at:], k, v, x=now)[0])
        return outs[0] if len(outs) == 1 else tuple(outs)

    return decode


RIGHT = _decoding(Recipe())


def _sdpa(q: Tensor, k: Tensor, v: Tensor, **how: Any) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, **how)


def _mistaken(append: Step = _joined, decode: Step | None = None) -> Step:
    """What comes of every case if one of the two is wrong."""

    def answer(*args: Any) -> Any:
        if isinstance(args[-1], int):
            return (decode or RIGHT)(*args)
        first = args[0]
        for part in args[2::2]:
            if part.shape[:-2] != first.shape[:-2] or part.shape[-1] != first.shape[-1]:
                raise ValueError("this cannot be joined")
        return _of_two(*args, append=append) if len(args) == IN_TWO else append(*args)

    return answer


def _by_pairs(of: Callable[[list[Tensor], list[Tensor]], Any]) -> Step:
    """Of all keys and all values that were appended, in two lists."""
    return lambda *parts: of(list(parts[::2]), list(parts[1::2]))


def _cat(parts: list[Tensor], axis: int = -2) -> Tensor:
    return torch.cat(parts, dim=axis)


def _on_axis(axis: int) -> Step:
    return lambda *parts: (
        _cat(list(parts[::2]), axis),
        _cat(list(parts[1::2]), axis),
    )


ALONG = "Join what is kept with what is new along axis −2, the old first, keep that, and return it."
ONE_ROW = (
    "One query asks, the newest, and everything in the cache lies in its past: no mask is needed."
)


def _appending(slug: str, of: Any, reason: str, remedy: str = ALONG) -> Mistake:
    return Mistake(slug, _mistaken(_by_pairs(of)), reason, remedy)


def _stepping(slug: str, step: Any, reason: str, remedy: str) -> Mistake:
    return Mistake(slug, _mistaken(decode=_decoding(Recipe(), step)), reason, remedy)


def _recipes(*parts: Any, without: tuple[str, ...] = ()) -> tuple[Mistake, ...]:
    """Attention's own mistakes, made in `decode_step`."""
    made = mistakes_in(_decoding, *parts, without=without)
    return tuple(replace(each, answer=_mistaken(decode=each.answer)) for each in made)


KV_CACHE = Exercise(
    name="KVCache",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="KVCache() with append(k, v) -> (k_all, v_all); "
    "decode_step(x_t, cache, Wq, Wk, Wv) -> out",
    axes=("b l k", "b l v", "b m k", "b m v"),
    read="Keep what does not change: a cache",
    returns=KEPT,
    groups=(
        Group("values", "gives back all keys and values so far, in their order", 0.75, core=True),
        Group("lengths", "takes parts of any length", 0.25),
        Group("leading", "joins along axis −2, whatever axes stand before it", 0.25),
        Group("own", "keeps two caches apart", 0.25),
        Group("decode", "decodes as full causal attention does, after a prefill too", 1.0),
        Group("large", "decodes where scores are in the thousands", 0.125, needs=("decode",)),
        Group(
            "float32", "keeps float32 (compared at 1e-4), and takes views", 0.125, needs=("decode",)
        ),
        Group("fits", "raises an error for another batch or width than before", 0.1875),
        unchanged(0.0625),
    ),
    cases=_cases,
    oracle=_joined,
    mistakes=(
        _appending(
            "cache-overwritten",
            lambda ks, vs: (ks[-1], vs[-1]),
            "What comes back is the newest part alone: it is kept instead of what was there, or "
            "returned instead of all.",
        ),
        _appending(
            "first-part-only",
            lambda ks, vs: (ks[0], vs[0]),
            "What comes back is the first part alone: what is joined later is not kept, or not "
            "returned. `torch.cat` makes a new tensor.",
        ),
        _appending(
            "before-the-append",
            lambda ks, vs: (_cat(ks[:-1] or ks), _cat(vs[:-1] or vs)),
            "What comes back is what was there before: the newest part is missing.",
        ),
        _appending(
            "two-newest-only",
            lambda ks, vs: (_cat(ks[-2:]), _cat(vs[-2:])),
            "What comes back is the part before joined with the newest: what was joined is not "
            "kept.",
        ),
        _appending(
            "first-and-newest",
            lambda ks, vs: (_cat([ks[0], *ks[1:][-1:]]), _cat([vs[0], *vs[1:][-1:]])),
            "What comes back is the first part and the newest one: what was joined is not kept.",
        ),
        _appending(
            "new-before-old",
            lambda ks, vs: (_cat(ks[::-1]), _cat(vs[::-1])),
            "The newest part comes first. The order makes no difference to the average, and all of "
            "it to positions, windows and whoever reads the cache.",
        ),
        _appending(
            "values-overwritten",
            lambda ks, vs: (_cat(ks), vs[-1]),
            "The keys are all there, and the values are the newest alone.",
        ),
        _appending(
            "keys-overwritten",
            lambda ks, vs: (ks[-1], _cat(vs)),
            "The values are all there, and the keys are the newest alone.",
        ),
        _appending(
            "swapped-results",
            lambda ks, vs: (_cat(vs), _cat(ks)),
            "Keys and values have changed places.",
            "Return the keys first, then the values.",
        ),
        _appending(
            "keys-as-values",
            lambda ks, vs: (_cat(ks), _cat(ks)),
            "Both results are the keys.",
            "Keep keys and values apart.",
        ),
        _appending(
            "appended-twice",
            lambda ks, vs: (
                _cat([part for k in ks for part in (k, k)]),
                _cat([part for v in vs for part in (v, v)]),
            ),
            "Each part is there twice.",
        ),
        Mistake(
            "joined-along-batch",
            _mistaken(_on_axis(0)),
            "The parts are joined along the first axis, which is the batch: more sentences, not "
            "longer ones.",
            ALONG,
        ),
        Mistake(
            "joined-along-width",
            _mistaken(_on_axis(-1)),
            "The parts are joined along the last axis: wider keys, not more of them.",
            ALONG,
        ),
        Mistake(
            "joined-along-axis-1",
            _mistaken(_on_axis(1)),
            "The parts are joined along axis 1. That is the tokens of (B, L, d), and the heads of "
            "(B, H, L, d).",
            ALONG,
        ),
        Mistake(
            "stacked",
            _mistaken(_by_pairs(lambda ks, vs: (torch.stack(ks), torch.stack(vs)))),
            "`stack` puts the parts side by side along a new axis. They are joined along one that "
            "is there, by `cat`.",
            ALONG,
        ),
        _stepping(
            "own-token-missing",
            lambda q, k, v, before: _sdpa(q[:, -1:], k[:, :-1], v[:, :-1]) if k.shape[1] > 1 else v,
            "A token does not see itself: it asks before its own key and value are in the cache.",
            "Append first, then attend to what `append` gives back.",
        ),
        _stepping(
            "cache-not-read",
            lambda q, k, v, before: v[:, -1:],
            "Each token sees itself alone: the new key and value are used, and not what `append` "
            "gives back.",
            "Attend to what `append` gives back.",
        ),
        _stepping(
            "cache-not-filled",
            lambda q, k, v, before: _sdpa(
                q[:, -1:],
                torch.cat([k[:, :before], k[:, -1:]], 1),
                torch.cat([v[:, :before], v[:, -1:]], 1),
            ),
            "Each token sees those of the prefill and itself: what earlier steps made is not in "
            "the cache.",
            "Append in every step: the cache that you are given is to grow.",
        ),
        _stepping(
            "mask-top-left",
            lambda q, k, v, before: _sdpa(q[:, -1:], k, v, is_causal=True),
            "A causal mask is laid over a single row, aligned top-left: the newest token sees the "
            "first key alone.",
            ONE_ROW,
        ),
        _stepping(
            "appended-twice",
            lambda q, k, v, before: _sdpa(
                q[:, -1:],
                torch.cat([k[:, :before], k[:, before:].repeat_interleave(2, 1)], 1),
                torch.cat([v[:, :before], v[:, before:].repeat_interleave(2, 1)], 1),
            ),
            "Each new token is in the cache twice, and counts twice.",
            "Call `append` once in a step.",
        ),
        *_recipes(
            in_softmax.NO_SOFTMAX,
            in_attention.SCALE,
            in_attention.SCALE_BY_VALUES,
            in_attention.SCALE_BY_INPUT,
            in_attention.SCORES,
            in_attention.MIX,
            without=("scale-by-sqrt-n", "values-unweighted"),
        ),
        _stepping(
            "values-unweighted",
            lambda q, k, v, before: v.sum(1, keepdim=True),
            "The output is the sum of all values: no weights were used, or each is 1, as after a "
            "softmax over the single query.",
            "Softmax runs over the keys, `dim=-1`. Multiply each value by its weight.",
        ),
        _stepping(
            "softmax-over-batch",
            lambda q, k, v, before: (q[:, -1:] @ k.mT * q.shape[-1] ** -0.5).softmax(0) @ v,
            "The softmax runs over the batch, axis 0: each key's weights in all sentences add up "
            "to 1.",
            "Softmax runs over the keys, `dim=-1`.",
        ),
        _stepping(
            "appended-twice",
            lambda q, k, v, before: _sdpa(
                q[:, -1:],
                torch.cat([k[:, :-1], k[:, before:]], 1),
                torch.cat([v[:, :-1], v[:, before:]], 1),
            ),
            "The step appends once more after it has attended: earlier steps' tokens are in the "
            "cache twice, and count twice.",
            "Call `append` once in a step.",
        ),
        Mistake(
            "scale-by-sqrt-n",
            _mistaken(
                decode=_decoding(
                    Recipe(),
                    lambda q, k, v, before: _sdpa(q[:, -1:], k, v, scale=k.shape[1] ** -0.5),
                )
            ),
            "The root is that of the number of keys. A score is a sum of d_k products, however "
            "many keys there are.",
            "d_k is the width of a query or key, the size of its last axis.",
        ),
        *(
            _stepping(
                slug,
                step,
                reason,
                "The token's query is x_t W_q, its key x_t W_k and its value x_t W_v.",
            )
            for slug, step, reason in (
                (
                    "swapped-q-k",
                    lambda q, k, v, before: _sdpa(
                        k[:, -1:], torch.cat([k[:, :before], q[:, before:]], 1), v
                    ),
                    "Queries and keys have changed places: the token asks with its key, and its "
                    "query is kept.",
                ),
                (
                    "queries-from-w-k",
                    lambda q, k, v, before: _sdpa(k[:, -1:], k, v),
                    "The query is made with the keys' matrix.",
                ),
                (
                    "keys-from-w-q",
                    lambda q, k, v, before: _sdpa(
                        q[:, -1:], torch.cat([k[:, :before], q[:, before:]], 1), v
                    ),
                    "The new keys are made with the queries' matrix.",
                ),
            )
        ),
    ),
    fused_banned=True,
)
