"""What lesson 13 shows that others measured, or that was recorded, is consistent in itself."""

from __future__ import annotations

import json
from datetime import date

import pytest

from attnlab import figures
from attnlab.lessons.gpu_sdpa.checked import KEPT
from attnlab.lessons.gpu_sdpa.counting import TFLOPS

PUBLISHED = figures.gpu_sdpa.published()


@pytest.mark.lessons("13-gpu-sdpa")
@pytest.mark.parametrize("row", PUBLISHED["speeds"]["rows"], ids=str)
def test_published_times_and_speeds_agree(row: dict[str, float]) -> None:
    given = PUBLISHED["speeds"]
    shape = given["batch"], given["heads"], row["n"], given["d"]
    assert TFLOPS.oracle is not None
    speed = TFLOPS.oracle(row["milliseconds"] / 1000, *shape)
    assert speed == pytest.approx(row["tflops"], rel=1e-4)


@pytest.mark.lessons("13-gpu-sdpa")
def test_everything_published_says_where_and_speeds_say_when() -> None:
    assert PUBLISHED["speeds"]["source"]
    assert date.fromisoformat(PUBLISHED["speeds"]["date"])
    assert all(row["source"] for row in (*PUBLISHED["shares"], *PUBLISHED["peaks"]))


@pytest.mark.lessons("13-gpu-sdpa")
def test_own_speeds_are_shown_beside_published_ones_of_the_same_width(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = [
        {"device": "cuda", "causal": False, "heads": 1, "d": d, "rows": [row]}
        for d, row in (
            (64, {"name": "narrow", "n": 1024, "seconds": 1e-3}),
            (128, {"name": "wide", "n": 1024, "seconds": 1e-3}),
        )
    ]
    document = {"device": "a GPU", "date": "2026-01-01", "runs": runs}
    monkeypatch.setattr(figures.gpu_sdpa, "recorded", lambda: [document])
    shown = figures.gpu_sdpa.speeds().alt
    assert "wide" in shown
    assert "narrow" not in shown


@pytest.mark.lessons("13-gpu-sdpa")
def test_kernel_is_fair_by_what_was_recorded() -> None:
    rows = json.loads(KEPT.read_text(encoding="utf-8"))["rows"]
    assert rows
    assert all(row["kernel"] <= 2 * row["naive"] for row in rows)
