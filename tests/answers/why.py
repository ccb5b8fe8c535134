"""Why an answer was judged as it was: the cases that it fails, and the mistakes that fit each kind.

`python -m tests.answers.why 06-causal-mask attention-wrong-part-of-its-name` prints it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from attnlab.calling.call import perform
from attnlab.calling.deadline import Deadline
from attnlab.checks.bank import bank
from attnlab.checks.compare import examine
from attnlab.checks.diagnose import fitting, kind_of
from attnlab.checks.exercise import SEEDS, Exercise
from attnlab.checks.pose import pose
from attnlab.lessons import exercises_of

from . import Answer, all_answers

SECONDS = 60.0


def why(answer: Answer, seeds: tuple[int, ...] = SEEDS) -> str:
    """All that a person needs to mend a verdict: seed, case, what differed and competing names."""
    return "\n".join(_lines(exercises_of(answer.lesson)[answer.exercise], answer, seeds))


def _lines(exercise: Exercise, answer: Answer, seeds: tuple[int, ...]) -> Iterator[str]:
    yield f"{answer}, on seeds {seeds}"
    deadline = Deadline(SECONDS)
    tried = [
        examine(posed, perform(answer.function, posed.call, deadline))
        for posed in pose(exercise, seeds)
    ]
    wrong = [item for item in tried if item.difference]
    for item in wrong:
        assert item.difference is not None
        yield f"  seed {item.posed.seed}, {kind_of(item)}: {item.posed.case.note}"
        yield f"    {item.difference.slug}: {item.difference.text}"
    for kind in dict.fromkeys(map(kind_of, wrong)):
        slugs = {mistake.slug for mistake in fitting(exercise, tried, kind, bank(exercise))}
        yield f"  fits {kind}: {', '.join(sorted(slugs)) or 'no declared mistake'}"


def main() -> int:
    lesson, part = sys.argv[1:3]
    found = [answer for answer in all_answers(lesson) if part in str(answer)]
    for answer in found:
        print(why(answer))
    if not found:
        print(f"no answer to {lesson} has {part!r} in its name", file=sys.stderr)
    return int(not found)


if __name__ == "__main__":
    sys.exit(main())
