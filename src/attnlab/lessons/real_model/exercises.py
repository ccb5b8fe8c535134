"""Lesson 14's exercises: a backend for a library's models, and two tools to look into them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from attnlab.calling.observe import by_name
from attnlab.checks.attention import Attention, Parts
from attnlab.checks.draw import Draw, Given, in_float32, masks_of
from attnlab.checks.edits import edited, edits
from attnlab.checks.exercise import (
    FLOAT32_TOLERANCE,
    LARGE_AND_BLOCKED,
    Case,
    Claim,
    Exercise,
    Formula,
    Slot,
    promises,
)
from attnlab.checks.inputs import Generator, great_length
from attnlab.checks.recipe import Recipe

Tensor = torch.Tensor
Share = Callable[[Tensor, int], Tensor]


# attention_forward --------------------------------------------------------------------------------


def _in_order(groups: Tensor, n_heads: int) -> Tensor:
    """Head h reads group h // (H / G)."""
    return groups.repeat_interleave(n_heads // groups.shape[1], dim=1)


def _future(diagonal: Callable[[int, int], int]) -> Callable[[int, int], Tensor]:
    """What a causal mask blocks, (N, M), from the first diagonal that is blocked, by N and M."""
    return lambda n, m: torch.ones(n, m).triu(diagonal(n, m)).bool()


def _by_root(d: int, scaling: float | None) -> float:
    """What the queries are multiplied by, so that 1/√d makes the scaling of it."""
    return 1.0 if scaling is None else scaling * d**0.5


def _forward(
    share: Share = _in_order,
    future: Callable[[int, int], Tensor] = _future(lambda n, m: m - n + 1),  # noqa: B008
    when: Callable[[Any, Any], bool] = lambda module, mask: mask is None and module.is_causal,
    factor: Callable[[int, float | None], float] = _by_root,
    mask_as: Callable[[Tensor, Tensor], Tensor] = lambda mask, scores: mask,
    give: Callable[[Tensor, Tensor], Any] = lambda out, weights: (out.transpose(1, 2), weights),
) -> Attention:
    """The backend, made of exchangeable parts.

    Args:
        share: groups (B, G, M, d) to heads (B, H, M, d).
        future: what is blocked where it is causal.
        when: whether it is, from the module and the mask.
        factor: of the queries, from d and the scaling.
        mask_as: the mask that is used, from the one that is given and the scaled scores.
        give: what is returned, from out (B, H, N, d) and weights.
    """

    def parts(
        module: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attention_mask: Tensor | None,
        scaling: float | None = None,
        dropout: float = 0.0,
        **others: Any,
    ) -> Parts:
        (_, n_heads, n, d), (_, n_groups, m, _) = query.shape, key.shape
        if n_heads % n_groups:
            raise ValueError(f"{n_groups} groups for {n_heads} heads")
        q, k, v = query * factor(d, scaling), share(key, n_heads), share(value, n_heads)
        blocked, bias = None, None
        if attention_mask is not None:
            mask = mask_as(attention_mask, q @ k.mT * d**-0.5)
            blocked, bias = (~mask, None) if mask.dtype == torch.bool else (None, mask)
        if when(module, attention_mask):
            later = future(n, m)
            if bias is not None:
                bias = bias.masked_fill(later, -torch.inf)
            else:
                blocked = later if blocked is None else blocked | later
        return Parts(q, k, v, blocked=blocked, bias=bias)

    return Attention(parts, lambda out, weights, *args, **kwargs: give(out, weights))


def _divided(by: Callable[[int, float | None], float]) -> Attention:
    """The backend with scores divided by a number, 0 too, from d and the scaling."""

    def scale(module: Any, query: Tensor, *args: Any, **kwargs: Any) -> float:
        scaling = args[3] if len(args) > 3 else kwargs.get("scaling")
        number = by(query.shape[-1], scaling)
        return 1 / number if number else torch.inf

    return replace(_forward(factor=lambda d, scaling: 1.0), scale=scale)


def _but_empty_rows(scores: Tensor) -> Tensor:
    """Softmax in which a row that has no key left gives no NaN back."""
    empty = (scores == -torch.inf).all(-1, keepdim=True)
    return scores.masked_fill(empty, 0.0).softmax(-1)


def _cases(rng: Generator) -> Iterator[Case]:
    draw = Draw(FORWARD, rng)
    causal = by_name("modules.layer", True)
    least = int(rng.integers(3, 6))
    more = least + int(rng.integers(1, 4))

    def given(n: int, m: int, **others: int) -> Given:
        drawn = draw.given({**draw.sizes(3), "n": n, "m": m, **others})
        return drawn.but(module=causal)

    how: dict[str, Any] = {"exact_zeros": True}
    many = great_length(rng)
    note = "the module is causal, and N is large"
    yield draw.case(given(many, many), "causal", note=note, **how)
    for n, m, note in (
        (more, more, "there are as many keys as queries"),
        (least, more, "a cache has more keys than there are queries"),
        (1, more, "one query comes after a cache"),
    ):
        note = f"the module is causal, and {note}"
        yield draw.case(given(n, m), "causal", note=note, **how)
        yield draw.case(given(n, m), "causal", "gradient", note=note, gradient=True)
    note = "the module is causal, and inputs are float32"
    single: dict[str, Any] = {"note": note, "tolerance": FLOAT32_TOLERANCE}
    yield draw.case(in_float32(given(least, more)), "causal", "precision", **single, **how)

    note = "the module is causal, and some queries come before all keys"
    yield draw.case(given(more, least), "empty", "causal", note=note, **how)
    yield draw.case(given(more, least), "finite", "causal", note=note, gradient=True)

    forms = ("b 1 n m", "1 1 n m", "b 1 1 m", "1 h n m", "b h n m", "h n m", "n m", "m")
    for form in forms:
        drawn = given(*((least, more), (more, more))[rng.integers(2)])
        if form == "n m":  # no row for each sentence, though there are as many
            drawn = given(least, more, b=least)
        for note, masks in masks_of(draw, form.split(), drawn.sizes):
            note = f"the module is causal, and {note} says what is open"
            yield draw.case(drawn, "masked", masks=masks, note=note.replace("there is ", ""))
    drawn = given(least, more)
    allowed = np.ones((drawn.sizes["b"], 1, 1, more), dtype=bool)
    allowed[rng.integers(len(allowed))] = False
    for mask, note in (
        (torch.from_numpy(allowed), "a mask leaves one sentence nothing"),
        (torch.from_numpy(np.where(allowed, 0.0, -np.inf)), "a float mask leaves one nothing"),
    ):
        masks = {"attention_mask": mask}
        yield draw.case(drawn, "empty", "masked", masks=masks, note=note)
        yield draw.case(drawn, "finite", "masked", masks=masks, note=note, gradient=True)

    for scaling in (0.0, 1, -float(rng.uniform(0.2, 1)), float(rng.uniform(0.05, 3))):
        note = f"scaling is {scaling:.3g}"
        case = draw.case(draw.given(draw.sizes(3)), "scaling", "large", note=note)
        yield replace(case, kwargs={"scaling": scaling, "dropout": 0.0})
    others = {
        "is_causal": bool(rng.integers(2)),
        "sliding_window": 2,
        "use_cache": True,
        "position_ids": torch.arange(more)[None],
    }
    for module, word in ((causal, "is"), (by_name("modules.layer", False), "is not")):
        note = f"other keywords are given, and the module {word} causal"
        case = draw.case(given(least, more).but(module=module), "scaling", "causal", note=note)
        yield replace(case, kwargs=others)

    for name in ("query", "key"):
        drawn = draw.given(draw.sizes(3))
        narrow = drawn.args[name][..., 1:].clone()
        note = f"d is one less in {name}, and not elsewhere"
        refused = "ValueError or RuntimeError"
        yield draw.case(drawn.but(**{name: narrow}), "refuses", raises=refused, note=note)
    h, g = map(int, rng.choice([2, 3, 5, 7], 2, replace=False))
    for heads, groups in ((h, g), (h, 2 * h), (2 * h + 1, 2), (1, g)):
        sizes = {**draw.sizes(3), "h": heads, "g": groups}
        note = f"{heads} heads share {groups} groups"
        yield draw.case(draw.given(sizes), "refuses", raises="ValueError", note=note)


def _only_to_floats(change: Callable[[Tensor, Tensor], Tensor]) -> Formula:
    """The backend with another use of a float mask."""

    def mask_as(mask: Tensor, scores: Tensor) -> Tensor:
        return mask if mask.dtype == torch.bool else change(mask, scores)

    return _forward(mask_as=mask_as).oracle


def _own_layout(out: Tensor, weights: Tensor) -> Any:
    return out.reshape(out.shape[0], out.shape[2], out.shape[1], -1), weights


BACKEND = _forward()
FORWARD = Exercise(
    name="attention_forward",
    signature="(module, query, key, value, attention_mask, scaling=None, dropout=0.0, **kwargs) "
    "-> (out, weights)",
    axes=("module", "b h n d", "b g m d", "b g m d", "b h n m mask bias"),
    products={"h": "g s"},
    drawn={"module": lambda rng, sizes: by_name("modules.layer", False)},
    fits="gd",  # other numbers of groups are refused below; values may be of another width
    read="A function with eight arguments",
    returns=(Slot("out", "tensor", "B N H d"), Slot("weights", "tensor", "B H N M")),
    claims=promises(
        "equals F.scaled_dot_product_attention where nothing is masked, with groups as well",
        1.25,
        Claim(
            "causal", "is causal, aligned bottom-right, if the module is and no mask comes", 0.75
        ),
        Claim("masked", "hides by a bool mask, adds a float one, whatever the module is", 0.75),
        Claim("large", f"{LARGE_AND_BLOCKED}, and keeps its digits", 0.25, also=("precision",)),
        Claim(
            "scaling",
            "takes any scaling, ignores other keywords, refuses what does not fit, and leaves its "
            "inputs unchanged",
            0.25,
            also=("refuses", "unchanged"),
        ),
        empty_and_gradient_and_finite=0.75,
    ),
    cases=_cases,
    attention=BACKEND,
    mistakes={
        "groups-in-turn": _forward(
            lambda groups, heads: groups.repeat(1, heads // groups.shape[1], 1, 1)
        ).oracle,
        "one-group-for-all": (
            _forward(lambda groups, heads: groups[:, :1].expand(-1, heads, -1, -1)).oracle,
            _forward(lambda groups, heads: groups.mean(1, True).expand(-1, heads, -1, -1)).oracle,
        ),
        "out-not-transposed": _forward(give=lambda out, weights: (out, weights)).oracle,
        "out-reshaped": _forward(give=_own_layout).oracle,
        "heads-merged": _forward(
            give=lambda out, weights: (out.transpose(1, 2).flatten(2), weights)
        ).oracle,
        "weights-not-per-head": _forward(
            give=lambda out, weights: (out.transpose(1, 2), weights.mean(1))
        ).oracle,
        "softmax-over-heads": BACKEND.answer(Recipe(weigh=lambda s: torch.softmax(s, 1))),
        "swapped-results": _forward(
            give=lambda out, weights: (weights, out.transpose(1, 2))
        ).oracle,
        "mask-missing": _forward(
            when=lambda module, mask: False,
            mask_as=lambda mask, scores: torch.ones_like(mask).bool(),
        ).oracle,
        "causal-missing": _forward(when=lambda module, mask: False).oracle,
        "always-causal": (
            _forward(when=lambda module, mask: mask is None).oracle,
            _forward(when=lambda module, mask: True).oracle,
        ),
        "causal-beside-a-mask": _forward(when=lambda module, mask: module.is_causal).oracle,
        "causal-top-left": _forward(_in_order, _future(lambda n, m: 1)).oracle,
        "mask-off-by-one": (
            _forward(_in_order, _future(lambda n, m: m - n)).oracle,
            _forward(_in_order, _future(lambda n, m: m - n + 2)).oracle,
        ),
        "mask-inverted": (
            _forward(_in_order, lambda n, m: ~_future(lambda n, m: m - n + 1)(n, m)).oracle,
            _forward(_in_order, lambda n, m: torch.ones(n, m).tril(m - n - 1).bool()).oracle,
            _forward(
                mask_as=lambda mask, scores: ~mask if mask.dtype == torch.bool else mask
            ).oracle,
        ),
        "no-scale": _forward(
            factor=lambda d, scaling: d**0.5 * (1.0 if scaling is None else scaling)
        ).oracle,
        "scale-by-d": _forward(
            factor=lambda d, scaling: d**-0.5 if scaling is None else d**0.5 * scaling
        ).oracle,
        "scaling-ignored": _forward(factor=lambda d, scaling: 1.0).oracle,
        "scaling-and-root": _forward(
            factor=lambda d, scaling: 1.0 if scaling is None else scaling
        ).oracle,
        "scaling-divides": tuple(
            _divided(by).answer(recipe)
            for by in (
                lambda d, scaling: d**0.5 if scaling is None else scaling,
                lambda d, scaling: d**-0.5 if scaling is None else scaling,
                lambda d, scaling: scaling or d**0.5,
            )
            for recipe in (
                Recipe(weigh=_but_empty_rows),
                Recipe(empty=lambda weights, rows: weights.nan_to_num()),
            )
        ),
        "scaling-of-0": _forward(factor=lambda d, scaling: _by_root(d, scaling or None)).oracle,
        "empty-slope-is-nan": BACKEND.answer(Recipe()),  # through the addition of a float mask
        "mask-added": _forward(mask_as=lambda mask, scores: mask.to(scores.dtype)).oracle,
        "float-mask-ignored": _only_to_floats(lambda mask, scores: torch.ones_like(mask).bool()),
        "float-mask-as-bool": _only_to_floats(lambda mask, scores: mask.bool()),
        "float-mask-hides-only": _only_to_floats(lambda mask, scores: mask > -torch.inf),
        "float-mask-multiplied": _only_to_floats(lambda mask, scores: scores * mask - scores),
    },
    without=("swapped-results", "reshaped-not-transposed"),
    banned="attention",
)


# induction_score ----------------------------------------------------------------------------------


def _score(weights: Tensor, ids: Tensor) -> Tensor:
    looked = []
    for b, sentence in enumerate(ids.tolist()):
        for n, token in enumerate(sentence):
            found = [m for m in range(n) if sentence[m] == token]
            if found:
                looked.append(weights[b, :, n, found[-1] + 1])
    return torch.stack(looked).mean(0) if looked else torch.zeros_like(weights[0, :, 0, 0])


def _of_each_sentence(score: Formula) -> Formula:
    """The mean of the sentences' scores; of those that have one, if the others have NaN."""
    return lambda weights, ids: torch.stack(
        [score(weights[[b]], ids[[b]]) for b in range(len(ids))]
    ).nanmean(0)


def _across_sentences(weights: Tensor, ids: Tensor) -> Tensor:
    """Occurrences in earlier sentences are taken for earlier ones."""
    looked, latest = [], dict[int, int]()
    for b, sentence in enumerate(ids.tolist()):
        for n, token in enumerate(sentence):
            if latest.get(token, len(sentence)) + 1 < len(sentence):
                looked.append(weights[b, :, n, latest[token] + 1])
            latest[token] = n
    return torch.stack(looked).mean(0) if looked else weights[0, :, 0, 0] * 0


def _ids(rng: Generator, sizes: Mapping[str, Any]) -> Tensor:
    """Sentences of a few words, so that most come again."""
    ids = rng.integers(0, max(2, sizes["n"] // 2), (sizes["b"], sizes["n"]))
    ids[0, -1] = ids[0, 0]  # one at least
    return torch.from_numpy(ids)


def _score_cases(rng: Generator) -> Iterator[Case]:
    draw = Draw(SCORE, rng)

    def case(claim: str, note: str, ids: Callable[[int, int], np.ndarray]) -> Case:
        given = draw.given(draw.sizes(3))
        drawn = torch.from_numpy(ids(given.sizes["b"], given.sizes["n"]))
        return draw.case(given.but(ids=drawn), claim, note=note)

    def different(b: int, n: int) -> np.ndarray:
        return np.stack([rng.permutation(10 * n)[:n] for _ in range(b)])

    def one_again(b: int, n: int) -> np.ndarray:
        ids = different(b, n)
        sentence, first = rng.integers(b), rng.integers(n - 1)
        ids[sentence, rng.integers(first + 1, n)] = ids[sentence, first]
        return ids

    def twice(b: int, n: int) -> np.ndarray:
        ids = different(b, n)
        at = int(rng.integers(n - 1))
        ids[:, at + 1] = ids[:, at]
        return ids

    def uneven(b: int, n: int) -> np.ndarray:
        ids = different(b, n)
        ids[rng.integers(b)] = 7
        return ids

    def lopsided(b: int, n: int) -> np.ndarray:
        ids = one_again(b, n)
        ids[rng.integers(b)] = rng.integers(0, 2, n)
        return ids

    for _ in range(2):
        yield case("edge", "most that come again stand in one sentence", lopsided)
        yield case("edge", "one token comes again, in one sentence", one_again)
        yield case("edge", "a token stands twice in a row", twice)
        yield case("edge", "one sentence repeats one token, the others none", uneven)
        yield case("none", "no token comes again", different)


NAN = "torch.zeros_like( -> torch.nan + torch.zeros_like("
SCORE = Exercise(
    name="induction_score",
    signature="(weights, ids) -> (H,)",
    axes=("b h n n", "b n"),
    drawn={"ids": _ids},
    read="A number for a head",
    returns=(Slot("score", "tensor", "H"),),
    claims=promises(
        "is the mean weight on the token after the latest earlier occurrence",
        1.0,
        Claim("edge", "counts all sentences together, and *the the* as well", 0.25),
        Claim(
            "none", "is 0 where no token comes again, and right for sizes of 1", 0.25, ("shapes",)
        ),
        precision=0.25,
        unchanged=0.25,
    ),
    cases=_score_cases,
    oracle=_score,
    mistakes=edits(
        _score,
        {
            "on-the-same-token": "found[-1] + 1 -> found[-1]",
            "before-not-after": (
                "found[-1] + 1 -> found[-1] - 1",  # of the first place, the last
                "found[-1] + 1 -> max(found[-1] - 1, 0)",
                "if found: -> if found and found[-1]:; n, found[-1] + 1 -> n, found[-1] - 1",
                "found[-1] + 1] -> found[-1] - 1] * (found[-1] > 0)",
            ),
            "row-before": (
                "n, found[-1] -> n - 1, found[-1]",
                "n, found[-1] + 1 -> n - 1, found[-1]",
            ),
            "never-found": "if found: -> if False:",
            "first-not-latest": "found[-1] -> found[0]",
            "itself-not-earlier": (
                "if found: -> if True:; found[-1] + 1 -> n",
                "found[-1] + 1 -> n",
            ),
            "previous-token": (
                "if found: -> if n:; found[-1] + 1 -> n - 1",
                "found[-1] + 1 -> n - 1",
            ),
            "any-earlier-one": (
                "found[-1] + 1] -> [m + 1 for m in found]].sum(-1)",
                "append -> extend; found[-1] + 1] -> [m + 1 for m in found]].unbind(-1)",
            ),
            "weights-transposed": "n, found[-1] + 1 -> found[-1] + 1, n",
            "summed-not-averaged": "mean(0) -> sum(0)",
            "divided-by-all-tokens": (
                "mean(0) -> sum(0) / ids.numel()",
                "mean(0) -> sum(0) / ids.shape[1]",
            ),
            "mean-of-means": (_of_each_sentence(_score), _of_each_sentence(edited(_score, NAN))),
            "twice-in-a-row-left-out": "if found: -> if found and found[-1] + 1 != n:",
            "nan-where-none": NAN,
            "one-sentence-only": "ids.tolist() -> ids[:1].tolist()",
            "heads-averaged": (
                "mean(0) -> mean()",
                "mean(0) -> mean(0).mean().expand(weights.shape[1])",
            ),
            "largest-not-mean": "mean(0) -> amax(0)",
            "last-token-only": "if found: -> if found and n + 1 == len(sentence):",
            "last-token-left-out": "if found: -> if found and n + 1 < len(sentence):",
            "sentences-joined": _across_sentences,
        },
    ),
)


# without_heads ------------------------------------------------------------------------------------


def _some_heads(rng: Generator, sizes: Mapping[str, Any]) -> list[int]:
    """One head at least, and not all where there are several."""
    h = sizes["h"]
    return [int(head) for head in rng.choice(h, int(rng.integers(1, max(2, h))), replace=False)]


def _zeroed(out: Tensor, heads: list[int], axis: int = 2) -> Tensor:
    """Entries of an axis times 0, those that there are."""
    kept = torch.tensor([float(at not in heads) for at in range(out.shape[axis])])
    return out * kept.to(out.dtype).reshape(-1, *[1] * (out.ndim - 1 - axis))


def _means(out: Tensor, heads: list[int], *axes: int) -> Tensor:
    return out.mean(axes, keepdim=True).expand_as(out) - _zeroed(
        out.mean(axes, keepdim=True).expand_as(out), heads
    )


def _head_cases(rng: Generator) -> Iterator[Case]:
    draw = Draw(WITHOUT, rng)
    for gradient in (False, True):
        given = draw.given(draw.sizes(3))
        h = given.sizes["h"]
        some = [int(head) for head in rng.permutation(h)[:2]]
        for heads, note in (
            ([], "no head is to go"),
            ([h - 1], "the last head is to go"),
            ([0], "the first head is to go"),
            (sorted(some, reverse=True), "two heads are to go, the later one named first"),
            *([] if gradient else [(list(range(h)), "all heads are to go")]),
        ):
            claim = "gradient" if gradient else "values"
            yield draw.case(given.but(heads=heads), claim, note=note, gradient=gradient)


WITHOUT = Exercise(
    name="without_heads",
    signature="(out, heads) -> Tensor",
    axes=("b n h d", "heads"),
    drawn={"heads": _some_heads},
    read="One head fewer",
    returns=(Slot("out", "tensor", "B N H d"),),
    claims=promises(
        "sets these heads to 0, and no others",
        0.5,
        gradient_and_precision=0.25,
        unchanged=0.25,
    ),
    cases=_head_cases,
    oracle=lambda out, heads: out.index_fill(2, torch.tensor(heads, dtype=torch.int64), 0.0),
    mistakes={
        "others-removed": lambda out, heads: out - _zeroed(out, heads),
        "wrong-axis": tuple(
            lambda out, heads, axis=axis: _zeroed(out, heads, axis) for axis in (0, 1, 3)
        ),
        "first-named-only": (
            lambda out, heads: _zeroed(out, heads[:1]),
            lambda out, heads: _zeroed(out, heads[-1:]),
        ),
        "counted-from-1": (
            lambda out, heads: _zeroed(out, [head - 1 for head in heads]),
            lambda out, heads: _zeroed(out, [(head - 1) % out.shape[2] for head in heads]),
        ),
        "as-many-heads": lambda out, heads: _zeroed(out, list(range(len(heads)))),
        "up-to-the-last": (
            lambda out, heads: _zeroed(out, list(range(max(heads, default=-1) + 1))),
            lambda out, heads: _zeroed(out, list(range(max(heads, default=0)))),
        ),
        "whole-range": (
            lambda out, heads: _zeroed(out, list(range(min(heads), max(heads) + 1))),
            lambda out, heads: _zeroed(
                out, list(range(min(heads, default=0), max(heads, default=-1) + 1))
            ),
        ),
        "all-where-none": lambda out, heads: _zeroed(out, heads or list(range(out.shape[2]))),
        "mean-not-0": (
            lambda out, heads: _zeroed(out, heads) + _means(out, heads, 0, 1),
            lambda out, heads: _zeroed(out, heads) + _means(out, heads, 0, 1, 3),
        ),
        "ones-not-0": lambda out, heads: (
            _zeroed(out, heads) + torch.ones_like(out) - _zeroed(torch.ones_like(out), heads)
        ),
        "heads-cut-out": lambda out, heads: out[
            :, :, [head for head in range(out.shape[2]) if head not in heads]
        ],
        "nothing-removed": lambda out, heads: out,
        "no-gradient": lambda out, heads: _zeroed(out.detach(), heads),
    },
)

EXERCISES = (FORWARD, SCORE, WITHOUT)
