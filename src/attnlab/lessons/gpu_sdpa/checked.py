"""python -m attnlab.lessons.gpu_sdpa.checked: the kernel's errors, found without a GPU, and kept.

Triton's interpreter runs the kernel on a CPU. Its errors against float64 are compared with naive
attention's in the same precision, and what was found is written beside this file, for the lesson
to show: Triton itself need not be there then.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

from attnlab.bench.machine import versions

KEPT = Path(__file__).with_name("kernel_checked.json")
COMMAND = "python -m attnlab.lessons.gpu_sdpa.checked"
SIZES = ((1, 2, 64, 64, 64), (2, 1, 77, 101, 40))  # B, H, N, M, d: whole tiles, and none whole
TYPES = ("float32", "float16", "bfloat16")


def rows() -> Iterator[dict[str, Any]]:
    """For each dtype and size, the largest errors of the kernel and of naive attention."""
    os.environ["TRITON_INTERPRET"] = "1"  # read when Triton is imported
    from attnlab.lessons.gpu_sdpa.kernel import attention

    for dtype in TYPES:
        for b, h, n, m, d in SIZES:
            for causal in (False, True):
                torch.manual_seed(0)
                shapes = (b, h, n, d), (b, h, m, d), (b, h, m, d)
                q, k, v = (torch.randn(shape).to(getattr(torch, dtype)) for shape in shapes)
                exact = _naive(q.double(), k.double(), v.double(), causal)
                yield {
                    **{"dtype": dtype, "n": n, "m": m, "d": d, "causal": causal},
                    "kernel": _off(attention(q, k, v, causal), exact),
                    "naive": _off(_naive(q, k, v, causal), exact),
                }


def _naive(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if causal:
        future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(future, -torch.inf)
    return scores.softmax(-1) @ v


def _off(out: torch.Tensor, exact: torch.Tensor) -> float:
    return float((out.double() - exact).abs().max())


def main() -> None:
    found = {
        "how": "Triton's interpreter, on a CPU",
        "versions": versions(),
        "date": datetime.now(UTC).date().isoformat(),
        "command": COMMAND,
        "rows": list(rows()),
    }
    KEPT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"kept in {KEPT}")


if __name__ == "__main__":
    main()
