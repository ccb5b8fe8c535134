"""What `import attnlab` costs, beside `import numpy` and `import torch`.

    python -m benchmarks.import_time

Each import runs in fresh interpreters, in turns, so that a busy machine slows all of them alike.
The time of an interpreter that imports nothing is taken off.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

RUNS = 9
STATEMENTS = {
    "nothing": "pass",
    "attnlab": "import attnlab",
    "attnlab's check": "from attnlab import check",
    "numpy": "import numpy",
    "torch": "import torch",
}


def seconds(statement: str) -> float:
    """Wall-clock time of a fresh interpreter that runs one statement."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return time.perf_counter() - started


def measure() -> dict[str, float]:
    """Median seconds of each import, without the interpreter's own start."""
    times: dict[str, list[float]] = {name: [] for name in STATEMENTS}
    for run in range(RUNS + 1):
        for name, statement in STATEMENTS.items():
            taken = seconds(statement)
            if run:  # the first round fills the file cache
                times[name].append(taken)
    medians = {name: statistics.median(values) for name, values in times.items()}
    start = medians.pop("nothing")
    return {name: max(median - start, 0.0) for name, median in medians.items()}


def main() -> None:
    measured = measure()
    print(f"{'import':<16} {'ms':>7}   of numpy's")
    for name, taken in measured.items():
        print(f"{name:<16} {taken * 1000:7.1f}   {taken / measured['numpy']:.2f}")


if __name__ == "__main__":
    main()
