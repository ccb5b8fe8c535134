"""Lesson 11's figure: how long attention in tiles takes, by their width."""

from __future__ import annotations

from collections.abc import Mapping

from attnlab.figures.live.counts import in_seconds
from attnlab.figures.picture import (
    BLUE,
    ORANGE,
    Picture,
    in_style,
    new_figure,
)


@in_style
def widths(tiles: Mapping[int, float], beside: Mapping[str, float], tokens: int) -> Picture:
    """Seconds over the width of a tile, and the fastest width beside ways without tiles.

    Args:
        tiles: seconds by width.
        beside: seconds of other ways, by name.
        tokens: N.
    """
    figure, [[curve, bars]] = new_figure(columns=2, width=9.5, height=3.6)
    curve.plot([*tiles], [*tiles.values()], color=BLUE, marker="o", linewidth=3)
    best = min(tiles, key=lambda width: tiles[width])
    curve.plot(best, tiles[best], "o", color=ORANGE, markersize=12)
    curve.set(xscale="log", yscale="log", xlabel="width of a tile")
    curve.set_title("time with your tiles")
    shown = [*tiles][::2]
    curve.set_xticks(shown, [f"{width:,}" for width in shown])
    low, high = curve.get_ylim()
    ticks = [by * 10.0**power for power in range(-6, 3) for by in (1, 2, 5)]
    ticks = [tick for tick in ticks if low <= tick <= high]
    curve.set_yticks(ticks, map(in_seconds, ticks))
    curve.minorticks_off()
    mine = f"yours, {best:,} wide"
    ways = dict(sorted({**beside, mine: tiles[best]}.items(), key=lambda way: -way[1]))
    colours = [ORANGE if name == mine else "#c4c4c4" for name in ways]
    bars.barh(range(len(ways)), [*ways.values()], color=colours, height=0.66)
    for n, taken in enumerate(ways.values()):
        bars.text(taken + max(ways.values()) / 50, n, in_seconds(taken), va="center")
    bars.set_yticks(range(len(ways)), [name.replace(", into", ",\ninto") for name in ways])
    bars.set(xlim=(0, 1.3 * max(ways.values())), xticks=[])
    bars.invert_yaxis()
    bars.spines["bottom"].set_visible(False)
    bars.tick_params(length=0, labelcolor="black")
    bars.set_title("beside ways without tiles")
    by_width = ", ".join(f"{width}: {seconds:.2g}" for width, seconds in tiles.items())
    others = ", ".join(f"{name} {seconds:.2g}" for name, seconds in beside.items())
    return Picture(
        figure,
        f"Seconds for {tokens:,} tokens over the width of a tile, both logarithmic. {by_width}. "
        f"Bars: {mine} {tiles[best]:.2g}, {others}.",
        f"Your tiles are fastest {best:,} wide: {in_seconds(tiles[best])} for {tokens:,} tokens",
    )
