"""What goes wrong in softmax: in the formula, along the axis, and where scores are large."""

from __future__ import annotations

from collections.abc import Callable

import torch

from attnlab.checks.recipe import INFINITY, Part, Tensor, softmax, wrong

# Softmax ------------------------------------------------------------------------------------------


def over_sum(numbers: Tensor) -> Tensor:
    """Each number divided by the sum of its row."""
    return numbers / numbers.sum(-1, keepdim=True)


def one_hot(scores: Tensor) -> Tensor:
    """1 at the largest score of a row, 0 elsewhere."""
    return torch.zeros_like(scores).scatter(-1, scores.argmax(-1, keepdim=True), 1.0)


def shown(scores: Tensor) -> Tensor:
    """Scores with 0 for those that are hidden."""
    return scores.masked_fill(scores == -INFINITY, 0.0)


def _even(scores: Tensor) -> Tensor:
    return over_sum((scores > -INFINITY).to(scores.dtype))


def _everything(scores: Tensor, axes: int) -> Tensor:
    return torch.softmax(scores.flatten(-axes), -1).reshape(scores.shape)


SOFTMAX: Part = (
    wrong(
        "not-normalised",
        "These are e to the power of each score. They were never divided by their sum, so they are "
        "not shares of anything.",
        "Divide each exponential by the sum of them all, and check that the result adds up to 1.",
        {"weigh": torch.exp},
    ),
    wrong(
        "no-exponential",
        "These are the scores divided by their sum. A negative score makes a negative weight, and "
        "scores that sum to 0 divide by it.",
        "Raise e to each score first: exponentials are positive whatever the score.",
        {"weigh": lambda s: over_sum(shown(s))},
    ),
    wrong(
        "divided-by-max",
        "The largest weight is 1 and the others are measured against it, so together they add up "
        "to more than 1.",
        "Divide by the sum of the exponentials. The maximum is for subtracting from the scores.",
        {"weigh": lambda s: (s - s.amax(-1, keepdim=True)).exp()},
    ),
    wrong(
        "negated-scores",
        "The sign is turned round: the best match gets the least weight.",
        "Look for a minus sign, such as `exp(max - score)` where `exp(score - max)` was meant.",
        {"weigh": lambda s: softmax(torch.where(s == -INFINITY, s, -s))},
    ),
    wrong(
        "base-two",
        "These weights are powers of 2, not of e.",
        "Use `exp`.",
        {"weigh": lambda s: over_sum(2.0**s)},
    ),
    wrong(
        "log-softmax",
        "These are logarithms of the weights: all negative, adding up to nothing in particular.",
        "Leave out the last logarithm, or take `exp` of the result.",
        {"weigh": lambda s: torch.log_softmax(s, -1)},
    ),
    wrong(
        "hard-argmax",
        "All the weight is on the best match. That is the hard lookup again, with no gradient.",
        "Every key that may be attended to gets a share: divide all exponentials by their sum.",
        {"weigh": one_hot},
        {"weigh": lambda s: one_hot(s.flip(-1)).flip(-1)},
        {"weigh": lambda s: (s == s.amax(-1, keepdim=True)).to(s.dtype)},
        {"weigh": lambda s: over_sum((s == s.amax(-1, keepdim=True)).to(s.dtype))},
    ),
    wrong(
        "uniform-weights",
        "Every key gets the same weight, so the scores make no difference to the answer.",
        "Check that what goes into `exp` is each key's own score.",
        {"weigh": _even},
    ),
    wrong(
        "sigmoid",
        "Each score went through a sigmoid on its own. The weights do not compete, so they do not "
        "add up to 1.",
        "Divide e to each score by the sum over all scores.",
        {"weigh": torch.sigmoid},
    ),
    wrong(
        "rounded",
        "The weights are rounded to three or four decimals.",
        "Return them as they are; round when you print.",
        {"weigh": lambda s: softmax(s).round(decimals=3)},
        {"weigh": lambda s: softmax(s).round(decimals=4)},
    ),
    wrong(
        "softmax-twice",
        "Softmax was taken twice, which flattens the weights, and undoes a mask.",
        "Take it once, of the scores: weights need nothing more.",
        {"weigh": lambda s: softmax(softmax(s))},
    ),
    wrong(
        "divided-by-norm",
        "The exponentials are divided by the root of the sum of their squares: the squares of the "
        "weights add up to 1, and the weights do not.",
        "Divide by the plain sum.",
        {"weigh": lambda s: s.exp() / s.exp().norm(dim=-1, keepdim=True)},
    ),
    wrong(
        "divided-by-count",
        "The exponentials are divided by how many there are, not by their sum.",
        "Divide by the sum.",
        {"weigh": lambda s: s.exp() / s.shape[-1]},
    ),
    wrong(
        "running-sum",
        "Each exponential is divided by the sum up to itself: the total was still growing.",
        "Finish the sum first, then divide in a second pass.",
        {"weigh": lambda s: s.exp() / s.exp().cumsum(-1)},
    ),
    wrong(
        "order-lost",
        "The weights are right and in the order of their size: weight i no longer belongs to "
        "score i.",
        "Use `max` to find the largest score; sorting moves the others.",
        {"weigh": lambda s: softmax(s).sort(-1).values},
        {"weigh": lambda s: softmax(s).sort(-1, descending=True).values},
    ),
)
# Where weights are one step of several.
NO_SOFTMAX: Part = (
    wrong(
        "no-softmax",
        "The weights are the scores: softmax is missing.",
        "Take softmax of the scores, over the keys, before you mix values.",
        {"weigh": shown},
    ),
)
# Where there are several rows.
ROWS: Part = (
    wrong(
        "softmax-over-queries",
        "Softmax ran over the queries: each column adds up to 1 where each row should. A query has "
        "to share its attention among the keys.",
        "Take softmax along the last axis of the (N, M) scores, one row at a time.",
        {"weigh": lambda s: torch.softmax(s, -2 if s.ndim > 1 else 0)},
        {"weigh": lambda s: torch.softmax(s, -2 if s.ndim > 1 else 0).nan_to_num()},
    ),
    wrong(
        "softmax-over-everything",
        "All entries of a matrix, or of the whole batch, add up to 1. Each row should, on its own.",
        "Sum over the last axis alone: start again at 0 for every row.",
        {"weigh": lambda s: _everything(s, s.ndim)},
        {"weigh": lambda s: _everything(s, min(2, s.ndim))},
    ),
)
# Where the first axis is not that of the queries, in some cases at least.
BATCH: Part = (
    wrong(
        "softmax-over-first-axis",
        "Softmax ran over the first axis. That is the batch, where there is one: its sentences "
        "share attention between them.",
        "Take softmax along the last axis, -1.",
        {"weigh": lambda s: torch.softmax(s, 0)},
        {"weigh": lambda s: torch.softmax(s, 0).nan_to_num()},
    ),
)
# Where cases have different numbers of axes.
ANY_AXES: Part = (
    wrong(
        "hard-coded-axis",
        "Softmax ran over axis 1. That is the keys' for a single matrix, and the queries', or the "
        "heads', as soon as there are axes before it.",
        "Count from the end: the keys are the last axis, -1, whatever stands in front.",
        {"weigh": lambda s: torch.softmax(s, 1)},
    ),
)


# Where values are large enough to show it.
PRECISION: Part = (
    wrong(
        "computed-in-float32",
        "Softmax was computed in float32, and about 7 digits are left of the 16 that the inputs "
        "have. That is usual where inputs are float16; float64 ones it makes worse.",
        "Leave out «`.astype(np.float32)`|`dtype=torch.float32` or `.float()`», or use it for "
        "smaller dtypes alone.",
        {"weigh": lambda s: torch.softmax(s, -1, dtype=torch.float32).to(s.dtype)},
    ),
)


# Softmax of scores that are large -----------------------------------------------------------------


def _python_exp(scores: Tensor) -> Tensor:
    """As `math.exp`, which overflows aloud."""
    raised = scores.exp()
    if raised.isinf().any():
        raise OverflowError
    return raised


def _python_over_sum(numbers: Tensor) -> Tensor:
    if (numbers.sum(-1) == 0).any():
        raise ZeroDivisionError
    return over_sum(numbers)


def _guarded(weigh: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """By someone who takes a sum of 0 for a sign that there is nothing to share."""

    def guarded(scores: Tensor) -> Tensor:
        try:
            return weigh(scores)
        except ZeroDivisionError:
            raise ValueError from None

    return guarded


def _row_by_row(weigh: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """One row after the other: another row may be the first to fail."""
    return lambda s: torch.stack([weigh(row) for row in s.reshape(-1, s.shape[-1])]).reshape(
        s.shape
    )


def _clipped(limit: float) -> Callable[[Tensor], Tensor]:
    return lambda s: softmax(torch.where(s == -INFINITY, s, s.clamp(-limit, limit)))


def _lowest(scores: Tensor) -> Tensor:
    return torch.where(scores == -INFINITY, INFINITY, scores).amin(-1, keepdim=True)


def _mean(scores: Tensor) -> Tensor:
    return shown(scores).sum(-1, keepdim=True) / (scores > -INFINITY).sum(-1, keepdim=True)


UNSTABLE = (
    "e to a power of 710 or more is too large for a float: it «raises OverflowError|becomes inf, "
    "and inf / inf is NaN|becomes inf, and inf / inf is NaN». e to a power of -746 or less is 0, "
    "and where all are, their sum is 0, by which nothing can be divided and which has no "
    "logarithm.",
    "Before `exp`, subtract from each score the largest of those that it shares a sum with. The "
    "weights stay the same, as the factor cancels, and the largest exponent becomes 0.",
)


def _large(python: bool) -> tuple[Part, Part]:
    """How softmax goes wrong where scores are large: with no maximum subtracted, or a wrong one.

    Args:
        python: whether overflow and division by 0 are errors, as in Python, or inf and NaN.
    """
    exp = _python_exp if python else torch.exp
    divide = _python_over_sum if python else over_sum

    def less(what: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
        return lambda s: divide(exp(s - what(s)))

    plain = less(torch.zeros_like)
    ways = (plain, _row_by_row(plain), _guarded(plain)) if python else (plain,)
    none = (
        wrong("unstable-softmax", *UNSTABLE, *({"weigh": way} for way in ways)),
        wrong(
            "scores-clipped",
            "Scores beyond a limit are cut to the limit, so that all large scores become equal.",
            "Subtract the largest score from all of them: differences stay as they are.",
            *(
                {"weigh": _clipped(limit)}
                for limit in (20.0, 50.0, 80.0, 88.0, 100.0, 500.0, 700.0)
            ),
        ),
    )
    other = (
        wrong(
            "one-maximum-for-all-rows",
            "The maximum of all scores is subtracted, so that a row far below it turns into zeros "
            "that are then divided by their sum, 0.",
            "Subtract each row's own maximum, which keeps its axis.",
            {"weigh": less(lambda s: s.max())},
        ),
        wrong(
            "not-the-maximum-subtracted",
            "Something smaller than the largest score is subtracted, so that e to what remains "
            "still overflows when scores are far apart.",
            "Subtract the largest score: the largest exponent is then 0.",
            {"weigh": less(_lowest)},
            {"weigh": less(_mean)},
        ),
        wrong(
            "absolute-maximum-subtracted",
            "The largest absolute value is subtracted. Where all scores are far below 0, every "
            "exponential is then 0, and 0 is divided by 0.",
            "Subtract the largest score, with its sign.",
            {"weigh": less(lambda s: shown(s).abs().amax(-1, keepdim=True))},
        ),
        wrong(
            "maximum-begins-at-0",
            "The largest score is looked for from 0 upwards. Where all scores are far below 0, it "
            "stays 0, every exponential is 0, and 0 is divided by 0.",
            "Begin with the first score, or with -inf.",
            {"weigh": less(lambda s: shown(s).amax(-1, keepdim=True).clamp(min=0.0))},
        ),
    )
    return none, other


LARGE_IN_PYTHON, MAXIMA_IN_PYTHON = _large(python=True)
_NONE, MAXIMA = _large(python=False)
LARGE: Part = (
    *_NONE,
    wrong(
        "nan-hidden",
        "Where exp overflowed, NaN was replaced by 0: the best score has lost its weight.",
        "Subtract each row's maximum before `exp`. Only a row with no key left may become 0.",
        {"weigh": lambda s: over_sum(s.exp()).nan_to_num()},
    ),
)
