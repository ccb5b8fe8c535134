"""The diagram of the block: one geometry, and a part that is lit."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from attnlab import figures
from attnlab.figures.diagram import AROUND, BEHIND, BOXES, TABLES, block, draw
from attnlab.figures.picture import STYLE

SOLUTIONS = Path(__file__).parents[1] / "solutions"
CALL = re.compile(r"^figures\.block\((.*)\)$", re.MULTILINE)
# Of each lesson that shows the diagram: what it lights.
LESSONS = {
    path.stem: tuple(re.findall(r'"(.*?)"', call[1]))
    for path in sorted(SOLUTIONS.glob("*/*.py"))
    if (call := CALL.search(path.read_text("utf-8")))
}
PHONE = 390 - 2 * 12  # what a page leaves of a phone's width


def pixels(figure: Figure) -> np.ndarray:
    figure.set_dpi(60)
    with mpl.rc_context(STYLE):
        figure.draw_without_rendering()
        figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[..., :3]  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def plain() -> np.ndarray:
    return pixels(draw(()))


@pytest.mark.parametrize("part", [*TABLES, *BOXES, *AROUND])
def test_a_lit_part_looks_different_where_all_else_stays_in_its_place(
    part: str, plain: np.ndarray
) -> None:
    lit = pixels(draw((part,)))
    assert (len(lit) > len(plain)) == (part in AROUND), "frames alone need more room, above"
    lit = lit[-len(plain) :]
    assert lit.shape == plain.shape
    changed = (lit != plain).any(axis=-1)
    assert 30 < changed.sum() < 0.45 * changed.size


@pytest.fixture(scope="module")
def figures_shown() -> dict[str, Figure]:
    return {lesson: draw(lit) for lesson, lit in LESSONS.items()}


def test_nothing_meets_the_words_in_any_lesson_and_a_phone_shows_them_large_enough(
    figures_shown: dict[str, Figure],
) -> None:
    """No edge of a box, no arrow and no other words: a panel is as wide as the page."""
    assert len(figures_shown) == 11
    for lesson, figure in figures_shown.items():
        with mpl.rc_context(STYLE):
            figure.draw_without_rendering()
        for place in figure.axes:
            words = [(text.get_text(), text.get_window_extent()) for text in place.texts]
            seen = [part for part in place.patches if part.get_gid() != BEHIND]
            drawn = [part.get_transform().transform_path(part.get_path()) for part in seen]
            for label, extent in words:
                crossed = [path for path in drawn if path.intersects_bbox(extent, filled=False)]
                assert not crossed, (lesson, label)
            for (one, extent), (other, beside) in combinations(words, 2):
                assert not extent.overlaps(beside), (lesson, one, other)
            smallest = min(float(text.get_fontsize()) for text in place.texts)
            panel = place.get_position().width * figure.get_figwidth()  # of the phone's width
            assert smallest * PHONE / (72 * panel) >= 13, lesson


def test_what_comes_out_is_named_in_each_lesson(figures_shown: dict[str, Figure]) -> None:
    for lesson, figure in figures_shown.items():
        labels = [text.get_text() for text in figure.axes[1].texts]
        assert labels.count("output (N, d)") == 1, lesson


def test_only_in_cross_attention_do_keys_come_from_elsewhere(
    figures_shown: dict[str, Figure],
) -> None:
    for lesson, figure in figures_shown.items():
        labels = {text.get_text() for text in figure.axes[0].texts}
        is_cross = lesson == "08-cross-attention"
        assert {"X", "(N, d)"} <= labels
        assert ({"context", "(M, d)"} <= labels) == is_cross == ("M = N" not in labels)


def test_what_is_lit_is_said_and_lit_in_the_dark() -> None:
    lit, plain = block("Q", "W_o", "mask"), block()
    assert lit.title == "This lesson: the queries, W_o and the mask"
    assert lit.alt.endswith("Lit: the queries, W_o and the mask.")
    assert "Lit" not in plain.alt
    assert "This lesson" not in plain.title
    assert block("mask").title == "This lesson: the mask, which sets scores to −∞"
    assert lit.rows[0][1] != plain.rows[0][1]


def test_lessons_reach_it_beside_their_own_figures() -> None:
    assert figures.block is block


def test_a_part_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(
        ValueError, match=r"no part 'W_x'; it has X, context, Q, K, V, W_q, .* W_o, table, heads$"
    ):
        block("W_x")
