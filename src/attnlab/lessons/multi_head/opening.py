"""Lesson 07 opens with four heads over one sentence. Without one, the last noun decides."""

from __future__ import annotations

import math
from collections.abc import Collection
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import torch

from attnlab import small
from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, arc, box, line, places, word
from attnlab.figures.palette import BLUE, GREY, GROUND, ORANGE, PURPLE, Colour
from attnlab.small import measure
from attnlab.small.grammar import BESIDE, NUMBER, PLURAL, RUN, RUNS, SINGULAR

TEXT = ("the", "king", "near", "the", "dogs")
ONE = "dog"  # what the last word is exchanged for
VERB = "runs"  # where the subject is one
FORMS = (VERB, VERB.removesuffix("s"))
LAYER, SUBJECT = small.head("subject")  # counted from 0: the second, whose heads the lesson removes
HEADS = range(4)
ITS, OTHERS, LAST = ORANGE, BLUE, PURPLE  # the subject's head, the others, the last noun
HIGH, LINE, LETTERS = 258, 110, 22
PLACES = places(TEXT, LETTERS, gap=13, left=4)
OVER, UNDER = LINE - 24, LINE + 10  # where arcs begin, over the words and under them
LEAST = 0.2  # a weight that is drawn
TALL, HEIGHTS = 66, (120, 97, 74, 39, 17)  # of arcs: the one over the words, and those under them
BESIDES, WITHIN = 8, 11  # from one arc's foot to the next: at the last word, and at those before it
FAR = 2  # words, to each of which an arc has room for its head's whole name
NEXT, WIDE = 410, 132  # of the next word's box: its middle and its width
WAY = (292, 332)  # ends of the last word's own way to it
ROWS = {"on": 206, "off": 246}  # of what was tried
COLUMNS, HALF = {TEXT[-1]: 386, ONE: 445}, 24  # their middles, and half of a verb
NAMES, BAND, COLUMN = 290, 36, 172  # where rows' names begin; how tall rows are; the first line
ON, OFF, ASKED = "500 0", "5 8", "2 8"  # dashes of arcs; the last of which nothing is known


class State(NamedTuple):
    """What is seen at one time.

    Attributes:
        told: the sentence on it.
        seen: heads that have been spoken of; of others nothing is known.
        off: heads that are removed; None before the verb is asked for.
        last: the last word.
    """

    told: str
    seen: Collection[int] = HEADS
    off: Collection[int] | None = ()
    last: str = TEXT[-1]


def opening() -> Film:
    """The film."""
    others = [head for head in HEADS if head != SUBJECT]
    rows = _rows(TEXT)
    given = [sum(w for w, text in zip(rows[h], TEXT, strict=True) if text == "the") for h in others]
    heard = rows[SUBJECT].index(max(rows[SUBJECT]))
    *some, third = (str(head + 1) for head in others)
    named, its = f"{', '.join(some)} and {third}", _named(SUBJECT)
    none, many = (round(100 * follows_last(off)) for off in ((), (SUBJECT,)))
    states = [
        State(f"Is it “{VERB}” or “{FORMS[1]}”? From “{TEXT[-1]}” four heads look back.", (), None),
        State(
            f"Heads {named} give the two “the” together over "
            f"{math.floor(10 * min(given)) / 10:.1f} of their weight.",
            others,
            None,
        ),
        State(
            f"H{its[1:]} looks at “{TEXT[heard]}” ({rows[SUBJECT][heard]:.2f}), and “{VERB}” wins."
        ),
        State(f"Exchange “{TEXT[-1]}” for “{ONE}”: it stays “{VERB}”.", last=ONE),
        State(f"Back to “{TEXT[-1]}”. This verb does without heads {named}.", off=others),
        State(
            f"Without {its} it is “{FORMS[1]}”: wrong, but it fits “{TEXT[-1]}”.", off=(SUBJECT,)
        ),
        State(f"And “{ONE}” makes it “{VERB}”: the last noun decides now.", HEADS, (SUBJECT,), ONE),
        State(f"If nouns disagree, the last wins {many} of 100 without {its}, {none} with it."),
    ]
    frames, tried = [], dict[tuple[str, str], str]()
    for state in states:
        verb = None if state.off is None else FORMS[singular(state.off, state.last) < 0.5]
        led = LAST if state.off and SUBJECT in state.off else ITS
        if verb and not {*others} & {*(state.off or ())}:
            tried["off" if state.off else "on", state.last] = verb
        parts = [*_arcs(state), *_words(state, led), *_next(verb, led), *_tried(tried, state)]
        frames.append(Frame(parts, state.told))
    return Film("Which of four heads finds the king?", frames, HIGH)


def singular(off: Collection[int], last: str = TEXT[-1]) -> float:
    """The share of the singular, of both forms of the verb, without some heads."""
    without = measure.without([(LAYER, head) for head in off])
    return measure.verbs(small.load(), (*TEXT[:-1], last), without)[VERB]


def follows_last(off: Collection[int]) -> float:
    """How often the verb's number is the last noun's, where the two nouns differ in theirs.

    Of all sentences like the film's, with *near*, *behind* or *beside* between the nouns.
    """
    one, many = (torch.tensor([NUMBER[verb] for verb in some]) for some in (RUNS, RUN))
    both = (SINGULAR, PLURAL)
    texts = [
        text
        for firsts, lasts in (both, both[::-1])
        for text in product(["the"], firsts, BESIDE, ["the"], lasts)
    ]
    ids = torch.tensor([[NUMBER[each] for each in text] for text in texts])
    without = measure.without([(LAYER, head) for head in off])
    shares = small.load()(ids, without)[:, -1].softmax(dim=-1)
    plural = shares[:, many].sum(dim=-1) > shares[:, one].sum(dim=-1)
    return float((plural == torch.tensor([text[-1] in PLURAL for text in texts])).float().mean())


@cache
def _rows(text: tuple[str, ...]) -> list[list[float]]:
    """Of each head, what the last word looks at."""
    rows: list[list[float]] = small.weights(text)[LAYER][:, -1].tolist()
    return rows


def _colour(head: int) -> Colour:
    return ITS if head == SUBJECT else OTHERS


def _named(head: int) -> str:
    return f"head {head + 1}"


def _words(state: State, led: Colour) -> list[Part]:
    """The text; what a head looks at is in its colour, and so is the last noun where it decides."""
    rows, lit = _rows(TEXT), {*state.seen} - {*(state.off or ())}
    parts = []
    for n, text in enumerate((*TEXT[:-1], state.last)):
        looks = [_colour(head) for head in lit if rows[head][n] >= LEAST]
        last = n == len(TEXT) - 1
        inks = [*looks, *([LAST] if last and led == LAST else [])]
        ink, weight = (inks[0], 600) if inks else (INK if last else GREY, 400)
        parts.append(word(f"word {n}", PLACES[n], LINE, text, ink, size=LETTERS, weight=weight))
    return parts


def _next(verb: str | None, led: Colour) -> list[Part]:
    """Where the next word comes, and the last word's own way to it."""
    decides = verb is not None and led == LAST
    colour, own = led if verb else GREY, LAST if decides else GREY
    (x, to), y = WAY, LINE - 8
    return [
        line("way", [(x, y), (to, y)], own, 4 if decides else 2.5),
        line("way's end", [(to - 7, y - 7), (to, y), (to - 7, y + 7)], own, 4 if decides else 2.5),
        box("next", (NEXT - WIDE / 2, LINE - 33), (WIDE, 50), colour, 0.12, 2),
        word("verb", NEXT, LINE, verb or "?", colour, size=30, weight=600),
    ]


def _tried(tried: dict[tuple[str, str], str], state: State) -> list[Part]:
    """Which verb won, with the subject's head and without it, by the last word."""
    if not tried:
        return []
    left, right = NAMES - 10, NEXT + WIDE / 2
    parts = [word("tried", NAMES, COLUMN, _named(SUBJECT), GREY, "start", SMALL)]
    for last, x in COLUMNS.items():
        weight = 600 if last == state.last else 400
        parts.append(word(f"of {last}", x, COLUMN, last, GREY, weight=weight))
    for name, y in ROWS.items():
        colour = ITS if name == "on" else LAST
        band = box(f"band {name}", (left, y - 25), (right - left, BAND), colour, 0.12)
        parts += [band, word(f"row {name}", NAMES, y, name, GREY, "start")]
        parts += [
            word(f"{name} {last}", COLUMNS[last], y, verb, colour, size=LETTERS, weight=600)
            for (row, last), verb in tried.items()
            if row == name
        ]
    for (row, last), verb in tried.items():
        if verb != VERB:  # a wrong one is struck
            x, y = COLUMNS[last], ROWS[row] - 7
            parts.append(line(f"struck {row} {last}", [(x - HALF, y), (x + HALF, y)], LAST, 2.5))
    return parts


def _arcs(state: State) -> list[Part]:
    """What heads look at: the subject's over the words, the others nested under them."""
    text = (*TEXT[:-1], state.last)
    now, last = _rows(text), len(TEXT) - 1
    drawn = [
        (m, h)
        for m in range(last)
        for h in reversed(HEADS)
        if h != SUBJECT and _rows(TEXT)[h][m] >= LEAST
    ]
    middle = (PLACES[0] + PLACES[-1]) / 2
    parts = []
    for n, ((m, head), high) in enumerate(zip(drawn, HEIGHTS, strict=True)):
        here = [h for to, h in drawn if to == m]
        start = PLACES[last] + BESIDES * ((len(drawn) - 1) / 2 - n)
        end = PLACES[m] + WITHIN * (here.index(head) - (len(here) - 1) / 2)
        named = (middle, _named(head) if m < FAR else "")  # once
        parts += _arc(state, head, m, now[head][m], (start, end), (UNDER, high), named)
    king = TEXT.index("king")
    off = " off" if SUBJECT in (state.off or ()) else ""
    crown = ((PLACES[king] + PLACES[last]) / 2, _named(SUBJECT) + off)
    ends = PLACES[last], PLACES[king]
    return [*parts, *_arc(state, SUBJECT, king, now[SUBJECT][king], ends, (OVER, -TALL), crown)]


def _arc(
    state: State,
    head: int,
    to: int,
    weight: float,
    ends: tuple[float, float],
    hangs: tuple[float, float],
    named: tuple[float, str],
) -> list[Part]:
    """One, as deep as it hangs, and its head's name on it."""
    (floor, high), (at, name), is_off = hangs, named, head in (state.off or ())
    begun, key = head not in state.seen, f"{head} to {to}"
    if begun and to >= FAR:  # of each head one arc is enough
        return []
    colour, opacity = (GREY, 0.5) if begun or is_off else (_colour(head), 0.9)
    if head != SUBJECT and state.off is not None:  # out of focus
        opacity = 0.5
    dashes = ASKED if begun else OFF if is_off else ON
    look: dict[str, Any] = {"below": high > 0, "dashes": dashes, "thickest": 7}
    drawn = arc(key, *ends, floor, weight, colour, opacity, pull=abs(high) / 0.75, **look)
    if begun or not name:
        return [drawn]
    half, y = 5 * len(name) + 3, floor + high
    return [
        drawn,
        box(f"{key} card", (at - half, y - 9), (2 * half, 18), GROUND),
        word(f"{key} name", at, y + 6, name, colour, size=SMALL, weight=700),
    ]
