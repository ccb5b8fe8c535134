"""What lesson 12 shows that others measured, or that was recorded, is consistent in itself."""

from __future__ import annotations

import json

import pytest

from attnlab import figures
from attnlab.lessons.gpu_sdpa.checked import KEPT
from attnlab.lessons.gpu_sdpa.counting import TFLOPS

PUBLISHED = figures.gpu_sdpa.published()


@pytest.mark.lessons("12-gpu-sdpa")
@pytest.mark.parametrize("row", PUBLISHED["speeds"]["rows"], ids=str)
def test_published_times_and_speeds_agree(row: dict[str, float]) -> None:
    given = PUBLISHED["speeds"]
    shape = given["batch"], given["heads"], row["n"], given["d"]
    speed = TFLOPS.oracle(row["milliseconds"] / 1000, *shape)
    assert speed == pytest.approx(row["tflops"], rel=1e-4)


@pytest.mark.lessons("12-gpu-sdpa")
def test_everything_published_says_where() -> None:
    assert PUBLISHED["speeds"]["source"]
    assert all(row["source"] for row in (*PUBLISHED["shares"], *PUBLISHED["peaks"]))


@pytest.mark.lessons("12-gpu-sdpa")
def test_kernel_is_fair_by_what_was_recorded() -> None:
    rows = json.loads(KEPT.read_text(encoding="utf-8"))["rows"]
    assert rows
    assert all(row["kernel"] <= 2 * row["naive"] for row in rows)
