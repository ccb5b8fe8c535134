"""What lesson 13 shows of what was recorded on a GPU."""

from __future__ import annotations

import re

import pytest

from attnlab import figures
from attnlab.bench.rows import Row, power


@pytest.mark.lessons("13-gpu-sdpa")
def test_speeds_of_one_width_are_shown_with_the_peak_of_their_gpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = [
        {"device": "cuda", "causal": False, "heads": 1, "d": d, "dtype": "float16", "rows": [row]}
        for d, row in (
            (64, {"name": "flash", "n": 1024, "seconds": 1e-3}),
            (128, {"name": "triton", "n": 1024, "seconds": 1e-3}),
        )
    ]
    document = {"device": "NVIDIA H100 80GB", "date": "2026-01-01", "runs": runs}
    monkeypatch.setattr(figures.gpu_sdpa, "recorded", lambda: [document])
    shown = figures.gpu_sdpa.speeds().alt
    assert "Lesson 13's kernel" in shown
    assert "FlashAttention-2" not in shown


@pytest.mark.lessons("13-gpu-sdpa")
@pytest.mark.parametrize(
    ("speeds", "said"),
    [
        ((50, 95, 200), "Lesson 13's kernel clearly beats FlashAttention-2 from 4,096 tokens"),
        ((50, 120, 200), "Lesson 13's kernel clearly beats FlashAttention-2 from 2,048 tokens"),
        ((50, 80, 105), "How fast attention is"),
    ],
)
def test_the_lessons_kernel_is_ahead_from_where_it_is_clearly_faster(
    speeds: tuple[int, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {name: [(1024 * 2**n, 100) for n in range(3)] for name in figures.gpu_sdpa.OWN.values()}
    own["Lesson 13's kernel"] = [(1024 * 2**n, each) for n, each in enumerate(speeds)]
    monkeypatch.setattr(figures.gpu_sdpa, "_own", lambda: ("a GPU", own))
    drawn = figures.gpu_sdpa.speeds()
    assert drawn.title == f"{said}\na GPU."
    first = said.partition(" from ")[2].partition(" ")[0]
    ticks = re.findall(r">(\d,\d{3})<", drawn.rows[0][0][0].svg)
    assert first in ticks or not first


@pytest.mark.parametrize(
    ("seconds", "fitted"), [((1, 4.2, 16), "N^2.00"), ((1, 4, 90), ""), ((1, 2), "N^1.00")]
)
def test_a_power_of_n_is_told_where_one_fits(seconds: tuple[float, ...], fitted: str) -> None:
    rows = [Row("naive", 1024 * 2**n, each, 0.0, 1, "") for n, each in enumerate(seconds)]
    assert power(rows, "naive") == fitted
