"""Sums as they are written on paper, and the same sums as they are read out.

    1·2 + 2·2 + 0·1 = 6        1 times 2, plus 2 times 2, plus 0 times 1, is 6

Numbers are written with three digits and computed with all of theirs, so that the last digit of a
sum may differ from what its terms add up to; such a sum has ≈ and not =.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

DIGITS = 3
LARGE = 12  # e to a score above this is too long to write down
LONG = 1e6  # from here on, a power of ten is shorter
_READ = (
    (" / (", ", divided by the sum of "),
    (")", ""),
    ("(", ""),
    ("e^", "e to the "),
    ("·", " times "),
    (" + ", ", plus "),
    (" / ", " divided by "),
    (" = ", ", is "),
    (" ≈ ", ", is about "),
    ("√", "the root of "),
    ("∞", "infinity"),
    ("−", "minus "),
)


def written(value: float, digits: int | None = None) -> str:
    """A number with a minus sign and never −0.

    Args:
        value: finite, or minus infinity.
        digits: after the point; None means as many as it has, and DIGITS at most.
    """
    if value == -math.inf:
        return "−∞"
    if abs(value) >= LONG:
        return f"{value:.2e}".replace("-", "−")
    shown = DIGITS if digits is None else digits
    text = f"{round(value, shown) + 0.0:.{shown}f}"
    if digits is None:
        text = text.rstrip("0").rstrip(".")
    return text.replace("-", "−")


def short(value: float) -> str:
    """Two digits after the point at most."""
    return written(round(value, 2))


def read_out(text: str) -> str:
    """A sum in words, for those who listen to it."""
    for sign, words in _READ:
        text = text.replace(sign, words)
    return text


def products(
    left: Sequence[float], right: Sequence[float], total: float, digits: int | None = None
) -> str:
    """Entry by entry: multiply, add up.

    Args:
        left: factors; written with `digits`, as the total is.
        right: as many factors.
        total: what they come to.
        digits: as in `written`.
    """
    terms = " + ".join(
        f"{'0' if a == 0 else written(a, digits)}·{_bracketed(written(b))}"
        for a, b in zip(left, right, strict=True)
    )
    return f"{terms} {_equals(total, *left, *right)} {written(total, digits)}"


def divided(score: float, width: int, quotient: float) -> str:
    """A score divided by the root of a width."""
    root = math.sqrt(width)
    steps = f"{written(score)} / √{width} {_equals(root)} {written(score)} / {written(root)}"
    return f"{steps} {_equals(quotient, score, root)} {written(quotient, DIGITS)}"


def taken_away(row: Sequence[float]) -> float:
    """What a row of scores is lowered by before its powers of e are written down.

    All scores of a row may be lowered by the same number: it cancels. 0 where none is large.
    """
    scores = [score for score in row if score != -math.inf]
    return max(scores) if max(map(abs, scores)) > LARGE else 0.0


def shared_out(row: Sequence[float], place: int, share: float) -> str:
    """One weight of a row: e to its score, divided by the row's sum of these.

    Args:
        row: scores; blocked ones are minus infinity, and not all are.
        place: of the weight in its row.
        share: the weight.
    """
    scores = [score - taken_away(row) for score in row]
    powers = [math.exp(score) for score in scores]
    raised = [f"e^{_bracketed(written(score, DIGITS))}" for score in scores]
    shown = [_power(power) for power in powers]
    steps = [
        f"{raised[place]} / ({' + '.join(raised)})",
        f"{shown[place]} / ({' + '.join(shown)})",
        f"{shown[place]} / {written(sum(powers), DIGITS)}",
    ]
    weight = "= 0" if row[place] == -math.inf else f"≈ {written(share, DIGITS)}"
    return f"{' ≈ '.join(steps)} {weight}"


def _power(power: float) -> str:
    return "0" if power == 0 else written(power, DIGITS)


def _equals(*numbers: float) -> str:
    """= where all numbers are written in full, ≈ where one is rounded."""
    exact = all(abs(number - round(number, DIGITS)) < 1e-9 for number in numbers)
    return "=" if exact else "≈"


def _bracketed(number: str) -> str:
    """A negative number in brackets, where it follows another sign."""
    return f"({number})" if number.startswith("−") else number
