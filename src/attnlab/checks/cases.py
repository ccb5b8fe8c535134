"""The cases that follow from what an exercise says of itself: its axes, its claims, its mask.

`derived` is all of them. Each says which claim it belongs to and on which others it relies; a claim
that an exercise does not make sends its cases to the first one, or there are none: without a claim
`gradient` nothing is asked of gradients. Sizes, places and numbers are drawn from the generator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from attnlab.checks.draw import (
    Draw,
    Given,
    Sizes,
    as_kind,
    drawn_masks,
    emptying,
    in_float32,
    masks_of,
    shape_of,
)
from attnlab.checks.exercise import FLOAT32_TOLERANCE, Case, Exercise
from attnlab.checks.inputs import (
    AFTER_A_MASK,
    BUILT,
    EQUAL,
    EVALUATED,
    SECOND,
    Generator,
    great_length,
)
from attnlab.checks.large import large, large_rows

OTHER = "`bias` is not what it is by default"
SINGLE, VIEWS = "inputs are float32", "inputs came out of a transpose"
WHOLE, ZEROS = "inputs are whole numbers", "inputs are all 0"
FAR_BELOW = 1e8  # scores keep seven digits beside it
MASKED_TWICE = "it is called a second time, with a mask of another length"


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
        yield from large_rows(draw) if exercise.scores else large(draw)
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
    for note, low, high in ((WHOLE, -1, 2), ("inputs are all equal", 1, 2), (ZEROS, 0, 1)):
        if draw.arrays:
            yield draw.case(_whole(draw, low, high), "values", note=note)


def _whole(draw: Draw, low: int, high: int) -> Given:
    """Whole numbers, or quarters: what is equal is so to the last bit, however it is summed.

    In one row of the first array all are 0, so that it has scores of exactly 0. In all arrays the
    very first number is 0, as in `holes`.
    """

    def numbers(name: str, part: Any) -> Any:
        whole = draw.rng.integers(low, high, np.shape(part))
        if name == draw.arrays[0] and low < 0 and whole.ndim > 1:
            whole[..., draw.rng.integers(whole.shape[-2]), :] = 0
        if low < 0:
            whole.flat[0] = 0
        if draw.exercise.stage == "pure":
            return draw.staged(whole)
        return draw.staged(whole / (1 if name in draw.arrays and name[0] != "W" else 4))

    factors = " ".join(draw.exercise.products.values()).split() if draw.exercise.state else ()
    few = dict(zip(factors, (2, 3), strict=False))  # or scores were large
    given = draw.given(draw.sizes(3, **few))
    whole = {name: numbers(name, given.args[name]) for name in draw.arrays}
    state = {name: numbers(name, part) for name, part in given.state.items()}
    return replace(given.but(**whole), state=state)


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
    # Two leading axes, which no view can join then.
    given = draw.given(draw.sizes(3), (2, 3) if draw.leads else None)
    if any(len(getattr(arg, "shape", ())) > 1 for arg in given.args.values()):
        yield draw.case(given, "shapes", laid="views", note=VIEWS)


def _precision(draw: Draw) -> Iterator[Case]:
    single = in_float32(draw.given(draw.sizes()))
    how: dict[str, Any] = {"note": SINGLE, "tolerance": FLOAT32_TOLERANCE}
    yield draw.case(single, "precision", **how)
    given = _magnified(draw, draw.given(draw.sizes()))
    yield draw.case(given, "precision", note="values are in the hundred thousands")
    for note, masks in drawn_masks(draw, single.sizes):
        note = f"{SINGLE}, and {note}"
        yield draw.case(single, "precision", "masked", masks=masks, **{**how, "note": note})


def _magnified(draw: Draw, given: Given) -> Given:
    """Values so large that the sixth digit of what weighs them counts.

    It is the argument or parameter that has the width of the values, else the last array.
    """
    wide = [name for name in draw.arrays if "v" in draw.axes_of(name)]
    of_values = [name for name in given.state if name.endswith("W_v.weight")]
    if of_values:
        magnified = {name: given.state[name] * 1e5 for name in of_values}
        return replace(given, state={**given.state, **magnified})
    name = (wide or draw.arrays)[-1]
    return given.but(**{name: given.args[name] * 1e5})


def _gradients(draw: Draw) -> Iterator[Case]:
    def cases(given: Given, note: str, masks: Mapping[str, Any], *about: str) -> Iterator[Case]:
        how: dict[str, Any] = {"masks": masks, "gradient": True}
        yield draw.case(given, "gradient", *about, note=note, **how)
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
            yield draw.case(given, "gradient", *about, **how)

    promised = "finite" in draw.exercise.promised
    yield from cases(_magnified(draw, draw.given(draw.sizes(3))), "", {})
    if "bias" in draw.exercise.promised:
        given = _magnified(draw, draw.given(draw.sizes(3), other=True))
        yield from cases(given, OTHER, {}, "bias")
    given = _magnified(draw, draw.given(draw.sizes(3)))
    for note, masks in drawn_masks(draw, given.sizes):
        yield from cases(given, note, masks, "masked")
    given = draw.given(draw.sizes(3))
    for note, masks in emptying(draw, given.sizes)[::2] if promised else ():
        how: dict[str, Any] = {"masks": masks, "gradient": True, "note": note}
        yield draw.case(given, "finite", "gradient", "precision", "empty", "masked", **how)


def _again(draw: Draw) -> Iterator[Case]:
    for built, note in BUILT.items():
        sizes = draw.sizes(3)
        earlier, given = draw.given(sizes), draw.given(sizes)
        how: dict[str, Any] = {"built": built, "earlier": tuple(earlier.args.values())}
        yield draw.case(given, "again", note=f"{note}, and {SECOND}", **how)
    tokens = "m" if "m" in draw.letters else "n"
    for step in (1, -1):  # what is kept of a mask is too long, or too short
        sizes = draw.sizes(3)
        earlier = draw.given({**sizes, tokens: sizes[tokens] + step})
        given = draw.given(sizes)
        pairs = zip(drawn_masks(draw, given.sizes), drawn_masks(draw, earlier.sizes), strict=True)
        for (_, masks), (_, before) in [*pairs][:1]:
            then = (*earlier.but(**before).args.values(),)
            how = {"masks": masks, "earlier": then, "note": MASKED_TWICE}
            yield draw.case(given, "again", "masked", **how)
    if "gradient" in draw.exercise.promised:
        given, how = draw.given(draw.sizes(3)), {"built": EVALUATED, "note": BUILT[EVALUATED]}
        yield draw.case(given, "again", "gradient", gradient=True, **how)


def _masked(draw: Draw) -> Iterator[Case]:
    def ordinary(sizes: Sizes, note: str = "", *claims: str, **how: Any) -> Iterator[Case]:
        given = draw.given(sizes, (2, 3) if "laid" in how and draw.leads else None)
        for said, masks in drawn_masks(draw, given.sizes):
            said = f"{note}, and {said}" if note else said
            yield draw.case(given, "masked", *claims, masks=masks, note=said, **how)

    yield from ordinary(draw.sizes(3))
    yield from ordinary(draw.equal(), EQUAL)
    sizes = draw.sizes(3)
    earlier, given = draw.given(sizes), draw.given(sizes)
    for _, masks in drawn_masks(draw, given.sizes)[:1]:
        before = (*earlier.but(**masks).args.values(),)
        yield draw.case(given, "values", earlier=before, note=AFTER_A_MASK)
    given = _whole(draw, -1, 2)
    for note, masks in drawn_masks(draw, given.sizes)[:1]:
        yield draw.case(given, "masked", masks=masks, note=f"{WHOLE}, and {note}")
    if "causal" in draw.exercise.parameters:
        given = draw.given(draw.sizes(3))
        yield draw.case(given, "masked", masks={"causal": False}, note="causal=False")
        many = draw.sizes(n=great_length(draw.rng))
        yield from ordinary(many, f"{draw.exercise.called('n')} is large", "shapes")
    if not draw.mask:
        return
    if draw.leads:
        for leading, axes in (
            ((), ["n", "m"]),
            ((2,), ["…", "n", "m"]),
            ((2, 3), ["…0", "1", "1", "m"]),
            ((2, 3), ["…1", "n", "m"]),
            ((2,), ["m"]),
        ):
            given = draw.given(draw.sizes(3), leading)
            for note, masks in masks_of(draw, axes, given.sizes):
                yield draw.case(given, "masked", masks=masks, note=note)
    given = draw.given(draw.sizes(3))
    shape = shape_of(draw.mask_axes, given.sizes)
    masks = {draw.mask: as_kind(draw, np.ones(shape, dtype=bool), "mask")}
    yield draw.case(given, "masked", masks=masks, note="nothing is blocked")
    if "bias" in draw.mask_kinds:
        numbers = draw.rng.normal(size=shape)
        numbers[..., draw.rng.integers(shape[-2]), :] -= FAR_BELOW  # all of a row: it blocks none
        note = "the mask is of numbers, in one row all far below 0"
        yield draw.case(given, "masked", masks={draw.mask: draw.staged(numbers)}, note=note)


def _empty(draw: Draw) -> Iterator[Case]:
    given = draw.given(draw.sizes(3))
    for note, masks in emptying(draw, given.sizes):
        yield draw.case(given, "empty", "masked", masks=masks, note=note)
    given = in_float32(draw.given(draw.sizes(3)))
    for note, masks in emptying(draw, given.sizes)[::2]:
        how = {"note": f"{note}, and {SINGLE}", "tolerance": FLOAT32_TOLERANCE}
        yield draw.case(given, "empty", "masked", "precision", masks=masks, **how)


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
                sizes = draw.sizes(3)
                while sizes[letter] < 3:  # or one less is 1, which fits
                    sizes = draw.sizes(3)
                given = draw.given(sizes)
                at = draw.axes_of(name).index(letter) - len(draw.axes_of(name))
                changed = resized(np.asarray(given.args[name]), at, size)
                how = {-1: "one less", 1: "one more", 0: "1"}[size]  # a size of 1 is stretched
                note = f"{exercise.called(letter)} is {how} in {name}, and not elsewhere"
                kind = f"{letter} in {name} {'stretched' if size == 0 else 'misfits'}"
                yield refusal(draw, given.but(**{name: draw.staged(changed)}), note, kind)
            for width in _widths(draw, name):
                given = draw.given(draw.whole({**draw.sizes(3), **width}))
                turned = np.asarray(given.args[name]).swapaxes(-1, -2)
                note = f"rows and columns of {name} change places"
                kind = f"{note} {width}"
                yield refusal(draw, given.but(**{name: draw.staged(turned)}), note, kind)


def _widths(draw: Draw, name: str) -> list[Sizes]:
    """Sizes of a matrix's last axis for which it is turned: any, and 1, which may be stretched."""
    axes = draw.axes_of(name)
    if len(axes) != 2:
        return []
    return [{}, {axes[-1]: 1}] if draw.exercise.stretched else [{}]


def _uneven(draw: Draw) -> Iterator[Case]:
    for name in draw.arrays:
        if len(draw.axes_of(name)) == 2:
            given = draw.given(draw.sizes(3))
            for ragged, note in _ragged(draw.rng, given.args[name]):
                kind = f"uneven {name}"
                yield refusal(
                    draw, given.but(**{name: ragged}), f"{note} in {name}", kind, "ragged"
                )


def refusal(draw: Draw, given: Given, note: str, kind: str, claim: str = "refuses") -> Case:
    """A case that is to be refused, as the stage refuses."""
    refused = "ValueError or RuntimeError" if draw.exercise.stage == "torch" else "ValueError"
    return draw.case(given, claim, raises=refused, note=note, kind=kind, exact_zeros=False)


def resized(array: np.ndarray, axis: int, step: int) -> np.ndarray:
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
