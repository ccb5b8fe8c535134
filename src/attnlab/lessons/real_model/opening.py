"""Lesson 14 opens with one model twice: with its own weights, and with equal ones in every head.

Two words trade places, and it is seen which of the two notices. Arcs are the mean of the last
layer's heads; bars, how likely three words are to be next. At the lesson's end `opening` is called
with the learner's own function and a text: that film is in `yours`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from attnlab import small
from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, arc, box, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, Colour
from attnlab.lessons.real_model import yours
from attnlab.lessons.real_model.writing import EQUAL, OWN, Backend, Step, step

TEXT = "bird", "dog", "cat", ";", "bird"
TRADED = "bird", "cat", "dog", ";", "bird"

HIGH, LANE = 270, 137  # of the sheet; from one row to the other
SIZE, MIDDLES = 28, (40, 114, 184, 234, 286)  # of words
NAME, FLOOR, HIGHEST = 16, 85, 56  # in a row: y of its name, arcs' feet, how high they are
BAND = (4, 89), (316, 36)  # its corner and size
ANSWERS = "dog", "cat", "queen"
BARS, LEFT, LONG, THICK = (52, 77, 102), 334, 98, 23
THICKEST = 12  # an arc of weight 1
LABELLED, WEIGHT = 1, (158, 79)  # the word whose arc has its weight beside it, and where
RIGHT = 478  # of chances, outside their bars


class Row(NamedTuple):
    """The model with a function in.

    Attributes:
        key: of its parts.
        name: over it.
        colour: of what it looks at and writes.
        top: of it.
        function: in all of its layers.
    """

    key: str
    name: str
    colour: Colour
    top: float
    function: Backend


ROWS = (
    Row("own", "its own attention", BLUE, 0, OWN),
    Row("equal", "equal weights", ORANGE, LANE, EQUAL),
)


def opening(function: Backend | None = None, text: str = "") -> Film:
    """The film; with a learner's own function and words that the model knows, that of `yours`."""
    if function is not None:
        return yours.film(function, text)
    own, _ = ROWS
    first, then = ({row.key: step(row.function, text) for row in ROWS} for text in (TEXT, TRADED))
    dog, queen = (first[row.key].word for row in ROWS)
    cat, again = (then[row.key].word for row in ROWS)

    def frame(
        words: Sequence[str],
        steps: dict[str, Step],
        told: str,
        known: Sequence[Row] = ROWS,
    ) -> Frame:
        """What so many rows look at, and how likely answers are; the others are asked."""
        rows = (_row(row, words, steps[row.key] if row in known else None) for row in ROWS)
        return Frame([*chain(*rows)], told)

    told = (
        "The same model twice. Below, all heads of all layers give equal weights.",
        f"Its own attention looks mostly at “{TEXT[1]}”, which followed “{TEXT[-1]}”.",
        f"With equal weights it writes “{queen}”, a word that is not even there.",
        f"Now “{dog}” and “{cat}” trade places, above and below.",
        f"Above, the next word is “{cat}” now. With equal weights, still “{again}”.",
    )
    frames = [
        frame(TEXT, first, told[0], ()),
        frame(TEXT, first, told[1], [own]),
        frame(TEXT, first, told[2]),
        frame(TRADED, then, told[3], ()),
        frame(TRADED, then, told[4]),
    ]
    return Film("One function changed in a trained model", frames, HIGH)


def _row(row: Row, words: Sequence[str], known: Step | None) -> list[Part]:
    """Words, arcs over them, and how likely answers are; arcs are dotted where it is not known."""
    key, top, last = row.key, row.top, len(words) - 1
    weights = known.heads.mean(dim=0).tolist() if known else [0.15] * len(words)
    far = MIDDLES[last] - MIDDLES[0]
    (x, y), size = BAND
    parts = [box(f"{key} band", (x, top + y), size, GREY, 0.13)]
    if known and max(weights) > 0.5:
        eye = MIDDLES[weights.index(max(weights))]
        parts.append(box(f"{key} eye", (eye - 30, top + y), (60, size[1]), row.colour, 0.25))
        (right, under), weight = WEIGHT, f"{weights[LABELLED]:.2f}"
        parts.append(word(f"{key} weight", right, top + under, weight, row.colour, size=SMALL))
    for n, (text, x) in enumerate(zip(words, MIDDLES, strict=True)):
        parts.append(word(f"{key} word {n}", x, top + y + 28, text, size=SIZE))
        share = (MIDDLES[last] - x) / far
        parts.append(
            arc(
                f"{key} look {n}",
                MIDDLES[last],
                x,
                top + FLOOR,
                weights[n],
                row.colour if known else GREY,
                dashes="1 0" if known else "1 6",
                thickest=THICKEST,
                pull=24 + (HIGHEST / 0.75 - 24) * share,
            )
        )
    parts += [
        word(f"{key} name", 4, top + NAME, row.name, row.colour, "start", weight=700),
        word(f"{key} layers", 204, top + NAME, "in all layers; last shown", GREY, "start", SMALL),
        word(f"{key} next", LEFT, top + BARS[0] - 7, "next word", GREY, "start", SMALL),
    ]
    for n, (answer, down) in enumerate(zip(ANSWERS, BARS, strict=True)):
        chance = known.chances[small.words.index(answer)].item() if known else 0.0
        at, low, bold = (LEFT, top + down), top + down + 17.5, 700 if chance > 0.5 else 400
        parts += [
            box(f"{key} room {n}", at, (LONG, THICK), GREY, 0.13),
            box(f"{key} bar {n}", at, (max(LONG * chance, 0.1), THICK), row.colour, 0.45),
            word(f"{key} answer {n}", LEFT + 8, low, answer, INK, "start", SMALL, bold),
        ]
        if chance > 0.5:  # it writes this one
            parts.append(word(f"{key} chance", RIGHT, low, f"{chance:.0%}", INK, "end", SMALL, 700))
    return parts
