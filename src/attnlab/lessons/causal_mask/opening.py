"""Lesson 06 opens with a text that is read in six passes, and then in one, behind six curtains."""

from __future__ import annotations

from collections.abc import Sequence

from attnlab import small
from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, WIDE, Part, area, box, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, GROUND, ORANGE, PURPLE, Colour

TEXT = ("fox", "owl", "cat", ";", "fox", "owl", "cat")  # a row, and the same again
LAST, AGAIN = len(TEXT) - 1, TEXT.index(TEXT[0], 1)
PASSES = (1, 2, 5, 6)  # that are shown; in each as many words are there
HIGH, HEAD, TOP, TALL = 270, 22, 34, 39  # of the sheet; lines over rows, and their top; of one
LEFT, STEP = 28, 43  # of rows; how wide a word's place is
PLACES = [LEFT + STEP * (n + 0.5) for n in range(len(TEXT))]
EDGE = LEFT + STEP * len(TEXT)  # where curtains end
GUESS, SAME, KEPT, TICK = 356, 387, 418, 35  # middles of guesses; of signs, right of a guess
LETTERS, LOUD, COUNT = 20, 26, 48  # sizes of words
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
            parts += _guessed(row, guesses, GUESS, row < n or n == LAST)
    x = (KEPT + WIDE) / 2
    return [
        *parts,
        word("hides", EDGE - 12, TOP + TALL + 10, "still to come", PURPLE, "end", LOUD, 600),
        word("heading", GUESS, HEAD, "guess", GREY, size=SMALL),
        word("passes", 2, HEAD, "pass", GREY, "start", SMALL),
        word("count", x, TOP + 3 * TALL, f"{n}", GREY, size=COUNT, weight=700),
        word("counted", x, TOP + 3 * TALL + 26, "passes" if n > 1 else "pass", GREY, size=SMALL),
    ]


def _in_one(alone: Sequence[str], guesses: Sequence[str], is_open: bool = False) -> list[Part]:
    """All rows in one pass, what they guess, or copy, and what six passes guessed."""
    parts = list[Part]()
    for row, (guess, kept) in enumerate(zip(guesses, alone, strict=True), 1):
        y, colour = _line(row), PURPLE if is_open else INK
        if is_open:
            parts.append(_cell(f"next {row}", row, row, PURPLE, CLOTH))
        elif guess == kept:
            parts.append(word(f"same {row}", SAME, y, "=", GREY, size=LETTERS))
        parts += _row(row, len(TEXT) if is_open else row)
        parts += _guessed(row, alone, KEPT)
        parts.append(word(f"one {row}", GUESS, y, guess, colour, size=LETTERS, weight=600))
    low, x = TOP + LAST * TALL - 3, 18
    bracket = [(x + 6, TOP + 3), (x, TOP + 3), (x, low), (x + 6, low)]
    mask = word("hides", EDGE - 12, TOP + TALL + 10, "the mask", PURPLE, "end", LOUD, 600)
    return [
        *parts,
        line("bracket", bracket, GREY, 3),
        word("pass 1", 9, (TOP + low) / 2 + 7, "1", size=SMALL, weight=600),
        word("heading", GUESS, HEAD, "1 pass", size=SMALL, weight=600),
        word("kept", KEPT + TICK / 2, HEAD, f"{LAST} passes", GREY, size=SMALL),
        word("passes", 2, HEAD, "pass", GREY, "start", SMALL),
        *([] if is_open else [mask]),
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
    low, hem, is_there = top + TALL, min(x + 2, EDGE), float(0 < many <= LAST)
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


def _guessed(row: int, guesses: Sequence[str], x: float, is_judged: bool = True) -> list[Part]:
    """A pass's guess, and whether it is the word that came."""
    guess, y = guesses[row - 1], _line(row)
    colour, points = SIGNS[guess == TEXT[row]]
    sign = [(x + TICK + right, y - 0.35 * LETTERS + down) for right, down in points]
    return [
        word(f"guess {row}", x, y, guess, size=LETTERS),
        *([line(f"sign {row}", sign, colour, 4)] if is_judged else []),
    ]
