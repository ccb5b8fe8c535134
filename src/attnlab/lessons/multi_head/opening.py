"""Lesson 07 opens with four heads over one sentence. Without one, the last noun decides."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
import torch

from attnlab import small
from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import (
    INK,
    SMALL,
    WIDE,
    Part,
    Place,
    arc,
    box,
    dot,
    line,
    places,
    word,
)
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
HIGH, LETTERS = 270, 25
PLACES = places(TEXT, LETTERS, gap=15)
LINES, COUNTED = (222, 162, 144), 119  # of words, over as many rows of a table; over bars
KEPT = 76  # how far over these the verb is that comes with all heads
TALL = {3: 102, 0: 73, 2: 44, 1: 15}  # heads' arcs
TALLER, PALER = 1.5, 0.4  # how much, until a verb comes; those that are not spoken of
FADED = 0.45  # how much paler still, once the one that is asked for is off
APART = 12  # from one arc's foot to the next, at one word
BADGE, WAITING = 12, 29  # a number's radius; from one to the next that waits
WAY = (330, 353)  # ends of the last word's own way to the next word
NEXT, BOX = 423, 112  # of the next word's box: its middle and its width
HEADING, CELL = 40, (182, 32)  # y of columns' heads, under words; size of what is in them
ROWS = {"on": 48, "off": 86}  # tops, under words
COLUMNS = {TEXT[-1]: 104, ONE: 298}  # where they start
ROW = {name: f"head {SUBJECT + 1} {name}" for name in ROWS}
OFFS = {"on": (), "off": (SUBJECT,)}  # heads that are removed
WHOSE = {"on": ITS, "off": LAST}  # who decides
BARS, BAR = {"on": 182, "off": 226}, 34  # tops of how often each noun decides; how tall they are
ALL = 2 * len(SINGULAR) * len(PLURAL) * len(BESIDE)  # sentences that are counted
ON, OFF = "500 0", "5 9"  # dashes of arcs


class State(NamedTuple):
    """What is seen at one time.

    Attributes:
        told: the sentence on it.
        seen: heads that have been spoken of; of others nothing is known.
        off: heads that are removed; None before the verb is asked for.
        last: the last word.
        counted: how often each noun decides is said; only the subject's head is seen.
    """

    told: str
    seen: Collection[int] = HEADS
    off: Collection[int] | None = ()
    last: str = TEXT[-1]
    counted: bool = False


def opening() -> Film:
    """The film."""
    others = [head for head in HEADS if head != SUBJECT]
    king, heard = TEXT[_looks_at(SUBJECT)], f"{max(_rows(TEXT)[SUBJECT]):.2f}"
    *some, third = (str(head + 1) for head in others)
    named, its = f"{', '.join(some)} and {third}", _named(SUBJECT)
    first, last = 1 - follows_last(()), follows_last((SUBJECT,))
    states = [
        State(f"Is it “{VERB}” or “{FORMS[1]}”? From “{TEXT[-1]}” four heads look back.", (), None),
        State(f"Heads {named} look most at a “the”.", others, None),
        State(f"H{its[1:]} looks at “{king}” ({heard}), and “{VERB}” wins."),
        State(f"Exchange “{TEXT[-1]}” for “{ONE}”: it stays “{VERB}”.", last=ONE),
        State(
            f"Back to “{TEXT[-1]}”, without {its}: “{FORMS[1]}”. Wrong, but it fits “{TEXT[-1]}”.",
            off=(SUBJECT,),
        ),
        State(f"With “{ONE}”, “{VERB}” is luck: the last noun decides.", HEADS, (SUBJECT,), ONE),
        State(
            f"H{its[1:]} finds the {king}: with it the first noun decides {first:.0%}. "
            f"Without it, the last decides {last:.0%}.",
            [SUBJECT],
            (SUBJECT,),
            counted=True,
        ),
    ]
    frames, tried = [], dict[tuple[str, str], str]()
    for state in states:
        verb, led = None, LAST if state.off else ITS
        if state.off is not None:
            verb = FORMS[singular(state.off, state.last) < 0.5]
            tried["off" if state.off else "on", state.last] = verb
        parts = [*_arcs(state), *_found(state), *_tried(tried, state)]
        parts = _counted() if state.counted else parts
        row = ROW["off"] if state.counted else ""
        parts += [*_words(state, led), *_next(_line(state), verb, led, row)]
        frames.append(Frame(parts, state.told))
    return Film(f"Which head finds the {king}?", frames, HIGH)


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


def _looks_at(head: int) -> int:
    """The word that a head looks at most."""
    row = _rows(TEXT)[head]
    return row.index(max(row))


def _colour(head: int) -> Colour:
    return ITS if head == SUBJECT else OTHERS


def _named(head: int) -> str:
    return f"head {head + 1}"


def _line(state: State) -> float:
    """Of words."""
    return COUNTED if state.counted else LINES[0 if state.off is None else 1 + len(state.off)]


def _words(state: State, led: Colour) -> list[Part]:
    """The text; what is found is in its head's colour, and so is the last noun if it decides."""
    found = {SUBJECT} if SUBJECT in state.seen else {*state.seen}
    found -= set[int]() if state.counted else {*(state.off or ())}
    inks = {_looks_at(head): _colour(head) for head in found}
    end = len(TEXT) - 1
    if led == LAST:
        inks[end] = LAST
    parts = []
    for n, text in enumerate((*TEXT[:-1], state.last)):
        ink, weight = (inks[n], 600) if n in inks else (INK if n == end else GREY, 400)
        x, y = PLACES[n], _line(state)
        parts.append(word(f"word {n}", x, y, text, ink, size=LETTERS, weight=weight))
    return parts


def _next(floor: float, verb: str | None, led: Colour, row: str = "") -> list[Part]:
    """Where the next word comes, and the last word's own way to it."""
    decides = verb is not None and led == LAST
    colour, own = led if verb else GREY, LAST if decides else GREY
    thick, ends = 4.5 if decides else 2.5, [(x, floor - 9) for x in WAY]
    return [*_way("way", ends, own, thick), *_boxed("verb", floor, verb or "?", colour, row)]


def _way(key: str, points: Sequence[Place], colour: Colour, thick: float) -> list[Part]:
    """It ends in an arrow."""
    x, y = points[-1]
    tip = [(x - 7, y - 7), (x, y), (x - 7, y + 7)]
    return [line(key, points, colour, thick), line(f"{key}'s end", tip, colour, thick)]


def _boxed(key: str, floor: float, verb: str, colour: Colour, row: str = "") -> list[Part]:
    """A verb, and with which heads it comes, if that is said."""
    tall, y = (64, floor - 13) if row else (52, floor + 1)
    says = [word(f"{key}'s row", NEXT, floor + 10, row, colour, size=SMALL)] if row else []
    corner = NEXT - BOX / 2, floor - 10 - tall / 2
    return [
        box(f"{key}'s box", corner, (BOX, tall), colour, 0.12, 2),
        word(key, NEXT, y, verb, colour, size=32, weight=600),
        *says,
    ]


def _found(state: State) -> list[Part]:
    """Which head looks at the subject, and how much it gives it."""
    to, y = _looks_at(SUBJECT), _line(state)
    if SUBJECT not in state.seen:
        asked = enumerate(("which finds", f"the {TEXT[to]}?"))
        return [word(f"asked {n}", NEXT, y - 90 + 26 * n, says, GREY) for n, says in asked]
    weight, colour = f"{_rows((*TEXT[:-1], state.last))[SUBJECT][to]:.2f}", ITS
    parts = [word("on", NEXT, y - 60, f"on {TEXT[to]}", colour)]
    if SUBJECT in (state.off or ()):
        parts, weight, colour, y = [], "off", GREY, y + 12
    return [
        word("whose", NEXT, y - 124, _named(SUBJECT), colour),
        word("weight", NEXT, y - 86, weight, colour, size=38, weight=600),
        *parts,
    ]


def _tried(tried: dict[tuple[str, str], str], state: State) -> list[Part]:
    """Which verb won, with the subject's head and without it, by the last word."""
    parts, floor = list[Part](), _line(state)
    for name in dict.fromkeys(row for row, _ in tried):
        parts.append(_row(name, floor + ROWS[name] + 22))
    for last in dict.fromkeys(last for _, last in tried):
        at, weight = (COLUMNS[last] + 16, floor + HEADING), 600 if last == state.last else 400
        parts.append(word(f"of {last}", *at, last, GREY, "start", weight=weight))
    for (row, last), verb in tried.items():
        x, y = COLUMNS[last], floor + ROWS[row]
        parts.append(box(f"cell {row} {last}", (x, y), CELL, WHOSE[row], 0.12))
        says = (f"{row} {last}", x + 16, y + 24, verb, WHOSE[row], "start")
        parts.append(word(*says, size=24, weight=600))
        if verb != VERB:  # crossed, since it is wrong
            x, y = x + 84, y + 16
            ends = [(x - 7, y - 7), (x + 7, y + 7), (x, y), (x + 7, y - 7), (x - 7, y + 7)]
            parts.append(line(f"cross {row} {last}", ends, WHOSE[row], 3))
        elif row == "off":
            parts.append(word("luck", x + 86, y + 23, "by luck", LAST, "start", SMALL))
    return parts


def _row(name: str, y: float) -> Part:
    """What is named at the left of a table's row, and of a bar."""
    return word(f"row {name}", 0, y, ROW[name], GREY, "start", SMALL)


def _counted() -> list[Part]:
    """Two ways to a verb; how often each noun decides."""
    to, floor, y = _looks_at(SUBJECT), COUNTED - 26, COUNTED - KEPT - 9
    start, turn = PLACES[-1] - APART / 2, np.linspace(0, np.pi / 2, 24)
    ways = [(start + 18 + 40 * (1 - np.cos(t)), floor + (y - floor) * np.sin(t)) for t in turn]
    its = (f"{SUBJECT} to {to}", start, PLACES[to], floor, _rows(TEXT)[SUBJECT][to], ITS)
    says = f"{ALL:,} sentences whose nouns disagree"
    parts = [
        arc(*its, dashes=ON, pull=(floor - y) / 0.75),
        *_badge(SUBJECT, (start + PLACES[to]) / 2, y, ITS, GROUND, ITS),
        *_way("its way", [*ways, (WAY[1], y)], ITS, 4.5),
        *_boxed("kept", COUNTED - KEPT, VERB, ITS, ROW["on"]),
        word("of all", 0, BARS["on"] - 12, says, GREY, "start", SMALL),
    ]
    left = COLUMNS[TEXT[-1]]
    wide = WIDE - left
    for name, y in BARS.items():
        last = follows_last(OFFS[name])
        meet = left + (1 - last) * wide
        noun, x, share = ("last", meet, last) if last > 0.5 else ("first", left, 1 - last)
        parts += [
            _row(name, y + 23),
            box(f"bar {name}", (x, y), (share * wide, BAR), WHOSE[name]),
            word(f"who {name}", x + 12, y + 23, f"{noun} noun decides", GROUND, "start", SMALL),
            word(f"most {name}", WIDE - 12, y + 26, f"{share:.0%}", GROUND, "end", 26, 700),
        ]
    few = word("few first", (left + meet) / 2, y + 23, f"{1 - last:.0%}", GROUND, size=SMALL)
    return [*parts, box("few", (left, y), (meet - left, BAR), ITS), few]


def _arcs(state: State) -> list[Part]:
    """From the last word to that which each head looks at most, one arc over the other."""
    now, floor, badges = _rows((*TEXT[:-1], state.last)), _line(state) - 26, list[Part]()
    parts = []
    for n, head in enumerate(TALL):
        start = PLACES[-1] + APART * ((len(TALL) - 1) / 2 - n)
        tall = TALL[head] * (TALLER if state.off is None else 1)
        pull = tall / 0.75
        to, is_off = _looks_at(head), head in (state.off or ())
        same = [each for each in TALL if _looks_at(each) == to]
        end = PLACES[to] + APART * (same.index(head) - (len(same) - 1) / 2)
        is_seen = head in state.seen
        colour = GREY if is_off or not is_seen else _colour(head)
        each = (f"{head} to {to}", start, end, floor, now[head][to], colour)
        is_pale = not is_seen or SUBJECT in {*state.seen} - {head}
        dashes = OFF if is_off else ON
        faded = FADED if state.off and not is_off else 1
        parts.append(arc(*each, faded * (PALER if is_pale else 1), dashes=dashes, pull=pull))
        at = (start + end) / 2, floor - tall
        at = at if is_seen else (NEXT + WAITING * (head - 1.5), _line(state) - 146)
        face, ink = (GROUND, colour) if is_seen and (is_off or is_pale) else (colour, GROUND)
        badges += _badge(head, *at, face, ink, colour, faded)
    return [*parts, *badges]


def _badge(
    head: int,
    x: float,
    y: float,
    face: str | Colour,
    ink: str | Colour,
    edge: str | Colour = GREY,
    opacity: float = 1,
) -> list[Part]:
    """A head's number, on its arc, or where it waits until it is spoken of."""
    return [
        dot(f"badge {head}", x, y, BADGE, face, opacity, edge),
        word(f"name {head}", x, y + 6.5, f"{head + 1}", ink, "middle", SMALL, 700, opacity),
    ]
