"""Runs a command and writes down which of its descendants are still there when it has ended.

    python -m tests.attacks.survivors FILE COMMAND …

On Linux a process can ask to become the parent of whatever its descendants leave behind, also of
what has moved into a session of its own.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import time
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
SECONDS = 5.0  # for what was killed to be gone


def children() -> list[str]:
    """Command lines of this process's living children."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                break
        except ChildProcessError:
            return []
    pids = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [f"{pid} {_command(pid)}" for pid in pids]


def _command(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").replace("\n", " ")
    except OSError:
        return "(gone)"


def main(file: str, *command: str) -> int:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    status = subprocess.run(command).returncode
    until = time.monotonic() + SECONDS
    while (left := children()) and time.monotonic() < until:
        time.sleep(0.05)
    Path(file).write_text("".join(f"{each}\n" for each in left))
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
