"""One pair of columns of a query and a key as two arrows that turn; its picture, and the score's.

Beside `rotary_arrows`, which shows all pairs. An arrow is drawn to the right and turned, so that
the page can turn it on from there. The dot product is the length of q times the shadow of k on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from attnlab.figures import palette
from attnlab.figures.live.on_paper import short, written
from attnlab.figures.live.strokes import svg, text

RADIUS, ROOM = 100, 30  # of the circle in a picture, and around it
FAR = RADIUS + 23  # from the middle to the degrees
ASIDE = 8  # from the query's line to the shadow on it
SIDE = 380  # px, of the picture in a page that has room
WIDE, HIGH, ASIDE_0 = 300, 300, 18  # of the picture of a score, and what its 0 takes at the left
BLUE, ORANGE, GREEN, GREY = (
    each.drawn for each in (palette.BLUE, palette.ORANGE, palette.GREEN, palette.GREY)
)


@dataclass(frozen=True, slots=True)
class Pair:
    """One pair of columns of a query and a key, turned.

    Attributes:
        speed: degrees from one position to the next.
        query, key: (2,), as they are without positions.
        turned_query, turned_key: (2,), turned.
        angles: degrees by which each was turned, query first.
        moved: degrees of these by which both were moved.
    """

    speed: float
    query: np.ndarray
    key: np.ndarray
    turned_query: np.ndarray
    turned_key: np.ndarray
    angles: tuple[float, float]
    moved: float

    @property
    def product(self) -> float:
        return float(self.turned_query @ self.turned_key)

    @property
    def length(self) -> float:
        """Of the query's arrow."""
        return float(np.linalg.norm(self.query))

    @property
    def shadow(self) -> float:
        """Of the key's arrow on the line of the query's; negative where it falls behind."""
        return self.product / self.length if self.length else 0.0

    @property
    def between(self) -> float:
        """Degrees between the two arrows, 0 to 180; 0 where one of them has no length."""
        lengths = np.linalg.norm(self.turned_query) * np.linalg.norm(self.turned_key)
        cosine = self.product / lengths if lengths else 1.0
        return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


def in_degrees(value: float) -> str:
    """Whole where it is more than 10."""
    value = round(value, 6)  # machines differ in last bits, which must not decide about halves
    return short(round(value) if abs(value) > 10 else value)


def picture(n: int, pair: Pair, most: float) -> str:
    """Two arrows in a circle and the shadow of one on the other, as an SVG.

    Grey: where both pointed before they were moved.
    """
    said = (
        f"pair {n}: query arrow turned by {in_degrees(pair.angles[0])} degrees, key arrow by "
        f"{in_degrees(pair.angles[1])}, {in_degrees(pair.between)} degrees between them; shadow of "
        f"the key on the query {written(pair.shadow, 2)}"
    )
    scale, edge = RADIUS / most, RADIUS + ROOM
    ends = [np.degrees(np.arctan2(*arrow[::-1])) for arrow in (pair.query, pair.key)]
    query, key = (end + angle for end, angle in zip(ends, pair.angles, strict=True))
    lengths = [float(np.linalg.norm(arrow)) * scale for arrow in (pair.query, pair.key)]
    way = (query - key + 180) % 360 - 180  # from the key to the query, −180 to 180
    return svg(
        said,
        (-edge, -edge, 2 * edge, 2 * edge),
        f'<circle r="{RADIUS}" fill="none" stroke="{GREY}" stroke-width="0.8"/>',
        _angle(key, way, pair.between) if min(lengths) >= 1 else "",
        *map(_ghost, (query - pair.moved, key - pair.moved), lengths, "qk"),
        _arrow(query, lengths[0], ORANGE, "q", 3.0, 13 if way >= 0 else -13),
        _shadow(query, pair.shadow * scale, lengths[1], way, named=n == 0),
        _arrow(key, lengths[1], BLUE, "k", 3.0, -11 if way >= 0 else 11),
        wide=SIDE,
        size=13,
    )


def score_picture(pairs: Sequence[Pair], span: tuple[float, float]) -> str:
    """Dot products of the pairs, each from where the last ended, and their sum, as an SVG.

    Args:
        pairs: one or more.
        span: the lowest and the highest sum that may have to be shown.
    """
    products = [pair.product for pair in pairs]
    sums = [0.0, *accumulate(products)]
    columns = [
        *((f"pair {n}", sums[n], product, GREEN) for n, product in enumerate(products)),
        ("score", 0.0, sums[-1], "currentColor"),
    ]
    step = (WIDE - ASIDE_0) / len(columns)
    bar = 0.68 * step

    def down(value: float) -> float:
        return 34 + (HIGH - 90) * (span[1] - value) / ((span[1] - span[0]) or 1.0)

    drawn = []
    for n, (name, start, product, colour) in enumerate(columns):
        left, end = ASIDE_0 + n * step + (step - bar) / 2, down(start + product)
        middle, is_last = left + bar / 2, n == len(pairs)
        bold, above = ' font-weight="bold"' * is_last, start + product >= 0
        large = f'{bold} font-size="1.3em"' if is_last else ""
        top, high = min(end, down(start)), abs(end - down(start))
        said_at = top - 8 if above else top + high + 22  # away from the line of 0
        drawn += [
            f'<rect x="{left:.1f}" y="8" width="{bar:.1f}" height="{HIGH - 36}" '
            f'fill="currentColor" fill-opacity="0.05"/>',  # ties a bar to its name
            text(middle, said_at, written(product, 2), "middle", large),
            text(middle, HIGH - 8, name, "middle", bold),
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{bar:.1f}" height="{high:.1f}" '
            f'fill="{colour}"/>',
        ]
        if not is_last:  # from where one ends the next goes on
            drawn.append(
                f'<path d="M{left + bar:.1f} {end:.1f}h{step - bar:.1f}" stroke="{GREY}" '
                f'stroke-dasharray="2 3"/>'
            )
    return svg(
        f"dot products {', '.join(written(each, 2) for each in products)}, added up: score "
        f"{written(sums[-1], 2)}",
        (0, 0, WIDE, HIGH),
        f'<path d="M{ASIDE_0} {down(0):.1f}H{WIDE}" stroke="{GREY}"/>',
        text(ASIDE_0 - 5, down(0) + 5, "0", "end", f' fill="{GREY}"'),
        *drawn,
        wide=SIDE,
        size=16,
    )


def _turned(degrees: float, shapes: str, key: str) -> str:
    """Shapes that lie to the right, turned counter-clockwise."""
    return f'<g data-key="{key}" transform="rotate({-degrees:.2f})">{shapes}</g>'


def _upright(degrees: float, x: float, y: float, text: str, colour: str = "currentColor") -> str:
    """Words at a place that is turned, upright."""
    return (
        f'<g fill="{colour}" transform="translate({x:.1f} {y:.1f}) rotate({degrees:.2f})">'
        f'<text text-anchor="middle" dominant-baseline="central">{text}</text></g>'
    )


def _ghost(degrees: float, length: float, name: str) -> str:
    """Where an arrow pointed before it was moved."""
    if length < 1:
        return ""
    shapes = (
        f'<path d="M0 0H{length:.1f}l-8 -4m8 4l-8 4" fill="none" stroke="{GREY}" '
        f'stroke-width="1.5" opacity="0.5"/>'
    )
    return _turned(degrees, shapes, f"ghost-{name}")


def _shadow(query: float, shadow: float, length: float, way: float, named: bool) -> str:
    """What the key's arrow throws on the query's line, beside it, and how it falls there.

    Args:
        query: the query's direction.
        shadow: how far the key's arrow reaches along it.
        length: of the key's arrow.
        way: degrees from the key to the query.
        named: whether it is said what it is.
    """
    off = length * float(np.sin(np.radians(way)))  # down, where the query lies to the right
    aside = -ASIDE if off > 0 else ASIDE  # on the side where the key's arrow is not
    lies = np.radians(query)  # upright words beside it take more room where it stands
    beside = np.sign(aside) * (14 + 8 * abs(np.cos(lies)) + 26 * abs(np.sin(lies)))
    shapes = (
        f'<path d="M0 0H{shadow:.1f}" stroke="{GREEN}" stroke-width="7" '
        f'transform="translate(0 {aside})"/>'
        f'<path d="M{shadow:.1f} {aside}V{off:.1f}" stroke="{GREEN}" stroke-dasharray="3 2"/>'
        + _upright(query, shadow / 2, beside, "shadow", GREEN)
        * (named and abs(shadow) >= 1)
    )
    return _turned(query, shapes, "shadow")


def _angle(start: float, way: float, between: float) -> str:
    """The angle between the arrows, on the circle from the key's direction to the query's.

    Args:
        start: the key's direction.
        way: degrees from there to the query's, negative if clockwise.
        between: degrees, as they are told.
    """
    middle, first = start + way / 2, max(start, start + way)
    x, y = (RADIUS * each(np.radians(abs(way))) for each in (np.cos, np.sin))
    edge = f"M0 0H{RADIUS}A{RADIUS} {RADIUS} 0 0 1 {x:.1f} {y:.1f}z"
    face = f'<path d="{edge}" fill="currentColor" fill-opacity="0.06"/>'
    arc = (  # a circle begins at its right and runs clockwise; its length is taken to be 360
        f'<circle r="{RADIUS}" fill="none" stroke="currentColor" stroke-width="3" '
        f'pathLength="360" stroke-dasharray="{abs(way):.2f} 360"/>'
    )
    return _turned(first, face + arc, "arc") + _turned(
        middle, _upright(middle, FAR, 0, f"{in_degrees(between)}°"), "degrees"
    )


def _arrow(degrees: float, length: float, colour: str, name: str, width: float, side: float) -> str:
    """A line from the middle with a head, and its name beyond it; a dot where it has no length.

    Args:
        side: how far the name is moved counter-clockwise.
    """
    if length < 1:
        return f'<circle r="4" fill="{colour}"/>'
    shapes = (
        f'<path d="M0 0H{max(length - 11, 0):.1f}" stroke="{colour}" stroke-width="{width}"/>'
        f'<path d="M{length:.1f} 0l-13 -6v12z" fill="{colour}"/>'
        f'<path d="M{length:.1f} 0H{RADIUS}" stroke="{colour}" stroke-width="0.8"/>'
        + _upright(degrees, length + 11, -side, name, colour)
    )
    return _turned(degrees, shapes, name)
