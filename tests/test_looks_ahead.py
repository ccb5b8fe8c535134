"""The functions that `looks_ahead` is graded on keep what its text promises of them."""

from __future__ import annotations

import pytest
import torch

from attnlab.calling.observe import ByName, rebuild
from attnlab.checks.pose import cases_of
from attnlab.lessons import exercises_of
from attnlab.notebook import check

LOOKS_AHEAD = exercises_of("06-causal-mask")["looks_ahead"]
SEEDS = range(40_000, 40_010)


def made_of(fn: ByName) -> torch.Tensor:
    """(B, e, N, N): the weights of each place, 0 where nothing comes through."""
    turn, turned, matrix = map(rebuild, fn.args[:3])
    product: torch.Tensor = turn @ turned
    return product * (matrix != 0).any(0)[:, None, None]


def largest_change(fn: ByName, x: torch.Tensor, seed: int) -> float:
    """How far any row moves when the rows after it are exchanged for fresh normal ones."""
    function, largest, rng = rebuild(fn), 0.0, torch.Generator().manual_seed(seed)
    for n in range(1, x.shape[1]):
        new = torch.randn(x.shape, generator=rng, dtype=x.dtype)
        other = torch.cat([x[:, :n], new[:, n:]], dim=1)
        largest = max(largest, float((function(other) - function(x))[:, :n].abs().max()))
    return largest


@pytest.mark.parametrize("seed", SEEDS)
def test_a_leak_shows_by_a_millionth_and_what_is_honest_by_less_than_rounding(seed: int) -> None:
    for case in cases_of(LOOKS_AHEAD, seed):
        fn, x = case.args
        leaks = bool((made_of(fn).triu(1).abs() > 1e-7).any())
        change = largest_change(fn, x, seed)
        assert change >= 1e-6 if leaks else change < 1e-12, case.note
        assert LOOKS_AHEAD.oracle is not None
        assert LOOKS_AHEAD.oracle(rebuild(fn), x) is leaks, case.note
        if case.claim == "faint" and leaks:
            assert change < 1e-5, case.note


def test_fn_takes_tensors_like_x_alone_and_says_so() -> None:
    fn, x = next(
        c.args for c in cases_of(LOOKS_AHEAD, 40_000) if len(c.args[1]) > 1 < c.args[1].shape[1] - 1
    )
    for other in (x[:, :2], x[:1], x.float(), x[0]):
        with pytest.raises(ValueError, match="as x is"):
            rebuild(fn)(other)


def test_a_reader_of_the_future_alone_is_caught() -> None:
    card = check(lambda fn, x: x.shape[1] > 1, name="looks_ahead", lesson="06-causal-mask")
    assert (card.verdict.status, card.verdict.score) == ("FAIL", 0.0)
