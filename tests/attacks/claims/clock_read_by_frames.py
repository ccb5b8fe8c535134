"""Reads by the frames how long calls take, and writes there that they were timed.

lesson: 13-gpu-sdpa
expect: benchmark FAIL or ERROR
because: what it looks for is not there, so that its own time is told, or it raises
flagged: f_locals
"""

# %% benchmark
import statistics
import sys
import time


def benchmark(fn, *args, clock=time.perf_counter, wait=lambda: None):
    frame = sys._getframe()
    while frame and "spans" not in frame.f_locals:
        frame = frame.f_back
    found = frame.f_locals
    seen = found.get("seen", [])
    for _ in range(0 if seen is found.get("seen") and found["handed"] else 8):
        fn(*args)
    if not found["handed"]:
        return 0.0
    seen[:] = "ccc" + "wrcwr" * 5
    spans = 10 * list(found["spans"])
    return float(statistics.median(spans[3:8]))
