"""Rotary arrows: a query and a key, pair by pair, as arrows that turn with their positions.

    query, key ─> pairs ─> turned by position · speed ─> angles and dot products ─> picture, words

The angle between two arrows of a pair depends on the distance of the positions alone: move both,
and all arrows turn, and the score stays.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
import traitlets

from attnlab.figures.live.dials import Dial, Dialled
from attnlab.figures.live.figure import Input, Values, array, style, whole
from attnlab.figures.live.on_paper import short, written
from attnlab.figures.live.rotary_picture import Pair, in_degrees, picture, score_picture

PLACES = 12  # the largest position, and the farthest that both are moved
PAIRS = 4  # at most
BASE = 10000.0
# Of each place: what it is called, and ms a step where it is played.
POSITIONS = {"query_at": ("query at", 0), "key_at": ("key at", 0), "moved": ("both moved by", 700)}


class RotaryArrows(Dialled):
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

    kind, _css = "rotary", style("rotary_arrows")
    title = traitlets.Unicode("Arrows that turn with position").tag(sync=True)
    query, key_vector, query_at, key_at, moved, degrees = (Input() for _ in range(6))
    stills = ("moved", (0, 1, 2, 3, 6, 12), "both moved by {}")

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
            **{name: whole(name, inputs[name], 0, PLACES) for name in POSITIONS},
        }

    def dials(self, inputs: Values) -> list[Dial]:
        places = range(PLACES + 1)
        return [
            Dial(name, label, places, inputs[name], [*map(str, places)], pace=pace)
            for name, (label, pace) in POSITIONS.items()
        ]

    def shown(self, inputs: Values) -> Values:
        pairs = turned(inputs)
        return {
            "titles": [*(_title(n, pair) for n, pair in enumerate(pairs)), _over_score(inputs)],
            "pictures": [
                *(picture(n, pair, longest(inputs)) for n, pair in enumerate(pairs)),
                score_picture(pairs, reach(inputs)),
            ],
            "heads": HEADS,
            "table": table(pairs),
            "note": NOTE,
            **in_words(inputs, pairs),
        }


def _title(n: int, pair: Pair) -> str:
    """Which pair it is, and how its dot product comes about."""
    length, shadow, product = (round(x, 2) for x in (pair.length, pair.shadow, pair.product))
    factors = f"{written(length, 2)} × {written(shadow, 2)}"
    equals = "=" if round(length * shadow, 2) == product else "≈"
    named = f"pair {n}, {short(pair.speed)}° a step"
    return f"{named}: {factors} {equals} {written(product, 2)}"


def _over_score(inputs: Values) -> str:
    """What it is, and what it was before both were moved."""
    if not inputs["moved"]:
        return "the score"
    before = sum(pair.product for pair in turned({**inputs, "moved": 0}))
    return f"the score (before the move: {written(before, 2)})"


def turned(inputs: Values) -> list[Pair]:
    """Each pair of the query and of the key, turned by its position."""
    places = [inputs["moved"] + inputs[name] for name in ("query_at", "key_at")]
    pairs = []
    for n, speed in enumerate(inputs["degrees"].tolist()):
        q, k = (inputs[name][2 * n : 2 * n + 2] for name in ("query", "key_vector"))
        angles = (places[0] * speed, places[1] * speed)
        arrows = (_turn(q, angles[0]), _turn(k, angles[1]))
        pairs.append(Pair(speed, q, k, *arrows, angles, inputs["moved"] * speed))
    return pairs


def _turn(arrow: np.ndarray, degrees: float) -> np.ndarray:
    """(2,), counter-clockwise."""
    cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[cos, -sin], [sin, cos]]) @ arrow


def longest(inputs: Values) -> float:
    """Length of the longest arrow, which reaches the circle."""
    arrows = np.concatenate([inputs["query"], inputs["key_vector"]]).reshape(-1, 2)
    return float(np.linalg.norm(arrows, axis=1).max()) or 1.0


def reach(inputs: Values) -> tuple[float, float]:
    """The lowest and the highest sum of first dot products at any distance; 0 is one of them."""
    sums = [0.0]
    for apart in range(-PLACES, PLACES + 1):
        places = {"query_at": max(apart, 0), "key_at": max(-apart, 0)}
        sums += accumulate(pair.product for pair in turned({**inputs, **places}))
    return min(sums), max(sums)


def table(pairs: list[Pair]) -> list[list[str]]:
    """A line for each pair and one for the sum: how far each arrow turned, and what comes out."""
    lines = [
        [
            f"pair {n}",
            f"{in_degrees(pair.angles[0])}°",
            f"{in_degrees(pair.angles[1])}°",
            f"{in_degrees(pair.between)}°",
            written(pair.product, 2),
        ]
        for n, pair in enumerate(pairs)
    ]
    return [*lines, ["score", "", "", "", written(sum(pair.product for pair in pairs), 2)]]


NOTE = "q · k = length of q × shadow of k on it, green. Grey: before both were moved."
HEADS = ("", "query turned by", "key turned by", "between them", "dot product")


def in_words(inputs: Values, pairs: list[Pair]) -> dict[str, str]:
    """How far apart both are and what the score is; where they stand, and what it would be."""
    at, other = (inputs["moved"] + inputs[name] for name in ("query_at", "key_at"))
    steps = f"{abs(at - other)} {'step' if abs(at - other) == 1 else 'steps'}"
    apart = (
        f"{steps} {'before' if at > other else 'after'} the query"
        if at != other
        else "at the query"
    )
    angles = ", ".join(f"{in_degrees(pair.between)}° in pair {n}" for n, pair in enumerate(pairs))
    score = sum(pair.product for pair in pairs)
    unturned = sum(float(pair.query @ pair.key) for pair in pairs)
    return {
        "found": f"Key {apart}: score {written(score, 2)}, wherever the two stand",
        "told": f"The query stands at {at}, the key at {other}. The angle between the arrows is "
        f"{angles}. Without turning the score would be {written(unturned, 2)}.",
    }
