"""What a measurement was made on: its name, its versions, and how fast it can be at best."""

from __future__ import annotations

import platform
import shutil
import subprocess
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

import torch

from attnlab.one_run import one_thread, timed

# Rows and columns of the products: a short one first, as some types are very slow on some CPUs.
SQUARES = {"cpu": (128, 256, 512, 1024), "cuda": (1024, 4096, 8192)}
LONGEST = 0.5  # seconds that a product may be expected to take
COPIED = {"cpu": 2**27, "cuda": 2**30}  # bytes, more than caches hold


class Peak(NamedTuple):
    """The best that a device did here.

    Attributes:
        flops: a second, in one large matrix product.
        bandwidth: bytes a second read and written, in one large copy.
    """

    flops: float
    bandwidth: float


def peak(device: str, dtype: str) -> Peak:
    """Measure a device's own peak for a type of number; on the CPU, one core's."""
    kind: torch.dtype = getattr(torch, dtype)
    source = torch.ones(COPIED[device] // kind.itemsize, device=device, dtype=kind)
    target = torch.empty_like(source)
    flops = 0.0
    with one_thread():
        target.copy_(source)  # once before, as all that is timed
        copying = timed(lambda: target.copy_(source), device).median
        for n in SQUARES[device]:
            if flops and 2 * n**3 / flops > LONGEST:
                break
            square = torch.full((n, n), 1 / n, device=device, dtype=kind)
            out = square @ square
            product = timed(partial(torch.mm, square, square, out=out), device).median
            flops = max(flops, 2 * n**3 / product)
    return Peak(flops, 2 * source.nbytes / copying)


def name_of(device: str) -> str:
    """'NVIDIA H100 80GB HBM3', or a CPU's model."""
    if device == "cuda":
        return str(torch.cuda.get_device_name())
    known = Path("/proc/cpuinfo")
    lines = known.read_text(encoding="utf-8").splitlines() if known.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{next(iter(models), '') or platform.processor() or platform.machine()}, one core"


def driver(device: str) -> str:
    """The GPU driver's version; '' on the CPU, or where nothing tells."""
    command = shutil.which("nvidia-smi") if device == "cuda" else None
    if command is None:
        return ""
    asked = [command, "--query-gpu=driver_version", "--format=csv,noheader"]
    told = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    return next(iter(told.splitlines()), "")


def versions() -> dict[str, str]:
    """Of Python and of what computes."""
    found = {"python": platform.python_version()}
    for package in ("torch", "numpy", "triton"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found | ({"cuda": torch.version.cuda} if torch.version.cuda else {})
