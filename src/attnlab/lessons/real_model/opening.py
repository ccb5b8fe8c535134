"""Lesson 14 opens with one dial: how much of the model's own weights is replaced by equal ones.

It first copies what stands after the same word, whichever stands there; the dial takes that away.
Arcs are the mean of the last layer's heads; the lines, how likely words are to be next. At the
lesson's end `opening` is called with the learner's own function and a text: that film is in
`yours`.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import eq
from typing import Any

from attnlab import small
from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, arc, box, dot, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE
from attnlab.lessons.real_model import yours
from attnlab.lessons.real_model.writing import EQUAL, OWN, Backend, Step, after, mixed, step
from attnlab.small.grammar import SINGULAR

TEXT = "bird", "dog", "cat", ";", "bird"
TRADED = "bird", "cat", "dog", ";", "bird"
RIVAL = "queen"  # which it writes with equal weights
FOLLOWED = 2  # the place of what followed, in a text after its start token
SUCH = [("bird", a, b, ";", "bird") for a in SINGULAR for b in SINGULAR if len({"bird", a, b}) == 3]

STEPS = 16  # from no equal weights to nothing else
STOPS = 0, 8, 12, 16  # of the dial

HIGH, FLOOR, LINE, TALL = 268, 80, 114, 68  # y of arcs' feet and of words; the highest arc
SIZE, MIDDLES = 30, (34, 102, 170, 234, 282, 334)  # of words, the start token's first
NEXT, SLOT = 427, (104, 40)  # the middle of the word that is written, and its room
THICKEST = 13  # an arc of weight 1
LEFT, RIGHT, TOP, BASE = 58, 364, 146, 212  # of the lines, at whose base is a chance of 0
DIAL, BIG = 232, 28  # its y; chances


def opening(function: Backend | None = None, text: str = "") -> Film:
    """The film; with a learner's own function and words that the model knows, that of `yours`."""
    if function is not None:
        return yours.film(function, text)
    dial, traded = (
        [step(mixed(n / STEPS), words) for n in range(STEPS + 1)] for words in (TEXT, TRADED)
    )
    own, half, late, equal = (dial[n].word for n in STOPS)
    (_, cat, dog, _, bird), copied = TRADED, f"“{traded[0].word}”"
    told = (
        f"“{bird}” came before, and comes again. The model writes what is next.",
        f"The model looks most at what followed “{bird}” before, and writes it: {copied}.",
        f"“{cat}” and “{dog}” trade places: it writes “{own}”. It does read what is there.",
        f"In all heads and layers attention goes half of the way to equal: “{half}” stays.",
        f"Three quarters: “{late}” takes over, which is not there at all.",
        f"All equal: each word gets the same weight, and it writes “{equal}”.",
        f"They trade places again: still “{traded[-1].word}”. In {_same(EQUAL)} of {len(SUCH)} "
        f"such texts the trade changes nothing; with its own attention, in {_same(OWN) or 'none'}.",
    )
    turned = [_sheet(TEXT, dial[: stop + 1]) for stop in STOPS]
    asked, first = _sheet(TRADED, [], traded[0]), _sheet(TRADED, traded[:1])
    sheets = [asked, first, *turned, _sheet(TRADED, traded)]
    frames = [Frame(*both) for both in zip(sheets, told, strict=True)]
    return Film("With equal attention the model hardly sees which word followed", frames, HIGH)


def _same(by: Backend) -> int:
    """How many of such texts get the same word if two words in them trade places."""
    trades = [(first, b, a, *rest) for first, a, b, *rest in SUCH]
    return sum(map(eq, after(by, SUCH), after(by, trades)))


def _sheet(words: Sequence[str], dial: Sequence[Step], asked: Step | None = None) -> list[Part]:
    """A text with what the last of so many steps looks at and writes, and lines up to there."""
    (wide, high), last = SLOT, MIDDLES[-1]
    weights = (asked or dial[-1]).heads.mean(dim=0).tolist()
    parts = [
        box("read", (2, FLOOR + 4), (last + 36, high + 4), GREY, 0.13),
        box("slot", (NEXT - wide / 2, FLOOR + 4), (wide, high + 4), GREY, 0, 2),
        word("next", NEXT, FLOOR - 8, "next word", GREY, size=SMALL),
    ]
    for n, (text, x) in enumerate(zip(("start", *words), MIDDLES, strict=True)):
        ink, size = (INK, SIZE) if n else (GREY, SMALL)
        ink = BLUE if n == FOLLOWED else ink
        parts.append(word(f"word {n}", x, LINE, text, ink, size=size))
    for n in sorted(range(len(MIDDLES)), key=FOLLOWED.__eq__):  # what followed lies in front
        weight = weights[n] if dial else 0.1
        colour, opacity = (BLUE, 1) if n == FOLLOWED and dial else (GREY, 0.6)
        pull = 30 + (TALL / 0.75 - 30) * (last - MIDDLES[n]) / (last - MIDDLES[0])
        look: dict[str, Any] = {"dashes": "1 0" if dial else "1 7", "thickest": THICKEST}
        look |= {"pull": pull, "opacity": opacity / (0.25 + 0.75 * weight)}
        parts.append(arc(f"look {n}", last, MIDDLES[n], FLOOR, weight, colour, **look))
    wrote = dial[-1].word if dial else "?"
    colour = BLUE if wrote == words[1] else ORANGE
    parts.append(
        word("wrote", NEXT, LINE, wrote, colour if dial else INK, size=SIZE - 3, weight=700)
    )
    return [*parts, *_lines(words, dial)]


def _lines(words: Sequence[str], dial: Sequence[Step]) -> list[Part]:
    """How likely two words are, from the model's own attention to the dial's place."""
    at = max(len(dial) - 1, 0)
    across = [LEFT + (RIGHT - LEFT) * n / STEPS for n in range(STEPS + 1)]
    parts = [
        box("chances", (LEFT, TOP), (RIGHT - LEFT, BASE - TOP), GREY, 0.13),
        word("all", LEFT - 8, TOP + 7, "100%", GREY, "end", SMALL),
        word("none", LEFT - 8, BASE + 6, "0%", GREY, "end", SMALL),
        line("dial", [(LEFT, DIAL), (RIGHT, DIAL)], GREY, 3),
        word("own", 4, HIGH - 6, "its own attention", anchor="start", size=SMALL),
        word("equal", RIGHT + 10, HIGH - 6, "equal attention", anchor="end", size=SMALL),
    ]
    if not dial:
        asks = "how likely is the word?"
        parts.append(word("asks", (LEFT + RIGHT) / 2, (TOP + BASE) / 2 + 7, asks, GREY))
    known = [("copied", words[1], BLUE)] if dial else []
    if dial and dial[-1].word == RIVAL:
        known.insert(0, ("rival", RIVAL, ORANGE))
        parts.append(word("followed", NEXT, BASE + 26, words[1], BLUE))
    for (key, text, colour), y in zip(known, (TOP + 18, BASE + 2), strict=False):
        chances = [each.chances[small.words.index(text)].item() for each in dial]
        heights = [BASE - (BASE - TOP) * each for each in chances]
        ends = [(across[min(n, at)], heights[min(n, at)]) for n in range(STEPS + 1)]
        many = f"{chances[-1]:.0%}" if chances[-1] >= 0.01 else "<1%"
        parts += [
            line(f"{key} line", ends, colour, 4),
            dot(f"{key} dot", *ends[-1], 6, colour),
            word(f"{key} chance", NEXT, y, many, colour, size=BIG, weight=700),
        ]
    return [*parts, dot("knob", across[at], DIAL, 10)]
