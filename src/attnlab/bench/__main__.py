"""python -m attnlab.bench: ways of computing attention side by side, from lists to the GPU.

    python -m attnlab.bench                              what there is for the CPU, in two minutes
    python -m attnlab.bench --device cuda --d 64 128     every backend and the kernel, on a GPU
    python -m attnlab.bench --tiled work/11-cost/11-cost.ipynb --plot mine.html

Everything on the CPU runs on one core. A way starts no length that would take it past its budget,
and its row says so.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnlab.figures.live.counts import GIB
from attnlab.ipynb.files import NotWritten, write_whole

if TYPE_CHECKING:
    from attnlab.bench.report import Run
    from attnlab.bench.rows import Way

DEFAULTS: dict[str, dict[str, Any]] = {
    "cpu": {"lengths": [2**n for n in range(6, 14)], "d": [64], "heads": 1, "dtype": ["float32"]},
    "cuda": {
        "lengths": [2**n for n in range(9, 15)],
        "d": [128],
        "heads": 16,
        "dtype": ["float16"],
    },
}


def parser() -> argparse.ArgumentParser:
    words = argparse.ArgumentParser(
        prog="python -m attnlab.bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = words.add_argument
    add("--device", default="cpu", help="cpu or cuda; default cpu")
    add("--only", nargs="+", metavar="WAY", help="these ways alone; default: all of the device")
    add(
        "--lengths",
        nargs="+",
        type=int,
        metavar="N",
        help="tokens; default 64 to 8192 (512 to 16384 on cuda)",
    )
    add("--d", nargs="+", type=int, help="width of a head; default 64 (128)")
    add("--heads", type=int, help="heads; default 1 (16)")
    add(
        "--dtype",
        nargs="+",
        help="float64, float32, bfloat16 or float16; default float32 (float16)",
    )
    add("--causal", choices=["no", "yes", "both"], default="no", help="default no")
    add("--seconds", type=float, default=20, help="for each way, all its lengths; default 20")
    add("--memory", type=float, help="GiB for a run; default 2 (most of a GPU's)")
    add(
        "--tiled",
        type=Path,
        metavar="FILE",
        help="a notebook or .py with a tiled_attention of your own, which is run",
    )
    add("--json", type=Path, metavar="FILE", help="write what was measured")
    add("--plot", type=Path, metavar="FILE.html", help="draw it")
    add("--record", action="store_true", help="keep it in the package, for lesson 13")
    return words


def main() -> None:
    words = parser()
    asked = words.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"  # before NumPy is imported, which reads them once
    if asked.device not in DEFAULTS:
        words.error(f"the device is {asked.device!r}; it has to be cpu or cuda")
    for name, value in DEFAULTS[asked.device].items():
        if getattr(asked, name) is None:
            setattr(asked, name, value)
    if asked.plot and asked.plot.suffix != ".html":
        words.error(f"--plot draws a page, FILE.html, and the file is {asked.plot.name}")
    from attnlab.bench import report

    try:
        runs = _measured(asked)
    except ValueError as error:
        words.error(str(error))
    command = f"python -m attnlab.bench {shlex.join(sys.argv[1:])}".rstrip()
    found = report.document(runs, command)
    try:
        if asked.json:
            write_whole(asked.json, report.as_json(found))
        if asked.record:
            print(f"kept in {report.record(found)}")
        if asked.plot:
            _draw(asked.plot, runs)
    except NotWritten as why:
        words.exit(1, f"{why}\n")


def _measured(asked: argparse.Namespace) -> list[Run]:
    """Measure and print one comparison after the other.

    Raises:
        ValueError: something that was asked for cannot be.
    """
    from attnlab.bench import machine, report
    from attnlab.bench.rows import check, measure

    runs = []
    for d in asked.d:  # before the first is measured
        for dtype in asked.dtype:
            check(asked.lengths, d, asked.heads, dtype, asked.device)
            if d % 8 and asked.device == "cuda":
                print(f"d = {d} is no multiple of 8: some of PyTorch's kernels pad it or refuse it")
    chosen = {causal: _ways(causal, asked) for causal in CAUSAL[asked.causal]}
    for d in asked.d:
        for dtype in asked.dtype:
            for causal, ways in chosen.items():
                peak = machine.peak(asked.device, dtype)
                rows = measure(
                    ways,
                    asked.lengths,
                    d=d,
                    heads=asked.heads,
                    dtype=dtype,
                    device=asked.device,
                    seconds=asked.seconds,
                    memory=_memory(asked),
                )
                runs.append(report.Run(d, asked.heads, dtype, causal, asked.device, peak, rows))
                print(report.table(runs[-1]), end="\n\n", flush=True)
    return runs


CAUSAL = {"no": [False], "yes": [True], "both": [False, True]}


def _ways(causal: bool, asked: argparse.Namespace) -> dict[str, Way]:
    """What is to be compared.

    Raises:
        ValueError: there is no such way.
    """
    from attnlab.bench.tiled import Missing, tiled
    from attnlab.bench.ways import NAMES, ON_CPU, ON_GPU, ways

    names = asked.only or (ON_GPU if asked.device == "cuda" else ON_CPU)
    if unknown := [name for name in names if name not in NAMES]:
        raise ValueError(f"there is no way {unknown[0]!r}; there are {', '.join(NAMES)}")
    try:
        own = tiled(asked.tiled) if "tiled" in names else None
    except Missing as none:
        if asked.tiled:
            raise ValueError(str(none)) from None
        print(f"Without tiles: {none}.\n")
        own = None
    found = ways(causal, asked.device, own)
    return {name: found[name] for name in names if name in found}


def _memory(asked: argparse.Namespace) -> float:
    """Bytes that a run may take."""
    import torch

    if asked.memory is not None:
        return float(asked.memory * GIB)
    if asked.device == "cpu":
        return 2.0 * GIB
    torch.cuda.empty_cache()  # what PyTorch keeps of the comparison before is free, too
    return 0.8 * torch.cuda.mem_get_info()[0]


def _draw(path: Path, runs: list[Run]) -> None:
    """A page with a picture of each comparison."""
    from attnlab.bench import plot

    page = "<!doctype html><meta charset=utf-8><body style='font-family:sans-serif'>"
    for run in runs:
        title = f"d = {run.d}, {run.dtype}{', causal' if run.causal else ''}"
        page += plot(run.rows, title)._repr_mimebundle_()["text/html"]
    write_whole(path, page.encode())


if __name__ == "__main__":
    main()
