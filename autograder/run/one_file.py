"""One notebook, wherever it lies: graded and shown, with no class and no gradebook."""

from __future__ import annotations

import json
import secrets
import sys
from pathlib import Path

from attnlab.ipynb.handed_in import is_named
from attnlab.ipynb.words import plain, printable, stem
from autograder.run.marking import Job, OpensGrader, mark, open_grader
from autograder.run.output import check_place, write_results
from autograder.sandbox.limits import Limits
from autograder.submission import lessons
from autograder.submission.folder import Submission, read_file
from autograder.submission.results import Graded


def grade_file(
    path: Path,
    lesson: str = "",
    seed: int | None = None,
    json_file: str = "",
    opens: OpensGrader = open_grader,
) -> None:
    """Grade one notebook, and print its cards, or write its result.

    Args:
        path: the notebook.
        lesson: '' to tell it from the notebook.
        seed: None for a fresh one.
        json_file: file for the result, '-' for standard output, '' for cards instead.
    Raises:
        Usage: there is no such file, its lesson cannot be told, or results have no place.
        Problem, NotWritten: it cannot be graded here, or not be written.
    """
    check_place(json_file)
    limits = Limits()
    content = read_file(path, limits)
    slug = lesson or lessons.lesson_of(path, content, limits)
    released = lessons.released_text(lessons.RELEASED / slug / f"{slug}.ipynb")
    place = lessons.SOLUTIONS / slug / f"{slug}.ipynb"
    solution = lessons.solution_text(place)
    if not solution:
        print(lessons.UNSOLVED.format(place), file=sys.stderr)
    job = Job(slug, released, secrets.randbits(63) if seed is None else seed, limits, solution)
    submission = Submission(student_of(path, slug), content)
    with opens(job) as grader:
        graded = mark(grader, submission)
    line = json.dumps(graded.result.as_json()) + "\n"
    if json_file:
        write_results(json_file, line)
    else:
        print(as_text(graded))
    print(f"Seed {job.seed}.", file=sys.stderr)


def student_of(path: Path, lesson: str) -> str:
    """Whose it is: …/<student>/<lesson>/<lesson>.ipynb says, else the file's own name."""
    folder = path.absolute().parent
    if folder.name == lesson and is_named(path.name, lesson) and folder.parent.name:
        return folder.parent.name
    return stem(path.name) or path.stem


def as_text(graded: Graded) -> str:
    """A submission for a terminal: its score, what was put right, and the cards."""
    from attnlab.checks.card import as_text as card_text

    result = graded.result
    head = f"{printable(result.student)} · {result.lesson} · {result.status}"
    parts = [f"{head} · {result.score:g} of {result.max_score:g} points"]
    parts += filter(None, [result.message])
    parts += [f"Put right: {repair}" for repair in result.repaired]
    for exercise in result.exercises:
        card = graded.cards.get(exercise.name)
        parts.append("\n" + (card_text(card) if card else f"{exercise.name}: {exercise.message}"))
    return plain("\n".join(parts))
