"""`check(function)`: the one line under every exercise."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from attnlab import begun, cells, lessons
from attnlab.calling import banned
from attnlab.calling.call import Call, Outcome, perform
from attnlab.calling.deadline import Deadline
from attnlab.calling.observe import describe, observe
from attnlab.calling.settings import usual_settings
from attnlab.checks.card import Card, first_sentence
from attnlab.checks.exercise import SEEDS, Exercise, Slot
from attnlab.checks.unparsed import unparsed
from attnlab.checks.verdict import Diagnosis, Verdict, blaming, exchanged
from attnlab.lesson import missing_for_checks, wait_until_loaded
from attnlab.work import progress

OLDER = (
    "The newest cell that defines `{0}` stopped before it had done so. This is the answer from an "
    "older cell: mend the newest one and run it, then check again."
)
UNREAD = (
    "Nothing was checked: the newest cell that defines `{0}` is not Python yet, so nothing of it "
    "ran, and `{0}` is still what an older cell has made of it. Mend {1}."
)
UNSAVED = (
    "your progress could not be written, so the course home will not know of this. In a terminal, "
    "`attnlab doctor` says what mends it."
)
GRADED_AGAIN = (
    "Where this is graded, it is judged again with the course's in its place: the better counts."
)
MENDED = 3  # mistakes that a card looks back on, the last ones
SECONDS = 8.0  # for all calls of one check together


class Check:
    """What `check` is: called on a function, it shows a card, and remembers what went wrong.

    Attributes:
        inputs: a fresh copy of the inputs that the last check stumbled over, by parameter name:
            call your function as `softmax(**check.inputs)`.
    """

    def __init__(self) -> None:
        self._last: Card | None = None

    def __repr__(self) -> str:
        return "check: call it on your function, as in check(softmax)"

    def __call__(self, function: object = None, *, name: str = "", lesson: str = "") -> Card:
        """See `check_function`."""
        wait_until_loaded()  # before PyTorch's settings are asked for
        try:
            self._last = check_function(function, name=name, lesson=lesson)
        except Exception as error:  # a cell below an exercise never stops with an error of ours
            self._last = Card(_broken(error, str(name), str(lesson), 0.0))
        self._last = Card(_with_the_way(self._last.verdict))
        if not _remember(self._last.verdict):
            self._last = Card(dataclasses.replace(self._last.verdict, unsaved=UNSAVED))
        return self._last

    @property
    def inputs(self) -> dict[str, Any]:
        return self._last.inputs if self._last is not None else {}

    def again(self, function: Callable[..., Any]) -> Any:
        """Make the call that the last check stumbled over once more, as it was made.

        A module is built with the same sizes and has the same numbers in its parameters; a call
        that came after another one does so again. What it prints and raises is seen.

        Args:
            function: your function or class, as it is or changed.
        Returns:
            What it returned; gradients where those were asked for.
        Raises:
            LookupError: no check has stumbled over a call yet that can be made again.
        """
        if self._last is None:
            raise LookupError("no check was run yet, so there is no call to make again")
        return self._last.again(function)


check = Check()


def _with_the_way(verdict: Verdict) -> Verdict:
    """Of a right answer, what was mended before it, and what else of the lesson is right."""
    if verdict.status != "PASS" or verdict.lesson not in lessons.slugs():
        return verdict
    records = [each for each in progress.here().records if each.lesson == verdict.lesson]
    mine = [each for each in records if not each.is_earlier]
    right = {each.exercise for each in mine if each.status == "PASS"} | {verdict.name}
    named = {
        each.mistake: first_sentence(each.why)[0]
        for each in mine
        if each.exercise == verdict.name and each.why and each.mistake not in progress.NO_MISTAKE
    }
    passed = {name: name in right for name in lessons.exercises_of(verdict.lesson)}
    mended = tuple(named.values())[-MENDED:]
    return dataclasses.replace(verdict, mended=mended, passed=passed)


def _remember(verdict: Verdict) -> bool:
    """Keep what a check of an exercise found among a learner's progress; False if that failed.

    Lessons break things on purpose, in functions with names of their own: no mistakes of a learner.
    """
    own = verdict.called == verdict.name or verdict.status == "PASS"
    if not own or verdict.status == "UNKNOWN":
        return True
    mistake, why = "", ""
    if verdict.diagnosis:
        mistake, why = verdict.diagnosis.slug, verdict.diagnosis.reason
    told = (verdict.status, verdict.score, verdict.max_score, mistake, why)
    return progress.note(verdict.lesson, verdict.name, *told)


@usual_settings()
def check_function(function: object, *, name: str = "", lesson: str = "") -> Card:
    """Check a function against PyTorch and say what it gets right and wrong.

    Args:
        function: the one you wrote. The name that it is given here by says which exercise it
            answers; outside of a notebook its own name does.
        name: the exercise, if the function is called something else.
        lesson: slug, '01-soft-lookup'; needed only where no lesson has been begun.
    Returns:
        A number, your points, shown as a card. Never raises, whatever `function` does.
    """
    called = cells.name_of(function)
    slug = lesson or begun.slug
    missing = missing_for_checks(slug)
    if missing:
        return Card(Verdict(name or called, slug, "UNKNOWN", 0.0, 0.0, message=missing))
    if not name:
        meant = [home for home in lessons.slugs() if slug in ("", home)]
        known = {each for home in meant for each in lessons.exercises_of(home)}
        name = called = cells.name_here(function, known) or called
    try:
        exercise = _find(name, slug, function)
    except LookupError as unknown:
        return Card(Verdict(name, slug, "UNKNOWN", 0.0, 0.0, message=str(unknown.args[0])))
    if not callable(function):
        message = f"`check` was given {describe(observe(function))}. Give it your function."
        return Card(Verdict(name, slug, "MISSING", 0.0, exercise.points, message=message))
    return Card(_judge_here(exercise, function, called))


def _judge_here(exercise: Exercise, function: Callable[..., Any], called: str) -> Verdict:
    """Judge a function in this process, and own up to it if the check itself breaks."""
    newer = cells.newer_than(function, called)
    if newer and (found := unparsed(newer)):
        message = UNREAD.format(called, found)
        return Verdict(
            exercise.name,
            exercise.lesson,
            "UNKNOWN",
            0.0,
            exercise.points,
            message=message,
            diagnosis=Diagnosis(found.slug, *found.words),
        )
    try:
        verdict = verdict_on(exercise, function, SEEDS, SECONDS)
        if verdict.status != "PASS" and (failing := _failing(exercise, function)):
            verdict = _judged_again(exercise, function, verdict, failing)
    except Exception as error:  # whatever it is, it is not the learner's
        return _broken(error, exercise.name, exercise.lesson, exercise.points)
    if newer:
        verdict = dataclasses.replace(verdict, first=OLDER.format(called))
    return dataclasses.replace(verdict, called=called if called.isidentifier() else "")


def verdict_on(
    exercise: Exercise,
    function: Callable[..., Any],
    seeds: tuple[int, ...],
    seconds: float,
) -> Verdict:
    """The verdict on a function that is called in this process.

    Args:
        exercise: the declaration.
        function: the answer.
        seeds: for the case generator.
        seconds: for all calls together.
    Raises:
        BrokenCheck: the oracle has no answer to one of its own cases.
    """
    from attnlab.checks.judge import judge

    deadline = Deadline(seconds)

    def call_here(calls: Sequence[Call]) -> Iterator[Outcome]:
        for call in calls:
            yield perform(function, call, deadline, banned.asked if exercise.banned else None)

    # Once for all calls: to refuse it takes as long as an ordinary call.
    during = banned.refusing(exercise.banned) if exercise.banned else None
    return judge(exercise, call_here, seeds, during=during)


def _judged_again(
    exercise: Exercise, function: Callable[..., Any], first: Verdict, failing: Sequence[str]
) -> Verdict:
    """A verdict as the grader gives it: with right functions where the learner's fail.

    Here those are the checks' own, PyTorch's calls; the course's answers are not handed out.

    Args:
        failing: names of the functions that it calls.
    """
    others = lessons.exercises_of(exercise.lesson)
    earlier = list(others)[: list(others).index(exercise.name)]
    right = {name: _right(others[name]) for name in failing if name in earlier}
    found = {name: each for name, each in right.items() if each is not None}
    if found and len(found) == len(right):
        with cells.exchanged(found):
            second = verdict_on(exercise, function, SEEDS, SECONDS)
        if second.score > first.score:
            return exchanged(first, second, list(found))
    told = blaming(first, failing)
    if right and told.first:  # a function may be asked for more than its oracle
        told = dataclasses.replace(told, first=f"{told.first} {GRADED_AGAIN}")
    return told


def _right(exercise: Exercise) -> Callable[..., Any] | None:
    """What answers as a right function does; None for a module, which is more than a call."""
    answer = exercise.oracle
    if answer is None and exercise.attention is not None:
        answer = exercise.attention.oracle
    if answer is None or exercise.builds is not None:
        return None
    return functools.partial(_as_declared, answer, exercise.returns)


def _as_declared(answer: Callable[..., Any], slots: Sequence[Slot], *args: Any, **kw: Any) -> Any:
    """An oracle's answer, as a learner's function returns it."""
    try:
        found = answer(*args, **kw)
    except RuntimeError as error:
        raise ValueError(str(error)) from error
    if not slots[1:]:
        return _of_kind(slots[0].kind, found)
    return tuple(_of_kind(slot.kind, each) for slot, each in zip(slots, found, strict=True))


def _of_kind(kind: str, value: Any) -> Any:
    return value.tolist() if kind == "list" and hasattr(value, "tolist") else value


def _failing(exercise: Exercise, function: Callable[..., Any]) -> list[str]:
    """Exercises of the lesson that a function calls, and that are not right themselves."""
    others = {**lessons.exercises_of(exercise.lesson)}
    del others[exercise.name]
    called = cells.called_by(function, others)
    return [
        name
        for name, other in others.items()
        if name in called and verdict_on(other, called[name], SEEDS, SECONDS).status != "PASS"
    ]


def _broken(error: Exception, name: str, lesson: str, points: float) -> Verdict:
    message = (
        f"The check itself broke ({type(error).__name__}: {error}). This is our mistake, not "
        "yours: your code may well be right. Please report it with your function."
    )
    return Verdict(name, lesson, "UNKNOWN", 0.0, points, message=message)


def _find(name: str, slug: str, function: object) -> Exercise:
    """The exercise that is meant.

    Raises:
        LookupError: there is none, with a sentence that says which there are.
    """
    if slug:
        known = lessons.exercises_of(slug)
        if name in known:
            return known[name]
        close = difflib.get_close_matches(name, known, n=1)
        hint = f" Did you mean `{close[0]}`?" if close else ""
        names = ", ".join(f"`{known_name}`" for known_name in known)
        raise LookupError(
            f"Lesson {slug} has no exercise `{name}`.{hint} Its exercises are {names}. "
            f"Give your function one of these names, or say `check(function, name=…)`."
        )
    homes = lessons.lessons_with(name)
    if len(homes) == 1:
        return lessons.exercises_of(homes[0])[name]
    fitting = [home for home in homes if _accepts(function, lessons.exercises_of(home)[name])]
    if len(fitting) == 1:
        return lessons.exercises_of(fitting[0])[name]
    if homes:
        raise LookupError(
            f"`{name}` is an exercise of {' and of '.join(homes)}. "
            f'Say which: `check({name}, lesson="{homes[0]}")`.'
        )
    everything = ", ".join(
        f"`{known}`" for home in lessons.slugs() for known in lessons.exercises_of(home)
    )
    raise LookupError(f"There is no exercise `{name}`. The exercises are {everything}.")


def _accepts(function: object, exercise: Exercise) -> bool:
    """Whether a function's parameters are those of an exercise."""
    try:
        parameters = tuple(inspect.signature(function).parameters)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return parameters == exercise.parameters
