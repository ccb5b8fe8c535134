"""What the checks said of each answer, mistake and mutant that we held, kept to compare with.

`python -m tests.frozen --exercise attention` judges all of them again and says what is judged
otherwise now: by its verdict, its score, its name or a line of its card. Seeds are those of the
lesson; `--seeds 7 8` takes others, on which nothing may depend. Exit 1 where something changed. An
answer that draws numbers of its own may change by itself: judge it twice.

Who cuts cases compares with this; who cuts answers leaves it as it is. `--write` freezes anew.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from attnlab.checks.bank import bank
from attnlab.checks.exercise import SEEDS, Exercise
from attnlab.checks.verdict import Verdict
from attnlab.ipynb.files import write_whole
from attnlab.lessons import exercises_of, slugs
from attnlab.notebook import verdict_on
from tests.answers import all_answers
from tests.course import ROOT
from tests.mutants import judged, mutants
from tests.played import by_formula, can_be_played, played

TABLE = ROOT / "tests" / "frozen.txt"
HEAD = """# What the checks say of each answer, mistake and mutant: see frozen.py. Below an exercise
# a line for each judgement: status, name, points and the card's lines (x holds, - fails, . is not
# told), then all that is judged so: b: the bank, a: answers, m: mutants, each by a hash.
"""
SECONDS = 20.0
KINDS = {"b": "bank", "a": "answers", "m": "mutants"}
Judgement = str
Table = dict[str, dict[str, Judgement]]  # by exercise, then by what was judged


def home(exercise: Exercise) -> str:
    return f"{exercise.lesson} {exercise.name}"


def told(verdict: Verdict | None) -> Judgement:
    if verdict is None:
        return "does not run"
    named = verdict.diagnosis.slug if verdict.diagnosis else "–"
    lines = "".join({True: "x", False: "-", None: "."}[line.holds] for line in verdict.lines)
    return f"{verdict.status} {named} {verdict.score:g} {lines or '–'}"


def judgements(
    exercise: Exercise, seeds: tuple[int, ...] = SEEDS, kinds: str = "bam", every: int = 1
) -> Iterator[tuple[str, str, Judgement]]:
    """Key, a name for people, and what is said now of each thing that is held."""
    if "b" in kinds and can_be_played(exercise):
        places: dict[str, int] = {}
        for mistake in bank(exercise):
            at = places[mistake.slug] = places.get(mistake.slug, -1) + 1
            key = f"b:{mistake.slug}/{at}"
            yield key, key, told(played(exercise, by_formula(mistake.answer), seeds))
    if "a" in kinds:
        for answer in all_answers(exercise.lesson):
            if answer.exercise == exercise.name:
                key = f"a:{answer.slug}:{answer.label}"
                yield key, key, told(verdict_on(exercise, answer.function, seeds, SECONDS))
    if "m" in kinds:
        for mutant in list(mutants(exercise.lesson, exercise.name))[::every]:
            digest = hashlib.sha256(mutant.source.encode()).hexdigest()[:8]
            yield f"m:{digest}", f"m:{mutant.change}", told(judged(mutant, seeds))


def read() -> Table:
    table: Table = {}
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            mine = table[line[3:]] = {}
        elif line and not line.startswith("#"):
            judgement, _, keys = line.partition(" | ")
            mine.update(dict.fromkeys(keys.split(" | "), judgement))
    return table


def as_text(table: Table) -> str:
    parts = [HEAD]
    for name, mine in table.items():
        groups: dict[Judgement, list[str]] = {}
        for key, judgement in mine.items():
            groups.setdefault(judgement, []).append(key)
        lines = (" | ".join([judgement, *keys]) for judgement, keys in groups.items())
        parts.append("\n".join([f"## {name}", *lines, ""]))
    return "\n".join(parts)


def _ask(
    name: str, seeds: tuple[int, ...], kinds: str, every: int
) -> tuple[str, list[tuple[str, str, Judgement]]]:
    lesson, _, exercise = name.partition(" ")
    return name, list(judgements(exercises_of(lesson)[exercise], seeds, kinds, every))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.frozen", description=__doc__)
    parser.add_argument("--lesson", choices=slugs())
    parser.add_argument("--exercise", help="its name")
    parser.add_argument("--seeds", type=int, nargs=2, default=SEEDS)
    parser.add_argument("--kinds", default="bam", help=f"of {KINDS}; all if not said")
    parser.add_argument("--every", type=int, default=1, help="of the mutants, one in so many")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="freeze what is said now")
    asked = parser.parse_args()
    names = [
        home(exercise)
        for slug in ([asked.lesson] if asked.lesson else slugs())
        for exercise in exercises_of(slug).values()
        if asked.exercise in (None, exercise.name)
    ]
    if not names:
        print(f"no exercise is called {asked.exercise}", file=sys.stderr)
        return 2
    frozen = read() if TABLE.exists() else {}
    total = changed = gone = new = 0
    # Not forks: PyTorch has threads by now, which a fork would wait for without end.
    spawned = multiprocessing.get_context("spawn")
    ask = partial(_ask, seeds=tuple(asked.seeds), kinds=asked.kinds, every=asked.every)
    with ProcessPoolExecutor(min(asked.jobs, len(names)), mp_context=spawned) as pool:
        for name, found in map(ask, names) if asked.jobs == 1 else pool.map(ask, names):
            was = {} if asked.write else frozen.get(name, {})
            for key, label, judgement in found:
                total += 1
                if key not in was:
                    new += 1
                elif was[key] != judgement:
                    changed += 1
                    print(f"{name} {label}\n    was {was[key]}\n    is  {judgement}", flush=True)
            now = {key: judgement for key, _, judgement in found}
            if asked.every == 1:
                gone += sum(key[0] in asked.kinds and key not in now for key in was)
            if asked.write:
                kept = {k: v for k, v in frozen.get(name, {}).items() if k[0] not in asked.kinds}
                frozen[name] = {**kept, **now}
    if asked.write:
        order = [home(each) for slug in slugs() for each in exercises_of(slug).values()]
        write_whole(TABLE, as_text({n: frozen[n] for n in order if n in frozen}).encode())
    print(f"{total} judged: {changed} changed, {new} new; {gone} are there no more")
    return int(changed > 0)


if __name__ == "__main__":
    sys.exit(main())
