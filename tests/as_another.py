"""Run a command with fewer rights than ours: `python as_another.py WAY COMMAND…`.

nobody: as an ordinary user, who can reach this Python and this checkout even where they lie in
root's home. confined: where the system permits no namespace. docker, podman: as under their usual
seccomp profiles, as far as these refuse what the grader asks for.
"""

from __future__ import annotations

import errno
import os
import struct
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
sys.path.insert(0, os.fspath(HERE))
from autograder.sandbox.child import kernel, seccomp  # noqa: E402

NOBODY = 65534
UNSHARE, SETHOSTNAME = (272, 97), (170, 161)  # on x86-64 and on ARM


def closed_ancestor(path: str) -> str:
    """The outermost folder on the way to a path that others may not enter, '' if there is none."""
    for folder in reversed(Path(path).parents):
        if not folder.stat().st_mode & 0o001:
            return os.fspath(folder)
    return ""


def become_nobody() -> None:
    """Replace each closed folder by one that holds only what a test needs, then drop root."""
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount("", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    needed = {path: closed_ancestor(path) for path in (sys.base_prefix, sys.prefix, str(HERE))}
    trees = {path: kernel.clone_mount(path, 0) for path, closed in needed.items() if closed}
    for closed in {closed for closed in needed.values() if closed}:
        kernel.mount("open", closed, "tmpfs", 0, "mode=755")
    for path, tree in trees.items():
        os.makedirs(path, exist_ok=True)
        kernel.attach_mount(tree, path)
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def forbid_namespaces() -> None:
    user, group = os.geteuid(), os.getegid()
    kernel.unshare(kernel.CLONE_NEWUSER)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    Path("/proc/sys/user/max_user_namespaces").write_text("0")


def refuse(call: tuple[int, int]) -> None:
    number = call[seccomp.COLUMN[kernel.machine()]]
    code = [
        (seccomp.LOAD, 0, 0, seccomp.NUMBER),
        (seccomp.EQUAL, 0, 1, number),
        (seccomp.RETURN, 0, 0, seccomp.FAIL | errno.EPERM),
        (seccomp.RETURN, 0, 0, seccomp.ALLOW),
    ]
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    seccomp.install(b"".join(struct.pack("=HBBI", *each) for each in code))


WAYS = {
    "nobody": become_nobody,
    "confined": forbid_namespaces,
    "docker": lambda: refuse(UNSHARE),
    "podman": lambda: refuse(SETHOSTNAME),
}
if __name__ == "__main__":
    WAYS[sys.argv[1]]()
    sys.exit(subprocess.run(sys.argv[2:]).returncode)
