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
from attnlab.figures.palette import BLUE, GREY, ORANGE

SENTENCES = Path(__file__).with_name("sentences.json")
MENUS = {
    "first noun": ("dogs", "dog", "kings", "king"),
    "link": ("that … sees", "that … knows", "behind", "near"),
    "second noun": ("boy", "girls", "cat", "cats"),
}
MANY = ("dogs", "kings", "girls", "cats")
HIGH, LINE, FLOOR = 228, 190, 168  # of the sheet; of the words; where arcs begin
GAP, LEAST = 15, 0.05  # between words, where there is room; a weight that is drawn
EDGE = 10  # how much wider the slot of the verbs is than they are
APART, AWAY = 13, 28  # how far the two verbs are from the line, and the one that lost
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
    rows, verbs = known["weights"], sorted((known["guess"], known["other"]))
    text, last = [START, *words], len(words)
    middles = _places(text, verbs[1])
    nouns = (2, text.index(chosen["second noun"], 3))
    stage = [*_asked(middles, last, nouns), *_verbs(verbs, middles[-1])]
    told = f"Whom will “{text[-1]}” listen to? That decides between “{verbs[0]}” and “{verbs[1]}”."
    frames = [Frame([*_words(text, middles, last), *stage, _doubt(middles, last, nouns[0])], told)]
    for at in range(1, last + 1):
        parts = [*_words(text, middles, at), *stage, *_arcs(rows, middles, at)]
        frames.append(Frame(parts, _heard(text, rows[at])))
    guess, other = known["guess"], known["other"]
    parts = [*_words(text, middles, last, 2), *_arcs(rows, middles, last)]
    parts += [*_asked(middles, last, nouns), *_verbs(verbs, middles[-1], guess)]
    told = (
        f"“{text[-1]}” has listened to “{text[2]}”: the likeliest verb is “{guess}”, not “{other}”."
    )
    return [*frames, Frame(parts, told)]


def _places(text: Sequence[str], verb: str) -> list[float]:
    """Where the middles of words are, and of the slot for the verb after them."""
    wide = _width(verb)
    gap = min(GAP, (WIDE - wide - across(text, gap=0)) / len(text))
    right = across(text, gap=gap) + gap
    left = (WIDE - right - wide) / 2
    return [*places(text, gap=gap, left=left), left + right + wide / 2]


def _width(verb: str) -> float:
    return LETTER * SMALL * len(verb) + EDGE


def _asked(middles: Sequence[float], last: int, nouns: Sequence[int]) -> list[Part]:
    """The arcs of which the last word may draw one: to either noun."""
    wide = middles[-1] - middles[0]
    return [
        arc(f"to {j}?", middles[last], middles[j], FLOOR, 0.15, GREY, 2, wide, dashes="4 6")
        for j in nouns
    ]


def _doubt(middles: Sequence[float], last: int, first: int) -> Part:
    """A question mark under the wider of these arcs."""
    middle = (middles[last] + middles[first]) / 2
    return word("doubt", middle, FLOOR - 30, "?", ORANGE, size=36, weight=700)


def _verbs(verbs: Sequence[str], middle: float, guess: str = "") -> list[Part]:
    """Both, in a slot at the end of the line; the one that is guessed comes onto the line."""
    wide = _width(verbs[1])
    low = LINE - 6
    height = 31 if guess else 58
    parts = [box("slot", (middle - wide / 2, low - height / 2), (wide, height), ORANGE, 0.1, 1.5)]
    for up, verb in zip((-1, 1), verbs, strict=True):
        is_lost = bool(guess) and verb != guess
        y = LINE + up * APART if not guess else LINE + up * AWAY * is_lost
        weight = 700 if verb == guess else 400
        colour = GREY if is_lost else ORANGE
        parts.append(word(f"verb {up}", middle, y, verb, colour, size=SMALL, weight=weight))
        if is_lost:
            half = LETTER * SMALL * len(verb) / 2
            parts.append(line("lost", [(middle - half, y - 6), (middle + half, y - 6)], GREY, 2))
    return parts


def _heard(text: Sequence[str], row: Sequence[float]) -> str:
    last = len(row) - 1
    most = max(range(len(row)), key=lambda j: row[j])
    if most == last:
        return f"“{text[last]}” keeps to itself: {row[last]:.2f}."
    whom = "the start of the text" if most == 0 else f"“{text[most]}”"
    return f"“{text[last]}” listens most to {whom}: {row[most]:.2f}."


def _words(
    text: Sequence[str], middles: Sequence[float], last: int, subject: int | None = None
) -> list[Part]:
    """All words; those that are not read yet are grey, and the one that is read last is bold."""
    return [
        word("word 0", middles[0], LINE, START, GREY, size=SMALL),
        *(
            word(
                f"word {i}",
                middles[i],
                LINE,
                text[i],
                ORANGE if i == subject else INK if i <= last else GREY,
                weight=700 if i in (last, subject) else 400,
            )
            for i in range(1, len(text))
        ),
    ]


def _arcs(rows: Sequence[Sequence[float]], middles: Sequence[float], last: int) -> list[Part]:
    """Of all words so far; those of the last are in front, and the others paler."""
    wide = middles[-1] - middles[0]
    return [
        arc(
            f"{i} {j}",
            middles[i],
            middles[j],
            FLOOR,
            weight,
            ORANGE if i == last else BLUE,
            1 if i == last else 0.3,
            wide,
        )
        for i in range(1, last + 1)
        for j, weight in enumerate(rows[i])
        if weight >= LEAST
    ]
