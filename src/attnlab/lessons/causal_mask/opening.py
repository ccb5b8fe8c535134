"""Lesson 06 opens with a text that is read in six passes, and then in one, behind six curtains."""

from __future__ import annotations

from collections.abc import Sequence

from attnlab import small
from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, WIDE, Part, arc, box, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, GROUND, ORANGE, PURPLE, Colour

TEXT = ("fox", "owl", "cat", ";", "fox", "owl", "cat")  # a row, and the same again
LAST = len(TEXT) - 1
PASSES = (1, 2, 5, 6)  # that are shown; in each as many words are there
HIGH, COLUMN, TALL = 270, 59, 45  # of the sheet; how wide a word's place is; how tall a pass's row
MIDDLES = [50 + COLUMN * n for n in range(len(TEXT))]
EDGES = [middle + COLUMN / 2 for middle in MIDDLES]  # where curtains begin, and end
LARGE, LETTERS = 27, 22  # while words come; in rows
LINE, FLOOR = 190, 150  # of words; of arcs
PASS, COUNT = 226, 256  # lines of the word "pass" and of its number
NEAREST, FARTHER = 34, 0.75  # pull of arcs; more for each unit across
FOLD = 20  # from one of a curtain's folds to the next
TICK = 458  # middle of what says whether a guess is right
CELL = 25  # half of how wide a place to listen to is
LEAST = 0.1  # a weight that is drawn


def opening() -> Film:
    """The film."""
    layer, head = small.head("repeat")
    rows = small.weights(TEXT)[layer][head].tolist()
    guesses = [next(iter(small.following(TEXT[:n], 1))) for n in range(1, len(TEXT))]
    right = sum(guess == each for guess, each in zip(guesses, TEXT[1:], strict=True))
    again_at = TEXT.index(TEXT[0], 1)
    tells = (
        f"In pass 1 a model sees “{TEXT[0]}”, and guesses the next word of a given text.",
        f"In pass 2 “{TEXT[1]}” is there. Each word can listen to itself and to those before it.",
        f"In pass 5 the second “{TEXT[0]}” listens to “{TEXT[1]}” ({max(rows[again_at]):.2f}), "
        "which followed the first.",
        f"In pass 6 “{TEXT[1]}” listens to “{TEXT[2]}”. So six guesses took six passes.",
    )
    masked = (
        "So each word gets a curtain over what follows it: the mask.",
        "Now it is one pass. Each orange word listens most to a blue one, as before: never ahead.",
        "What comes next? On each curtain stands the model’s likeliest word.",
        f"One pass, six guesses: {right} right, among them all {len(TEXT) - again_at} of the "
        "repeat.",
    )
    frames = [
        *(Frame(_alone(rows, n), told) for n, told in zip(PASSES, tells, strict=True)),
        Frame(_copied(), "In one pass all words are there, and each could copy the next."),
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
    x, across = MIDDLES[asks], MIDDLES[asks] - MIDDLES[to]
    pull = NEAREST + FARTHER * across
    says = word("hides", (EDGES[asks] + WIDE) / 2, 96, "still to come", PURPLE, size=30, weight=600)
    return [
        *_cells(rows[asks], n, LINE - 9, 46),
        *(_coming(f"word {m}", m, m == asks, m != n) for m in range(behind)),
        arc("listens", x, MIDDLES[to], FLOOR, rows[asks][to], ORANGE, thickest=7, pull=pull),
        word("pass", x, PASS, "pass", GREY, size=SMALL),
        word("count", x, COUNT, f"{n}", GREY, size=28, weight=600),
        *_cloth("curtain", 0, HIGH, EDGES[asks], WIDE),
        *([says] if n < PASSES[2] else []),
        *_card(n, LINE - 9, 44, "?", LARGE),
    ]


def _coming(key: str, n: int, is_asking: bool, opacity: float = 1) -> Part:
    """A word of the one line, large."""
    colour, weight = (ORANGE, 600) if is_asking else (INK, 400)
    return word(key, MIDDLES[n], LINE, TEXT[n], colour, "middle", LARGE, weight, opacity)


def _cells(row: Sequence[float], n: int, middle: float, high: float) -> list[Part]:
    """The places to which a pass's last word listens, each as dark as its weight."""
    return [
        box(f"{n - 1} to {m}", (MIDDLES[m] - CELL, middle - high / 2), (2 * CELL, high), BLUE, fill)
        for m, fill in ((m, 0.3 * row[m]) for m in range(n) if row[m] >= LEAST)
    ]


def _cloth(key: str, top: float, high: float, left: float, right: float) -> list[Part]:
    """A curtain, through which nothing can be seen, its folds and its hem."""
    corner, size, middle = (left, top), (right - left, high), top + high / 2
    folds = [(right, middle), (left, middle)]
    dashes = f"{0.4 * FOLD} {0.6 * FOLD}"
    hem = [(left, top), (left, top + high)]
    return [
        box(key, corner, size, GROUND),
        box(f"{key}’s face", corner, size, PURPLE, 0.2),
        line(f"{key}’s folds", folds, PURPLE, high, 0.07, dashes, "butt"),
        line(f"{key}’s hem", hem, PURPLE, 4, float(left < right), cap="butt"),
    ]


def _card(
    n: int, middle: float, high: float, says: str, size: float, colour: str | Colour = INK
) -> list[Part]:
    """On the curtain, in the next word's place: what is guessed."""
    corner = (MIDDLES[n] - CELL, middle - high / 2)
    return [
        box(f"card {n}", corner, (2 * CELL, high), GROUND),
        word(f"guess {n}", MIDDLES[n], middle + 0.35 * size, says, colour, size=size),
    ]


def _copied() -> list[Part]:
    """All words, and where each would look that copies the next."""
    copies = [
        _coming(f"word {m} of {n}", m, False, 0) for n in range(1, LAST) for m in range(n)
    ]  # that are going to lie over each other's lines
    aside = _cloth("curtain", 0, HIGH, WIDE, WIDE)
    drawn_in = [
        part
        for n in range(1, len(TEXT))
        for part in _cloth(f"curtain {n}", TALL * (n - 1), TALL, EDGES[LAST], EDGES[LAST])
    ]
    parts = [*(_coming(f"word {n}", n, True) for n in range(len(TEXT))), *copies]
    for n in range(LAST):
        ends, pull = (MIDDLES[n] + 6, MIDDLES[n + 1] - 6), NEAREST + FARTHER * COLUMN
        parts.append(arc(f"copied {n}", *ends, FLOOR, 0.5, ORANGE, thickest=7, pull=pull))
    middle = (MIDDLES[0] + MIDDLES[LAST]) / 2
    return [
        *parts,
        word("copy", middle, 60, "copy?", ORANGE, size=36, weight=600),
        *aside,
        *drawn_in,
    ]


def _masked(rows: list[list[float]], guesses: Sequence[str], shown: int) -> list[Part]:
    """For each pass a row: its words, and a curtain before the rest, with a card for its guess.

    Then it is shown, one after the other, to what words listen, what is guessed, and what is right.
    """
    cells, parts, texts = [], [], []
    for n, guess in enumerate(guesses, 1):
        top, asks = TALL * (n - 1), n - 1
        middle = top + TALL / 2
        y, is_right = middle + 0.35 * LETTERS, guess == TEXT[n]
        cells += _cells(rows[asks], n, middle, TALL - 6) if shown else []
        if not shown:
            parts.append(word(f"row {n}", 13, y, f"{n}", GREY, size=SMALL))
        for m in range(n):
            key = f"word {m}" if n == LAST else f"word {m} of {n}"
            colour, weight = (ORANGE, 600) if m == asks else (INK, 400)
            parts.append(word(key, MIDDLES[m], y, TEXT[m], colour, size=LETTERS, weight=weight))
        parts += _cloth(f"curtain {n}", top, TALL, EDGES[asks], EDGES[LAST])
        is_struck = shown > 2 and not is_right
        says, ink = guess if shown > 1 else "?", GREY if is_struck else INK
        texts += _card(n, middle, TALL - 12, says, LETTERS, ink)
        if is_struck:  # and what did come stands where the others have a tick
            ends = [(MIDDLES[n] - CELL + 5, middle), (MIDDLES[n] + CELL - 5, middle)]
            texts += [
                line(f"struck {n}", ends, GREY, 2),
                word(f"answer {n}", TICK, y, TEXT[n], size=19, weight=600),
            ]
        elif shown > 2:
            tick = [(TICK + right, middle + down) for right, down in ((-9, 0), (-3, 7), (10, -9))]
            texts.append(line(f"right {n}", tick, GREEN, 5))
    mask = word("mask", EDGES[LAST] - 14, 38, "the mask", PURPLE, "end", size=32, weight=600)
    if shown:  # all rows are one pass
        ends = [(22, 6), (12, 6), (12, HIGH - 6), (22, HIGH - 6)]
        parts.append(line("one pass", ends, GREY, 3))
    return [*cells, *parts, *texts, mask]
