"""One submission: read → rebuild → run isolated → compare → report.

This is the trusted side: it holds oracles and seeds, and sends a learner's cells, and an exercise's
calls, to a child. Whatever a child does, this side only ever reads plain data from it.
"""

from __future__ import annotations

import hashlib
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType

from attnlab import lessons
from attnlab.calling.banned import NAMES
from attnlab.calling.call import Call, Outcome, Raised
from attnlab.calling.deadline import Deadline, Overrun
from attnlab.checks.card import as_message
from attnlab.checks.exercise import Exercise
from attnlab.checks.judge import judge
from attnlab.checks.pose import BrokenCheck
from attnlab.checks.verdict import Verdict, blaming, exchanged
from attnlab.ipynb.read import Unreadable, read
from attnlab.ipynb.rebuild import Rebuilt, rebuild
from autograder import Problem
from autograder.pages.report import Outputs, notebook_text, written_in
from autograder.run import verdicts
from autograder.run.helpers import Helpers
from autograder.sandbox.child.wire import Ran
from autograder.sandbox.isolation import IsolationError
from autograder.sandbox.limits import Limits
from autograder.sandbox.link import Ended, Link, Requests
from autograder.sandbox.sandbox import Sandbox
from autograder.submission import lookups
from autograder.submission.lessons import points_in, refuse_other_points, refuse_others
from autograder.submission.plan import Plan, make_plan
from autograder.submission.results import ExerciseResult, Graded, Result

TIME_WAS_UP = "the notebook's time was up. All its cells and calls together have {:g} seconds"


class Grader:
    """Grades submissions of one lesson, one after the other.

    Args:
        lesson: slug.
        released: text of the notebook that learners were given.
        seed: from which every exercise's hidden cases are drawn.
        limits: for each submission.
        solution: text of the course's own notebook, whose functions stand in for those that fail;
            '' for none: then nothing is judged a second time.
    Raises:
        Disagree: the notebook has other exercises or points than the checks.
        IsolationError: this machine cannot shut learners' code in.
        LookupError: no such lesson.
    """

    def __init__(
        self, lesson: str, released: str, seed: int, limits: Limits, solution: str = ""
    ) -> None:
        self.lesson = lesson
        self._course = Helpers(lesson, solution, limits)
        self._exercises = lessons.exercises_of(lesson)
        self._released = read(released.encode(), limits)
        points = {exercise.name: exercise.points for exercise in self._exercises.values()}
        refuse_other_points(lesson, points_in(self._released), points)
        self._seed, self._limits = seed, limits
        self._sandbox = Sandbox(lessons.lesson(lesson).stage, limits)
        self._requests = Requests()

    def __enter__(self) -> Grader:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._sandbox.close()

    @property
    def points(self) -> float:
        return sum(exercise.points for exercise in self._exercises.values())

    def grade(self, data: bytes | Unreadable, student: str, seed: int | None = None) -> Graded:
        """Grade one submission.

        Args:
            data: the file that was handed in, or why there is none.
            student: for the result alone.
            seed: of its cases, if not of the run's.
        Returns:
            The result and what is shown of it, whatever the file holds.
        """
        clock = Clock()
        try:
            with clock.phase("read"):
                if isinstance(data, Unreadable):
                    raise data
                cells = read(data, self._limits)
                refuse_others(self.lesson, cells, self._released)
        except Unreadable as reason:
            return Graded(
                Result(student, self.lesson, "INVALID", str(reason), 0.0, self.points),
                seconds=clock.seconds,
            )
        with clock.phase("rebuild"):
            removed = lessons.lesson(self.lesson).removed
            rebuilt = rebuild(cells, self._released, removed=removed)
            plan = make_plan(rebuilt, self._exercises, self._limits)
        seed = self._seed if seed is None else seed
        attempt = _Attempt(self._sandbox, self._requests, plan, self._limits, seed, clock)
        attempt.run()
        attempt.judge_again(self._course)
        with clock.phase("report"):
            return self._report(student, rebuilt, attempt)

    def _report(self, student: str, rebuilt: Rebuilt, attempt: _Attempt) -> Graded:
        cards = attempt.cards
        exercises = tuple(
            ExerciseResult(
                name,
                card.status,
                card.score,
                card.max_score,
                card.diagnosis.slug if card.diagnosis else None,
                as_message(card),
                round(attempt.taken.get(name, 0.0), 6),
            )
            for name, card in cards.items()
        )
        result = Result(
            student,
            self.lesson,
            "GRADED",
            verdicts.cost(attempt.stops, cards),
            sum(exercise.score for exercise in exercises),
            self.points,
            rebuilt.repaired,
            _flags(rebuilt, attempt),
            exercises,
        )
        notebook = notebook_text(rebuilt.cells, attempt.outputs.of_cell, cards)
        written = written_in(rebuilt.cells, attempt.outputs.of_cell)
        return Graded(result, notebook, written, cards, attempt.clock.seconds)


def _flags(rebuilt: Rebuilt, attempt: _Attempt) -> tuple[str, ...]:
    """What a person might look at, by names alone; none of it scores."""
    flags, plan = [], attempt.plan
    for index, cell in enumerate(rebuilt.cells):
        if not cell.is_theirs:
            continue
        exercise = plan.exercises.get(cell.exercise) if cell.is_solution else None
        whose = f"{exercise.name}: its cell" if exercise else f"cell {index + 1}"
        if index not in plan.unread:
            if name := lookups.hint(cell.source, lookups.HINTS | _banned(exercise)):
                flags.append(f"{whose} names {name}")
        elif (ran := attempt.ran.get(index)) and not (
            ran.raised and "SyntaxError" in ran.raised.names
        ):
            flags.append(f"{whose} ran and could not be read")
    for exercise in plan.exercises.values():
        for part in plan.made_by.get(exercise.name, ()):
            cell = rebuilt.cells[part.cell]
            other = plan.exercises.get(cell.exercise)
            if cell.is_theirs and (other is None or other.banned != exercise.banned):
                if name := lookups.hint(part.source, _banned(exercise)):
                    flags.append(f"{exercise.name}: cell {part.cell + 1} names {name}")
    return tuple(dict.fromkeys(flags))


def _banned(exercise: Exercise | None) -> frozenset[str]:
    """Names of what is refused while an exercise is called, but for what lessons call theirs."""
    return NAMES.get(exercise.banned, frozenset()) - {"attention"} if exercise else frozenset()


class Clock:
    """Wall-clock time by phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        started = time.monotonic()
        try:
            yield
        finally:
            taken = time.monotonic() - started
            self.seconds[name] = self.seconds.get(name, 0.0) + taken


class _Attempt:
    """A notebook, run cell by cell, with its exercises judged where their checks stand.

    Attributes:
        plan: what it follows.
        cards: a verdict for each exercise, in the lesson's order.
        ran: what each cell did, by its index; for what it printed and showed see `outputs`.
        outputs: what is kept of that.
        taken: seconds that each exercise's calls took.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        requests: Requests,
        plan: Plan,
        limits: Limits,
        seed: int,
        clock: Clock,
    ) -> None:
        self._sandbox, self._requests = sandbox, requests
        self.plan, self._limits, self._seed = plan, limits, seed
        self._until = time.monotonic() + limits.submission_seconds
        self._lost: dict[int, Ended] = {}  # cells that are not run again: they ended their process
        self._found: dict[str, Verdict] = {}
        self._told: set[str] = set()  # exercises that were judged twice, and say so
        self.ran: dict[int, Ran] = {}
        self.outputs = Outputs(limits.output_bytes)
        self.taken: dict[str, float] = {}
        self.clock = clock

    def run(self) -> None:
        """Run all cells; a child that is lost is replaced, without what it was lost to."""
        while not self._once():
            pass

    @property
    def cards(self) -> dict[str, Verdict]:
        """What was found of each exercise, told of what it calls."""
        return {
            name: verdict if name in self._told else blaming(verdict, self._failing(name))
            for name in self.plan.exercises
            if (verdict := self._found[name])
        }

    def judge_again(self, course: Helpers) -> None:
        """Judge what calls an earlier exercise that fails with the course's; the better counts.

        In the lesson's order, so that one that is right but for what it calls is nobody's fault.

        Args:
            course: its functions.
        """
        earlier: list[str] = []
        for name, exercise in self.plan.exercises.items():
            first = self._found[name]
            failing = [each for each in self._failing(name) if each in earlier and each in course]
            earlier.append(name)
            if first.status == "PASS" or not failing:
                continue
            second = self._with(exercise, {each: course.code(each) for each in failing})
            if second is not None:
                self._found[name] = exchanged(first, second, failing)
                self._told.add(name)

    def _with(self, exercise: Exercise, course: Mapping[str, bytes]) -> Verdict | None:
        """The verdict on an exercise in a child of its own, None where it comes to none.

        Nothing that this child says is kept but the verdict: it could say what it was given.

        Args:
            course: functions of the course, in the place of the learner's, from their checks on.
        """
        if self._left <= 0:
            return None
        other = _Attempt(
            self._sandbox, self._requests, self.plan, self._limits, self._seed, self.clock
        )
        other._until, other._lost = self._until, {**self._lost}
        try:
            other._run_with(exercise, course)
        except Ended:
            return None
        finally:
            taken = self.taken.get(exercise.name, 0.0) + other.taken.get(exercise.name, 0.0)
            self.taken[exercise.name] = taken
        return other._found[exercise.name] if self._left > 0 else None

    def _run_with(self, exercise: Exercise, course: Mapping[str, bytes]) -> None:
        """Run the cells above an exercise's check, and judge it alone.

        Raises:
            Ended: the child is of no more use.
        """
        with self._sandbox.start() as child:
            link = Link(child, self._limits, self._requests)
            for step in self.plan.steps:
                at_last = step.exercise is exercise
                for name, code in course.items():
                    if at_last or (step.exercise and step.exercise.name == name):
                        link.give(name, code, min(self._limits.cell_seconds, max(self._left, 0)))
                if at_last:
                    self._check(link, exercise)
                    return
                if step.exercise is None and step.index not in self._lost:
                    self._run_cell(link, step.index, step.source, step.ours)

    def _failing(self, name: str) -> list[str]:
        """Other exercises that one calls, and that are not right themselves."""
        helpers = self.plan.helpers.get(name, ())
        return [
            other
            for other in self.plan.exercises
            if other in helpers and self._found[other].status != "PASS"
        ]

    def _once(self) -> bool:
        """Run the plan with one child; whether it got to the end."""
        self.outputs = Outputs(self._limits.output_bytes)
        with self._sandbox.start() as child:
            link = Link(child, self._limits, self._requests)
            for step in self.plan.steps:
                try:
                    if step.exercise is not None:
                        self._check(link, step.exercise)
                    elif step.index not in self._lost:
                        self._run_cell(link, step.index, step.source, step.ours)
                except Ended as ended:
                    if step.exercise is not None:
                        self._found[step.exercise.name] = verdicts.ended(step.exercise, ended)
                    else:
                        self._lost[step.index] = ended
                        self.ran.pop(step.index, None)
                    return False
        return True

    @property
    def _left(self) -> float:
        """Seconds that the submission has."""
        return self._until - time.monotonic()

    @property
    def _time_was_up(self) -> str:
        return TIME_WAS_UP.format(self._limits.submission_seconds)

    def _run_cell(self, link: Link, index: int, source: str, ours: bool) -> None:
        limits, left = self._limits, self._left
        if left <= 0:
            self._lost[index] = Ended("TIMEOUT", self._time_was_up)
            return
        with self.clock.phase("cells"):
            seconds = limits.our_cell_seconds if ours else limits.cell_seconds
            ran = link.run(f"<cell {index + 1}>", source, min(seconds, left))
            self.outputs.add(index, ran, ours)
            self.ran[index] = ran._replace(printed="", shown="")

    def _check(self, link: Link, exercise: Exercise) -> None:
        if exercise.name in self._found:
            return
        if self._left <= 0:
            self._found[exercise.name] = verdicts.not_reached(exercise, self._time_was_up)
            return
        home = self.plan.homes.get(exercise.name, -1)
        stopped = verdicts.stopped(exercise, self.ran.get(home), self._lost.get(home))
        self._found[exercise.name] = stopped or self._judged(link, exercise)

    def _judged(self, link: Link, exercise: Exercise) -> Verdict:
        """Bind an exercise's function and judge it."""
        bound = link.bind(exercise.name, min(self._limits.call_seconds, self._left))
        if bound:
            return verdicts.missing(exercise, bound, self.stops)
        raised: list[Raised] = []
        before = self.clock.seconds.get("calls", 0.0)

        def perform(calls: Sequence[Call]) -> Iterator[Outcome]:
            outcomes = link.calls(calls)
            while True:
                with self.clock.phase("calls"):
                    outcome = next(outcomes, None)
                if outcome is None:
                    return
                if outcome.raised:
                    raised.append(outcome.raised)
                yield outcome

        started = time.monotonic()
        limits = self._limits
        deadline = Deadline(limits.call_seconds + limits.grace_seconds + limits.judge_seconds)
        try:
            with deadline:
                verdict = judge(exercise, perform, self._seeds(exercise), hidden=True)
        except Overrun:
            deadline.release()
            raise Ended("TIMEOUT", "it took too long to compare what it returned") from None
        except (Ended, IsolationError):
            raise
        except BrokenCheck as error:
            raise Problem(f"A check of {exercise.lesson} is broken: {error}.") from error
        except Exception as error:  # one learner's answer must not end a class
            traceback.print_exc()
            verdict = verdicts.broken(exercise, error)
        finally:
            called = self.clock.seconds.get("calls", 0.0) - before
            self.taken[exercise.name] = self.taken.get(exercise.name, 0.0) + called
            judged = time.monotonic() - started - called
            self.clock.seconds["judge"] = self.clock.seconds.get("judge", 0.0) + judged
        return verdicts.refined(verdict, exercise, raised, self.stops)

    @property
    def stops(self) -> list[verdicts.Stopped]:
        """The learner's cells that raised so far."""
        answers = {index: name for name, index in self.plan.homes.items()}
        return [
            verdicts.Stopped(step.source, ran.raised, answers.get(step.index, ""))
            for step in self.plan.steps
            if not step.ours and (ran := self.ran.get(step.index)) and ran.raised
        ]

    def _seeds(self, exercise: Exercise) -> tuple[int, int]:
        """Two seeds of an exercise's own, from the run's; too long to be tried out."""
        text = f"{self._seed}/{exercise.lesson}/{exercise.name}".encode()
        digest = hashlib.sha256(text).digest()
        return int.from_bytes(digest[:16], "big"), int.from_bytes(digest[16:], "big")
