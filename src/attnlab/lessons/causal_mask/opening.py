"""Lesson 06 opens with a text that the small model writes, before a curtain that hides the rest."""

from __future__ import annotations

from attnlab import small
from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, LETTER, WIDE, Part, arc, box, line, places, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, PURPLE

SEED = 57  # chosen, for a subject and a noun nearer to the verb, of which only one is a plural
WRITTEN = ("the", "dogs", "that", "the", "bird", "follows", "jump")  # by the model
NEAREST, ASKS, VERB = (WRITTEN.index(each) for each in ("bird", "follows", "jump"))
HIGH, FLOOR, LINE, LETTERS, GAP = 232, 176, 208, 20, 18
RIGHT, TOP, FOLDS = WIDE - 4, 12, 9  # of the curtain
SHUT, SHEER = 1, 0.22  # how much its cloth hides
UP = 22  # how high it is when it is lifted
LEAST = 0.02  # a weight that is drawn


def opening() -> Film:
    """The film."""
    layer, head = small.head("subject")
    rows = small.weights(WRITTEN)[layer][head].tolist()
    row = rows[ASKS]
    to = max(range(ASKS), key=lambda m: row[m])
    asks, heard, verb, nearest = (f"“{WRITTEN[n]}”" for n in (ASKS, to, VERB, NEAREST))
    frames = [
        Frame(
            _scene(rows, 0, NEAREST),
            f"A model begins with “{WRITTEN[0]}”. Behind the curtain nothing is written yet.",
        ),
        Frame(
            _scene(rows, NEAREST, ASKS),
            "It writes on. Each word can listen to itself and to those before it.",
        ),
        Frame(
            _scene(rows, ASKS, VERB),
            f"{asks} listens to {heard} ({row[to]:.2f}), past {nearest}. A verb comes next.",
        ),
        Frame(
            _scene(rows, VERB, VERB),
            f"The model writes {verb}, which fits {heard}: {nearest} would need “jumps”.",
        ),
        Frame(
            _scene(rows, ASKS, VERB, SHEER),
            f"In training all words are there, and {asks} is to guess the next one.",
        ),
        Frame(
            [*_scene(rows, ASKS, VERB, SHEER, lifted=True), *_copied()],
            f"Without the curtain {asks} could copy {verb}, and need not listen to {heard}.",
        ),
        Frame(
            _scene(rows, ASKS, VERB, SHEER),
            f"With it each later word weighs {max(row[VERB:]):.0f}: {asks} has to look back.",
        ),
    ]
    return Film("A text writes itself before a curtain", frames, HIGH)


def _scene(
    rows: list[list[float]], at: int, last: int, cloth: float = SHUT, lifted: bool = False
) -> list[Part]:
    """Words up to one whose arcs are in focus, and the curtain, which hides those up to a last one.

    What is written next stands behind the curtain already, so that its edge uncovers it.
    """
    middles = _places()
    parts = []
    for n in range(at + 1):
        colour, opacity = (ORANGE, 1) if n == at and not lifted else (BLUE, 0.45)
        parts += [
            arc(f"{n} to {m}", middles[n], middles[m], FLOOR, rows[n][m], colour, opacity)
            for m in range(n)
            if rows[n][m] >= LEAST
        ]
    for n in range(last + 1):
        focus = n == at or (lifted and n == last)
        look = {"colour": ORANGE, "weight": 600} if focus else {"colour": INK}
        parts.append(word(f"word {n}", middles[n], LINE, WRITTEN[n], size=LETTERS, **look))
    edge = middles[at] + LETTER * LETTERS * max(len(WRITTEN[at]), 2) / 2 + GAP / 2 + 1
    return [*parts, *_curtain(edge, cloth, UP if lifted else HIGH - TOP - 4)]


def _places() -> list[float]:
    return places(WRITTEN, LETTERS, GAP, left=8)


def _curtain(left: float, cloth: float, high: float) -> list[Part]:
    """A curtain from here to the end, whose folds are the closer the less there is to hide."""
    wide = RIGHT - left
    folds = [left + wide * (n + 0.5) / FOLDS for n in range(FOLDS)]
    return [
        box("curtain", (left, TOP), (wide, high), PURPLE, cloth),
        *(
            line(f"fold {n}", [(x, TOP), (x, TOP + high)], GREY, 3, 0.6)
            for n, x in enumerate(folds)
        ),
        line("rail", [(4, TOP), (RIGHT, TOP)], GREY, 5),
    ]


def _copied() -> list[Part]:
    """Where a word would look that copies the next one."""
    start, end = (_places()[n] for n in (ASKS, VERB))
    return [
        arc("copied", start, end, FLOOR, 0.5, ORANGE, wide=300, dashes="2 8"),
        word("copy", (start + end) / 2, FLOOR - 82, "copy?", ORANGE, weight=600),
    ]
