"""Lesson 07 opens with four heads over one sentence: where one of them goes, the verb flips."""

from __future__ import annotations

import math
from collections.abc import Collection

from attnlab import small
from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, arc, box, places, word
from attnlab.figures.palette import BLUE, GREEN, GREY, ORANGE, PURPLE
from attnlab.small import measure

TEXT = ("the", "king", "near", "the", "dogs")
VERB = "runs"  # where the subject is one
FORMS = (VERB, VERB.removesuffix("s"))
LAYER = 1  # counted from 0: the second, whose heads the lesson removes
HEADS = range(4)
COLOURS = (BLUE, GREEN, ORANGE, PURPLE)  # of heads
HIGH, FLOOR, LINE, LETTERS, GAP = 244, 188, 222, 24, 22
LEAST = 0.2  # a weight that is drawn
HEIGHTS = (162, 138, 114, 90, 46, 22)  # of arcs, from outside in
BESIDE, WITHIN = 9, 11  # from one arc's foot to the next: at the last word, and at those before it
PLACES = places((*TEXT, VERB), LETTERS, GAP, left=22)
NEXT, BARS = 424, (400, 448)  # middles of the next word's box, and of the bars of its two forms
BAR, TALL, LOW = 26, 90, 160  # a bar's width and greatest height; where bars stand
ON, OFF = "20 0", "5 8"  # dashes of arcs


def opening() -> Film:
    """The film."""
    rows = small.weights(TEXT)[LAYER][:, -1].tolist()
    subject, repeats = small.head("subject")[1], small.head("repeat")[1]
    others = [head for head in HEADS if head != subject]
    given = [sum(w for w, text in zip(rows[h], TEXT, strict=True) if text == "the") for h in HEADS]
    heard = rows[subject].index(max(rows[subject]))
    named = " and ".join((", ".join(str(h + 1) for h in others[:-1]), str(others[-1] + 1)))
    least = math.floor(10 * min(given[head] for head in others)) / 10
    unheard = max(rows[head][heard] for head in others)
    the_rest = f"Heads {named} look at “the”, each with over {least:.1f} of its weight."
    back = f"All four are back: text that repeats needs head {repeats + 1}."
    flips = (
        f"Without head {subject + 1} nobody reads “{TEXT[heard]}” ({unheard:.2f} at most): "
        f"“{FORMS[1]}” wins."
    )
    scenes: list[tuple[Collection[int], Collection[int] | None, str]] = [
        ((), None, "The verb is missing. The last word looks back with four heads."),
        (others, None, the_rest),
        (HEADS, None, f"Head {subject + 1} looks at “{TEXT[heard]}” ({rows[subject][heard]:.2f})."),
        (HEADS, (), f"With all four, “{VERB}” wins: it fits one {TEXT[heard]}."),
        (HEADS, others, f"Without heads {named}, all at once, “{VERB}” still wins."),
        (HEADS, (), f"{back} Now only head {subject + 1} goes."),
        (HEADS, (subject,), flips),
    ]
    frames = []
    for seen, off, told in scenes:
        share = None if off is None else singular(off)
        frames.append(Frame([*_arcs(rows, seen, off or ()), *_sentence(share)], told))
    return Film("Which of four heads finds the king?", frames, HIGH)


def singular(off: Collection[int]) -> float:
    """The share of the singular, of both forms of the verb, without some heads."""
    without = measure.without([(LAYER, head) for head in off])
    return measure.verbs(small.load(), TEXT, without)[VERB]


def _sentence(share: float | None) -> list[Part]:
    """The words, where the next one comes, and how likely each form of it is."""
    flipped = share is not None and share < 0.5
    colour = ORANGE if flipped else INK
    text = "?" if share is None else FORMS[flipped]
    parts = [word(f"word {n}", PLACES[n], LINE, each, size=LETTERS) for n, each in enumerate(TEXT)]
    parts += [
        box("next", (NEXT - 38, LINE - 28), (76, 40), ORANGE if flipped else GREY, 0.12, 2),
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
        colour = COLOURS[head] if lit else GREY
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
                (start + end) / 2,
                FLOOR - high - 6,
                f"{head + 1}",
                colour,
                size=SMALL,
                weight=700,
            ),
        ]
    return parts
