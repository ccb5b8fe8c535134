"""Lesson 06 opens with a text that is read in six passes, and then in one, behind six curtains."""

from __future__ import annotations

from collections.abc import Sequence

from attnlab import small
from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, WIDE, Part, arc, box, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, GROUND, ORANGE, PURPLE

TEXT = ("fox", "owl", "cat", ";", "fox", "owl", "cat")  # a row, and the same again
LAST, AGAIN = len(TEXT) - 1, TEXT.index(TEXT[0], 1)
PASSES = (1, 2, 5, 6)  # that are shown; in each as many words are there
HIGH, COLUMN, STEP = 270, 66, 46  # of the sheet; how wide a word's place is; in rows
MIDDLES, ROWS = ([a + b * n for n in range(len(TEXT))] for a, b in ((42, COLUMN), (41, STEP)))
EDGE = ROWS[LAST] + STEP / 2  # where curtains of rows end
TOP, TALL = 36, 38  # of rows, under their headings
LARGE, LETTERS = 28, 21  # while words come; in rows
LINE, BAND, CARD = 142, 84, 52  # the middle of a line of words; heights of its curtain and cards
FLOOR, BOTTOM = LINE - CARD / 2 - 6, LINE + BAND / 2  # of arcs; of the curtain
NEAREST, FARTHER = 36, 0.45  # pull of arcs; more for each unit across
NEXT, GUESS, TICK = 369, 422, 467  # middles of what comes, of guesses, of their signs
DARK, PALE = 0.3, 0.12  # a place that gets weight 1; in a row that is not told of
LEAST = 0.1  # a weight that is drawn
SIGNS = {  # by whether a guess is right
    True: (GREEN, [(-9, 0), (-3, 7), (10, -9)]),
    False: (GREY, [(-8, -8), (8, 8), (0, 0), (8, -8), (-8, 8)]),
}


def opening() -> Film:
    """The film."""
    layer, head = small.head("repeat")
    rows = small.weights(TEXT)[layer][head].tolist()
    guesses = [next(iter(small.following(TEXT[:n], 1))) for n in range(1, len(TEXT))]
    right = sum(guess == each for guess, each in zip(guesses, TEXT[1:], strict=True))
    tells = (
        f"In pass 1 a model sees “{TEXT[0]}”, and guesses the next word of a given text.",
        f"In pass 2 “{TEXT[1]}” is there. Each word can listen to itself and to those before it.",
        f"In pass 5 the second “{TEXT[0]}” listens to “{TEXT[1]}” ({max(rows[AGAIN]):.2f}), "
        "which followed the first.",
        f"In pass 6 “{TEXT[1]}” listens to “{TEXT[2]}”. So six guesses took six passes.",
    )
    masked = (
        "So a curtain hides from each word what follows it: the mask. Six rows, one text.",
        "Now it is one pass. Each orange word listens most to a blue one, never ahead, and guesses "
        "the next.",
        f"{right} right; both missed words were new. The second “{TEXT[0]}” listens to “{TEXT[1]}” "
        f"({max(rows[AGAIN]):.2f}), as in pass 5, and guesses it.",
    )
    frames = [
        *(Frame(_alone(rows, n), told) for n, told in zip(PASSES, tells, strict=True)),
        Frame(_copied(), "In one pass all words are there, and six of them could copy the next."),
        *(Frame(_masked(rows, guesses, shown), told) for shown, told in enumerate(masked)),
    ]
    return Film("One pass, six guesses", frames, HIGH)


def _alone(rows: list[list[float]], n: int) -> list[Part]:
    """A pass of its own: as many words as it has, the last of which listens, and the curtain.

    The words of the next pass stand behind the curtain already, so that its edge uncovers them;
    but not under its card.
    """
    asks, behind = n - 1, PASSES[min(PASSES.index(n) + 1, len(PASSES) - 1)]
    to = max(range(n), key=lambda m: rows[asks][m])
    x, edge, half = MIDDLES[asks], MIDDLES[asks] + COLUMN / 2, 0.44 * COLUMN
    pull = NEAREST + FARTHER * (x - MIDDLES[to])
    says = word("hides", WIDE - 2, BOTTOM - BAND - 14, "still to come", PURPLE, "end", 28, 600)
    return [
        *_cells(rows[asks], n, MIDDLES, LINE, CARD),
        *(_coming(m, m == asks, m != n) for m in range(behind)),
        arc("listens", x, MIDDLES[to], FLOOR, rows[asks][to], ORANGE, thickest=7, pull=pull),
        word("pass", x, BOTTOM + 26, "pass", GREY, size=SMALL),
        word("count", x, BOTTOM + 62, f"{n}", GREY, size=36, weight=600),
        *_cloth("curtain", BOTTOM - BAND, BAND, edge, WIDE),
        *([says] if n < PASSES[2] else []),
        box(f"card {n}", (MIDDLES[n] - half, LINE - CARD / 2), (2 * half, CARD), GROUND),
        word(f"guess {n}", MIDDLES[n], LINE + 10, "?", size=LARGE),
    ]


def _coming(n: int, is_asking: bool, opacity: float = 1) -> Part:
    """A word of the one line, large."""
    colour, weight = (ORANGE, 600) if is_asking else (INK, 400)
    return word(
        f"word {n}", MIDDLES[n], LINE + 10, TEXT[n], colour, "middle", LARGE, weight, opacity
    )


def _cells(
    row: Sequence[float],
    n: int,
    middles: Sequence[float],
    y: float,
    high: float,
    dark: float = DARK,
) -> list[Part]:
    """The places to which a pass's last word listens, each as dark as its weight."""
    half = 0.44 * (middles[1] - middles[0])
    return [
        box(f"{n - 1} to {m}", (middles[m] - half, y - high / 2), (2 * half, high), BLUE, fill)
        for m, fill in ((m, dark * row[m]) for m in range(n) if row[m] >= LEAST)
    ]


def _cloth(key: str, top: float, high: float, left: float, right: float) -> list[Part]:
    """A curtain, through which nothing can be seen, and its hem."""
    hem = [(left, top), (left, top + high)]
    return [
        box(key, (left, top), (right - left, high), GROUND),
        box(f"{key}’s face", (left, top), (right - left, high), PURPLE, 0.14),
        line(f"{key}’s hem", hem, PURPLE, 4, float(left < right), cap="butt"),
    ]


def _copied() -> list[Part]:
    """All words, and what each would be handed that copies the next."""
    cloths, arcs = list[Part](), list[Part]()
    for n in range(LAST):
        to, start = MIDDLES[n] + 10, MIDDLES[n + 1] - 10
        tip = [(to - 8, FLOOR - 9), (to, FLOOR), (to + 8, FLOOR - 9)]
        cloths += _cloth(f"curtain {n + 1}", TOP + TALL * n, TALL, EDGE, EDGE)
        arcs += [
            arc(f"copied {n}", start, to, FLOOR, 1, ORANGE, thickest=5, pull=66),
            line(f"copied {n} tip", tip, ORANGE, 5),
        ]
    middle = (MIDDLES[0] + MIDDLES[LAST]) / 2
    return [
        *cloths,
        *(_coming(n, n < LAST) for n in range(len(TEXT))),
        *arcs,
        word("copy", middle, FLOOR - 72, "copy?", ORANGE, size=36, weight=600),
        word("one", middle, BOTTOM + 50, "one pass", GREY, size=28, weight=600),
        *_cloth("curtain", BOTTOM - BAND, BAND, WIDE, WIDE),
    ]


def _masked(rows: list[list[float]], guesses: Sequence[str], shown: int) -> list[Part]:
    """For each pass a row: its word, pale those before it, a curtain, and what came and is guessed.

    Then it is shown to what words listen and what is guessed, and then what is right, and what is
    new. There paler is what words listen to that come for the first time.
    """
    cloths, cells, parts = list[Part](), list[Part](), list[Part]()
    for n, guess in enumerate(guesses, 1):
        top, asks = TOP + TALL * (n - 1), n - 1
        middle, high = top + TALL / 2, TALL - 6
        y, is_again = middle + 0.35 * LETTERS, asks >= AGAIN
        if shown:
            dark = DARK if shown == 1 or is_again else PALE
            cells += _cells(rows[asks], n, ROWS, middle, high, dark)
        else:
            parts.append(word(f"row {n}", 10, y, f"{n}", GREY, size=SMALL))
        lit = {cell.key for cell in cells}
        for m in range(asks):
            look = TEXT[m], INK, "middle", LETTERS, 400, 1 if f"{asks} to {m}" in lit else 0.7
            parts.append(word(f"word {m} of {n}", ROWS[m], y, *look))
        parts += [
            word(f"word {asks}", ROWS[asks], y, TEXT[asks], ORANGE, size=LETTERS, weight=600),
            word(f"next {n}", NEXT, y, TEXT[n], size=LETTERS),
            word(f"guess {n}", GUESS, y, guess if shown else "?", size=LETTERS),
        ]
        cloths += _cloth(f"curtain {n}", top, TALL, ROWS[asks] + STEP / 2, EDGE)
        if shown == 2:
            colour, points = SIGNS[guess == TEXT[n]]
            sign = [(TICK + right, middle + down) for right, down in points]
            parts.append(line(f"sign {n}", sign, colour, 4))
            if TEXT[n] not in TEXT[:n]:
                parts.append(word(f"new {n}", EDGE - 10, y, "new", PURPLE, "end", SMALL))
    parts += [
        word("next", NEXT, 24, "next", GREY, size=SMALL),
        word("guesses", GUESS, 24, "guess", GREY, size=SMALL),
        word("mask", EDGE, 24, "the mask", PURPLE, "end", SMALL, 600),
    ]
    if shown:  # all rows are one pass
        low = TOP + 6 * TALL - 3
        ends = [(16, TOP + 3), (8, TOP + 3), (8, low), (16, low)]
        parts.append(line("one pass", ends, GREY, 3))
        parts.append(word("one", 6, 24, "one pass", GREY, "start", SMALL))
    return [*cloths, *cells, *parts]
