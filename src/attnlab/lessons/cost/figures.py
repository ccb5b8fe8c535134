"""Lesson 11's figure: how long attention in tiles takes, by their width."""

from __future__ import annotations

from collections.abc import Mapping

from attnlab.figures.picture import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    Picture,
    name_lines,
    new_figure,
    with_looks,
)

LINES = tuple(zip((ORANGE, GREEN, GREY), ("--", "-.", ":"), strict=True))


def widths(tiles: Mapping[int, float], beside: Mapping[str, float], tokens: int) -> Picture:
    """Seconds over the width of a tile, both logarithmic, and lines for ways without tiles.

    Args:
        tiles: seconds by width.
        beside: seconds of other ways, by name; three at most.
        tokens: N.
    """
    figure, axes = new_figure(width=8.5, height=3.4)
    place = axes[0, 0]
    place.plot([*tiles], [*tiles.values()], color=BLUE, marker="o", label="your tiles")
    for (name, seconds), (colour, line) in with_looks(beside.items(), LINES):
        place.axhline(seconds, color=colour, linestyle=line, label=name)
    place.set(xscale="log", yscale="log", xlabel="width of a tile", ylabel="seconds")
    place.set_xticks([*tiles], [f"{width:,}" for width in tiles])
    low, high = place.get_ylim()
    ticks = [by * 10.0**power for power in range(-6, 3) for by in (1, 2, 5)]
    ticks = [tick for tick in ticks if low <= tick <= high]
    place.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    place.minorticks_off()
    name_lines(place)
    by_width = ", ".join(f"{width}: {seconds:.2g}" for width, seconds in tiles.items())
    others = ", ".join(f"{name} {seconds:.2g}" for name, seconds in beside.items())
    return Picture(
        figure,
        f"Seconds for {tokens:,} tokens over the width of a tile, both logarithmic. {by_width}. "
        f"Lines across: {others}.",
    )
