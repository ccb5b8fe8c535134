"""Lesson 07 opens with four heads over one sentence. Without one, the last noun decides."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from itertools import product
from typing import NamedTuple

import torch

from attnlab import small
from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, WIDE, Part, arc, box, dot, line, places, word
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
PLACES = places(TEXT, LETTERS, gap=15, left=4)
LINES = (226, 142)  # of words: before there is a table, and over it
TOPS = {3: 0.11, 0: 0.37, 2: 0.62, 1: 0.86}  # of heads' arcs, as shares of the words' height
APART = 12  # from one arc's foot to the next, at one word
BADGE, WAITING = 12, 32  # a number's radius; from one to the next that waits
WAY = (328, 353)  # ends of the last word's own way to the next word
NEXT, BOX = 420, 112  # of the next word's box: its middle and its width
HEADING, ROWS, BAND = 182, {"with": 190, "without": 232}, 38  # of the table; how tall its rows are
COLUMNS = {TEXT[-1]: 244, ONE: 396}  # their middles
OFFS = {"with": (), "without": (SUBJECT,)}  # heads that are removed
WHOSE = {"with": ITS, "without": LAST}  # who decides
WON, BAR = 164, 312  # where bars of how often the last noun wins begin, and their longest
ON, OFF, PALE = "500 0", "5 9", 0.3  # dashes of arcs; of those that do not count


class State(NamedTuple):
    """What is seen at one time.

    Attributes:
        told: the sentence on it.
        seen: heads that have been spoken of; of others nothing is known.
        off: heads that are removed; None before the verb is asked for.
        last: the last word.
        counted: how often the last noun wins is said; heads that do not matter are pale.
    """

    told: str
    seen: Collection[int] = HEADS
    off: Collection[int] | None = ()
    last: str = TEXT[-1]
    counted: bool = False


def opening() -> Film:
    """The film."""
    others = [head for head in HEADS if head != SUBJECT]
    rows = _rows(TEXT)
    heard = rows[SUBJECT].index(max(rows[SUBJECT]))
    *some, third = (str(head + 1) for head in others)
    named, its = f"{', '.join(some)} and {third}", _named(SUBJECT)
    none, many = (f"{100 * follows_last(off):.0f} of 100" for off in OFFS.values())
    states = [
        State(f"Is it “{VERB}” or “{FORMS[1]}”? From “{TEXT[-1]}” four heads look back.", (), None),
        State(f"Heads {named} look most at a “the”.", others, None),
        State(
            f"H{its[1:]} looks at “{TEXT[heard]}” ({rows[SUBJECT][heard]:.2f}), and “{VERB}” wins."
        ),
        State(f"Exchange “{TEXT[-1]}” for “{ONE}”: it stays “{VERB}”.", last=ONE),
        State(
            f"Back to “{TEXT[-1]}”, without {its}: “{FORMS[1]}”. Wrong, but it fits “{TEXT[-1]}”.",
            off=(SUBJECT,),
        ),
        State(f"And “{ONE}” makes it “{VERB}”: the last noun decides now.", HEADS, (SUBJECT,), ONE),
        State(
            f"If the two nouns disagree, the last one wins {many} without {its}, {none} with it.",
            counted=True,
        ),
    ]
    frames, tried = [], dict[tuple[str, str], str]()
    for state in states:
        verb = None
        led = LAST if state.off else ITS
        if state.off is not None:
            verb = FORMS[singular(state.off, state.last) < 0.5]
            tried["without" if state.off else "with", state.last] = verb
        parts = [
            *_arcs(state),
            *_words(state, LAST if state.counted else led),
            *_next(_line(state), verb, led),
            *_found(state),
            *(_tried(tried, state) if tried else []),
        ]
        frames.append(Frame(parts, state.told))
    return Film("Take one head away, and the last noun mostly wins", frames, HIGH)


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
    return LINES[state.off is not None]


def _words(state: State, led: Colour) -> list[Part]:
    """The text; what a head looks at is in its colour, and so is the last noun where it decides."""
    heads = {SUBJECT} if state.counted else {*state.seen} - {*(state.off or ())}
    inks = {_looks_at(head): _colour(head) for head in heads}
    end = len(TEXT) - 1
    if led == LAST:
        inks[end] = LAST
    parts = []
    for n, text in enumerate((*TEXT[:-1], state.last)):
        ink, weight = (inks[n], 600) if n in inks else (INK if n == end else GREY, 400)
        x, y = PLACES[n], _line(state)
        parts.append(word(f"word {n}", x, y, text, ink, size=LETTERS, weight=weight))
    return parts


def _next(floor: float, verb: str | None, led: Colour) -> list[Part]:
    """Where the next word comes, and the last word's own way to it."""
    decides = verb is not None and led == LAST
    colour, own = led if verb else GREY, LAST if decides else GREY
    (x, to), y, thick = WAY, floor - 9, 4.5 if decides else 2.5
    return [
        line("way", [(x, y), (to, y)], own, thick),
        line("way's end", [(to - 7, y - 7), (to, y), (to - 7, y + 7)], own, thick),
        box("next", (NEXT - BOX / 2, floor - 36), (BOX, 52), colour, 0.12, 2),
        word("verb", NEXT, floor + 1, verb or "?", colour, size=32, weight=600),
    ]


def _found(state: State) -> list[Part]:
    """Which head looks at the subject, and how much it gives it."""
    to, y = _looks_at(SUBJECT), _line(state)
    if SUBJECT not in state.seen:
        asked = enumerate(("which finds", f"the {TEXT[to]}?"))
        return [word(f"asked {n}", NEXT, y - 86 + 26 * n, says, GREY) for n, says in asked]
    weight, colour = f"{_rows((*TEXT[:-1], state.last))[SUBJECT][to]:.2f}", ITS
    parts = [word("on", NEXT, y - 60, f"on {TEXT[to]}", colour)]
    if SUBJECT in (state.off or ()):
        parts, weight, colour = [], "off", GREY
    return [
        word("whose", NEXT, y - 124, _named(SUBJECT), colour),
        word("weight", NEXT, y - 86, weight, colour, size=38, weight=600),
        *parts,
    ]


def _tried(tried: dict[tuple[str, str], str], state: State) -> list[Part]:
    """Which verb won, with the subject's head and without it, by the last word; or how often the
    last noun wins, in tracks from never to always."""
    parts = list[Part]()
    for name, y in ROWS.items():
        says, whose = f"{name} {_named(SUBJECT)}", WHOSE[name]
        parts += [
            box(f"band {name}", (0, y), (WIDE, BAND), whose, 0.12),
            word(f"row {name}", 10, y + 25, says, GREY, "start", SMALL),
        ]
        if state.counted:
            share, corner, high = follows_last(OFFS[name]), (WON, y + 4), BAND - 8
            says, ink = f"{100 * share:.0f} of 100", GROUND if share > 0.5 else whose
            parts += [
                box(f"track {name}", corner, (BAR, high), GROUND),
                box(f"won {name}", corner, (BAR * share, high), whose),
                word(f"wins {name}", WON + 12, y + 28, says, ink, "start", 26, 700),
            ]
    if state.counted:
        return [*parts, word("wins", WON, HEADING, "the last noun wins", INK, "start", weight=600)]
    for last, x in COLUMNS.items():
        weight = 600 if last == state.last else 400
        parts.append(word(f"of {last}", x, HEADING, last, GREY, weight=weight))
    for (row, last), verb in tried.items():
        x, y = COLUMNS[last], ROWS[row] + 27
        parts.append(word(f"{row} {last}", x, y, verb, WHOSE[row], size=24, weight=600))
        if verb != VERB:  # crossed, since it is wrong
            at, y = x + 44, y - 8
            ends = [(at - 7, y - 7), (at + 7, y + 7), (at, y), (at + 7, y - 7), (at - 7, y + 7)]
            parts.append(line(f"cross {row} {last}", ends, WHOSE[row], 3))
    return parts


def _arcs(state: State) -> list[Part]:
    """From the last word to that which each head looks at most, one arc over the other."""
    now, floor, badges = _rows((*TEXT[:-1], state.last)), _line(state) - 26, list[Part]()
    parts = []
    for n, head in enumerate(TOPS):
        start = PLACES[-1] + APART * ((len(TOPS) - 1) / 2 - n)
        pull = (1 - TOPS[head]) * floor / 0.75
        if not state.seen:  # it may look at any word
            parts.append(
                arc(
                    f"asks {n}", start, PLACES[n], floor, 1, GREY, pull=pull, dashes=OFF, thickest=2
                )
            )
        if head not in state.seen:
            badges += _badge(head, NEXT + WAITING * (head - 1.5), _line(state) - 132, GREY, GROUND)
            continue
        to, is_off = _looks_at(head), head in (state.off or ())
        same = [each for each in TOPS if _looks_at(each) == to]
        end = PLACES[to] + APART * (same.index(head) - (len(same) - 1) / 2)
        colour, pale = GREY if is_off else _colour(head), state.counted and head != SUBJECT
        dashes, seen = OFF if is_off else ON, PALE if pale else 1
        each = (f"{head} to {to}", start, end, floor, now[head][to], colour, seen)
        parts.append(arc(*each, dashes=dashes, pull=pull))
        if not pale:
            face, ink = (GROUND, colour) if is_off else (colour, GROUND)
            badges += _badge(head, (start + end) / 2, TOPS[head] * floor, face, ink, colour)
    return [*parts, *badges]


def _badge(
    head: int, x: float, y: float, face: str | Colour, ink: str | Colour, edge: str | Colour = GREY
) -> list[Part]:
    """A head's number, on its arc, or where it waits until it is spoken of."""
    return [
        dot(f"badge {head}", x, y, BADGE, face, edge=edge),
        word(f"name {head}", x, y + 6.5, f"{head + 1}", ink, size=SMALL, weight=700),
    ]
