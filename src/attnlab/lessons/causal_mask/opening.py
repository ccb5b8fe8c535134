"""Lesson 06 opens with a text that is read in six passes, and then in one, behind six curtains."""

from __future__ import annotations

from collections.abc import Sequence

from attnlab import small
from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, area, box, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, GROUND, ORANGE, PURPLE, Colour

TEXT = ("fox", "owl", "cat", ";", "fox", "owl", "cat")  # a row, and the same again
LAST, AGAIN = len(TEXT) - 1, TEXT.index(TEXT[0], 1)
PASSES = (1, 2, 5, 6)  # that are shown; in each as many words are there
HIGH, HEAD, TOP, TALL = 270, 55, 64, 34  # of the sheet; line over rows, and their top; of one
SEAM = 0.5  # by which a row's curtain reaches under the next one's
LEFT, STEP = 28, 42  # of rows; how wide a word's place is
PLACES = [LEFT + STEP * (n + 0.5) for n in range(len(TEXT))]
EDGE = LEFT + STEP * len(TEXT)  # where curtains end
ONLY, GUESS, ONE, TICK = 388, 370, 432, 35  # middles of guesses; of signs, right of one
LETTERS, COUNT = 20, 44  # sizes of words
FIRST, NAME = LEFT + STEP, (PURPLE, "start", 26, 600)  # what curtains are, over them
DARK, CLOTH, BEFORE = 0.3, 0.16, 0.7  # a place of weight 1; a curtain; words that do not ask
SIGNS = {  # by whether a guess is right
    True: (GREEN, [(-9, 0), (-3, 7), (10, -9)]),
    False: (GREY, [(-8, -8), (8, 8), (0, 0), (8, -8), (-8, 8)]),
}


def opening() -> Film:
    """The film."""
    layer, head = small.head("repeat")
    rows = small.weights(TEXT)[layer][head].tolist()
    alone = [next(iter(small.following(TEXT[:n], 1))) for n in range(1, len(TEXT))]
    in_one = [
        small.words[n] for n in small.load()(small.numbered(TEXT))[0, :LAST].argmax(-1).tolist()
    ]
    right = sum(guess == each for guess, each in zip(alone, TEXT[1:], strict=True))
    tells = (
        f"Pass 1: a model sees “{TEXT[0]}”, and guesses that the next word is “{alone[0]}”.",
        f"Pass 2: the next word was “{TEXT[1]}”. So that was wrong, and the model guesses again.",
        f"Pass 5: the second “{TEXT[0]}” listens to “{TEXT[1]}” ({max(rows[AGAIN]):.2f}), "
        "which followed the first, and guesses it.",
        f"Pass 6: “{alone[-1]}”. {LAST} guesses took {LAST} passes; {right} are right.",
    )
    return Film(
        "One pass, six guesses",
        [
            *(Frame(_alone(rows, alone, n), told) for n, told in zip(PASSES, tells, strict=True)),
            Frame(
                _in_one(alone, TEXT[1:], is_open=True),
                "Can one pass do it? All words are there, so each orange one could copy the next.",
            ),
            Frame(
                _in_one(alone, "?" * LAST),
                "So a curtain hides from each word what follows it: the mask. "
                "All six rows are one pass.",
            ),
            Frame(
                [*_listening(rows, LAST), *_in_one(alone, in_one)],
                "With it, one pass makes the same six guesses as six passes, both wrong ones too.",
            ),
        ],
        HIGH,
    )


def _alone(rows: list[list[float]], guesses: Sequence[str], n: int) -> list[Part]:
    """So many passes: each wrote a row, whose last word guesses. All else is still to come."""
    parts = _listening(rows, n)
    for row in range(1, len(TEXT)):
        (colour, weight), many = (INK, 600) if row == n else (GREY, 400), row if row <= n else 0
        parts += _row(row, many)
        parts.append(word(f"pass {row}", 10, _line(row), f"{row}", colour, "middle", SMALL, weight))
        if many:
            parts.append(word(f"guess {row}", ONLY, _line(row), guesses[row - 1], size=LETTERS))
        if row < n or n == LAST:
            parts.append(_sign(row, guesses, ONLY + TICK))
    parts.append(word("passes", 2, HEAD, "pass", GREY, "start", SMALL))
    return [*parts, word("hides", FIRST, HEAD, "still to come", *NAME), *_count(ONLY, n, GREY)]


def _in_one(alone: Sequence[str], guesses: Sequence[str], is_open: bool = False) -> list[Part]:
    """All rows in one pass, what they guess, or copy, and what six passes guessed."""
    parts, middle = list[Part](), (GUESS + ONE) / 2
    for row, (guess, kept) in enumerate(zip(guesses, alone, strict=True), 1):
        y, colour = _line(row), PURPLE if is_open else INK
        if is_open:
            parts.append(_cell(f"next {row}", row, row, PURPLE, CLOTH))
        elif guess == kept:
            parts.append(word(f"same {row}", middle, y, "=", GREY, size=LETTERS))
            parts.append(_sign(row, alone, ONE + TICK))
        parts += _row(row, len(TEXT) if is_open else row)
        parts.append(word(f"guess {row}", GUESS, y, kept, GREY, size=LETTERS))
        parts.append(word(f"one {row}", ONE, y, guess, colour, size=LETTERS, weight=600))
    high, low, tip, y = TOP + 1.5, TOP + LAST * TALL - 1.5, middle + 10, HEAD - 36
    for x, foot in ((LEFT - 10, 6), (EDGE + 10, -6)):
        bracket = [(x + foot, high), (x, high), (x, low), (x + foot, low)]
        parts.append(line(f"bracket {foot}", bracket, GREY, 3))
    arrow = [(middle - 10, y), (tip, y), (tip - 7, y - 6), (tip, y), (tip - 7, y + 6)]
    masked = line("becomes", arrow, INK, 3), word("hides", FIRST, HEAD, "the mask", *NAME)
    return [
        *parts,
        *(() if is_open else masked),
        *_count(GUESS, LAST, GREY),
        *_count(ONE, 1, INK, "one "),
    ]


def _count(x: float, n: int, colour: str | Colour, which: str = "") -> list[Part]:
    """So many passes, over their guesses."""
    return [
        word(f"{which}count", x, HEAD - 20, f"{n}", colour, size=COUNT, weight=700),
        word(f"{which}counted", x, HEAD, "passes" if n > 1 else "pass", colour, size=SMALL),
    ]


def _line(row: int) -> float:
    """Of the words of a row."""
    return TOP + TALL * (row - 0.5) + 0.35 * LETTERS


def _row(row: int, many: int) -> list[Part]:
    """So many words, of which one asks, and a curtain from there on; purple is what it hid."""
    top, x, parts = TOP + TALL * (row - 1), LEFT + STEP * many, list[Part]()
    for m, each in enumerate(TEXT[:many]):
        colour = ORANGE if m == row - 1 else INK if m < row else PURPLE
        weight, opacity = (600, 1) if m in (row - 1, row) else (400, BEFORE)
        look = colour, "middle", LETTERS, weight, opacity
        parts.append(word(f"word {m} of {row}", PLACES[m], _line(row), each, *look))
    low, hem, is_there = top + TALL + SEAM, min(x + 2, EDGE), float(0 < many <= LAST)
    corners = [(x, top), (EDGE, top), (EDGE, low), (x, low)]
    return [
        *parts,
        area(f"behind {row}", corners, GROUND),  # words that come are uncovered
        area(f"curtain {row}", corners, PURPLE, CLOTH),
        line(f"hem {row}", [(hem, top), (hem, low)], PURPLE, 4, is_there, cap="butt"),
    ]


def _listening(rows: list[list[float]], n: int) -> list[Part]:
    """To what words listen that come again, as dark as its weight."""
    cells = []
    for row in range(AGAIN + 1, n + 1):
        weight = max(rows[row - 1])
        place = rows[row - 1].index(weight)
        cells.append(_cell(f"listens {row}", row, place, BLUE, DARK * weight))
    return cells


def _cell(key: str, row: int, place: int, colour: Colour, dark: float) -> Part:
    """Around a word."""
    corner = LEFT + STEP * place + 1, TOP + TALL * (row - 1) + 4
    return box(key, corner, (STEP - 2, TALL - 8), colour, dark)


def _sign(row: int, guesses: Sequence[str], x: float) -> Part:
    """Whether a row's guess is the word that came."""
    colour, points = SIGNS[guesses[row - 1] == TEXT[row]]
    y = _line(row) - 0.35 * LETTERS
    return line(f"sign {row}", [(x + right, y + down) for right, down in points], colour, 4)
