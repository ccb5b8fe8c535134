"""Lesson 06 opens with a text that comes word by word, and that becomes six exercises."""

from __future__ import annotations

from collections.abc import Sequence

from attnlab import small
from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, LETTER, SMALL, Part, arc, box, line, places, ring, word
from attnlab.figures.palette import BLUE, GREY, GROUND, ORANGE, PURPLE

TEXT = ("fox", "owl", "cat", ";", "fox", "owl", "cat")  # a row, and the same again
LAST = len(TEXT) - 1
ASKS = 4  # the first word that came before
LETTERS, GAP = 21, 18  # of exercises
LARGE, WIDER = 26, 22  # while words come
STOPS = (0, 1, ASKS, LAST)  # words at whose coming the film rests
HIGH, FLOOR, LINE, STEPS = 270, 148, 176, 206  # of the sheet; of arcs, words and numbers
RIGHT, TOP, LOW = 476, 16, 226  # of the curtain
FOLDS = "0 16 16 0"  # how wide they are
HEAD, FIRST, APART, TALL = 14, 44, 43.5, 24  # of exercises: lines; from one to the next; a curtain
NEAREST, FARTHER = 30, 0.46  # pull of arcs; more for each unit across
BESIDE = 10  # how far beside a word's ring they end
COPIES = 60  # how far an arc is pulled up that is only asked about
RING, FLAT = 4, 2  # a ring's radius between two lines; how far arcs are pulled up there
FURTHER = 4  # and how much further for each word between
OVER = 21  # how far over a line of words arcs end
MIDDLES = places(TEXT, LETTERS, GAP, left=28)
COMING = places(TEXT, LARGE, WIDER, left=12)
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
            parts.append(word(f"step {n}", COMING[n], STEPS, says, GREY, size=SMALL))
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
                parts.append(ring(key, COMING[n], FLOOR + 4, weight, colour, opacity))
                continue
            ends = COMING[n], COMING[m] + BESIDE
            pull, thick = NEAREST + FARTHER * (ends[0] - ends[1]), THICKEST
            each = arc(key, *ends, FLOOR, weight, colour, opacity, thickest=thick, pull=pull)
            parts.append(each)
    return parts


def _coming(key: str, n: int, is_focus: bool, opacity: float = 1) -> Part:
    """A word of the one line, large."""
    colour, weight = (ORANGE, 600) if is_focus else (INK, 400)
    return word(key, COMING[n], LINE, TEXT[n], colour, "middle", LARGE, weight, opacity)


def _half(text: str, size: float = LETTERS) -> float:
    """Of a word's width."""
    return LETTER * size * max(len(text), 2) / 2


def _edge(n: int) -> float:
    """Between a word and the next, in an exercise."""
    return MIDDLES[n] + _half(TEXT[n]) + GAP / 2


def _curtain(at: int) -> list[Part]:
    """A curtain from behind a word to the end."""
    left = min(COMING[at] + _half(TEXT[at], LARGE) + WIDER / 2, RIGHT)
    says = _says("", (left + RIGHT) / 2, (TOP + LOW) / 2 + 7, "still to come", 72)
    return [*_cloth("curtain", TOP, LOW - TOP, left), *(says if RIGHT - left > 200 else [])]


def _cloth(key: str, top: float, high: float, left: float) -> list[Part]:
    """Nothing can be seen through it; its folds go with it, as wide as before."""
    middle, low = top + high / 2, top + high
    folds = line(
        f"{key} folds", [(left, middle), (RIGHT, middle)], PURPLE, high, 0.12, FOLDS, "butt"
    )
    return [
        box(f"{key} behind", (left, top), (RIGHT - left, high), GROUND),
        box(key, (left, top), (RIGHT - left, high), PURPLE, 0.1),
        folds,
        line(f"{key} edge", [(left, top), (left, low)], PURPLE, 3, 1 if left < RIGHT else 0),
    ]


def _card(key: str, x: float, y: float, half: float) -> Part:
    """What words on a curtain are written on, so that they can be read."""
    return box(key, (x - half, y - 18), (2 * half, TALL - 2), GROUND)


def _guess(n: int, y: float, guess: str, shown: int) -> list[Part]:
    """A guess is written on a tag, which lies on the curtain, and compared with the answer.

    A right one is joined with it, a wrong one struck.
    """
    half = _half(guess) + 4
    left = _edge(n - 1) + 4
    corner, size = (left, y - 17), (2 * half, TALL - 4)
    right = shown < 3 or guess == TEXT[n]
    parts = [
        _card(f"card {n}", left + half, y, half),
        box(f"tag {n}", corner, size, ORANGE if right else GREY, 0.25, 1.5),
        word(f"guess {n}", left + half, y, guess if shown > 1 else "?", size=LETTERS, weight=500),
    ]
    if shown < 3:
        return parts
    far, middle = _half(TEXT[n]), y - 7
    ends = (left + 2 * half + 2, RIGHT - 2 * far - 8) if right else (left + 4, left + 2 * half - 4)
    kind, colour = ("joined", ORANGE) if right else ("struck", GREY)
    return [
        *parts,
        line(f"{kind} {n}", [(x, middle) for x in ends], colour, 2.5),
        _card(f"under {n}", RIGHT - far, y, far + 1),
        word(f"answer {n}", RIGHT - 2, y, TEXT[n], INK, "end", LETTERS, 600),
    ]


def _says(key: str, x: float, y: float, text: str, half: float) -> list[Part]:
    """On a curtain, about what it hides."""
    return [
        _card(f"says{key}", x, y, half),
        word(f"hides{key}", x, y, text, PURPLE, weight=600),
    ]


def _place(n: int) -> tuple[str, float, float]:
    """Of the curtain of an exercise: its key, and where it is from top to bottom."""
    return f"curtain {n}", FIRST + APART * (n - 1) - 19, TALL


def _copied() -> list[Part]:
    """All words, and where each would look that copies the next."""
    copies = [
        _coming(f"word {m} of {n}", m, False, 0) for n in range(1, LAST) for m in range(n)
    ]  # that are going to lie over each other's lines
    drawn_in = [part for n in range(1, len(TEXT)) for part in _cloth(*_place(n), RIGHT)]
    parts = [*copies, *(_coming(f"word {n}", n, True) for n in range(len(TEXT)))]
    for n in range(LAST):
        ends = COMING[n] + 5, COMING[n + 1] - 5
        parts.append(arc(f"copied {n}", *ends, FLOOR, 0.5, ORANGE, dashes="2 8", pull=COPIES))
    middle, high = (COMING[0] + COMING[LAST]) / 2, FLOOR - 0.75 * COPIES - 18
    return [*parts, word("copy", middle, high, "copy?", ORANGE, size=24, weight=600), *drawn_in]


def _exercises(rows: list[list[float]], guesses: Sequence[str], shown: int) -> list[Part]:
    """For each word the text so far, and a curtain before the rest, with a tag for a guess.

    Then it is shown, one after the other, to whom each listens, what it guesses, and the answers.
    """
    parts = []
    for n in range(1, len(TEXT)):
        y, asks = FIRST + APART * (n - 1), n - 1
        parts.append(word(f"exercise {n}", 10, y, f"{n}", GREY, size=SMALL))
        for m in range(n):
            key = f"word {m}" if n == LAST else f"word {m} of {n}"
            weight = 700 if m == asks else 400
            parts.append(word(key, MIDDLES[m], y, TEXT[m], size=LETTERS, weight=weight))
        if shown:
            parts += _listens(rows[asks], asks, y)
        parts += [*_cloth(*_place(n), _edge(asks)), *_guess(n, y, guesses[asks], shown)]
    if shown > 1:
        x = _edge(0) + 8 + _half(guesses[0])
        parts.append(word("guesses", x, HEAD, "guess", ORANGE, weight=600))
    if shown > 2:
        return [*parts, word("answer", RIGHT, HEAD, "answer", INK, "end", weight=600)]
    return [*parts, *_says(" all", 406, FIRST, "hidden", 44)]


def _listens(row: Sequence[float], asks: int, y: float) -> list[Part]:
    """To which words, right over its line."""
    x, floor, parts = MIDDLES[asks], y - OVER, []
    for m in (m for m in range(asks + 1) if row[m] >= LEAST):
        key, pull = f"{asks} to {m}", FLAT + FURTHER * (asks - m)
        if m == asks:
            parts.append(ring(key, x, floor + 2, row[m], BLUE, 0.8, RING, thickest=4))
        else:
            parts.append(arc(key, x, MIDDLES[m], floor, row[m], BLUE, 0.8, thickest=4, pull=pull))
    return parts
