"""What it takes of a machine to keep a child in, and what to do where that is missing."""

from __future__ import annotations

import errno
import os
import platform
import sys
from pathlib import Path


class IsolationError(Exception):
    """Learners' code cannot be kept in here. The message says what is missing and what to do."""


ELSEWHERE = (
    "Learners' code can only be kept in on Linux. Grade in a Linux container (docker run --rm -it "
    '--security-opt seccomp=unconfined -v "$PWD":/course -w /course python:3.12 bash) or, on '
    "Windows, in WSL2 (wsl --install)."
)
SETTINGS = (
    # File, the value that forbids user namespaces, how to permit them.
    (
        "/proc/sys/kernel/unprivileged_userns_clone",
        "0",
        "sudo sysctl kernel.unprivileged_userns_clone=1",
    ),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    ("/proc/sys/user/max_user_namespaces", "0", "sudo sysctl user.max_user_namespaces=10000"),
)


IN_CONTAINERS = ("/.dockerenv", "/run/.containerenv")
STATUS, PROFILE = Path("/proc/self/status"), Path("/proc/self/attr/current")


def require_linux() -> None:
    """
    Raises:
        IsolationError: this is another system, or a processor we have no table of calls for.
    """
    if sys.platform != "linux":
        raise IsolationError(ELSEWHERE)
    if platform.machine() not in ("x86_64", "aarch64") or sys.maxsize < 2**32:
        raise IsolationError(
            f"The filter of system calls is written for 64-bit x86 and ARM, and this Python runs "
            f"on {platform.machine()}. Grade on one of those."
        )


def advice(error: str) -> str:
    """What to do when namespaces fail with an error, in one line."""
    if any(map(os.path.exists, IN_CONTAINERS)):
        if "Seccomp:\t2" in _said(STATUS):
            return (
                "This container's seccomp profile forbids it, as Docker's own does. Start it with "
                "--security-opt seccomp=unconfined"
            )
        if "enforce" in _said(PROFILE):
            return (
                "This container's AppArmor profile forbids it. Start it with "
                "--security-opt apparmor=unconfined"
            )
    for file, forbidding, command in SETTINGS:
        if os.geteuid() == 0 and "unprivileged" in file:
            continue  # does not hold for root
        path = Path(file)
        if path.exists() and path.read_text().strip() == forbidding:
            return f"{file} is {forbidding}. To permit it: {command}"
    if os.strerror(errno.ENOSYS) in error:
        return f"Linux 5.12 or newer is needed, and this is {platform.release()}"
    return "Ask who looks after this machine to permit user namespaces to you"


def _said(path: Path) -> str:
    """What the kernel says in a file of its own; '' where it has none, or no such module."""
    try:
        return path.read_text()
    except OSError:
        return ""
