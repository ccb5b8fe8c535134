"""Lesson 06 opens with a text that the small model writes, and that becomes six exercises."""

from __future__ import annotations

from collections.abc import Sequence

from attnlab import small
from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import (
    INK,
    LETTER,
    SMALL,
    WIDE,
    Part,
    arc,
    box,
    line,
    places,
    rise,
    word,
)
from attnlab.figures.palette import BLUE, GREY, GROUND, ORANGE, PURPLE

SEED = 57  # chosen, for a subject and a noun nearer to the verb, of which only one is a plural
WRITTEN = ("the", "dogs", "that", "the", "bird", "follows", "jump")  # by the model
NEAREST, ASKS, VERB = (WRITTEN.index(each) for each in ("bird", "follows", "jump"))
LETTERS, GAP = 20, 16
HIGH, FLOOR, LINE, STEPS = 270, 192, 216, 244  # of the sheet; of arcs, words and numbers
RIGHT, TOP, LOW = WIDE - 4, 20, 260  # of the curtain
FOLDS = "0 16 16 0"  # how wide they are
FIRST, APART, TALL = 38, 42, 28  # of exercises: the first line, from one to the next; a curtain
OPEN, TALLER = 40, 1.25  # how far what a word gives itself is pulled up; other arcs, as a factor
COPIES = 84  # how far one is that is only asked about
LOOP, FLAT = 13, 20  # how far both are pulled up between two lines
HIDDEN = 4  # exercises with room for a word on the curtain
MIDDLES = places(WRITTEN, LETTERS, GAP, left=34)
THICKEST = 6  # of arcs
LEAST, MUCH = 0.02, 0.1  # a weight that is drawn, and one between the lines of exercises


def opening() -> Film:
    """The film."""
    layer, head = small.head("subject")
    rows = small.weights(WRITTEN)[layer][head].tolist()
    row = rows[ASKS]
    to = max(range(ASKS), key=lambda m: row[m])
    asks, heard, verb, nearest = (f"“{WRITTEN[n]}”" for n in (ASKS, to, VERB, NEAREST))
    tells = {
        0: f"A model has one word, “{WRITTEN[0]}”. What comes next is not written yet.",
        1: f"It writes “{WRITTEN[1]}”: one step, one word.",
        2: "Each word can listen to itself and to those before it.",
        ASKS: f"{asks} listens to {heard} ({row[to]:.2f}), past {nearest}. A verb comes next.",
        VERB: f"The model writes {verb}, which fits {heard}. Six words took six steps.",
    }
    frames = [
        *(
            Frame(_writing(rows, n), tells.get(n, f"Step {n}: “{WRITTEN[n]}”."))
            for n in range(len(WRITTEN))
        ),
        Frame(
            _copied(rows),
            f"In training the text is there at once, and {asks} could copy {verb}.",
        ),
        Frame(
            _exercises(rows, solved=False),
            "So each bold word gets a curtain of its own: one text, six exercises.",
        ),
        Frame(
            _exercises(rows, solved=True),
            "One step, six guesses: no row sees its answer or what comes after.",
        ),
    ]
    return Film("One text, six exercises", frames, HIGH)


def _writing(rows: list[list[float]], at: int) -> list[Part]:
    """Words up to one whose arcs are in focus, and the curtain.

    The next word stands behind the curtain already, so that its edge uncovers it.
    """
    return [*_arcs(rows, at, at), *_text(min(at + 1, VERB), [at]), *_curtain(_edge(at))]


def _text(last: int, focus: Sequence[int]) -> list[Part]:
    """Words up to a last one, and in which step each was written."""
    parts = [word("step 0", MIDDLES[0], STEPS, "step", GREY, size=SMALL)]
    for n in range(last + 1):
        parts.append(_word(f"word {n}", n, LINE, n in focus))
        if n:
            parts.append(word(f"step {n}", MIDDLES[n], STEPS, f"{n}", GREY, size=SMALL))
    return parts


def _arcs(rows: list[list[float]], last: int, focus: int | None) -> list[Part]:
    """Of words up to a last one."""
    return [
        arc(
            f"{n} to {m}",
            MIDDLES[n],
            MIDDLES[m],
            FLOOR,
            rows[n][m],
            ORANGE if n == focus else BLUE,
            1 if n == focus else 0.5,
            thickest=THICKEST,
            pull=OPEN if n == m else TALLER * rise(MIDDLES[n] - MIDDLES[m], WIDE),
        )
        for n in range(last + 1)
        for m in range(n + 1)
        if rows[n][m] >= LEAST
    ]


def _word(
    key: str, n: int, y: float, is_focus: bool, opacity: float = 1, weight: float = 400
) -> Part:
    colour, weight = (ORANGE, 600) if is_focus else (INK, weight)
    x, text = MIDDLES[n], WRITTEN[n]
    return word(key, x, y, text, colour, size=LETTERS, weight=weight, opacity=opacity)


def _half(n: int) -> float:
    """Of a word's width."""
    return LETTER * LETTERS * max(len(WRITTEN[n]), 2) / 2


def _edge(n: int) -> float:
    """Between a word and the next."""
    return MIDDLES[n] + _half(n) + GAP / 2


def _curtain(left: float) -> list[Part]:
    """A curtain from here to the end."""
    says = _says("", (left + RIGHT) / 2, (TOP + LOW) / 2 + 7, "not written yet", 82)
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
    return box(key, (x - half, y - 19), (2 * half, TALL - 4), GROUND)


def _tag(n: int, x: float, y: float) -> list[Part]:
    """What is to be guessed is written on, which lies on the curtain."""
    half = _half(n) + 5
    corner, size = (x - half, y - 18), (2 * half, TALL - 6)
    return [_card(f"card {n}", x, y, half), box(f"tag {n}", corner, size, ORANGE, 0.25, 1.5)]


def _says(key: str, x: float, y: float, text: str, half: float) -> list[Part]:
    """On a curtain, about what it hides."""
    return [
        _card(f"says{key}", x, y, half),
        word(f"hides{key}", x, y, text, PURPLE, weight=600),
    ]


def _place(n: int) -> tuple[str, float, float]:
    """Of the curtain of an exercise: its key, and where it is from top to bottom."""
    return f"curtain {n}", FIRST + APART * (n - 1) - 21, TALL


def _copied(rows: list[list[float]]) -> list[Part]:
    """All words, and where one would look that copies the next."""
    start, end = MIDDLES[ASKS], MIDDLES[VERB]
    copies = [
        _word(f"word {m} of {n}", m, LINE, False, 0) for n in range(1, VERB) for m in range(n)
    ]  # that are going to lie over each other's lines
    drawn_in = [part for n in range(1, len(WRITTEN)) for part in _cloth(*_place(n), RIGHT)]
    return [
        *copies,
        *_arcs(rows, ASKS, None),
        *_text(VERB, [ASKS, VERB]),
        arc("copied", start, end, FLOOR, 0.5, ORANGE, dashes="2 8", pull=COPIES),
        word("copy", (start + end) / 2, FLOOR - 0.75 * COPIES - 16, "copy?", ORANGE, weight=600),
        *drawn_in,
    ]


def _exercises(rows: list[list[float]], solved: bool) -> list[Part]:
    """For each word the text so far, which it can listen to, and a curtain before the rest.

    On the curtain is a tag: what is to be guessed.
    """
    parts = []
    for n in range(1, len(WRITTEN)):
        x, y, guesses = MIDDLES[n], FIRST + APART * (n - 1), n - 1
        parts.append(word(f"exercise {n}", 14, y, f"{n}", GREY, size=SMALL))
        for m, weight in enumerate(rows[guesses][:n]):
            key = f"word {m}" if n == VERB else f"word {m} of {n}"
            parts.append(_word(key, m, y, False, weight=700 if m == guesses else 400))
            if weight >= MUCH:
                key, ends = f"{guesses} to {m}", (MIDDLES[guesses], MIDDLES[m], y - 18)
                pull = LOOP if m == guesses else FLAT
                parts.append(arc(key, *ends, weight, BLUE, 0.8, thickest=4, pull=pull))
        parts += [*_cloth(*_place(n), _edge(guesses)), *_tag(n, x, y)]
        answer = WRITTEN[n] if solved else "?"
        parts.append(word(f"answer {n}", x, y, answer, INK, size=LETTERS, weight=600))
        if n <= HIDDEN:
            parts += _says(f" {n}" if n > 1 else "", 428, y, "hidden", 38)
    return parts
