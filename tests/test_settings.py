"""A right answer is right whatever a learner's notebook has set in NumPy and PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from attnlab.calling.call import Call, perform, repeat
from attnlab.calling.deadline import Deadline
from attnlab.checks.exercise import Exercise
from attnlab.notebook import check
from tests.answers import all_answers, slipped
from tests.exercises import EXERCISES

RIGHT = {
    (answer.lesson, answer.exercise): answer.function for answer in all_answers() if not answer.slug
}


def now() -> tuple[Any, ...]:
    return (
        np.geterr(),
        torch.get_default_dtype(),
        torch.get_default_device(),
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.is_autocast_enabled("cpu"),
        torch.is_anomaly_enabled(),
        torch.get_float32_matmul_precision(),
        torch.backends.cuda.flash_sdp_enabled(),
    )


@pytest.fixture
def all_set() -> Iterator[tuple[Any, ...]]:
    """A notebook in which everything is set that could be in a right answer's way."""
    before = now()
    try:
        with (
            np.errstate(all="raise"),
            torch.inference_mode(),
            torch.autocast("cpu", dtype=torch.bfloat16),
        ):
            torch.set_default_dtype(torch.float16)
            torch.set_default_device("meta")
            torch.autograd.set_detect_anomaly(True)
            torch.set_float32_matmul_precision("medium")
            torch.backends.cuda.enable_flash_sdp(False)
            yield now()
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)
        torch.autograd.set_detect_anomaly(False)
        torch.set_float32_matmul_precision("highest")
        torch.backends.cuda.enable_flash_sdp(True)
    assert now() == before


@pytest.mark.parametrize(
    "exercise",
    [
        pytest.param(
            exercise,
            marks=[] if (exercise.lesson, exercise.name) in slipped() else pytest.mark.prove,
            id=f"{exercise.lesson}-{exercise.name}",
        )
        for exercise in EXERCISES
    ],
)
def test_a_right_answer_is_right_under_any_settings(
    exercise: Exercise, all_set: tuple[Any, ...]
) -> None:
    right = RIGHT[exercise.lesson, exercise.name]
    verdict = check(right, name=exercise.name, lesson=exercise.lesson).verdict
    assert (verdict.status, verdict.score) == ("PASS", exercise.points), verdict
    assert now() == all_set


def test_a_call_is_made_again_under_the_settings_of_the_check(all_set: tuple[Any, ...]) -> None:
    made = []

    def function() -> None:
        made.append((torch.ones(1).device.type, torch.ones(1).dtype))

    perform(function, Call(()), Deadline(10))
    repeat(function, Call(()))
    assert made == [("cpu", torch.float32)] * 2
    assert now() == all_set


def test_what_a_call_sets_is_as_it_was_afterwards() -> None:
    def function() -> None:
        np.seterr(all="raise")
        torch.set_default_device("meta")
        torch.set_grad_enabled(False)

    before = now()
    perform(function, Call(()), Deadline(10))
    assert now() == before


class Marked(TorchFunctionMode):
    def __torch_function__(self, *_: Any) -> Any:
        raise AssertionError("still on")


class Seen(TorchDispatchMode):
    def __torch_dispatch__(self, *_: Any) -> Any:
        raise AssertionError("still on")


@pytest.mark.parametrize("mode", [Marked, Seen])
def test_a_mode_whose_end_was_interrupted_is_ended(mode: Any) -> None:
    def function() -> None:
        mode().__enter__()
        raise KeyboardInterrupt

    assert perform(function, Call(()), Deadline(10)).stopped == "interrupt"
    assert torch.ones(2).sum() == 2
