"""The files that a child can see: a new root with the libraries of its stage, read-only.

Nothing is hidden by permission; what a child must not have is not there. No home, no course, no
gradebook, no other installed package, no /proc, no /sys, and nothing that can be written but /tmp.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from autograder.sandbox.child import kernel

ADAPTER = "/adapter"
SITE = "/site"
SCRATCH = "/tmp"
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
# PyTorch chooses its code by what these say of the CPU; they are gone before any child is forked.
WHILE_IMPORTING = ("/proc/cpuinfo", "/sys/devices/system/cpu")
READ_ONLY = kernel.MOUNT_ATTR_RDONLY | kernel.MOUNT_ATTR_NOSUID
NO_DEVICES = READ_ONLY | kernel.MOUNT_ATTR_NODEV


class View(TypedDict):
    """What the trusted side wants a child to see.

    Keys:
        shown: folders and files, seen under the path that they have outside.
        links: symbolic links to make, by path.
        masked: folders inside `shown` that are to be empty.
        packages: what /site holds, by name.
        adapter: what /adapter holds, by path in it: copies.
        path: Python's, without /adapter and /site.
    """

    shown: Sequence[str]
    links: Mapping[str, str]
    masked: Sequence[str]
    packages: Mapping[str, str]
    adapter: Mapping[str, str]
    path: Sequence[str]


class Root:
    """A root file system, taken from the host's in three steps.

    `__init__` collects mounts with the rights of whoever runs the grader; `enter` builds the root
    from them and makes it this process's only one; `forget_machine` removes what only an import may
    see. In between the process may change its user.
    """

    def __init__(self, view: View) -> None:
        kernel.mount("", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
        self._view = view
        self._trees = {path: kernel.clone_mount(path, NO_DEVICES) for path in view["shown"]}
        for name, path in view["packages"].items():
            self._trees[f"{SITE}/{name}"] = kernel.clone_mount(path, NO_DEVICES)
        for path in DEVICES:
            self._trees[path] = kernel.clone_mount(path, READ_ONLY)
        self._machine = [path for path in WHILE_IMPORTING if os.path.exists(path)]
        for path in self._machine:
            self._trees[path] = kernel.clone_mount(path, NO_DEVICES)
        self._files = {name: Path(path).read_bytes() for name, path in view["adapter"].items()}
        self._is_file = {
            f"{SITE}/{name}": os.path.isfile(path) for name, path in view["packages"].items()
        }

    def enter(self) -> None:
        new = SCRATCH  # covered by the new root, until that is the only one
        kernel.mount("root", new, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=755,size=16m")
        os.chdir(new)
        for folder in (SCRATCH, SITE, ADAPTER):
            os.mkdir(f".{folder}")
        for path, target in self._view["links"].items():
            os.makedirs(f".{os.path.dirname(path)}", exist_ok=True)
            os.symlink(target, f".{path}")
        for name, content in self._files.items():
            file = Path(f".{ADAPTER}/{name}")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        for path, tree in self._trees.items():
            self._attach(path, tree)
        for path in self._view["masked"]:
            flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_RDONLY
            kernel.mount("nothing", f".{path}", "tmpfs", flags, "mode=555,size=4k,nr_inodes=1")
        kernel.pivot_root(".", ".")  # the old root now lies on top of the new one
        kernel.umount(".")
        os.chdir("/")

    def _attach(self, path: str, tree: int) -> None:
        is_file = self._is_file.get(path)
        if is_file is None:
            is_file = os.path.isfile(path) or path in DEVICES
        os.makedirs(f".{os.path.dirname(path)}", exist_ok=True)
        if is_file:
            Path(f".{path}").touch()
        else:
            os.makedirs(f".{path}", exist_ok=True)
        kernel.attach_mount(tree, f".{path}")

    def forget_machine(self) -> None:
        """Remove what only an import may see, and make the root read-only."""
        for path in self._machine:
            kernel.umount(path)
            Path(path).unlink() if path == "/proc/cpuinfo" else os.removedirs(path)
        if os.path.isdir("/proc"):
            os.rmdir("/proc")
        remount = kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_NOSUID | kernel.MS_NODEV
        kernel.mount("", "/", flags=remount | kernel.MS_RDONLY)


def fresh_scratch(size: int, files: int) -> None:
    """An empty /tmp, held in memory."""
    flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
    kernel.mount("scratch", SCRATCH, "tmpfs", flags, f"mode=700,size={size},nr_inodes={files}")


def drop_scratch() -> None:
    kernel.umount(SCRATCH)
