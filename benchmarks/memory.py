"""Memory of a command and of all processes that it starts, sampled while it runs."""

from __future__ import annotations

import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

EVERY = 0.25  # seconds
KIB, MIB = 1024, 1024 * 1024
PROC = Path("/proc")
CHILD_DEPTH = 5  # below the command


@dataclass(slots=True)
class Peaks:
    """The most that was seen at one time, in bytes.

    Attributes:
        total: all processes together, pages that they share counted once.
        by_role: the same for 'main', 'workers', 'zygotes' and 'children'.
        main: of the main process alone, what is in its memory (RSS).
    """

    total: int = 0
    main: int = 0
    by_role: Counter[str] = field(default_factory=Counter)

    def add(self, found: Counter[str], main: int) -> None:
        self.total = max(self.total, found.total())
        self.main = max(self.main, main)
        for role, size in found.items():
            self.by_role[role] = max(self.by_role[role], size)


class Watch:
    """Samples a process and its descendants until it is left. On Linux alone."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.peaks = Peaks()
        self._process = process
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._sample)

    def __enter__(self) -> Peaks:
        self._thread.start()
        return self.peaks

    def __exit__(self, *_: object) -> None:
        self._left.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._left.wait(EVERY):
            found: Counter[str] = Counter()
            main = 0
            for pid, role in _family(self._process.pid):
                resident, proportional = _sizes(pid)
                found[role] += proportional
                main = max(main, resident) if role == "main" else main
            self.peaks.add(found, main)


def _children() -> dict[int, list[int]]:
    """The children of every process."""
    found: dict[int, list[int]] = {}
    for entry in PROC.iterdir() if PROC.exists() else ():
        if entry.name.isdigit():
            found.setdefault(_parent(entry), []).append(int(entry.name))
    return found


def _family(pid: int) -> Iterator[tuple[int, str]]:
    """A process and its descendants, each with its role."""
    children = _children()
    todo = [(pid, 0)]
    while todo:
        one, depth = todo.pop()
        yield one, _role(one, depth)
        todo += [(child, depth + 1) for child in children.get(one, ())]


def _role(pid: int, depth: int) -> str:
    """What a process is for; a worker is a fork of a server, which counts as one."""
    if depth == 0:
        return "main"
    if depth >= CHILD_DEPTH:
        return "children"
    try:
        command = (PROC / str(pid) / "cmdline").read_bytes()
    except OSError:  # it has ended
        command = b""
    return "zygotes" if b"zygote.py" in command else "workers"


def _parent(entry: Path) -> int:
    try:
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:  # it has ended
        return 0


def _sizes(pid: int) -> tuple[int, int]:
    """Resident and proportional size, 0 where the process has ended."""
    try:
        lines = (PROC / str(pid) / "smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return 0, 0
    kib = {line.partition(":")[0]: int(line.split()[1]) for line in lines}
    return kib.get("Rss", 0) * KIB, kib.get("Pss", 0) * KIB
