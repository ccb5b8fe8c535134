"""Each lesson opens with a picture that moves: short, whole on its sheet, and told in sentences."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from itertools import combinations
from typing import Any

import pytest

from attnlab.figures.live.film import LONGEST, Film
from attnlab.figures.live.parts import SMALL, WIDE
from attnlab.lessons import name_of, slugs
from tests.course import code_cells, grading, read, solution_path
from tests.figure_sources import SOURCES
from tests.test_figures import HOSTILE, made

WORDS = 22  # of a sentence on a frame: two lines
NARROW, HIGH = 0.48, 0.7  # of a letter, as shares of its size: no wider font is used
every_opening = pytest.mark.parametrize(
    "slug", [pytest.param(slug, marks=pytest.mark.lessons(slug)) for slug in slugs()]
)
Part = tuple[str, str, dict[str, float | str], str]
Box = tuple[float, float, float, float]


@cache
def opening_of(slug: str) -> Film:
    film: Film = import_module(f"attnlab.lessons.{name_of(slug)}.opening").opening()
    return film


def words_of(parts: list[Part]) -> dict[str, Box]:
    """Where the words of a frame that are seen are: left, top, right and bottom."""
    return {
        key: _box(look, text)
        for tag, key, look, text in parts
        if tag == "text" and text and float(look["opacity"]) > 0.1
    }


def _box(look: dict[str, float | str], text: str) -> Box:
    x, y, size = (float(look[name]) for name in ("x", "y", "font-size"))
    wide = NARROW * size * len(text)
    left = x - wide * {"start": 0, "middle": 0.5, "end": 1}[str(look["text-anchor"])]
    return left, y - HIGH * size, left + wide, y


@every_opening
def test_a_lesson_begins_with_its_film(slug: str) -> None:
    cells = code_cells(read(solution_path(slug)))[:2]
    assert [grading(cell).grade_id for cell in cells] == ["setup", "opening"]


@every_opening
def test_a_film_is_short_and_told_in_short_sentences(slug: str) -> None:
    state = opening_of(slug).state
    assert state["pace"] * (len(state["frames"]) - 1) <= LONGEST
    assert state["view"][3] <= 270
    told = [frame["told"] for frame in state["frames"]]
    assert [each for each in told if len(each.split()) > WORDS or not each.endswith(".")] == []


@every_opening
def test_its_words_can_be_read_lie_on_the_sheet_and_meet_no_other(slug: str) -> None:
    state = opening_of(slug).state
    wrong = []
    for n, frame in enumerate(state["frames"]):
        boxes = words_of(frame["parts"])
        wrong += [(n, key, "small") for key in _small(frame["parts"])]
        wrong += [(n, key, "out") for key in boxes if _is_out(boxes[key], state["view"][3])]
        pairs = combinations(boxes, 2)
        wrong += [(n, one, other) for one, other in pairs if _meet(boxes[one], boxes[other])]
    assert wrong == []


def _small(parts: list[Part]) -> list[str]:
    return [
        key for tag, key, look, _ in parts if tag == "text" and float(look["font-size"]) < SMALL
    ]


def _is_out(box: Box, high: float) -> bool:
    left, top, right, low = box
    return min(left, top) < 0 or right > WIDE or low > high


def _meet(one: Box, other: Box) -> bool:
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    return across > 1 and down > 1


@every_opening
def test_each_part_has_a_key_of_its_own_and_one_tag(slug: str) -> None:
    tags: dict[str, str] = {}
    for frame in opening_of(slug).state["frames"]:
        keys = [key for _, key, _, _ in frame["parts"]]
        assert len(keys) == len(set(keys))
        for tag, key, _, _ in frame["parts"]:
            assert tags.setdefault(key, tag) == tag, key


@pytest.mark.lessons("06-causal-mask")
def test_lesson_06s_model_writes_the_text_of_its_film_and_looks_no_word_ahead() -> None:
    import torch

    from attnlab import small
    from attnlab.lessons.causal_mask.opening import ASKS, SEED, VERB, WRITTEN

    rng, text = torch.Generator().manual_seed(SEED), [WRITTEN[0]]
    while len(text) < len(WRITTEN):
        shares = small.load()(small.numbered(text))[0, -1].softmax(dim=-1)
        text.append(small.words[int(shares.multinomial(1, generator=rng))])
    assert tuple(text) == WRITTEN
    row = small.weights(WRITTEN)[small.head("subject")[0]][small.head("subject")[1]][ASKS]
    assert row.argmax() == WRITTEN.index("dogs")
    assert row[VERB:].max() == 0


@pytest.mark.lessons("07-multi-head")
def test_lesson_07s_verb_flips_without_one_head_and_without_no_other() -> None:
    from attnlab import small
    from attnlab.lessons.multi_head.opening import LAYER, TEXT
    from attnlab.small import measure

    verbs, subject = measure.removal(small.load(), LAYER, TEXT), small.head("subject")[1]
    singular = {off: verbs(off)["runs"] > 0.5 for off in (None, 0, 1, 2, 3)}
    assert singular == {off: off != subject for off in singular}


@pytest.mark.lessons("09-position")
def test_lesson_09s_score_depends_on_the_distance_alone() -> None:
    from attnlab.lessons.position.opening import score

    for apart, expected in ((2, 1), (3, 0), (4, -1)):  # as in the lesson's table: 2 cos(30° n)
        assert [score(at, at + apart) for at in range(5)] == pytest.approx([expected] * 5)


@pytest.mark.lessons("05-pytorch")
def test_lesson_05s_slopes_are_those_that_autograd_finds() -> None:
    import torch

    from attnlab.lessons.pytorch.opening import SCORES, VALUES, answer, slopes

    scores = torch.tensor(SCORES, dtype=torch.float64, requires_grad=True)
    z = scores.softmax(dim=-1) @ torch.tensor(VALUES, dtype=torch.float64)
    z.backward()
    assert answer(SCORES) == pytest.approx(z.item())
    assert scores.grad is not None
    assert slopes(SCORES) == pytest.approx(scores.grad.tolist())
    assert slopes(SCORES) == pytest.approx([1, 0, -1])


@pytest.mark.lessons("08-cross-attention")
def test_lesson_08s_film_has_the_weights_of_the_lessons_matrices() -> None:
    import torch

    from attnlab.lessons.cross_attention.opening import ASKED, ASKS, weights

    cells = code_cells(read(solution_path("08-cross-attention")))
    [by_hand] = [each for each in cells if each.source.startswith("english = ")]
    names: dict[str, Any] = {"torch": torch}
    exec(by_hand.source, names)
    assert (list(ASKS), list(ASKED)) == (names["english"], names["german"])
    expected = (names["W_q"] @ names["W_k"].T / 2).softmax(dim=-1)  # words are one-hot, √d_k is 2
    torch.testing.assert_close(torch.tensor(weights()), expected)


def test_words_of_a_film_cannot_end_a_tag_of_its_still() -> None:
    source = SOURCES["Film"].replace("'dog'", repr(HOSTILE)).replace('"dog"', repr(HOSTILE))
    still = made(source).fallback()
    assert "&lt;script&gt;" in still
    assert "<script" not in still
