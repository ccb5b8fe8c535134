"""Lesson 04's figures: spreading scores, a dying Jacobian, four measures, readers who learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnlab.figures.arrays import as_array
from attnlab.figures.picture import (
    BLUE,
    CELL,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    QUIET,
    SIGNED,
    Picture,
    in_style,
    ink_cells,
    name_lines,
    new_figure,
    tile,
    with_looks,
)

WAYS = (
    (ORANGE, "--", 2.4),
    (BLUE, "-", 2.4),
    (GREY, ":", 1.8),
    (PURPLE, "-.", 1.8),
    (GREEN, (0, (5, 1)), 1.8),
)
PALE = (BLUE, 0.3)
FOUND = 0.9  # of the weight: more, and a reader has found the book
MOST = 0.95  # of the weight, and hardly any other book is heard
Numbers = Any  # nested lists or an array


@in_style
def spreads(scores: Mapping[int, Numbers]) -> Picture:
    """Histograms of raw scores, one above the other, and beside each the same ÷ √d_k.

    Those within ±√d_k have the full colour.

    Args:
        scores: for each d_k, (…) raw scores.
    """
    samples = {d_k: np.ravel(as_array(part)) for d_k, part in scores.items()}
    widest = max(samples) ** 0.5
    figure, axes = new_figure(
        rows=len(samples), columns=2, width=9.8, height=1.2 * len(samples) + 0.9, sharex="col"
    )
    figure.set_layout_engine("constrained", w_pad=0.25)
    words, shares, scaled = [], [], []
    for (left, right), (d_k, sample) in zip(axes, samples.items(), strict=True):
        root = d_k**0.5
        for place, numbers, one in ((left, sample, root), (right, sample / root, 1.0)):
            _, edges, bars = place.hist(numbers, bins=70, range=(-3.5 * one, 3.5 * one), color=PALE)
            for edge, bar in zip(edges, bars, strict=False):
                if abs(edge + 0.05 * one) < one:  # its middle
                    bar.set_color(BLUE)
            place.set(yticks=[])
            place.spines["left"].set_visible(False)
            place.text(0, 0.72, f"d_k = {d_k}", transform=place.transAxes)
            spread: Any = {"color": BLUE, "ha": "right", "transform": place.transAxes}
            place.text(1, 0.72, f"spread {numbers.std():.{0 if one > 9 else 1}f}", **spread)
        left.set(xlim=(-3.1 * widest, 3.1 * widest))
        right.set(xlim=(-3.5, 3.5), xticks=range(-3, 4))
        left.set_xticks(range(-90, 91, 30) if widest == 32 else left.get_xticks())
        inside = float((abs(sample) < root).mean())
        shares.append(inside)
        scaled.append(float((sample / root).std()))
        words.append(
            f"at d_k = {d_k} their standard deviation is {sample.std():.1f}, divided by √d_k "
            f"{scaled[-1]:.2f}, and {inside:.0%} lie within ±{root:g}, in a darker blue"
        )
    axes[0, 0].set_title("raw scores")
    axes[0, 1].set_title("÷ √d_k")
    axes[-1, 0].set_xlabel("q·k")
    axes[-1, 1].set_xlabel("q·k ÷ √d_k")
    low, high = min(shares), max(shares)
    about = f"{low:.0%}" if f"{low:.0%}" == f"{high:.0%}" else f"{low:.0%} to {high:.0%}"
    is_one = max(abs(each - 1) for each in scaled) < 0.05
    return Picture(
        figure,
        f"{len(samples)} histograms of raw scores on one axis, and beside each those of the scores "
        f"divided by √d_k, on another: {'; '.join(words)}.",
        f"Scores spread as √d_k{': divided by it, all spread alike' if is_one else ''}.\n"
        f"In full colour: within ±√d_k, on the right ±1, {about} of them. "
        "Each hill is drawn to the same height.",
    )


@in_style
def jacobians(panels: Mapping[str, tuple[Numbers, Numbers]], tokens: Sequence[str]) -> Picture:
    """Rows of weights as bars, and softmax's Jacobian below each, with the same colours.

    The first panel names the rows of all.

    Args:
        panels: for each way to scale, (M,) weights and their (M, M) Jacobian.
        tokens: M labels.
    """
    count = len(tokens)
    figure, axes = new_figure(columns=len(panels), width=3.1 * len(panels), height=4.5)
    words, most = [], []
    for place, (way, (weights, jacobian)) in zip(axes[0], panels.items(), strict=True):
        p, matrix = as_array(weights), as_array(jacobian)
        best, steepest = int(np.argmax(p)), float(abs(matrix).max())
        image = place.imshow(matrix, cmap=SIGNED, vmin=-0.25, vmax=0.25, aspect="auto")
        tile(place, tokens, tokens, "")
        place.set_title(way, weight="bold")
        place.set_xticks(range(count), tokens, rotation=40, ha="right", rotation_mode="anchor")
        place.set_yticks(range(count), tokens if place is axes[0, 0] else [""] * count)
        place.set(ylim=(count - 0.5, -3.1))
        bars = place.bar(range(count), -1.7 * p, 0.8, bottom=-0.8, color=[(GREY, 0.5)] * count)
        bars.patches[best].set_color(GREY)
        place.text(best, -0.9 - 1.7 * p[best], f"{p[best]:.2f}", ha="center", weight="bold")
        at = divmod(int(abs(matrix).argmax()), count)
        place.text(*at[::-1], f"{matrix[at]:.2f}", ha="center", va="center", gid=CELL)
        ink_cells(place, image)
        most.append(steepest)
        words.append(
            f"{way}: the largest weight is {p[best]:.2f}, on {tokens[best]}, and the steepest "
            f"slope {steepest:.2g}"
        )
    axes[0, 0].text(-0.6, -0.85, "weights", color=QUIET, ha="right", va="bottom")
    top = [max(as_array(weights)) for weights, _ in panels.values()]
    surest, steep = int(np.argmax(top)), int(np.argmax(most))
    beside = f", at {top[steep]:.2f} up to {most[steep]:.2f}" * (steep != surest)
    return Picture(
        figure,
        f"For one query, {len(panels)} rows of weights as bars, and below each the heatmap of "
        f"softmax's Jacobian. {'; '.join(words)}.",
        f"At weight {top[surest]:.2f} all slopes are {most[surest]:.2f} at most"
        f"{beside}\n"
        "A row: a word's weight. A column: the score that is nudged. Orange: the weight rises. "
        "Blue: it falls."
        if top[surest] > 0.95
        else "",
    )


@in_style
def four_measures(widths: Sequence[int], measured: Mapping[str, Numbers], books: int) -> Picture:
    """Spread, entropy, largest weight and gradient against the width, for each way to scale.

    Args:
        widths: D values of d_k.
        measured: for each way, (D, 4): standard deviation of the scores, then the median over
            readers of entropy, largest weight and norm of softmax's Jacobian.
        books: M, how many keys there are.
    """
    even_norm = (books - 1) ** 0.5 / books  # of diag(p) − p pᵀ where all p are 1/M
    # Title, the limits unless it is logarithmic, and what it is where all books have the same.
    panels: tuple[tuple[str, tuple[float, float] | None, str], ...] = (
        ("spread of the scores, log axis", None, ""),
        ("entropy of a row, nats", (-0.15, 3.3), f"log {books} where all are alike"),
        ("largest weight of a row", (0, 1.05), f"1/{books} where all are alike"),
        ("norm of the Jacobian, log axis", None, f"{even_norm:.2f} where all are alike"),
    )
    figure, axes = new_figure(columns=2, rows=3, width=9.1, height=5.2, width_ratios=(3, 2))
    for place in axes[1:, 0]:
        place.remove()
    large = axes[0, 0]  # what the others follow from
    large.set_subplotspec(large.get_gridspec()[:, 0])
    places = (axes[0, 1], axes[1, 1], large, axes[2, 1])
    words = []
    level = dict.fromkeys(measured, 0)  # in how many panels
    for index, (place, (title, limits, alike)) in enumerate(zip(places, panels, strict=True)):
        ends = []
        for (way, numbers), (colour, line, thick) in with_looks(measured.items(), WAYS):
            column, more = as_array(numbers)[:, index], 1.4 * (place is large)
            place.plot(widths, column, color=colour, linestyle=line, lw=thick + more, label=way)
            ends.append(f"{way} from {column[0]:.2g} to {column[-1]:.2g}")
            wide = column[2:] if len(column) > 2 else column
            level[way] += bool(wide.max() <= 1.2 * wide.min())
        place.set_xscale("log", base=2)
        if limits:
            place.set_ylim(limits)
        else:
            place.set_yscale("log")
            place.margins(y=0.15)
            least, most = np.log10(place.get_ylim())
            low, high = int(np.ceil(least)), int(np.floor(most))
            tens = range(high, low - 1, -max(1, (high - low) // 2))
            place.set_yticks([10.0**ten for ten in tens], map(_power, tens))
        some = [*widths[:: max(1, len(widths) // 3)]]
        place.set_xticks(some, [str(width) for width in some])
        place.minorticks_off()
        place.set(title=title)
        words.append(f"{title}{alike and f', {alike}'}: {', '.join(ends)}")
    for place in (large, axes[2, 1]):
        place.set_xlabel("width d_k")
    for place in axes[:2, 1]:  # the widths stand under the last one
        place.set_xticklabels([])
    large.set_yticks([0, 0.5, 1])
    axes[1, 1].set_yticks([0, 1.5, 3], ["0", "1.5", "3"])
    way, at, most = _nearly_all(measured)
    if at is not None:
        large.plot(widths[at], most, "o", color=ORANGE, markersize=12)
        beside: Any = {"textcoords": "offset points", "color": ORANGE, "va": "top"}
        large.annotate(f"{most:.2f}", (widths[at], most), (6, -12), weight="bold", **beside)
    for place in (large, axes[0, 1]):
        name_lines(place)
    stays = [name for name, many in level.items() if many == len(panels)]
    return Picture(
        figure,
        f"Four plots against d_k = {widths[0]} to {widths[-1]}, a line for each way to scale. "
        f"{'; '.join(words)}.",
        f"With {way}, one book takes {most:.2f} of a typical row by width {widths[at]}\n"
        f"From width {widths[2]} on, only {stays[0]} is level in all four charts."
        if at is not None and len(stays) == 1
        else "",
    )


def _power(ten: int) -> str:
    """10 to this power, in digits as long as they are few."""
    raised = str(ten).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{10.0**ten:g}" if abs(ten) < 3 else f"10{raised}"


def _nearly_all(measured: Mapping[str, Numbers]) -> tuple[str, int | None, float]:
    """The first way to scale, and at which width one book takes nearly all, if at any."""
    way, numbers = next(iter(measured.items()))
    largest = as_array(numbers)[:, 2]
    at = int(np.argmax(largest >= MOST))
    return way, at if largest[at] >= MOST else None, float(largest[at])


@in_style
def learning(weights: Mapping[str, Numbers]) -> Picture:
    """How much weight the wanted book has, step by step, a line for each reader.

    Args:
        weights: for each way to scale, (T, R), the weight of the wanted book for R readers.
    """
    count = len(weights)
    figure, axes = new_figure(columns=count, width=2.4 * count, height=3.8)
    words, everybody, lost = [], [], {}
    for place, (way, numbers) in zip(axes[0], weights.items(), strict=True):
        paths = as_array(numbers)
        steps, readers = np.arange(1, len(paths)), paths.shape[1]  # 0 has no place on this axis
        is_found = paths[-1] > FOUND
        found = int(is_found.sum())
        middle = np.median(paths[1:], axis=1)
        place.plot(steps, paths[1:, ~is_found], color=(ORANGE, 0.25), lw=1, clip_on=False)
        place.plot(steps, paths[1:, is_found], color=(BLUE, 0.25), lw=1)
        place.plot(steps, middle, color=BLUE if middle[-1] > FOUND else ORANGE, lw=4, clip_on=False)
        factor, _, mended = way.partition(", ")
        place.set(xscale="log")
        place.set_title(factor, weight="bold", pad=49)
        over: Any = {"transform": place.transAxes}
        place.text(0, 1.18, mended or "plain step", color=QUIET, **over)
        counts = ((0, f"{found} find it", BLUE), (1, f"{readers - found} miss", ORANGE))
        for x, told, colour in counts[: 1 + (found < readers)]:
            side = ("left", "right")[x]
            place.text(x, 1.06, told, color=colour, ha=side, weight="bold", **over)
        place.set_ylim(-0.03, 1.03)
        place.set_yticks([0, 0.5, 1], [""] * 3)
        place.set_xticks(marks := [at for at in (1, 10, 100) if at < len(paths)], map(str, marks))
        place.minorticks_off()
        words.append(f"{way}: {found} of {readers}, from a median of {np.median(paths[0]):.2g}")
        if found == readers:
            everybody.append(factor)
        else:
            lost[way] = readers - found
    axes[0, 0].set_yticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])  # the others have the same
    axes[0, 0].set_xlabel("steps, log axis")
    title = ""
    if everybody and lost:
        way, many = next(iter(lost.items()))
        title = (
            f"With {way}, {many} of {readers} miss their book; "
            f"with {' or '.join(dict.fromkeys(everybody))} none\n"
            f"A line for each reader: the weight of the book it wants. The thick one: "
            f"their median."
        )
    return Picture(
        figure,
        f"Weight of the wanted book over {len(paths) - 1} steps, a line for each reader, in blue "
        f"where it ends above {FOUND} and in orange where not, and a thick one for their median. "
        f"Found: {'; '.join(words)}.",
        title,
    )
