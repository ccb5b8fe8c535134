"""Lesson 04 opens with a width that grows: scores spread, until one weight swallows the others."""

from __future__ import annotations

import numpy as np

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SIZE, SMALL, WIDE, Part, arc, dot, line, places, word
from attnlab.figures.palette import BLUE, GREY, GROUND, ORANGE

WORDS = ("the", "desk", "hears", "one", "book", "only")
READER = 1
WIDTHS = (1, 4, 16, 64)
# Searched for: its scores spread about twice as far at each step, as those of many readers do
# together and hardly one's do; "book" leads at every width, with weights near a typical reader's.
SEED, BEST = 28534, WORDS.index("book")

HIGH = 270
LINE, ABOVE, BELOW = 136, 119, 145  # of the words; where arcs begin
TOP, BOTTOM, BEGINS = 42, 220, 121  # strips of scores, and where they begin
OVER, UNDER = (20, 68), (260, 206)  # lines of words at each, beyond it and towards the arcs
ZERO, UNIT = 212, 22  # x of a score of 0; px for 1
FIRST, DOT, SLIM = 7, 4.5, 3  # dots: the largest score's, others, those beside two compared
PALEST = 0.5  # arcs of hardly any weight
REACH = 3 * WIDE  # what arcs are as flat as those of
PLACES = places(WORDS, left=112)  # of the words
BESIDE, LOOP = 10, 34  # where arcs to others begin, beside the reader; its own arc's pull
SAYS, LABEL = 73, 108  # the width's line; how long the label of the largest score is
HANGS, PITCH, SIGN = 102, 9, 3  # what signs hang from; from one to the next; half of one
BIG, NEAR = 26, 3  # a ratio's size, and how much nearer to its bracket is a spread below


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
        f"{WIDTHS[2]} products, a square twice as wide: twice the spread again. Divide by "
        f"√{WIDTHS[2]}.",
        f"{last} products: about twice the spread again. ÷ √{last} keeps scores close.",
        f"A lead of {raw:.2f}: softmax gives “{best}” {np.exp(raw):.0f} times the share of "
        f"“{second}”.",
        f"{raw:.2f} ÷ {last**0.5:g} = {divided:.2f}: from {np.exp(raw):.0f} : 1 to "
        f"{np.exp(divided):.1f} : 1.",
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
    """How many products a score has, and the signs of those of "book", in a square."""
    root = width**0.5
    low = HANGS + root * PITCH + 5
    return [
        word("d", 0, SAYS, "d", INK, "start", SIZE, 600),
        word("d's k", 12.5, SAYS + 5, "k", INK, "start", SMALL, 600),
        word("is", 29, SAYS, "=", INK, "start", SIZE, 600),
        word("width", 47, SAYS, f"{width}", INK, "start", SIZE, 700),
        word("whose", 0, SAYS + 22, f"{WORDS[READER]} · {WORDS[BEST]}", INK, "start", SMALL),
        *(part for n in range(width) for part in _signed(n, products()[BEST, n] > 0)),
        line("side", [(1.5, low), (root * PITCH - 1.5, low)], BLUE, 3),
        word("root", 0, low + 18, f"√{width} = {root:g}", BLUE, "start", SMALL, 600),
    ]


def _signed(n: int, is_plus: bool) -> list[Part]:
    """A plus or a minus, where 4, 16 and 64 of them fill a square."""
    across, down = (sum((n >> 2 * bit + of & 1) << bit for bit in range(3)) for of in (0, 1))
    x, y = PITCH * (across + 0.5), HANGS + PITCH * (down + 0.5)
    colour, opacity = (ORANGE, 1.0) if is_plus else (GREY, 0.8)
    ends = [((x - SIGN, y), (x + SIGN, y)), ((x, y - SIGN), (x, y + SIGN))]
    return [
        line(f"sign {n} {way}", each, colour, 2, opacity)
        for way, each in enumerate(ends[: 1 + is_plus])
    ]


def _strip(name: str, title: str, values: np.ndarray, lead: bool) -> list[Part]:
    """A line of numbers, a dot on it for each score, and a bracket over all, or over the lead.

    At the bracket, how far it reaches, or what softmax makes of the lead; towards the arcs, what
    scores they are, and what the largest one gets, or the first two.
    """
    y, outward, colour = (TOP, -1, ORANGE) if name == "raw" else (BOTTOM, 1, BLUE)
    outer, inner = OVER if name == "raw" else UNDER
    spots = [_at(float(value)) for value in values]
    runner, shares = _second(values), _softmax(values)
    first, left = spots[BEST], spots[runner] if lead else min(spots)
    ends, middle = (y + 11 * outward, y + 15 * outward), (first + left) / 2
    bracket = [(left, ends[0]), (left, ends[1]), (first, ends[1]), (first, ends[0])]
    times = shares[BEST] / shares[runner]
    reach, versus = f"spread {(first - left) / UNIT:.1f}", f"{WORDS[BEST]} : {WORDS[runner]}"
    ratio = f"{times:.0f} : 1" if times > 10 else f"{times:.1f} : 1"
    gets = [f"{WORDS[each]} {_percent(shares[each])}" for each in (BEST, runner)]
    label = min(first - 9, WIDE - LABEL)
    # The second's is before that of the first where there is room, and behind it where not.
    beside = (label - 12, "end") if first - left > LABEL / 2 else (label + LABEL - 12, "start")
    compared = [
        word(f"{name} of", left - 9, outer, versus, colour, "end", SMALL),
        word(f"{name} ratio", left - 1, outer, ratio, colour, "start", BIG, 700),
        word(f"{name} second", beside[0], inner, gets[1], colour, beside[1], SMALL),
    ]
    far = word(
        f"{name} far", middle, outer - NEAR * (outward > 0), reach, colour, size=SMALL, weight=600
    )
    return [
        line(f"{name} line", [(BEGINS, y), (WIDE, y)], GREY, 1.5),
        line(f"{name} at 0", [(ZERO, y - 6), (ZERO, y + 6)], GREY, 1.5),
        word(f"{name} zero", ZERO, inner, "0", GREY, size=SMALL),
        *(
            dot(f"{name} dot {m}", x, y, SLIM if lead and m != runner else DOT, colour, edge=GROUND)
            for m, x in enumerate(spots)
            if m != BEST
        ),
        dot(f"{name} dot {BEST}", first, y, FIRST, colour, edge=GROUND),
        line(f"{name} bracket", bracket, colour, 3 if lead else 2),
        word(f"{name} title", 0, y + 6, title, colour, "start", SMALL, 600),
        word(f"{name} best", label, inner, gets[0], colour, "start", SMALL, 700),
        *(compared if lead else [far]),
    ]


def _percent(share: float) -> str:
    """Three digits where whole percents would hide how far two shares are from each other."""
    digits = ".0f" if 0.02 < share < 0.98 else ".3g"
    return f"{100 * share:{digits}} %"


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
