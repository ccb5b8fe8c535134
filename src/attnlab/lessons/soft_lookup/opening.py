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
from attnlab.figures.live.parts import SMALL, WIDE, Part, arc, centred, word
from attnlab.figures.palette import BLUE, GREY, ORANGE

SENTENCES = Path(__file__).with_name("sentences.json")
MENUS = {
    "first noun": ("dogs", "dog", "kings", "king"),
    "link": ("that … sees", "that … knows", "behind", "near"),
    "second noun": ("boy", "girls", "cat", "cats"),
}
MANY = ("dogs", "kings", "girls", "cats")
HIGH, LINE, FLOOR = 228, 190, 168  # of the sheet; of the words; where arcs begin
GAP, LEAST = 13, 0.05  # between words; a weight that is drawn
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
    rows, guess, other = known["weights"], known["guess"], known["other"]
    line = [START, *words, guess]
    places = centred(line, gap=GAP)
    frames = []
    for last in range(1, len(words) + 1):
        parts = [*_words(line[: last + 1], places), *_arcs(rows, places, last)]
        frames.append(Frame(parts, _heard(line, rows[last])))
    last = len(words)
    parts = [*_words(line[:-1], places), *_arcs(rows, places, last)]
    asks = word("guess", places[-1], LINE, "?", ORANGE, weight=700)
    frames.append(
        Frame([*parts, asks], f"Which verb is next? The model guesses after “{line[last]}”.")
    )
    parts = [*_words(line[:-1], places), *_arcs(rows, places, last)]
    parts += [
        word("guess", places[-1], LINE, guess, ORANGE, weight=700),
        word("not", min(places[-1] + 45, WIDE), LINE + 28, f"not {other}", GREY, "end", SMALL),
    ]
    whom = chosen["first noun"]
    told = (
        f"“{line[last]}” has listened to “{whom}”: the likeliest verb is “{guess}”, not “{other}”."
    )
    return [*frames, Frame(parts, told)]


def _heard(line: Sequence[str], row: Sequence[float]) -> str:
    last = len(row) - 1
    most = max(range(len(row)), key=lambda j: row[j])
    if most == last:
        return f"“{line[last]}” keeps to itself: {row[last]:.2f}."
    whom = "the start of the text" if most == 0 else f"“{line[most]}”"
    return f"“{line[last]}” listens most to {whom}: {row[most]:.2f}."


def _words(line: Sequence[str], places: Sequence[float]) -> list[Part]:
    last = len(line) - 1
    return [
        word("word 0", places[0], LINE, START, GREY, size=SMALL),
        *(
            word(f"word {i}", places[i], LINE, line[i], weight=700 if i == last else 400)
            for i in range(1, len(line))
        ),
    ]


def _arcs(rows: Sequence[Sequence[float]], places: Sequence[float], last: int) -> list[Part]:
    """Of all words so far; those of the last are in front, and the others paler."""
    wide = places[-1] - places[0]
    return [
        arc(
            f"{i} {j}",
            places[i],
            places[j],
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
