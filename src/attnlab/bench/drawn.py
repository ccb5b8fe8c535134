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
        focus: the way that is looked at; the titles say what is won and lost by it, and the others
            are grey. None is, where it was not measured at the greatest length.
    Raises:
        ValueError: nothing was measured.
    """
    measured = [row for row in rows if not row.skipped]
    if not measured:
        raise ValueError("nothing was measured, so there is nothing to draw")
    names = list(dict.fromkeys(row.name for row in measured))
    lengths = sorted({row.n for row in measured})
    if not any((row.name, row.n) == (focus, lengths[-1]) for row in measured):
        focus = ""
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
        figure,
        f"Two panels over the number of tokens, all logarithmic. {' '.join(said)}",
        _trade(measured, focus) if focus else "",
    )


def _trade(rows: Sequence[Row], focus: str) -> str:
    """What is won and lost by the way that is looked at; if nothing is lost, how each line grows.

    The other way is the one that takes the most memory at the greatest length.
    """
    most = max(row.n for row in rows)
    last = {row.name: row for row in rows if row.n == most}
    if len(last) < 2:
        return ""
    mine, other = last.pop(focus), max(last.values(), key=lambda row: row.bytes or 0)
    times = [getattr(other, of) / getattr(mine, of) for of in AXES if getattr(mine, of)]
    if len(times) == 2 and min(times) < 1 < max(times):
        slow, less = ("slower", "less") if times[0] < 1 else ("faster", "more")
        told = [f"{float(f'{max(each, 1 / each):.2g}'):,g} times" for each in times]
        return f"{focus} beside {other.name}: {told[0]} {slow}, {told[1]} {less} memory"
    fits = {of: _growth(rows, of) for of in AXES}
    told = [
        f"{noun} {', '.join(_as_power(*each, alone=len(fit) == 1) for each in fit.items())}"
        for noun, fit in zip(("time", "memory"), fits.values(), strict=True)
        if fit
    ]
    noun, _, rest = "; ".join(told).partition(" ")
    grow = f"{noun.capitalize()} grows about {rest}" if told else ""
    even = {name for names in fits["seconds"].values() for name in names}
    uneven = [row.name for row in rows if row.n == most and row.name not in even]
    why = f"{', '.join(uneven)}: the line of time is not even, so it gets no power."
    return "\n".join([grow, why] if uneven and grow else [grow])


def _growth(rows: Sequence[Row], quantity: Quantity) -> dict[int, list[str]]:
    """By whole powers of N, whose line climbs so, where it climbs evenly."""
    found: dict[int, list[str]] = {}
    for name in dict.fromkeys(row.name for row in rows):
        line = [row for row in rows if row.name == name]
        if fitted := _power(line, quantity):
            found.setdefault(round(float(fitted.partition("^")[2])), []).append(name)
    return dict(sorted(found.items()))


def _as_power(exponent: int, names: Sequence[str], alone: bool) -> str:
    shown = {0: "not at all", 1: "as N", 2: "as N²", 3: "as N³"}.get(exponent, f"as N^{exponent}")
    return shown if alone else f"{shown} for {' and '.join(names)}"


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
