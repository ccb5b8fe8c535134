"""Lesson 01 opens with sentences to put together, and who listens to whom in them.

What the small model's words listen to is recorded in `sentences.json`, by `make model`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from attnlab.figures.live.film import Choice, Film, Frame
from attnlab.figures.live.parts import (
    INK,
    LETTER,
    SMALL,
    WIDE,
    Part,
    across,
    arc,
    box,
    line,
    places,
    word,
)
from attnlab.figures.palette import GREY, ORANGE

SENTENCES = Path(__file__).with_name("sentences.json")
MENUS = {
    "first noun": ("dogs", "dog", "kings", "king"),
    "link": ("that … sees", "that … knows", "behind", "near"),
    "second noun": ("boy", "girls", "cat", "cats"),
}
MANY = ("dogs", "kings", "girls", "cats")
HIGH, LINE, FLOOR = 228, 190, 168  # of the sheet; of the words; where arcs begin
GAP, LEAST = 15, 0.05  # between words, where there is room; a weight that is drawn
EDGE, TALL = 16, 58  # how much wider the slot of the verbs is than they are, how high it is
AIR = 6  # before the slot, as its neighbour is bold
APART = 13  # how far the two verbs are from the line
START = "start"  # what the model has for the beginning of a text


def opening() -> Film:
    """The film, for each sentence that the menus allow."""
    return Film("Who listens to whom? Put a sentence together", _frames, HIGH, menus=MENUS)


def sentence(chosen: Choice) -> list[str]:
    """Its words, without the verb that the model has to guess."""
    first, link, second = (chosen[name] for name in MENUS)
    if " … " not in link:
        return ["the", first, link, "the", second]
    that, sees = link.split(" … ")
    return ["the", first, that, "the", second, sees[:-1] if second in MANY else sees]


def sentences() -> list[list[str]]:
    """All of them."""
    return [sentence(dict(zip(MENUS, each, strict=True))) for each in product(*MENUS.values())]


@cache
def _recorded() -> dict[str, Any]:
    """For each sentence, rows of weights up to each word, and what verb may be next.

    The first word is the start of the text.
    """
    return {" ".join(each["words"]): each for each in json.loads(SENTENCES.read_text("utf-8"))}


def _frames(chosen: Choice) -> list[Frame]:
    words = sentence(chosen)
    known = _recorded()[" ".join(words)]
    row, verbs = known["weights"][-1], sorted((known["guess"], known["other"]))
    text, last = [START, *words], len(words)
    middles = _places(text, verbs[1])
    first, second = nouns = (2, text.index(chosen["second noun"], 3))
    stage = [*_asked(middles, last, nouns), *_doubt(middles, last, first)]
    slot, said = _verbs(verbs, middles[-1]), f"“{text[-1]}”"
    near = (
        f"stands beside “{text[second]}”, and gives it"
        if second < last
        else "is a noun itself, and keeps"
    )
    heard = [*_arcs(row, middles), *_given(row, middles, nouns)]
    guess, other = known["guess"], known["other"]
    return [
        Frame(
            [*_words(text, middles), *stage, *slot],
            f"Whom will {said} listen to? That decides between “{verbs[0]}” and “{verbs[1]}”.",
        ),
        Frame(
            [*_words(text, middles), *stage, *slot, *_given(row, middles, (second,))],
            f"{said} {near} {row[second]:.2f}.",
        ),
        Frame(
            [*_words(text, middles, first), *_asked(middles, last, nouns), *slot, *heard],
            f"“{text[first]}”, {last - first} words back, gets {row[first]:.2f}.",
        ),
        Frame(
            [
                *_words(text, middles, first),
                *_asked(middles, last, nouns),
                *_verbs(verbs, middles[-1], guess),
                *heard,
            ],
            f"{said} has listened to “{text[first]}”: the likeliest verb is “{guess}”, "
            f"not “{other}”.",
        ),
    ]


def _places(text: Sequence[str], verb: str) -> list[float]:
    """Where the middles of words are, and of the slot for the verb after them."""
    wide = _width(verb) + AIR
    gap = min(GAP, (WIDE - 2 - wide - across(text, gap=0)) / len(text))
    right = across(text, gap=gap) + gap
    left = (WIDE - right - wide) / 2
    return [*places(text, gap=gap, left=left), left + right + (wide + AIR) / 2]


def _width(verb: str) -> float:
    return LETTER * SMALL * len(verb) + EDGE


def _asked(middles: Sequence[float], last: int, nouns: Sequence[int]) -> list[Part]:
    """The arcs of which the last word may draw one: to either noun."""
    wide = middles[-1] - middles[0]
    return [
        arc(f"to {j}?", middles[last], middles[j], FLOOR, 0.15, GREY, 2, wide, dashes="4 6")
        for j in nouns
    ]


def _doubt(middles: Sequence[float], last: int, first: int) -> list[Part]:
    """A question mark under the wider of these arcs."""
    middle = (middles[last] + middles[first]) / 2
    return [word("doubt", middle, FLOOR - 30, "?", ORANGE, size=36, weight=700)]


def _given(row: Sequence[float], middles: Sequence[float], nouns: Sequence[int]) -> list[Part]:
    """What these nouns are given, under them."""
    return [
        word(f"given {j}", middles[j], LINE + 24, f"{row[j]:.2f}", ORANGE, size=SMALL, weight=600)
        for j in nouns
    ]


def _verbs(verbs: Sequence[str], middle: float, guess: str = "") -> list[Part]:
    """Both, in a slot at the end of the line; the one that is not guessed is crossed out."""
    wide = _width(verbs[1])
    corner = (middle - wide / 2, LINE - 6 - TALL / 2)
    parts = [box("slot", corner, (wide, TALL), ORANGE, 0.1, 1.5)]
    for up, verb in zip((-1, 1), verbs, strict=True):
        is_lost = bool(guess) and verb != guess
        y = LINE + up * APART
        weight = 700 if verb == guess else 400
        colour = GREY if is_lost else ORANGE
        parts.append(word(f"verb {up}", middle, y, verb, colour, size=SMALL, weight=weight))
        if is_lost:
            half = LETTER * SMALL * len(verb) / 2
            parts.append(line("lost", [(middle - half, y - 6), (middle + half, y - 6)], GREY, 2))
    return parts


def _words(text: Sequence[str], middles: Sequence[float], subject: int | None = None) -> list[Part]:
    """All words; the last is bold, as it asks, and so is the one that it has listened to."""
    return [
        word("word 0", middles[0], LINE, START, GREY, size=SMALL),
        *(
            word(
                f"word {i}",
                middles[i],
                LINE,
                text[i],
                ORANGE if i == subject else INK,
                weight=700 if i in (len(text) - 1, subject) else 400,
            )
            for i in range(1, len(text))
        ),
    ]


def _arcs(row: Sequence[float], middles: Sequence[float]) -> list[Part]:
    """Of the last word."""
    last, wide = len(row) - 1, middles[-1] - middles[0]
    return [
        arc(f"{last} {j}", middles[last], middles[j], FLOOR, weight, ORANGE, 1, wide)
        for j, weight in enumerate(row)
        if weight >= LEAST
    ]
