"""Lesson 05 opens with three scores, raised alike: each book pulls the answer to its page."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, Place, box, curve, dot, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, ORANGE, PURPLE

# The lesson's: scores of three books, and the number on the page of each.
BOOKS, SCORES, VALUES = ("A", "B", "C"), (0.0, 0.0, math.log(2)), (8.0, 4.0, 2.0)
COLOURS = (GREEN, BLUE, PURPLE)
ORDER, STEP = (0, 2, 1), 0.1  # which score is raised when, and by how much
HIGH, BOTTOM, UNIT = 262, 286, 31  # of the sheet; y of a value of 0; px for 1
LEFT, RIGHT, THICK = 152, 242, 48  # where ribbons begin and end; px for a share of 1
PAGE, MIX = (42, 36), (64, 44)  # sizes of a page and of the answer
BOOK, AT = 26, 59  # x of the books' names, and of their pages' left edges
HEADS = 14  # line of the words over both
ASIDE = 14  # from a ribbon's end to the answer
NEAR, PULLS = LEFT + 6, (338, 376, 414)  # x of arrows at the pages, and of those at the answer
SCALE = 474  # x of the answer's scale, on which `STEP` is as high as 1 is elsewhere
HEAD, LEAST = 8, 1e-9  # of an arrow; a length that is one
Numbers = Sequence[float]


def opening() -> Film:
    """The film."""
    z = answer(SCORES)
    far, pulls = [value - z for value in VALUES], slopes(SCORES)
    mine = [f"{share:.2f}" for share in weights(SCORES)]
    signed = ", ".join(map(_signed, pulls))
    rest = [*_ribbons(SCORES), *_scale()]
    moved = [*rest, *_moved(ORDER, pulls)]
    says = ("the answer to", "the answer falls to", "the answer stays at")
    frames = [
        Frame(
            [*rest, *_moved(())],
            f"Each book has a number on its page. Which one's score moves the answer? "
            f"Each is raised by {STEP:g}.",
        ),
        *(_raised(n + 1, says) for n, says in enumerate(says)),
        Frame(moved, f"Each movement, divided by the step, is the slope of a score: {signed}."),
        Frame(
            [*moved, *_level(z), *_arrows(far), *_beside("way", far, (-70, 54))],
            f"Why? A's page is {far[0]:g} above the answer, B's level with it, "
            f"C's {-far[2]:g} below.",
        ),
        Frame(
            [*moved, *_level(z), *_arrows(pulls), *_beside("pulls", pulls, (-16, 30))],
            f"A book pulls by its share of the way to its page: "
            f"{mine[0]} of {_signed(far[0])} is {_signed(pulls[0])}, "
            f"{mine[2]} of {_signed(far[2])} is {_signed(pulls[2])}.",
        ),
    ]
    return Film("Which book pulls the answer, and how hard?", frames, HIGH)


def weights(scores: Numbers) -> list[float]:
    """(3,), softmax."""
    powers = [math.exp(score) for score in scores]
    return [power / sum(powers) for power in powers]


def answer(scores: Numbers) -> float:
    """What the weights of these scores make of the pages."""
    return sum(share * value for share, value in zip(weights(scores), VALUES, strict=True))


def slopes(scores: Numbers) -> list[float]:
    """(3,), of the answer in each score: a (v − z)."""
    z = answer(scores)
    pairs = zip(weights(scores), VALUES, strict=True)
    return [share * (value - z) for share, value in pairs]


def raised(book: int) -> list[float]:
    """(3,), the scores when one of them has gone up by a step."""
    return [score + STEP * (n == book) for n, score in enumerate(SCORES)]


def _raised(many: int, says: str) -> Frame:
    """The last of so many books is raised; what those before it did is seen still."""
    book = ORDER[many - 1]
    scores = raised(book)
    share, z = weights(scores)[book], answer(scores)
    step = f"step {BOOKS[book]}"
    up = word(step, BOOK, _y(VALUES[book]) + 29, f"+{STEP:g}", ORANGE, size=20, weight=700)
    return Frame(
        [*_ribbons(scores), *_scale(), *_moved(ORDER[:many]), up],
        f"Raise {BOOKS[book]}'s score by {STEP:g}: its share grows to {share:.2f}, {says} {z:.2f}.",
    )


def _y(value: float) -> float:
    return BOTTOM - UNIT * value


def _ribbons(scores: Numbers) -> list[Part]:
    """From each page to the answer, as thick as its weight."""
    shares, z = weights(scores), answer(scores)
    middle = AT + PAGE[0] / 2
    parts = [
        word("books", BOOK, HEADS, "book", GREY, size=SMALL),
        word("pages", middle, HEADS, "page", GREY, size=SMALL),
    ]
    for name, share, value, colour in zip(BOOKS, shares, VALUES, COLOURS, strict=True):
        thick = THICK * share
        above = _y(value) - thick / 2 - 6 if name != "C" else _y(value) + thick / 2 + 18
        text = f"share {share:.2f}" if name == "A" else f"{share:.2f}"
        parts += [
            curve(f"ribbon {name}", (LEFT, _y(value)), (RIGHT, _y(z)), colour, thick, 0.5),
            word(f"share {name}", LEFT + 17, above, text, colour, "start", SMALL),
            box(f"page {name}", (AT, _y(value) - PAGE[1] / 2), PAGE, colour, 0.12, 2),
            word(f"says {name}", middle, _y(value) + 8, f"{value:g}", size=24, weight=600),
            word(f"book {name}", BOOK, _y(value) + 7, name, colour, weight=700),
        ]
    wide, high = MIX
    x, y = RIGHT + ASIDE, _y(z)
    return [
        *parts,
        box("mix", (x, y - high / 2), MIX, INK, 0.06, 2),
        word("answer", x + wide / 2, y + 9, f"{z:.2f}", INK, size=24, weight=700),
        word("its name", x + wide / 2, y - high / 2 - 8, "answer", INK, size=SMALL),
    ]


def _scale() -> list[Part]:
    """The answer's, enlarged, around where it is at first."""
    z = answer(SCORES)
    parts = [
        line("scale", [(SCALE, _y(z) - UNIT), (SCALE, _y(z) + UNIT)], GREY, 2),
        line("at first", [(PULLS[0] - 14, _y(z)), (PULLS[-1] + 12, _y(z))], GREY, 2, 1, "5 5"),
        word("enlarged", 480, _y(z) - UNIT - 32, "enlarged", GREY, "end", SMALL),
    ]
    for n in (-1, 0, 1):
        y = _y(z) - UNIT * n
        parts += [
            line(f"tick {n}", [(SCALE - 6, y), (SCALE, y)], GREY, 2),
            word(f"at {n}", SCALE - 10, y + 6, f"{z + STEP * n:.1f}", GREY, "end", SMALL),
        ]
    return parts


def _moved(books: Sequence[int], pulls: Numbers = ()) -> list[Part]:
    """How far raising these has moved the answer, on its scale; the others' arrows are to grow."""
    z = answer(SCORES)
    parts = []
    for n, (name, x, colour) in enumerate(zip(BOOKS, PULLS, COLOURS, strict=True)):
        by = (answer(raised(n)) - z) / STEP if n in books else 0
        seen = n in books
        if VALUES[n] == z:
            parts.append(dot(f"moved {name}", x, _y(z), 7, colour, seen))
        else:
            parts.append(line(f"moved {name}", _arrow(x, _y(z), -UNIT * by), colour, 5, seen))
        end, falls = _y(z) - UNIT * by, by < -LEAST
        y = end + 26 if falls else end - 12
        if seen:
            parts.append(word(f"whose {name}", x, y, name, colour, size=SMALL, weight=600))
        if pulls:
            beyond = y + 22 if falls else y - 19
            said = _signed(pulls[n])
            parts.append(word(f"slope {name}", x, beyond, said, ORANGE, size=22, weight=700))
    return parts


def _level(z: float) -> list[Part]:
    """How high the answer is, at the pages."""
    return [line("level", [(LEFT - 2, _y(z)), (RIGHT + ASIDE, _y(z))], INK, 2, 0.8, "5 5")]


def _arrow(x: float, start: float, by: float) -> list[Place]:
    """Up where it is below 0: its shaft, and its head, which is no longer than it is."""
    end, back = start + by, -math.copysign(min(HEAD, abs(by)), by)
    return [(x, start), (x, end), (x - HEAD, end + back), (x, end), (x + HEAD, end + back)]


def _arrows(lengths: Numbers) -> list[Part]:
    """From the answer's height up or down, at the pages; a dot where there is no way."""
    start = _y(answer(SCORES))
    return [
        dot(f"pull {name}", NEAR, start, 7, ORANGE)
        if abs(length) < LEAST
        else line(f"pull {name}", _arrow(NEAR, start, -UNIT * length), ORANGE, 5)
        for name, length in zip(BOOKS, lengths, strict=True)
    ]


def _beside(what: str, lengths: Numbers, away: Place) -> list[Part]:
    """What these say, above the answer's height and below: a way is no pull, and has its own."""
    start, (above, below) = _y(answer(SCORES)), away
    return [
        word(f"{what} {name}", NEAR - 13, y, _signed(length), ORANGE, "end", 24, 700)
        for name, length in zip(BOOKS, lengths, strict=True)
        if (y := start + (above if length > 0 else below)) and abs(length) > LEAST
    ]


def _signed(slope: float) -> str:
    return f"{round(slope):+d}".replace("-", "−") if round(slope) else "0"
