"""Lesson 01 opens with one look of a small model, taken hard and soft: it changes the next verb.

What the model's look is, and what it says next, is recorded in `look.json`, by `make model`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import (
    INK,
    SMALL,
    Part,
    arc,
    box,
    dot,
    places,
    word,
)
from attnlab.figures.palette import BLUE, GREY, ORANGE, Colour

LOOK = Path(__file__).with_name("look.json")
# Of all 3,072 sentences like it, the one in which a hard lookup changes the verb most.
WORDS = ("the", "girl", "near", "the", "boys")
ONE, MANY = 2, 5  # places of the nouns, behind the start

HIGH, LINE = 266, 141  # of the sheet; the words' line
GAP, LEFT = 13, 2
ABOVE, GIVEN, BELOW = 119, 164, 173  # where arcs begin, over and under; the line of shares
PIPE, SIDE = 18, 6  # thickness of an arc of share 1; from one arc's end to the next
DRAWN = 0.01  # the least share that is
VERBS, LONG, BAR = 338, 138, 14  # left of what comes next; how long and high its bar is
SOFT, HARD = 28, 172  # lines of the names of the lookups, at the right
BIG = 26


def opening() -> Film:
    """The film."""
    look = recorded()
    shares, soft, hard = look["shares"], look["soft"], look["hard"]
    winner = shares.index(max(shares))
    text = ["start", *WORDS]
    sees = [*_words(text, shares), *_asked()]
    takes = [*_words(text, shares), *_arcs(shares, 1)]
    alone, none = _alone(winner, 1), _alone(winner, 0)
    one, many = look["verbs"]
    after_hard = _next("hard", HARD, hard, (one, many))
    frames = [
        Frame(
            [*_words(text), *_asked(), *_arcs(shares, 0), *none, *_question(one, many)],
            f"The verb may be “{one}”, for one {text[ONE]}, or “{many}”, for many {text[MANY]}.",
        ),
        Frame(
            [*sees, *_arcs(shares, 0), *none, *_question(one, many)],
            f"“{text[MANY]}” looks back: “{text[winner]}” fits best, {shares[winner]:.2f}, "
            f"“{text[ONE]}” next, {shares[ONE]:.2f}.",
        ),
        Frame(
            [*sees, *_arcs(shares, 0), *alone, *after_hard],
            f"A hard lookup takes all from the winner, “{text[winner]}”: likelier is “{many}”, "
            "wrong.",
        ),
        Frame(
            [*takes, *alone, *after_hard],
            f"A soft lookup takes from each by its share: {shares[ONE]:.2f} from “{text[ONE]}”.",
        ),
        Frame(
            [*takes, *alone, *after_hard, *_next("soft", SOFT, soft, (one, many))],
            f"“{text[ONE]}” came second, and is heard: likelier is “{one}”, which is right.",
        ),
    ]
    return Film("Soft lookup: why not take all from the winner?", frames, HIGH)


@cache
def recorded() -> dict[str, Any]:
    """The look of the last word, and how likely both verbs are.

    Returns:
        shares: (6,), of the start of the text and each word.
        verbs: the likeliest verb for one, and the same for many.
        soft, hard: of these two verbs, what part of their probability each has.
    """
    known: dict[str, Any] = json.loads(LOOK.read_text(encoding="utf-8"))
    return known


def _middles() -> list[float]:
    return places(("start", *WORDS), gap=GAP, left=LEFT)


def _words(text: Sequence[str], shares: Sequence[float] = ()) -> list[Part]:
    """The sentence, its last word bold, and under each word its share; a dot if that is 0.00."""
    parts = []
    for j, (x, each) in enumerate(zip(_middles(), text, strict=True)):
        colour = _colour(j) if j in (0, ONE, MANY) else INK
        parts.append(word(f"word {j}", x, LINE, each, colour, weight=700 if j == MANY else 400))
    for j, share in enumerate(shares):
        x, says, weight = _middles()[j], f"{share:.2f}", 700 if j == ONE else 400
        if share < DRAWN:
            parts.append(dot(f"none {j}", x, GIVEN - 6, 2, GREY))
        else:
            parts.append(word(f"share {j}", x, GIVEN, says, _colour(j), size=SMALL, weight=weight))
    return parts


def _colour(j: int) -> Colour:
    """Of a noun that is one or many; all else says nothing of that."""
    return {ONE: ORANGE, MANY: BLUE}.get(j, GREY)


def _over(j: int, share: float, key: str, colour: Colour, opacity: float, dashes: str = "") -> Part:
    """An arc from a word to the last one, where the farther it comes the further right it ends."""
    starts, ends = _middles()[0], _middles()[MANY]
    x, end = _middles()[j], ends + SIDE * (2 - j)
    pull = 30 + 102 * (end - x) / (ends + 2 * SIDE - starts)
    seen = opacity / (0.25 + 0.75 * share)  # whatever its share
    return arc(key, x, end, ABOVE, share, colour, seen, thickest=PIPE, pull=pull, dashes=dashes)


def _asked() -> list[Part]:
    """To each word before, of which nothing is known."""
    return [_over(j, 0.05, f"asked {j}", GREY, 0.6, dashes="3 7") for j in range(MANY)]


def _arcs(shares: Sequence[float], come: float) -> list[Part]:
    """From each word that something is taken of: not begun, 0, or there, 1; the noun's in front."""
    order = sorted((j for j in range(MANY) if shares[j] >= DRAWN), key=lambda j: j == ONE)
    seen = {ONE: 1.0}
    return [
        _drawn(_over(j, shares[j], f"from {j}", _colour(j), seen.get(j, 0.7)), come) for j in order
    ]


def _alone(winner: int, come: float) -> list[Part]:
    """One arc, under the words: all is taken from there."""
    start, end, colour = _middles()[winner], _middles()[MANY], _colour(winner)
    look: dict[str, Any] = {"below": True, "thickest": PIPE, "pull": 96}
    return [_drawn(arc("alone", start, end, BELOW, 1, colour, 0.7, **look), come)]


def _drawn(part: Part, come: float) -> Part:
    """A part of an arc, from its start."""
    dashes = f"{_length(str(part.look['d'])) * come:.1f} 2000"
    look = {**part.look, "stroke-dasharray": dashes, "stroke-linecap": "butt"}
    return part._replace(look={**look, "opacity": float(part.look["opacity"]) * come})


def _question(*verbs: str) -> list[Part]:
    return [
        word(f"{verb}?", VERBS, LINE - 18 + 34 * n, f"{verb}?", colour, "start", BIG, 600)
        for n, (verb, colour) in enumerate(zip(verbs, (ORANGE, BLUE), strict=True))
    ]


def _next(lookup: str, top: float, parts_of: Sequence[float], verbs: Sequence[str]) -> list[Part]:
    """What comes after a lookup: a bar that both verbs share, the likelier one large over it."""
    likely = int(parts_of[1] > parts_of[0])
    split, low = LONG * parts_of[0], top + 39
    parts = [
        word(f"{lookup} name", VERBS, top, f"{lookup} lookup", GREY, "start", SMALL),
        box(f"{lookup} 0", (VERBS, low), (split, BAR), ORANGE),
        box(f"{lookup} 1", (VERBS + split, low), (LONG - split, BAR), BLUE),
    ]
    for n, (verb, part, colour) in enumerate(zip(verbs, parts_of, (ORANGE, BLUE), strict=True)):
        says, key = f"{verb} {100 * part:.0f}%", f"{lookup} says {n}"
        if n == likely:
            parts.append(word(key, VERBS, top + 30, says, colour, "start", 24, 700))
        else:  # at its end of the bar
            x, anchor = (VERBS + LONG, "end") if n else (VERBS, "start")
            parts.append(word(key, x, low + BAR + 20, says, colour, anchor, SMALL))
    return parts


def _length(d: str) -> float:
    """Of an arc."""
    numbers = [float(each) for each in d.replace("M", " ").replace("C", " ").split()]
    a, b, c, e = (complex(x, y) for x, y in zip(numbers[::2], numbers[1::2], strict=True))
    along = [
        (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * e
        for t in (n / 60 for n in range(61))
    ]
    return sum(abs(after - before) for before, after in pairwise(along))
