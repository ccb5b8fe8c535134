"""`check` under bad input: it never raises, never hangs, never prints, and says what happened."""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
import logging
import math
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from threading import Event, Thread, Timer
from typing import Any

import numpy as np
import pytest

from attnlab import begun, notebook
from attnlab import lesson as opened
from attnlab.calling.call import PRINT_LIMIT, Call, Outcome, perform
from attnlab.calling.deadline import Deadline
from attnlab.calling.observe import observe
from attnlab.checks.card import Card, as_html, as_text
from attnlab.checks.exercise import Case
from attnlab.checks.judge import judge
from attnlab.checks.pose import brief
from attnlab.checks.verdict import Diagnosis, Example, Line, Verdict
from attnlab.lessons import exercises_of
from attnlab.notebook import Check, check

Function = Callable[..., Any]
ROOT = Path(__file__).parents[1]
POINTS = 2.0  # of softmax in lesson 01
NASTY = "<img src=x onerror=alert(1)>"


@pytest.fixture
def short_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "SECONDS", 0.25)


def softmax(scores: list[float]) -> list[float]:
    if not scores or max(scores) == -math.inf:
        raise ValueError("nothing to share")
    exps = [math.exp(score - max(scores)) for score in scores]
    return [number / sum(exps) for number in exps]


def check_softmax(function: object) -> Card:
    return check(function, name="softmax", lesson="01-soft-lookup")


def slug_of(card: Card) -> str:
    return card.verdict.diagnosis.slug if card.verdict.diagnosis else ""


# what comes back -----------------------------------------------------------------------------


class LyingList(list[float]):
    """A list that says it is whatever it is compared with."""

    def __eq__(self, other: object) -> bool:
        return True

    def __len__(self) -> int:
        return 7

    __hash__ = None


class LyingFloat(float):
    """A number that is whatever it is compared with."""

    def __eq__(self, other: object) -> bool:
        return True

    def __rsub__(self, other: object) -> float:
        return 0.0

    __hash__ = None  # type: ignore[assignment]


RETURNED: dict[str, tuple[Function, str]] = {
    "None": (lambda scores: None, "wrong-type"),
    "a number": (lambda scores: 1.0, "wrong-type"),
    "text": (lambda scores: "0.5, 0.5", "wrong-type"),
    "a tuple": (lambda scores: tuple(softmax(scores)), "wrong-type"),
    "a generator": (lambda scores: (weight for weight in softmax(scores)), "wrong-type"),
    "an array": (lambda scores: np.array(softmax(scores)), "wrong-type"),
    "NumPy numbers": (lambda scores: [np.float64(w) for w in softmax(scores)], "wrong-type"),
    "a subclass of list": (lambda scores: LyingList(), "wrong-type"),
    "subclasses of float": (lambda scores: [LyingFloat() for _ in scores], "wrong-type"),
    "bools": (lambda scores: [True for _ in scores], "wrong-type"),
    "the function itself": (lambda scores: softmax, "wrong-type"),
    "a class": (lambda scores: float, "wrong-type"),
    "NotImplemented": (lambda scores: NotImplemented, "wrong-type"),
    "an exception": (lambda scores: ValueError("no"), "wrong-type"),
    "columns": (lambda scores: [[weight] for weight in softmax(scores)], "wrong-type"),
    "one too few": (lambda scores: softmax(scores)[1:], "wrong-shape"),
    "nothing in a list": (lambda scores: [], "wrong-shape"),
    "NaN": (lambda scores: [math.nan for _ in scores], "non-finite"),
    "infinity": (lambda scores: [math.inf for _ in scores], "non-finite"),
    "huge ints": (lambda scores: [10**500 for _ in scores], "non-finite"),
    "a huge int": (lambda scores: 10**5000, "wrong-type"),
    "a million numbers": (lambda scores: [0.1] * 1_000_000, "wrong-shape"),
}


@pytest.mark.parametrize("what", RETURNED)
def test_wrong_return_is_called_what_it_is(what: str) -> None:
    function, slug = RETURNED[what]
    card = check_softmax(function)
    assert card.verdict.status == "FAIL", card.verdict.message
    assert slug_of(card) == slug
    assert float(card) == 0


def test_list_that_contains_itself_is_a_wrong_type() -> None:
    def endless(scores: list[float]) -> list[Any]:
        weights: list[Any] = []
        weights.append(weights)
        return weights

    assert slug_of(check_softmax(endless)) in ("wrong-type", "wrong-shape")


def test_whichever_call_is_the_first_wrong_one_costs_the_points() -> None:
    calls = 0

    def turns(wrong_from: float) -> Card:
        nonlocal calls
        calls = 0

        def later_wrong(scores: list[float]) -> list[float]:
            nonlocal calls
            calls += 1
            weights = softmax(scores)
            return weights if calls < wrong_from else [weight + 0.1 for weight in weights]

        return check_softmax(later_wrong)

    assert float(turns(math.inf)) == POINTS
    for wrong_from in range(1, calls + 1):
        card = turns(wrong_from)
        assert slug_of(card) == ("nondeterministic" if wrong_from > 1 else "")
        assert float(card) == 0
        assert card.verdict.lines[0].holds is False


def test_what_goes_by_the_number_of_calls_is_named_where_it_shows_alone() -> None:
    calls = 0

    def each_fourth_is_wrong(scores: list[float]) -> list[float]:
        nonlocal calls
        calls += 1
        weights = softmax(scores)
        return weights if calls % 4 else [weight + 0.1 for weight in weights]

    assert slug_of(check_softmax(each_fourth_is_wrong)) == "nondeterministic"


def test_changed_input_costs_that_line_alone() -> None:
    def sorts(scores: list[float]) -> list[float]:
        weights = softmax(scores)
        scores.sort()
        return weights

    card = check_softmax(sorts)
    assert slug_of(card) == "mutated-input"
    assert "scores" in card.verdict.message
    assert 0 < float(card) < POINTS


def test_result_that_a_later_call_changes_is_named() -> None:
    kept: list[float] = []

    def shares(scores: list[float]) -> list[float]:
        kept[:] = softmax(scores)
        return kept

    card = check_softmax(shares)
    assert slug_of(card) == "shared-result"
    assert card.verdict.message == "a second call changed what the first one had returned"
    assert float(card) == 0


# what is raised ------------------------------------------------------------------------------


class Unprintable(Exception):
    """Its message cannot be read."""

    def __str__(self) -> str:
        raise RuntimeError("no message")

    __repr__ = __str__


class Leaving(Exception):
    """Reading its message ends the program."""

    def __str__(self) -> str:
        raise SystemExit(1)


class NotText(Exception):
    """Its message is not text."""

    def __str__(self) -> str:
        return 5  # type: ignore[return-value]


RAISED: dict[str, BaseException] = {
    "TypeError": TypeError("bad operand"),
    "ZeroDivisionError": ZeroDivisionError("division by zero"),
    "SystemExit": SystemExit(0),
    "GeneratorExit": GeneratorExit(),
    "StopIteration": StopIteration(),
    "Unprintable": Unprintable(),
    "Leaving": Leaving(),
    "NotText": NotText(),
    "BaseException": BaseException("base"),
    "ExceptionGroup": ExceptionGroup("several", [ValueError("one"), KeyError("two")]),
}


@pytest.mark.parametrize("name", RAISED)
def test_whatever_is_raised_is_named(name: str) -> None:
    def raises(scores: list[float]) -> list[float]:
        raise RAISED[name]

    card = check_softmax(raises)
    assert card.verdict.status == "ERROR", card.verdict.message
    assert name in card.verdict.message
    assert "raise RAISED[name]" in card.verdict.message
    assert slug_of(card) == "raised"
    assert float(card) == 0


@pytest.mark.parametrize(
    "error",
    [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to …")],
    ids=["Python", "PyTorch"],
)
def test_running_out_of_memory_ends_the_check(error: Exception) -> None:
    calls = []

    def builds_too_much(scores: list[float]) -> list[float]:
        calls.append(scores)
        raise error

    card = check_softmax(builds_too_much)
    assert card.verdict.status == "OOM", card.verdict.message
    assert float(card) == 0
    assert len(calls) == 1  # every further call would fill the memory again


def test_exit_stops_nothing_but_the_call() -> None:
    def leaves(scores: list[float]) -> list[float]:
        sys.exit("bye")

    assert check_softmax(leaves).verdict.status == "ERROR"


def test_interrupt_ends_the_check_with_a_card() -> None:
    calls = []

    def interrupted(scores: list[float]) -> list[float]:
        calls.append(1)
        raise KeyboardInterrupt

    card = check_softmax(interrupted)
    assert float(card) == 0
    assert card.verdict.status != "PASS"
    assert "interrupt" in card.verdict.message.lower()
    assert len(calls) == 1


def test_interrupt_by_signal_ends_the_check_with_a_card() -> None:
    def waits(scores: list[float]) -> list[float]:
        signal.raise_signal(signal.SIGINT)
        return softmax(scores)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
    try:
        card = check_softmax(waits)
    finally:
        signal.signal(signal.SIGINT, before)
    assert "interrupt" in card.verdict.message.lower()


def test_recursion_without_end_is_stopped_and_said() -> None:
    def deeper(scores: list[float]) -> list[float]:
        return deeper(scores)

    card = check_softmax(deeper)
    assert card.verdict.status == "ERROR"
    assert "RecursionError" in card.verdict.message
    assert "return deeper(scores)" in card.verdict.message


def test_a_loop_without_end_has_its_line_a_cause_and_something_to_try(short_time: None) -> None:
    def waits(scores: list[float]) -> list[float]:
        while len(scores) >= 0:
            weights = list(scores)
        return weights

    verdict = check_softmax(waits).verdict
    assert verdict.status == "TIMEOUT"
    assert re.search(r"at the line `(while len|weights = ).*` of `waits`", verdict.message)
    assert verdict.diagnosis is not None
    assert verdict.diagnosis.slug == "still-running"
    assert "Print what the loop counts" in verdict.diagnosis.remedy


def first_three(scores: list[float]) -> list[float]:
    return softmax(scores[:3] if len(scores) > 2 else [*scores, 0.0, 0.0][:3])


def three_for_ever(scores: list[float]) -> list[float]:
    return [1 / 3] * 3


@pytest.mark.parametrize("function", [first_three, three_for_ever])
def test_a_size_that_stands_in_the_code_is_told_of_len(function: Function) -> None:
    diagnosis = check_softmax(function).verdict.diagnosis
    assert diagnosis is not None
    assert diagnosis.slug == "hard-coded-size"
    assert "`len(x)`" in diagnosis.remedy
    assert "`3`" in diagnosis.remedy


@pytest.mark.parametrize(
    "shares",
    [
        lambda scores: np.array(softmax(scores)),
        lambda scores: list(np.array(softmax(scores))),
        lambda scores: [*softmax(scores)[1:], np.float32(0.5)],
    ],
    ids=["an array", "a list of NumPy's numbers", "one of NumPy's numbers"],
)
def test_an_array_for_a_list_is_told_of_tolist(shares: Function) -> None:
    diagnosis = check_softmax(shares).verdict.diagnosis
    assert diagnosis is not None
    assert ".tolist()" in diagnosis.remedy
    assert "there is no `numpy`" in diagnosis.remedy


def test_stub_is_not_written_yet() -> None:
    def stub(scores: list[float]) -> list[float]:
        raise NotImplementedError

    card = check_softmax(stub)
    assert card.verdict.status == "MISSING"
    assert "not written yet" in str(card)
    assert "raised" not in card.verdict.message
    assert "line" not in card.verdict.message


def left_above(scores: list[float]) -> list[float]:
    """The stub's text."""
    raise NotImplementedError("This exercise is not written yet.")
    exps = [math.exp(score) for score in scores]  # type: ignore[unreachable]
    return [number / sum(exps) for number in exps]


def left_below(scores: list[float]) -> list[float]:
    """The stub's text."""
    exps = [math.exp(score) for score in scores]
    exps = [number / sum(exps) for number in exps]
    raise NotImplementedError("This exercise is not written yet.")


class LeftInAMethod:
    def __call__(self, scores: list[float]) -> list[float]:
        if scores:
            scores = [math.exp(score) for score in scores]
        raise NotImplementedError


def helped_by_a_stub(scores: list[float]) -> list[float]:
    return left_above(scores)


@pytest.mark.parametrize("function", [left_above, left_below, LeftInAMethod()])
def test_a_raise_that_was_left_in_an_answer_is_told_with_its_line(function: Any) -> None:
    verdict = check_softmax(function).verdict
    plain = function if inspect.isfunction(function) else type(function).__call__
    lines, first = inspect.getsourcelines(plain)
    number = first + next(at for at, line in enumerate(lines) if "raise NotImpl" in line)
    assert verdict.status == "MISSING"
    assert f"stops at line {number} of its cell, the `raise` that it was" in verdict.message
    assert "take that line out" in verdict.message


def test_a_raise_that_was_left_in_what_an_answer_calls_is_told_with_its_line() -> None:
    message = check_softmax(helped_by_a_stub).verdict.message
    number = inspect.getsourcelines(left_above)[1] + 2
    assert message.startswith(f"`softmax` calls `left_above`, which stops at line {number} of its")


@pytest.mark.parametrize(
    ("given", "asked"),
    [((), {}), ((None,), {}), ((check,), {"name": 5}), ((len,), {"name": [], "lesson": {}})],
    ids=["nothing", "None", "a number for a name", "containers"],
)
def test_check_never_raises_whatever_it_is_given(given: Any, asked: Any) -> None:
    assert check(*given, **asked) == 0.0


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))]
)
def test_a_card_can_be_copied_and_kept(again: Callable[[Any], Any]) -> None:
    card = check(lambda scores: scores, name="softmax", lesson="01-soft-lookup")
    assert (again(card), str(again(card)), again(card).inputs) == (card, str(card), card.inputs)


def test_none_where_an_error_is_asked_is_told_to_raise() -> None:
    def returns_none(scores: list[float]) -> list[float] | None:
        if not scores or max(scores) == -math.inf:
            print("no scores")
            return None
        return softmax(scores)

    diagnosis = check_softmax(returns_none).verdict.diagnosis
    assert diagnosis is not None
    assert diagnosis.slug == "not-raised"
    assert "`raise`" in diagnosis.remedy


@pytest.mark.parametrize(
    "function", [lambda: [], lambda a, b, c: [], lambda *, scores: softmax(scores)]
)
def test_wrong_parameters_are_an_error_of_the_call(function: Function) -> None:
    card = check_softmax(function)
    assert card.verdict.status == "ERROR"
    assert "TypeError" in card.verdict.message


def test_check_owns_up_when_it_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr("attnlab.checks.judge.examine", broken)
    card = check_softmax(softmax)
    assert float(card) == 0
    assert "our mistake" in card.verdict.message
    assert not card.verdict.diagnosis


# what is printed -----------------------------------------------------------------------------


def test_flood_of_output_is_stopped() -> None:
    printed = 0

    def floods(scores: list[float]) -> list[float]:
        nonlocal printed
        while True:
            print("x" * 1000)
            printed += 1000

    card = check_softmax(floods)
    assert card.verdict.status == "ERROR"
    assert "printed more than" in card.verdict.message
    assert printed <= PRINT_LIMIT + 1000
    assert len(str(card)) < 5000


def test_flood_that_catches_its_end_is_stopped() -> None:
    def floods(scores: list[float]) -> list[float]:
        for _ in range(1000):
            try:
                print("x" * 1000)
            except BaseException:
                continue
        return softmax(scores)

    assert check_softmax(floods).verdict.status == "ERROR"


def test_output_below_the_limit_costs_nothing() -> None:
    def talks(scores: list[float]) -> list[float]:
        print("x" * (PRINT_LIMIT // 2), end="")  # where it is called twice, that is the limit
        return softmax(scores)

    assert float(check_softmax(talks)) == POINTS


def test_what_was_printed_is_on_the_card() -> None:
    def talks(scores: list[float]) -> list[float]:
        print("scores are here")
        print("and there", file=sys.stderr)
        return scores

    assert "scores are here and there" in str(check_softmax(talks))


def noisy(scores: list[float]) -> list[float]:
    print("out")
    print("err", file=sys.stderr)
    warnings.warn("careful", stacklevel=1)
    logging.warning("logged")
    return [float(number) for number in np.log(np.zeros(1)) - np.inf] * len(scores)


def silent_generator(scores: list[float]) -> Iterator[float]:
    yield from softmax(scores)


def prints_when_deleted(scores: list[float]) -> list[float]:
    class Noisy:
        def __del__(self) -> None:
            print("deleted")

    Noisy()
    return softmax(scores)


@pytest.mark.parametrize(
    "function", [softmax, noisy, silent_generator, prints_when_deleted, None, "softmax", math.exp]
)
def test_check_writes_nothing(function: object, capfd: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        check_softmax(function)
    assert capfd.readouterr() == ("", "")
    assert not warned


# what never ends -----------------------------------------------------------------------------


def spins(scores: list[float]) -> list[float]:
    while True:
        pass


def catches_exceptions(scores: list[float]) -> list[float]:
    while True:
        try:  # noqa: SIM105
            math.exp(scores[0])
        except Exception:
            pass


def catches_everything(scores: list[float]) -> list[float]:
    while True:
        try:  # noqa: SIM105
            math.exp(scores[0])
        except:  # noqa: E722
            pass


def catches_everything_around_a_loop(scores: list[float]) -> list[float]:
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass


def returns_after_all(scores: list[float]) -> list[float]:
    try:
        while True:
            pass
    except BaseException:
        return softmax(scores)


def sleeps(scores: list[float]) -> list[float]:
    time.sleep(60)
    return softmax(scores)


def sleeps_on(scores: list[float]) -> list[float]:
    while True:
        try:
            time.sleep(60)
        except BaseException:
            continue


def grows(scores: list[float]) -> list[float]:
    for score in scores:
        scores.append(score)
        if len(scores) > 1000:
            scores.pop()
    return scores


def finally_spins(scores: list[float]) -> list[float]:
    try:
        while True:
            pass
    finally:
        while True:
            pass


ENDLESS = [spins, catches_exceptions, catches_everything, returns_after_all, sleeps, finally_spins]
STUBBORN = ["catches_everything_around_a_loop", "sleeps_on"]
on_unix = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer on this system")


@on_unix
@pytest.mark.usefixtures("short_time")
@pytest.mark.parametrize("function", ENDLESS)
def test_endless_code_is_stopped_and_the_timer_put_away(function: Function) -> None:
    rang: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rang.append(number))
    handler = signal.getsignal(signal.SIGALRM)
    try:
        started = time.monotonic()
        card = check_softmax(function)
        seconds = time.monotonic() - started
        handler_after, timer_after = signal.getsignal(signal.SIGALRM), signal.getitimer(0)
        time.sleep(0.02)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert seconds < 30  # one of them sleeps for 60
    assert card.verdict.status == "TIMEOUT"
    assert float(card) == 0
    assert "still running" in card.verdict.message
    assert handler_after is handler
    assert timer_after == (0.0, 0.0)
    assert not rang


@pytest.mark.slow
@on_unix
@pytest.mark.parametrize("name", STUBBORN)
def test_code_that_catches_every_interrupt_is_stopped(name: str) -> None:
    code = (
        "from attnlab import notebook\n"
        f"from tests.test_check import check_softmax, {name}\n"
        "notebook.SECONDS = 0.25\n"
        f"print(check_softmax({name}).verdict.status)\n"
    )
    try:
        run = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60
        )
    except subprocess.TimeoutExpired:
        pytest.fail("it was still running a minute later")
    assert run.stdout == "TIMEOUT\n", run.stderr


@pytest.mark.usefixtures("short_time")
@pytest.mark.parametrize(
    "function", [spins, catches_exceptions, catches_everything, returns_after_all]
)
def test_endless_code_is_stopped_outside_the_main_thread(function: Function) -> None:
    cards: list[Card] = []
    thread = threading.Thread(target=lambda: cards.append(check_softmax(function)), daemon=True)
    thread.start()
    thread.join(8.0)
    assert [card.verdict.status for card in cards] == ["TIMEOUT"]


def test_right_code_passes_outside_the_main_thread() -> None:
    cards: list[Card] = []
    thread = threading.Thread(target=lambda: cards.append(check_softmax(softmax)))
    thread.start()
    thread.join()
    assert [float(card) for card in cards] == [POINTS]


def test_time_limit_leaves_room_for_ten_seconds() -> None:
    assert 1.0 <= notebook.SECONDS <= 9.0


@on_unix
def test_quick_code_leaves_no_timer_behind() -> None:
    before = signal.getsignal(signal.SIGALRM)
    check_softmax(softmax)
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


# what is checked -----------------------------------------------------------------------------


class Unhelpful:
    """Raises at every question."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("no")

    def __repr__(self) -> str:
        raise RuntimeError("no")


class NamedByNumber:
    """Has a name that is not text."""

    __name__ = 5

    def __call__(self, scores: list[float]) -> list[float]:
        return softmax(scores)


NOT_FUNCTIONS: dict[str, Function] = {
    "None": lambda: None,
    "name": lambda: "softmax",
    "markup": lambda: NASTY,
    "int": lambda: 5,
    "huge int": lambda: 10**5000,
    "list": list,
    "dict": dict,
    "result": lambda: softmax([1.0]),
    "module": lambda: math,
    "object": object,
    "unhelpful": Unhelpful,
}


@pytest.mark.parametrize("what", NOT_FUNCTIONS)
def test_what_is_not_a_function_gets_a_card(what: str) -> None:
    thing = NOT_FUNCTIONS[what]()
    for card in (check(thing), check_softmax(thing)):
        assert float(card) == 0
        assert card.verdict.status in ("MISSING", "UNKNOWN")
        assert card.verdict.message
        assert str(card)


@pytest.mark.parametrize("thing", [int, Card, type, lambda scores: softmax(scores), print])
def test_what_can_be_called_is_called(thing: object) -> None:
    card = check_softmax(thing)
    assert card.verdict.status in ("PASS", "FAIL", "ERROR")


def test_function_is_known_by_its_name() -> None:
    assert float(check(softmax, lesson="01-soft-lookup")) == POINTS


def test_partial_and_object_need_a_name_and_pass() -> None:
    assert float(check_softmax(functools.partial(softmax))) == POINTS
    assert float(check_softmax(NamedByNumber())) == POINTS


def test_unknown_name_lists_the_names_there_are() -> None:
    def sofmax(scores: list[float]) -> list[float]:
        return softmax(scores)

    card = check(sofmax, lesson="01-soft-lookup")
    assert card.verdict.status == "UNKNOWN"
    for name in ("hard_lookup", "`softmax`", "soft_lookup", "Did you mean"):
        assert name in card.verdict.message
    assert "`transpose`" in check(sofmax).verdict.message


def test_lambda_is_told_how_to_say_its_name() -> None:
    card = check(lambda scores: softmax(scores), lesson="01-soft-lookup")
    assert card.verdict.status == "UNKNOWN"
    assert "name=" in card.verdict.message


def test_unknown_lesson_lists_the_lessons_there_are() -> None:
    card = check(softmax, lesson="99-nothing")
    assert card.verdict.status == "UNKNOWN"
    assert "99-nothing" in card.verdict.message
    assert "01-soft-lookup" in card.verdict.message


def test_name_that_two_lessons_share_is_settled_by_the_parameters() -> None:
    assert check(softmax).verdict.lesson == "01-soft-lookup"

    namespace: dict[str, Any] = {}
    exec("def softmax(scores, axis=-1): return scores", namespace)
    assert check(namespace["softmax"]).verdict.lesson == "03-numpy"

    exec("def softmax(*args): return args", namespace)
    ambiguous = check(namespace["softmax"])
    assert ambiguous.verdict.status == "UNKNOWN"
    assert "01-soft-lookup" in ambiguous.verdict.message
    assert "03-numpy" in ambiguous.verdict.message
    assert "lesson=" in ambiguous.verdict.message


def test_begun_lesson_settles_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(begun, "slug", "03-numpy")
    assert check(softmax).verdict.lesson == "03-numpy"
    monkeypatch.setattr(begun, "slug", "01-soft-lookup")
    assert float(check(softmax)) == POINTS


# the number and the card ---------------------------------------------------------------------


def refuses_nothing(scores: list[float]) -> list[float]:
    exps = [math.exp(score - max(scores)) for score in scores]
    return [number / sum(exps) for number in exps]


def says_nasty_things(scores: list[float]) -> list[float]:
    print(NASTY)
    raise ValueError(NASTY + "`</code><script>alert(2)</script>`")


def returns_nasty_text(scores: list[float]) -> str:
    return NASTY


def unwritten(scores: list[float]) -> list[float]:
    raise NotImplementedError


Nasty = type(NASTY, (Exception,), {})


def raises_a_nasty_class(scores: list[float]) -> list[float]:
    raise Nasty(NASTY)


SHOWN = [
    softmax,
    refuses_nothing,
    says_nasty_things,
    returns_nasty_text,
    raises_a_nasty_class,
    unwritten,
    None,
    NASTY,
]


class Tags(HTMLParser):
    """The tags and attributes of a page, and whether each is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.open: list[str] = []
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.open.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("function", SHOWN)
def test_card_is_a_finite_number_of_points(function: object) -> None:
    card = check_softmax(function)
    assert isinstance(card, float)
    assert math.isfinite(card)
    assert 0 <= card <= POINTS
    plain = card._repr_mimebundle_()["text/plain"]
    assert float(plain) == float(card)
    assert float(card) == pytest.approx(sum(line.earned for line in card.verdict.lines))


@pytest.mark.parametrize("function", SHOWN)
def test_card_is_plain_html_and_escapes_what_is_the_learners(function: object) -> None:
    html = check_softmax(function)._repr_mimebundle_()["text/html"]
    tags = Tags()
    tags.feed(html)
    tags.close()
    assert not tags.open
    assert not {"script", "style", "img", "iframe", "link"} & set(tags.seen)
    assert not [name for name in tags.attributes if name.startswith("on")]
    assert "http" not in html


def test_card_of_a_nastily_named_exercise_is_escaped() -> None:
    card = check(softmax, name=NASTY, lesson=NASTY)
    assert "<img" not in card._repr_mimebundle_()["text/html"]


def test_learners_words_are_shown_escaped() -> None:
    html = check_softmax(says_nasty_things)._repr_mimebundle_()["text/html"]
    assert html.count("&lt;img src=x onerror=alert(1)&gt;") >= 2


@pytest.mark.parametrize("function", SHOWN[:-2])
def test_same_check_gives_the_same_card(function: object) -> None:
    one, two = (check_softmax(function)._repr_mimebundle_() for _ in range(2))
    assert one == two
    assert not re.search(r"0x[0-9a-f]{6,}", one["text/html"])


def test_object_without_a_name_has_no_address_on_its_card() -> None:
    for card in (check(object()), check_softmax(object()), check_softmax(lambda scores: object())):
        assert not re.search(r"0x[0-9a-f]{6,}", str(card))


def in_order(text: str, parts: list[str]) -> bool:
    places = [text.find(part) for part in parts]
    return -1 not in places and places == sorted(places)


@pytest.mark.parametrize(
    ("holding", "said"),
    [
        ((True, True), "all 2 right"),
        ((True, False), "1 of 2 right"),
        ((False, False, None), "0 of 3 right, 1 not tried"),
        ((True, None, False, None), "1 of 4 right, 2 not tried"),
        ((None, None), "none of 2"),
    ],
)
def test_what_was_not_tried_is_not_counted_as_what_does_not_hold(
    holding: tuple[bool | None, ...], said: str
) -> None:
    lines = tuple(Line("this claim", holds) for holds in holding)
    verdict = dataclasses.replace(ALL_SAID, lines=lines)
    assert f": {said}:\n" in as_text(verdict)
    assert f": {said}</summary>" in as_html(verdict)


ALL_SAID = Verdict(
    *("softmax", "01-soft-lookup", "FAIL", 0.5, 2.0),
    lines=(Line("this claim", False, 0.0, 1.5), Line("that claim", True, 0.5, 0.5)),
    first="Begin elsewhere.",
    message="one number differs",
    where="scores = [1.0]",
    inputs={"scores": observe([1.0])},
    call=Call((observe([1.0]),)),
    diagnosis=Diagnosis("a-cause", "It is so.", "Do this."),
    read="A heading",
    printed="0.25",
    called="softmax",
    unsaved="the disk is full",
)
SEEN = dataclasses.replace(ALL_SAID, example=Example("scores = [2]", "[0]", "[1]"))
EVIDENCE = ["one number differs", "scores = [1.0]", "**check.inputs"]
TRIED = ["1 of 2 right", "this claim (0 of 1.5)", "that claim (0.5 of 0.5)"]
CAUSE, LAST = ["not right yet", "Begin elsewhere", "It is so"], ["a-cause", "A heading"]
EXAMPLE = ["for", "scores = [2]", "it gives", "[0]", "should be", "[1]"]
TODO = ["Do this", "0.25", "the disk is full"]


@pytest.mark.parametrize(
    ("verdict", "open_", "folded"),
    [
        (ALL_SAID, [*CAUSE, *EVIDENCE, *TODO], [*TRIED, *LAST]),
        (SEEN, [*CAUSE, *EXAMPLE, *TODO], [*TRIED, *EVIDENCE, *LAST]),
    ],
    ids=["no example", "example"],
)
def test_a_card_leads_with_the_cause_and_folds_what_takes_longer(
    verdict: Verdict, open_: list[str], folded: list[str]
) -> None:
    assert in_order(as_text(verdict), [*open_, *folded])
    html = as_html(verdict)
    assert in_order(html, [*open_, "<details", "<summary", *folded, "</details>"])
    assert "<details open" not in html
    assert "<details open" in as_html(ALL_SAID, in_notebook=False)  # a page, which is a grade


def test_outside_of_a_notebook_a_card_has_no_check_and_no_link() -> None:
    for text in (as_text(ALL_SAID, in_notebook=False), as_html(ALL_SAID, in_notebook=False)):
        assert "in the lesson, the section A heading" in text
        assert "check." not in text
        assert "href" not in text
    assert 'href="#A-heading"' in as_html(ALL_SAID)


def test_code_and_stressed_words_are_shown_as_such() -> None:
    said = dataclasses.replace(
        ALL_SAID, diagnosis=Diagnosis("so", "`x * y * z` of *all*.", "*No*.")
    )
    html = as_html(said)
    assert "<code>x * y * z</code> of <em>all</em>." in html
    assert "<em>No</em>." in html


def test_a_card_without_claims_has_nothing_folded() -> None:
    html = check_softmax(unwritten)._repr_mimebundle_()["text/html"]
    assert "Next" in html
    assert "<details" not in html


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ([1.0, 0.1234567], "[1.0, 0.123457] (6 digits shown)"),
        ([[1.0] * 6] * 2, str([[1.0] * 6] * 2)),
        ([[1.0] * 7] * 2, "2 lists of 7"),
        (np.ones((3, 4)), "ndarray (3, 4) " + str([[1.0] * 4] * 3)),
        (np.ones(13), "ndarray (13,)"),
        (np.array([True, False]), "ndarray (2,) [True, False]"),
        (np.array([1 / 3]), "ndarray (1,) [0.333333] (6 digits shown)"),
        ("north", "'north'"),
    ],
)
def test_small_inputs_are_shown_in_full_and_others_by_shape(given: object, shown: str) -> None:
    assert brief(Case("values", (given,)), ("x",)) == f"x = {shown}"
    hidden = brief(Case("values", (given,), note="it is so"), ("x",), hidden=True)
    assert hidden.startswith("when it is so: x = ")
    assert not re.search(r"\d\.\d|True", hidden)


def test_of_what_stays_hidden_nothing_can_be_called() -> None:
    def perform_here(calls: Sequence[Call]) -> Iterator[Outcome]:
        for call in calls:
            yield perform(wrong, call, Deadline(8))

    def wrong(scores: list[float]) -> list[float]:
        return scores

    exercise = exercises_of("01-soft-lookup")["softmax"]
    hidden, shown = (judge(exercise, perform_here, hidden=hides) for hides in (True, False))
    assert (hidden.status, hidden.call, hidden.inputs) == ("FAIL", None, {})
    assert shown.call is not None
    with pytest.raises(LookupError, match="no call to make again"):
        Card(hidden).again(wrong)


def test_without_a_call_that_went_wrong_none_is_made_again() -> None:
    asked = Check()
    with pytest.raises(LookupError, match="no check was run yet"):
        asked.again(softmax)
    asked(softmax, name="softmax", lesson="01-soft-lookup")
    with pytest.raises(LookupError, match="no call to make again"):
        asked.again(softmax)


def test_text_says_all_that_the_card_says() -> None:
    text = str(check_softmax(refuses_nothing))
    for part in ("not right yet", "of 2 points", "not-raised", "ValueError", "Read again"):
        assert part in text
    assert max(map(len, text.splitlines())) <= 100


# what is loaded ------------------------------------------------------------------------------


def loaded_after(line: str) -> set[str]:
    code = f"import sys; {line}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


@pytest.mark.parametrize("line", ["import attnlab", "from attnlab import begin, check"])
def test_import_loads_no_library(line: str) -> None:
    assert not {"torch", "numpy", "matplotlib", "IPython"} & loaded_after(line)


def test_beginning_a_lesson_loads_no_library() -> None:
    line = "from attnlab import begin; begin('01-soft-lookup')"
    assert not {"torch", "numpy", "matplotlib"} & loaded_after(line)


@pytest.mark.parametrize("package", ["numpy", "torch"])
def test_missing_package_is_one_line_with_the_command(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = opened.importlib.util.find_spec  # type: ignore[attr-defined]

    def find(name: str) -> object:
        return None if name == package else real(name)

    monkeypatch.setattr("importlib.util.find_spec", find)
    for text in (opened.begin("01-soft-lookup"), check_softmax(softmax).verdict.message):
        assert "\n" not in text
        assert f"{package} is missing" in text
        assert f'{sys.executable} -m pip install "{package}>=' in text
    assert float(check_softmax(softmax)) == 0


@pytest.mark.parametrize("package", ["numpy", "torch"])
@pytest.mark.parametrize("version", ["0.1", "1.9.9.dev0+local", "1rc1", "1.0a1"])
def test_old_package_is_one_line_with_the_command(
    package: str, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = opened._version

    def tell(name: str) -> str:
        return version if name == package else real(name)

    monkeypatch.setattr(opened, "_version", tell)
    for text in (opened.begin("01-soft-lookup"), check_softmax(softmax).verdict.message):
        assert "\n" not in text
        assert f"{package} {version} is too old" in text
        assert "-m pip install" in text


@pytest.mark.parametrize("version", ["9.13.0+cpu", "9.0rc1", "10.0", "99"])
def test_new_package_is_welcome(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda name: version)
    assert "is ready" in opened.begin("01-soft-lookup")


def test_old_python_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opened, "PYTHON", (99, 0))
    text = check_softmax(softmax).verdict.message
    assert "99.0" in text
    assert "\n" not in text


def test_a_check_waits_for_what_begin_still_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    goes_on, seen = Event(), list[bool]()
    loader = Thread(target=lambda: seen.append(goes_on.wait(10)))
    monkeypatch.setattr(opened, "_loaders", [loader])
    loader.start()
    Timer(0.05, goes_on.set).start()
    notebook.Check()(softmax, lesson="01-soft-lookup")
    assert seen == [True]


def test_unknown_lesson_is_not_begun() -> None:
    text = opened.begin("99-nothing")
    assert "99-nothing" in text
    assert "01-soft-lookup" in text
    assert begun.slug == ""


# a function whose `__name__` is not the exercise's ---------------------------------------------


def unwrapped(function: Function) -> Function:
    """A decorator that forgets functools.wraps."""
    return lambda scores: function(scores)


class Softmax:
    def __call__(self, scores: list[float]) -> list[float]:
        return softmax(scores)


NAMELESS: dict[str, Function] = {
    "lambda": lambda scores: softmax(scores),
    "partial": functools.partial(softmax),
    "decorated": unwrapped(softmax),
    "callable object": Softmax(),
}


@pytest.mark.parametrize("lesson", ["01-soft-lookup", ""])
@pytest.mark.parametrize("what", NAMELESS)
def test_function_is_known_by_its_name_in_the_notebook(
    what: str, lesson: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules["__main__"], "softmax", NAMELESS[what], raising=False)
    monkeypatch.setattr(begun, "slug", lesson)
    if not lesson:  # three lessons have a softmax
        assert check(NAMELESS[what]).verdict.name == "softmax"
        return
    card = check(NAMELESS[what])
    assert (card.verdict.status, float(card)) == ("PASS", POINTS)
    assert str(card).startswith("softmax: right")


def test_function_that_is_no_exercise_is_none_in_the_notebook_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    main = sys.modules["__main__"]
    monkeypatch.setattr(main, "softmax", softmax, raising=False)
    monkeypatch.setattr(begun, "slug", "01-soft-lookup")
    assert check(NAMELESS["lambda"]).verdict.status == "UNKNOWN"


def test_own_name_counts_before_the_one_in_the_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["__main__"], "soft_lookup", softmax, raising=False)
    monkeypatch.setattr(begun, "slug", "01-soft-lookup")
    assert check(softmax).verdict.name == "softmax"


def test_the_name_in_the_cell_counts_where_one_function_has_two(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    notebook = sys.modules["__main__"]
    for name in ("softmax", "soft_lookup"):
        monkeypatch.setattr(notebook, name, softmax, raising=False)
    monkeypatch.setattr(notebook, "In", ["", "check(soft_lookup)"], raising=False)
    monkeypatch.setattr(begun, "slug", "01-soft-lookup")
    assert check(softmax).verdict.name == "soft_lookup"
    monkeypatch.setattr(notebook, "In", "a learner's own")
    assert check(softmax).verdict.name == "softmax"


# an exception that works against the check -----------------------------------------------------


class LyingText(str):
    __slots__ = ()

    def __getitem__(self, key: object) -> str:
        raise KeyboardInterrupt


class Sly(Exception):
    """Its message is no plain text, it prints as it is read, and it hides where it came from."""

    __traceback__ = property(lambda self: 1 / 0)

    def __str__(self) -> str:
        print("read", file=sys.stderr)
        return LyingText("sly")


def test_exception_that_works_against_the_check_is_an_error(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def raises(scores: list[float]) -> list[float]:
        raise Sly

    verdict = check_softmax(raises).verdict
    assert verdict.status == "ERROR"
    assert "Sly: sly" in verdict.message
    assert capfd.readouterr() == ("", "")


def test_message_that_never_ends_is_a_timeout(short_time: None) -> None:
    class Endless(Exception):
        def __str__(self) -> str:
            while True:
                pass

    def raises(scores: list[float]) -> list[float]:
        raise Endless

    assert check_softmax(raises).verdict.status == "TIMEOUT"


def test_flood_that_ends_in_an_error_is_stopped_for_its_output() -> None:
    def floods(scores: list[float]) -> list[float]:
        try:
            print("x" * (PRINT_LIMIT + 1))
        finally:
            raise ValueError("too much")

    verdict = check_softmax(floods).verdict
    assert (verdict.status, "printed more" in verdict.message) == ("ERROR", True)


def test_text_as_long_as_memory_is_only_a_wrong_type() -> None:
    def texts(scores: list[float]) -> list[object]:
        return ["a" * 3_000_000, *["b"] * 10_000]

    assert check_softmax(texts).verdict.status == "FAIL"


def test_mask_instead_of_numbers_is_a_wrong_dtype() -> None:
    card = check(lambda p: np.ones((len(p), len(p)), bool), name="softmax_jacobian")
    assert (card.verdict.status, slug_of(card)) == ("FAIL", "wrong-dtype")
