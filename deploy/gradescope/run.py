"""What Gradescope runs for each submission: /autograder/submission in, results/results.json out.

    python -m deploy.gradescope.run /autograder

Where nothing can be graded there is no results.json. Gradescope's published words ask for a score
in it, and say that without the file the submission is shown as one that the autograder failed at.
Why, and what to set, is printed: instructors see that, learners do not.

The seed of the hidden cases comes from `key`, drawn when the zip was written, and from what was
handed in: graded again it gets the same cases, and changed by a letter it gets others, so what one
attempt saw of its inputs is no help to the next.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from attnlab import lessons
from attnlab.ipynb.files import NotWritten, write_whole
from autograder import Problem, Told, Usage
from autograder.doctor import attempt
from autograder.run.marking import Job, mark, open_grader
from autograder.sandbox.isolation import IsolationError, require_linux
from autograder.sandbox.limits import Limits
from autograder.submission.folder import Submission
from autograder.submission.handed_in import opened_in
from autograder.submission.lessons import RELEASED, known, released_text
from autograder.submission.results import A_PERSON, Result
from deploy.gradescope.results import results

SOURCE = Path(__file__).resolve().parents[2]  # what the zip holds
NO_SCORE = "No score was given."
ELSEWHERE = (
    "If that cannot be set here, download the submissions and grade them with the course: "
    'make collect LESSON={lesson} FILES="submissions.zip", then make grade LESSON={lesson}'
)


def main(arguments: Sequence[str]) -> int:
    """Grade what was handed in; 1 where that cannot be done, and then there are no results."""
    place = Path(arguments[0] if arguments else "/autograder")
    written = place / "results" / "results.json"
    written.unlink(missing_ok=True)
    started = time.monotonic()
    lesson = ""
    try:
        lesson = known((SOURCE / "LESSON").read_text(encoding="utf-8").strip())
        require_isolation(lesson)
        limits = Limits()
        submission = opened_in(place / "submission", ".", lesson, limits)
        seed = seed_of((SOURCE / "key").read_bytes(), submission)
        result = _graded(lesson, submission, seed, limits)
        found = results(result, time.monotonic() - started)
        write_whole(written, (json.dumps(found, indent=1) + "\n").encode())
    except (Told, Usage, IsolationError, NotWritten, OSError) as why:
        print(NO_SCORE, why)
        if lesson:
            print(ELSEWHERE.format(lesson=lesson))
        return 1
    print(f"{lesson}: {result.status}, {result.score:g} of {result.max_score:g} points.")
    print(f"To repeat it: python -m autograder grade-file NOTEBOOK --lesson {lesson} --seed {seed}")
    return 0


def require_isolation(lesson: str) -> None:
    """Try what `python -m autograder doctor` tries, for the lesson's stage.

    Raises:
        IsolationError: learners' code cannot be kept in, or got at what it should not have.
    """
    require_linux()
    trial = attempt(lessons.lesson(lesson).stage)
    if trial.error:
        raise IsolationError(trial.error)
    if trial.reached:
        raise IsolationError(f"From inside, a submission reached: {', '.join(trial.reached)}.")


def seed_of(key: bytes, submission: Submission) -> int:
    """The seed of a submission's cases: from 0 to 2^63 - 1, and nothing that can be guessed."""
    digest = hmac.digest(key, submission.fingerprint.encode(), hashlib.sha256)
    return int.from_bytes(digest[:8]) >> 1


def _graded(lesson: str, submission: Submission, seed: int, limits: Limits) -> Result:
    released = released_text(RELEASED / lesson / f"{lesson}.ipynb")
    with open_grader(Job(lesson, released, seed, limits)) as grader:
        result = mark(grader, submission).result
    if result.message.endswith(A_PERSON):  # the grader itself failed: that is worth no zero
        raise Problem(result.message)
    return result


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
