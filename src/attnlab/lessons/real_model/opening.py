"""Lesson 14 opens with one dial: how much of the model's own weights is replaced by equal ones.

It first copies what stands after the same word, whichever stands there; the dial takes that away.
Arcs are the mean of the last layer's heads; the lines, how likely words are to be next; each dot a
pair of texts. At the lesson's end `opening` is called with the learner's own function and a text:
that film is in `yours`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from operator import ne
from typing import Any

from attnlab import small
from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, arc, box, dot, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, Colour
from attnlab.lessons.real_model import yours
from attnlab.lessons.real_model.writing import EQUAL, OWN, Backend, Step, after, dial, step
from attnlab.small.grammar import SINGULAR

TEXT = "bird", "dog", "cat", ";", "bird"
TRADED = "bird", "cat", "dog", ";", "bird"
RIVAL = "queen"  # which it writes with equal weights
FOLLOWED = 2  # the place of what followed, in a text after its start token
OTHERS = [each for each in SINGULAR if each != "bird"]
PAIRS = [
    [("bird", *two, ";", "bird") for two in ((a, b), (b, a))] for a, b in combinations(OTHERS, 2)
]

STEPS = 64  # from no equal weights to nothing else
STOPS = 32, 48, 64  # of the dial

HIGH, ROW, GAP = 270, 44, 8  # of the sheet; a text's box; to the other text
SIZE, MIDDLES = 30, (34, 102, 170, 234, 282, 334)  # of words, the start token's first
NEXT, SLOT = 427, 104  # the middle of the word that is written, and its room
THICKEST = 13  # an arc of weight 1
LEFT, RIGHT, TOP, BASE = 58, 338, 128, 230  # of the lines, at whose base is a chance of 0
BIG, HEAVY = 34, 700  # counts
ACROSS, DOWN = 35, 3  # dots, one for each pair
ROUND, PITCH = 8.4, 10.6  # how wide they are; to the next


def opening(function: Backend | None = None, text: str = "") -> Film:
    """The film; with a learner's own function and words that the model knows, that of `yours`."""
    if function is not None:
        return yours.film(function, text)
    turned = dial(TEXT, [n / STEPS for n in range(STEPS + 1)])
    own, traded, still = turned[0], step(OWN, TRADED), step(EQUAL, TRADED)
    half, late, equal = (turned[n].word for n in STOPS)
    (_, dog, cat, _, bird), apart = TEXT, {by: _apart(by) for by in (OWN, EQUAL)}
    told = (
        f"“{bird}” came before, and comes again. The model writes what is next.",
        f"On average, the last layer's heads look most at what followed “{bird}”. "
        f"The model writes that: “{own.word}”.",
        f"“{cat}” and “{dog}” trade places: it writes “{traded.word}”. It reads what followed.",
        f"In all heads and layers attention goes half of the way to equal: “{half}” stays. "
        "Drawn: the last layer's average.",
        f"Three quarters: “{late}” takes over, which is not there at all.",
        f"All equal: each word gets the same weight, and it writes “{equal}”.",
        f"The two trade places: still “{still.word}”. Of {len(PAIRS)} such pairs, "
        f"{apart[EQUAL]} get different next words; as trained, all {apart[OWN]}.",
    )
    sheets = [
        _text(TEXT, 208, own, 166, looked=False),
        _text(TEXT, 208, own, 166),
        _text(TEXT, 87, own, 64) + _text(TRADED, 87 + ROW + GAP, traded, 64, below=True),
        *(_text(TEXT, 64, turned[stop], 50) + _lines(turned[: stop + 1]) for stop in STOPS),
        [
            *_text(TEXT, 26, turned[-1]),
            *_text(TRADED, 26 + ROW + GAP, still, below=True),
            word("pairs", MIDDLES[-1] + 38, 148, "a dot: one such pair", GREY, "end", SMALL),
            word("differ", NEXT, 148, "differ", GREY, size=SMALL),
            *_dots("as trained", 148, apart[OWN], BLUE),
            *_dots("all equal", 219, apart[EQUAL], ORANGE),
        ],
    ]
    frames = [Frame(*both) for both in zip(sheets, told, strict=True)]
    return Film("Make attention equal: what followed is nearly lost", frames, HIGH)


def _apart(by: Backend) -> int:
    """After how many pairs of texts, in which two words trade places, another word is written."""
    return sum(map(ne, *(after(by, texts) for texts in zip(*PAIRS, strict=True))))


def _text(
    words: Sequence[str],
    top: float,
    at: Step,
    tall: float = 0,
    below: bool = False,
    looked: bool = True,
) -> list[Part]:
    """A text with what is written next, and what is looked at over it, or below, so high."""
    last, key, y = MIDDLES[-1], "".join(words[1:3]), top + ROW - 12
    weights = at.heads.mean(dim=0).tolist()
    chosen = weights[FOLLOWED] > 1.01 / len(weights)
    wrote = at.word if looked else "?"
    found = ORANGE if wrote != words[1] else BLUE
    parts = [
        box(f"{key} read", (2, top), (last + 36, ROW), GREY, 0.13),
        box(f"{key} slot", (NEXT - SLOT / 2, top + 1), (SLOT, ROW - 2), GREY, 0, 2),
        word(f"{key} wrote", NEXT, y, wrote, found if looked else INK, size=SIZE - 3, weight=HEAVY),
    ]
    if not below:
        parts.append(word("next", NEXT, top - 10, "next word", GREY, size=SMALL))
    for n, (text, x) in enumerate(zip(("start", *words), MIDDLES, strict=True)):
        ink, size = (INK, SIZE) if n else (GREY, SMALL)
        ink = BLUE if n == FOLLOWED and chosen else ink
        parts.append(word(f"{key} word {n}", x, y, text, ink, size=size))
    floor = top + (ROW + 4 if below else -4)
    for n in sorted(range(len(MIDDLES) if tall else 0), key=FOLLOWED.__eq__):  # it lies in front
        weight = weights[n] if looked else 0.1
        colour, opacity = (BLUE, 1) if n == FOLLOWED and looked and chosen else (GREY, 0.6)
        pull = 30 + (tall / 0.75 - 30) * (last - MIDDLES[n]) / (last - MIDDLES[0])
        look: dict[str, Any] = {"dashes": "1 0" if looked else "1 7", "thickest": THICKEST}
        look |= {"pull": pull, "opacity": opacity / (0.25 + 0.75 * weight), "below": below}
        parts.append(arc(f"{key} look {n}", last, MIDDLES[n], floor, weight, colour, **look))
    return parts


def _lines(turned: Sequence[Step]) -> list[Part]:
    """How likely two words are, from the model's own attention to the dial's place."""
    at, middle = len(turned) - 1, (LEFT + RIGHT) / 2
    across = [LEFT + (RIGHT - LEFT) * n / STEPS for n in range(STEPS + 1)]
    parts = [
        word("all", LEFT - 8, TOP + 7, "100%", GREY, "end", SMALL),
        word("none", LEFT - 8, BASE + 6, "0%", GREY, "end", SMALL),
        line("dial", [(LEFT, BASE), (RIGHT, BASE)], GREY, 3),
        dot("knob", across[at], BASE, 8),
        word("own", LEFT, HIGH - 4, "as trained", size=SMALL),
        word("half", middle, HIGH - 4, "half way", size=SMALL),
        word("equal", RIGHT, HIGH - 4, "all equal", size=SMALL),
    ]
    for key, text, colour in (("rival", RIVAL, ORANGE), ("copied", TEXT[1], BLUE)):
        chances = [each.chances[small.words.index(text)].item() for each in turned]
        heights = [BASE - (BASE - TOP) * each for each in chances]
        ends = [(across[min(n, at)], heights[min(n, at)]) for n in range(STEPS + 1)]
        (x, y), many = ends[-1], f"{chances[-1]:.0%}" if chances[-1] >= 0.01 else "<1%"
        low = y + 7 if at == STEPS else min(y + 7, BASE - 10)  # clear of the dial
        said = "first" if key == "rival" and at <= STEPS // 2 else "chance"  # it does not cross
        if key == "copied" and at > STEPS // 2:
            stays = f"still {chances[STEPS // 2]:.0%}"
            parts += [
                dot("half dot", middle, heights[STEPS // 2], 4, colour),
                word("stays", middle + 4, TOP + 28, stays, colour, "end", SMALL, HEAVY),
            ]
        parts += [
            line(f"{key} line", ends, colour, 4),
            dot(f"{key} dot", x, y, 5, colour),
            word(f"{key} {said}", x + 14, low, f"{text} {many}", colour, "start", weight=HEAVY),
        ]
    return parts


def _dots(name: str, high: float, many: int, colour: Colour) -> list[Part]:
    """A dot for each pair of texts; so many are filled, and counted under what is written."""
    left, top = 2 + ROUND / 2, high + 11 + ROUND / 2
    parts = [
        word(f"{name} name", 2, high, name, anchor="start", size=SMALL),
        word(f"{name} many", NEXT, top + PITCH + 12, f"{many}", colour, size=BIG, weight=HEAVY),
    ]
    for n in range(DOWN):
        y, here = top + n * PITCH, min(max(many - n * ACROSS, 0), ACROSS)
        for key, share, ink, seen in (("all", ACROSS, GREY, 0.3), ("differ", here, colour, 1)):
            if share:
                ends = [(left, y), (left + PITCH * (share - 1) + 0.1, y)]
                look = ink, ROUND, seen, f"0 {PITCH}"
                parts.append(line(f"{name} {key} {n}", ends, *look))
    return parts
