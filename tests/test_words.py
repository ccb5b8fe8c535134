"""Cards speak their lesson's language: no word of a later stage, and none of rows to one list."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from attnlab.calling.call import Call, perform
from attnlab.calling.deadline import Deadline
from attnlab.checks.advice import GENERAL, spoken
from attnlab.checks.crashes import explain
from attnlab.checks.exercise import Exercise
from attnlab.lessons import exercises_of, slugs
from tests.test_crashes import CRASHED

EXERCISES = [exercise for slug in slugs() for exercise in exercises_of(slug).values()]
EARLY = [exercise for exercise in EXERCISES if exercise.stage != "torch"]
OF_TENSORS = re.compile(
    r"(?i:\b(py)?torch|tensor|\bautograd)|\bF\.|\bnn\.|\bdim=|keepdim\b|masked_fill|\.mT|unsqueeze"
    r"|\.(bool|float|long|detach|item|data)\b|`forward`|__init__|\bmul_|`view`"
)
OF_ARRAYS = re.compile(r"\bnp\.|NumPy|\.shape\b|\bdtype|swapaxes|keepdims|\barrays?\b")
# Said of what only a tensor, a module or a gradient can do: no other card has them.
OF_TORCH_ALONE = {
    *("wrong-device", "wrong-structure", "banned-call"),
    *("no-gradient", "changed-in-place", "no-way-back"),
}
TORCH_NAMES = {
    "TABLE",
    "torch",
    "T",
    "LAYER",
    "nn",
    "Uninitialised",
    "Unprepared",
    "NoForward",
    "Sized",
}
ARRAY_NAMES = {"np", "A", "B3"}


def said_of(exercise: Exercise) -> Iterator[str]:
    """Every text that an exercise's own declaration can bring onto a card."""
    for mistake in (*exercise.mistakes, *exercise.pairs):
        yield spoken(f"{mistake.reason} {mistake.remedy}", exercise.stage)
    for relation in exercise.relations:
        yield spoken(f"{relation.claim} {relation.reason} {relation.remedy}", exercise.stage)
    yield from (group.claim for group in exercise.groups)
    yield from (prop.claim for prop in exercise.properties)


def named(exercise: Exercise) -> str:
    return f"{exercise.lesson}-{exercise.name}"


@pytest.mark.parametrize("exercise", EARLY, ids=named)
def test_a_card_of_lists_or_arrays_has_no_word_of_tensors(exercise: Exercise) -> None:
    assert not [text for text in said_of(exercise) if OF_TENSORS.search(text)]


@pytest.mark.parametrize("exercise", EARLY, ids=named)
def test_a_card_of_lists_has_no_word_of_arrays(exercise: Exercise) -> None:
    if exercise.stage == "pure":
        assert not [text for text in said_of(exercise) if OF_ARRAYS.search(text)]


@pytest.mark.parametrize("name", ["softmax", "soft_lookup"])
def test_a_card_about_one_list_has_no_word_of_rows(name: str) -> None:
    of_rows = re.compile(r"each row|rows?'s own|every row|last axis|\brows\b")
    one_list = exercises_of("01-soft-lookup")[name]
    assert not [text for text in said_of(one_list) if of_rows.search(text)]


@pytest.mark.parametrize("stage", ["pure", "numpy"])
@pytest.mark.parametrize("slug", sorted(GENERAL.keys() - OF_TORCH_ALONE))
def test_general_advice_has_no_word_of_a_later_stage(slug: str, stage: str) -> None:
    said = spoken(" ".join(GENERAL[slug]), stage)
    assert not OF_TENSORS.search(said)
    if stage == "pure" and slug != "wrong-dtype":  # which no list has
        assert not OF_ARRAYS.search(said)


@pytest.mark.parametrize("name", CRASHED)
def test_what_is_said_of_a_crash_has_no_word_of_a_later_stage(name: str) -> None:
    crashing, _ = CRASHED[name]
    code = crashing.__code__ if hasattr(crashing, "__code__") else None
    names = {*code.co_names} if code else TORCH_NAMES
    raised = perform(crashing, Call(()), Deadline(8)).raised
    assert raised is not None
    found = explain(raised)
    if found is None or names & TORCH_NAMES:
        return
    stage = "numpy" if names & ARRAY_NAMES else "pure"
    said = spoken(" ".join(found), stage)
    own = re.compile("`.masked_fill` is no method|knows no `keepdim`")  # what the crash itself says
    assert not OF_TENSORS.search(own.sub("", said))


@pytest.mark.parametrize(
    ("stage", "said"), [("pure", "a list: lists"), ("numpy", "an array: lists"), ("torch", ": ts")]
)
def test_of_several_words_the_stages_own_is_said(stage: str, said: str) -> None:
    assert spoken("«a list|an array|»: «lists|ts»", stage) == said


@pytest.mark.parametrize("exercise", EXERCISES, ids=named)
@pytest.mark.parametrize("stage", ["pure", "numpy", "torch"])
def test_no_choice_is_left_open(exercise: Exercise, stage: str) -> None:
    texts = [f"{m.reason} {m.remedy}" for m in (*exercise.mistakes, *exercise.pairs)]
    assert not [text for text in texts if re.search("[«»]", spoken(text, stage))]
