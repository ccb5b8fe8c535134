"""One mistake costs one exercise: what calls a wrong helper is judged again with the course's."""

from __future__ import annotations

import marshal
import sys
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

import pytest

from attnlab.checks.exercise import SEEDS
from attnlab.lessons import exercises_of, slugs
from attnlab.notebook import GRADED_AGAIN, check_function, verdict_on
from autograder.run.grade import Grader
from autograder.run.helpers import Helpers
from autograder.sandbox.limits import Limits
from autograder.submission.results import Graded
from autograder.term.mistakes import taken_apart
from tests.course import fail_for, released_path, solution_path, tells
from tests.test_grade import by_name, cells_of, name_of, notebook, untimed

pytestmark = pytest.mark.slow
SLUG = "06-causal-mask"
BROKEN = "def {0}(*args, **kwargs):\n    return None\n"
ANSWERS = {name_of(cell): cell["source"] for cell in cells_of(SLUG, solved=True)}
OFF_BY_ONE = {"causal_mask": ANSWERS["causal_mask"].replace("diagonal=1", "diagonal=0")}
# What the course's answer to an exercise calls.
CALLS = {
    "01-soft-lookup": {"soft_lookup": ["softmax"]},
    "02-pure-python": {
        "attention_weights": ["matmul", "transpose", "softmax_rows"],
        "self_attention": ["matmul", "attention_weights"],
    },
    "03-numpy": {"scaled_dot_product_attention": ["softmax"]},
    "05-pytorch": {"SelfAttention": ["scaled_dot_product_attention"]},
    SLUG: {"attention": ["causal_mask"], "decoder_mask": ["causal_mask", "padding_mask"]},
    "07-multi-head": {"MultiHeadAttention": ["split_heads", "merge_heads"]},
    "11-cost": {"tiled_attention": ["merge_softmax"]},
}


def grader_of(slug: str, limits: Limits | None = None, solution: str | None = None) -> Grader:
    if solution is None:
        solution = solution_path(slug).read_text(encoding="utf-8")
    return Grader(slug, released_path(slug).read_text("utf-8"), 7, limits or Limits(), solution)


def helpers_of(slug: str) -> Helpers:
    return Helpers(slug, solution_path(slug).read_text(encoding="utf-8"), Limits())


def made(code: bytes) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(marshal.loads(code), names)
    return names


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    with grader_of(SLUG) as grader:
        yield grader


def points(graded: Graded) -> dict[str, float]:
    return {exercise.name: exercise.score for exercise in graded.result.exercises}


# what is given back -------------------------------------------------------------------------------


def test_a_wrong_mask_costs_its_own_point_alone(grader: Grader) -> None:
    graded = grader.grade(notebook(OFF_BY_ONE, slug=SLUG), "s")
    results = by_name(graded)
    assert graded.result.score == 10.0
    assert (results["causal_mask"].score, results["attention"].status) == (0.0, "PASS")
    assert tells(results["attention"].message, "the course's", "5 of 5", "yours", "0", "better")
    assert "comes to 5 of 5 points" in graded.notebook
    again = grader.grade(notebook(OFF_BY_ONE, slug=SLUG), "s")
    assert untimed(again.result) == untimed(graded.result)


def test_what_is_wrong_with_either_keeps_its_points_and_is_a_mistake_of_its_own(
    grader: Grader,
) -> None:
    wrong = ANSWERS["padding_mask"].replace(" < ", " <= ")
    other = ANSWERS["decoder_mask"].replace("&", "|")
    assert other != ANSWERS["decoder_mask"]
    graded = grader.grade(notebook({"padding_mask": wrong, "decoder_mask": other}, slug=SLUG), "s")
    assert points(graded) == {
        **dict.fromkeys(exercises_of(SLUG), 0.0),
        "causal_mask": 1.0,
        "attention": 5.0,
        "looks_ahead": 2.0,
    }
    item = by_name(graded)["decoder_mask"]
    assert tells(item.message, "no more", "0 of 2")
    said = taken_apart(item.message, item.diagnosis or "", SLUG, "torch")
    assert not said.follows
    assert said.differed
    assert "This calls" not in said.differed


def without_end(names: list[str]) -> dict[str, str]:
    """Answers that call each other."""
    others = [*names[1:], names[0]]
    return {
        name: f"def {name}(*args, **kwargs):\n    return {other}(*args, **kwargs)\n"
        for name, other in zip(names, others, strict=True)
    }


def test_two_wrong_helpers_that_call_each_other_cost_themselves_alone(grader: Grader) -> None:
    graded = grader.grade(notebook(without_end(["causal_mask", "padding_mask"]), slug=SLUG), "s")
    assert points(graded) == {
        "causal_mask": 0.0,
        "attention": 5.0,
        "looks_ahead": 2.0,
        "padding_mask": 0.0,
        "decoder_mask": 2.0,
    }


@pytest.mark.parametrize(
    "slug", [s if s.startswith("02") else pytest.param(s, marks=pytest.mark.prove) for s in CALLS]
)
def test_all_helpers_wrong_cost_themselves_alone(slug: str) -> None:
    wrong = {name for called in CALLS[slug].values() for name in called}
    with grader_of(slug) as grader:
        changed = {name: BROKEN.format(name) for name in wrong}
        found = points(grader.grade(notebook(changed, slug=slug), "s"))
    expected = {
        name: 0.0 if name in wrong else exercise.points
        for name, exercise in exercises_of(slug).items()
    }
    assert found == expected


def test_a_helper_that_is_not_written_stops_or_ends_its_process_is_exchanged_too(
    grader: Grader,
) -> None:
    head = "def causal_mask(n, device=None):\n    "
    for body in ("raise NotImplementedError", "import os; os._exit(0)", "exit()"):
        graded = grader.grade(notebook({"causal_mask": head + body}, slug=SLUG), "s")
        assert graded.result.score == 10.0, body


def test_without_the_course_s_solution_or_time_nothing_is_judged_twice() -> None:
    slug, wrong = "01-soft-lookup", {"softmax": BROKEN.format("softmax")}
    sleeps = {"soft_lookup-check": "import time\ntime.sleep(1)"}
    for limits, solution, after in (
        (Limits(), "", {}),
        (Limits(submission_seconds=1.0), None, sleeps),
    ):
        with grader_of(slug, limits, solution) as grader:
            graded = grader.grade(notebook(wrong, after), "s")
        assert "With the course's" not in str(graded.result)
        assert points(graded)["soft_lookup"] == 0.0


def test_a_helper_that_is_right_and_slow_stays() -> None:
    slug = "01-soft-lookup"
    answers = {name_of(cell): cell["source"] for cell in cells_of(slug, solved=True)}
    begins = (
        "import time\n{}def softmax(scores):\n    time.sleep(0.001)\n    return quick(scores)\n"
    )
    slow = begins.format(answers["softmax"].replace("def softmax", "def quick") + "\n")
    caller = answers["soft_lookup"].replace(
        "softmax(", "[softmax([1.0]) for _ in range(99)] and softmax("
    )
    assert caller != answers["soft_lookup"]
    with grader_of(slug, Limits(call_seconds=1.0)) as grader:
        results = by_name(grader.grade(notebook({"softmax": slow, "soft_lookup": caller}), "s"))
    assert results["softmax"].status == "PASS"
    assert results["soft_lookup"].status == "TIMEOUT"
    assert "With the course's" not in results["soft_lookup"].message


# what is not given away ---------------------------------------------------------------------------

READS = """
def attention(x, Wq, Wk, Wv):
    import inspect, sys
    code = causal_mask.__code__
    told = "CODE" + code.co_code.hex() + repr(code.co_consts) + code.co_filename
    print(told)
    open("/tmp/kept", "w").write(told)
    try:
        told += inspect.getsource(causal_mask) + "SOURCE-READ"
    except (OSError, TypeError):
        told += "no source"
    raise RuntimeError(told)
"""
HOLDS = "\nkept = causal_mask\ndef held(n):\n    return kept(n)\n"


def test_what_reads_the_course_s_helper_tells_its_learner_nothing(grader: Grader) -> None:
    code = made(helpers_of(SLUG).code("causal_mask"))["causal_mask"].__code__
    graded = grader.grade(notebook({**OFF_BY_ONE, "attention": READS}, slug=SLUG), "s")
    shown = f"{graded.result}{graded.notebook}{graded.cards}{graded.written}"
    assert "CODE" in shown  # of the learner's own
    assert code.co_code.hex() not in shown
    assert code.co_filename not in shown
    assert "SOURCE-READ" not in by_name(graded)["decoder_mask"].message


def test_a_helper_of_the_course_has_no_text_and_no_later_answer_with_it() -> None:
    wrong = []
    for slug in slugs():
        helpers, names = helpers_of(slug), list(exercises_of(slug))
        for at, name in enumerate(names):
            code = helpers.code(name)
            there = made(code).keys() & set(names[at + 1 :])
            text = marshal.loads(code)
            if there or b"BEGIN SOLUTION" in code or b"Args:" in code or text.co_consts is None:
                wrong.append(f"{slug}: {name} brings {there or 'text'}")
    fail_for(wrong)


@pytest.mark.parametrize(
    "slug", [s if s == SLUG else pytest.param(s, marks=pytest.mark.prove) for s in slugs()]
)
def test_what_only_hands_its_work_to_a_helper_earns_nothing(slug: str) -> None:
    """Nor does any earlier exercise answer a later one, whose points would be given twice."""
    helpers, exercises = helpers_of(slug), exercises_of(slug)
    names, wrong = list(exercises), []
    for at, name in enumerate(names):
        for earlier in names[:at]:
            helper = made(helpers.code(earlier))[earlier]
            count = helper.__code__.co_argcount if isinstance(helper, FunctionType) else None

            def hands_over(*args: Any, **kwargs: Any) -> Any:
                return helper(*[*args, *kwargs.values()][:count])  # noqa: B023

            if verdict_on(exercises[name], hands_over, SEEDS, 8.0).score:
                wrong.append(f"{slug}: {name} by {earlier}")
    fail_for(wrong)


def test_another_exercise_gets_nothing_of_it(grader: Grader) -> None:
    """The course's is there for whoever calls the one that fails, alone and after it failed."""
    takes = {
        "causal_mask": OFF_BY_ONE["causal_mask"] + HOLDS,
        "padding_mask": "def padding_mask(lengths, max_len):\n"
        "    return globals()['padding' + '_mask'](lengths, max_len)\n",
        "looks_ahead": "def looks_ahead(fn, x):\n"
        "    return globals()['causal' + '_mask'](2)[0, 1]\n",
    }
    found = points(grader.grade(notebook(takes, slug=SLUG), "s"))
    assert found == {
        "causal_mask": 0.0,
        "attention": 5.0,
        "looks_ahead": 0.0,
        "padding_mask": 0.0,
        "decoder_mask": 2.0,
    }


# the notebook's card ------------------------------------------------------------------------------


@pytest.mark.parametrize("slug", CALLS)
def test_the_card_comes_to_the_grade(slug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    helpers, exercises = helpers_of(slug), exercises_of(slug)
    wrong = []
    for name, called in CALLS[slug].items():
        main = ModuleType("__main__")
        monkeypatch.setitem(sys.modules, "__main__", main)
        exec(marshal.loads(helpers.code(name)), main.__dict__)
        for helper in called:
            exec(BROKEN.format(helper), main.__dict__)
        broken = {helper: main.__dict__[helper] for helper in called}
        card = check_function(main.__dict__[name], name=name, lesson=slug)
        told = card.verdict.first
        if name in ("SelfAttention", "tiled_attention"):  # the oracle is refused, or narrower
            assert GRADED_AGAIN in told
        elif card != exercises[name].points or "With the course's in" not in told:
            wrong.append(f"{slug}: {name} {float(card):g}: {card}")
        assert {helper: main.__dict__[helper] for helper in called} == broken
    fail_for(wrong)
