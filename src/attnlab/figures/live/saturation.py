"""Saturation: what wider forms do to scores, weights and slopes, with and without 1/√d_k.

forms, drawn once ─> the first d_k lines ─> scores ─┬─ as they are ─┬─> weights ─> measures
                                                    └─── ÷ √d_k ────┘           └─> picture
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import traitlets

from attnlab.checks.reference import softmax
from attnlab.figures import palette
from attnlab.figures.live.dials import Dial, Dialled
from attnlab.figures.live.figure import Input, Values, number, short, style
from attnlab.figures.live.strokes import Tick, axes, bars, svg, text
from attnlab.figures.live.who_listens import entropies

WIDTHS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
SHELVES, READERS, BOOKS = 20, 50, 20
WAYS = ("no scale", "÷ √d_k")
# Of the axis of scores, the same for both: its end, and a bin of it (0 is the middle of one).
LIMIT, BIN = 102.0, 4.0
WIDE, HIGH, EDGE, UNDER = 204, 100, 22, 46  # of a plot, and the room around and under it
NUMBERS = 33  # room for those along the upright axis
UP = (Tick(0, "1"), Tick(HIGH - 4, "0"))
BLUE, ORANGE = palette.BLUE.drawn, palette.ORANGE.drawn


class Saturation(Dialled):
    """Sliders for the width of queries and keys and for the reader; two ways to scale side by side.

    1,000 readers stand before shelves of 20 books. All forms are drawn once, 1024 lines long; at
    width d_k their first d_k lines count.

    Args:
        d_k: one of WIDTHS.
        reader: from 1 to 50, whose weights are drawn.
        seed: of all random numbers.
    Raises:
        ValueError: there is no such width or reader, or the seed is no whole number.
    """

    kind, _css = "saturation", style("saturation")
    title = traitlets.Unicode("Saturation").tag(sync=True)
    d_k, reader, seed = Input(), Input(), Input()
    stills = ("d_k", [2**power for power in range(1, 11)], "d_k = {}")

    def __init__(self, d_k: int = 64, reader: int = 1, seed: int = 4) -> None:
        super().__init__(d_k=d_k, reader=reader, seed=seed)

    def checked(self, inputs: Values) -> Values:
        whole = {name: number(inputs[name]) for name in ("d_k", "reader", "seed")}
        for name, value in whole.items():
            if value != int(value) or value < 0:
                raise ValueError(f"{name} is {value:g}; a whole number from 0 on is needed")
        if whole["d_k"] not in WIDTHS:
            listed = ", ".join(map(str, WIDTHS))
            raise ValueError(f"d_k is {whole['d_k']:g}; there are {listed}")
        if not 1 <= whole["reader"] <= READERS:
            raise ValueError(f"there is no reader {whole['reader']:g}; there are 1 to {READERS}")
        return {name: int(value) for name, value in whole.items()}

    def dials(self, inputs: Values) -> list[Dial]:
        d_k, reader = inputs["d_k"], inputs["reader"]
        readers = range(1, READERS + 1)
        return [
            Dial("d_k", "width d_k", WIDTHS, WIDTHS.index(d_k), [*map(str, WIDTHS)]),
            Dial("reader", "reader", readers, reader - 1, [f"{n} of {READERS}" for n in readers]),
        ]

    def shown(self, inputs: Values) -> Values:
        d_k, reader = inputs["d_k"], inputs["reader"]
        measures = of_reader(**inputs)
        return {
            "titles": WAYS,
            "pictures": [picture(way, measures[way]) for way in WAYS],
            "heads": ["", *WAYS],
            "table": table(measures),
            "told": in_words(d_k, reader, measures),
        }


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Standard normal queries (SHELVES, READERS, 1024) and keys (SHELVES, BOOKS, 1024)."""
    rng = np.random.default_rng(seed)
    queries = rng.standard_normal((SHELVES, READERS, WIDTHS[-1]))
    return queries, rng.standard_normal((SHELVES, BOOKS, WIDTHS[-1]))


@lru_cache(maxsize=2)
def measured_shelves(seed: int) -> dict[int, dict[str, Values]]:
    """For each width and way to scale, what `measured` finds.

    All widths at once, as the still figure shows them all, and one call of softmax is quicker than
    many.
    """
    queries, keys = drawn(seed)
    raw = [queries[..., :d_k] @ keys[..., :d_k].swapaxes(-1, -2) for d_k in WIDTHS]
    scores = np.stack([[each, each / d_k**0.5] for each, d_k in zip(raw, WIDTHS, strict=True)])
    weights = softmax(scores).reshape(len(WIDTHS), len(WAYS), -1, BOOKS)
    return {
        d_k: {way: measured(scores[n, side], weights[n, side]) for side, way in enumerate(WAYS)}
        for n, d_k in enumerate(WIDTHS)
    }


def jacobian_norms(weights: np.ndarray) -> np.ndarray:
    """The norm of softmax's Jacobian diag(p) − p pᵀ for each row p.

    Args:
        weights: (R, M).
    Returns:
        (R,).
    """
    jacobians = -weights[:, :, None] * weights[:, None, :]
    diagonal = np.arange(weights.shape[1])
    jacobians[:, diagonal, diagonal] += weights
    squares = np.einsum("rij,rij->r", jacobians, jacobians)  # np.linalg.norm takes ten times longer
    return np.sqrt(squares)


def measured(scores: np.ndarray, weights: np.ndarray) -> Values:
    """What scores do to weights and slopes.

    Args:
        scores: (SHELVES, READERS, BOOKS), as softmax gets them.
        weights: (SHELVES · READERS, BOOKS), that softmax makes of them.
    Returns:
        Spread and histogram of the scores, the weights of the first shelf, and each measure for all
        readers.
    """
    counts, _ = np.histogram(scores, np.linspace(-LIMIT, LIMIT, round(2 * LIMIT / BIN) + 1))
    return {
        "std": float(scores.std()),
        "histogram": (counts / scores.size).tolist(),
        "weights": weights[:READERS].tolist(),
        "measures": {
            "entropy": np.array(entropies(weights)),
            "largest": weights.max(axis=1),
            "gradient": jacobian_norms(weights),
        },
    }


def of_reader(d_k: int, reader: int, seed: int) -> Values:
    """For each way to scale, measures of a reader of the first shelf beside the median of all."""
    found = {}
    for way, shelves in measured_shelves(seed)[d_k].items():
        measures = shelves["measures"]
        found[way] = {
            "std": shelves["std"],
            "histogram": shelves["histogram"],
            "weights": shelves["weights"][reader - 1],
            "reader": {name: float(column[reader - 1]) for name, column in measures.items()},
            "typical": {name: float(np.median(column)) for name, column in measures.items()},
        }
    return found


def table(measures: Values) -> list[list[str]]:
    """Lines of a label and a number for each way to scale."""
    columns = [measures[way] for way in WAYS]
    lines = [["std. deviation of scores", *(f"{each['std']:.2f}" for each in columns)]]
    for name, label in (
        ("largest", "largest weight"),
        ("gradient", "Jacobian's norm"),
    ):
        for who, whose in (("reader", ""), ("typical", ", typical")):
            numbers = [each[who][name] for each in columns]
            lines.append([f"{label}{whose}", *map(short, numbers)])
    return lines


def in_words(d_k: int, reader: int, measures: Values) -> str:
    """Both ways in a sentence each."""
    said = []
    for way, name in zip(WAYS, ("Without a scale", f"Divided by √{d_k}"), strict=True):
        each = measures[way]
        alike = np.exp(each["reader"]["entropy"])
        said.append(
            f"{name} scores have a standard deviation of {each['std']:.1f}; it is as if "
            f"{alike:.1f} of {BOOKS} books shared alike."
        )
    return f"d_k = {d_k}, reader {reader}. {' '.join(said)}"


# The picture, the same in the page and where nothing runs -----------------------------------


def picture(way: str, measures: Values) -> str:
    """A histogram of all scores over one reader's weights, as an SVG.

    Axes are the same for both ways and at every width: scaled scores are a needle on them.
    """
    std, weights = measures["std"], measures["weights"]
    best = int(np.argmax(weights))
    said = (
        f"{way}: histogram of scores, standard deviation {std:.1f}, over bars of {BOOKS} weights, "
        f"the largest {weights[best]:.2f}, book {best + 1}"
    )
    dashes = "".join(f"M{_across(edge):.1f} 0V{HIGH}" for edge in (-std, std))
    ends = (f"−{LIMIT:g}", "0", f"{LIMIT:g}")
    under = HIGH + EDGE + UNDER
    return svg(
        said,
        (-NUMBERS, -EDGE, WIDE + NUMBERS + EDGE, 2 * under),
        f'<path d="{bars(measures["histogram"], WIDE, HIGH)}" fill="{BLUE}"/>',
        f'<path d="{dashes}" fill="none" stroke="{ORANGE}" stroke-dasharray="3 2"/>',
        axes(WIDE, HIGH, "share", UP, _along(*ends), "scores of all readers"),
        f'<path d="M{WIDE - 124} -13h14" stroke="{ORANGE}" stroke-dasharray="3 2"/>',
        text(WIDE, -10, "± std. deviation", "end"),
        f'<g transform="translate(0 {under})">',
        f'<path d="{bars(weights, WIDE, HIGH, gap=2)}" fill="{BLUE}"/>',
        axes(WIDE, HIGH, "weight", UP, _along("1", "", str(BOOKS)), "books of this reader"),
        "</g>",
        wide=400,
        size=11.4,
    )


def _along(*labels: str) -> list[Tick]:
    """Numbers at the ends of the flat axis and in its middle."""
    places = ((0, "start"), (WIDE / 2, "middle"), (WIDE, "end"))
    return [Tick(at, label, anchor) for (at, anchor), label in zip(places, labels, strict=True)]


def _across(score: float) -> float:
    """Where a score stands on the axis; at its end, if it is beyond."""
    return min(max((score + LIMIT) / (2 * LIMIT), 0.0), 1.0) * WIDE
