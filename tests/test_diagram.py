"""The diagram of the block: one geometry, and a part that is lit."""

from __future__ import annotations

import io

import matplotlib.image
import numpy as np
import pytest

from attnlab import figures
from attnlab.figures.diagram import ARROWS, BOXES, block


def pixels(png: bytes) -> np.ndarray:
    return np.asarray(matplotlib.image.imread(io.BytesIO(png), format="png"))[..., :3]


@pytest.mark.slow
@pytest.mark.parametrize("part", [*BOXES, *ARROWS])
def test_a_lit_part_looks_different_in_both_themes_and_moves_nothing(part: str) -> None:
    plain, lit = block(), block(part)
    for before, after in ((plain.png, lit.png), (plain.dark_png, lit.dark_png)):
        assert pixels(before).shape == pixels(after).shape
        changed = (pixels(before) != pixels(after)).any(axis=-1)
        assert 100 < changed.sum() < 0.1 * changed.size


def test_what_is_lit_is_said() -> None:
    assert block("X to W_k", "mask").alt.endswith("Lit: X to W_k, mask.")
    assert "Lit" not in block().alt


def test_lessons_reach_it_beside_their_own_figures() -> None:
    assert figures.block is block


def test_a_part_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(ValueError, match=r"no part 'W_x'; it has X, W_q, .* W_o, X to W_q, .* V$"):
        block("W_x")
