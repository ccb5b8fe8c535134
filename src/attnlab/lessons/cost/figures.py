"""Lesson 11's figure: how long attention in tiles takes, by their width."""

from __future__ import annotations

from collections.abc import Mapping

from attnlab.figures.live.counts import in_seconds
from attnlab.figures.picture import (
    BLUE,
    GREY,
    ORANGE,
    Picture,
    in_style,
    name_lines,
    new_figure,
)

ALIKE = 1.1  # times, within which two ways are about as fast


@in_style
def widths(tiles: Mapping[int, float], beside: Mapping[str, float], tokens: int) -> Picture:
    """Seconds over the width of a tile, between other ways' seconds as level lines.

    Args:
        tiles: seconds by width.
        beside: seconds of other ways, by name.
        tokens: N.
    """
    figure, [[axes]] = new_figure(width=5.1, height=3.8)
    axes.plot([*tiles], [*tiles.values()], color=BLUE, marker="o", linewidth=3)
    best = min(tiles, key=lambda width: tiles[width])
    axes.plot(best, tiles[best], "o", color=ORANGE, markersize=12)
    for width in {min(tiles), best, max(tiles)}:
        at, side = (width, tiles[width]), (width == min(tiles)) - (width == max(tiles))
        axes.annotate(
            in_seconds(tiles[width]),
            at,
            (12 * side, 0 if side else -12),
            textcoords="offset points",
            ha=("center", "left", "right")[side],
            va="center" if side else "top",
            weight="normal" if width != best else "bold",
        )
    for name, taken in beside.items():
        ends = min(tiles), max(tiles)
        axes.plot(ends, [taken] * 2, "--", color=GREY, linewidth=1.8, label=name, zorder=0)
    axes.set(xscale="log", yscale="log", xlabel="width of a tile")
    axes.margins(x=0.02)
    shown = [*tiles][::2]
    axes.set_xticks(shown, [f"{width:,}" for width in shown])
    low, high = axes.get_ylim()
    ticks = [by * 10.0**power for power in range(-6, 3) for by in (1, 2, 5)]
    ticks = [tick for tick in ticks if low <= tick <= high]
    axes.set_yticks(ticks, map(in_seconds, ticks))
    axes.minorticks_off()
    name_lines(axes)
    by_width = ", ".join(f"{width}: {seconds:.2g}" for width, seconds in tiles.items())
    alike = [
        f"“{name}”" for name, taken in beside.items() if 1 / ALIKE < taken / tiles[best] < ALIKE
    ]
    heading = f"Your tiles are fastest {best:,} wide: {in_seconds(tiles[best])}"
    if alike:
        heading += f", about as fast as {' and '.join(alike)}"
    others = ", ".join(f"{name} {seconds:.2g}" for name, seconds in beside.items())
    return Picture(
        figure,
        f"Seconds for {tokens:,} tokens over the width of a tile, both logarithmic. {by_width}. "
        f"Level lines: {others}.",
        f"{heading}\n{tokens:,} tokens. Dashed: ways without tiles.",
    )
