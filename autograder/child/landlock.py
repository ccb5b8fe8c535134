"""File access limited by Landlock, for machines that offer no namespaces.

Paths stay visible and their names can be guessed; what is in the files cannot be read.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Collection

from autograder.child import kernel

# linux/landlock.h
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
ALL_BY_VERSION = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF}  # then come network, devices and scopes
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | 0x4000
READ = READ_FILE | READ_DIR
PATH_BENEATH = 1
ASK_VERSION = 1


def version() -> int:
    """Of what the kernel offers; 0 if nothing."""
    number = kernel.SYS_LANDLOCK_CREATE_RULESET
    try:
        return kernel.syscall(number, None, 0, ASK_VERSION, what="landlock")
    except OSError:
        return 0


class Rules:
    """Everything is forbidden that is not added.

    Raises:
        OSError: the kernel has no Landlock.
    """

    def __init__(self) -> None:
        self._all = ALL_BY_VERSION[min(version(), max(ALL_BY_VERSION))] if version() else 0
        self._descriptor = kernel.syscall(
            kernel.SYS_LANDLOCK_CREATE_RULESET,
            struct.pack("=Q", self._all),
            8,
            0,
            what="landlock_create_ruleset",
        )

    def allow_reading(self, path: str, but: Collection[str] = ()) -> None:
        """Everything below a path, except below the folders `but`."""
        if path in but:
            return
        if not any(folder.startswith(path + os.sep) for folder in but):
            self._add(path, READ)
            return
        self._add(path, READ_DIR)  # names only
        for entry in os.scandir(path):
            if not entry.is_symlink():
                self.allow_reading(entry.path, but)

    def allow_everything(self, path: str) -> None:
        self._add(path, self._all)

    def _add(self, path: str, access: int) -> None:
        access &= self._all if os.path.isdir(path) else self._all & OF_FILES
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = ctypes.create_string_buffer(struct.pack("=Qi", access, descriptor))
        kernel.syscall(
            kernel.SYS_LANDLOCK_ADD_RULE,
            self._descriptor,
            PATH_BENEATH,
            rule,
            0,
            what=f"landlock rule for {path}",
        )
        os.close(descriptor)

    def obey(self) -> None:
        """Bind this process to the rules for good."""
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        number = kernel.SYS_LANDLOCK_RESTRICT_SELF
        kernel.syscall(number, self._descriptor, 0, what="landlock_restrict_self")
