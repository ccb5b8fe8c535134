"""Lesson 01 opens with one look of a small model, taken hard and soft: it changes the next verb.

What the model's look is, and what it says next, is recorded in `look.json`, by `make model`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, arc, box, curve, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, Colour

LOOK = Path(__file__).with_name("look.json")
# Of all 3,072 sentences like it, the one in which a hard lookup changes the verb most.
WORDS = ("the", "girl", "near", "the", "boys")
ONE, MANY = 2, 5  # places of the nouns, behind the start

HIGH, LINE, GIVEN = 250, 127, 150  # of the sheet; lines of the words and of shares
FIRST, STEP = 24, 47  # the first word's middle; from one word's to the next
PIPE, SIDE = 18, 6  # thickness of an arc of share 1; from one arc's end to the next
DRAWN = 0.01  # the least share that is drawn as an arc
VERBS, LONG, BAR = 341, 136, 14  # left of what comes next; how long and high its bar is
BIG = 22
TRUNK = VERBS + 14  # where the word's own line parts
LINES = {"soft": (105, 39), "hard": (159, 184)}  # where arcs begin; of what is likelier then


def opening() -> Film:
    """The film."""
    look = recorded()
    shares, verbs = look["shares"], look["verbs"]
    winner = shares.index(max(shares))
    text, (one, many) = ["start", *WORDS], verbs
    words, stage = _words(text, shares), _stage()
    asked = [*_asked("soft"), *_asked("hard")]
    takes = {"soft": shares, "hard": [float(j == winner) for j in range(len(text))]}
    none = [*_taken("soft", shares, 0), *_taken("hard", takes["hard"], 0)]
    hard = [*_taken("hard", takes["hard"]), *_next("hard", look["hard"], verbs), *_own()]
    all_of_it = word("all", _middle(), LINES["hard"][0] + 56, "1.00", GREY, size=BIG, weight=700)
    hard.append(all_of_it)
    soft = _taken("soft", shares)
    frames = [
        Frame(
            [*stage, *_words(text), *asked, *none, *_question(*verbs)],
            f"The verb may be “{one}”, for one {text[ONE]}, or “{many}”, for many {text[MANY]}.",
        ),
        Frame(
            [*stage, *words, *asked, *none, *_question(*verbs)],
            f"“{text[winner]}”, a mark before the text, gets most, {shares[winner]:.2f}; "
            f"“{text[ONE]}” is second, {shares[ONE]:.2f}.",
        ),
        Frame(
            [*stage, *words, *_asked("soft"), *_taken("soft", shares, 0), *hard],
            f"Hard adds only “{text[winner]}”, which knows no number, to “{text[MANY]}”: "
            f"“{many}”, wrong.",
        ),
        Frame(
            [*stage, *words, *soft, *hard],
            f"Soft: from each by its share, so {shares[ONE]:.2f} from “{text[ONE]}”.",
        ),
        Frame(
            [*stage, *words, *soft, *hard, _heard(shares), *_next("soft", look["soft"], verbs)],
            f"Soft adds {shares[ONE]:.2f} of “{text[ONE]}”, which outweighs “{text[MANY]}”: "
            f"“{one}”, right.",
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
    return [FIRST + STEP * j for j in range(1 + len(WORDS))]


def _middle() -> float:
    """Of the text."""
    return (_middles()[0] + _middles()[MANY]) / 2


def _words(text: Sequence[str], shares: Sequence[float] = ()) -> list[Part]:
    """The sentence, its last word bold, and under each word its share."""
    parts = []
    for j, (x, each) in enumerate(zip(_middles(), text, strict=True)):
        colour = _colour(j) if j in (0, ONE, MANY) else INK
        parts.append(word(f"word {j}", x, LINE, each, colour, weight=700 if j == MANY else 400))
    for j, share in enumerate(shares):
        x, says, weight = _middles()[j], f"{share:.2f}", 700 if j == ONE else 400
        colour = ORANGE if j == ONE else GREY
        parts.append(word(f"share {j}", x, GIVEN, says, colour, size=SMALL, weight=weight))
    return parts


def _colour(j: int) -> Colour:
    """Of a noun that is one or many; all else says nothing of that."""
    return {ONE: ORANGE, MANY: BLUE}.get(j, GREY)


def _stage() -> list[Part]:
    """Names of both lookups, and empty bars of what is next."""
    parts = [word("of what", VERBS + LONG, 15, "chance of the verb", GREY, "end", SMALL)]
    for lookup, (_, top) in LINES.items():
        parts += [
            word(f"{lookup} name", VERBS - 8, top, lookup, INK, "end", SMALL, 700),
            box(f"{lookup} bar", (VERBS, top + 9), (LONG, BAR), GREY, 0, 1),
        ]
    return parts


def _reach(j: int) -> tuple[float, float, float]:
    """Of a word's arc: its two ends, and how far they pull it."""
    starts, ends = _middles()[0], _middles()[MANY]
    x, end = _middles()[j], ends + SIDE * (2 - j)
    return x, end, 30 + 66 * (end - x) / (ends + 2 * SIDE - starts)


def _arc(key: str, j: int, share: float, colour: Colour, opacity: float, dashes: str) -> Part:
    """From a word to the last one, where the farther it comes the further right it ends."""
    lookup = key.split()[0]
    x, end, pull = _reach(j)
    seen = opacity / (0.25 + 0.75 * share)  # whatever its share
    look: dict[str, Any] = {"thickest": PIPE, "pull": pull, "dashes": dashes}
    floor, below = LINES[lookup][0], lookup == "hard"
    return arc(key, x, end, floor, share, colour, seen, below=below, **look)


def _asked(lookup: str) -> list[Part]:
    """To each word before, of which nothing is known."""
    return [_arc(f"{lookup} asks {j}", j, 0.05, GREY, 0.6, "3 7") for j in range(MANY)]


def _taken(lookup: str, shares: Sequence[float], come: float = 1) -> list[Part]:
    """From each word that something is taken of: not begun, 0, or there, 1; the noun's in front."""
    parts = []
    for j in sorted((j for j in range(MANY) if shares[j] >= DRAWN), key=lambda j: j == ONE):
        opacity = come * (1 if j == ONE else 0.7)
        part = _arc(f"{lookup} takes {j}", j, shares[j], _colour(j), opacity, f"{come} 2")
        look = {**part.look, "pathLength": 1, "stroke-linecap": "butt"}
        parts.append(part._replace(look=look))
    return parts


def _question(*verbs: str) -> list[Part]:
    return [
        word(f"{verb}?", VERBS, line, f"{verb}?", colour, "start", BIG, 600)
        for verb, line, colour in zip(verbs, (LINE, GIVEN), (ORANGE, BLUE), strict=True)
    ]


def _own() -> list[Part]:
    """From the last word to both bars, as a model adds the word itself to whatever it takes."""
    left, level = _middles()[MANY] + 33, LINE - 6
    ends = {"soft": LINES["soft"][1] + BAR + 14, "hard": LINES["hard"][1] - 22}
    lines = (
        line(f"own to {lookup}", [(left, level), (TRUNK, level), (TRUNK, end)], BLUE, 4)
        for lookup, end in ends.items()
    )
    return [*lines, word("own", TRUNK + 9, LINE, "its own word", BLUE, "start", SMALL)]


def _heard(shares: Sequence[float]) -> Part:
    """From the top of the noun's arc to the soft bar."""
    (x, end, pull), (floor, top) = _reach(ONE), LINES["soft"]
    way = ((x + end) / 2, floor - 0.75 * pull), (VERBS - 9, top + 9 + BAR / 2)
    return curve("heard", *way, ORANGE, 1 + (PIPE - 1) * shares[ONE])


def _next(lookup: str, parts_of: Sequence[float], verbs: Sequence[str]) -> list[Part]:
    """What comes after a lookup: a bar that both verbs share."""
    likely, top = int(parts_of[1] > parts_of[0]), LINES[lookup][1]
    colours, split, low = (ORANGE, BLUE), LONG * parts_of[0], top + 9
    parts = [
        box(f"{lookup} 0", (VERBS, low), (split, BAR), ORANGE),
        box(f"{lookup} 1", (VERBS + split, low), (LONG - split, BAR), BLUE),
    ]
    for n, (verb, part, colour) in enumerate(zip(verbs, parts_of, colours, strict=True)):
        says, key = f"{verb} {100 * part:.0f}%", f"{lookup} says {n}"
        if n == likely:
            parts.append(word(key, VERBS, top, says, colour, "start", BIG, 700))
        else:  # at its end of the bar
            x, anchor = (VERBS + LONG, "end") if n else (VERBS, "start")
            parts.append(word(key, x, low + BAR + 20, says, colour, anchor, SMALL))
    return parts
