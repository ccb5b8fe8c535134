"""Lesson 06 opens with a text that the small model writes, before a curtain that hides the rest."""

from __future__ import annotations

from attnlab import small
from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import (
    INK,
    LETTER,
    SIZE,
    WIDE,
    Part,
    arc,
    box,
    centred,
    dot,
    line,
    word,
)
from attnlab.figures.palette import BLUE, GREY, ORANGE, PURPLE

SEED = 57  # chosen, for a subject and a noun nearer to the verb, of which only one is a plural
WRITTEN = ("the", "dogs", "that", "the", "bird", "follows", "jump", ".")  # by the model
ASKS, VERB = WRITTEN.index("follows"), WRITTEN.index("jump")
HIGH, FLOOR, LINE, GAP = 246, 188, 222, 14
RIGHT, TOP, FOLDS = WIDE - 4, 16, 9  # of the curtain
LEAST = 0.02  # a weight that is drawn


def opening() -> Film:
    """The film."""
    weights = small.weights(WRITTEN)
    layer, head = small.head("subject")
    rows = weights[layer][head].tolist()
    frames = [Frame(_scene(rows, n, n), _told(rows, n)) for n in range(len(WRITTEN))]
    trained = Frame(
        [*_scene(rows, len(WRITTEN) - 1, ASKS), _copied()],
        f"In training the words are all there. Without the curtain “{WRITTEN[ASKS]}” could "
        f"copy “{WRITTEN[VERB]}”.",
    )
    return Film("A text writes itself before a curtain", [*frames, trained], HIGH)


def _told(rows: list[list[float]], n: int) -> str:
    if n == 0:
        return f"A model begins with “{WRITTEN[0]}”. Behind the curtain nothing is written yet."
    if n == ASKS:
        to = max(range(n), key=lambda m: rows[n][m])
        return (
            f"“{WRITTEN[n]}” listens to “{WRITTEN[to]}” ({rows[n][to]:.2f}), past "
            f"“{WRITTEN[n - 1]}”. A verb comes next."
        )
    if n == VERB:
        return f"“{WRITTEN[n]}”, as dogs do. No word listens to one that comes after it."
    return f"It writes “{WRITTEN[n]}”, which can read {n + 1} words: itself and those before it."


def _scene(rows: list[list[float]], last: int, at: int) -> list[Part]:
    """Words up to one, and the curtain after another, whose arcs are the ones in focus."""
    places = centred(WRITTEN, gap=GAP)
    parts = []
    for n in range(at + 1):
        colour, opacity = (ORANGE, 1) if n == at else (BLUE, 0.45)
        for m in range(n + 1):
            weight, key = rows[n][m], f"{n} to {m}"
            if weight < LEAST:
                continue
            if n == m:
                parts.append(dot(key, places[n], FLOOR + 2, 1 + 5 * weight, colour, opacity))
            else:
                parts.append(arc(key, places[n], places[m], FLOOR, weight, colour, opacity))
    parts += _curtain(places[at] + LETTER * SIZE * max(len(WRITTEN[at]), 2) / 2 + 6)
    for n in range(last + 1):
        look = {"colour": ORANGE, "weight": 600} if n == at else {"colour": INK}
        dim = 0.7 if n > at else 1
        parts.append(word(f"word {n}", places[n], LINE, WRITTEN[n], opacity=dim, **look))
    return parts


def _curtain(left: float) -> list[Part]:
    """A curtain from here to the end, whose folds are the closer the less there is to hide."""
    wide = RIGHT - left
    folds = [left + wide * n / (FOLDS - 1) for n in range(FOLDS)]
    return [
        box("curtain", (left, TOP), (wide, HIGH - TOP - 8), PURPLE, filled=0.2),
        *(
            line(f"fold {n}", [(x, TOP), (x, HIGH - 8)], PURPLE, 3, 0.5)
            for n, x in enumerate(folds)
        ),
        line("rail", [(4, TOP), (RIGHT, TOP)], GREY, 4),
    ]


def _copied() -> Part:
    """Where a word would look that copies the next one: from its place over the curtain's edge."""
    places = centred(WRITTEN, gap=GAP)
    start, end = places[ASKS], places[VERB]
    steps = [n / 8 for n in range(9)]
    points = [(start + (end - start) * t, FLOOR - 152 * t * (1 - t)) for t in steps]
    return line("copied", points, ORANGE, 3, dashes="1 8")
