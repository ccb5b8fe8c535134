"""A whole class: everyone's submission graded in parallel, recorded, reported.

    find (handed_in) → grade (engine) → record (gradebook) → note (journal) → report

Only this process writes anything. Scores are committed, then files renamed into place, then lines
added to the journal: what a kill leaves without a line is graded again by `--resume`, and since the
seed is the run's, the same is written again.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import shlex
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from attnlab.checks.verdict import Verdict
from attnlab.ipynb.files import NotWritten, write_whole
from attnlab.ipynb.read import Unreadable
from attnlab.ipynb.words import printable
from autograder import Disagree, Problem, Usage
from autograder.gradebook.agreement import ways_on
from autograder.gradebook.course import BEST, LATEST, Course
from autograder.gradebook.database import GradebookError
from autograder.gradebook.gradebook import BadName, Gradebook, check_name
from autograder.gradebook.weigh import Recorded
from autograder.pages.summary import Remarks, from_here, summarise
from autograder.run import cluster, code, journal, pool
from autograder.run.engine import Done, Engine, OpensPlace
from autograder.run.interrupts import Interrupts
from autograder.run.journal import Journal
from autograder.run.lock import sole_grader
from autograder.run.marking import Job, OpensGrader, grader_failed, open_grader, troubled
from autograder.run.output import check_place, write_results
from autograder.run.progress import Progress
from autograder.sandbox.limits import Limits
from autograder.submission import collected, handed_in
from autograder.submission.folder import Submission
from autograder.submission.left_out import left_out
from autograder.submission.lessons import UNSOLVED, released_text, solution_text
from autograder.submission.results import Graded

_BATCH = 16  # submissions in one transaction of the gradebook
_BATCH_SECONDS = 1.0  # the longest that a graded submission waits for others
# What is wrong with the machine or the course, and no one submission's.
MACHINE = (Problem, GradebookError, NotWritten)


@dataclass(frozen=True, slots=True)
class Order:
    """What a person asked for.

    Attributes:
        students: whom to grade, everyone if empty.
        jobs: worker processes on this machine.
        seed: None for a fresh one.
        keep: 'best' or 'latest' of a student's hand-ins; '' for the run's or course's.
        resume: go on with the lesson's last run.
        json: file for the results, '-' for standard output, '' for none.
        scheduler: address of a Dask cluster's, '' for this machine.
        regrade: let the gradebook's points and exercises be those of the notebook.
    """

    lesson: str
    students: tuple[str, ...] = ()
    jobs: int = 1
    seed: int | None = None
    keep: str = ""
    resume: bool = False
    json: str = ""
    scheduler: str = ""
    regrade: bool = False


class Stopped(Exception):
    """A person or the system ended the run; the sentence says how to go on."""

    def __init__(self, order: Order, signal: int) -> None:
        super().__init__(f"Stopped. {_to_go_on(order)}")
        self.signal = signal


def _to_go_on(order: Order) -> str:
    asked = [order.lesson, "--resume", *(f"--student={name}" for name in order.students)]
    return f"What was recorded stays. To go on: python -m autograder grade {shlex.join(asked)}"


def grade_class(
    order: Order,
    course: Course,
    opens: OpensGrader = open_grader,
) -> None:
    """Grade everyone who handed in a lesson.

    Raises:
        Usage: there is no such student, or no such folder for the results.
        Disagree: notebook, checks and gradebook have not the same exercises and points.
        Problem, GradebookError, NotWritten: it cannot go on; whatever was recorded stays.
        Stopped: it was told to end.
    """
    released = released_text(course.released(order.lesson))
    solution = solution_text(course.solution(order.lesson))
    check_place(order.json)
    submitted = course.submitted(".", ".")
    runs = submitted.parent / "runs"
    with Interrupts() as interrupts, ExitStack() as stack:
        try:
            stack.enter_context(sole_grader(runs / "lock", order.lesson, _say))
            everyone = handed_in.students(submitted, order.lesson)
            everyone = handed_in.composed(submitted, order.lesson, everyone)
            left = left_out(submitted, order.lesson, everyone)
            for name in filter(left.get, order.students):
                raise Usage(f"{printable(name)} is not graded: {left[name]}.")
            names = handed_in.chosen(everyone, order.students, order.lesson)
            log = stack.enter_context(
                _journal(order, course.keep, released, solution, runs / order.lesson)
            )
            _sweep(course, order.lesson)
            run = _Run(order, course, log, names, left, interrupts)
            if names:
                if not solution:
                    _say(UNSOLVED.format(course.solution(order.lesson)))
                job = Job(order.lesson, released, log.seed, Limits(), solution)
                run.grade(job, opens)
            else:
                _say(f"Nobody has handed in {order.lesson}: nothing in {submitted} has its name.")
            run.report()
        except KeyboardInterrupt:
            raise Stopped(order, interrupts.number) from None
        except Disagree as error:
            error.add_note(ways_on(course, order.lesson, error))
            raise
        except (Problem, GradebookError, NotWritten) as error:
            error.add_note(_to_go_on(order))
            raise


def _journal(order: Order, keep: str, released: str, solution: str, folder: Path) -> Journal:
    """The lesson's journal, with a new run in it, or the one to go on with.

    Args:
        keep: the course's, where the order says none.
    """
    path, whole = folder / journal.NAME, not order.students
    header = {
        "lesson": order.lesson,
        "seed": secrets.randbits(63) if order.seed is None else order.seed,
        "keep": order.keep or keep,
        "whole": whole,
        "released": code.of_notebook(released),
        "solution": code.of_notebook(solution),
        "code": code.digest(),
        "begun": datetime.now().astimezone().isoformat(),
    }
    found = Journal.resume(path, whole) if order.resume else None
    if found is None:
        if order.resume:
            _say(f"There is no run of {order.lesson} to go on with: this is a new one.")
        return Journal.begin(path, header)
    for option, asked in (("seed", order.seed), ("keep", order.keep or None)):
        has = found.header.get(option, LATEST)
        if asked not in (None, has):
            found.close()
            raise Usage(
                f"The run to go on with has {option} {has}, not {asked}. Leave --{option} out, or "
                "leave --resume out to grade everyone anew."
            )
        header[option] = has
    changed = {
        "released": f"The code of {order.lesson} changed",
        "solution": f"The course's solution of {order.lesson} changed",
        "code": "The grader or its checks changed",
    }
    for entry, what in changed.items():
        if found.header.get(entry) == header[entry]:
            continue
        found.close()
        _say(f"{what} since that run: it begins anew.")
        return Journal.begin(path, header | {"seed": found.seed})
    return found


def _sweep(course: Course, lesson: str) -> None:
    """Remove what a killed run had begun to write; nobody else writes while we hold the lock."""
    for folder in (course.autograded(".", "."), course.feedback(".", ".")):
        for part in folder.glob(f"*/{lesson}/.*.part"):
            with contextlib.suppress(OSError):  # of no use, and of no harm
                part.unlink()


class _Run:
    """One run over a class."""

    def __init__(
        self,
        order: Order,
        course: Course,
        log: Journal,
        names: list[str],
        left: Mapping[str, str],
        interrupts: Interrupts,
    ) -> None:
        self._order, self._course, self._journal = order, course, log
        self._names, self._left, self._interrupts = names, left, interrupts
        self._begun = time.monotonic()
        self._graded = 0
        self._resumed = False  # some were graded by an earlier run
        self._nameless: set[str] = set()  # folders whose names no gradebook can hold
        self._unrecorded: dict[str, dict[str, Any]] = {}  # results, by folder
        self._recorded: dict[str, float] = {}  # scores that the gradebook had as this run began
        self._remarks = Remarks()
        self._prepared = False

    def grade(self, job: Job, opens: OpensGrader) -> None:
        """Grade and record all that is not recorded yet."""
        with (
            Progress(len(self._names)) as progress,
            Gradebook(self._course) as gradebook,
        ):
            if self._order.resume:
                self._recorded = gradebook.recorded(job.lesson)
            pending = self._pending(progress, job.limits)
            engine = Engine(job, self._place(job), opens)
            with contextlib.closing(engine.grade(pending, lambda: self._resumed)) as graded:
                batch: list[Done] = []
                recorded = time.monotonic()
                while (done := self._next(graded)) is not None:
                    batch += done
                    progress.advance(0)
                    waited = time.monotonic() - recorded
                    if len(batch) >= _BATCH or (batch and waited >= _BATCH_SECONDS):
                        self._record(batch, gradebook, progress)
                        batch, recorded = [], time.monotonic()
                self._record(batch, gradebook, progress)
            self._remarks = gradebook.remarks(job.lesson)

    def _next(self, graded: Iterator[list[Done]]) -> list[Done] | None:
        """What is done next, None after the last; no signal breaks in where locks are held."""
        with self._interrupts.held():
            return next(graded, None)

    def _place(self, job: Job) -> OpensPlace:
        if not self._order.scheduler:
            return partial(pool.workers, min(self._order.jobs, len(self._names)))
        return partial(cluster.workers, self._order.scheduler, job)

    def _pending(self, progress: Progress, limits: Limits) -> Iterator[Submission]:
        """What is still to be graded, read when its turn comes."""
        for name in self._names:
            try:
                submission = self._collect(name, limits)
                is_done = self._is_done(submission)
                seed = self._journal.seed_of(name, submission.fingerprint)
                submission = replace(submission, seed=seed)
            except Problem:
                raise
            except Exception as error:  # of one submission, whatever it is
                submission = Submission(name, Unreadable(grader_failed(error)))
                is_done = False
            if is_done:
                self._resumed = True
                progress.skip()
            else:
                yield submission

    def _collect(self, name: str, limits: Limits) -> Submission:
        try:
            check_name(name)
        except BadName as error:
            self._nameless.add(name)
            return Submission(name, Unreadable(str(error)))
        return handed_in.found(self._course.submitted(".", "."), name, self._order.lesson, limits)

    def _is_done(self, submission: Submission) -> bool:
        """Whether this very submission is noted, and the gradebook still has its score."""
        name = submission.folder
        if not self._journal.holds(name, submission.fingerprint):
            return False
        score: float = self._journal.result(name)["score"]
        return name in self._nameless or abs(self._recorded.get(name, -1.0) - score) < 1e-6

    def _record(self, batch: list[Done], gradebook: Gradebook, progress: Progress) -> None:
        """Record a batch; where one submission cannot be recorded, the others are."""
        with self._interrupts.held():
            try:
                self._prepare(gradebook)
                self._write(batch, gradebook)
            except (*MACHINE, Usage):
                raise
            except Exception:  # of one submission, whatever it is: which one, the next loop finds
                for submission, graded in batch:
                    self._write_one(submission, graded, gradebook)
            self._graded += len(batch)
            progress.advance(len(batch))

    def _prepare(self, gradebook: Gradebook) -> None:
        """Once, and only when something was graded: till then nothing is written."""
        if not self._prepared:
            gradebook.prepare(self._order.lesson, set(self._names), self._order.regrade)
            self._prepared = True

    def _write(self, batch: list[Done], gradebook: Gradebook) -> None:
        named = [each for each in batch if each[0].folder not in self._nameless]
        log, keep_best = self._journal, self._journal.header.get("keep") == BEST
        past = [log.past(sent.folder, sent.fingerprint) for sent, _ in named]
        recorded = gradebook.record(
            [replace(graded, past=was) for (_, graded), was in zip(named, past, strict=True)],
            keep_best,
        )
        became = {sent.folder: told for (sent, _), told in zip(named, recorded, strict=True)}
        log.add(_line(sent, graded, became.get(sent.folder, Recorded())) for sent, graded in batch)

    def _write_one(self, submission: Submission, graded: Graded, gradebook: Gradebook) -> None:
        """Record one submission, or that the grader failed at it."""
        result = graded.result
        try:
            return self._write([(submission, graded)], gradebook)
        except MACHINE:
            raise
        except Exception as error:
            failed = troubled(result.student, result.lesson, result.max_score, error)
        try:
            self._write([(submission, failed)], gradebook)
        except MACHINE:
            raise
        except Exception as error:
            _say(f"{printable(result.student)} could not be recorded ({type(error).__name__}).")
            self._unrecorded[submission.folder] = failed.result.as_json()

    def report(self) -> None:
        """Write the results in the order of the class, and say what they come to."""
        if self._order.json:
            lines = (json.dumps(result) + "\n" for result in self._results())
            write_results(self._order.json, "".join(lines))
        seconds = time.monotonic() - self._begun
        folders = self._course.submitted(".", "."), self._course.autograded(".", ".")
        log, noted = self._journal, set(self._names) - self._unrecorded.keys()
        remarks, left = self._remarks, self._left
        remarks = replace(
            remarks,
            worse=log.worse(noted),
            told={log.result(name)["student"] for name in noted if log.is_as_told(name)},
            called_late=self._called_late(),
        )
        if self._order.students:  # the others are not in this run
            remarks, left = replace(remarks, known=frozenset()), {}
        text = summarise(self._order.lesson, self._results(), remarks, left, *folders)
        _say(text.printed)
        if self._names:
            rate = f" in {seconds:.1f} s, {60 * self._graded / seconds:.0f} a minute"
            _say(
                f"{self._graded} graded now{rate * bool(self._graded)}. Seed {self._journal.seed}."
            )
        if not self._order.students:  # what it says of a whole class stays
            path = log.path.with_name(journal.SUMMARY)
            write_whole(path, text.written.encode(errors="backslashreplace"))
            _say(f"The whole summary is in {from_here(path)}")
        log.tell()

    def _called_late(self) -> set[str]:
        lesson, home = self._order.lesson, self._course.submitted(".", ".").parent
        record = home / collected.FOLDER / f"{lesson}.json"
        return collected.late_some_time(record, partial(self._course.submitted, lesson=lesson))

    def _results(self) -> Iterator[dict[str, Any]]:
        for name in self._names:
            yield self._unrecorded.get(name) or self._journal.result(name)


def _line(sent: Submission, graded: Graded, told: Recorded) -> dict[str, Any]:
    """What the journal notes of a submission, besides what the whole run has in common."""
    return {
        "folder": sent.folder,
        "fingerprint": sent.fingerprint,
        **({} if sent.seed is None else {"seed": sent.seed}),
        "handed_in": told.handed_in and told.handed_in.isoformat(),
        "stands": told.stands,
        "earlier": told.earlier,
        "result": graded.result.as_json(),
        "lost": {name: lost for name, card in graded.cards.items() if (lost := _lost(card))},
    }


def _lost(card: Verdict) -> list[dict[str, Any]]:
    """The claims of an exercise that earned less than they are worth."""
    return [
        {"claim": line.claim, "holds": line.holds, "points": line.worth - line.earned}
        for line in card.lines
        if line.earned < line.worth
    ]


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
