"""Lesson 13 opens with one call in four kernels: as many operations in each, and not as many bytes.

They run beside each other, each with what it holds in memory behind it. Times and bytes are the
newest that are recorded beside the lesson, those of its longest text.
"""

from __future__ import annotations

from typing import Any

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, WIDE, Part, dot, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE
from attnlab.lessons.gpu_sdpa.kept import recorded

KERNELS = {"math": "math", "efficient": "efficient", "flash": "flash", "cudnn": "cuDNN"}
CALL = "F.scaled_dot_product_attention(q, k, v)"
WIDTH = 128  # of a head

HIGH = 262
START, FINISH = 226, 392
LANES = (112, 172, 208, 244)  # where they run
LARGEST, RUNNER = 32, 7  # radius of the most bytes, as an area; and of a runner


def opening() -> Film:
    """The film."""
    newest = recorded()[0]
    [run] = [each for each in newest["runs"] if each["d"] == WIDTH and not each["causal"]]
    n = max(row["n"] for row in run["rows"])
    rows = {row["name"]: row for row in run["rows"] if row["n"] == n}
    count = operations(n, run)
    alone = count / run["peak"]["flops"]
    ends = sorted((rows[kernel]["seconds"], kernel) for kernel in KERNELS)
    (first, _), *_, (third, _), (last, _) = ends
    between = [first / 3, 2 * first / 3, (ends[1][0] + third) / 2]
    between += [third + (last - third) * share for share in (0.25, 0.5, 0.75)]
    times = sorted([0.0, *between, *(seconds for seconds, _ in ends)])
    frames = [Frame(_parts(t, count, rows), _told(t, ends, n, alone, rows)) for t in times]
    device = " ".join(newest["device"].split()[:2])
    return Film(f"One call, four kernels, on an {device}", frames, HIGH)


def operations(n: int, run: dict[str, Any]) -> int:
    """Of both products, for all heads."""
    return 4 * n * n * int(run["d"]) * int(run["heads"])


def _told(
    now: float, ends: list[tuple[float, str]], n: int, alone: float, rows: dict[str, Any]
) -> str:
    if not now:
        held = "Blue is what each holds; three hold next to nothing."
        return f"{n:,} tokens, four kernels, the same operations. {held}"
    done = [kernel for seconds, kernel in ends if seconds <= now]
    if not done:
        return f"The operations alone take {_ms(alone)}, at the speed of large matrix products."
    kernel = done[-1]
    if len(done) == len(ends):
        times = rows[kernel]["bytes"] / rows[ends[0][1]]["bytes"]
        return f"Math is done: the same operations, and {times:.0f} times the bytes of cuDNN."
    if rows[kernel]["seconds"] == now:
        end = f"{_called(kernel)} is done after {_ms(now)}."
        return f"{end} It works in tiles and never holds all scores."
    slowest = ends[-1]
    return (
        f"{_called(slowest[1])} makes all scores, and holds {_size(rows[slowest[1]])}. "
        f"At an even pace it has done {now / slowest[0]:.0%}."
    )


def _parts(now: float, count: int, rows: dict[str, Any]) -> list[Part]:
    most = max(rows[kernel]["bytes"] for kernel in KERNELS)
    parts = [
        word("call", WIDE / 2, 22, CALL, size=SMALL),
        word("operations", 6, 52, f"{count / 1e9:,.0f} billion operations each", anchor="start"),
        word("now", WIDE - 6, 52, _ms(now), ORANGE, anchor="end", size=24, weight=600),
        line("finish", [(FINISH, 66), (FINISH, HIGH - 4)], GREY, 2, dashes="6 5"),
    ]
    for (kernel, name), y in zip(KERNELS.items(), LANES, strict=True):
        row = rows[kernel]
        x = START + (FINISH - START) * min(now / row["seconds"], 1)
        r = LARGEST * (row["bytes"] / most) ** 0.5
        parts += [
            line(f"lane {name}", [(START, y), (FINISH, y)], GREY, 1.5, 0.6),
            dot(f"holds {name}", x - RUNNER - r, y, r, BLUE, 0.6),
            dot(f"runs {name}", x, y, RUNNER, ORANGE),
            word(f"name {name}", 6, y + 6, name, INK, anchor="start", size=SMALL, weight=600),
            word(f"size {name}", 98, y + 6, _size(row), BLUE, anchor="start", size=SMALL),
        ]
        if row["seconds"] <= now:
            time = _ms(row["seconds"])
            parts.append(
                word(f"time {name}", WIDE - 6, y + 6, time, ORANGE, anchor="end", size=SMALL)
            )
    return parts


def _called(kernel: str) -> str:
    return KERNELS[kernel] if kernel == "cudnn" else KERNELS[kernel].capitalize()


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.2g} ms"


def _size(row: dict[str, Any]) -> str:
    return f"{row['bytes'] / 1e9:.2g} GB"
