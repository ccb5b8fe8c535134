"""Cards speak their lesson's language: no word of a later stage, and none of rows to one list."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from attnlab.checks.bank import bank
from attnlab.checks.crashes import explain
from attnlab.checks.exercise import PROMISES, Exercise, promises
from attnlab.checks.pose import cases_of
from attnlab.checks.words import CHECKS, Words, read, spoken, words
from attnlab.lessons import exercises_of, slugs
from tests.course import fail_for
from tests.exercises import EXERCISES, named
from tests.test_crashes import CRASHED, raised_by

SOLUTIONS = Path(__file__).parents[1] / "solutions"
EARLY = [exercise for exercise in EXERCISES if exercise.stage != "torch"]
OF_TENSORS = re.compile(
    r"(?i:\b(py)?torch|tensor|\bautograd)|\bF\.|\bnn\.|\bdim=|keepdim\b|masked_fill|\.mT|unsqueeze"
    r"|\.(bool|float|long|detach|item|data)\b|`forward`|__init__|\bmul_|`view`"
)
OF_ARRAYS = re.compile(r"\bnp\.|NumPy|\.shape\b|\bdtype|swapaxes|keepdims|\barrays?\b")
SHARED = read(CHECKS / "mistakes.md")
# What needs no formula: a check finds it in any exercise.
GENERAL = SHARED.keys() - {mistake.slug for each in EXERCISES for mistake in bank(each)}
# Said of what only a tensor, a module or a gradient can do: no other card has them.
OF_TORCH_ALONE = {
    *("wrong-device", "wrong-structure", "banned-call", "banned-backward"),
    *("no-gradient", "changed-in-place", "no-way-back"),
}
OF_MODULES_ALONE = {"only-in-training", "shared-by-modules", "wrong-structure"}
# Parts that a lesson may leave out, from 04 on.
PARTS = re.compile(r"[Ll]edger|\b(Recall|Predict|By hand|See it|Cost)\b")
# Words that a learner meets in this course, or not at all: one that is on a card stands in its
# lesson's notebook or in an earlier one. A word that a text needs is added here.
TECHNICAL = re.compile(
    r"""\b(
    Adam | argmax | argument | arrays? | attribute | autograd | average[sd]? | axis | axes | batch
    | bias(es)? | blocked | bool | broadcast(ed|s)? | bytes? | cache | causal | class | context
    | (non-)?contiguous | CPU | decodes? | default\sargument | device | diagonal | digits
    | docstring | dot\sproducts? | dropout | dtype | entropy | eval | evaluation | exponentials?
    | fast\spath | features? | float16 | float32 | float64 | flops? | future | global\svariable
    | GPU | gradients? | heads? | in\splace | inf | inference\smode | infinity | instance
    | jacobian | kernels? | keys? | layout | leading | linears? | logits? | loss | masks?
    | matrix | matrices | max_len | memory | meta | module | momentum | NaN | nats | norm
    | one-hot | optimizer | overflow(ed|s)? | padding | parameters? | permute[sd]? | positions?
    | prefill | projections? | prompt | PyTorch | query | queries | ragged | ReLU | reshaped?
    | residual | roofline | rotate[sd]? | scaled? | scores? | shape | sigmoid | signature
    | slice | slopes? | softmax | stages? | standard\sdeviation | stderr | stride[sd]?
    | temperature | tensors? | tiles? | tokens? | training | transposed? | triangle | values?
    | variance | vectors? | view | weights? | window
    )\b""",
    re.VERBOSE | re.IGNORECASE,
)
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
    for slug in {mistake.slug for mistake in bank(exercise)}:
        yield spoken(" ".join(words(slug, exercise.lesson)), exercise.stage)
    yield from (claim.text for claim in exercise.claims)


def shown_by(exercise: Exercise) -> Iterator[str]:
    """Every text that a card of an exercise can show, but for what came back and crashes.

    Of a reason, what is code is left out: it is to be typed, or found in the learner's own.
    """
    yield from (claim.text for claim in exercise.claims)
    yield from {case.note for seed in (20, 26) for case in cases_of(exercise, seed)}
    unheard = set() if exercise.builds else OF_MODULES_ALONE
    if exercise.stage != "torch":
        unheard |= OF_TORCH_ALONE
    if exercise.stage == "pure":
        unheard |= {"wrong-dtype"}  # which no list has
    reasons = [
        spoken(" ".join(words(s, exercise.lesson)), exercise.stage) for s in GENERAL - unheard
    ]
    for text in (*said_of(exercise), *reasons):
        yield re.sub("`[^`]*`", "", text)


@cache
def taught_by(lesson: str) -> set[str]:
    """The technical words of a lesson's notebook, and of those before it."""
    found: set[str] = set()
    for slug in slugs():
        text = (SOLUTIONS / slug / f"{slug}.py").read_text(encoding="utf-8")
        found |= {stem(each[0]) for each in TECHNICAL.finditer(text)}
        if slug == lesson:
            break
    return found


def stem(word: str) -> str:
    """A word in its first form, near enough to compare with others: 'matrices' is 'matrix'."""
    plain = " ".join(word.lower().split())
    irregular = {"axes": "axis", "matrices": "matrix", "queries": "query", "biases": "bias"}
    return irregular.get(plain) or re.sub("(?<=[^s])s$|(?<=w|t)ed$|d$", "", plain)


def test_a_card_of_lists_or_arrays_has_no_word_of_a_later_stage() -> None:
    fail_for(
        f"{named(exercise)}: {text}"
        for exercise in EARLY
        for text in said_of(exercise)
        if OF_TENSORS.search(text) or (exercise.stage == "pure" and OF_ARRAYS.search(text))
    )


@pytest.mark.slow
def test_a_card_has_no_word_that_its_lesson_has_not() -> None:
    fail_for(
        f"{named(exercise)}: {each[0]} in {text}"
        for exercise in EXERCISES
        for text in shown_by(exercise)
        for each in TECHNICAL.finditer(text)
        if stem(each[0]) not in taught_by(exercise.lesson)
    )


@pytest.mark.parametrize("name", ["is_fair", "benchmark", "roofline_seconds"])
def test_a_card_about_seconds_has_no_word_of_attention(name: str) -> None:
    of_attention = re.compile(r"softmax|attention\b|\bscores?\b|\bquer(y|ies)\b|\bheads\b")
    measuring = exercises_of("13-gpu-sdpa")[name]
    unheard = {slug for slug in SHARED if of_attention.search(" ".join(SHARED[slug]))}
    assert not [text for text in said_of(measuring) if of_attention.search(text)]
    assert not unheard & (GENERAL - {"banned-call", "banned-backward"})  # which these do not forbid
    assert not measuring.banned


@pytest.mark.parametrize(
    ("claims", "text"),
    [
        ({"large": 1.0}, "a"),
        ({"large_and_precision": 1.0}, "a, and b"),
        ({"large_and_precision_and_shapes": 1.0}, "a, b, and c"),
    ],
)
def test_several_promises_in_one_claim_are_one_sentence(
    monkeypatch: pytest.MonkeyPatch, claims: dict[str, float], text: str
) -> None:
    for name, said in (("large", "a"), ("precision", "b"), ("shapes", "c")):
        monkeypatch.setitem(PROMISES, name, said)
    assert promises("core", 1.0, **claims)[-1].text == text


@pytest.mark.parametrize("name", ["softmax", "soft_lookup"])
def test_a_card_about_one_list_has_no_word_of_rows(name: str) -> None:
    of_rows = re.compile(r"each row|rows?'s own|every row|last axis|\brows\b")
    one_list = exercises_of("01-soft-lookup")[name]
    assert not [text for text in said_of(one_list) if of_rows.search(text)]


@pytest.mark.parametrize("stage", ["pure", "numpy"])
def test_general_advice_has_no_word_of_a_later_stage(stage: str) -> None:
    said = {slug: spoken(" ".join(SHARED[slug]), stage) for slug in GENERAL - OF_TORCH_ALONE}
    assert not [slug for slug, text in said.items() if OF_TENSORS.search(text)]
    if stage == "pure":
        of_arrays = {slug for slug, text in said.items() if OF_ARRAYS.search(text)}
        assert of_arrays <= {"wrong-dtype"}  # which no list has


def test_advice_that_lessons_share_names_no_part_that_one_may_lack() -> None:
    shared = SHARED | read(CHECKS / "crashes.md")
    assert not [slug for slug, said in shared.items() if PARTS.search(" ".join(said))]


def test_what_is_said_of_a_crash_has_no_word_of_a_later_stage() -> None:
    own = re.compile("`.masked_fill` is no method|knows no `keepdim`")  # what the crash itself says
    early = 0
    for name, (crashing, _) in CRASHED.items():
        code = getattr(crashing, "__code__", None)
        names = {*code.co_names} if code else TORCH_NAMES
        if not names & TORCH_NAMES and (found := explain(raised_by(name))):
            said = spoken(" ".join(found), "numpy" if names & ARRAY_NAMES else "pure")
            assert not OF_TENSORS.search(own.sub("", said)), name
            early += 1
    assert early > 50


@pytest.mark.parametrize(
    ("stage", "said"), [("pure", "a list: lists"), ("numpy", "an array: lists"), ("torch", ": ts")]
)
def test_of_several_words_the_stages_own_is_said(stage: str, said: str) -> None:
    assert spoken("«a list|an array|»: «lists|ts»", stage) == said


def test_no_choice_is_left_open() -> None:
    said = {
        " ".join(words(mistake.slug, exercise.lesson))
        for exercise in EXERCISES
        for mistake in bank(exercise)
    }
    stages = ("pure", "numpy", "torch")
    assert not [text for text in said for at in stages if re.search("[«»]", spoken(text, at))]


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_title_and_an_introduction_come_before_the_first_section(tmp_path: Path) -> None:
    text = "# Title\n\nOf everything.\n\n## no-scale\nWhy.\n\n**Try** This.\n"
    found = read(written(tmp_path / "mistakes.md", text))
    assert found == {"no-scale": Words("Why.", "This.")}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("## no-scale\nWhy.\n", "no-scale is not"),
        ("## no-scale\nWhy.\n## other\nWhy.\n\n**Try** This.\n", "no-scale is not"),
        ("## no-scale\nWhy.\nAnd why.\n\n**Try** This.\n", "no-scale is not"),
        ("## no-scale\nWhy.\n\n**Try** This.\n\n" * 2, "no-scale stands there twice"),
    ],
    ids=["no Try", "no Try before another", "two lines", "twice"],
)
def test_what_is_wrong_with_a_file_of_words_is_told(tmp_path: Path, text: str, told: str) -> None:
    path = written(tmp_path / "mistakes.md", text)
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}: {told}"):
        read(path)


def test_a_lessons_own_words_come_before_the_shared_ones() -> None:
    own = words("mask-inverted", "06-causal-mask")
    assert own != words("mask-inverted", "05-pytorch") == SHARED["mask-inverted"]


def test_a_mistake_without_words_names_both_files() -> None:
    with pytest.raises(LookupError, match=r"no-such-thing.*causal_mask/mistakes\.md.*checks"):
        words("no-such-thing", "06-causal-mask")
