"""The line of lesson 04 that its reader writes is judged by what it gives; without it all runs."""

from __future__ import annotations

import numpy as np
import pytest

from attnlab.lessons.scaling.slope import UNWRITTEN, Slope, compared, trusted
from tests.claims import taught

here = taught("04-scaling")

RIGHT: dict[str, Slope] = {
    "as the formula": lambda K, J, g, factor: factor * K.T @ J @ g,
    "from the right": lambda K, J, g, factor: factor * (K.T @ (J @ g)),
    "a row": lambda K, J, g, factor: g @ J @ K * factor,
    "einsum": lambda K, J, g, factor: factor * np.einsum("mk,mj,j->k", K, J, g),
}
WRONG: dict[str, Slope] = {
    "no factor": lambda K, J, g, factor: K.T @ J @ g,
    "the factor twice": lambda K, J, g, factor: factor**2 * K.T @ J @ g,
    "no Jacobian": lambda K, J, g, factor: factor * K.T @ g,
    "uphill": lambda K, J, g, factor: -factor * K.T @ J @ g,
    "of the scores": lambda K, J, g, factor: factor * J @ g,
    "a sum": lambda K, J, g, factor: factor * (K.T @ J @ g).sum(keepdims=True),
}


@pytest.mark.parametrize("name", RIGHT)
def test_each_way_to_write_the_product_is_right_and_is_what_runs(name: str) -> None:
    assert compared(RIGHT[name]).startswith("slope_in_query: right.")
    assert trusted(RIGHT[name]) is RIGHT[name]


@pytest.mark.parametrize("name", WRONG)
def test_what_differs_from_nudging_is_told_and_does_not_run(name: str) -> None:
    assert compared(WRONG[name]).startswith("slope_in_query: not right yet. It gives")
    assert compared(trusted(WRONG[name])).startswith("slope_in_query: right.")


def test_what_is_handed_out_is_not_written_yet_and_the_experiment_runs() -> None:
    assert compared(here.slope_in_query) == UNWRITTEN
    desk = here.draw_desk()
    found, _ = here.learn(*desk, 1 / 8, step=3, steps=50)
    assert np.median(found[0]) < 0.1 < 0.9 < np.median(found[-1])
