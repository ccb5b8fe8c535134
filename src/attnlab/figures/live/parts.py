"""What films are made of: words, arcs, dots, lines and boxes, each with a key.

A part that two frames have under one key moves from where it is in one to where it is in the other;
a part that only one has comes or goes. Sizes are those of a sheet `WIDE` across, whose words can be
read on a phone: `SMALL` is the smallest.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from attnlab.figures.palette import BLUE, Colour

WIDE = 480
SMALL, SIZE = 18, 20  # of words
LETTER = 0.56  # a letter's width, as a share of its size, in wide system fonts
CODE = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"  # each letter 0.6 wide
INK = "currentColor"
ROUND = 3  # at most, of a box's corners
Place = tuple[float, float]


class Part(NamedTuple):
    """One thing that is drawn.

    Attributes:
        tag: of SVG.
        key: what it is, in every frame that has it.
        look: its attributes.
        text: in it.
    """

    tag: str
    key: str
    look: Mapping[str, float | str]
    text: str = ""

    def markup(self) -> str:
        look = "".join(f' {name}="{html.escape(str(to))}"' for name, to in self.look.items())
        return f"<{self.tag}{look}>{html.escape(self.text)}</{self.tag}>"


def _part(tag: str, key: str, text: str, sizes: Mapping[str, float], **words: str | Colour) -> Part:
    """A part, its numbers rounded to what can be seen; `stroke_width` is stroke-width."""
    numbers = {name: round(float(size), 2) for name, size in sizes.items()}
    named = {name: each.drawn if isinstance(each, Colour) else each for name, each in words.items()}
    look: dict[str, float | str] = {**numbers, **named}
    return Part(tag, key, {name.replace("_", "-"): to for name, to in look.items()}, text)


def word(
    key: str,
    x: float,
    y: float,
    text: str,
    colour: str | Colour = INK,
    anchor: str = "middle",
    size: float = SIZE,
    weight: float = 400,
    opacity: float = 1,
    face: str = "",
) -> Part:
    """Words whose middle, start or end ('middle', 'start', 'end') is at x, on a line at y.

    Their typeface is that of the page, or `CODE`.
    """
    look = {"x": x, "y": y, "font_size": size, "font_weight": weight, "opacity": opacity}
    faced = {"font_family": face} if face else {}
    return _part("text", key, text, look, fill=colour, text_anchor=anchor, **faced)


def dot(
    key: str,
    x: float,
    y: float,
    r: float,
    colour: str | Colour = INK,
    opacity: float = 1,
    edge: str | Colour = "",
) -> Part:
    """A filled circle around (x, y); its edge parts it from others that it lies on."""
    edged = {"stroke": edge, "stroke_width": "1.5"} if edge else {}
    look = {"cx": x, "cy": y, "r": r, "opacity": opacity}
    return _part("circle", key, "", look, fill=colour, **edged)


def box(
    key: str,
    corner: Place,
    size: Place,
    colour: str | Colour = INK,
    filled: float = 1,
    edge: float = 0,
    opacity: float = 1,
) -> Part:
    """A rectangle, its corners a little round.

    Args:
        key: of the part.
        corner: x and y of its top left.
        size: its width and height.
        colour: of face and edge.
        filled: how much of the colour the face has, 0 to 1: a weight, in a map.
        edge: how thick its edge is.
        opacity: of the whole.
    """
    (x, y), (width, height) = corner, size
    look = {"x": x, "y": y, "width": width, "height": height, "opacity": opacity}
    look |= {"fill_opacity": filled, "stroke_width": edge, "rx": min(ROUND, width / 8, height / 8)}
    return _part("rect", key, "", look, fill=colour, stroke=colour)


def line(
    key: str,
    points: Iterable[Place],
    colour: str | Colour = INK,
    thick: float = 2,
    opacity: float = 1,
    dashes: str = "",
    cap: str = "round",
) -> Part:
    """A line from point to point. It moves into another of as many points.

    With cap "butt" dashes are as long as they say, however thick it is.
    """
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return _stroke(key, f"M{path}", colour, thick, opacity, dashes, cap)


def area(
    key: str,
    corners: Iterable[Place],
    colour: str | Colour = INK,
    opacity: float = 1,
    edge: str | Colour = "none",
) -> Part:
    """What lies between corners. It moves into another of as many."""
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in corners)
    look = {"stroke_width": 2, "opacity": opacity}
    return _part("path", key, "", look, d=f"M{path}Z", fill=colour, stroke=edge)


def curve(
    key: str,
    start: Place,
    end: Place,
    colour: str | Colour = INK,
    thick: float = 2,
    opacity: float = 1,
    upright: bool = False,
    bend: float = 0.5,
) -> Part:
    """A line that leaves its start and reaches its end level, as what flows from left to right.

    With `upright` it leaves and arrives upright, as what goes from one line of words to another.
    It bends this share of the way from either end: less is straighter.
    """
    (x, y), (to_x, to_y) = start, end
    across, down = bend * (to_x - x), bend * (to_y - y)
    level = ((x + across, y), (to_x - across, to_y))
    bends = ((x, y + down), (to_x, to_y - down)) if upright else level
    path = " ".join(f"{a:.1f} {b:.1f}" for a, b in (*bends, end))
    return _stroke(key, f"M{x:.1f} {y:.1f}C{path}", colour, thick, opacity)


def arc(
    key: str,
    start: float,
    end: float,
    floor: float,
    weight: float,
    colour: str | Colour = BLUE,
    opacity: float = 1,
    wide: float = WIDE,
    below: bool = False,
    dashes: str = "",
    thickest: float = 8,
    pull: float = 0,
) -> Part:
    """An arc over a line of words, from one that listens to one that it listens to.

    Args:
        key: of the part.
        start: x of the word that listens.
        end: x of the other; the same for what a word gives itself.
        floor: y of its ends.
        weight: 0 to 1, how thick it is.
        colour: of the line.
        opacity: of an arc of weight 1; a lighter one is paler.
        wide: how far the words reach, which decides how high it is.
        below: it hangs under the words instead.
        dashes: of an arc that is only asked about.
        thickest: of an arc of weight 1.
        pull: how far its ends pull it up, three quarters of which is its height; by itself the
            wider it is the further.
    """
    up = 1 if below else -1
    if start == end:
        top = floor + (pull or 26) * up
        d = f"M{start - 5:.1f} {floor:.1f}C{start - 18:.1f} {top:.1f}"
        d += f" {start + 18:.1f} {top:.1f} {start + 5:.1f} {floor:.1f}"
    else:
        top = floor + (pull or rise(abs(start - end), wide)) * up
        d = f"M{start:.1f} {floor:.1f}C{start:.1f} {top:.1f}"
        d += f" {end:.1f} {top:.1f} {end:.1f} {floor:.1f}"
    thick = 1 + (thickest - 1) * weight
    return _stroke(key, d, colour, thick, opacity * (0.25 + 0.75 * weight), dashes)


def _stroke(
    key: str,
    d: str,
    colour: str | Colour,
    thick: float,
    opacity: float,
    dashes: str = "",
    cap: str = "round",
) -> Part:
    look = {"stroke_width": thick, "opacity": opacity}
    dashed = {"stroke_dasharray": dashes} if dashes else {}
    words = {"d": d, "fill": "none", "stroke_linecap": cap, **dashed}
    return _part("path", key, "", look, stroke=colour, **words)


TALLEST = 150  # of arcs


def rise(width: float, wide: float) -> float:
    """How high the ends of an arc pull it up: three quarters of that is its height."""
    return 24 + (min(TALLEST, 0.5 * wide) / 0.75 - 24) * width / wide


def places(
    words: Sequence[str], size: float = SIZE, gap: float = 20, left: float = 0
) -> list[float]:
    """Where the middles of words in a line are; `across` gives the line's length."""
    middles, right = [], left
    for each in words:
        width = LETTER * size * max(len(each), 2)
        middles.append(right + width / 2)
        right += width + gap
    return middles


def across(words: Sequence[str], size: float = SIZE, gap: float = 20) -> float:
    """How long a line of words is."""
    return sum(LETTER * size * max(len(each), 2) for each in words) + gap * (len(words) - 1)
