"""Lesson 01 opens with a question that turns over a shelf: pages pour into its answer."""

from __future__ import annotations

import math

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, box, curve, dot, line, word
from attnlab.figures.palette import SERIES

BOOKS = ("rivers", "marshes", "seas", "deserts")
KEYS = ((2, -1), (2, 1), (-1, 2), (-2, -1))
SALT = (1, 10, 35, 2)  # g/l, on each book's page
LENGTH = math.hypot(1, 2)  # of the lesson's question, (1, 2)
HIGH = 250
MIDDLE, UNIT = (160, 128), 34  # of the shelf; px for an entry of 1
LEFT, WIDTH, TOP, TALL = 372, 60, 34, 180  # of the answer
# Angles of the question, in degrees; the seventh is that of (1, 2), between marshes and seas.
TURN = (-27, -9, 9, 27, 39, 51, 63.4, 81, 99, 117, 144, 180, 207)


def opening() -> Film:
    """The film."""
    frames = [_frame(math.radians(degrees)) for degrees in TURN]
    return Film("A question turns over a shelf of four books", frames, HIGH, telling=6)


def weights(query: tuple[float, float]) -> list[float]:
    """(4,), the share of each book: softmax of its key's dot product with the query, (2,)."""
    powers = [math.exp(query[0] * fresh + query[1] * salt) for fresh, salt in KEYS]
    return [power / sum(powers) for power in powers]


def _frame(angle: float) -> Frame:
    query = (LENGTH * math.cos(angle), LENGTH * math.sin(angle))
    shares = weights(query)
    salt = sum(share * page for share, page in zip(shares, SALT, strict=True))
    most = max(range(len(BOOKS)), key=lambda m: shares[m])
    parts = [part for m in range(len(BOOKS)) for part in _book(m, shares)]
    parts += [
        line("question", [MIDDLE, _at(query)], INK, 5),
        dot("asks", *_at(query), 7),
        word("answer", LEFT + WIDTH / 2, TOP - 12, "the answer", size=SMALL),
        word("salt", LEFT + WIDTH / 2, TOP + TALL + 24, f"{salt:.1f} g/l salt", size=SMALL),
    ]
    return Frame(parts, _told(shares, most, salt))


def _told(shares: list[float], most: int, salt: float) -> str:
    first, second = sorted(range(len(BOOKS)), key=lambda m: -shares[m])[:2]
    mixed = f", {BOOKS[second]} {shares[second]:.2f}" if shares[second] >= 0.05 else ""
    return (
        f"The question is nearest to {BOOKS[most]}. Its answer takes {BOOKS[first]} "
        f"{shares[first]:.2f}{mixed}: {salt:.1f} grams of salt a litre."
    )


def _at(vector: tuple[float, float]) -> tuple[float, float]:
    return MIDDLE[0] + UNIT * vector[0], MIDDLE[1] - UNIT * vector[1]


def _book(m: int, shares: list[float]) -> list[Part]:
    """A book's spine and its name, what pours out of it, and where that is in the answer."""
    name, colour, (x, y) = BOOKS[m], SERIES[m], _at(KEYS[m])
    below = TOP + TALL * (1 - sum(shares[: m + 1]))
    tall = TALL * shares[m]
    end = (LEFT, below + tall / 2)
    return [
        curve(f"pours {name}", (x, y), end, colour, 1 + 16 * shares[m], 0.15 + 0.6 * shares[m]),
        line(f"spine {name}", [MIDDLE, (x, y)], colour, 4),
        word(f"name {name}", x, y + (28 if KEYS[m][1] < 0 else -14), name, colour, size=SMALL),
        box(f"share {name}", (LEFT, below), (WIDTH, tall), colour),
    ]
