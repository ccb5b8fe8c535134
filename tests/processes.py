"""Which processes there are, from /proc."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

SECONDS = 60


def parents() -> dict[int, int]:
    """The parent of each process that has not ended."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            after_name = (folder / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if after_name[0] != "Z":
            found[int(folder.name)] = int(after_name[1])
    return found


def children(pid: int) -> list[int]:
    """The processes that one has started."""
    return [each for each, parent in parents().items() if parent == pid]


def descendants(ancestor: int) -> list[int]:
    """All processes below one."""
    its_parent = parents()
    found, todo = [], [ancestor]
    while todo:
        parent = todo.pop()
        below = [pid for pid, its in its_parent.items() if its == parent]
        found += below
        todo += below
    return sorted(found)


def wait_until_gone(pids: Iterable[int]) -> list[int]:
    """Those of some processes that are still there after a while."""
    end = time.monotonic() + SECONDS
    left = list(pids)
    while left and time.monotonic() < end:
        left = [pid for pid in left if pid in parents()]
        time.sleep(0.01)
    return left
