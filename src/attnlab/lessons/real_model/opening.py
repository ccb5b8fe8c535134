"""Lesson 14 opens with one dial: how much of the model's own weights is replaced by equal ones.

It first copies what stands after the same word, whichever stands there; the dial takes that away.
Arcs are the mean of the last layer's heads; the lines, how likely words are to be next. At the
lesson's end `opening` is called with the learner's own function and a text: that film is in
`yours`.
"""

from __future__ import annotations

from collections.abc import Sequence

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
STOPS = range(0, STEPS + 1, 4)  # of the dial

HIGH, FLOOR, LINE, TALL = 270, 80, 114, 68  # y of arcs' feet and of words; the highest arc
SIZE, MIDDLES = 30, (34, 102, 170, 234, 282, 334)  # of words, the start token's first
NEXT, SLOT = 427, (104, 40)  # the middle of the word that is written, and its room
THICKEST = 13  # an arc of weight 1
LEFT, RIGHT, TOP, BASE = 14, 350, 142, 206  # of the lines, at whose base is a chance of 0
DIAL = 229  # its y


def opening(function: Backend | None = None, text: str = "") -> Film:
    """The film; with a learner's own function and words that the model knows, that of `yours`."""
    if function is not None:
        return yours.film(function, text)
    first = step(OWN, TRADED)
    dial = [step(mixed(n / STEPS), TEXT) for n in range(STEPS + 1)]
    own, quarter, half, late, _ = (dial[n].word for n in STOPS)
    before, now = (
        sum(wrote == such[1] for wrote, such in zip(after(by, SUCH), SUCH, strict=True))
        for by in (OWN, EQUAL)
    )
    (_, cat, dog, _, bird), copied = TRADED, f"“{first.word}”"
    told = (
        f"“{bird}” came before, and comes again. The model writes what is next.",
        f"The model looks at what followed “{bird}” before, and writes it: {copied}.",
        f"“{cat}” and “{dog}” trade places: it writes “{own}”. It does read what is there.",
        f"In all heads and layers attention goes a quarter of the way to equal: “{quarter}” stays.",
        f"Half way: the arc is thinner, and “{half}” is still next.",
        f"Three quarters: “{late}” takes over, which is not there at all.",
        f"All equal: of {len(SUCH)} such texts it gets {now} right; with its own, {before}.",
    )
    turned = [_sheet(TEXT, dial[: stop + 1]) for stop in STOPS]
    sheets = [_sheet(TRADED, [], first), _sheet(TRADED, [first]), *turned]
    frames = [Frame(*both) for both in zip(sheets, told, strict=True)]
    return Film("With equal attention the model mostly misses what followed", frames, HIGH)


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
        parts.append(
            arc(
                f"look {n}",
                last,
                MIDDLES[n],
                FLOOR,
                weights[n] if dial else 0.1,
                BLUE if n == FOLLOWED and dial else GREY,
                1.4,
                dashes="1 0" if dial else "1 7",
                thickest=THICKEST,
                pull=30 + (TALL / 0.75 - 30) * (last - MIDDLES[n]) / (last - MIDDLES[0]),
            )
        )
    wrote = dial[-1].word if dial else "?"
    colour = BLUE if wrote == words[1] else ORANGE
    parts.append(
        word("wrote", NEXT, LINE, wrote, colour if dial else INK, size=SIZE - 3, weight=700)
    )
    return [*parts, *_lines(words, dial)]


def _lines(words: Sequence[str], dial: Sequence[Step]) -> list[Part]:
    """How likely two words are, from its own weights to the dial's place."""
    at = max(len(dial) - 1, 0)
    across = [LEFT + (RIGHT - LEFT) * n / STEPS for n in range(STEPS + 1)]
    parts = [
        box("chances", (LEFT, TOP), (RIGHT - LEFT, BASE - TOP), GREY, 0.13),
        line("dial", [(LEFT, DIAL), (RIGHT, DIAL)], GREY, 3),
        *(
            line(f"stop {n}", [(across[n], DIAL - 5), (across[n], DIAL + 5)], GREY, 2)
            for n in STOPS
        ),
        word("own", 4, HIGH - 8, "its own weights", anchor="start", size=SMALL),
        word("equal", RIGHT + 20, HIGH - 8, "equal weights", anchor="end", size=SMALL),
    ]
    known = (("rival", RIVAL, ORANGE), ("copied", words[1], BLUE)) if dial else ()
    for key, text, colour in known:
        chances = [each.chances[small.words.index(text)].item() for each in dial]
        heights = [BASE - (BASE - TOP) * each for each in chances]
        ends = [(across[min(n, at)], heights[min(n, at)]) for n in range(STEPS + 1)]
        x, y = ends[-1]
        parts.append(line(f"{key} line", ends, colour, 4))
        parts.append(dot(f"{key} dot", x, y, 6, colour))
        many = f"{chances[-1]:.0%}" if chances[-1] >= 0.01 else "<1%"
        said = f"{text} {many}"
        parts.append(word(f"{key} chance", x + 14, y + 7, said, colour, "start", weight=700))
    return [*parts, dot("knob", across[at], DIAL, 10)]
