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


@in_style
def widths(tiles: Mapping[int, float], beside: Mapping[str, float], tokens: int) -> Picture:
    """Seconds over the width of a tile, between other ways' seconds as level lines.

    Args:
        tiles: seconds by width.
        beside: seconds of other ways, by name.
        tokens: N.
    """
    figure, [[axes]] = new_figure(width=5.1, height=3.9)
    axes.plot([*tiles], [*tiles.values()], color=BLUE, marker="o", linewidth=3)
    best, first, last = min(tiles, key=lambda width: tiles[width]), min(tiles), max(tiles)
    axes.plot(best, tiles[best], "o", color=ORANGE, markersize=12)
    for width in {first, best, last}:
        at, side = (width, tiles[width]), (width == first) - (width == last)
        axes.annotate(
            f"{width:,} wide: {in_seconds(tiles[width])}"
            if side >= 0
            else in_seconds(tiles[width]),
            at,
            (12 * side, 0 if side else -12),
            textcoords="offset points",
            ha=("center", "left", "right")[side],
            va="center" if side else "top",
            color=ORANGE if width == best else "black",
        )
    for name, taken in beside.items():
        axes.plot([first, last], [taken] * 2, "--", color=GREY, linewidth=1.8, label=name, zorder=0)
    axes.set(xscale="log", yscale="log", xlabel="width of a tile, log")
    axes.margins(x=0.02)
    shown = [*tiles][::-1][::2]  # the last is one
    axes.set_xticks(shown, [f"{width:,}" for width in shown])
    low, high = axes.get_ylim()
    ticks = [by * 10.0**power for power in range(-6, 3) for by in (1, 2, 5)]
    ticks = [tick for tick in ticks if low <= tick <= high]
    axes.set_yticks(ticks, map(in_seconds, ticks))
    axes.minorticks_off()
    axes.set_title("time, log")
    name_lines(axes)
    by_width = ", ".join(f"{width}: {seconds:.2g}" for width, seconds in tiles.items())
    others = ", ".join(f"{name} {seconds:.2g}" for name, seconds in beside.items())
    end = max(first, last, key=lambda width: tiles[width])
    return Picture(
        figure,
        f"Seconds for {tokens:,} tokens over the width of a tile, both logarithmic. {by_width}. "
        f"Level lines: {others}.",
        f"Fastest measured: {best:,} wide, {in_seconds(tiles[best])}; {end:,} wide takes "
        f"{in_seconds(tiles[end])}\n"
        f"{tokens:,} tokens. Dashed: ways without tiles.",
    )
