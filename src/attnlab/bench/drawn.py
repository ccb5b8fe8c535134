"""What was measured, drawn: time and memory over the sequence's length, both axes logarithmic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
    QUIET,
    Picture,
    in_style,
    name_lines,
    new_figure,
)

Quantity = Literal["seconds", "bytes"]
AXES: dict[Quantity, str] = {"seconds": "seconds", "bytes": "extra bytes"}
WORDS: dict[Quantity, tuple[str, str]] = {
    "seconds": ("slower", "faster"),
    "bytes": ("more", "less"),
}
NOUNS: dict[Quantity, str] = {"seconds": "time, log", "bytes": "memory allocated, log"}
LOOKS = tuple(
    (colour, marker, line)
    for line, markers in (("-", "osD^v"), ("--", "PX*<>"))
    for colour, marker in zip((BLUE, ORANGE, GREEN, PURPLE, GREY), markers, strict=True)
)


SHOWN: dict[Quantity, Callable[[float], str]] = {"seconds": in_seconds, "bytes": in_bytes}
MARKS: dict[Quantity, list[float]] = {
    "seconds": [10.0**power for power in range(-9, 6)],
    "bytes": [1024 * 4.0**power for power in range(-2, 20)],
}
FEW = 6  # marks on an axis, at most
ROOM = 3  # times between two lines, where a number stands between their names
LAWS = 1, 2  # powers of N that have guides, and that a line's name says
NEAR = 0.2  # of an exponent to a whole one that it is called by
LEAST = 3  # lengths that a law is read from


@in_style
def plot(rows: Iterable[Row], title: str = "", focus: str = "") -> Picture:
    """Time and memory over N; if no way is looked at, beside lines that grow as N and as N².

    Args:
        rows: of one call of `measure`.
        title: above the left panel, where no way is looked at.
        focus: the way that is looked at; memory is the first panel then. If it wins the one and
            loses the other, the title says how much, at its greatest length, where all lines end.
            Else the title says by which powers of N it grows, and each line's name its own. None
            is looked at, if none of its lengths was measured.
    Raises:
        ValueError: nothing was measured.
    """
    measured = [row for row in rows if not row.skipped]
    if not measured:
        raise ValueError("nothing was measured, so there is nothing to draw")
    order = [*AXES][:: -1 if focus else 1]  # whatever was measured: a text may say left and right
    if focus not in {row.name for row in measured}:
        focus = ""
    beside = _beside(measured, focus) if focus else {}
    told, traded = _trade(beside) if beside else ("", False)
    if traded:
        measured = [row for row in measured if row.n <= max(beside)]
    by_name = {row.name: [each for each in measured if each.name == row.name] for row in measured}
    lengths = sorted({row.n for row in measured})
    figure, panels = new_figure(columns=2, width=10.0, height=4.2)
    looks = dict(zip(sorted(by_name, key=lambda name: name != focus), cycle(LOOKS), strict=False))
    said = []
    for axes, quantity in zip(panels[0], order, strict=True):
        for name, line in by_name.items():
            law = _law(line, quantity) if focus and not traded else None
            colour, *look = looks[name]
            if traded and name != focus:
                colour = GREY
            label = f"{name}, {_as_power(law)}" if law in LAWS else name
            _line(axes, line, quantity, (colour, *look), name == focus, lengths[-1], label)
            said.append(_in_words(line, quantity))
        if traded:
            _gap(axes, beside, quantity)
        elif not focus:
            _guides(axes, measured, quantity)
        axes.set(xscale="log", yscale="log", xlabel="N, tokens, log")
        axes.margins(x=0.04)
        ticks = lengths[::-1][::2]  # the longest is one
        axes.set_xticks(ticks, [f"{n:,}" for n in ticks])
        low, high = axes.get_ylim()
        marks = [mark for mark in MARKS[quantity] if low <= mark <= high]
        marks = marks[:: 1 + len(marks) // FEW]
        axes.set_yticks(marks, map(SHOWN[quantity], marks))
        axes.minorticks_off()
        axes.set_title(NOUNS[quantity] if focus or quantity == "bytes" else title)
        name_lines(axes)
    ends = {name: line[-1].n for name, line in by_name.items()}
    stops = [f"{name} after {n:,} tokens" for name, n in ends.items() if n < lengths[-1]]
    lines = [
        told if traded else _growth(by_name[focus]) if focus else "",
        f"Stopped, for want of time or memory: {', '.join(stops)}." if focus and stops else "",
    ]
    return Picture(
        figure,
        f"Two panels over the number of tokens, all logarithmic. {' '.join(said)}",
        "\n".join(filter(None, lines)),
    )


def _beside(rows: Sequence[Row], focus: str) -> dict[int, tuple[Row, Row]]:
    """By length, the way that is looked at and that which takes most memory where it ends."""
    most = max(row.n for row in rows if row.name == focus)
    others = [row for row in rows if row.n == most and row.name != focus]
    if not others:
        return {}
    other = max(others, key=lambda row: row.bytes or 0).name
    found = {(row.name, row.n): row for row in rows}
    shared = [n for name, n in found if name == focus and (other, n) in found]
    return {n: (found[focus, n], found[other, n]) for n in shared}


def _trade(beside: Mapping[int, tuple[Row, Row]]) -> tuple[str, bool]:
    """What is won and lost at the greatest length, and at the least; and whether both are."""
    full = {n: pair for n, pair in beside.items() if all(r.seconds and r.bytes for r in pair)}
    most, least = max(beside), min(full, default=0)
    if most not in full:
        return "", False
    mine, other = full[most]
    time, memory = _ratios(mine, other)
    lost, won = _in_times(time, memory)
    told = f"{mine.name}: {lost} than {other.name}, {won}\nAt {most:,} tokens."
    if least < most:
        told += f" At {least:,}: {', '.join(_in_times(*_ratios(*full[least])))}."
    return told[0].upper() + told[1:], time > 1 > memory or time < 1 < memory


def _ratios(mine: Row, other: Row) -> tuple[float, float]:
    time, memory = (getattr(mine, of) / getattr(other, of) for of in AXES)
    return time, memory


def _in_times(time: float, memory: float) -> tuple[str, str]:
    return _ratio(time, "slower", "faster"), _ratio(memory, "more memory", "less memory")


def _ratio(ratio: float, more: str, less: str) -> str:
    return f"{_times(max(ratio, 1 / ratio))} times {more if ratio > 1 else less}"


def _times(ratio: float) -> str:
    return f"{float(f'{ratio:.2g}'):,g}"


def _law(line: Sequence[Row], quantity: Quantity) -> int | None:
    """The whole power of N with which a line grows, if lengths are enough and it is near one."""
    fitted = power(line, line[0].name, quantity) if len(line) >= LEAST else ""
    if not fitted:
        return None
    exponent = float(fitted.partition("^")[2])
    return round(exponent) if abs(exponent - round(exponent)) <= NEAR else None


def _growth(line: Sequence[Row]) -> str:
    """By which powers of N a way's memory and time grow, where they can be told."""
    memory, time = _law(line, "bytes"), _law(line, "seconds")
    if memory is None:
        return ""
    told = f"With {line[0].name} memory grows {_as_power(memory)}"
    if time is not None:
        told += f", time {'still ' * (time > memory)}{_as_power(time)}"
    return told


def _as_power(exponent: int) -> str:
    shown = {0: "not at all", 1: "as N", 2: "as N²", 3: "as N³"}
    return shown.get(exponent, f"as N^{exponent}")


def _gap(axes: Axes, beside: Mapping[int, tuple[Row, Row]], quantity: Quantity) -> None:
    """How many times more or less it is at the last length, between the names of the lines."""
    n = max(beside)
    mine, other = (getattr(row, quantity) for row in beside[n])
    low, high = sorted((mine, other))
    more, less = WORDS[quantity]
    narrow = high < ROOM * low
    axes.plot([n, n], [low, high], ":", color=GREY, linewidth=2, label="_", zorder=0)
    axes.annotate(
        f"× {_times(high / low)} {more if mine > other else less}",
        (n, high if narrow else (low * high) ** 0.5),
        (0, 9) if narrow else (14, 0),
        textcoords="offset points",
        ha="right" if narrow else "left",
        va="bottom" if narrow else "center",
        annotation_clip=False,
    )


def _guides(axes: Axes, rows: Sequence[Row], quantity: Quantity) -> None:
    """As N and as N², below all."""
    ends = min(row.n for row in rows), max(row.n for row in rows)
    low = min(getattr(row, quantity) for row in rows if getattr(row, quantity)) / 3
    for exponent in LAWS:
        line = [low, low * (ends[1] / ends[0]) ** exponent]
        label = _as_power(exponent)
        axes.plot(ends, line, ":", color=QUIET, linewidth=1.5, label=label, zorder=0)


def _line(
    axes: Axes,
    rows: Sequence[Row],
    quantity: Quantity,
    look: Sequence[str],
    wide: bool,
    most: int,
    name: str,
) -> None:
    """A line, named beside the axes, or at its end if that comes before the greatest length."""
    colour, marker, line = look
    last = rows[-1]
    if last.n < most:
        axes.annotate(
            name,
            (last.n, getattr(last, quantity)),
            (-10 if wide else 10, 0),
            textcoords="offset points",
            ha="right" if wide else "left",
            va="center",
            color=colour,
        )
    axes.plot(
        [row.n for row in rows],
        [getattr(row, quantity) for row in rows],
        color=colour,
        marker=marker,
        linestyle=line,
        linewidth=4.5 if wide else 1.5,
        markersize=8 if wide else 5,
        label=name if last.n == most else "_",
    )


def _in_words(rows: Sequence[Row], quantity: Quantity) -> str:
    """From where to where a line goes."""
    shown = SHOWN[quantity]
    first, *_, last = [rows[0], rows[-1]]
    ends = f"{shown(getattr(first, quantity))} at N = {first.n:,}"
    if last is not first:
        ends += f" to {shown(getattr(last, quantity))} at N = {last.n:,}"
    return f"{AXES[quantity].capitalize()} of {rows[0].name}, {ends}."
