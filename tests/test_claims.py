"""What a lesson says stands in it word for word, and an experiment that could refute it does not.

Whatever a reader is to remember has to be such a claim: each sentence of a *take away*.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch

from attnlab.lessons import name_of
from tests.claims import (
    SEEDS,
    Claim,
    all_claims,
    nearest,
    plain,
    prose,
    sentences,
    take_away,
)
from tests.course import SLUGS, code_cells, fail_for, read, solution_path

CLAIMS = all_claims()
each_lesson = pytest.mark.parametrize("slug", SLUGS)


def runs(*, long: bool) -> list[Any]:
    """Each claim on each seed, or once if it draws nothing; the first of the seeds is not long."""
    return [
        pytest.param(claim, given, id="-".join([str(claim), *map(str, given)]))
        for claim in CLAIMS
        for given in ([(seed,) for seed in SEEDS] if claim.draws else [()])
        if (claim.long or given in [(seed,) for seed in SEEDS[1:]]) == long
        if not claim.gpu or torch.cuda.is_available()
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("claim", "given"), runs(long=False))
def test_what_could_refute_it_does_not(claim: Claim, given: tuple[int, ...]) -> None:
    claim.experiment(*given)


@pytest.mark.slow
@pytest.mark.prove
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("claim", "given"), runs(long=True))
def test_what_takes_long_to_refute_it_does_not(claim: Claim, given: tuple[int, ...]) -> None:
    claim.experiment(*given)


def missing(quote: str, slug: str) -> str:
    """What is wrong with a quotation, in both texts; '' if it stands in its lesson."""
    if plain(quote) in prose(slug):
        return ""
    near = nearest(plain(quote), slug)
    return f"{slug} does not say\n    {plain(quote)}\nThe nearest that it says is\n    {near}"


@each_lesson
def test_what_is_claimed_stands_in_the_lesson(slug: str) -> None:
    mine = [claim for claim in CLAIMS if claim.lesson == slug]
    assert all(claim.quotes for claim in mine)
    fail_for(text for claim in mine for quote in claim.quotes if (text := missing(quote, slug)))


def test_a_sentence_that_stands_no_more_is_told_with_what_stands_now() -> None:
    [first, *_] = take_away("04-scaling")
    words = first.split()
    words[2] = "zebra"
    told = missing(" ".join(words), "04-scaling")
    assert " ".join(words) in told
    assert first in told


@each_lesson
def test_every_sentence_of_a_take_away_is_a_claim(slug: str) -> None:
    remembered = take_away(slug)
    assert len(remembered) >= 3
    said = [plain(quote) for claim in CLAIMS if claim.lesson == slug for quote in claim.quotes]
    bare = [each for each in remembered if not any(each in quote for quote in said)]
    assert not bare, "\n".join([f"tests/claims/{name_of(slug)}.py quotes none of", *bare])


@each_lesson
def test_no_lesson_draws_by_a_seed_of_the_claims(slug: str) -> None:
    code = "\n".join(cell.source for cell in code_cells(read(solution_path(slug))))
    assert not [seed for seed in SEEDS if re.search(rf"\b{seed}\b", code)]


def test_claims_have_names_of_their_own() -> None:
    names = [str(claim) for claim in CLAIMS]
    assert sorted(set(names)) == sorted(names)


def test_links_and_references_are_no_words() -> None:
    assert plain("It is so\n([there](#A-(b)), [here](x.md#y)). See [a word](y.md).") == (
        "It is so. See a word."
    )
    assert sentences("One is 1.5 long. `f` is: *two*.") == ["One is 1.5 long.", "`f` is: *two*."]
