"""What lesson 13 shows that others measured, or that was recorded, is consistent in itself."""

from __future__ import annotations

from datetime import date

import pytest

from attnlab import figures
from attnlab.bench.rows import Row, power
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
def test_everything_measured_by_others_says_where_on_what_and_when() -> None:
    speeds = PUBLISHED["speeds"]
    assert speeds["source"]
    assert speeds["device"]
    date.fromisoformat(speeds["date"])
    assert all(row["source"] for row in PUBLISHED["peaks"])


@pytest.mark.lessons("13-gpu-sdpa")
def test_own_speeds_are_shown_beside_published_ones_of_the_same_width(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = [
        {"device": "cuda", "causal": False, "heads": 1, "d": d, "dtype": "float16", "rows": [row]}
        for d, row in (
            (64, {"name": "flash", "n": 1024, "seconds": 1e-3}),
            (128, {"name": "triton", "n": 1024, "seconds": 1e-3}),
        )
    ]
    document = {"device": "a GPU", "date": "2026-01-01", "runs": runs}
    monkeypatch.setattr(figures.gpu_sdpa, "recorded", lambda: [document])
    shown = figures.gpu_sdpa.speeds().alt
    assert "Lesson 13's kernel" in shown
    assert "FlashAttention-2" not in shown


@pytest.mark.parametrize(
    ("seconds", "fitted"), [((1, 4.2, 16), "N^2.00"), ((1, 4, 90), ""), ((1, 2), "N^1.00")]
)
def test_a_power_of_n_is_told_where_one_fits(seconds: tuple[float, ...], fitted: str) -> None:
    rows = [Row("naive", 1024 * 2**n, each, 0.0, 1, "") for n, each in enumerate(seconds)]
    assert power(rows, "naive") == fitted
