"""Lesson 06 opens with a text that comes word by word, and that becomes six exercises."""

from __future__ import annotations

from collections.abc import Sequence

from attnlab import small
from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, arc, box, line, ring, word
from attnlab.figures.palette import BLUE, GREY, GROUND, ORANGE, PURPLE

TEXT = ("fox", "owl", "cat", ";", "fox", "owl", "cat")  # a row, and the same again
LAST = len(TEXT) - 1
ASKS = 4  # the first word that came before
LETTERS, LARGE = 21, 26  # of exercises; while words come
STOPS = (0, 1, ASKS, LAST)  # words at whose coming the film rests
HIGH, FLOOR, LINE, STEPS = 270, 148, 176, 206  # of the sheet; of arcs, words and numbers
LEFT, RIGHT, TOP, LOW = 2, 478, 16, 226  # of exercises and curtains
APART, TALL, DOWN = 45, 40, 32  # from one exercise to the next; how tall it is; its line of words
NEAREST, FARTHER = 30, 0.46  # pull of arcs; more for each unit across
BESIDE = 10  # how far beside a word's ring they end
COPIES = 60  # how far an arc is pulled up that is only asked about
RING, FLAT, FURTHER = 4, 3, 3.6  # in an exercise: a ring's radius; pull of arcs, and for each word
OVER = 19  # how far over a line of words arcs end
COLUMN = 60  # how wide a word's is
MIDDLES = [56 + COLUMN * n for n in range(len(TEXT))]
TAG = 23  # half of a guess's width
THICKEST = 6  # of arcs
LEAST = 0.02  # a weight that is drawn


def opening() -> Film:
    """The film."""
    layer, head = small.head("repeat")
    rows = small.weights(TEXT)[layer][head].tolist()
    guesses = [next(iter(small.following(TEXT[:n], 1))) for n in range(1, len(TEXT))]
    right = sum(guess == each for guess, each in zip(guesses, TEXT[1:], strict=True))
    row, asks = rows[ASKS], TEXT[ASKS]
    to = max(range(ASKS), key=lambda m: row[m])
    tells = (
        f"A given text comes word by word. “{TEXT[0]}” is there, the rest is not.",
        f"“{TEXT[1]}” comes in step 1. Each word can listen to itself and to those before it.",
        f"The second “{asks}” listens to “{TEXT[to]}” ({row[to]:.2f}), which followed the first.",
        f"“{TEXT[-2]}” and “{TEXT[-1]}” follow again. Six more words took six steps.",
    )
    exercises = (
        "So each bold word gets a curtain of its own: one text, six exercises.",
        "Each bold word listens as it did step by step: never ahead.",
        "What comes next? On each curtain stands the model’s likeliest word.",
        f"One step, six guesses: {right} right, {len(guesses) - right} struck. "
        "Where the text repeats, all are right.",
    )
    frames = [
        *(Frame(_writing(rows, n), told) for n, told in enumerate(tells)),
        Frame(
            _copied(),
            "In training the text is there at once, and each word could copy the next.",
        ),
        *(Frame(_exercises(rows, guesses, shown), says) for shown, says in enumerate(exercises)),
    ]
    return Film("One text, six exercises", frames, HIGH)


def _writing(rows: list[list[float]], stop: int) -> list[Part]:
    """Words up to one that is in focus, and the curtain.

    The words until the next stop stand behind the curtain already, so that its edge uncovers them.
    """
    at, behind = STOPS[stop], STOPS[min(stop + 1, len(STOPS) - 1)]
    listens = min(at, LAST - 1)
    return [*_arcs(rows, listens), *_text(behind, at), *_curtain(at)]


def _text(last: int, focus: int) -> list[Part]:
    """Words up to a last one, and in which step each came."""
    parts = []
    for n in range(last + 1):
        parts.append(_coming(f"word {n}", n, n == focus))
        if n:
            says = f"step {n}" if n == 1 else f"{n}"
            parts.append(word(f"step {n}", MIDDLES[n], STEPS, says, GREY, size=SMALL))
    return parts


def _arcs(rows: list[list[float]], last: int) -> list[Part]:
    """Of words up to a last one, which is in focus."""
    parts = []
    for n in range(last + 1):
        colour, opacity = (ORANGE, 1) if n == last else (BLUE, 0.5)
        for m in range(n + 1):
            key, weight = f"{n} to {m}", rows[n][m]
            if weight < LEAST:
                continue
            if n == m:
                parts.append(ring(key, MIDDLES[n], FLOOR + 4, weight, colour, opacity))
                continue
            ends = MIDDLES[n], MIDDLES[m] + BESIDE
            pull, thick = NEAREST + FARTHER * (ends[0] - ends[1]), THICKEST
            each = arc(key, *ends, FLOOR, weight, colour, opacity, thickest=thick, pull=pull)
            parts.append(each)
    return parts


def _coming(key: str, n: int, is_focus: bool, opacity: float = 1) -> Part:
    """A word of the one line, large."""
    colour, weight = (ORANGE, 600) if is_focus else (INK, 400)
    return word(key, MIDDLES[n], LINE, TEXT[n], colour, "middle", LARGE, weight, opacity)


def _edge(n: int) -> float:
    """Between a word and the next; after the last one, where the sheet ends."""
    return MIDDLES[n] + COLUMN / 2 if n < LAST else RIGHT


def _curtain(at: int) -> list[Part]:
    """A curtain from behind a word to the end."""
    left = _edge(at)
    says = word("hides", (left + RIGHT) / 2, (TOP + LOW) / 2 + 7, "still to come", PURPLE)
    return [*_cloth("curtain", TOP, LOW - TOP, left), *([says] if RIGHT - left > 200 else [])]


def _cloth(key: str, top: float, high: float, left: float) -> list[Part]:
    """Nothing can be seen through it."""
    corner, size = (left, top), (RIGHT - left, high)
    edge = [(left, top), (left, top + high)]
    return [
        box(f"{key} behind", corner, size, GROUND),
        box(key, corner, size, PURPLE, 0.16),
        line(f"{key} edge", edge, PURPLE, 3, 1 if left < RIGHT else 0),
    ]


def _guess(n: int, y: float, guess: str, shown: int) -> list[Part]:
    """A tag on the curtain, where the next word would be; a wrong guess is struck and corrected."""
    x, right = MIDDLES[n], shown < 3 or guess == TEXT[n]
    corner, size = (x - TAG, y - 20), (2 * TAG, 25)
    parts = [
        box(f"card {n}", corner, size, GROUND),
        box(f"tag {n}", corner, size, ORANGE if right else GREY, 0.2, 1.5),
        word(f"guess {n}", x, y, guess if shown > 1 else "?", size=LETTERS),
    ]
    if shown < 3:
        return parts
    if right:
        tick = [(x + TAG + left, y - up) for left, up in ((8, 7), (13, 2), (23, 14))]
        return [*parts, line(f"right {n}", tick, ORANGE, 3.5)]
    return [
        *parts,
        line(f"struck {n}", [(x - TAG + 4, y - 5), (x + TAG - 4, y - 5)], GREY, 2),
        word(f"answer {n}", MIDDLES[n + 1], y, TEXT[n], size=LETTERS),
    ]


def _top(n: int) -> float:
    """Of an exercise."""
    return 2 + APART * (n - 1)


def _copied() -> list[Part]:
    """All words, and where each would look that copies the next."""
    copies = [
        _coming(f"word {m} of {n}", m, False, 0) for n in range(1, LAST) for m in range(n)
    ]  # that are going to lie over each other's lines
    drawn_in = [
        part for n in range(1, len(TEXT)) for part in _cloth(f"curtain {n}", _top(n), TALL, RIGHT)
    ]
    parts = [*copies, *(_coming(f"word {n}", n, True) for n in range(len(TEXT)))]
    for n in range(LAST):
        ends = MIDDLES[n] + 5, MIDDLES[n + 1] - 5
        parts.append(arc(f"copied {n}", *ends, FLOOR, 0.5, ORANGE, dashes="2 8", pull=COPIES))
    middle, high = (MIDDLES[0] + MIDDLES[LAST]) / 2, FLOOR - 0.75 * COPIES - 18
    return [*parts, word("copy", middle, high, "copy?", ORANGE, size=24, weight=600), *drawn_in]


def _exercises(rows: list[list[float]], guesses: Sequence[str], shown: int) -> list[Part]:
    """For each word the text so far, and a curtain before the rest, with a tag for a guess.

    Then it is shown, one after the other, to whom each listens, what it guesses, and the answers.
    """
    parts = []
    for n in range(1, len(TEXT)):
        top, asks = _top(n), n - 1
        y = top + DOWN
        parts += [
            box(f"row {n}", (LEFT, top), (RIGHT - LEFT, TALL), GREY, 0.1),
            word(f"exercise {n}", 16, y, f"{n}", GREY, size=SMALL),
        ]
        for m in range(n):
            key = f"word {m}" if n == LAST else f"word {m} of {n}"
            weight = 700 if m == asks else 400
            parts.append(word(key, MIDDLES[m], y, TEXT[m], size=LETTERS, weight=weight))
        if shown:
            parts += _listens(rows[asks], asks, y)
        parts += [
            *_cloth(f"curtain {n}", top, TALL, _edge(asks)),
            *_guess(n, y, guesses[asks], shown),
        ]
    return parts


def _listens(row: Sequence[float], asks: int, y: float) -> list[Part]:
    """To which words, right over its line."""
    x, floor, parts = MIDDLES[asks], y - OVER, []
    for m in (m for m in range(asks + 1) if row[m] >= LEAST):
        key, pull = f"{asks} to {m}", FLAT + FURTHER * (asks - m)
        if m == asks:
            parts.append(ring(key, x, floor, row[m], BLUE, 0.8, RING, thickest=4))
        else:
            parts.append(arc(key, x, MIDDLES[m], floor, row[m], BLUE, 0.8, thickest=4, pull=pull))
    return parts
