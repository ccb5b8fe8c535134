"""Cases whose scores are large: thousands apart, alike within a row, towering where blocked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from attnlab.calling.observe import ByName, rebuild
from attnlab.checks.attention import Attention
from attnlab.checks.draw import (
    Draw,
    Given,
    Sizes,
    drawn_masks,
    shape_of,
)
from attnlab.checks.exercise import Case, State
from attnlab.checks.inputs import (
    FAR,
    far_rows,
    high_row,
    holes,
    low_rows,
    near_rows,
)

TINY = 1e-4  # how much keys differ where scores are thousands, and alike within a row


def large_rows(draw: Draw) -> Iterator[Case]:
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


def large(draw: Draw) -> Iterator[Case]:
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
        for note, masks in drawn_masks(draw, given.sizes)[::-sign][:1]:
            note = f"scores are {where}, and {note}"
            yield draw.case(given, "large", "masked", masks=masks, note=note)
    for lead, only in ((500.0, False), (1e11, True)) if draw.mask else ((500.0, False),):
        hidden: dict[str, Any] = {}
        sizes, n, m = sized()
        if draw.mask:
            allowed = holes(rng, 1, m)[0]
            lengths = np.where(allowed, rng.normal(size=m), lead * rng.uniform(0.6, 1.2, m))
            given = _along(draw, sizes, rng.uniform(0.9, 1.0, n), lengths, 0.0)
            shape = shape_of([axis for axis in draw.mask_axes if axis != "…"], sizes)
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
    args = [rebuild(arg) if isinstance(arg, ByName) else arg for arg in given.args.values()]
    if given.builds is None:
        return attention.scores(*args)
    return attention.scores(State(given.state, given.builds), *args)
