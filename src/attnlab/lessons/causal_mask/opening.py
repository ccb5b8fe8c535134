"""Lesson 06 opens with a text that the small model writes, and that becomes six exercises."""

from __future__ import annotations

from collections.abc import Sequence

from attnlab import small
from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, LETTER, SMALL, WIDE, Part, arc, box, line, places, word
from attnlab.figures.palette import BLUE, GREY, GROUND, ORANGE, PURPLE

SEED = 57  # chosen, for a subject and a noun nearer to the verb, of which only one is a plural
WRITTEN = ("the", "dogs", "that", "the", "bird", "follows", "jump")  # by the model
NEAREST, ASKS, VERB = (WRITTEN.index(each) for each in ("bird", "follows", "jump"))
LETTERS, GAP = 20, 16
HIGH, FLOOR, LINE, STEPS = 262, 190, 214, 242  # of the sheet; of arcs, words and numbers
RIGHT, TOP, FOLDS = WIDE - 4, 8, 6  # of the curtain
FIRST, APART, TALL = 35, 41, 33  # of exercises: the first line, from one to the next; a curtain
MIDDLES = places(WRITTEN, LETTERS, GAP, left=34)
LEAST = 0.02  # a weight that is drawn


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
        NEAREST: "Each word can listen to itself and to those before it.",
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
            _exercises(solved=False),
            "So each word gets a curtain of its own: one text, six exercises.",
        ),
        Frame(
            _exercises(solved=True),
            "All six are guessed in one step, and the text itself has the answers.",
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
            1 if n == focus else 0.45,
        )
        for n in range(last + 1)
        for m in range(n)
        if rows[n][m] >= LEAST
    ]


def _word(key: str, n: int, y: float, is_focus: bool, opacity: float = 1) -> Part:
    colour, weight = (ORANGE, 600) if is_focus else (INK, 400)
    x, text = MIDDLES[n], WRITTEN[n]
    return word(key, x, y, text, colour, size=LETTERS, weight=weight, opacity=opacity)


def _edge(n: int) -> float:
    """Between a word and the next."""
    return MIDDLES[n] + LETTER * LETTERS * max(len(WRITTEN[n]), 2) / 2 + GAP - 3


def _curtain(left: float) -> list[Part]:
    """A curtain from here to the end, whose folds are the closer the less there is to hide."""
    wide, high = RIGHT - left, HIGH - 2 * TOP
    fold = wide / FOLDS
    return [
        *_cloth("curtain", TOP, high, left),
        *(
            box(f"fold {n}", (left + fold * (n + 0.5), TOP), (fold / 2, high), PURPLE, 0.1)
            for n in range(FOLDS)
        ),
        *(
            [word("hides", left + wide / 2, HIGH / 2 + 6, "not written yet", PURPLE, weight=600)]
            if wide > 180
            else []
        ),
    ]


def _cloth(key: str, top: float, high: float, left: float) -> list[Part]:
    """Nothing can be seen through it, and its edge is clear."""
    size = RIGHT - left, high
    edge = [(left, top), (left, top + high)]
    return [
        box(f"{key} behind", (left, top), size, GROUND),
        box(key, (left, top), size, PURPLE, 0.16),
        line(f"{key} edge", edge, PURPLE, 3, 1 if left < RIGHT else 0),
    ]


def _place(n: int) -> tuple[str, float, float]:
    """Of the curtain of an exercise: its key, and where it is from top to bottom."""
    return f"curtain {n}", FIRST + APART * (n - 1) - 23, TALL


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
        arc("copied", start, end, FLOOR, 0.5, ORANGE, wide=300, dashes="2 8"),
        word("copy", (start + end) / 2, FLOOR - 82, "copy?", ORANGE, weight=600),
        *drawn_in,
    ]


def _exercises(solved: bool) -> list[Part]:
    """The text so far, for each word, a curtain before the rest, and what is to be guessed."""
    parts = []
    for n in range(1, len(WRITTEN)):
        y = FIRST + APART * (n - 1)
        parts.append(word(f"exercise {n}", 14, y, f"{n}", GREY, size=SMALL))
        for m in range(n):
            key = f"word {m}" if n == VERB else f"word {m} of {n}"
            parts.append(_word(key, m, y, False))
        parts += _cloth(*_place(n), _edge(n if solved else n - 1))
        answer = WRITTEN[n] if solved else "?"
        parts.append(word(f"answer {n}", MIDDLES[n], y, answer, ORANGE, weight=600))
    return [*parts, word("hides", 428, FIRST, "hidden", PURPLE, weight=600)]
