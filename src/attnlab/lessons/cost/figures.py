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
    with_looks,
)

LINES = ("--", "-.", ":")


@in_style
def widths(tiles: Mapping[int, float], beside: Mapping[str, float], tokens: int) -> Picture:
    """Seconds over the width of a tile, both logarithmic, and lines for ways without tiles.

    Args:
        tiles: seconds by width.
        beside: seconds of other ways, by name; three at most.
        tokens: N.
    """
    figure, axes = new_figure(width=5.1, height=3.8)
    place = axes[0, 0]
    for (name, seconds), line in with_looks(beside.items(), LINES):
        place.axhline(seconds, color=GREY, linestyle=line, label=name)
    place.plot([*tiles], [*tiles.values()], color=BLUE, marker="o", linewidth=3, label="your tiles")
    best = min(tiles, key=lambda width: tiles[width])
    place.plot(best, tiles[best], "o", color=ORANGE, markersize=11)
    place.set(xscale="log", yscale="log", xlabel="width of a tile")
    place.set_title(
        f"Your tiles are fastest {best:,} wide: {in_seconds(tiles[best])} for {tokens:,} tokens"
    )
    named = [f"{width:,}" if n % 2 == 0 else "" for n, width in enumerate(tiles)]
    place.set_xticks([*tiles], named)
    low, high = place.get_ylim()
    ticks = [by * 10.0**power for power in range(-6, 3) for by in (1, 2, 5)]
    ticks = [tick for tick in ticks if low <= tick <= high]
    place.set_yticks(ticks, map(in_seconds, ticks))
    place.minorticks_off()
    name_lines(place)
    by_width = ", ".join(f"{width}: {seconds:.2g}" for width, seconds in tiles.items())
    others = ", ".join(f"{name} {seconds:.2g}" for name, seconds in beside.items())
    return Picture(
        figure,
        f"Seconds for {tokens:,} tokens over the width of a tile, both logarithmic. {by_width}. "
        f"Lines across: {others}.",
    )
