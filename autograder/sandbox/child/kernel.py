"""The kernel's calls that Python has no name for, with errors as OSError."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any

# From Linux's headers: linux/sched.h, linux/mount.h, linux/prctl.h, linux/capability.h.
CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2

AT_FDCWD = -100
AT_EMPTY_PATH = 0x1000
AT_RECURSIVE = 0x8000
OPEN_TREE_CLONE = 1
OPEN_TREE_CLOEXEC = 0x80000
MOVE_MOUNT_F_EMPTY_PATH = 4
MOUNT_ATTR_RDONLY = 1
MOUNT_ATTR_NOSUID = 2
MOUNT_ATTR_NODEV = 4

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_SECUREBITS = 28
PR_SET_NO_NEW_PRIVS = 38
SECUREBITS_ALL_LOCKED = 0xEF  # no root, no setuid fix-ups, no kept or ambient capabilities
SECCOMP_MODE_FILTER = 2

# New system calls have one number on all architectures.
SYS_OPEN_TREE = 428
SYS_MOVE_MOUNT = 429
SYS_CLOSE_RANGE = 436
SYS_MOUNT_SETATTR = 442

MADV_COLLAPSE = 25  # since Linux 6.1

_libc: Any = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


class _MountAttr(ctypes.Structure):
    _fields_ = (
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def syscall(number: int, *arguments: object, what: str) -> int:
    """Make a system call; `what` names it in an error. Integers are passed as C longs."""
    passed = (ctypes.c_long(a) if isinstance(a, int) else a for a in arguments)
    return _check(_libc.syscall(ctypes.c_long(number), *passed), what)


def prctl(option: int, argument: int | ctypes.c_void_p = 0, second: object = 0) -> int:
    passed = ctypes.c_ulong(argument) if isinstance(argument, int) else argument
    last = ctypes.c_ulong(second) if isinstance(second, int) else second
    zero = ctypes.c_ulong(0)
    return _check(_libc.prctl(option, passed, last, zero, zero), f"prctl({option})")


def unshare(flags: int) -> None:
    _check(_libc.unshare(flags), f"unshare({flags:#x})")


def setns(descriptor: int, kind: int) -> None:
    _check(_libc.setns(descriptor, kind), "setns")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    result = _libc.mount(
        source.encode(),
        target.encode(),
        kind.encode() or None,
        ctypes.c_ulong(flags),
        options.encode() or None,
    )
    _check(result, f"mount {kind or source} on {target}")


def umount(target: str) -> None:
    _check(_libc.umount2(target.encode(), MNT_DETACH), f"umount {target}")


def pivot_root(new: str, old: str) -> None:
    _check(_libc.pivot_root(new.encode(), old.encode()), f"pivot_root to {new}")


def clone_mount(path: str, attributes: int) -> int:
    """A descriptor of a copy of what is mounted at a path, submounts included, not yet attached."""
    flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE
    tree = syscall(SYS_OPEN_TREE, AT_FDCWD, path.encode(), flags, what=f"open_tree {path}")
    wanted = _MountAttr(attr_set=attributes)
    flags = AT_EMPTY_PATH | AT_RECURSIVE
    size = ctypes.sizeof(wanted)
    syscall(
        SYS_MOUNT_SETATTR, tree, b"", flags, ctypes.byref(wanted), size, what=f"restrict {path}"
    )
    return tree


def attach_mount(tree: int, target: str) -> None:
    syscall(
        SYS_MOVE_MOUNT,
        tree,
        b"",
        AT_FDCWD,
        target.encode(),
        MOVE_MOUNT_F_EMPTY_PATH,
        what=f"move_mount to {target}",
    )
    os.close(tree)


def sethostname(name: str) -> None:
    _check(_libc.sethostname(name.encode(), len(name)), "sethostname")


def collapse(address: int, size: int) -> bool:
    """Put memory into huge pages. False where the kernel cannot, which costs nothing but time."""
    start, length = ctypes.c_void_p(address), ctypes.c_size_t(size)
    return bool(_libc.madvise(start, length, MADV_COLLAPSE) == 0)


def close_from(first: int) -> None:
    """Close every descriptor from `first` on."""
    syscall(SYS_CLOSE_RANGE, first, 0xFFFFFFFF, 0, what="close_range")


def drop_capabilities() -> None:
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this thread
    none = (ctypes.c_uint32 * 6)()
    _check(_libc.capset(header, none), "capset")


def forbid_capabilities() -> None:
    """Nothing executed from here on can gain a capability. Those held now stay until dropped."""
    for number in range(64):
        try:
            prctl(PR_CAPBSET_DROP, number)
        except OSError:
            break  # past the last one that this kernel knows
    prctl(PR_SET_SECUREBITS, SECUREBITS_ALL_LOCKED)
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def machine() -> str:
    """'x86_64', 'aarch64' or another."""
    name = os.uname().machine
    # A 32-bit interpreter on a 64-bit kernel makes other system calls than uname says.
    return name if sys.maxsize > 2**32 else f"32-bit {name}"
