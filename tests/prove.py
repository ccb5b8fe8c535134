"""`python -m tests.prove`: the long proofs of the checks, on hundreds of seeds; exit 1 on a gap.

Every answer that we hold is judged on fresh seeds, two at a time, and has to be judged on all as
in the lesson; every mutant of a solution has to be rejected, or to stand in `tests/survivors.txt`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby
from typing import Any

from tqdm import tqdm

from attnlab.checks.exercise import SEEDS
from attnlab.lessons import exercises_of, slugs
from attnlab.notebook import verdict_on
from tests.answers import Answer, all_answers
from tests.mutants import judged, mutants, reviewed, survives

FIRST = 100_000  # of the seeds, which nobody else uses
SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Row:
    """What came of an exercise's answers on two seeds, or of its mutants.

    Attributes:
        home: lesson and exercise.
        tried: how many judgements were made.
        gaps: what is wrong, a line each.
    """

    home: tuple[str, str]
    tried: int
    gaps: tuple[str, ...]


@cache
def answers_to(lesson: str, exercise: str) -> tuple[Answer, ...]:
    return tuple(
        each for each in all_answers() if (each.lesson, each.exercise) == (lesson, exercise)
    )


@cache
def score_in_lesson(answer: Answer) -> float:
    exercise = exercises_of(answer.lesson)[answer.exercise]
    return verdict_on(exercise, answer.function, SEEDS, SECONDS).score


def proven(asked: tuple[tuple[str, str], int]) -> Row:
    """Judge all answers to an exercise on two seeds: its cases are made once for all of them."""
    home, pair = asked
    seeds, gaps = (FIRST + 2 * pair, FIRST + 2 * pair + 1), []
    exercise = exercises_of(home[0])[home[1]]
    for answer in answers_to(*home):
        verdict = verdict_on(exercise, answer.function, seeds, SECONDS)
        named = verdict.diagnosis.slug if verdict.diagnosis else ""
        if (verdict.status == "PASS") == bool(answer.slug):
            gaps.append(f"{answer}: {verdict.status} on seeds {seeds}")
        elif named != answer.slug:
            gaps.append(f"{answer}: named {named or 'nothing'} on seeds {seeds}")
        elif verdict.score != (usual := score_in_lesson(answer)):
            gaps.append(f"{answer}: {verdict.score} points on seeds {seeds}, else {usual}")
    return Row(home, len(answers_to(*home)), tuple(gaps))


def mutated(home: tuple[str, str], seeds: tuple[int, ...]) -> Row:
    """Judge every mutant of one exercise's solution."""
    known, gaps, tried = reviewed(), [], 0
    for mutant in mutants(*home):
        tried += 1
        if survives(judged(mutant, seeds)) and str(mutant) not in known:
            gaps.append(f"{mutant}")
    return Row(home, tried, tuple(gaps))


def table(title: str, rows: Iterable[Row]) -> Iterator[str]:
    """A line for each exercise as it is done, with what is wrong below it."""
    yield title
    for home, group in groupby(rows, lambda row: row.home):
        mine = list(group)
        gaps = [gap for row in mine for gap in row.gaps]
        yield f"{' '.join(home):48} {sum(row.tried for row in mine):7,} {len(gaps):5}"
        yield from (f"    {gap}" for gap in gaps)


def prove(pool: ProcessPoolExecutor, title: str, ask: Callable[[Any], Row], over: list[Any]) -> int:
    """Print the table of what comes of each, and give the number of gaps."""
    gaps = 0

    def counted() -> Iterator[Row]:
        nonlocal gaps
        for row in tqdm(pool.map(ask, over), total=len(over), disable=None):
            gaps += len(row.gaps)
            yield row

    for line in table(title, counted()):
        print(line, flush=True)
    return gaps


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.prove", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="how many; 200 if not said")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--lesson", choices=slugs())
    asked = parser.parse_args()
    lessons = [asked.lesson] if asked.lesson else list(slugs())
    homes = [(lesson, name) for lesson in lessons for name in exercises_of(lesson)]
    pairs = [(home, pair) for home in homes for pair in range(asked.seeds // 2)]
    # Not forks: PyTorch has threads by now, which a fork would wait for without end.
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(asked.jobs, mp_context=spawned) as pool:
        ask = partial(mutated, seeds=(FIRST, FIRST + 1))
        gaps = prove(pool, f"{'mutants':48} {'tried':>7}  gaps", ask, homes)
        gaps += prove(pool, f"{'answers':48} {'judged':>7}  gaps", proven, pairs)
    return int(gaps > 0)


if __name__ == "__main__":
    sys.exit(main())
