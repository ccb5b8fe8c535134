"""Lesson 11's figure: how long attention in tiles takes, by their width."""

from __future__ import annotations

import math
from collections.abc import Mapping

from attnlab.figures.live.counts import in_seconds
from attnlab.figures.picture import (
    BLUE,
    GREY,
    ORANGE,
    PAGE,
    Picture,
    in_style,
    name_lines,
    new_figure,
)

TICKS = [many * 10.0**power for power in range(-6, 3) for many in (1, 3)]


@in_style
def widths(tiles: Mapping[int, float], beside: Mapping[str, float], tokens: int) -> Picture:
    """Seconds over the width of a tile, between other ways' seconds as level lines.

    Args:
        tiles: seconds by width.
        beside: seconds of other ways, by name.
        tokens: N.
    """
    figure, [[axes]] = new_figure(width=PAGE, height=4)
    axes.plot([*tiles], [*tiles.values()], color=BLUE, marker="o", markersize=7, linewidth=4)
    best, first, last = min(tiles, key=lambda width: tiles[width]), min(tiles), max(tiles)
    axes.plot(best, tiles[best], "o", color=ORANGE, markersize=15, zorder=3)
    for width in {first, best, last}:
        side, many = (width == first) - (width == last), math.ceil(tokens / width) ** 2
        said = f"{width:,} wide" if width == best else f"{many:,} tiles" if many > 1 else "one tile"
        axes.annotate(
            f"{said}: {in_seconds(tiles[width])}",
            (width, tiles[width]),
            ((0, -14), (14, 0), (0, 12))[side],
            textcoords="offset points",
            ha=("center", "left", "right")[side],
            va=("top", "center", "bottom")[side],
            color=ORANGE if width == best else "black",
            weight="bold" if width == best else "normal",
            bbox={"facecolor": "white", "linewidth": 0, "pad": 1},  # a level line ends at it
        )
    for name, least in beside.items():
        axes.plot([first, last], [least] * 2, color=GREY, linewidth=1, label=name, zorder=0)
    axes.set(xscale="log", yscale="log", xlabel="width of a tile, log")
    axes.margins(x=0.02)
    shown = [*tiles][::2]  # the first is one
    axes.set_xticks(shown, [f"{width:,}" for width in shown])
    low, high = axes.get_ylim()
    ticks = [tick for tick in TICKS if low <= tick <= high]
    axes.set_yticks(ticks, map(in_seconds, ticks))
    axes.minorticks_off()
    axes.set_title("time, log")
    name_lines(axes)
    by_width = ", ".join(f"{width}: {seconds:.2g}" for width, seconds in tiles.items())
    others = ", ".join(f"{name} {seconds:.2g}" for name, seconds in beside.items())
    told = "Tiles too narrow or too wide both lose: the" if first < best < last else "The"
    return Picture(
        figure,
        f"Seconds for {tokens:,} tokens over the width of a tile, both logarithmic. {by_width}. "
        f"Level lines: {others}.",
        f"{told} best width is {best:,} here\n{tokens:,} tokens. Grey: other ways.",
    )
