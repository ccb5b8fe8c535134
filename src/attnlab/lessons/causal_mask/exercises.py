"""Lesson 06's exercises: the causal mask, attention that does not look ahead, and padding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
    Property,
    Slot,
    unchanged,
)
from attnlab.checks.inputs import (
    EQUAL,
    SECOND,
    TOWERING,
    great_length,
    one_size,
    ones_in_turn,
    sizes,
)
from attnlab.checks.recipe import (
    INFINITY,
    Part,
    Recipe,
    Tensor,
    detached,
    mistakes_in,
    pairs_in,
    wrong,
)
from attnlab.checks.relations import future_relation, with_other_future
from attnlab.lessons.causal_mask import LESSON
from attnlab.lessons.pytorch.exercises import (
    IN_WEIGHING,
    REFUSED,
    ROOT,
    SHARES,
    misfits,
    normal,
)

# causal_mask ---------------------------------------------------------------------------------


def _mask_cases(rng: np.random.Generator) -> Iterator[Case]:
    for n in sizes(rng, 2, 3, 60):
        yield Case("values", (n,))
    yield Case("edges", (1,), note="there is one token")
    [n] = sizes(rng, 1)
    yield Case("edges", (n,), {"device": "cpu"}, note="a device is given")
    yield Case("edges", (n,), {"device": "meta"}, laid="meta", note="another device is given")


def _blocked(n: int, device: Any = None) -> Tensor:
    """True = blocked: where PyTorch's own causal float mask is -inf."""
    return torch.nn.Transformer.generate_square_subsequent_mask(n).isinf()


CAUSAL_MASK = Exercise(
    name="causal_mask",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(n, device=None) -> (n, n) bool",
    axes=("=n",),
    read="The lower triangle",
    returns=(Slot("blocked", "tensor", "n n"),),
    groups=(
        Group("values", "is True above the diagonal alone (True = blocked)", 0.75, core=True),
        Group("edges", "works for one token, and takes a device", 0.25),
    ),
    cases=_mask_cases,
    oracle=_blocked,
    mistakes=(
        Mistake(
            "mask-inverted",
            lambda n, device=None: ~_blocked(n),
            "True stands where a token may look. This function's convention is True = blocked, as "
            "`nn.MultiheadAttention` reads its masks.",
            "Block what lies above the diagonal: `torch.triu`.",
        ),
        Mistake(
            "mask-transposed",
            lambda n, device=None: _blocked(n).mT,
            "The lower triangle is blocked, so that a token sees the future and not the past.",
            "Rows are queries: row i may see columns 0 … i.",
        ),
        Mistake(
            "mask-off-by-one",
            lambda n, device=None: torch.ones(n, n).triu().bool(),
            "The diagonal is blocked too, so that no token sees itself.",
            "Begin one above the diagonal: `diagonal=1`.",
        ),
        Mistake(
            "mask-off-by-one",
            lambda n, device=None: torch.ones(n, n).triu(2).bool(),
            "The mask begins one too far to the right: each token sees the next one.",
            "Begin one above the diagonal: `diagonal=1`.",
        ),
        Mistake(
            "mask-off-by-one",
            lambda n, device=None: torch.ones(n, n).triu(-1).bool(),
            "The mask begins one below the diagonal: no token sees itself or the one before it.",
            "Begin one above the diagonal: `diagonal=1`.",
        ),
        Mistake(
            "nothing-blocked",
            lambda n, device=None: torch.zeros(n, n, dtype=torch.bool),
            "Nothing is blocked.",
            "Set the entries above the diagonal to True.",
        ),
        Mistake(
            "all-blocked",
            lambda n, device=None: torch.ones(n, n, dtype=torch.bool),
            "Everything is blocked.",
            "Keep only the entries above the diagonal: `torch.triu`.",
        ),
        Mistake(
            "diagonal-only",
            lambda n, device=None: ~torch.eye(n, dtype=torch.bool),
            "Each token sees itself alone: the past is blocked too.",
            "Keep only the entries above the diagonal: `torch.triu`.",
        ),
    ),
)


# attention -----------------------------------------------------------------------------------


def _sentence(
    rng: np.random.Generator, b: int, n: int, d: int, d_k: int, d_v: int, std: float = 1.0
) -> tuple[Tensor, ...]:
    x = normal(rng, b, n, d, std=std)
    return x, *(normal(rng, d, width, std=d**-0.5) for width in (d_k, d_k, d_v))


def _alike(rng: np.random.Generator) -> tuple[Tensor, ...]:
    """Tokens that are much alike: scores in the thousands, and much alike within a row.

    Weights that are masked after softmax and then divided by their sum are right as well. Were the
    scores of a row far apart, softmax would leave them nothing but zeros to divide by.
    """
    n, d, d_k, d_v = sizes(rng, 4, 3)
    x, Wq, _, Wv = _sentence(rng, 2, n, d, d_k, d_v, std=1e-4)
    lengths = torch.tensor([1.0, 0.5], dtype=x.dtype)[:, None, None]  # no maximum fits both
    x = x + lengths * normal(rng, d)
    Wk = Wq + normal(rng, d, d_k, std=0.05)
    scores = (x @ Wq) @ (x @ Wk).mT / d_k**0.5
    return x * (20_000.0 / scores.abs().max()).sqrt(), Wq, Wk, Wv


def _far_below(rng: np.random.Generator) -> tuple[Tensor, ...]:
    """The same with scores down to -20,000, where -10,000 is no low number any more."""
    x, Wq, Wk, Wv = _alike(rng)
    return x, Wq, -Wk, Wv


def _far_apart(rng: np.random.Generator) -> tuple[Tensor, ...]:
    """Scores that are far apart; the largest of each row is the first or second, which it may see.

    In the second row, the smallest is farther from 0 than the largest is, which is above it.
    """
    x, Wq, Wk, Wv = _alike(rng)
    x[:, 1] *= -0.5
    x[:, 2:] *= torch.from_numpy(rng.uniform(-0.4, 0.4, x.shape[1] - 2))[:, None]
    return x * 3, Wq, Wk, Wv


def _rising(rng: np.random.Generator) -> tuple[Tensor, ...]:
    """Scores that grow from token to token, so that what is blocked is hundreds above the rest."""
    x, Wq, Wk, Wv = _alike(rng)
    x = x * torch.linspace(1.0, 2.0, x.shape[1], dtype=x.dtype)[:, None]
    scores = (x @ Wq) @ (x @ Wk).mT / Wq.shape[1] ** 0.5
    return x * (1600.0 / scores.abs().max()).sqrt(), Wq, Wk, Wv


def _attention_cases(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("values", _sentence(rng, *sizes(rng, 5)), exact_zeros=True)
    x, *matrices = _sentence(rng, *sizes(rng, 5))
    x[:, rng.integers(x.shape[1])] = 0.0
    yield Case("values", (x, *matrices), note="one token is 0", exact_zeros=True)
    among = sizes(rng, 5)
    first, second = _sentence(rng, *among), _sentence(rng, *among)
    yield Case("values", second, earlier=first, note=SECOND, exact_zeros=True)
    yield Case("values", _sentence(rng, *one_size(rng, 5)), note=EQUAL, exact_zeros=True)
    b, d, d_k, d_v = sizes(rng, 4)
    sentence = _sentence(rng, b, great_length(rng), d, d_k, d_v)
    yield Case("values", sentence, note="there are many tokens", exact_zeros=True)
    *others, Wv = _sentence(rng, *sizes(rng, 5))
    yield Case("gradient", (*others, Wv * 1e5), gradient=True)
    sentence, note = _sentence(rng, *sizes(rng, 5)), "x needs no gradient"
    yield Case("gradient", sentence, gradient=True, fixed=(0,), note=note)
    for one in ones_in_turn(rng, 5):
        yield Case("single", _sentence(rng, *one), note="one of the sizes is 1")
    sentence = _sentence(rng, *sizes(rng, 5))
    yield Case("single", sentence, laid="views", note="inputs are not contiguous")
    yield Case("large", _alike(rng), note="scores are in the thousands", exact_zeros=True)
    note = "scores are in the thousands below 0"
    yield Case("large", _far_below(rng), note=note, exact_zeros=True)
    yield Case("large", _far_apart(rng), note="scores are thousands apart", exact_zeros=True)
    yield Case("large", _rising(rng), note=TOWERING, exact_zeros=True)
    single = tuple(part.float() for part in _sentence(rng, *sizes(rng, 5)))
    note = "inputs are float32"
    yield Case("float32", single, note=note, tolerance=FLOAT32_TOLERANCE, exact_zeros=True)
    *others, Wv = _sentence(rng, *sizes(rng, 5))
    note = "values are in the hundred thousands"
    yield Case("float32", (*others, Wv * 1e5), note=note, exact_zeros=True)
    x, *matrices = _sentence(rng, *sizes(rng, 5, 3))
    for place, name in enumerate(("Wq", "Wk", "Wv")):
        matrix = matrices[place]
        for misfit, how in ((matrix[:-1], "few"), (torch.cat([matrix, matrix[:1]]), "many")):
            changed = [*matrices[:place], misfit, *matrices[place + 1 :]]
            note = f"{name} has a row too {how} for x"
            yield Case("refuses", (x, *changed), raises=REFUSED, note=note)
    for wide, how in zip(misfits(x, -1), ("narrower", "wider"), strict=True):
        note = f"x is {how} than the matrices have rows"
        yield Case("refuses", (wide, *matrices), raises=REFUSED, note=note)
    Wq, Wk, Wv = matrices
    for wide, how in ((Wk[:, :-1], "narrower"), (torch.cat([Wk, Wk[:, :1]], -1), "wider")):
        note = f"Wk is {how} than Wq"
        yield Case("refuses", (x, Wq, wide, Wv), raises=REFUSED, note=note)


def _oracle(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> Any:
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    each_key = torch.eye(x.shape[-2], dtype=x.dtype).expand(*x.shape[:-2], -1, -1)
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return out, F.scaled_dot_product_attention(q, k, each_key, is_causal=True)


def _attend(recipe: Recipe) -> Callable[..., Any]:
    """The exercise's function, made from a recipe."""

    def attention(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> Any:
        return recipe.compute(x @ Wq, x @ Wk, x @ Wv, x, mask=_blocked(x.shape[-2]))

    return attention


def _other_future(rng: np.random.Generator) -> tuple[Case, Case]:
    x, *matrices = _sentence(rng, 2, 5, 6, 4, 3)
    changed = with_other_future(rng, x)
    return Case("values", (x, *matrices)), Case("values", (changed, *matrices))


def _sees_no_future(args: tuple[Any, ...], out: np.ndarray, weights: np.ndarray) -> bool:
    return bool((np.triu(weights, 1) == 0).all())


ZEROS: Part = (
    wrong(
        "zero-scores-blocked",
        "Blocked positions are found as scores of 0. A score that may be read can be 0 as well, "
        "and was blocked too.",
        "Ask the mask what is blocked, not the scores.",
        {
            "hide": lambda s, blocked: s.masked_fill(blocked | (s == 0), -INFINITY),
            "empty": lambda a, rows: a,
        },
    ),
)


ATTENTION = Exercise(
    name="attention",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(x, Wq, Wk, Wv) -> (out, weights)",
    axes=("… n d", "d k", "d k", "d v"),
    read="Attention that does not look ahead",
    returns=(Slot("out", "tensor", "B N d_v"), Slot("weights", "tensor", "B N N")),
    groups=(
        Group("values", "equals F.scaled_dot_product_attention(…, is_causal=True)", 3.0, core=True),
        Group("gradient", "passes the right gradients to x and to all three matrices", 0.75),
        Group(
            "single", "works for one token, sizes of 1, and inputs that are not contiguous", 0.25
        ),
        Group("large", "is stable at scores in the thousands", 0.25),
        Group("float32", "keeps float32 (compared at 1e-4), and float64 with all its digits", 0.25),
        Group("refuses", "raises an error when widths do not fit", 0.25),
        unchanged(0.25),
    ),
    cases=_attention_cases,
    oracle=_oracle,
    mistakes=(
        *mistakes_in(
            _attend,
            in_softmax.SOFTMAX,
            in_softmax.NO_SOFTMAX,
            in_softmax.ROWS,
            in_softmax.BATCH,
            in_softmax.LARGE,
            in_softmax.MAXIMA,
            in_softmax.PRECISION,
            in_attention.SCALE,
            in_attention.SCALE_LATE,
            in_attention.SCALE_BY_FIRST_AXIS,
            in_attention.SCALE_BY_INPUT,
            in_attention.SCALE_BY_VALUES,
            in_attention.SCORES,
            in_attention.RESHAPED,
            in_attention.SWAPPED,
            in_attention.PROJECTIONS,
            in_attention.MIX,
            in_attention.RESULTS,
            in_attention.MASK,
            in_attention.FAR_BELOW,
            in_attention.FAR_ABOVE,
            in_attention.CAUSAL,
            in_attention.GRADIENTS,
            ROOT,
            ZEROS,
        ),
        detached(_oracle, 1, 2, 3),
        detached(_oracle, 1, 2),
    ),
    pairs=pairs_in(
        _attend,
        in_attention.SCALE,
        IN_WEIGHING,
        in_attention.MIX,
        in_attention.MASK + in_attention.CAUSAL,
        in_attention.SWAPPED,
    ),
    properties=(
        Property("the upper triangle of the weights is exactly 0", _sees_no_future),
        *SHARES,
    ),
    relations=(future_relation("changing the future changes nothing in the past", _other_future),),
    fused_banned=True,
)


# padding_mask --------------------------------------------------------------------------------


def _lengths(rng: np.random.Generator, batch: int, longest: int) -> Tensor:
    """Lengths from 1 to the longest, which is among them, and so is 2."""
    lengths = rng.integers(1, longest, batch)
    lengths[rng.choice(batch, 2, replace=False)] = longest, 2
    return torch.from_numpy(lengths)


def _sentences(rng: np.random.Generator) -> Iterator[tuple[tuple[Tensor, int], str]]:
    """Lengths and a number of positions, for both masks, at the edges of what there is."""
    b, n = sizes(rng, 2, 3)
    lengths = _lengths(rng, b, n)
    lengths[rng.integers(b)] = 0
    yield (lengths, n), "one sentence is all padding"
    yield (torch.zeros(b, dtype=torch.long), n), "all sentences are all padding"
    yield (torch.tensor([int(rng.integers(1, n))]), n), "there is one sentence"
    yield (torch.ones(b, dtype=torch.long), 1), "there is one position"


def _padding_cases(rng: np.random.Generator) -> Iterator[Case]:
    b, n = sizes(rng, 2, 3, 12)
    yield Case("values", (_lengths(rng, b, n), n + 1))
    b, n = sizes(rng, 2, 3, 12)
    yield Case("values", (_lengths(rng, b, n), n))
    for args, note in _sentences(rng):
        yield Case("edges", args, note=note)


def _padding(lengths: Tensor, max_len: int) -> Tensor:
    """True = real token: sentences of ones, padded with zeros by PyTorch."""
    ones = [torch.ones(int(length)) for length in lengths] + [torch.ones(max_len)]
    return torch.nn.utils.rnn.pad_sequence(ones, batch_first=True)[:-1].bool()


PADDING_MASK = Exercise(
    name="padding_mask",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(lengths, max_len) -> (B, max_len) bool",
    axes=("b", "=n"),
    read="Padding",
    returns=(Slot("real", "tensor", "B max_len"),),
    groups=(
        Group("values", "is True for the real tokens (True = real)", 0.5, core=True),
        Group("edges", "takes a sentence that is all padding, and sizes of 1", 0.25),
        unchanged(0.25),
    ),
    cases=_padding_cases,
    oracle=_padding,
    mistakes=(
        Mistake(
            "mask-inverted",
            lambda lengths, max_len: ~_padding(lengths, max_len),
            "True stands where there is padding. This function's convention is True = real token.",
            "A position is real where it is less than the length.",
        ),
        Mistake(
            "mask-off-by-one",
            lambda lengths, max_len: _padding((lengths + 1).clamp(max=max_len), max_len),
            "One token too many is real: positions count from 0, so the last one is length − 1.",
            "Compare with `<`, not `<=`.",
        ),
        Mistake(
            "mask-off-by-one",
            lambda lengths, max_len: _padding((lengths - 1).clamp(min=0), max_len),
            "One token too few is real.",
            "Position j is real where j < length.",
        ),
        Mistake(
            "padding-on-the-left",
            lambda lengths, max_len: _padding(lengths, max_len).flip(-1),
            "The padding is on the left. In this course it follows the sentence.",
            "Position j is real where j < length.",
        ),
        Mistake(
            "mask-transposed",
            lambda lengths, max_len: _padding(lengths, max_len).mT,
            "The mask is (max_len, B): sentences should be rows.",
            "Compare positions (1, max_len) with lengths (B, 1).",
        ),
        Mistake(
            "nothing-masked",
            lambda lengths, max_len: torch.ones(len(lengths), max_len, dtype=torch.bool),
            "Every position counts as real.",
            "Position j is real where j < length.",
        ),
        Mistake(
            "one-token-only",
            lambda lengths, max_len: torch.arange(max_len) == (lengths - 1)[:, None],
            "Only the last real token is True.",
            "Compare with `<`, not `==`.",
        ),
        Mistake(
            "longest-for-all",
            lambda lengths, max_len: _padding(lengths.max().expand(len(lengths)), max_len),
            "Every sentence got the length of the longest.",
            "Compare each row with its own length: `lengths[:, None]`.",
        ),
    ),
)


# decoder_mask --------------------------------------------------------------------------------


def _decoder_cases(rng: np.random.Generator) -> Iterator[Case]:
    b, n = sizes(rng, 2, 4, 12)
    yield Case("values", (_lengths(rng, b, n), n))
    b, n = sizes(rng, 2, 4, 12)
    yield Case("values", (_lengths(rng, b, n - 1), n))
    for args, note in _sentences(rng):
        yield Case("edges", args, note=note)


def _decoder(lengths: Tensor, n: int) -> Tensor:
    """True = attend: neither in the future nor padding."""
    return ~_blocked(n) & _padding(lengths, n)[:, None, None, :]


DECODER_MASK = Exercise(
    name="decoder_mask",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(lengths, n) -> (B, 1, n, n) bool",
    axes=("b", "=n"),
    read="Causal and padding in one",
    returns=(Slot("attend", "tensor", "B 1 n n"),),
    groups=(
        Group("values", "is True for real keys that are not in the future", 1.25, core=True),
        Group("edges", "takes a sentence that is all padding, and sizes of 1", 0.5),
        unchanged(0.25),
    ),
    cases=_decoder_cases,
    oracle=_decoder,
    mistakes=(
        Mistake(
            "mask-inverted",
            lambda lengths, n: ~_decoder(lengths, n),
            "True stands where a key is blocked. For `F.scaled_dot_product_attention` True means "
            "attend.",
            "Negate it.",
        ),
        Mistake(
            "padding-missing",
            lambda lengths, n: ~_blocked(n).expand(len(lengths), 1, n, n),
            "This is the causal mask alone: padding may be attended to.",
            "Combine it with the padding mask of the keys by `&`.",
        ),
        Mistake(
            "mask-missing",
            lambda lengths, n: _padding(lengths, n)[:, None, None, :].expand(-1, 1, n, n),
            "This is the padding mask alone: the future may be attended to.",
            "Combine it with the causal mask by `&`.",
        ),
        Mistake(
            "or-not-and",
            lambda lengths, n: ~_blocked(n) | _padding(lengths, n)[:, None, None, :],
            "A key is open if either mask lets it through. It has to pass both.",
            "Combine masks of what may be attended to by `&`.",
        ),
        Mistake(
            "padding-on-queries",
            lambda lengths, n: ~_blocked(n) & _padding(lengths, n)[:, None, :, None],
            "Queries that are padding may attend to nothing: padding was blocked in the rows. It "
            "has to be blocked as a key, in the columns, and nowhere else.",
            "Combine with one padding mask alone, of shape (B, 1, 1, n).",
        ),
        Mistake(
            "mask-transposed",
            lambda lengths, n: ~_blocked(n).mT & _padding(lengths, n)[:, None, None, :],
            "The wrong triangle is blocked: a token sees the future and not the past.",
            "Row i may see columns 0 … i.",
        ),
        Mistake(
            "mask-off-by-one",
            lambda lengths, n: (
                torch.ones(n, n).tril(-1).bool() & _padding(lengths, n)[:, None, None, :]
            ),
            "No token may see itself.",
            "Keep the diagonal: block from one above it.",
        ),
        Mistake(
            "mask-off-by-one",
            lambda lengths, n: (
                torch.ones(n, n).tril(1).bool() & _padding(lengths, n)[:, None, None, :]
            ),
            "Each token sees the next one.",
            "Block from one above the diagonal.",
        ),
        Mistake(
            "mask-off-by-one",
            lambda lengths, n: _decoder((lengths + 1).clamp(max=n), n),
            "One token too many is real: the last one stands at length − 1.",
            "Compare positions with `<`, not `<=`.",
        ),
        Mistake(
            "causal-inverted",
            lambda lengths, n: _blocked(n) & _padding(lengths, n)[:, None, None, :],
            "The causal mask says True = blocked and was used as True = attend.",
            "Negate `causal_mask(n)` before you combine.",
        ),
        Mistake(
            "not-of-both",
            lambda lengths, n: ~(_blocked(n) & _padding(lengths, n)[:, None, None, :]),
            "`~` turns round both masks together: all is open but real keys of the future.",
            "Turn the causal mask round alone, then combine: `~blocked & real`.",
        ),
        Mistake(
            "padding-reads-itself",
            lambda lengths, n: _decoder(lengths, n) | torch.eye(n, dtype=torch.bool),
            "A dummy may read itself: the diagonal stayed open where the key is padding.",
            "Close the columns of padding in every row. Nobody reads a dummy's output.",
        ),
        Mistake(
            "padding-inverted",
            lambda lengths, n: ~_blocked(n) & ~_padding(lengths, n)[:, None, None, :],
            "Only padding may be attended to.",
            "`padding_mask` says True = real token: use it as it is.",
        ),
        Mistake(
            "head-axis-missing",
            lambda lengths, n: _decoder(lengths, n)[:, 0],
            "The mask is (B, n, n). For SDPA's (B, H, n, n) scores it would meet the heads with "
            "its batch axis.",
            "Add an axis of 1 for the heads: `[:, None]`.",
        ),
    ),
)

EXERCISES = (CAUSAL_MASK, ATTENTION, PADDING_MASK, DECODER_MASK)
