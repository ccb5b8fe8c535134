"""What grades many submissions at once: worker processes here (`pool`), or a cluster's
(`dask_engine`).

A worker's process may die: the system takes its memory, a library crashes, a machine goes away.
Whatever it was grading is tried again when all others are done, alone, and given up with a clear
message if that ends a process too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from attnlab.ipynb.read import Unreadable
from autograder.problems import Problem
from autograder.results import A_PERSON, Graded
from autograder.roster import Submission

GIVEN_UP = (
    "Grading this notebook ended the grader's own process, twice. Nothing in it was graded. "
    + A_PERSON
)
Done = tuple[Submission, Graded]


class Engine(ABC):
    """Grades submissions in any order; a context manager that leaves no process behind."""

    @abstractmethod
    def __enter__(self) -> Engine: ...

    @abstractmethod
    def __exit__(self, *_: object) -> None: ...

    @abstractmethod
    def spread(
        self, submissions: Iterator[Submission], lost: list[Submission]
    ) -> Iterator[list[Done]]:
        """Grade each submission once; those that ended a process are added to `lost`.

        A submission is taken from the iterator when it can be handed on soon. At least once a
        second it yields what came in since, which may be nothing.

        Raises:
            Problem: nothing can be graded there.
        """

    def grade(
        self, submissions: Iterable[Submission], proven: Callable[[], bool] = lambda: False
    ) -> Iterator[list[Done]]:
        """What submissions earned, as they are done: some at a time, or none for a second.

        Args:
            proven: asked in the end; whether others have been graded here before.
        Raises:
            Problem: nothing can be graded there.
        """
        lost: list[Submission] = []
        graded = 0
        for done in self.spread(iter(submissions), lost):
            graded += len(done)
            yield done
        if len(lost) > 1 and not graded and not proven():
            raise Problem(f"The grader's own processes ended at each of {len(lost)} submissions.")
        for submission in lost:
            yield from self._once_more(submission)

    def _once_more(self, submission: Submission) -> Iterator[list[Done]]:
        """Grade one that ended a process, or say that it cannot be graded."""
        lost: list[Submission] = []
        yield from self.spread(iter([submission]), lost)
        if not lost:
            return
        given_up = replace(submission, content=Unreadable(GIVEN_UP))
        lost_for_good: list[Submission] = []
        for done in self.spread(iter([given_up]), lost_for_good):
            yield [(submission, graded) for _, graded in done]
        if lost_for_good:
            raise Problem("The grader's own processes end whatever they are given.")
