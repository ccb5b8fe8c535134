"""The cases that follow from what an exercise says of itself: its axes, its claims, its mask.

`derived` is all of them. Each says which claim it belongs to and on which others it relies; a claim
that an exercise does not make sends its cases to the first one, or there are none: without a claim
`gradient` nothing is asked of gradients. Sizes, places and numbers are drawn from the generator.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attnlab.checks.attention import Attention
from attnlab.checks.exercise import FLOAT32_TOLERANCE, Case, Exercise, State
from attnlab.checks.inputs import (
    AFTER_A_MASK,
    EQUAL,
    EVALUATED,
    FAR,
    MADE,
    SECOND,
    Generator,
    far_rows,
    great_length,
    high_row,
    holes,
    low_rows,
    near_rows,
    random_list,
)

Sizes = Mapping[str, int]
FLOATS = ("float32", "float64", "torch.float32", "torch.float64")
TINY = 1e-4  # how much keys differ where scores are thousands, and alike within a row
OTHER = "`bias` is not what it is by default"
SINGLE, VIEWS = "inputs are float32", "inputs came out of a transpose"
MASKED_TWICE = "it is called a second time, with a mask of another length"


@dataclass(frozen=True, slots=True)
class Given:
    """What one call is given.

    Attributes:
        args: by parameter name; what is left to its default is left out.
        state: a module's parameters by name.
        builds: what its constructor is given.
        sizes: by letter, and the leading axes by '…'.
    """

    args: Mapping[str, Any]
    state: Mapping[str, Any]
    builds: tuple[Any, ...] | None
    sizes: Mapping[str, Any]

    def but(self, **changed: Any) -> Given:
        """The same with other arguments."""
        return replace(self, args={**self.args, **changed})


def derived(exercise: Exercise, rng: Generator) -> Iterator[Case]:
    """All cases that an exercise shares with others, in no order that matters."""
    if not exercise.axes:
        return  # it is given nothing
    draw, promised = Draw(exercise, rng), exercise.promised
    yield from _ordinary(draw)
    yield from _shapes(draw)
    if "masked" in promised:
        yield from _masked(draw)
    if "empty" in promised:
        yield from _empty(draw)
    if "large" in promised:
        yield from _large_rows(draw) if exercise.scores else _large(draw)
    if "precision" in promised:
        yield from _precision(draw)
    if "gradient" in promised:
        yield from _gradients(draw)
    if "refuses" in promised:
        yield from _refused(draw)
    if "ragged" in promised:
        yield from _uneven(draw)
    if "bias" in promised:
        yield draw.case(draw.given(draw.sizes(), other=True), "bias", note=OTHER)
    if "again" in promised:
        yield from _again(draw)


# Drawing ------------------------------------------------------------------------------------------


class Draw:
    """Draws what an exercise is given, by its axes.

    Attributes:
        letters: the sizes that it has, in the order in which they are first named; those that
            follow from others are not among them.
        leads: whether it takes any number of leading axes.
        arrays: arguments that are arrays of numbers, drawn here and not by the exercise.
        mask: the argument that is a mask, with its axes and kinds; None where there is none.
        short: whether numbers have two decimals, so that a card can show them whole.
    """

    def __init__(self, exercise: Exercise, rng: Generator) -> None:
        self.exercise, self.rng = exercise, rng
        self.short = False
        pairs = list(zip(exercise.parameters, exercise.axes, strict=False))
        given = {name: axes.split() for name, axes in pairs}
        named = [*given.values(), *(axes.split() for axes in exercise.state.values())]
        words = [word.lstrip("=") for axes in [*named, exercise.builds or ()] for word in axes]
        words += " ".join(exercise.products.values()).split()
        letters = dict.fromkeys(word for word in words if len(word) == 1 and word.isalpha())
        self.letters = tuple(each for each in letters if each not in exercise.products)
        self.leads = any(axes[0] == "…" for axes in given.values())
        kinds = ("mask", "bias")
        self.mask = next((name for name, axes in given.items() if axes[-1] in kinds), None)
        self.mask_axes = [axis for axis in given.get(self.mask or "", ()) if axis not in kinds]
        self.mask_kinds = [kind for kind in given.get(self.mask or "", ()) if kind in kinds]
        self.arrays = [
            name
            for name, axes in given.items()
            if name not in exercise.drawn and axes[0][0] not in "=?" and name != self.mask
        ]

    def sizes(self, low: int = 2, **fixed: int) -> dict[str, int]:
        """A size for each letter; all differ, and none is 4 or 9, whose root is a size as well.

        Args:
            low: the least.
            fixed: sizes that are not drawn.
        """
        free = [letter for letter in self.letters if letter not in fixed]
        among = [size for size in range(low, low + len(free) + 4) if size not in (4, 9)]
        while True:
            drawn = self.rng.choice(among, len(free), replace=False)
            found = self.whole({**dict(zip(free, map(int, drawn), strict=True)), **fixed})
            if len({*found.values()} - {2, 4}) >= len(found) - 1 and len(
                set(found.values())
            ) == len(found):
                return found

    def whole(self, sizes: Sizes) -> dict[str, int]:
        """Sizes with those that follow from them: d is h · e."""
        found = dict(sizes)
        for letter, factors in self.exercise.products.items():
            each = (found[factor] if factor in found else int(factor) for factor in factors.split())
            found[letter] = math.prod(each)
        return found

    def equal(self) -> dict[str, int]:
        """One size for all, 5 or more; what asks whether a matrix is square finds one."""
        return self.whole(dict.fromkeys(self.letters, int(self.rng.choice([5, 6, 7, 8]))))

    def given(
        self, sizes: Sizes, leading: tuple[int, ...] | None = None, other: bool = False
    ) -> Given:
        """Arguments of these sizes.

        Args:
            leading: axes that '…' stands for; one if nothing is said.
            other: whether a module has biases where it has none by default, or the other way.
        """
        exercise = self.exercise
        biased = exercise.biased != other
        if leading is None:
            leading = (2,) if self.leads else ()
        all_sizes = {**sizes, "…": leading}
        args: dict[str, Any] = {}
        for name, axes in zip(exercise.parameters, exercise.axes, strict=False):
            if axes != "?" and name != self.mask:
                args[name] = self._argument(name, axes.split(), {**args, **all_sizes})
        state = {
            name: self.numbers([sizes[axis] for axis in axes.split()], root=-1)
            for name, axes in exercise.state.items()
            if biased or "bias" not in exercise.promised or not name.endswith(".bias")
        }
        builds = exercise.builds and tuple(sizes.get(size, size) for size in exercise.builds)
        if builds and other:
            builds = (*builds, biased)
        return Given(args, state, builds, all_sizes)

    def _argument(self, name: str, axes: list[str], sizes: Mapping[str, Any]) -> Any:
        if name in self.exercise.drawn:
            return self.exercise.drawn[name](self.rng, sizes)
        if axes[0].startswith("="):
            return sizes[axes[0][1:]]
        return self.numbers(_shape(axes, sizes), root=0 if name.startswith("W") else None)

    def numbers(self, shape: list[int], root: int | None = None) -> Any:
        """Normal numbers as the stage has them.

        Args:
            root: of a matrix, the axis that is summed over: what comes out is as large as what
                went in.
        """
        std = 1.0 if root is None or len(shape) < 2 else shape[root] ** -0.5
        if self.short:
            return random_list(self.rng, *shape, std=std)
        return self.staged(self.rng.normal(0, std, shape))

    def staged(self, array: np.ndarray) -> Any:
        """An array as the stage has it: lists, an array or a tensor."""
        if self.exercise.stage == "pure":
            return array.tolist()
        if self.exercise.stage == "numpy":
            return np.array(array)
        import torch

        return torch.from_numpy(np.ascontiguousarray(array))

    def case(self, given: Given, *promises: str, masks: Mapping[str, Any] = {}, **how: Any) -> Case:
        """A case of the first of these promises that is made; it relies on the others."""
        exercise = self.exercise
        added = [name for name in masks if str(getattr(masks[name], "dtype", "")) in FLOATS]
        kept = [promise for promise in promises if promise in exercise.promised]
        made = [exercise.claim_of(promise) for promise in kept]
        masked = bool(masks) or exercise.causal
        how.setdefault("exact_zeros", masked and not how.get("gradient"))
        how.setdefault("tolerance", exercise.tolerance)
        args, kwargs = [*given.args.values()], dict(masks)
        if any(str(getattr(arg, "dtype", "")).endswith("float32") for arg in args):
            kwargs = {name: _single(mask) for name, mask in masks.items()}
        after = self.exercise.parameters[len(args) : len(args) + 1]
        if after and after[0] in kwargs and self.rng.random() < 0.5:
            args.append(kwargs.pop(after[0]))  # by its place, not by its name
        return Case(
            made[0] if made else exercise.claims[0].name,
            tuple(args),
            kwargs,
            sizes=given.builds,
            state=given.state,
            about=tuple(claim for claim in made[1:] if claim != made[0]),
            promise=" ".join([*kept, *(["float mask"] if added else [])]),
            **how,
        )

    def axes_of(self, name: str) -> list[str]:
        """The letters of an argument, without '…'."""
        axes = self.exercise.axes[self.exercise.parameters.index(name)].split()
        return [axis for axis in axes if axis != "…"]


def _shape(axes: Iterable[str], sizes: Mapping[str, Any]) -> list[int]:
    shape: list[int] = []
    for axis in axes:
        shape += sizes[axis] if axis == "…" else [sizes[axis]]
    return shape


# Sizes, repetition and values ---------------------------------------------------------------------


def _ordinary(draw: Draw) -> Iterator[Case]:
    draw.short = draw.exercise.stage == "pure"
    yield draw.case(draw.given(draw.sizes(), ()), "values")
    draw.short = False
    for _ in range(int(draw.rng.integers(1, 4))):
        yield draw.case(draw.given(draw.sizes(3)), "values")
    if len(draw.letters) > 1:
        sizes = draw.equal()
        note = EQUAL if len({*sizes.values()}) == 1 else ""
        yield draw.case(draw.given(sizes), "values", note=note)
    sizes = draw.sizes()
    earlier, given = draw.given(sizes), draw.given(sizes)
    yield draw.case(given, "values", note=SECOND, earlier=tuple(earlier.args.values()))
    # Whole numbers, matrices too: what is equal is equal to the last bit, however it is summed.
    for note, low, high in (("all numbers are whole", -1, 2), ("all numbers are equal", 1, 2)):
        factors = " ".join(draw.exercise.products.values()).split() if draw.exercise.state else ()
        few = dict(zip(factors, (2, 3), strict=False))  # or scores were large
        given = draw.given(draw.sizes(3, **few))
        arrays = {name: given.args[name] for name in draw.arrays}
        whole = {name: _whole(draw, each, low, high) for name, each in arrays.items()}
        state = {name: _whole(draw, each, low, high) for name, each in given.state.items()}
        if whole:
            yield draw.case(replace(given.but(**whole), state=state), "values", note=note)


def _whole(draw: Draw, part: Any, low: int, high: int) -> Any:
    whole = draw.rng.integers(low, high, np.shape(part))
    return draw.staged(whole if draw.exercise.stage == "pure" else whole.astype(float))


def _shapes(draw: Draw) -> Iterator[Case]:
    called = draw.exercise.called
    for one in draw.letters:
        sizes = draw.whole({**draw.sizes(), one: 1})
        yield draw.case(draw.given(sizes), "shapes", note=f"{called(one)} is 1")
    tokens = [letter for letter in ("n", "m") if letter in draw.letters]
    for many in tokens or draw.letters[:1]:
        sizes = draw.sizes(**{many: great_length(draw.rng)})
        note = f"{called(many)} is large"  # where what is lost in float32 adds up
        yield draw.case(draw.given(sizes), "shapes", "precision", note=note)
    if draw.leads:
        for leading, note in (
            ((), "there are no leading axes"),
            ((2,), "there is one leading axis"),
            ((2, 3), "there are two leading axes"),
        ):
            yield draw.case(draw.given(draw.sizes(5), leading), "shapes", note=note)
    if draw.exercise.stage != "pure" and draw.arrays:
        given = draw.given(draw.sizes(3))
        yield draw.case(given, "shapes", laid="views", note=VIEWS)


def _precision(draw: Draw) -> Iterator[Case]:
    single = _float32(draw.given(draw.sizes()))
    how: dict[str, Any] = {"note": SINGLE, "tolerance": FLOAT32_TOLERANCE}
    yield draw.case(single, "precision", **how)
    given = _magnified(draw, draw.given(draw.sizes()))
    yield draw.case(given, "precision", note="values are in the hundred thousands")
    for note, masks in _masks(draw, single.sizes):
        note = f"{SINGLE}, and {note}"
        yield draw.case(single, "precision", "masked", masks=masks, **{**how, "note": note})


def _float32(given: Given) -> Given:
    """The same in float32: all arrays and parameters."""
    args = {name: _single(part) for name, part in given.args.items()}
    return replace(given, args=args, state={n: _single(part) for n, part in given.state.items()})


def _single(part: Any) -> Any:
    if isinstance(part, np.ndarray) and part.dtype == np.float64:
        return part.astype(np.float32)
    return part.float() if str(getattr(part, "dtype", "")) == "torch.float64" else part


def _magnified(draw: Draw, given: Given) -> Given:
    """Values so large that the sixth digit of what weighs them counts.

    It is the argument or parameter that has the width of the values, else the last array.
    """
    wide = [name for name in draw.arrays if "v" in draw.axes_of(name)]
    if state := [name for name in given.state if name.startswith("W_v.weight")]:
        return replace(given, state={**given.state, state[0]: given.state[state[0]] * 1e5})
    name = (wide or draw.arrays)[-1]
    return given.but(**{name: given.args[name] * 1e5})


def _gradients(draw: Draw) -> Iterator[Case]:
    def cases(given: Given, note: str, masks: Mapping[str, Any], *about: str) -> Iterator[Case]:
        how: dict[str, Any] = {"masks": masks, "gradient": True}
        yield draw.case(given, "gradient", "precision", *about, note=note, **how)
        parameters = draw.exercise.parameters
        tensors = [at for at, name in enumerate(parameters) if name in draw.arrays]
        if not tensors:
            return
        one = int(draw.rng.choice(tensors))
        fixed = tuple(at for at in tensors if at != one)
        alone = f"{parameters[one]} alone needs a gradient"
        if draw.exercise.state:
            fixed, alone = (one,), f"{parameters[one]} needs no gradient"
        if fixed:
            note = f"{note}, and {alone}" if note else alone
            how = {**how, "note": note, "fixed": fixed}
            yield draw.case(given, "gradient", "precision", *about, **how)

    promised = "finite" in draw.exercise.promised
    yield from cases(_magnified(draw, draw.given(draw.sizes(3))), "", {})
    if "bias" in draw.exercise.promised:
        given = _magnified(draw, draw.given(draw.sizes(3), other=True))
        yield from cases(given, OTHER, {}, "bias")
    given = _magnified(draw, draw.given(draw.sizes(3)))
    for note, masks in _masks(draw, given.sizes):
        yield from cases(given, note, masks, "masked")
    given = draw.given(draw.sizes(3))
    for note, masks in _emptying(draw, given.sizes)[::2] if promised else ():
        how: dict[str, Any] = {"masks": masks, "gradient": True, "note": note}
        yield draw.case(given, "finite", "gradient", "precision", "empty", "masked", **how)


def _again(draw: Draw) -> Iterator[Case]:
    for made, note in MADE.items():
        sizes = draw.sizes(3)
        earlier, given = draw.given(sizes), draw.given(sizes)
        how: dict[str, Any] = {"made": made, "earlier": tuple(earlier.args.values())}
        yield draw.case(given, "again", note=f"{note}, and {SECOND}", **how)
    tokens = "m" if "m" in draw.letters else "n"
    for step in (1, -1):  # what is kept of a mask is too long, or too short
        sizes = draw.sizes(3)
        earlier = draw.given({**sizes, tokens: sizes[tokens] + step})
        given = draw.given(sizes)
        then = [*earlier.args.values()]
        pairs = zip(_masks(draw, given.sizes), _masks(draw, earlier.sizes), strict=True)
        for (_, masks), (_, before) in [*pairs][:1]:
            how = {"masks": masks, "earlier": (*then, *before.values()), "note": MASKED_TWICE}
            yield draw.case(given, "again", "masked", **how)
    if "gradient" in draw.exercise.promised:
        given, how = draw.given(draw.sizes(3)), {"made": EVALUATED, "note": MADE[EVALUATED]}
        yield draw.case(given, "again", "gradient", gradient=True, **how)


# Masks --------------------------------------------------------------------------------------------

Masks = tuple[str, Mapping[str, Any]]  # what is said of it, and the argument by name


def _masks(draw: Draw, sizes: Mapping[str, Any]) -> list[Masks]:
    """A mask that leaves each query something, in each kind, of a form drawn at random."""
    if "causal" in draw.exercise.parameters:
        return [("causal=True", {"causal": True})]
    axes = draw.mask_axes
    if axes[:1] == ["…"]:
        forms = [["n", "m"], axes] + ([["…0", "1", "1", "m"]] if len(sizes["…"]) == 2 else [])
        axes = forms[draw.rng.integers(len(forms))]
    return _of_axes(draw, axes, sizes) if axes else []


def _of_axes(draw: Draw, axes: list[str], sizes: Mapping[str, Any]) -> list[Masks]:
    """A mask of these axes, in each kind."""
    known = {**sizes, "1": 1, "…0": sizes["…"][0] if sizes["…"] else 1}
    allowed = holes(draw.rng, *_shape(axes, known))
    return [
        (
            f"there is a {'float ' if kind == 'bias' else ''}mask {allowed.shape}",
            {draw.mask or "": _as_kind(draw, allowed, kind)},
        )
        for kind in draw.mask_kinds
    ]


def _as_kind(draw: Draw, allowed: np.ndarray, kind: str) -> Any:
    """A mask, True = attend, as bool or as 0 and -inf."""
    return draw.staged(allowed if kind == "mask" else np.where(allowed, 0.0, -np.inf))


def _masked(draw: Draw) -> Iterator[Case]:
    def ordinary(sizes: Sizes, note: str = "", *claims: str, **how: Any) -> Iterator[Case]:
        given = draw.given(sizes)
        for said, masks in _masks(draw, given.sizes):
            said = f"{note}, and {said}" if note else said
            yield draw.case(given, "masked", *claims, masks=masks, note=said, **how)

    yield from ordinary(draw.sizes(3))
    yield from ordinary(draw.equal(), EQUAL)
    yield from ordinary(draw.sizes(3), VIEWS, "shapes", laid="views")
    for one in draw.letters:
        if one != (draw.mask_axes or " ")[-1]:  # a mask that leaves the only key is none
            sizes = draw.whole({**draw.sizes(), one: 1})
            yield from [*ordinary(sizes, f"{draw.exercise.called(one)} is 1", "shapes")][:1]
    sizes = draw.sizes(3)
    earlier, given = draw.given(sizes), draw.given(sizes)
    then = tuple(earlier.args.values())
    for note, masks in _masks(draw, given.sizes)[:1]:
        note = f"{SECOND}, and {note}"
        yield draw.case(given, "masked", masks=masks, earlier=then, note=note)
        before = (*then, *masks.values())
        yield draw.case(given, "values", earlier=before, note=AFTER_A_MASK)
    if "causal" in draw.exercise.parameters:
        given = draw.given(draw.sizes(3))
        yield draw.case(given, "masked", masks={"causal": False}, note="causal=False")
    if not draw.mask:
        return
    if draw.leads:
        for leading, axes in (
            ((), ["n", "m"]),
            ((2,), ["…", "n", "m"]),
            ((2, 3), ["…0", "1", "1", "m"]),
        ):
            given = draw.given(draw.sizes(3), leading)
            for note, masks in _of_axes(draw, axes, given.sizes):
                yield draw.case(given, "masked", masks=masks, note=note)
    given = draw.given(draw.sizes(3))
    shape = _shape(draw.mask_axes, given.sizes)
    masks = {draw.mask: _as_kind(draw, np.ones(shape, dtype=bool), "mask")}
    yield draw.case(given, "masked", masks=masks, note="nothing is blocked")
    if "bias" in draw.mask_kinds:
        masks = {draw.mask: draw.staged(draw.rng.normal(size=shape))}
        yield draw.case(given, "masked", masks=masks, note="the mask is of ordinary numbers")


def _empty(draw: Draw) -> Iterator[Case]:
    given = draw.given(draw.sizes(3))
    for note, masks in _emptying(draw, given.sizes):
        yield draw.case(given, "empty", "masked", masks=masks, note=note)
    given = draw.given(draw.whole({**draw.sizes(), draw.mask_axes[-1]: 1}))
    for note, masks in _emptying(draw, given.sizes)[:2]:
        yield draw.case(given, "empty", "masked", masks=masks, note=f"{note}, of one key")
    given = _float32(draw.given(draw.sizes(3)))
    for note, masks in _emptying(draw, given.sizes)[::2]:
        how = {"note": f"{note}, and {SINGLE}", "tolerance": FLOAT32_TOLERANCE}
        yield draw.case(given, "empty", "masked", "precision", masks=masks, **how)


def _emptying(draw: Draw, sizes: Mapping[str, Any]) -> list[Masks]:
    """Masks that leave one row of queries nothing, or all; none where no claim is made of it."""
    if "empty" not in draw.exercise.promised or draw.mask is None:
        return []
    shape = _shape([axis for axis in draw.mask_axes if axis != "…"], sizes)
    allowed = holes(draw.rng, *shape) if shape[-1] > 1 else np.ones(shape, dtype=bool)
    allowed[draw.rng.integers(len(allowed))] = False
    found: list[Masks] = []
    for kind in draw.mask_kinds:
        by = "a float mask" if kind == "bias" else "a mask"
        for which, note in (
            (allowed, "one row nothing"),
            (np.zeros(shape, dtype=bool), "all rows nothing"),
        ):
            masks = {draw.mask: _as_kind(draw, which, kind)}
            found.append((f"{by} leaves {note}", masks))
    return found


# Large scores -------------------------------------------------------------------------------------


def _large_rows(draw: Draw) -> Iterator[Case]:
    """Where scores themselves are given: rows of them, or one row after the other."""
    m = int(draw.rng.integers(5, 8))
    rng, name = draw.rng, draw.exercise.scores
    ordinary = rng.normal(size=(3, m))
    one = len(draw.axes_of(name)) == 1 and not draw.leads
    for note, rows in (
        ("rows are near 10,000, -10,000, 0 and 5,000", near_rows(rng, m)),
        ("scores are thousands apart", far_rows(rng, m)),
        ("the smallest is the farthest from 0", high_row(rng, m)),
        ("all are near -10,000", rng.normal(size=(3, m)) - FAR),
    ):
        for part in rows if one else [rows]:
            yield draw.case(_scored(draw, part), "large", note="" if one else note)
    gone = holes(rng, 3, m)
    for note, rows, zeros in (
        ("some scores are -inf", np.where(gone, ordinary, -np.inf), True),
        ("some scores are -inf, the others far below 0", low_rows(rng, m), True),
        # Here a right answer may be as small as e to the -700 where another one's is 0.
        ("some are -inf, others thousands apart", np.where(gone, far_rows(rng, m), -np.inf), False),
    ):
        for part in rows if one else [rows]:
            claims = ("large", "blocked") if note.startswith("some are") else ("blocked", "large")
            yield draw.case(_scored(draw, part), *claims, note=note, exact_zeros=zeros)


def _scored(draw: Draw, rows: np.ndarray) -> Given:
    return draw.given(draw.sizes()).but(**{draw.exercise.scores: draw.staged(rows)})


def _large(draw: Draw) -> Iterator[Case]:
    """Scores of thousands: apart from each other; alike within a row; towering where blocked."""
    if not draw.arrays:
        return  # they come of parameters alone
    rng = draw.rng

    def sized() -> tuple[dict[str, int], int, int]:
        few = {"h": int(rng.integers(2, 4))} if "h" in draw.letters else {}  # all agree on a sign
        sizes = draw.sizes(3, **few)
        return sizes, sizes.get("n", 1), sizes["m" if "m" in sizes else "n"]

    for turn in (1.0,) if "n" in draw.letters else (1.0, -1.0):  # the largest is first, and is not
        sizes, n, m = sized()
        ends = np.array([1.0, -0.5, *rng.uniform(-0.4, 0.4, m - 2)])  # two are never blocked
        asks = FAR * rng.uniform(0.3, 2, n) * np.resize([turn, -turn], n)
        far = _along(draw, sizes, asks, ends, 2 * FAR)
        if far:
            yield draw.case(far, "large", note="scores are thousands apart", exact_zeros=False)
    for sign, where in ((1, "in the thousands"), (-1, "in the thousands below 0")):
        sizes, n, m = sized()
        alike = 1.0 + TINY * rng.normal(size=m)
        given = _along(draw, sizes, rng.uniform(0.2, 2, n) * FAR, alike, 2 * FAR, sign)
        if not given:
            continue
        yield draw.case(given, "large", note=f"scores are {where}, alike within a row")
        for note, masks in _masks(draw, given.sizes)[::-sign][:1]:
            note = f"scores are {where}, and {note}"
            yield draw.case(given, "large", "masked", masks=masks, note=note)
    for lead, only in ((500.0, False), (1e11, True)) if draw.mask else ((500.0, False),):
        hidden: dict[str, Any] = {}
        sizes, n, m = sized()
        if draw.mask:
            allowed = holes(rng, 1, m)[0]
            lengths = np.where(allowed, rng.normal(size=m), lead * rng.uniform(0.6, 1.2, m))
            given = _along(draw, sizes, rng.uniform(0.9, 1.0, n), lengths, 0.0)
            shape = _shape([axis for axis in draw.mask_axes if axis != "…"], sizes)
            wide = np.broadcast_to(allowed, shape).copy()
            hidden = {draw.mask: draw.staged(wide)}
        else:
            given = _along(draw, sizes, np.ones(n), np.linspace(1.0, 2.0, m), 3 * lead)
            if "causal" in draw.exercise.parameters:
                hidden = {"causal": True}
        if given and (hidden or draw.exercise.causal):
            about = ("large", "masked")
            note = "what is blocked would have the highest scores"
            yield draw.case(given, *about, masks=hidden, note=note, only_zeros=only)


def _along(
    draw: Draw,
    sizes: Sizes,
    asks: np.ndarray,
    lengths: np.ndarray,
    largest: float,
    sign: int = 1,
) -> Given | None:
    """Tokens along one direction, so that scores are nearly products of two lengths.

    Args:
        asks: (N,), of the queries, or of the one there is; not used in self-attention.
        lengths: (M,), of the keys.
        largest: size of the largest score; 0 leaves them as the lengths make them.
        sign: of a product of two positive lengths.
    Returns:
        None where no direction has such scores in every head.
    """
    attention, rng = draw.exercise.attention, draw.rng
    assert attention is not None
    keys = "m" if "m" in draw.letters else "n"
    for _ in range(300):
        given, turned = draw.given(sizes), asks * rng.choice([-1.0, 1.0])
        plain = {n: part * 0 if n.endswith(".bias") else part for n, part in given.state.items()}
        given = replace(given, state=plain)
        along: dict[str, np.ndarray] = {}
        for name in draw.arrays:
            axes = draw.axes_of(name)
            if axes[-1] == "v" or (axes[1:] and not {"n", "m"} & set(axes[:-1])):
                continue
            direction = along.setdefault(axes[-1], rng.normal(size=sizes[axes[-1]]))
            of = lengths if keys in axes[:-1] else turned
            shape = np.shape(given.args[name])
            tokens = of[:, None] * direction + TINY * rng.normal(size=(len(of), len(direction)))
            tokens = np.broadcast_to(tokens if axes[1:] else tokens[0], shape)
            given = given.but(**{name: draw.staged(tokens)})
        scores = np.asarray(_scores(attention, given))
        of = asks if keys == "m" else lengths
        at = int(abs(of).argmax()), int(abs(lengths).argmax())
        each = scores[..., at[0], at[1]] / (of[at[0]] * lengths[at[1]])
        if (each * sign > 0.05 * abs(each).max()).all():
            by = (largest / abs(scores).max()) if largest else 1 / abs(each).max()
            asking = [name for name in draw.arrays if "n" in (draw.axes_of(name)[:-1] or ["n"])]
            first = asking[0]
            by = by if keys == "m" else by**0.5
            changed = np.asarray(given.args[first]) * by
            return given.but(**{first: draw.staged(changed)})
    return None


def _scores(attention: Attention, given: Given) -> Any:
    if given.builds is None:
        return attention.scores(*given.args.values())
    return attention.scores(State(given.state, given.builds), *given.args.values())


# Refusals -----------------------------------------------------------------------------------------


def _refused(draw: Draw) -> Iterator[Case]:
    exercise, named = draw.exercise, dict[str, list[str]]()
    for name in draw.arrays:
        for axis in draw.axes_of(name):
            named.setdefault(axis, []).append(name)
    of_parameters = " ".join(exercise.state.values()).split()
    for letter, names in named.items():
        shared = len(names) > 1 or letter in of_parameters
        for name in names if shared and letter not in exercise.fits else ():
            for size in (-1, 1, 0) if exercise.stretched else (-1, 1):
                given = draw.given(draw.sizes(3))
                at = draw.axes_of(name).index(letter) - len(draw.axes_of(name))
                changed = _resized(np.asarray(given.args[name]), at, size)
                how = {-1: "one less", 1: "one more", 0: "1"}[size]  # a size of 1 is stretched
                note = f"{exercise.called(letter)} is {how} in {name}, and not elsewhere"
                yield _refusal(draw, given.but(**{name: draw.staged(changed)}), note)


def _uneven(draw: Draw) -> Iterator[Case]:
    for name in draw.arrays:
        if len(draw.axes_of(name)) == 2:
            given = draw.given(draw.sizes(3))
            for ragged, note in _ragged(draw.rng, given.args[name]):
                yield _refusal(draw, given.but(**{name: ragged}), f"{note} in {name}", "ragged")


def _refusal(draw: Draw, given: Given, note: str, claim: str = "refuses") -> Case:
    refused = "ValueError or RuntimeError" if draw.exercise.stage == "torch" else "ValueError"
    return draw.case(given, claim, raises=refused, note=note, exact_zeros=False)


def _resized(array: np.ndarray, axis: int, step: int) -> np.ndarray:
    """One entry fewer along an axis, or one more; 0 for the first entry alone."""
    if step < 0:
        return np.delete(array, 0, axis)
    first = array.take([0], axis)
    return np.concatenate([array, first], axis) if step else first


def _ragged(rng: Generator, rows: list[list[float]]) -> Iterator[tuple[list[list[float]], str]]:
    """Rows of which one is shorter or longer; and two that make up for each other."""
    for place in (0, int(rng.integers(1, len(rows) - 1)), len(rows) - 1):
        for row, how in ((rows[place][:-1], "shorter"), ([*rows[place], 0.5], "longer")):
            yield [*rows[:place], row, *rows[place + 1 :]], f"row {place} is {how} than the others"
    uneven = [rows[0], rows[1][:-1], *rows[2:-1], [*rows[-1], 0.5]]
    yield uneven, "row 1 is shorter than the others and the last one longer"
