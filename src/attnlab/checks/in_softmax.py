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


def _one_by_one(numbers: Tensor) -> Tensor:
    """Each number divided by the sum of its row, of which some were divided before."""
    divided = numbers.clone()
    for at in range(numbers.shape[-1]):
        divided[..., at] = divided[..., at] / divided.sum(-1)
    return divided


def _less_maximum(scores: Tensor) -> Tensor:
    return scores - scores.amax(-1, keepdim=True)


SOFTMAX: Part = (
    wrong(
        "maximum-in-one-place",
        {"weigh": lambda s: _less_maximum(s).exp() / s.exp().sum(-1, keepdim=True)},
        {"weigh": lambda s: s.exp() / _less_maximum(s).exp().sum(-1, keepdim=True)},
    ),
    wrong("not-normalised", {"weigh": torch.exp}),
    wrong("no-exponential", {"weigh": lambda s: over_sum(shown(s))}),
    wrong("divided-by-max", {"weigh": lambda s: (s - s.amax(-1, keepdim=True)).exp()}),
    wrong(
        "scores-over-maximum",
        {"weigh": lambda s: over_sum((s / s.amax(-1, keepdim=True)).exp())},
    ),
    wrong("negated-scores", {"weigh": lambda s: softmax(torch.where(s == -INFINITY, s, -s))}),
    wrong("base-two", {"weigh": lambda s: over_sum(2.0**s)}),
    wrong("log-softmax", {"weigh": lambda s: torch.log_softmax(s, -1)}),
    wrong(
        "hard-argmax",
        {"weigh": one_hot},
        {"weigh": lambda s: one_hot(s.flip(-1)).flip(-1)},
        {"weigh": lambda s: (s == s.amax(-1, keepdim=True)).to(s.dtype)},
        {"weigh": lambda s: over_sum((s == s.amax(-1, keepdim=True)).to(s.dtype))},
    ),
    wrong("uniform-weights", {"weigh": _even}),
    wrong("sigmoid", {"weigh": torch.sigmoid}),
    wrong(
        "rounded",
        {"weigh": lambda s: softmax(s).round(decimals=3)},
        {"weigh": lambda s: softmax(s).round(decimals=4)},
    ),
    wrong("softmax-twice", {"weigh": lambda s: softmax(softmax(s))}),
    wrong("divided-by-norm", {"weigh": lambda s: s.exp() / s.exp().norm(dim=-1, keepdim=True)}),
    wrong("divided-by-count", {"weigh": lambda s: s.exp() / s.shape[-1]}),
    wrong("running-sum", {"weigh": lambda s: s.exp() / s.exp().cumsum(-1)}),
    wrong(
        "sum-changes-meanwhile",
        {"weigh": lambda s: _one_by_one(s.exp())},
        {"weigh": lambda s: _one_by_one((s - s.amax(-1, keepdim=True)).exp())},
    ),
    wrong(
        "order-lost",
        {"weigh": lambda s: softmax(s).sort(-1).values},
        {"weigh": lambda s: softmax(s).sort(-1, descending=True).values},
    ),
)
# Where weights are one step of several.
NO_SOFTMAX: Part = (wrong("no-softmax", {"weigh": shown}),)
# Where there are several rows.
ROWS: Part = (
    wrong(
        "one-sum-for-all-rows",
        {"weigh": lambda s: _less_maximum(s).exp() / _less_maximum(s).exp().sum()},
    ),
    wrong(
        "softmax-over-queries",
        {"weigh": lambda s: torch.softmax(s, -2 if s.ndim > 1 else 0)},
        {"weigh": lambda s: torch.softmax(s, -2 if s.ndim > 1 else 0).nan_to_num()},
    ),
    wrong(
        "softmax-over-everything",
        {"weigh": lambda s: _everything(s, s.ndim)},
        {"weigh": lambda s: _everything(s, min(2, s.ndim))},
    ),
)
# Where the first axis is not that of the queries, in some cases at least.
BATCH: Part = (
    wrong(
        "softmax-over-first-axis",
        {"weigh": lambda s: torch.softmax(s, 0)},
        {"weigh": lambda s: torch.softmax(s, 0).nan_to_num()},
    ),
)
# Where cases have different numbers of axes.
ANY_AXES: Part = (wrong("hard-coded-axis", {"weigh": lambda s: torch.softmax(s, 1)}),)


# Where values are large enough to show it.
PRECISION: Part = (
    wrong(
        "epsilon-added",
        *(
            {
                "weigh": lambda s, e=e: (
                    _less_maximum(s).exp() / (_less_maximum(s).exp().sum(-1, keepdim=True) + e)
                )
            }
            for e in (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
        ),
    ),
    wrong(
        "computed-in-float32",
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
    formulas = (plain, _row_by_row(plain), _guarded(plain)) if python else (plain,)
    none = (
        wrong("unstable-softmax", *({"weigh": formula} for formula in formulas)),
        wrong(
            "scores-clipped",
            *(
                {"weigh": _clipped(limit)}
                for limit in (20.0, 50.0, 80.0, 88.0, 100.0, 500.0, 700.0)
            ),
        ),
    )
    other = (
        wrong("one-maximum-for-all-rows", {"weigh": less(lambda s: s.max())}),
        wrong("not-the-maximum-subtracted", {"weigh": less(_lowest)}, {"weigh": less(_mean)}),
        wrong(
            "absolute-maximum-subtracted",
            {"weigh": less(lambda s: shown(s).abs().amax(-1, keepdim=True))},
        ),
        wrong(
            "maximum-begins-at-0",
            {"weigh": less(lambda s: shown(s).amax(-1, keepdim=True).clamp(min=0.0))},
        ),
    )
    return none, other


LARGE_IN_PYTHON, MAXIMA_IN_PYTHON = _large(python=True)
_NONE, MAXIMA = _large(python=False)
LARGE: Part = (
    *_NONE,
    wrong("nan-hidden", {"weigh": lambda s: over_sum(s.exp()).nan_to_num()}),
)
