"""`python -m tests.prove`: the long proofs of the checks, on hundreds of seeds; exit 1 on a gap.

Every answer that we hold is judged on fresh seeds, two at a time, and has to be judged on all as
in the lesson; every mutant of a solution has to be rejected, or to stand in `tests/survivors.txt`.
What came of it is kept in `tests/proved.md`, a row for each lesson.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import re
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from importlib.metadata import version
from itertools import groupby

from tqdm import tqdm

from attnlab.checks.exercise import SEEDS
from attnlab.ipynb.files import write_whole
from attnlab.lessons import exercises_of, slugs
from attnlab.notebook import verdict_on
from tests import kinds
from tests.answers import Answer, all_answers
from tests.course import ROOT
from tests.mutants import judged, mutants, reviewed, survives

FIRST = 100_000  # of the seeds, which nobody else uses
SECONDS = 20.0
RECORD = ROOT / "tests" / "proved.md"
HEAD = """# Proved

`make prove` writes a row when it is done with a lesson: how many mutants of its solutions were
tried, and how many neither rejected nor reviewed; on how many seeds its answers were judged, how
many judgements that were, and how many of them differ from those in the lesson.

| lesson | when | with | mutants | gaps | seeds | judgements | gaps |
|---|---|---|--:|--:|--:|--:|--:|
"""


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


def prove(rows: Iterable[Row], title: str, total: int) -> tuple[int, int]:
    """Print a line for each exercise as it is done, with what is wrong below it.

    Returns:
        How many judgements were made, and how many gaps were found.
    """
    print(f"{title:48} {'tried':>7}  gaps")
    tried, gaps = 0, 0
    for home, group in groupby(tqdm(rows, total=total, disable=None), lambda row: row.home):
        mine = list(group)
        found = [gap for row in mine for gap in row.gaps]
        number = sum(row.tried for row in mine)
        print(f"{' '.join(home):48} {number:7,} {len(found):5}", flush=True)
        print(*(f"    {gap}\n" for gap in found), sep="", end="", flush=True)
        tried, gaps = tried + number, gaps + len(found)
    return tried, gaps


def keep(lesson: str, seeds: int, changed: tuple[int, int], held: tuple[int, int]) -> None:
    """Write a lesson's row, in the place of its last one.

    Args:
        changed: of mutants, how many were tried and how many are gaps.
        held: the same of answers.
    """
    text = RECORD.read_text(encoding="utf-8") if RECORD.exists() else ""
    rows = dict(re.findall(r"^\| (\d\S+) \|(.*)$", text, re.MULTILINE))
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "torch"))
    numbers = " | ".join(f"{number:,}" for number in (*changed, seeds, *held))
    today = datetime.now(UTC).date().isoformat()
    rows[lesson] = f" {today} | Python {platform.python_version()}, {versions} | {numbers} |"
    lines = (f"| {slug} |{rows[slug]}\n" for slug in slugs() if slug in rows)
    write_whole(RECORD, (HEAD + "".join(lines)).encode())


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.prove", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="how many; 200 if not said")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--lesson", choices=slugs())
    parser.add_argument("--kinds", action="store_true", help="what each kind of case rejects")
    asked = parser.parse_args()
    lessons = [asked.lesson] if asked.lesson else slugs()
    if asked.kinds:
        for exercise in (each for lesson in lessons for each in exercises_of(lesson).values()):
            print(kinds.table(exercise), flush=True)
        return 0
    found = 0
    # Not forks: PyTorch has threads by now, which a fork would wait for without end.
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(asked.jobs, mp_context=spawned) as pool:
        for lesson in lessons:
            homes = [(lesson, name) for name in exercises_of(lesson)]
            pairs = [(home, pair) for home in homes for pair in range(asked.seeds // 2)]
            ask = partial(mutated, seeds=(FIRST, FIRST + 1))
            changed = prove(pool.map(ask, homes), "mutants", len(homes))
            held = prove(pool.map(proven, pairs), "answers", len(pairs))
            keep(lesson, asked.seeds, changed, held)
            found += changed[1] + held[1]
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
