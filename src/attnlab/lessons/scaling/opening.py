"""Lesson 04 opens with a width that grows: scores spread, until one weight swallows the others."""

from __future__ import annotations

import numpy as np

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, WIDE, Part, arc, dot, line, places, word
from attnlab.figures.palette import BLUE, GREY, GROUND, ORANGE

WORDS = ("the", "desk", "hears", "one", "book", "only")
READER = 1
WIDTHS = (1, 4, 16, 64)
# Searched for: its scores spread about twice as far at each step, as those of many readers do
# together and hardly one's do; "book" leads at every width, with weights near a typical reader's.
SEED, BEST = 28534, WORDS.index("book")

HIGH = 270
LINE, ABOVE, BELOW = 136, 119, 145  # of the words; where arcs begin
TOP, BOTTOM, BEGINS = 42, 206, 141  # strips of scores, and where they begin
OVER, UNDER = 20, 239  # lines of words beyond each: what scores they are, and how far they reach
INNER, SHARED = 68, 261  # lines of shares, at the upper one and the lower
ZERO, UNIT = 236, 22  # x of a score of 0; px for 1
CLEAR = 0.6  # opacity of dots, so that all are seen where they lie on each other
FIRST, DOT, SLIM = 7, 4.5, 2.5  # dots: the largest score's, others, those beside two compared
PALEST = 0.5  # arcs of hardly any weight
REACH = 3 * WIDE  # what arcs are as flat as those of
LABEL, RATIO = 119, 98  # how long labels of the largest score and of how far it leads are
ASIDE = WIDE - 2 * RATIO  # where words on leads begin, right of all divided scores
PLACES = places(WORDS, left=117)  # of the words
BESIDE, LOOP = 10, 34  # where arcs to others begin, beside the reader; its own arc's pull
SAYS, WHOSE = 62, 92  # lines of the width and of whose products the signs are
HANGS = 104  # what signs hang from
PITCH = {1: 22, 4: 18, 16: 13, 64: 9}  # from one to the next: the fewer, the larger
BIG = 26  # size of the width and of ratios


def opening() -> Film:
    """The film."""
    raw = scores()
    divided = raw / _roots()
    steps = zip((0, 1, 2, 3, 3, 3), (0, 0, 0, 0, 1, 2), _told(), strict=True)
    frames = [_frame(n, raw[n], divided[n], leading, says) for n, leading, says in steps]
    return Film("Why does one weight swallow the others?", frames, HIGH)


def scores() -> np.ndarray:
    """One reader's scores of the six books at each width, (4, 6)."""
    summed = np.cumsum(products(), axis=-1).T  # a wider question is a longer one
    return summed[np.array(WIDTHS) - 1]


def products() -> np.ndarray:
    """What its scores add up, (6, 64): its numbers times those of each book."""
    numbers = np.random.default_rng(SEED).standard_normal((1 + len(WORDS), max(WIDTHS)))
    return numbers[0] * numbers[1:]


def weights() -> tuple[np.ndarray, np.ndarray]:
    """Its weights, (4, 6): of raw scores, and of those divided by √d_k."""
    raw = scores()
    return _softmax(raw), _softmax(raw / _roots())


def leads() -> tuple[float, float]:
    """How far the largest score is ahead of the second at the last width: as it is, and divided."""
    second, first = np.sort(scores()[-1])[-2:]
    return float(first - second), float(first - second) / WIDTHS[-1] ** 0.5


def _told() -> list[str]:
    """A sentence on each frame."""
    best, second, last = WORDS[BEST], WORDS[_second(scores()[-1])], WIDTHS[-1]
    raw, divided = leads()
    return [
        f"Random queries and keys of {WIDTHS[0]} number: scores lie close, all get a share.",
        f"{WIDTHS[1]} products, plus and minus: they partly cancel, so only twice the spread.",
        f"On average most cancels: what is left grows like the side of the square, "
        f"√{WIDTHS[2]} = {WIDTHS[2] ** 0.5:g}.",
        f"{last} products: about twice the spread again. ÷ √{last} keeps scores close.",
        f"The lead grows too: {raw:.2f} gives “{best}” {np.exp(raw):.0f} times the share of "
        f"“{second}”.",
        f"÷ {last**0.5:g} shrinks the lead to {divided:.2f}: “{best}” still leads, "
        f"{np.exp(divided):.1f} : 1; others are heard.",
    ]


def _roots() -> np.ndarray:
    return np.sqrt(WIDTHS)[:, None]


def _softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _second(scores: np.ndarray) -> int:
    """Which word has the second largest score."""
    return int(scores.argsort()[-2])


def _frame(n: int, raw: np.ndarray, divided: np.ndarray, leading: int, told: str) -> Frame:
    """At the width of this number; of so many strips not the spread, but the lead is marked."""
    parts = [
        *_strip("raw", "raw scores", raw, leading > 0),
        *_strip("divided", f"scores ÷ √{WIDTHS[n]}", divided, leading > 1),
    ]
    parts += [*_arcs("raw", _softmax(raw)), *_arcs("divided", _softmax(divided))]
    parts += [
        word(f"word {m}", x, LINE, each, weight=700 if m == READER else 400)
        for m, (x, each) in enumerate(zip(PLACES, WORDS, strict=True))
    ]
    return Frame([*parts, *_width(WIDTHS[n])], told)


def _width(width: int) -> list[Part]:
    """How many products a score has, and the signs of those of "book", as large, in a square."""
    root, pitch, made = width**0.5, PITCH[width], products()[BEST]
    sizes = np.sqrt(np.abs(made) / np.abs(made).max())  # of areas that are as the products
    side, low = root * pitch, HANGS + root * pitch + 4
    return [
        word("d", 0, SAYS, "d", INK, "start", BIG, 600),
        word("d's k", 17, SAYS + 6, "k", INK, "start", SMALL, 600),
        word("is", 34, SAYS, "=", INK, "start", BIG, 600),
        word("width", 57, SAYS, f"{width}", INK, "start", BIG, 700),
        word("whose", 0, WHOSE, f"{WORDS[READER]} · {WORDS[BEST]}", INK, "start", SMALL),
        *(part for n in range(width) for part in _signed(n, pitch, sizes[n], made[n] > 0)),
        line("side", [(1.5, low), (side - 1.5, low)], BLUE, 3),
        word("root", 0, low + 22, f"√{width} = {root:g}", BLUE, "start", SMALL, 600),
    ]


def _signed(n: int, pitch: float, size: float, is_plus: bool) -> list[Part]:
    """A plus or a minus, where 4, 16 and 64 of them fill a square."""
    across, down = (sum((n >> 2 * bit + of & 1) << bit for bit in range(3)) for of in (0, 1))
    x, y, half = pitch * (across + 0.5), HANGS + pitch * (down + 0.5), pitch / 2 * size
    colour, opacity = (ORANGE, 1.0) if is_plus else (GREY, 0.8)
    ends = [((x - half, y), (x + half, y)), ((x, y - half), (x, y + half))]
    return [
        line(f"sign {n} {way}", each, colour, (1.5 + pitch / 7) * size, opacity)
        for way, each in enumerate(ends[: 1 + is_plus])
    ]


def _strip(name: str, title: str, values: np.ndarray, lead: bool) -> list[Part]:
    """A line of numbers, a dot on it for each score, and a bracket over all, or over the lead.

    At the bracket, how far it reaches, and what softmax makes of a lead; then what the largest
    score gets, or the first two.
    """
    is_raw = name == "raw"
    y, outward, colour = (TOP, -1, ORANGE) if is_raw else (BOTTOM, 1, BLUE)
    spots = [_at(float(value)) for value in values]
    runner, shares = _second(values), _softmax(values)
    first, left = spots[BEST], spots[runner] if lead else min(spots)
    ends = (y + 11 * outward, y + 15 * outward)
    bracket = [(left, ends[0]), (left, ends[1]), (first, ends[1]), (first, ends[0])]
    reach = (first - left) / UNIT
    return [
        line(f"{name} line", [(BEGINS, y), (WIDE, y)], GREY, 1.5),
        line(f"{name} at 0", [(ZERO, y - 6), (ZERO, y + 6)], GREY, 1.5),
        *([word("zero", ZERO, INNER, "0", GREY, size=SMALL)] if is_raw else []),
        *(
            dot(f"{name} dot {m}", x, y, SLIM if lead and m != runner else DOT, colour, CLEAR)
            for m, x in enumerate(spots)
            if m != BEST
        ),
        dot(f"{name} dot {BEST}", first, y, FIRST, colour, edge=GROUND),
        line(f"{name} bracket", bracket, colour, 3 if lead else 2),
        word(f"{name} title", 0, OVER if is_raw else UNDER, title, colour, "start", SMALL, 600),
        *_reaches(name, (left + first) / 2, reach, lead, shares[BEST] / shares[runner]),
        *_get(name, first, shares, [BEST, runner] if lead else [BEST]),
    ]


def _reaches(name: str, middle: float, reach: float, lead: bool, times: float) -> list[Part]:
    """How far scores reach, or the largest one leads; and how many times more it gets by that."""
    y, colour = (OVER, ORANGE) if name == "raw" else (UNDER, BLUE)
    if not lead:
        at, anchor = (middle, "middle") if name == "raw" else (ASIDE, "start")
        says = f"spread {reach:.1f}"
        return [word(f"{name} far", at, y, says, colour, anchor, SMALL, 600)]
    ratio = f"{times:.0f} : 1" if times > 10 else f"{times:.1f} : 1"
    return [
        word(f"{name} lead", ASIDE, y, f"lead {reach:.2f}", colour, "start", SMALL, 600),
        word(f"{name} ratio", ASIDE + RATIO + 5, y, ratio, colour, "start", BIG, 700),
    ]


def _get(name: str, first: float, shares: np.ndarray, words: list[int]) -> list[Part]:
    """What the first word gets, and before that the second, if it is asked for."""
    named = [f"“{each}”" if each == "the" else each for each in WORDS]  # not an article here
    says = [f"{named[each]} {_percent(shares[each])}" for each in words]
    y, colour, label = INNER, ORANGE, min(first - 9, WIDE - LABEL)
    if name == "divided":
        y, colour, label = SHARED, BLUE, WIDE - LABEL if len(words) > 1 else ASIDE
    parts = [word(f"{name} best", label, y, says[0], colour, "start", SMALL, 700)]
    parts += [word(f"{name} second", label - 7, y, each, colour, "end", SMALL) for each in says[1:]]
    return parts


def _percent(share: float) -> str:
    """Three digits where whole percents would hide how far two shares are from each other."""
    digits = ".0f" if 0.02 < share < 0.98 else ".3g"
    return f"{100 * share:{digits}}%"


def _at(score: float) -> float:
    return ZERO + UNIT * score


def _arcs(name: str, shares: np.ndarray) -> list[Part]:
    is_below = name == "divided"
    return [
        arc(
            f"{name} {m}",
            PLACES[READER] + BESIDE * ((m > READER) - (m < READER)),
            x,
            BELOW if is_below else ABOVE,
            float(share),
            BLUE if is_below else ORANGE,
            (PALEST + (1 - PALEST) * share) / (0.25 + 0.75 * share),
            wide=REACH,
            below=is_below,
            pull=LOOP if m == READER else 0,
        )
        for m, (x, share) in enumerate(zip(PLACES, shares, strict=True))
    ]
