"""Every step has a bound: what comes back, how long it is judged, and how long a notebook takes."""

from __future__ import annotations

import json
import socket
import threading
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from attnlab.calling.call import Call
from attnlab.calling.observe import ByName, Items, Value, rebuild
from attnlab.checks.exercise import Exercise
from attnlab.checks.judge import judge
from attnlab.checks.pose import LEEWAY, pose
from attnlab.checks.verdict import Verdict
from attnlab.lessons import exercises_of, slugs
from attnlab.notebook import check
from autograder.run.grade import Grader
from autograder.sandbox.child import wire
from autograder.sandbox.child.wire import Malformed
from autograder.sandbox.limits import Limits
from tests.test_grade import SLUG, TORCH, by_name, grader_of, notebook

pytestmark = pytest.mark.slow

# Each is many times what the right answer has.
HUGE = {
    "two lists of floats": "[[0.5] * 499_000, [0.5] * 499_000]",
    "a tuple of lists": "([0.5] * 499_000, [0.5] * 499_000)",
    "a list of lists": "[[0.5] * 1000] * 1000",
    "a list of lists of lists": "[[[[0.5]]]] * 200_000",
    "a list in a list": "[1.0, [2.0] * 499_000]",
    "a list of texts": "['0.5'] * 499_000",
    "a list of large ints": "[10**300] * 20_000",
    "a list of tuples": "[()] * 499_000",
    "a text": "'0.5 ' * 499_000",
    "an int": "10**499_000",
    "a tensor": "torch.zeros(1000, 1000)",
    "a list of tensors": "[torch.zeros(1000)] * 1000",
    "a tensor of no numbers": "torch.zeros(0, 499_000)",
    "a view of one number": "torch.zeros(1).expand(10**9)",
}


@pytest.fixture(scope="module")
def torch_grader() -> Iterator[Grader]:
    with grader_of(TORCH, limits=Limits()) as grader:
        yield grader


@pytest.mark.parametrize("what", HUGE)
def test_a_huge_answer_is_told_by_its_size_in_notebook_and_grader(
    torch_grader: Grader, what: str
) -> None:
    source = f"import torch\n\n\ndef decoder_mask(lengths, n):\n    return {HUGE[what]}\n"
    names: dict[str, object] = {}
    exec(source, names)
    shown = check(names["decoder_mask"], name="decoder_mask", lesson=TORCH).verdict
    results = by_name(torch_grader.grade(notebook({"decoder_mask": source}, slug=TORCH), "s"))
    found = results.pop("decoder_mask")
    assert (found.status, found.score) == (shown.status, shown.score) == ("FAIL", 0.0)
    assert found.diagnosis in ("wrong-type", "wrong-shape")
    assert len(found.message) < 400
    assert {result.status for result in results.values()} == {"PASS"}


def test_an_input_made_huge_is_an_input_that_was_changed() -> None:
    def grows(query: list[float], keys: object, values: object) -> list[float]:
        query += [0.0] * 499_000
        return query

    verdict = check(grows, name="hard_lookup", lesson=SLUG).verdict
    assert any(line.holds is False for line in verdict.lines if "unchanged" in line.claim)


FORGED = {
    "nested lists": b"[" * 90 + b"]" * 90,
    "empty lists": b"[" + b"[],".join([b""] * 50_000) + b"[]]",
    "empty objects": b"[" + b"{},".join([b""] * 50_000) + b"{}]",
    "numbers": b"[" + b"1,".join([b""] * 100_000) + b"1]",
    "keys": b"{" + b",".join(b'"%d":0' % key for key in range(20_000)) + b"}",
}


@pytest.mark.parametrize("what", FORGED)
def test_a_forged_reply_takes_little_memory(what: str) -> None:
    text = b'{"returned": ' + FORGED[what] + b"}"
    ours, theirs = socket.socketpair()
    with ours, theirs:
        threading.Thread(
            target=lambda: theirs.sendall(wire.LENGTHS.pack(len(text), 0) + text)
        ).start()
        tracemalloc.start()
        try:
            message, _ = wire.receive(ours, wire.reply_bytes(LEEWAY), 5)
            with pytest.raises(Malformed):
                wire.read_outcome(message, b"", Call((), most=LEEWAY))
        except Malformed:
            pass
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 20 * 2**20


def test_judging_has_a_time_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(exercise: Exercise, *args: Any, **kwargs: Any) -> Verdict:
        while exercise.name == "softmax":
            pass
        return judge(exercise, *args, **kwargs)

    monkeypatch.setattr("autograder.run.grade.judge", slow)
    limits = Limits(call_seconds=0.5, grace_seconds=0.2, judge_seconds=2)
    with grader_of(SLUG, limits=limits) as grader:
        results = by_name(grader.grade(notebook(), "s"))
    assert (results["softmax"].status, results["softmax"].score) == ("TIMEOUT", 0.0)
    assert "compare" in results["softmax"].message
    assert results["soft_lookup"].status == "PASS"


def test_a_notebook_that_takes_too_long_keeps_what_was_reached() -> None:
    limits = Limits(cell_seconds=1, call_seconds=1, grace_seconds=0.5, submission_seconds=2)
    waits = {"hard_lookup-check": "import time\ntime.sleep(0.9)"}
    data = json.loads(notebook(None, waits))
    [slow] = [cell for cell in data["cells"] if cell.get("id") == "extra-hard_lookup-check"]
    at = data["cells"].index(slow)
    data["cells"][at:at] = [slow | {"id": f"slow-{number}"} for number in range(9)]
    with grader_of(SLUG, limits=limits) as grader:
        results = by_name(grader.grade(json.dumps(data).encode(), "s"))
        after = grader.grade(notebook(), "s").result
    assert results["hard_lookup"].status == "PASS"
    for name in ("softmax", "soft_lookup"):
        assert (results[name].status, results[name].score) == ("TIMEOUT", 0.0)
        assert "was not reached" in results[name].message
        assert "2 seconds" in results[name].message
    assert after.score == after.max_score


# what a child sees beforehand -------------------------------------------------------------------


def arrays_in(value: Value) -> Iterator[np.ndarray]:
    """A value's numbers, and those of its items."""
    if isinstance(value, Items):
        for item in value.items:
            yield from arrays_in(item)
    if not isinstance(value, ByName):
        try:
            yield np.asarray(rebuild(value), dtype=float)
        except (TypeError, ValueError):  # ragged, or no numbers
            return


def is_told(answer: np.ndarray, inputs: list[np.ndarray]) -> bool:
    return any(
        answer.shape == each.shape and np.allclose(answer, each, 0, 1e-6, equal_nan=True)
        for each in inputs
    )


@pytest.mark.parametrize(
    "name", [f"{slug}: {name}" for slug in slugs() for name in exercises_of(slug)]
)
def test_no_right_answer_stands_among_the_inputs_of_another_case(name: str) -> None:
    slug, _, exercise = name.partition(": ")
    posed = pose(exercises_of(slug)[exercise], (1, 2))
    inputs = []
    for each in posed:
        call = each.call
        sent = (*call.args, *call.kwargs.values(), *call.state.values(), *call.earlier)
        inputs.append([array for value in sent for array in arrays_in(value)])
    for at, each in enumerate(posed):
        others = [array for other, found in enumerate(inputs) if other != at for array in found]
        for right in each.right.values:
            if right.dtype.kind not in "fiu" or len(np.unique(right)) < 3:
                continue  # nothing that only one case could have
            answer = right.astype(float)
            if np.abs(np.nan_to_num(answer)).max() < 1e-6 or is_told(answer, inputs[at]):
                continue  # as good as 0, or a case that gives back what it takes
            assert not is_told(answer, others), each.case
