"""Lesson 07 opens with four heads over one sentence: where one of them goes, the verb flips."""

from __future__ import annotations

import math
from collections.abc import Collection

from attnlab import small
from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, arc, box, centred, rise, word
from attnlab.figures.palette import BLUE, GREEN, GREY, ORANGE, PURPLE
from attnlab.small import measure

TEXT = ("the", "king", "near", "the", "dogs")
VERB = "runs"  # where the subject is one
LAYER = 1  # counted from 0: the second, whose heads the lesson removes
HEADS = range(4)
COLOURS = (BLUE, GREEN, ORANGE, PURPLE)  # of heads
SPREAD = (410, 620, 700, 290)  # how far words reach for each head's arcs: the less, the higher
HIGH, FLOOR, LINE, LETTERS, GAP = 238, 184, 216, 24, 22
LEAST, NAMED = 0.05, 0.3  # a weight that is drawn, and one whose arc has its head's number
UNDER = 100  # how wide an arc is whose number stands under it
GAUGE, TALL = 26, 96  # its width and height
ON, OFF = "20 0", "5 8"  # dashes of arcs


def opening() -> Film:
    """The film."""
    rows = small.weights(TEXT)[LAYER][:, -1].tolist()
    subject = small.head("subject")[1]
    others = [head for head in HEADS if head != subject]
    given = [sum(w for w, text in zip(rows[h], TEXT, strict=True) if text == "the") for h in HEADS]
    heard = rows[subject].index(max(rows[subject]))
    named = " and ".join((", ".join(str(h + 1) for h in others[:-1]), str(others[-1] + 1)))
    least = math.floor(10 * min(given[head] for head in others)) / 10
    unheard = max(rows[head][heard] for head in others)
    the_rest = f"Heads {named} look at both “the”, each with over {least:.1f} of its weight."
    flips = f"The verb flips: no other head gives “{TEXT[heard]}” more than {unheard:.2f}."
    scenes: list[tuple[Collection[int], Collection[int] | None, str]] = [
        ((), None, "The verb is missing. The last word looks back with four heads."),
        (others, None, the_rest),
        (HEADS, None, f"Head {subject + 1} looks at “{TEXT[heard]}” ({rows[subject][heard]:.2f})."),
        (HEADS, (), f"With all four the verb is “{VERB}”, as one king needs it."),
        (HEADS, others, f"Without heads {named}, all at once, it is still “{VERB}”."),
        (HEADS, (), f"All four are back. Now only head {subject + 1} goes."),
        (HEADS, (subject,), flips),
    ]
    frames = []
    for seen, off, told in scenes:
        drawn = [
            part
            for h, row in enumerate(rows)
            for part in _head(h, row, h in seen and h not in (off or ()), h in (off or ()))
        ]
        share = None if off is None else singular(off)
        frames.append(Frame([*drawn, *_sentence(share)], told))
    return Film("Four heads, one sentence", frames, HIGH)


def singular(off: Collection[int]) -> float:
    """The share of the singular, of both forms of the verb, without some heads."""
    without = measure.without([(LAYER, head) for head in off])
    return measure.verbs(small.load(), TEXT, without)[VERB]


def _places() -> list[float]:
    return centred((*TEXT, VERB), LETTERS, GAP)


def _sentence(share: float | None) -> list[Part]:
    """The words, where the next one comes, and over it the share of its singular."""
    *places, verb = _places()
    flipped = share is not None and share < 0.5
    colour = ORANGE if flipped else INK
    full, low = TALL * (share or 0), LINE - 44
    text = "?" if share is None else VERB.removesuffix("s") if flipped else VERB
    parts = [word(f"word {n}", x, LINE, TEXT[n], size=LETTERS) for n, x in enumerate(places)]
    parts += [
        box("next", (verb - 36, LINE - 28), (76, 40), ORANGE if flipped else GREY, 0.12, 2),
        word("verb", verb + 2, LINE, text, colour, size=LETTERS, weight=600),
        box("gauge", (verb + 2 - GAUGE / 2, low - TALL), (GAUGE, TALL), GREY, 0.2),
        box("share", (verb + 2 - GAUGE / 2, low - full), (GAUGE, full), INK, 0.8),
        word("of", verb + 2, low - TALL - 34, f"“{VERB}”", size=SMALL),
    ]
    if share is not None:
        parts.append(word("says", verb + 2, low - TALL - 8, f"{share:.2f}", colour, weight=600))
    return parts


def _head(head: int, row: list[float], lit: bool, off: bool) -> list[Part]:
    """What a head looks at, and its number beside what it looks at a good deal."""
    places, wide = _places(), SPREAD[head]
    aside = 5 * (head - 1.5)  # so that arcs to one word lie beside each other
    start = places[len(row) - 1] + aside
    colour, opacity = (COLOURS[head], 0.9) if lit else (GREY, 0.5 if off else 0.25)
    dashes, parts = OFF if off else ON, []
    for m, weight in enumerate(row[:-1]):
        end = places[m] + aside
        if weight >= LEAST:
            ends = (start, end, FLOOR, weight, colour, opacity, wide)
            parts.append(arc(f"{head} to {m}", *ends, dashes=dashes))
        if weight >= NAMED:
            top = FLOOR - 0.75 * rise(start - end, wide)
            y = top + (23 if start - end < UNDER or head == HEADS[2] else -7)
            x = (start + end) / 2
            look = (colour, "middle", SMALL, 700)
            parts.append(word(f"{head} names {m}", x, y, f"{head + 1}", *look))
    return parts
