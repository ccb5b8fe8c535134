"""What an exercise promises follows from what its lesson does with it, and its text says so."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import attnlab.lessons
from attnlab.checks.exercise import SEEDS, Case, Exercise
from attnlab.checks.pose import answer_of, cases_of
from attnlab.lessons import exercises_of, slugs
from tests.course import (
    code_cells,
    grading,
    is_check,
    is_exercise,
    read,
    solution_path,
    split_solution,
)
from tests.exercises import EXERCISES, named

LESSONS = Path(attnlab.lessons.__file__).parent
AUTOGRAD = {"backward", "gradcheck", "jacobian", "grad"}

# Its result is made of floats and stands in a cell that trains, and yet no slope goes through it.
NOT_THROUGH = {
    "patched": "it is run under no_grad: what a trained model says is all that counts",
    "next_token_probabilities": "what is drawn by it has no slopes",
}


# What slopes go through ---------------------------------------------------------------------------


def differentiated(slug: str) -> set[str]:
    """Exercises that stand in a cell with autograd, or in what that cell calls.

    A name stands for all that its value, or the function that it is, mentions, in the notebook as
    in the lesson's package. This finds too many rather than too few.
    """
    found, names = set[str](), set(exercises_of(slug))
    meant: dict[str, set[str]] = {}
    for path in (LESSONS / slug.partition("-")[2].replace("-", "_")).glob("*.py"):
        source = path.read_text(encoding="utf-8")
        if "attnlab.checks" not in source:  # no declaration
            meant |= dict(_bound(ast.parse(source)))
    for cell in code_cells(read(solution_path(slug))):
        tree = ast.parse(cell.source)
        own = dict(_bound(tree))
        meant |= own
        if is_check(cell):
            continue
        reached = set[str]()
        for statement in tree.body:
            if not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                _reach(_mentioned(statement), meant, reached)
        if AUTOGRAD & reached:
            found |= names & reached - set(own)
    for cell in filter(is_exercise, code_cells(read(solution_path(slug)))):
        name = grading(cell).grade_id
        if "gradient" in exercises_of(slug)[name].promised:
            found |= names & _mentioned(ast.parse(cell.source)) - {name}
    return found


def _mentioned(node: ast.AST) -> set[str]:
    parts = ast.walk(node)
    return {
        part.id if isinstance(part, ast.Name) else part.attr
        for part in parts
        if isinstance(part, (ast.Name, ast.Attribute))
    }


def _reach(names: set[str], meant: dict[str, set[str]], reached: set[str]) -> None:
    for name in names - reached:
        reached.add(name)
        _reach(meant.get(name, set()), meant, reached)


def _bound(tree: ast.AST) -> Iterator[tuple[str, set[str]]]:
    """Each name that is given a meaning, and what that mentions; the last one counts."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, _mentioned(node)
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from ((name, _mentioned(value)) for name in _mentioned(target))
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                yield from ((name, _mentioned(value)) for name in _mentioned(target))


@cache
def cases(exercise: Exercise) -> list[Case]:
    return [case for case in cases_of(exercise, SEEDS[0]) if not case.raises]


def dtypes(case: Case) -> set[str]:
    """Those of a case's tensors, parameters included."""
    tensors = (*case.args, *case.state.values())
    return {str(getattr(each, "dtype", "")).removeprefix("torch.") for each in tensors}


def has_slopes(exercise: Exercise) -> bool:
    """Whether floats that are tensors go in, and floats come out."""
    if exercise.stage != "torch" or {slot.kind for slot in exercise.returns} != {"tensor"}:
        return False
    case = cases(exercise)[0]
    results = answer_of(exercise.oracle_of(case), case).values
    return "float64" in dtypes(case) and all(result.dtype.kind == "f" for result in results)


@pytest.mark.parametrize("slug", slugs())
def test_what_a_lesson_differentiates_through_promises_gradients(slug: str) -> None:
    made = {each.name: each for each in EXERCISES if each.lesson == slug}
    through = {name for name in differentiated(slug) if has_slopes(made[name])}
    promised = {name for name, each in made.items() if "gradient" in each.promised}
    assert through - promised - set(NOT_THROUGH) == set()


def test_every_exception_is_one() -> None:
    through = {name for slug in slugs() for name in differentiated(slug)}
    assert set(NOT_THROUGH) <= through
    assert all(NOT_THROUGH.values())


def test_float32_is_tried_wherever_floats_come_of_floats() -> None:
    tried = {
        each: set[str]().union(*map(dtypes, cases(each))) for each in filter(has_slopes, EXERCISES)
    }
    assert [each.name for each, found in tried.items() if "float32" not in found] == []


# What the text says -------------------------------------------------------------------------------

# What an exercise's own text says of a promise: what stands above its cell, and below `def`.
SAYS = {
    "gradient": "gradient|slope",
    "finite": "gradient|slope",
    "precision": "float32|dtype",
    "masked": "mask|causal",
    "empty": r"\b0\b",
    "blocked": "−∞|−inf|-inf",
    "large": "10,000|thousands",
    "bias": "bias",
    "refuses": "error",
    "ragged": "error",
}
# What each check tries, whatever it is of: said once, where the first one stands.
COMMON = ("sizes of 1", "long inputs", "twice", "the inputs are as they were")


def text_of(exercise: Exercise) -> str:
    """The text of an exercise and what stands below its `def`."""
    cells = read(solution_path(exercise.lesson)).cells
    [at] = [at for at, cell in enumerate(cells) if grading(cell).get("grade_id") == exercise.name]
    head = f"### Exercise: `{exercise.name}`"
    [said] = [cell.source for cell in cells[:at] if head in cell.source]
    return said[said.index(head) :] + split_solution(cells[at].source)[0]


@pytest.mark.parametrize("exercise", EXERCISES, ids=named)
def test_text_says_what_is_tried(exercise: Exercise) -> None:
    text = text_of(exercise)
    silent = {
        name for name in exercise.promised & set(SAYS) if not re.search(SAYS[name], text, re.I)
    }
    assert silent == set()


def test_first_lesson_says_what_every_check_tries() -> None:
    text = "\n".join(cell.source for cell in read(solution_path(slugs()[0])).cells)
    assert all(said in " ".join(text.split()) for said in COMMON)
