"""Finds behind the made clock how long calls take, and notes there that they were timed.

lesson: 13-gpu-sdpa
expect: benchmark FAIL or ERROR
because: what is noted there cannot be changed, so that its own time is told, or it raises
flagged: cell_contents
"""

# %% benchmark
import statistics
import time


def within(function):
    names = getattr(function, "__code__", None)
    cells = zip(names.co_freevars, function.__closure__ or ()) if names else ()
    return {name: cell.cell_contents for name, cell in cells}


def benchmark(fn, *args, clock=time.perf_counter, wait=lambda: None):
    found = within(clock)
    while "note" in found or "machine" in found:
        inside = found.get("note") or found["machine"]
        found = inside.gi_frame.f_locals if hasattr(inside, "gi_frame") else within(inside)
    if "seen" not in found:
        for _ in range(8):
            fn(*args)
        return 0.0
    spans = [next(found["each"]) for _ in range(61)]
    if isinstance(found["seen"], list):
        found["seen"][:] = "ccc" + "wrcwr" * 5
    else:
        found["seen"] = b"ccc" + b"wrcwr" * 5
    return float(statistics.median(spans[3:8]))
