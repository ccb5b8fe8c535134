"""Lesson 07 opens with four heads over one sentence: where one of them goes, the verb flips."""

from __future__ import annotations

from attnlab import small
from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, WIDE, Part, arc, box, centred, rise, word
from attnlab.figures.palette import BLUE, GREEN, GREY, ORANGE, PURPLE
from attnlab.small import measure

TEXT = ("the", "king", "near", "the", "dogs")
LAYER = 1  # counted from 0: the second, whose heads the lesson removes
COLOURS = (BLUE, GREEN, ORANGE, PURPLE)  # of heads
SPREAD = (400, WIDE, WIDE, 290)  # how far words reach for each head's arcs: the less, the higher
HIGH, FLOOR, LINE, LETTERS, GAP = 236, 180, 212, 24, 22
LEAST = 0.05  # a weight that is drawn
INSIDE = (1, 2)  # heads whose number stands under their arc, as others pass over it


def opening() -> Film:
    """The film."""
    rows = small.weights(TEXT)[LAYER][:, -1].tolist()
    subject = small.head("subject")[1]
    others = [head for head in range(len(rows)) if head != subject]
    verbs = measure.removal(small.load(), LAYER, TEXT)
    singular = {off: verbs(off)["runs"] for off in (None, *range(len(rows)))}
    frames = []
    told = "The verb is missing. The last word has four heads, and each looks back on its own."
    for head in range(-1, len(rows)):  # those that have looked are in colour
        if head >= 0:
            to = max(range(len(rows[head])), key=lambda m: rows[head][m])
            told = f"Head {head + 1} looks most at {_named(to)} ({rows[head][to]:.2f})."
        drawn = [part for h, row in enumerate(rows) for part in _head(h, row, pale=h > head)]
        frames.append(Frame([*drawn, *_sentence()], told))
    for off in (None, *others, None, subject):
        drawn = [part for h, row in enumerate(rows) for part in _head(h, row, off=off == h)]
        frames.append(
            Frame(
                [*drawn, *_sentence(singular[off] > 0.5, off == subject)], _told(off, singular[off])
            )
        )
    return Film("Four heads, one sentence", frames, HIGH)


def _told(off: int | None, singular: float) -> str:
    verb, number, share = ("runs", "singular", singular)
    if singular < 0.5:
        verb, number, share = ("run", "plural", 1 - singular)
    if off is None:
        return f"With all four heads the verb is “{verb}”: {number} with a share of {share:.2f}."
    if number == "singular":
        return f"Without head {off + 1} it is “{verb}” as before: {number}, {share:.2f}."
    return f"Without head {off + 1} it is “{verb}”: {number}, {share:.2f}. The king is not heard."


def _named(place: int) -> str:
    again = TEXT.index(TEXT[place]) < place
    return f"the second “{TEXT[place]}”" if again else f"“{TEXT[place]}”"


def _places() -> list[float]:
    return centred((*TEXT, "runs"), LETTERS, GAP)


def _sentence(singular: bool | None = None, flipped: bool = False) -> list[Part]:
    """The words, and where the next one comes."""
    *places, verb = _places()
    parts = [word(f"word {n}", x, LINE, TEXT[n], size=LETTERS) for n, x in enumerate(places)]
    parts.append(
        box("next", (verb - 38, LINE - 27), (76, 38), ORANGE if flipped else GREY, 0.12, 2)
    )
    colour = ORANGE if flipped else INK
    text = {None: "?", True: "runs", False: "run"}[singular]
    parts.append(word("verb", verb, LINE, text, colour, size=LETTERS, weight=600))
    return parts


def _head(head: int, row: list[float], off: bool = False, pale: bool = False) -> list[Part]:
    """What a head looks at, and its number over what it looks at most."""
    places, wide = _places(), SPREAD[head]
    aside = 5 * (head - 1.5)  # so that arcs to one word lie beside each other
    start = places[len(row) - 1] + aside
    colour, opacity = (GREY, 0.25) if off or pale else (COLOURS[head], 0.9)
    parts = [
        arc(f"{head} to {m}", start, places[m] + aside, FLOOR, weight, colour, opacity, wide)
        for m, weight in enumerate(row[:-1])
        if weight >= LEAST
    ]
    most = max(range(len(row) - 1), key=lambda m: row[m])
    end = places[most] + aside
    top = FLOOR - 0.75 * rise(abs(start - end), wide) + (24 if head in INSIDE else -8)
    text = f"{head + 1} off" if off else f"{head + 1}"
    return [
        *parts,
        word(f"head {head}", (start + end) / 2, top, text, colour, size=SMALL, weight=700),
    ]
