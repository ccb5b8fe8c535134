"""`python -m autograder doctor`: how well this machine keeps learners' code in, tried for real."""

from __future__ import annotations

import importlib.metadata
import itertools
import json
import os
import platform
import socket
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from attnlab import checks
from autograder.sandbox.isolation import IsolationError, require_linux
from autograder.sandbox.limits import MIB, Limits
from autograder.sandbox.sandbox import Sandbox
from autograder.sandbox.stages import STAGES

HERE = Path(__file__).resolve().parent
CHECKS = Path(checks.__file__ or "").parent
PROBE: dict[str, str | Path] = {
    "autograder/__init__.py": os.devnull,
    "autograder/sandbox/__init__.py": os.devnull,
    "autograder/sandbox/child/__init__.py": os.devnull,
    "autograder/sandbox/child/serve.py": HERE / "sandbox" / "child" / "probe.py",
}
# What a learner would most like to read; each is readable to whoever runs this.
COVETED = (
    HERE.parent / "nbgrader_config.py",
    CHECKS / "pose.py",
    Path("/etc/passwd"),
)
ANSWER_SECONDS = 30.0
STOPS = (
    "fork, exec, network, every file but the libraries of its stage and its own /tmp, seeing or "
    "signalling any other process, using more than its memory, files and threads, outliving the "
    "grader"
)
UNFAIR = (
    "a child with many threads slows the others down: sudo sysctl kernel.sched_autogroup_enabled=1"
)
LETS = "use the processor until its time is up; attack the kernel through the system calls left"


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of a sandbox of one stage.

    Attributes:
        error: why it could not be made, '' if it could.
        reached: what a child got at, which it should not have.
        refused: what it did not get at.
        milliseconds: 'zygote' (to load the libraries), 'start' (to an answer), 'end'.
    """

    error: str = ""
    reached: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    milliseconds: tuple[tuple[str, float], ...] = ()


def main() -> int:
    """Print the report; 0 if this machine can grade."""
    try:
        require_linux()
    except IsolationError as error:
        print("\n".join([f"Isolation: none. {error}", "", *_versions()]))
        return 1
    trials = {stage: attempt(stage) for stage in STAGES}
    print("\n".join(_report(trials)))
    return 0 if not any(trial.error or trial.reached for trial in trials.values()) else 1


def attempt(stage: str) -> Trial:
    """Start a sandbox and let a child try to get out."""
    times = [time.perf_counter()]
    try:
        sandbox = Sandbox(stage, Limits(), adapter=PROBE)
    except IsolationError as error:
        return Trial(str(error))
    with sandbox:
        times.append(time.perf_counter())
        child = sandbox.start()
        child.channel.settimeout(ANSWER_SECONDS)
        child.channel.sendall(json.dumps([os.fspath(path) for path in COVETED]).encode())
        answer = child.channel.recv(1 << 16, socket.MSG_WAITALL)
        times.append(time.perf_counter())
        child.end()
        times.append(time.perf_counter())
    found = json.loads(answer)
    spans = [1000 * (after - before) for before, after in itertools.pairwise(times)]
    return Trial(
        "",
        tuple(what for what, error in found.items() if not error),
        tuple(what for what, error in found.items() if error),
        tuple(zip(("zygote", "start", "end"), spans, strict=True)),
    )


def _report(trials: dict[str, Trial]) -> Iterator[str]:
    lacking = dict.fromkeys(trial.error for trial in trials.values() if trial.error)
    if lacking:
        yield "Isolation: none; this machine cannot grade"
        yield from (f"  missing: {error}" for error in lacking)
    else:
        yield "Isolation: namespaces"
        yield f"  stops: {STOPS}"
        yield f"  still possible: {LETS}"
        if not _is_fair():
            yield f"  {UNFAIR}"
    yield ""
    yield "Tried from inside"
    for stage, trial in trials.items():
        if trial.error:
            continue
        took = ", ".join(f"{what} {ms:.0f} ms" for what, ms in trial.milliseconds)
        tried = len(trial.refused + trial.reached)
        yield f"  {stage}: {len(trial.refused)} of {tried} attempts refused; {took}"
        for what in trial.reached:
            yield f"    REACHED: {what}"
    refused = dict.fromkeys(what for trial in trials.values() for what in trial.refused)
    yield f"  refused: {', '.join(refused)}"
    yield ""
    yield from _limits()
    yield ""
    yield from _versions()


def _is_fair() -> bool:
    """Whether a child with many threads gets no more of the processors than another."""
    setting = Path("/proc/sys/kernel/sched_autogroup_enabled")
    return setting.exists() and setting.read_text().strip() == "1"


def _limits() -> Iterator[str]:
    yield "Limits of one submission"
    for name, value in asdict(Limits()).items():
        shown = f"{value // MIB} MiB" if name.endswith("bytes") and value >= MIB else f"{value:g}"
        yield f"  {name:20} {shown}"


def _versions() -> Iterator[str]:
    yield "Versions"
    yield f"  {'Python':20} {platform.python_version()}"
    for name in ("torch", "numpy", "nbgrader"):
        try:
            yield f"  {name:20} {importlib.metadata.version(name)}"
        except importlib.metadata.PackageNotFoundError:
            yield f"  {name:20} not installed: pip install {name}"
    yield f"  {'system':20} {platform.system()} {platform.release()} {platform.machine()}"
    yield f"  {'processors':20} {os.cpu_count()}"
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    yield f"  {'memory':20} {memory // MIB} MiB"
