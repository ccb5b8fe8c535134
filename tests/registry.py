"""What the registry of lessons promises, and what of it is missing: one line for each slip."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from attnlab import lessons
from attnlab.checks import words
from attnlab.checks.exercise import Exercise, Mistake
from tests.course import ROOT, grading, headings, is_check, is_exercise, read

if TYPE_CHECKING:
    from tests.answers import Answer

STAGES = ("pure", "numpy", "torch")
_SLUG = re.compile(r"\d\d(-[a-z0-9]+)+")
# Modules in tests/answers/ that are no lesson's.
_SHARED = ("__init__", "general", "tally", "why")


def slips(root: Path = ROOT, answers: Iterable[Answer] | None = None) -> list[str]:
    """What is amiss, each with what is missing and where. Empty if all is well.

    Where the registry itself is wrong nothing else is looked at, and so on: one slip, one line.

    Args:
        root: of the course's files.
        answers: those of all lessons, if other than the ones in `tests/answers/`.
    """
    if told := in_the_way(root) or list(of_files_of_none(root)):
        return told
    from tests.answers import all_answers  # with PyTorch too

    slugs = lessons.slugs()
    return (
        [line for slug in slugs for line in of_declarations(slug)]
        or [line for slug in slugs for line in of_words(slug)]
        or list(of_shared_words())
        or [line for slug in slugs for line in of_notebooks(root, slug)]
        or list(of_answers(all_answers() if answers is None else answers))
    )


def in_the_way(root: Path = ROOT) -> list[str]:
    """What keeps the tests themselves from being found, and so is told before they are."""
    return list(of_the_registry()) or list(of_files(root))


def repeated(names: Iterable[object]) -> list[object]:
    return [name for name, times in Counter(names).items() if times > 1]


def of_the_registry() -> Iterator[str]:
    """What is wrong with its lines themselves."""
    here = "src/attnlab/lessons/__init__.py"
    lines = [line if isinstance(line, str) else line.slug for line in lessons.REGISTRY]
    for slug in lines:
        if not _SLUG.fullmatch(slug):
            yield f"{here}: {slug!r} is no slug; one is '06-causal-mask'"
            return
    yield from (f"{here}: {slug} is registered twice" for slug in repeated(lines))
    names = [slug.partition("-")[2] for slug in dict.fromkeys(lines)]
    yield from (f"{here}: two lessons are called {name}" for name in repeated(names))
    for number, slug in enumerate(dict.fromkeys(lines), 1):
        if int(slug[:2]) != number:
            yield f"{here}: {slug} is lesson {number} of the registry"
            return
    for slug in lessons.slugs():
        try:
            about = lessons.lesson(slug)
        except LookupError as wrong:
            yield f"{here}: {wrong.args[0]}"
            continue
        if about.stage not in STAGES:
            home = f"src/attnlab/lessons/{lessons.name_of(slug)}/__init__.py"
            yield f"{home}: the stage is {about.stage!r}; it is one of {', '.join(STAGES)}"


def of_files(root: Path) -> Iterator[str]:
    """Lessons without a file that each has."""
    for slug in lessons.slugs():
        for path in _wanted(slug):
            if not (root / path).is_file():
                yield f"{slug} is registered, and there is no {path}"


def _wanted(slug: str) -> tuple[str, ...]:
    name = lessons.name_of(slug)
    return (
        f"solutions/{slug}/{slug}.ipynb",
        f"solutions/{slug}/{slug}.py",
        f"notebooks/{slug}/{slug}.ipynb",
        f"src/attnlab/lessons/{name}/__init__.py",
        f"src/attnlab/lessons/{name}/exercises.py",
        _home(slug),
        f"tests/claims/{name}.py",
    )


def of_files_of_none(root: Path) -> Iterator[str]:
    """Files of no lesson."""
    wanted = [path for slug in lessons.slugs() for path in _wanted(slug)]
    kept = {*wanted, *(path.rpartition("/")[0] for path in wanted)}
    found = [
        *(path.parent for path in root.glob("src/attnlab/lessons/*/*.py")),
        *(path.parent for path in root.glob("solutions/*/*.*")),
        *(path.parent for path in root.glob("notebooks/*/*.*")),
        *(path for path in root.glob("tests/answers/*.py") if path.stem not in _SHARED),
        *(path for path in root.glob("tests/claims/*.py") if path.stem != "__init__"),
    ]
    for path in dict.fromkeys(path.relative_to(root).as_posix() for path in sorted(found)):
        if path not in kept and not path.endswith(".ipynb_checkpoints"):
            yield f"{path} is there, and no lesson of that name is registered"


def of_declarations(slug: str) -> Iterator[str]:
    """What is wrong with what a lesson's exercises say of themselves."""
    name = lessons.name_of(slug)
    here = f"src/attnlab/lessons/{name}/exercises.py"
    declared: tuple[Exercise, ...] = import_module(f"attnlab.lessons.{name}.exercises").EXERCISES
    if not declared:
        yield f"{here}: EXERCISES is empty"
    for twice in repeated(exercise.name for exercise in declared):
        yield f"{here}: two exercises are called {twice}"
    for exercise in declared:
        for said in (*_of_points(exercise), *_of_cases(exercise), *_of_axes(exercise)):
            yield f"{here}: {exercise.name} {said}"


def _of_points(exercise: Exercise) -> Iterator[str]:
    """What is wrong with its claims and their points. One point is enough for four."""
    claims = len(exercise.claims)
    if not 2 <= claims <= 6:
        yield f"has {claims} claim{'s' * (claims != 1)}; two to six make a card"
    for claim in exercise.claims:
        if claim.worth <= 0 or claim.worth % 0.25:
            yield f"gives {claim.worth:g} points for {claim.name}; points come in quarters"


def _of_cases(exercise: Exercise) -> Iterator[str]:
    """Claims that its own cases belong to, and that it does not make."""
    cases = exercise.cases(np.random.default_rng(0))
    made = [claim.name for claim in exercise.claims]
    for name in dict.fromkeys(case.claim for case in cases):
        if name not in made:
            yield f"has cases for {name}, which is none of its claims"


def _of_axes(exercise: Exercise) -> Iterator[str]:
    """What is wrong with the axes from which its cases follow; it may have none."""
    axes, parameters = exercise.axes, exercise.parameters
    if not axes:
        return
    if len(axes) > len(parameters):
        yield f"has axes for {len(axes)} arguments, and {len(parameters)} in its signature"
        return
    masks = any(each.split()[-1] in ("mask", "bias") for each in axes)
    if (masks or "causal" in parameters) and "masked" not in exercise.promised:
        yield "takes a mask, and promises nothing masked"
    stand = [*axes, *exercise.state.values(), *map(str, exercise.builds or ())]
    letters = {*" ".join([*stand, *exercise.products.values()]).replace("=", "").split()}
    sizes = {*letters, *map(exercise.called, letters | exercise.products.keys())}
    known = {*re.findall(r"\w+", " ".join(sizes)), *exercise.products}
    known |= {*re.findall(r"\w+", exercise.signature.partition("->")[0])}
    for slot in exercise.returns:
        for size in re.findall(r"\w+", slot.axes):
            if size not in known and not size.isdigit():
                yield f"returns {slot.name} with an axis {size}, which none of its arguments has"


def of_words(slug: str) -> Iterator[str]:
    """A lesson's mistakes of which nothing is said, and what is said of none."""
    here = f"src/attnlab/lessons/{lessons.name_of(slug)}/mistakes.md"
    try:
        own, known = words.read(words.of_lesson(slug)), words.known(slug)
    except (ValueError, FileNotFoundError) as wrong:
        yield str(wrong)
        return
    named = {
        mistake.slug: name
        for name, exercise in lessons.exercises_of(slug).items()
        for mistake in _mistakes(exercise)
    }
    for mistake in sorted(named.keys() - known.keys()):
        yield f"{here}: {mistake}, a mistake in {named[mistake]}, has no words"
    for said in sorted(own.keys() - named.keys()):
        yield f"{here}: {said} has words, and is no mistake of {slug}"


def _mistakes(exercise: Exercise) -> tuple[Mistake, ...]:
    from attnlab.checks.bank import bank  # with PyTorch, for which a registry need not wait

    return bank(exercise)


def of_shared_words() -> Iterator[str]:
    """What is said in all lessons, of what no exercise and no check names."""
    exercises = [each for slug in lessons.slugs() for each in lessons.exercises_of(slug).values()]
    named = {mistake.slug for exercise in exercises for mistake in _mistakes(exercise)}
    code = "\n".join(path.read_text(encoding="utf-8") for path in words.CHECKS.glob("*.py"))
    for said in words.read(words.CHECKS / "mistakes.md"):
        if said not in named and f'"{said}"' not in code:
            yield f"src/attnlab/checks/mistakes.md: {said} has words, and nothing names it"


def of_notebooks(root: Path, slug: str) -> Iterator[str]:
    """What a lesson's notebooks and its registration say of it differently."""
    about, declared = lessons.lesson(slug), lessons.exercises_of(slug)
    for here in (f"solutions/{slug}/{slug}.ipynb", f"notebooks/{slug}/{slug}.ipynb"):
        notebook = read(root / here)
        begun = re.findall(r"^begin\([\"'](.*?)[\"']\)", _code(notebook.cells), re.MULTILINE)
        if begun != [slug]:
            yield f"{here}: it begins {', '.join(begun) or 'no lesson'} and not {slug}"
        heading, wanted = next(headings(notebook))[1], f"{about.number:02} · {about.heading}"
        if heading != wanted:
            yield f"{here}: its heading is {heading!r}, the lesson's {wanted!r}"
        minutes = re.findall(r"\*\*Minutes\*\* \| about (\d+)", notebook.cells[0].source)
        if minutes != [str(about.minutes)]:
            yield f"{here}: its card says {' and '.join(minutes)} minutes, {slug} {about.minutes}"
        solutions = [grading(cell).grade_id for cell in notebook.cells if is_exercise(cell)]
        checks = {grading(cell).grade_id: cell for cell in notebook.cells if is_check(cell)}
        for name, exercise in declared.items():
            if name not in solutions:
                yield f"{here}: no solution cell has the grade_id {name}"
            if f"{name}-check" not in checks:
                yield f"{here}: no check cell has the grade_id {name}-check"
            elif (points := grading(checks[f"{name}-check"]).points) != exercise.points:
                yield f"{here}: {name}-check has {points} points, {name} {exercise.points:g}"
        for name in {*about.changed, *about.removed}:
            if (name in declared) != (name in about.changed):
                yield f"{slug}: {name} is changed, and not declared, or removed, and declared"
        known = {*declared, *(f"{name}-check" for name in declared)}
        for label in [*solutions, *checks]:
            if label not in known:
                yield f"{here}: the cell {label} is of no exercise that {slug} declares"


def of_answers(answers: Iterable[Answer]) -> Iterator[str]:
    """Answers to no exercise; if there are none, exercises without an answer of either kind."""
    filed = list(answers)
    strays = [each for each in filed if each.exercise not in lessons.exercises_of(each.lesson)]
    for stray in strays:
        home = _home(stray.lesson)
        yield f"{home}: {stray} answers {stray.exercise}, which {stray.lesson} has not"
    for twice in repeated(map(str, filed)):
        yield f"tests/answers/: two answers are called {twice}"
    if strays:
        return
    made = {(answer.lesson, answer.exercise, bool(answer.slug)) for answer in filed}
    for slug in lessons.slugs():
        for name in lessons.exercises_of(slug):
            for wrong, kind in ((False, "right"), (True, "wrong")):
                if (slug, name, wrong) not in made:
                    yield f"{_home(slug)}: {name} of {slug} has no {kind} answer"


def _home(slug: str) -> str:
    """Where a lesson's answers are."""
    return f"tests/answers/{lessons.name_of(slug)}.py"


def _code(cells: Iterable[object]) -> str:
    return "\n".join(cell.source for cell in cells if cell.cell_type == "code")  # type: ignore[attr-defined]
