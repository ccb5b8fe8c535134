"""What was measured, drawn: time and memory over the sequence's length, both axes logarithmic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import cycle
from typing import Literal

from matplotlib.axes import Axes

from attnlab.bench.rows import Row, power
from attnlab.figures.live.counts import in_bytes
from attnlab.figures.picture import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    Picture,
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


def in_seconds(seconds: float) -> str:
    """1.50 s, 2.5 ms or 30 µs."""
    for size, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def plot(rows: Iterable[Row], title: str = "") -> Picture:
    """Time and memory over N, with the power of N that fits each line.

    Args:
        rows: of one call of `measure`.
        title: above the left panel.
    Raises:
        ValueError: nothing was measured.
    """
    measured = [row for row in rows if not row.skipped]
    if not measured:
        raise ValueError("nothing was measured, so there is nothing to draw")
    names = list(dict.fromkeys(row.name for row in measured))
    figure, panels = new_figure(columns=2, width=11.0, height=3.8)
    said = []
    for axes, quantity in zip(panels[0], AXES, strict=True):
        for name, look in zip(names, cycle(LOOKS)):
            line = [row for row in measured if row.name == name]
            _line(axes, line, quantity, look)
            said.append(_in_words(line, quantity))
        axes.set(xscale="log", yscale="log", xlabel="N, tokens", ylabel=AXES[quantity])
        lengths = sorted({row.n for row in measured})
        axes.set_xticks(lengths, [f"{n:,}" for n in lengths], rotation=45)
        axes.minorticks_off()
        name_lines(axes)
    panels[0, 0].set_title(title)
    return Picture(
        figure, f"Two panels over the number of tokens, all logarithmic. {' '.join(said)}"
    )


def _line(axes: Axes, rows: Sequence[Row], quantity: Quantity, look: tuple[str, str, str]) -> None:
    colour, marker, line = look
    axes.plot(
        [row.n for row in rows],
        [getattr(row, quantity) for row in rows],
        color=colour,
        marker=marker,
        linestyle=line,
        markersize=5,
        label=f"{rows[0].name}{_power(rows, quantity)}",
    )


def _power(rows: Sequence[Row], quantity: Quantity) -> str:
    """The fitted power of N, if two lengths were measured, and evenly enough for one."""
    fitted = power(rows, rows[0].name, quantity) if len(rows) > 1 else ""
    return f": {fitted}" if fitted else ""


def _in_words(rows: Sequence[Row], quantity: Quantity) -> str:
    """From where to where a line goes, and how steeply."""
    shown = in_seconds if quantity == "seconds" else in_bytes
    first, *_, last = [rows[0], rows[-1]]
    ends = f"{shown(getattr(first, quantity))} at N = {first.n:,}"
    if last is not first:
        ends += f" to {shown(getattr(last, quantity))} at N = {last.n:,}"
    return f"{AXES[quantity].capitalize()} of {rows[0].name}{_power(rows, quantity)}, {ends}."
