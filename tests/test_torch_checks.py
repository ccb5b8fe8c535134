"""Checks of PyTorch exercises: modules, gradients, dtypes, calls after calls."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from attnlab import notebook
from attnlab.calling.call import Outcome
from attnlab.calling.fused import looked_at
from attnlab.calling.observe import ELSEWHERE, Other
from attnlab.checks.compare import compare
from attnlab.checks.exercise import PROMISES, SEEDS, Case, Claim, Exercise, Slot
from attnlab.checks.pose import Expected, generate
from attnlab.checks.verdict import Verdict
from attnlab.lessons import exercises_of
from attnlab.notebook import check
from tests.answers import all_answers

Function = Callable[..., Any]
Tensor = torch.Tensor


def verdict_on(function: Function, name: str, lesson: str) -> Verdict:
    return check(function, name=name, lesson=lesson).verdict


class Projections(nn.Module):
    """What SelfAttention is made of, and no forward pass."""

    def __init__(self, d: int, d_k: int, d_v: int, bias: bool = False) -> None:
        super().__init__()
        self.W_q, self.W_k = nn.Linear(d, d_k, bias), nn.Linear(d, d_k, bias)
        self.W_v = nn.Linear(d, d_v, bias)


def on_attention(function: Function) -> Verdict:
    return verdict_on(function, "attention", "06-causal-mask")


def on_function(function: Function) -> Verdict:
    return verdict_on(function, "scaled_dot_product_attention", "05-pytorch")


def line(verdict: Verdict, claim: str) -> bool | None:
    return next(each.holds for each in verdict.lines if each.claim == claim)


def causal(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> tuple[Tensor, Tensor]:
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    future = torch.ones(x.shape[1], x.shape[1]).triu(1).bool()
    weights = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(future, -torch.inf).softmax(-1)
    return weights @ v, weights


def plain(q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None = None) -> Any:
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        scores = scores.masked_fill(~attn_mask, -torch.inf)
    elif attn_mask is not None:
        scores = scores + attn_mask
    empty = (scores == -torch.inf).all(-1, keepdim=True)
    weights = scores.masked_fill(empty, 0.0).softmax(-1).masked_fill(empty, 0.0)
    return weights @ v, weights


# modules -------------------------------------------------------------------------------------


def test_fused_attention_in_a_module_forfeits_the_points() -> None:
    class Cheats(Projections):
        def forward(self, x: Tensor) -> Any:
            q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
            return F.scaled_dot_product_attention(q, k, v), plain(q, k, v)[1]

    verdict = verdict_on(Cheats, "SelfAttention", "05-pytorch")
    assert (verdict.status, verdict.score) == ("POLICY", 0.0)


def test_honest_attention_is_not_taken_for_fused() -> None:
    for verdict in (on_attention(causal), on_function(plain)):
        assert (verdict.status, verdict.score) == ("PASS", verdict.max_score), verdict.message


# what is raised, and what is done again -----------------------------------------------------


def test_what_pytorch_cannot_compute_is_no_unwritten_exercise() -> None:
    def mixes_kinds(lengths: Tensor, n: int) -> Tensor:
        return torch.ones(n, n).tril() & (torch.arange(n) < lengths[:, None])[:, None, None]

    class Misspelt(Projections):
        def foward(self, x: Tensor) -> Any:
            return plain(self.W_q(x), self.W_k(x), self.W_v(x))

    verdict = verdict_on(mixes_kinds, "decoder_mask", "06-causal-mask")
    assert verdict.status == "ERROR"
    assert "not implemented for 'Float'" in verdict.message
    assert "torch.ones(n, n).tril() &" in verdict.message
    verdict = verdict_on(Misspelt, "SelfAttention", "05-pytorch")
    assert verdict.status == "ERROR"
    assert 'missing the required "forward"' in verdict.message


def test_an_input_changed_in_place_is_named_where_autograd_refuses_it() -> None:
    def in_place(q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None = None) -> Any:
        q *= 1 + 1e-12
        return plain(q, k, v, attn_mask)

    verdict = on_function(in_place)
    assert (verdict.status, verdict.score) == ("FAIL", 2.5)
    assert verdict.diagnosis is not None
    assert verdict.diagnosis.slug == "mutated-input"


def test_a_result_changed_in_place_is_explained_where_autograd_refuses_it() -> None:
    def in_place(q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None = None) -> Any:
        _, weights = plain(q, k, v, attn_mask)
        kept = weights.exp()
        kept -= 1
        return torch.log1p(kept) @ v, torch.log1p(kept)

    verdict = on_function(in_place)
    assert (verdict.status, verdict.score) == ("FAIL", 2.75)
    assert verdict.diagnosis is not None
    assert "x += …" in verdict.diagnosis.remedy


class Unscaled(Projections):
    def forward(self, x: Tensor) -> Any:
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        weights = (q @ k.mT).softmax(-1)
        return weights @ v, weights


def on_module(module: Function) -> Verdict:
    return verdict_on(module, "SelfAttention", "05-pytorch")


def test_a_module_that_went_wrong_is_made_and_called_again_with_the_same_numbers() -> None:
    told = on_module(Unscaled).message
    place, number = re.match(r"out\[(.*)\] is (\S+), should be", told).groups()  # type: ignore[union-attr]
    for _ in range(2):
        out, _ = check.again(Unscaled)
        assert f"{float(out[tuple(map(int, place.split(', ')))]):.6g}" == number
    assert "`check.again(Unscaled)`, which builds `Unscaled(" in str(
        check(Unscaled, name="SelfAttention", lesson="05-pytorch")
    )


def test_a_module_that_is_wrong_where_training_is_over_is_made_so_again() -> None:
    modes = []

    class Doubles(Projections):
        def forward(self, x: Tensor) -> Any:
            modes.append(self.training)
            out, weights = plain(self.W_q(x), self.W_k(x), self.W_v(x))
            return (out if self.training else 2 * out), weights

    verdict = on_module(Doubles)
    assert "training is over" in verdict.where
    modes.clear()
    check.again(Doubles)
    assert modes
    assert not any(modes)


def test_a_call_that_came_after_another_one_is_made_so_again() -> None:
    calls = []

    class Keeps(Projections):
        kept: Tensor | None = None

        def forward(self, x: Tensor) -> Any:
            calls.append(x)
            self.kept = self.W_q(x) if self.kept is None else self.kept[:, : x.shape[1]]
            return plain(self.kept, self.W_k(x), self.W_v(x))

    card = check(Keeps, name="SelfAttention", lesson="05-pytorch")
    said = " ".join(str(card).split())
    assert "then calls it with other inputs, then calls it with `check.inputs`" in said
    calls.clear()
    check.again(Keeps)
    assert len(calls) == 2
    assert not torch.equal(calls[0], calls[1])
    assert torch.equal(calls[1], check.inputs["x"])


def test_what_a_call_raises_is_raised_again() -> None:
    class Flat(Projections):
        def forward(self, x: Tensor) -> Any:
            raise ZeroDivisionError("mine")

    on_module(Flat)
    with pytest.raises(ZeroDivisionError, match="mine"):
        check.again(Flat)


def test_gradients_that_are_wrong_are_taken_again() -> None:
    class Cut(Projections):
        def forward(self, x: Tensor) -> Any:
            return plain(self.W_q(x), self.W_k(x), self.W_v(x.detach()))

    assert "gradient of x" in on_module(Cut).message
    shapes = [tuple(slope.shape) for slope in check.again(Cut)]
    x = check.inputs["x"]
    assert shapes[0] == x.shape
    assert len(shapes) > 3


# gradients and dtypes ------------------------------------------------------------------------


@pytest.mark.parametrize("cut", ["weights", "q", "k", "v"])
def test_detach_in_one_path_is_named(cut: str) -> None:
    def detaches(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> tuple[Tensor, Tensor]:
        q, k, v = (
            (x @ W).detach() if name == cut else x @ W
            for name, W in (("q", Wq), ("k", Wk), ("v", Wv))
        )
        future = torch.ones(x.shape[1], x.shape[1]).triu(1).bool()
        weights = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(future, -torch.inf).softmax(-1)
        weights = weights.detach() if cut == "weights" else weights
        return weights @ v, weights

    verdict = on_attention(detaches)
    assert verdict.status == "FAIL"
    assert [each.claim for each in verdict.lines if not each.holds] == [PROMISES["gradient"]]
    assert verdict.diagnosis is not None
    assert verdict.diagnosis.slug == "no-gradient"


def test_the_only_gradient_there_is_can_be_compared() -> None:
    def cases(rng: np.random.Generator) -> Any:
        yield Case("values", (torch.from_numpy(rng.normal(size=(3, 4))), 2))
        yield Case("gradient", (torch.from_numpy(rng.normal(size=(2, 5))), 3), gradient=True)

    exercise = Exercise(
        name="power",
        lesson="05-pytorch",
        stage="torch",
        signature="(x, n) -> tensor",
        axes=(),
        read="",
        returns=(Slot("powers", "tensor", "n d"),),
        claims=(Claim("values", "is", 1.0), Claim("gradient", "has", 1.0)),
        cases=cases,
        oracle=lambda x, n: x**n,
    )

    def judged(function: Function) -> Verdict:
        return notebook.verdict_on(exercise, function, (20, 26), 60.0)

    assert judged(lambda x, n: x**n).status == "PASS"
    for wrong in (lambda x, n: x.detach() ** n, lambda x, n: x ** (n - 1) * x.detach()):
        verdict = judged(wrong)
        assert (verdict.status, verdict.score) == ("FAIL", 1.0), verdict.message


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_every_input_becoming_one_dtype_is_a_wrong_dtype(dtype: torch.dtype) -> None:
    def converts(q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None = None) -> Any:
        return plain(q.to(dtype), k.to(dtype), v.to(dtype), attn_mask)

    verdict = on_function(converts)
    assert verdict.diagnosis is not None
    assert verdict.diagnosis.slug == "wrong-dtype"


# calls that follow another ---------------------------------------------------------------------


def test_an_answer_that_keeps_something_of_an_earlier_call_is_told_so() -> None:
    class Remembers(Projections):
        kept = None

        def forward(self, x: Tensor) -> Any:
            self.kept = self.W_q(x) if self.kept is None else self.kept[:, : x.shape[1]]
            return plain(self.kept, self.W_k(x), self.W_v(x))

    verdict = verdict_on(Remembers, "SelfAttention", "05-pytorch")
    assert verdict.status != "PASS"
    assert verdict.diagnosis is not None
    assert (verdict.diagnosis.slug, verdict.score) == ("remembers-a-call", 0.0)
    assert "a second time" in verdict.where


def test_a_mask_kept_by_its_size_is_no_memory_of_numbers() -> None:
    masks: dict[int, Tensor] = {}

    def keeps_masks(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> Any:
        n = x.shape[1]
        future = masks.setdefault(n, torch.ones(n, n).triu(1).bool())
        q, k, v = x @ Wq, x @ Wk, x @ Wv
        scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(future, -torch.inf)
        return scores.softmax(-1) @ v, scores.softmax(-1)

    assert on_attention(keeps_masks).status == "PASS"


@pytest.mark.parametrize("last", [2, 5, 12, 30])
def test_an_answer_that_changes_with_the_number_of_its_call_never_passes(last: int) -> None:
    calls = 0

    def tires(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> Any:
        nonlocal calls
        calls += 1
        return causal(x, Wq, Wk, Wv) if calls <= last else plain(x @ Wq, x @ Wk, x @ Wv)

    verdict = on_attention(tires)
    assert (verdict.status, verdict.score) == ("FAIL", 0.0)
    assert verdict.diagnosis is not None
    assert verdict.diagnosis.slug == "nondeterministic"


def test_a_million_numbers_are_told_by_their_shape() -> None:
    verdict = on_attention(lambda *args: (torch.zeros(1000, 1000), torch.zeros(1000, 1000)))
    assert "has (1000, 1000)" in verdict.message


def test_what_is_wrong_on_a_first_call_as_well_is_not_laid_to_memory() -> None:
    exercise = exercises_of("06-causal-mask")["attention"]
    [second, *_] = [case for _, case in generate(exercise, SEEDS) if case.earlier]

    def slips_once(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> Any:
        out, weights = causal(x, Wq, Wk, Wv)
        return (out + 1 if torch.equal(x, second.args[0]) else out), weights

    verdict = on_attention(slips_once)
    assert verdict.status == "FAIL"
    assert "a second time" in verdict.where
    assert verdict.diagnosis is None


# what tells nothing ----------------------------------------------------------------------------


def test_what_raises_in_vain_as_well_is_no_refusal() -> None:
    def two_axes_alone(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> Any:
        _n, _d = x.shape
        return causal(x, Wq, Wk, Wv)

    def refuses_too_much(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> Any:
        if x.shape[1] < 4:
            raise ValueError("too small")
        return causal(x, Wq, Wk, Wv)

    for function, holds in ((two_axes_alone, None), (refuses_too_much, True)):
        assert line(on_attention(function), PROMISES["refuses"]) is holds


def test_sizes_of_1_alone_earn_nothing() -> None:
    def joined_by_and(n: int, device: Any = None) -> Tensor:
        back = torch.arange(n)[:, None] - torch.arange(n)
        return back < 0 and back != 0

    verdict = verdict_on(joined_by_and, "causal_mask", "06-causal-mask")
    assert line(verdict, PROMISES["shapes"]) is None


def test_what_was_stopped_by_time_has_not_failed_its_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "SECONDS", 1.0)

    def endless_for_floats(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> Any:
        while x.dtype == torch.float32:
            pass
        return causal(x, Wq, Wk, Wv)

    verdict = on_attention(endless_for_floats)
    assert verdict.status == "TIMEOUT"
    assert not [each.claim for each in verdict.lines if each.holds is False]


def test_a_time_by_a_real_clock_may_differ_from_call_to_call() -> None:
    """No clock is handed in on some cases; on some seeds such a one is asked twice."""
    exercise = exercises_of("13-gpu-sdpa")["benchmark"]
    [right, *_] = [each for each in all_answers() if each.exercise == "benchmark" and not each.slug]

    def unsteady(*args: Any, **named: Any) -> float:
        seconds: float = right.function(*args, **named)
        return seconds if "clock" in named else seconds + random.random()

    for seed in range(0, 40, 2):
        verdict = notebook.verdict_on(exercise, unsteady, (seed, seed + 1), 30)
        assert verdict.status == "PASS"


def test_a_result_on_a_gpu_is_on_another_device_than_its_inputs() -> None:
    elsewhere = Outcome(returned=Other(f"{ELSEWHERE}cuda"))
    slots = (Slot("out", "tensor", "N d"),)
    difference = compare(elsewhere, Expected((np.ones((2, 3)),)), slots, 1e-6, False)[0]
    assert difference is not None
    assert difference.slug == "wrong-device"
    assert "device cuda" in difference.text


def test_an_answer_may_go_to_another_device_and_come_back() -> None:
    q, k, v = torch.ones(3, 2, 1, 5, 4, device="meta")
    assert looked_at(q, k, v).device == v.device
