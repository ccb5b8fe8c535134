"""A lesson is named in one place: everything in the registry is there, and every slip is told."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attnlab import figures, lessons
from attnlab.checks import words
from attnlab.checks.exercise import Case, Claim, Exercise, Slot, promises
from attnlab.lesson import begin
from attnlab.notebook import check
from autograder import Usage
from autograder.submission.lessons import known
from tests import answers, attacks
from tests.answers import all_answers
from tests.attacks import Undeclared
from tests.course import ROOT
from tests.learners.answers import bank
from tests.registry import of_shared_words, slips

FIRST = lessons.slugs()[0]
SOME = "06-causal-mask"  # where what is in a lesson matters
NEW = f"{len(lessons.slugs()) + 1:02}-"  # the number of the lesson to come
HERE = "src/attnlab/lessons/__init__.py"


@pytest.mark.lessons(*lessons.slugs())
def test_every_lesson_and_every_exercise_has_all_that_belongs_to_it() -> None:
    assert slips() == []


def test_what_a_lesson_is_can_be_read_without_a_library() -> None:
    line = (
        "import sys; from attnlab import lessons; "
        "print(*{lessons.lesson(slug).stage for slug in lessons.slugs()}); print(*sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    stages, loaded = told.stdout.splitlines()
    assert set(stages.split()) == {"pure", "numpy", "torch"}
    assert not {"numpy", "torch", "matplotlib", "IPython"} & set(loaded.split())


def test_a_lesson_called_like_a_library_hides_none() -> None:
    module = import_module("attnlab.lessons.numpy.exercises")
    assert module.np is sys.modules["numpy"]
    assert figures.numpy.np is sys.modules["numpy"]


@pytest.mark.parametrize("slug", lessons.slugs())
def test_a_lessons_figures_are_found_by_its_name(slug: str) -> None:
    name = lessons.name_of(slug)
    if (ROOT / f"src/attnlab/lessons/{name}/figures.py").exists():
        assert getattr(figures, name).__name__ == f"attnlab.lessons.{name}.figures"
    else:
        assert not hasattr(figures, name)


def test_a_lesson_without_figures_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    slug, path = f"{NEW}no-figures", "src/attnlab/lessons/no_figures/figures.py"
    register(monkeypatch, *lessons.slugs(), slug)
    said = f"{slug} has no figures: there is no {path}"
    with pytest.raises(LookupError, match=said):
        lessons.figures_of(slug)
    with pytest.raises(AttributeError, match=said):
        _ = figures.no_figures


def test_a_figure_of_no_lesson_is_answered_with_those_there_are() -> None:
    with pytest.raises(
        AttributeError, match=r"no 'casual_mask'; it has soft_lookup, .*causal_mask"
    ):
        _ = figures.casual_mask


# slips ------------------------------------------------------------------------------------------


def register(monkeypatch: pytest.MonkeyPatch, *lines: str | lessons.Lesson) -> None:
    monkeypatch.setattr(lessons, "REGISTRY", lines)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the files that the registry speaks of."""
    ignored = shutil.ignore_patterns(".ipynb_checkpoints", "__pycache__", "attacks")
    for folder in (
        "solutions",
        "notebooks",
        "src/attnlab/lessons",
        "tests/answers",
        "tests/claims",
    ):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    return tmp_path


def test_a_lesson_registered_without_anything_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, *lessons.slugs(), f"{NEW}not-there")
    assert slips() == [
        f"{HERE}: {NEW}not-there is registered, and there is no src/attnlab/lessons/not_there/"
    ]


def test_a_folder_that_does_not_say_what_the_lesson_is_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr("attnlab.lessons.scaling.LESSON")
    assert slips() == [f"{HERE}: 04-scaling: src/attnlab/lessons/scaling/__init__.py has no LESSON"]


@pytest.mark.parametrize(
    "path",
    [
        f"solutions/{SOME}/{SOME}.ipynb",
        f"solutions/{SOME}/{SOME}.py",
        f"notebooks/{SOME}/{SOME}.ipynb",
        f"src/attnlab/lessons/{lessons.name_of(SOME)}/exercises.py",
        f"tests/answers/{lessons.name_of(SOME)}.py",
        f"tests/claims/{lessons.name_of(SOME)}.py",
    ],
)
def test_a_lesson_without_a_file_is_told(copied: Path, path: str) -> None:
    (copied / path).unlink()
    assert slips(copied) == [f"{SOME} is registered, and there is no {path}"]


def test_files_of_no_lesson_are_told(copied: Path) -> None:
    shutil.copytree(copied / "solutions" / SOME, copied / "solutions" / f"{NEW}new")
    shutil.copytree(copied / "notebooks" / SOME, copied / "notebooks" / f"{NEW}new")
    shutil.copytree(copied / "src/attnlab/lessons/scaling", copied / "src/attnlab/lessons/new")
    for kind in ("answers", "claims"):
        shutil.copy(copied / f"tests/{kind}/scaling.py", copied / f"tests/{kind}/new.py")
    assert slips(copied) == [
        f"{path} is there, and no lesson of that name is registered"
        for path in (
            f"notebooks/{NEW}new",
            f"solutions/{NEW}new",
            "src/attnlab/lessons/new",
            "tests/answers/new.py",
            "tests/claims/new.py",
        )
    ]


def test_a_lesson_registered_twice_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, *lessons.slugs(), FIRST)
    assert slips() == [f"{HERE}: {FIRST} is registered twice"]


def test_two_lessons_of_one_name_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, *lessons.slugs(), lessons.Lesson(f"{NEW}numpy", "NumPy", "", 0))
    assert slips() == [f"{HERE}: two lessons are called numpy"]


def test_lessons_out_of_order_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, *rest = lessons.slugs()
    register(monkeypatch, second, first, *rest)
    assert slips() == [f"{HERE}: {second} is lesson 1 of the registry"]


def test_a_slug_misspelt_in_the_registry_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, *("06-casual-mask" if slug == SOME else slug for slug in lessons.slugs()))
    assert slips() == [
        f"{HERE}: 06-casual-mask is registered, and there is no src/attnlab/lessons/casual_mask/"
    ]


def test_a_slug_that_is_none_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, "soft_lookup")
    assert slips() == [f"{HERE}: 'soft_lookup' is no slug; one is '06-causal-mask'"]


def test_a_folder_that_says_it_is_another_lessons_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    module = import_module("attnlab.lessons.scaling")
    monkeypatch.setattr(module, "LESSON", replace(module.LESSON, slug="04-scalling"))
    assert slips() == [
        f"{HERE}: 04-scaling is registered, and attnlab.lessons.scaling says that it is 04-scalling"
    ]


def test_a_stage_that_is_none_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    module = import_module("attnlab.lessons.scaling")
    monkeypatch.setattr(module, "LESSON", replace(module.LESSON, stage="nunpy"))
    [told] = slips()
    assert told.endswith("the stage is 'nunpy'; it is one of pure, numpy, torch")


def declared(monkeypatch: pytest.MonkeyPatch, slug: str, *exercises: Exercise) -> str:
    """Make these the exercises of a lesson; gives back the file that is said to have them."""
    name = lessons.name_of(slug)
    module = import_module(f"attnlab.lessons.{name}.exercises")
    monkeypatch.setattr(module, "EXERCISES", exercises)
    return f"src/attnlab/lessons/{name}/exercises.py"


def test_exercises_that_are_missing_or_of_one_name_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, *rest = lessons.exercises_of("04-scaling").values()
    here = declared(monkeypatch, "04-scaling", first, *rest, first)
    assert slips() == [f"{here}: two exercises are called {first.name}"]
    declared(monkeypatch, "04-scaling")
    assert slips() == [f"{here}: EXERCISES is empty"]


def test_lesson_and_stage_are_filled_in(monkeypatch: pytest.MonkeyPatch) -> None:
    first = lessons.exercises_of("04-scaling")["score_std"]
    declared(monkeypatch, "04-scaling", replace(first, lesson="", stage=""))
    monkeypatch.setattr(lessons, "_declared", lessons._declared.__wrapped__)
    filled = lessons.exercises_of("04-scaling")["score_std"]
    assert (filled.lesson, filled.stage) == ("04-scaling", "numpy")


def worth(*worths: float) -> tuple[Claim, ...]:
    return tuple(Claim(f"claim {at}", "holds", each) for at, each in enumerate(worths))


def stray(rng: np.random.Generator) -> Iterator[Case]:
    yield Case("values", ())


def nothing(rng: np.random.Generator) -> Iterator[Case]:
    return iter(())


MASKED = "scaled_dot_product_attention"


@pytest.mark.parametrize(
    ("slug", "name", "changed", "told"),
    [
        ("03-numpy", MASKED, {"claims": promises("is", 4.0, unchanged=0.25)}, "takes a mask"),
        ("05-pytorch", MASKED, {"claims": promises("is", 3.0, unchanged=0.25)}, "takes a mask"),
        ("13-gpu-sdpa", "sdpa_attention", {"claims": worth(0.75, 0.25)}, "takes a mask"),
        (
            *("04-scaling", "score_std", {"axes": ("n k", "n k", "n k")}),
            "has axes for 3 arguments, and 2 in its signature",
        ),
        (
            *("04-scaling", "softmax_jacobian", {"returns": (Slot("J", "ndarray", "M N"),)}),
            "returns J with an axis N, which none of its arguments has",
        ),
        (
            *("04-scaling", "score_std", {"claims": worth(0.5, 0.3, 0.25)}),
            "gives 0.3 points for claim 1; points come in quarters",
        ),
        (
            *("04-scaling", "score_std", {"claims": worth(1.0, 0.0)}),
            "gives 0 points for claim 1; points come in quarters",
        ),
        (
            *("04-scaling", "score_std", {"claims": worth(0.5, 0.5), "cases": stray}),
            "has cases for values, which is none of its claims",
        ),
        ("04-scaling", "score_std", {"claims": worth(1.0)}, "has 1 claim; two to six"),
        ("04-scaling", "score_std", {"claims": worth(*7 * [0.5])}, "has 7 claims; two to six"),
    ],
)
def test_a_slip_in_a_declaration_is_told(
    monkeypatch: pytest.MonkeyPatch, slug: str, name: str, changed: dict[str, Any], told: str
) -> None:
    slipped = replace(lessons.exercises_of(slug)[name], **{"cases": nothing, **changed})
    here = declared(monkeypatch, slug, slipped)
    [line] = slips()
    assert line.startswith(f"{here}: {name} {told}")


def test_words_and_mistakes_that_lack_each_other_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    slug, here = "04-scaling", "src/attnlab/lessons/scaling/mistakes.md"
    text = words.of_lesson(slug).read_text(encoding="utf-8")
    own = tmp_path / "mistakes.md"
    of_lesson = words.of_lesson
    monkeypatch.setattr(words, "of_lesson", lambda of: own if of == slug else of_lesson(of))
    own.write_text(text.replace("## summed-over-pairs\n", "## summed-over-peers\n"), "utf-8")
    for name in ("read", "known"):
        monkeypatch.setattr(words, name, getattr(words, name).__wrapped__)  # nothing is kept
    assert slips() == [
        f"{here}: summed-over-pairs, a mistake in score_std, has no words",
        f"{here}: summed-over-peers has words, and is no mistake of 04-scaling",
    ]
    own.write_text("## diagonal-only\n\n**Try** This.\n", "utf-8")
    [told] = slips()
    assert told.startswith(f"{own}: diagonal-only is not")


def test_shared_words_that_nothing_names_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(words, "CHECKS", tmp_path)
    (tmp_path / "mistakes.md").write_text("## no-scail\nWhy.\n\n**Try** This.\n", "utf-8")
    assert list(of_shared_words()) == [
        "src/attnlab/checks/mistakes.md: no-scail has words, and nothing names it"
    ]


def edited(path: Path, edit: Callable[[str], str]) -> None:
    path.write_text(edit(path.read_text(encoding="utf-8")), encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (f'begin(\\"{SOME}\\")', 'begin(\\"06-casual\\")', f"it begins 06-casual and not {SOME}"),
        (
            "# 06 · No",
            "# 06 · Not",
            "its heading is '06 · Not looking ahead', the lesson's '06",
        ),
        ("about 90, and", "about 70, and", f"its card says 70 minutes, {SOME} 90"),
        ('"causal_mask"', '"casual_mask"', "no solution cell has the grade_id causal_mask"),
        ('"causal_mask-check"', '"x-check"', "no check cell has the grade_id causal_mask-check"),
        ('"causal_mask-check"', '"x-check"', "the cell x-check is of no exercise that"),
        ('"points": 5', '"points": 4', "attention-check has 4 points, attention 5"),
    ],
)
def test_a_slip_in_a_notebook_is_told(copied: Path, old: str, new: str, told: str) -> None:
    path = copied / "notebooks" / SOME / f"{SOME}.ipynb"
    assert old in path.read_text(encoding="utf-8")
    edited(path, lambda text: text.replace(old, new))
    assert any(
        line.startswith(f"notebooks/{SOME}/{SOME}.ipynb: {told}") for line in slips(copied)
    ), slips(copied)


@pytest.mark.parametrize(("kind", "wrong"), [("right", False), ("wrong", True)])
def test_an_exercise_without_answers_is_told(kind: str, wrong: bool) -> None:
    kept = [
        answer
        for answer in all_answers()
        if (answer.exercise, bool(answer.slug)) != ("entropy", wrong)
    ]
    assert slips(answers=kept) == [
        f"tests/answers/scaling.py: entropy of 04-scaling has no {kind} answer"
    ]


def test_two_answers_of_one_name_are_told() -> None:
    first = all_answers()[0]
    assert slips(answers=[*all_answers(), first]) == [
        f"tests/answers/: two answers are called {first}"
    ]


def test_an_answer_to_nothing_is_told_and_not_what_follows_from_it() -> None:
    misspelt = [
        replace(answer, exercise="entropie") if answer.exercise == "entropy" else answer
        for answer in all_answers()
        if answer.exercise != "entropy" or answer.written
    ]
    strays = [answer for answer in misspelt if answer.exercise == "entropie"]
    assert strays
    assert slips(answers=misspelt) == [
        f"tests/answers/scaling.py: {stray} answers entropie, which 04-scaling has not"
        for stray in strays
    ]


# slugs that a person types ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "ask",
    [
        lessons.known,
        lessons.name_of,
        lessons.lesson,
        lessons.exercises_of,
        lessons.figures_of,
        answers.Lesson,
        bank,
        known,
    ],
)
def test_a_misspelt_slug_is_answered_with_the_right_one(ask: Callable[[str], object]) -> None:
    with pytest.raises((LookupError, Usage)) as caught:
        ask("06-casual-mask")
    assert re.match(
        r"There is no lesson '06-casual-mask'. Do you mean 06-causal-mask\?",
        str(caught.value.args[0]),
    )


def test_a_misspelt_slug_of_an_attack_is_answered_with_the_right_one(tmp_path: Path) -> None:
    path = tmp_path / "attack.py"
    path.write_text(
        '"""Tries.\n\nlesson: 06-casual-mask\nexpect: nothing\n"""\n\n# %% attention\n1\n'
    )
    with pytest.raises(Undeclared, match=r"no lesson '06-casual-mask'. Do you mean 06-causal-mask"):
        attacks.read(path)


def test_a_misspelt_slug_in_a_notebook_is_answered_with_the_right_one() -> None:
    said = "There is no lesson '06-casual-mask'. Do you mean 06-causal-mask?"
    assert begin("06-casual-mask").startswith(said)
    assert check(len, lesson="06-casual-mask").verdict.message.startswith(said)
