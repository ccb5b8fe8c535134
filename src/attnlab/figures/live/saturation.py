"""Saturation: what wider forms do to scores, weights and slopes, with and without 1/√d_k.

forms, drawn once ─> the first d_k lines ─> scores ─┬─ as they are ─┬─> weights ─> measures
                                                    └─── ÷ √d_k ────┘           └─> pictures
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import traitlets

from attnlab.checks.reference import softmax
from attnlab.figures import palette
from attnlab.figures.live.cost_chart import CLEAR
from attnlab.figures.live.dials import Dial, Dialled
from attnlab.figures.live.figure import Input, Values, number, raised, short, style
from attnlab.figures.live.on_paper import written
from attnlab.figures.live.strokes import bars, svg, text

WIDTHS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
SHELVES, READERS, BOOKS = 20, 50, 20
WAYS = ("no scale", "÷ √d_k")
LIMIT = 110.0  # where the axis of raw scores ends
STEPS, MANY = (1, 2, 5, 10, 20, 50), 4  # of its ticks, and how many at most on either side of 0
REACH, BINS = 4, 36  # of a histogram: standard deviations on either side, and how many bins
WIDE, HIGH, EDGE, OVER = 340, 98, 2, 18  # of a plot, and the room beside and over it
UNDER, TOP = HIGH + 22, 12  # how far down the words under a plot are, and those that a dot has
BLUE, ORANGE, GREY = (each.drawn for each in (palette.BLUE, palette.ORANGE, palette.GREY))
LONGEST, SHORTER = 160, 88  # words over a bar, and at a dot, where they are largest
BRACKET = 16  # over the line of scores, from the next to the largest
TALL = 0.75  # a weight whose bar has its words beside it: no other reaches them
BOLD, STROKE = 'font-weight="bold"', f'fill="none" stroke="{ORANGE}" stroke-width="2"'


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
            Dial("d_k", "width", WIDTHS, WIDTHS.index(d_k), [*map(str, WIDTHS)]),
            Dial("reader", "reader", readers, reader - 1, [f"{n} of {READERS}" for n in readers]),
        ]

    def shown(self, inputs: Values) -> Values:
        d_k, reader = inputs["d_k"], inputs["reader"]
        measures = of_reader(**inputs)
        return {
            "titles": titles(d_k, measures),
            "pictures": [
                scores_picture(measures[WAYS[0]]),
                weights_picture(WAYS[0], measures[WAYS[0]]),
                scores_picture(measures[WAYS[1]], d_k),
                weights_picture(WAYS[1], measures[WAYS[1]]),
            ],
            "note": "Hills: all scores; divided, only their ruler changes. Dots, bars: the "
            f"{BOOKS} books of reader {reader}. A lead of x: exp(x) times the weight.",
            "folded": "Numbers, and those of a typical reader",
            "heads": ["", *WAYS],
            "table": table(measures),
            "found": found(d_k, measures),
            "told": f"d_k = {d_k}, reader {reader}. {'; '.join(titles(d_k, measures))}.",
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
        Spread and histogram of the scores, the scores and weights of the first shelf, and each
        measure for all readers.
    """
    std = float(scores.std())
    counts, _ = np.histogram(scores, np.linspace(-REACH, REACH, BINS + 1) * std)
    return {
        "std": std,
        "histogram": (counts / scores.size).tolist(),
        "scores": scores[0].tolist(),
        "weights": weights[:READERS].tolist(),
        "measures": {
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
            "scores": shelves["scores"][reader - 1],
            "weights": shelves["weights"][reader - 1],
            "reader": {name: float(column[reader - 1]) for name, column in measures.items()},
            "typical": {name: float(np.median(column)) for name, column in measures.items()},
        }
    return found


def titles(d_k: int, measures: Values) -> list[str]:
    """Over each picture: the way to scale, and how far the scores spread."""
    return [
        title
        for way, scale in zip(WAYS, ("No scale", f"÷ √{d_k}"), strict=True)
        for title in (
            f"{scale}: scores, spread {measures[way]['std']:.1f}",
            f"{scale}: weights",
        )
    ]


def table(measures: Values) -> list[list[str]]:
    """Lines of a label and a number for each way to scale."""
    columns = [measures[way] for way in WAYS]
    lines = [["std. deviation of scores", *(f"{each['std']:.2f}" for each in columns)]]
    for name, label in (("largest", "largest weight"), ("gradient", "Jacobian's norm")):
        for who, whose in (("reader", ""), ("typical", ", typical")):
            numbers = [each[who][name] for each in columns]
            lines.append([f"{label}{whose}", *map(short, numbers)])
    return lines


def found(d_k: int, measures: Values) -> str:
    """What softmax makes of the largest score's lead."""
    leads = [float(np.diff(np.sort(measures[way]["scores"])[-2:])[0]) for way in WAYS]
    raw, scaled = (in_short(np.exp(lead)) for lead in leads)
    lead = in_short(leads[0])
    return f"{lead} ahead: {raw} times the weight. Divided by √{d_k}: {scaled} times"


# The pictures, the same in the page and where nothing runs ----------------------------------


def scores_picture(measures: Values, d_k: int = 1) -> str:
    """The hill of all scores, and on its line a dot for each score of one reader, as an SVG.

    The axis of raw scores is the same at every width, that of divided ones √d_k times finer: so
    both have the same hill and dots.
    """
    zoom = d_k**0.5
    std, scores = measures["std"] * zoom, [score * zoom for score in measures["scores"]]
    second, first = np.argsort(scores)[-2:].tolist()
    start, end = _across(scores[second]), _across(scores[first])
    beside = end + 8 < WIDE + EDGE - SHORTER
    at = end + 8 if beside else WIDE + EDGE - SHORTER
    low = HIGH - 9 if beside else HIGH - BRACKET - 5
    lead = f"{in_short((scores[first] - scores[second]) / zoom)} ahead"
    places = np.clip(np.linspace(-REACH, REACH, 2 * BINS + 1)[1::2] * std, -LIMIT, LIMIT)
    most = max(measures["histogram"])
    hill = "".join(
        f"L{_across(place):.1f} {HIGH - HIGH * share / most:.1f}"
        for place, share in zip(places.tolist(), measures["histogram"], strict=True)
    )
    left, right = (_across(sign * REACH * std) for sign in (-1, 1))
    return _drawing(
        f"hill of all scores, standard deviation {std / zoom:.1f}; of {BOOKS} dots that of book "
        f"{first + 1} is the farthest right, {lead} of the next",
        f'<path d="M{left:.1f} {HIGH}{hill}L{right:.1f} {HIGH}z" fill="{BLUE}" '
        'fill-opacity="0.35"/>',
        f'<path d="M{start:.1f} {HIGH - BRACKET / 2:g}v{-BRACKET / 2:g}H{end:.1f}v{BRACKET / 2:g}" '
        f"{STROKE}/>",
        text(at, low, lead, "", f' fill="{ORANGE}" {BOLD}{CLEAR}'),
        "" if d_k == 1 else text(0, TOP, f"ruler √{d_k} × finer", "", f' fill="{GREY}"'),
        _axis(zoom),
        _dots(scores),
    )


def _dots(scores: Sequence[float]) -> str:
    """A dot for each score, the largest in its own colour."""
    looks = [(5, ORANGE) if score == max(scores) else (3, BLUE) for score in scores]
    return "".join(
        f'<circle data-key="{n}" cx="{_across(score):.1f}" cy="{HIGH}" r="{r}" fill="{colour}"/>'
        for n, (score, (r, colour)) in enumerate(zip(scores, looks, strict=True))
    )


def _axis(zoom: float) -> str:
    """The line of scores, its ticks and numbers."""
    most = LIMIT / zoom
    step = next(step for step in STEPS if most / step < MANY + 1)
    marks = range(-int(most / step) * step, int(most) + 1, step)
    places = {score: _across(score * zoom) for score in marks}
    return _line(f"M0 {HIGH}H{WIDE}") + "".join(
        _line(f"M{x:.1f} {HIGH}v6") + text(x, UNDER, written(score, 0), "middle", f' fill="{GREY}"')
        for score, x in places.items()
    )


def weights_picture(way: str, measures: Values) -> str:
    """A reader's weights as bars, the largest with its number, as an SVG."""
    weights = measures["weights"]
    second, first = np.argsort(weights)[-2:].tolist()
    each, high = WIDE / BOOKS, HIGH * weights[first]
    lead = measures["scores"][first] - measures["scores"][second]
    times = in_short(np.exp(lead))
    is_tall, is_left = weights[first] > TALL, first < BOOKS / 2
    anchor = "start" if is_left else "end"
    if is_tall:
        at, lines = (first + 1) * each + 3 if is_left else first * each - 3, (1.2, 2.4)
    else:
        at = min(first * each, WIDE - LONGEST) if is_left else max((first + 1) * each, LONGEST)
        lines = (-1.2, 0)
    large = f"{weights[first]:.{2 if weights[first] < 0.995 else 3}f}"
    large = "> 0.999" if large == "1.000" else large
    return _drawing(
        f"{way}: bars of {BOOKS} weights, the largest {weights[first]:.2f}, book {first + 1}, "
        f"{times} times the next",
        f'<path d="{bars(weights, WIDE, HIGH, gap=3)}" fill="{BLUE}"/>',
        f'<rect x="{first * each + 1.5:g}" y="{HIGH - high:.1f}" width="{each - 3:g}" '
        f'height="{high:.1f}" fill="{ORANGE}"/>',
        _line(f"M0 {HIGH}H{WIDE}"),
        *(
            text(at, HIGH - high - 5, words, anchor, f' dy="{line}em" fill="{ORANGE}" {BOLD}')
            for words, line in zip((large, f"{times} × the next"), lines, strict=True)
        ),
        *(
            text(each * (n - 0.5), UNDER, label, "middle", f' fill="{GREY}"')
            for n, label in ((1, "1"), (BOOKS / 2 + 0.5, "books"), (BOOKS, str(BOOKS)))
        ),
    )


def in_short(times: float) -> str:
    """In two or three digits, or with a power of ten."""
    if times >= 1000:
        digits, power = f"{times:.0e}".split("e")
        return f"{digits} · 10{raised(int(power))}"
    return f"{times:.2f}" if times < 10 else f"{times:.1f}" if times < 100 else f"{times:.0f}"


def _drawing(said: str, *parts: str) -> str:
    view = (-EDGE, -OVER, WIDE + 2 * EDGE, OVER + UNDER + 4)
    return svg(said, view, *parts, wide=400, size=13)


def _line(path: str) -> str:
    return f'<path d="{path}" fill="none" stroke="currentColor" stroke-width="0.8"/>'


def _across(score: float) -> float:
    """Where a score stands on the axis; at its end, if it is beyond."""
    return min(max((score + LIMIT) / (2 * LIMIT), 0.0), 1.0) * WIDE
