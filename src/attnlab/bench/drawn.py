"""What was measured, drawn: time and memory over the sequence's length, both axes logarithmic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import cycle
from typing import Literal

from matplotlib.axes import Axes

from attnlab.bench.rows import Row, power
from attnlab.figures.live.counts import in_bytes, in_seconds
from attnlab.figures.picture import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    Picture,
    in_style,
    name_lines,
    new_figure,
)

Quantity = Literal["seconds", "bytes"]
AXES: dict[Quantity, str] = {"seconds": "seconds", "bytes": "extra bytes"}
LOOKS = tuple(
    (colour, marker, line)
    for line, markers in (("-", "osD^v"), ("--", "PX*<>"))
    for colour, marker in zip((BLUE, ORANGE, GREEN, PURPLE, GREY), markers, strict=True)
)


SHOWN: dict[Quantity, Callable[[float], str]] = {"seconds": in_seconds, "bytes": in_bytes}
MARKS: dict[Quantity, list[float]] = {
    "seconds": [10.0**power for power in range(-9, 6)],
    "bytes": [1024 * 16.0**power for power in range(-1, 10)],
}


@in_style
def plot(rows: Iterable[Row], title: str = "", focus: str = "") -> Picture:
    """Time and memory over N, with the power of N that fits each line.

    Args:
        rows: of one call of `measure`.
        title: above the left panel, where no way is looked at.
        focus: the way that is looked at; the titles say what it costs, and the others are grey.
    Raises:
        ValueError: nothing was measured.
    """
    measured = [row for row in rows if not row.skipped]
    if not measured:
        raise ValueError("nothing was measured, so there is nothing to draw")
    names = list(dict.fromkeys(row.name for row in measured))
    lengths = sorted({row.n for row in measured})
    figure, panels = new_figure(columns=2, width=10.0, height=3.9)
    said = []
    for axes, quantity in zip(panels[0], AXES, strict=True):
        for name, (colour, *look) in zip(names, cycle(LOOKS)):
            line = [row for row in measured if row.name == name]
            shown = colour if not focus else BLUE if name == focus else GREY
            _line(axes, line, quantity, (shown, *look), name == focus, lengths[-1])
            said.append(_in_words(line, quantity))
        axes.set(xscale="log", yscale="log", xlabel="N, tokens")
        ticks = lengths[::-1][::2]  # the longest is one
        axes.set_xticks(ticks, [f"{n:,}" for n in ticks])
        low, high = axes.get_ylim()
        marks = [mark for mark in MARKS[quantity] if low <= mark <= high]
        axes.set_yticks(marks, map(SHOWN[quantity], marks))
        axes.minorticks_off()
        axes.set_title(_costs(measured, focus, quantity) if focus else title)
        title = "memory allocated"
        name_lines(axes)
    return Picture(
        figure, f"Two panels over the number of tokens, all logarithmic. {' '.join(said)}"
    )


def _costs(rows: Sequence[Row], focus: str, quantity: Quantity) -> str:
    """What the way that is looked at costs at the greatest length, and what the dearest other."""
    most = max(row.n for row in rows)
    costs = {row.name: getattr(row, quantity) for row in rows if row.n == most}
    shown, mine = SHOWN[quantity], costs.pop(focus)
    verb = "takes" if quantity == "seconds" else "allocates"
    told = f"{most:,} tokens: {focus} {verb} {shown(mine)}"
    if not costs:
        return told
    other = max(costs, key=lambda name: costs[name])
    return f"{told},\n{other} {shown(costs[other])}"


def _line(
    axes: Axes, rows: Sequence[Row], quantity: Quantity, look: Sequence[str], wide: bool, most: int
) -> None:
    """A line, named beside the axes, or where it ends before the greatest length."""
    colour, marker, line = look
    fitted = _power(rows, quantity)
    name = rows[0].name + (f" N$^{{{fitted.partition('^')[2]}}}$" if fitted else "")
    last = rows[-1]
    if last.n < most:
        axes.annotate(
            name,
            (last.n, getattr(last, quantity)),
            (8, 0),
            textcoords="offset points",
            va="center",
            color=colour,
        )
    axes.plot(
        [row.n for row in rows],
        [getattr(row, quantity) for row in rows],
        color=colour,
        marker=marker,
        linestyle=line,
        linewidth=3 if wide else 1.5,
        markersize=6 if wide else 5,
        label=name if last.n == most else "_",
    )


def _power(rows: Sequence[Row], quantity: Quantity) -> str:
    """The fitted power of N, if two lengths were measured, and evenly enough for one."""
    fitted = power(rows, rows[0].name, quantity) if len(rows) > 1 else ""
    return f": {fitted}" if fitted else ""


def _in_words(rows: Sequence[Row], quantity: Quantity) -> str:
    """From where to where a line goes, and how steeply."""
    shown = SHOWN[quantity]
    first, *_, last = [rows[0], rows[-1]]
    ends = f"{shown(getattr(first, quantity))} at N = {first.n:,}"
    if last is not first:
        ends += f" to {shown(getattr(last, quantity))} at N = {last.n:,}"
    return f"{AXES[quantity].capitalize()} of {rows[0].name}{_power(rows, quantity)}, {ends}."
