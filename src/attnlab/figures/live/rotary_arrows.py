"""Rotary arrows: a query and a key, pair by pair, as arrows that turn with their positions.

    query, key ─> pairs ─> turned by position · speed ─> angles and dot products ─> picture, words

The angle between two arrows of a pair depends on the distance of the positions alone: move both,
and all arrows turn, and the score stays.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np
import traitlets

from attnlab.figures.live import fallback
from attnlab.figures.live.figure import Figure, Input, Values, array, number, source, style

PLACES = 12  # the largest position, and the farthest that both are moved
PAIRS = 4  # at most
BASE = 10000.0
RADIUS, ROOM = 100, 50  # of the circle in a picture, and around it
FAR = RADIUS + 32  # from the middle to the degrees
SIDE = 400  # px, of the picture in a page that has room
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#888"
MOVES = (0, 1, 2, 3, 6, 12)  # that the still figure steps through


@dataclass(frozen=True, slots=True)
class Pair:
    """One pair of columns of a query and a key, turned.

    Attributes:
        speed: degrees from one position to the next.
        query, key: (2,), as they are without positions.
        turned_query, turned_key: (2,), turned.
        angles: degrees by which each was turned, query first.
    """

    speed: float
    query: np.ndarray
    key: np.ndarray
    turned_query: np.ndarray
    turned_key: np.ndarray
    angles: tuple[float, float]

    @property
    def product(self) -> float:
        return float(self.turned_query @ self.turned_key)

    @property
    def between(self) -> float:
        """Degrees between the two arrows, 0 to 180; 0 where one of them has no length."""
        lengths = np.linalg.norm(self.turned_query) * np.linalg.norm(self.turned_key)
        cosine = self.product / lengths if lengths else 1.0
        return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))


class RotaryArrows(Figure):
    """Sliders for the positions of a query and a key, and for moving both; arrows turn with them.

    Args:
        query: (d,), d even, at most 8.
        key_vector: (d,).
        query_at: position of the query, from 0 to 12.
        key_at: position of the key.
        moved: what is added to both positions.
        degrees: (d/2,), by which each pair turns from one position to the next; None gives rotary's
            own speeds, base 10000.
    Raises:
        ValueError: sizes do not fit, or a position is not there.
    """

    _esm = source("rotary_arrows")
    _css = style("rotary_arrows")
    title = traitlets.Unicode("Arrows that turn with position").tag(sync=True)
    query, key_vector, query_at, key_at, moved, degrees = (Input() for _ in range(6))

    def __init__(
        self,
        query: Any,
        key_vector: Any,
        query_at: int = 3,
        key_at: int = 1,
        moved: int = 0,
        degrees: Any = None,
    ) -> None:
        super().__init__(
            query=query,
            key_vector=key_vector,
            query_at=query_at,
            key_at=key_at,
            moved=moved,
            degrees=degrees,
        )

    def checked(self, inputs: Values) -> Values:
        query = array("query", inputs["query"], (None,))
        d = len(query)
        if d % 2 or not 2 <= d <= 2 * PAIRS:
            raise ValueError(
                f"query has {d} numbers; an even number from 2 to {2 * PAIRS} is needed"
            )
        given = inputs["degrees"]
        own = np.degrees(BASE ** (-np.arange(0, d, 2) / d))
        return {
            "query": query,
            "key_vector": array("key_vector", inputs["key_vector"], (d,)),
            "degrees": array("degrees", own if given is None else given, (d // 2,)),
            **{name: place(name, inputs[name]) for name in ("query_at", "key_at", "moved")},
        }

    def computed(self, inputs: Values) -> Values:
        pairs = turned(inputs)
        return {
            **{name: inputs[name] for name in ("query_at", "key_at", "moved")},
            "places": PLACES,
            "titles": [f"pair {n}, {short(pair.speed)}° a step" for n, pair in enumerate(pairs)],
            "pictures": [picture(n, pair, longest(inputs)) for n, pair in enumerate(pairs)],
            "table": table(pairs),
            "score": float(sum(pair.product for pair in pairs)),
            "told": in_words(inputs, pairs),
        }

    def summary(self) -> str:
        return str(self.state["told"])

    def fallback(self) -> str:
        mark = fallback.mark(repr(self))
        steps = dict.fromkeys([self.moved, *MOVES])
        states = [self.computed({**self._inputs, "moved": moved}) for moved in steps]
        radios = "".join(
            f'<span class="step step-{step + 1}" style="margin-right:12px;white-space:nowrap">'
            f"{fallback.radio(mark, step, f'both moved by {moved}')}</span>"
            for step, moved in enumerate(steps)
        )
        content = (
            fallback.stepper(mark, len(steps)) + radios + fallback.listed([*map(_still, states)])
        )
        return fallback.framed(content, repr(self), mark)


def place(name: str, given: Any) -> int:
    """A position, or by how many both are moved.

    Raises:
        ValueError: it is no whole number from 0 to PLACES.
    """
    value = number(given)
    if value != int(value) or not 0 <= value <= PLACES:
        raise ValueError(f"{name} is {value:g}; a whole number from 0 to {PLACES} is needed")
    return int(value)


def turned(inputs: Values) -> list[Pair]:
    """Each pair of the query and of the key, turned by its position."""
    places = [inputs["moved"] + inputs[name] for name in ("query_at", "key_at")]
    pairs = []
    for n, speed in enumerate(inputs["degrees"].tolist()):
        q, k = (inputs[name][2 * n : 2 * n + 2] for name in ("query", "key_vector"))
        angles = (places[0] * speed, places[1] * speed)
        pairs.append(Pair(speed, q, k, _turn(q, angles[0]), _turn(k, angles[1]), angles))
    return pairs


def _turn(arrow: np.ndarray, degrees: float) -> np.ndarray:
    """(2,), counter-clockwise."""
    cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[cos, -sin], [sin, cos]]) @ arrow


def longest(inputs: Values) -> float:
    """Length of the longest arrow, which reaches the circle."""
    arrows = np.concatenate([inputs["query"], inputs["key_vector"]]).reshape(-1, 2)
    return float(np.linalg.norm(arrows, axis=1).max()) or 1.0


def short(value: float) -> str:
    """Two digits after the point at most, and a true minus; no minus before 0."""
    text = f"{value:.2f}".rstrip("0").rstrip(".") or "0"
    return ("0" if text == "-0" else text).replace("-", "−")


def decimals(value: float) -> str:
    """Two digits after the point."""
    return ("0.00" if f"{value:.2f}" == "-0.00" else f"{value:.2f}").replace("-", "−")


def table(pairs: list[Pair]) -> list[list[str]]:
    """A line for each pair and one for the sum: how far each arrow turned, and what comes out."""
    lines = [
        [
            f"pair {n}",
            f"{short(pair.angles[0])}°",
            f"{short(pair.angles[1])}°",
            f"{short(pair.between)}°",
            decimals(pair.product),
        ]
        for n, pair in enumerate(pairs)
    ]
    return [*lines, ["score", "", "", "", decimals(sum(pair.product for pair in pairs))]]


HEADS = ("", "query turned by", "key turned by", "between them", "dot product")


def in_words(inputs: Values, pairs: list[Pair]) -> str:
    """Where both stand, how far apart, and what the score is."""
    at, other = (inputs["moved"] + inputs[name] for name in ("query_at", "key_at"))
    distance = at - other
    if distance:
        way = "before" if distance > 0 else "after"
        steps = f"{abs(distance)} {'step' if abs(distance) == 1 else 'steps'}"
        apart = f"the key stands {steps} {way} it"
    else:
        apart = "the key stands there as well"
    angles = ", ".join(f"{short(pair.between)}° in pair {n}" for n, pair in enumerate(pairs))
    score = sum(pair.product for pair in pairs)
    unturned = sum(float(pair.query @ pair.key) for pair in pairs)
    return (
        f"The query stands at {at}, the key at {other}: {apart}. The angle between the arrows is "
        f"{angles}. The score is {decimals(score)}; without turning it would be "
        f"{decimals(unturned)}, wherever they stand."
    )


# The picture, the same in the page and where nothing runs -----------------------------------


def picture(n: int, pair: Pair, most: float) -> str:
    """Two arrows in a circle, as an SVG; dashed, where they would point at position 0."""
    said = (
        f"pair {n}: query arrow turned by {short(pair.angles[0])} degrees, key arrow by "
        f"{short(pair.angles[1])}, {short(pair.between)} degrees between them"
    )
    scale, edge = RADIUS / most, RADIUS + ROOM
    ends = [np.degrees(np.arctan2(*arrow[::-1])) for arrow in (pair.query, pair.key)]
    query, key = (end + angle for end, angle in zip(ends, pair.angles, strict=True))
    lengths = [float(np.linalg.norm(arrow)) * scale for arrow in (pair.query, pair.key)]
    way = (query - key + 180) % 360 - 180  # from the key to the query, −180 to 180
    shapes = "".join(
        (
            *(
                _ghost(end, length, colour)
                for end, length, colour in zip(ends, lengths, (BLUE, ORANGE), strict=True)
            ),
            _angle(key, way, pair.between) if min(lengths) >= 1 else "",
            _arrow(query, lengths[0], BLUE, "q", 4.0, 10 if way >= 0 else -10),
            _arrow(key, lengths[1], ORANGE, "k", 2.2, -10 if way >= 0 else 10),
        )
    )
    return (
        f'<svg role="img" aria-label="{html.escape(said, quote=True)}" '
        f'viewBox="{-edge} {-edge} {2 * edge} {2 * edge}" font-size="13" fill="currentColor" '
        f'style="width:100%;max-width:{SIDE}px;display:block">'
        f'<circle r="{RADIUS}" fill="none" stroke="{GREY}" stroke-width="0.8"/>'
        f'<path d="M{-RADIUS} 0H{RADIUS}M0 {-RADIUS}V{RADIUS}" stroke="{GREY}" '
        f'stroke-width="0.6"/>{shapes}</svg>'
    )


def _turned(degrees: float, shapes: str, key: str) -> str:
    """Shapes that lie to the right, turned counter-clockwise."""
    return f'<g data-key="{key}" transform="rotate({-degrees:.2f})">{shapes}</g>'


def _upright(degrees: float, x: float, y: float, text: str) -> str:
    """Words at a place that is turned, upright."""
    return (
        f'<g transform="translate({x:.1f} {y:.1f}) rotate({degrees:.2f})">'
        f'<text text-anchor="middle" dominant-baseline="central">{text}</text></g>'
    )


def _ghost(degrees: float, length: float, colour: str) -> str:
    """Where an arrow would point at position 0."""
    line = f'<path d="M0 0H{length:.1f}" stroke="{colour}" stroke-dasharray="2 3"/>'
    return _turned(degrees, line, f"ghost-{colour}")


def _angle(start: float, way: float, between: float) -> str:
    """The angle between the arrows, on the circle from the key's direction to the query's.

    Args:
        start: the key's direction.
        way: degrees from there to the query's, negative if clockwise.
        between: degrees, as they are told.
    """
    first, middle = min(start, start + way), start + way / 2
    # A circle begins at its right and runs clockwise; its length is taken to be 360.
    arc = (
        f'<circle r="{RADIUS}" fill="none" stroke="currentColor" stroke-width="3" pathLength="360" '
        f'stroke-dasharray="{abs(way):.2f} 360"/>'
    )
    return _turned(first + abs(way), arc, "arc") + _turned(
        middle, _upright(middle, FAR, 0, f"{short(between)}°"), "degrees"
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
        + _upright(degrees, length + 11, -side, name)
    )
    return _turned(degrees, shapes, name)


def _still(state: Values) -> str:
    """The pictures, the table and the sentence of one state."""
    cell = "padding:2px 8px;text-align:right"
    panels = "".join(
        f'<div style="flex:0 1 {SIDE}px;min-width:120px"><b>{title}</b>{drawing}</div>'
        for title, drawing in zip(state["titles"], state["pictures"], strict=True)
    )
    head = "".join(f'<th scope="col" style="{cell}">{name}</th>' for name in HEADS[1:])
    lines = "".join(
        f'<tr><th scope="row" style="{cell}">{name}</th>'
        + "".join(f'<td style="{cell}">{shown}</td>' for shown in numbers)
        + "</tr>"
        for name, *numbers in state["table"]
    )
    return (
        f'<div style="display:flex;flex-wrap:wrap;gap:4px 24px">{panels}</div>'
        f"<table><tr><td></td>{head}</tr>{lines}</table><p>{html.escape(state['told'])}</p>"
    )
