"""Lesson 07 opens with four heads over one sentence: where one of them goes, the verb flips."""

from __future__ import annotations

import math
from collections.abc import Collection

from attnlab import small
from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, arc, box, places, word
from attnlab.figures.palette import BLUE, GREEN, GREY, ORANGE, Colour
from attnlab.small import measure

TEXT = ("the", "king", "near", "the", "dogs")
VERB = "runs"  # where the subject is one
FORMS = (VERB, VERB.removesuffix("s"))
LAYER = 1  # counted from 0: the second, whose heads the lesson removes
HEADS = range(4)
ITS, OTHERS = ORANGE, BLUE  # the head that finds the subject, and the others
TAKEN = GREEN  # what is taken for the subject without it
HIGH, FLOOR, LINE, LETTERS, GAP = 244, 188, 222, 24, 17
LEAST = 0.2  # a weight that is drawn
FAR = 2  # words, to each of which an arc has room for its head's name
HEIGHTS = (168, 142, 116, 90, 47, 22)  # of arcs, from outside in
BESIDE, WITHIN = 9, 11  # from one arc's foot to the next: at the last word, and at those before it
PLACES = places(TEXT, LETTERS, GAP, left=8)
CROWNS = (PLACES[0] + PLACES[-1]) / 2  # where far heads are named
NEXT, BARS = 409, (375, 443)  # middles of the next word's box, and of the bars of its two forms
BAR, TALL, LOW = 56, 90, 160  # a bar's width and greatest height; where bars stand
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
    the_rest = f"Heads {named} look at “the”, each with over {least:.1f} of its weight."
    flips = (
        f"Heads {named} hardly look at “{TEXT[heard]}”: what is left is “{TEXT[-1]}”, "
        f"and “{FORMS[1]}” wins."
    )
    scenes: list[tuple[Collection[int], Collection[int] | None, str]] = [
        ((), None, "The verb is missing. The last word looks back with four heads."),
        (others, None, the_rest),
        (HEADS, None, f"Head {subject + 1} looks at “{TEXT[heard]}” ({rows[subject][heard]:.2f})."),
        (HEADS, (), f"With all four, “{VERB}” wins: it fits one {TEXT[heard]}."),
        (HEADS, others, f"Without heads {named}, “{VERB}” still wins in this sentence."),
        (HEADS, (), f"All four are back. Now only head {subject + 1} goes."),
        (HEADS, (subject,), flips),
    ]
    frames = []
    for seen, off, told in scenes:
        share = None if off is None else singular(off)
        lit = {*seen} - {*(off or ())}
        parts = [*_arcs(rows, seen, off or ()), *_words(rows, lit, share), *_next(share)]
        frames.append(Frame(parts, told))
    return Film("Which of four heads finds the king?", frames, HIGH)


def singular(off: Collection[int]) -> float:
    """The share of the singular, of both forms of the verb, without some heads."""
    without = measure.without([(LAYER, head) for head in off])
    return measure.verbs(small.load(), TEXT, without)[VERB]


def _colour(head: int) -> Colour:
    return ITS if head == small.head("subject")[1] else OTHERS


def _words(rows: list[list[float]], lit: Collection[int], share: float | None) -> list[Part]:
    """The text; what a head looks at is in its colour, and so is what is taken for the subject."""
    parts = []
    for n, text in enumerate(TEXT):
        looks = [_colour(head) for head in lit if rows[head][n] >= LEAST]
        last = n == len(TEXT) - 1
        taken = [TAKEN] if last and share is not None and share < 0.5 else []
        ink = (*looks, *taken, INK if last else GREY)[0]
        weight = 600 if looks or taken else 400
        parts.append(word(f"word {n}", PLACES[n], LINE, text, ink, size=LETTERS, weight=weight))
    return parts


def _next(share: float | None) -> list[Part]:
    """Where the next word comes, and how likely each form of it is."""
    flipped = share is not None and share < 0.5
    colour = GREY if share is None else TAKEN if flipped else ITS
    text = "?" if share is None else FORMS[flipped]
    parts = [
        box("next", (NEXT - 62, LINE - 28), (124, 40), colour, 0.12, 2),
        word("verb", NEXT, LINE, text, colour, size=LETTERS, weight=600),
    ]
    for n, (x, form) in enumerate(zip(BARS, FORMS, strict=True)):
        wins, part = n == flipped, 0 if share is None else 1 - share if n else share
        ink = colour if wins else GREY
        parts += [
            box(f"room {form}", (x - BAR / 2, LOW - TALL), (BAR, TALL), GREY, 0.2),
            box(f"bar {form}", (x - BAR / 2, LOW - TALL * part), (BAR, TALL * part), ink, 0.85),
            word(f"form {form}", x, LOW + 20, form, size=SMALL),
        ]
        if share is not None:
            says = f"{part:.0%}"
            top = LOW - TALL - 8
            parts.append(word(f"says {form}", x, top, says, ink, size=SMALL, weight=700))
    return [*parts, word("of", NEXT, LOW - TALL - 34, "which verb?", GREY, size=SMALL)]


def _arcs(rows: list[list[float]], seen: Collection[int], off: Collection[int]) -> list[Part]:
    """What heads look at, with their numbers, nested so that none crosses another."""
    last = len(TEXT) - 1
    drawn = [(m, h) for m in range(last) for h in HEADS if rows[h][m] >= LEAST]
    parts = []
    for n, ((m, head), high) in enumerate(zip(drawn, HEIGHTS, strict=True)):
        here = [h for to, h in drawn if to == m]
        start = PLACES[last] + BESIDE * ((len(drawn) - 1) / 2 - n)
        end = PLACES[m] + WITHIN * (here.index(head) - (len(here) - 1) / 2)
        lit = head in seen and head not in off
        colour = _colour(head) if lit else GREY
        opacity = 0.9 if lit else 0.5 if head in off else 0.25
        parts += [
            arc(
                f"{head} to {m}",
                start,
                end,
                FLOOR,
                rows[head][m],
                colour,
                opacity,
                dashes=OFF if head in off else ON,
                thickest=7,
                pull=high / 0.75,
            ),
            word(
                f"{head} names {m}",
                CROWNS if m < FAR else (start + end) / 2,
                FLOOR - high - 6,
                f"head {head + 1}" if m < FAR else f"{head + 1}",
                colour,
                size=SMALL,
                weight=700,
            ),
        ]
    return parts
