"""Lesson 01's shelf: a question turns over it, and pages pour into its answer."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, Place, area, box, dot, line, word
from attnlab.figures.palette import GROUND, SERIES

BOOKS = ("rivers", "marshes", "seas", "deserts")
KEYS = ((2, -1), (2, 1), (-1, 2), (-2, -1))
SALT = (1, 10, 35, 2)  # g/l, on each book's page
LENGTH = math.hypot(1, 2)  # of the lesson's question, (1, 2)
HIGH = 250
MIDDLE, UNIT = (96, 112), 34  # of the shelf; px for an entry of 1
DOWN = (2, 1, 0, 3)  # books from the top, in the names' column and in the answer: no flows cross
# End of the names' column, and heights in it: at the tips of the keys that point there.
NAMED, LINES = 246, (36, 78, 146, 190)
TIPS = {2: (62, 30), 3: (40, 172)}  # where the others are named once more
FAR, BENDS = 34, 12  # of the angle's arc from the middle; of how many lines a bend is made
BESIDE, WIDE = 72, 35  # of its degrees from the middle, and how many have room for their number
MOUTH, HAIR = 6, 1  # of a flow where it leaves its book, at most; what of it is always seen
LEFT, WIDTH, TOP, TALL = 372, 60, 34, 180  # of the answer
ROOM = 24  # of a block that has room for its share
OURS = 360 + math.degrees(math.atan2(2, 1))
# Directions of the question, in degrees, from seas by deserts and rivers to the lesson's, (1, 2).
TURN = (117, 144, 180, 207, 240, 275, 310, 333, 351, 369, 387, 405, OURS)


def shelf() -> Film:
    """The film of it."""
    frames = [_frame(math.radians(degrees)) for degrees in TURN]
    return Film("The nearest book gives most, and never all", frames, HIGH)


def weights(query: tuple[float, float], keys: Sequence[tuple[int, int]] = KEYS) -> list[float]:
    """(M,), the share of each book: softmax of its key's dot product with the query, (2,)."""
    powers = [math.exp(query[0] * fresh + query[1] * salt) for fresh, salt in keys]
    return [power / sum(powers) for power in powers]


def _frame(angle: float) -> Frame:
    query = (LENGTH * math.cos(angle), LENGTH * math.sin(angle))
    shares = weights(query)
    salt = sum(share * page for share, page in zip(shares, SALT, strict=True))
    most = max(range(len(BOOKS)), key=lambda m: shares[m])
    books = [_book(m, shares) for m in range(len(BOOKS))]
    parts = [part for each in zip(*books, strict=True) for part in each]  # no flow over a name
    parts += [
        word(f"tip {BOOKS[m]}", *at, BOOKS[m], SERIES[m], size=SMALL) for m, at in TIPS.items()
    ]
    parts += [
        _angle(most, angle),
        _degrees(most, angle),
        line("question", [MIDDLE, _at(query)], INK, 5),
        dot("asks", *_at(query), 7),
        dot("its colour", MIDDLE[0] - 52, HIGH - 18, 7),
        word("its name", MIDDLE[0] - 38, HIGH - 12, "question", INK, "start", SMALL),
        word("answer", LEFT + WIDTH / 2, TOP - 12, "share of each", size=SMALL),
        word(
            "salt",
            LEFT + WIDTH / 2,
            TOP + TALL + 24,
            f"{salt:.1f} g/l salt",
            weight=700,
            size=SMALL,
        ),
    ]
    return Frame(parts, _told(shares, most, angle))


def _told(shares: list[float], most: int, angle: float) -> str:
    first, second = sorted(range(len(BOOKS)), key=lambda m: -shares[m])[:2]
    mixed = f", {BOOKS[second]} {shares[second]:.2f}" if shares[second] >= 0.05 else ""
    return (
        f"The question is {abs(_turned(most, angle)):.0f}° from {BOOKS[most]}. Its answer takes "
        f"{BOOKS[first]} {shares[first]:.2f}{mixed}."
    )


def _at(vector: tuple[float, float]) -> tuple[float, float]:
    return MIDDLE[0] + UNIT * vector[0], MIDDLE[1] - UNIT * vector[1]


def _turned(m: int, angle: float) -> float:
    """How far a key is turned against the question, in degrees from -180 to 180."""
    fresh, salt = KEYS[m]
    return (math.degrees(math.atan2(salt, fresh) - angle) + 180) % 360 - 180


def _angle(m: int, angle: float) -> Part:
    """From the question to a key, around the middle."""
    turned = math.radians(_turned(m, angle))
    ways = [angle + turned * step / BENDS for step in range(BENDS + 1)]
    points = [(MIDDLE[0] + FAR * math.cos(at), MIDDLE[1] - FAR * math.sin(at)) for at in ways]
    return line(f"angle {BOOKS[m]}", points, SERIES[m], 3, 0.7)


def _degrees(m: int, angle: float) -> Part:
    """How many that angle has, beside its arc."""
    turned = _turned(m, angle)
    middle = angle + math.radians(turned / 2)
    x, y = MIDDLE[0] + BESIDE * math.cos(middle), MIDDLE[1] - BESIDE * math.sin(middle)
    seen = float(abs(turned) >= WIDE)
    return word("degrees", x, y + 6, f"{abs(turned):.0f}°", SERIES[m], size=SMALL, opacity=seen)


def _book(m: int, shares: list[float]) -> list[Part]:
    """A book's spine and name, what pours out of the name, and where that is in the answer."""
    name, colour, at = BOOKS[m], SERIES[m], DOWN.index(m)
    top = TOP + TALL * sum(shares[other] for other in DOWN[:at])
    tall, y = TALL * shares[m], LINES[at]
    return [
        box(f"share {name}", (LEFT, top), (WIDTH, tall), colour),
        area(f"pours {name}", _flow((NAMED + 6, y), (LEFT, top), max(tall, HAIR)), colour, 0.45),
        line(f"spine {name}", [MIDDLE, _at(KEYS[m])], colour, 4),
        word(f"name {name}", NAMED, y + 6, name, colour, "end", SMALL),
        word(
            f"much {name}",
            LEFT + WIDTH / 2,
            top + tall / 2 + 6,
            f"{shares[m]:.2f}",
            GROUND,
            size=SMALL,
            opacity=float(tall >= ROOM),
        ),
    ]


def _flow(start: Place, corner: Place, tall: float) -> list[Place]:
    """What widens from a name to its block in the answer, which begins at a corner."""
    upper, lower = [], []
    for step in range(BENDS + 1):
        part = step / BENDS
        bent = part * part * (3 - 2 * part)
        x = start[0] + part * (corner[0] - start[0])
        middle = start[1] + bent * (corner[1] + tall / 2 - start[1])
        half = (min(tall, MOUTH) * (1 - bent) + tall * bent) / 2
        upper.append((x, middle - half))
        lower.append((x, middle + half))
    return upper + lower[::-1]
