"""Which system calls a child may make: a list of what is allowed, the rest is refused.

A list of what is forbidden would be out of date with the next kernel, and has to name every way to
do a thing. What Python, NumPy and PyTorch need to compute is short and does not change: files,
memory, threads, clocks, waiting, and sockets that are connected already. So there is no fork, no
exec, no new socket, no mount, namespace, trace, key, module or io_uring: all that has let programs
out of sandboxes. Nor is there a lock, a flag or a hint that outlives a child, or a call that tells
what the kernel has cached, how much memory or disk is free, or what it has counted for others: by
these a child would leave notes for later ones.

A refused call fails (EPERM; ENOSYS if it is so new that libraries have a fallback), so that code
that probes for a feature goes on without it. A call through another architecture's table kills.
"""

from __future__ import annotations

import ctypes
import errno
import struct

from autograder.sandbox.child import kernel

# Name: (x86_64, aarch64), None where there is no such call.
FILES = {
    "read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66),
    "pread64": (17, 67), "pwrite64": (18, 68), "preadv": (295, 69), "pwritev": (296, 70),
    "lseek": (8, 62), "sendfile": (40, 71), "copy_file_range": (326, 285), "open": (2, None),
    "openat": (257, 56), "creat": (85, None), "close": (3, 57), "close_range": (436, 436),
    "dup": (32, 23), "dup2": (33, None), "dup3": (292, 24), "fsync": (74, 82),
    "fdatasync": (75, 83), "fallocate": (285, 47), "truncate": (76, 45), "ftruncate": (77, 46),
    "stat": (4, None), "fstat": (5, 80), "lstat": (6, None), "newfstatat": (262, 79),
    "access": (21, None), "faccessat": (269, 48), "faccessat2": (439, 439),
    "getdents": (78, None), "getdents64": (217, 61), "getcwd": (79, 17), "chdir": (80, 49),
    "fchdir": (81, 50), "mkdir": (83, None), "mkdirat": (258, 34),
    "rmdir": (84, None), "rename": (82, None), "renameat": (264, 38), "renameat2": (316, 276),
    "link": (86, None), "linkat": (265, 37), "unlink": (87, None), "unlinkat": (263, 35),
    "symlink": (88, None), "symlinkat": (266, 36), "readlink": (89, None), "readlinkat": (267, 78),
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "umask": (95, 166),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
}  # fmt: skip
MEMORY = {
    "mmap": (9, 222), "munmap": (11, 215), "mremap": (25, 216), "mprotect": (10, 226),
    "brk": (12, 214), "msync": (26, 227), "membarrier": (324, 283),
}  # fmt: skip
THREADS = {
    "futex": (202, 98), "set_robust_list": (273, 99), "rseq": (334, 293),
    "set_tid_address": (218, 96), "gettid": (186, 178), "exit": (60, 93),
    "exit_group": (231, 94), "sched_yield": (24, 124), "sched_getaffinity": (204, 123),
    "sched_getparam": (143, 121), "sched_getscheduler": (145, 120),
    "sched_get_priority_max": (146, 125), "sched_get_priority_min": (147, 126),
    "getcpu": (309, 168), "arch_prctl": (158, None), "wait4": (61, 260), "waitid": (247, 95),
}  # fmt: skip
OWN_STATE = {
    "getpid": (39, 172), "getppid": (110, 173), "getuid": (102, 174), "geteuid": (107, 175),
    "getgid": (104, 176), "getegid": (108, 177), "getresuid": (118, 148), "getresgid": (120, 150),
    "getgroups": (115, 158), "getpgid": (121, 155), "getpgrp": (111, None), "getsid": (124, 156),
    "capget": (125, 90), "getpriority": (140, 141), "getrlimit": (97, 163), "setrlimit": (160, 164),
    "uname": (63, 160), "getrandom": (318, 278), "times": (100, 153),
}  # fmt: skip
SIGNALS_AND_CLOCKS = {
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139),
    "rt_sigpending": (127, 136), "rt_sigtimedwait": (128, 137), "rt_sigsuspend": (130, 133),
    "sigaltstack": (131, 132), "alarm": (37, None), "pause": (34, None), "getitimer": (36, 102),
    "setitimer": (38, 103), "restart_syscall": (219, 128), "time": (201, None),
    "gettimeofday": (96, 169), "clock_gettime": (228, 113), "clock_getres": (229, 114),
    "nanosleep": (35, 101), "clock_nanosleep": (230, 115),
}  # fmt: skip
WAITING_AND_CONNECTED_SOCKETS = {
    "poll": (7, None), "ppoll": (271, 73), "select": (23, None), "pselect6": (270, 72),
    "epoll_create": (213, None), "epoll_create1": (291, 20), "epoll_ctl": (233, 21),
    "epoll_wait": (232, None), "epoll_pwait": (281, 22), "epoll_pwait2": (441, 441),
    "recvfrom": (45, 207), "sendto": (44, 206), "shutdown": (48, 210), "getsockname": (51, 204),
    "getpeername": (52, 205),
}  # fmt: skip
ALLOWED = FILES | MEMORY | THREADS | OWN_STATE | SIGNALS_AND_CLOCKS | WAITING_AND_CONNECTED_SOCKETS
# Allowed for some arguments only: see `_checked`.
CHECKED = {
    "clone": (56, 220),
    "kill": (62, 129),
    "tgkill": (234, 131),
    "prctl": (157, 167),
    "ioctl": (16, 29),
    "socketpair": (53, 199),
    "fcntl": (72, 25),
    "prlimit64": (302, 261),
    "madvise": (28, 233),
}
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
COLUMN = {"x86_64": 0, "aarch64": 1}
FIRST_NEW = 424  # from here on numbers are the same everywhere, and libraries have fallbacks
X32 = 0x40000000

# linux/bpf_common.h, linux/seccomp.h
LOAD, EQUAL, AT_LEAST, AND, RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
NUMBER, ARCH, ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
ALLOW, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x00050000

CLONE_THREAD = 0x10000
CLONE_NEW_ANYTHING = 0x7E020000
AF_UNIX = 1
STREAM_OR_SEQPACKET = (1, 5)  # a datagram socket could be pointed at any other
PRCTL_HARMLESS = (3, 15, 16, 0x53564D41)  # get dumpable, set and get name, name a mapping
IOCTL_HARMLESS = (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # isatty, blocking, …
# Copies of a descriptor, what is closed on exec, and flags to read: `fdopen` asks for them. None of
# those that lock, set flags, or have signals sent.
FCNTL_HARMLESS = (0, 1, 2, 3, 1030)
# Normal, don't need, free, huge pages or none, in a core dump or not: what allocators ask for. None
# of those that act on files' pages, which later children share.
MADVISE_HARMLESS = (0, 4, 8, 14, 15, 16, 17)
ITSELF = 0  # in place of a process id
SIGKILL = 9

Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, operand


def program(pid: int, machine: str) -> bytes:
    """The filter as the kernel reads it.

    Args:
        pid: of the process it is for, the only one that it may signal.
        machine: 'x86_64' or 'aarch64'.
    Raises:
        KeyError: there is no table for this machine.
    """
    column = COLUMN[machine]
    code: list[Instruction] = [
        (LOAD, 0, 0, ARCH),
        (EQUAL, 1, 0, AUDIT_ARCH[machine]),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, NUMBER),
    ]
    if machine == "x86_64":
        code += [(AT_LEAST, 0, 1, X32), (RETURN, 0, 0, KILL)]
    for numbers in ALLOWED.values():
        number = numbers[column]
        if number is not None:
            code += [(EQUAL, 0, 1, number), (RETURN, 0, 0, ALLOW)]
    for name, checks in _checked(pid).items():
        code += [(EQUAL, 0, len(checks), CHECKED[name][column]), *checks]
    code += [
        (AT_LEAST, 0, 1, FIRST_NEW),
        (RETURN, 0, 0, FAIL | errno.ENOSYS),
        (RETURN, 0, 0, FAIL | errno.EPERM),
    ]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def _checked(pid: int) -> dict[str, list[Instruction]]:
    """For each call in CHECKED: instructions that look at its arguments, and return."""
    return {
        "clone": [
            (LOAD, 0, 0, _argument(0)),
            (AND, 0, 0, CLONE_THREAD | CLONE_NEW_ANYTHING),
            *_if_one_of((CLONE_THREAD,), errno.EPERM),
        ],
        "kill": _signal_to(pid, target=0, signal=1),
        "tgkill": _signal_to(pid, target=0, signal=2),
        "fcntl": [(LOAD, 0, 0, _argument(1)), *_if_one_of(FCNTL_HARMLESS, errno.EPERM)],
        "prlimit64": [(LOAD, 0, 0, _argument(0)), *_if_one_of((ITSELF, pid), errno.EPERM)],
        # As by a kernel that does not know the advice, for which libraries are prepared.
        "madvise": [(LOAD, 0, 0, _argument(2)), *_if_one_of(MADVISE_HARMLESS, errno.EINVAL)],
        "prctl": [(LOAD, 0, 0, _argument(0)), *_if_one_of(PRCTL_HARMLESS, errno.EPERM)],
        "ioctl": [(LOAD, 0, 0, _argument(1)), *_if_one_of(IOCTL_HARMLESS, errno.ENOTTY)],
        "socketpair": [
            (LOAD, 0, 0, _argument(0)),
            (EQUAL, 1, 0, AF_UNIX),
            (RETURN, 0, 0, FAIL | errno.EPERM),
            (LOAD, 0, 0, _argument(1)),
            (AND, 0, 0, 0xF),  # the rest are flags
            *_if_one_of(STREAM_OR_SEQPACKET, errno.EPERM),
        ],
    }


def _signal_to(pid: int, target: int, signal: int) -> list[Instruction]:
    """Only to oneself. The first process of a namespace is immune to its own SIGKILL, and killing
    oneself has to end in death: so the filter does it."""
    return [
        (LOAD, 0, 0, _argument(signal)),
        (EQUAL, 0, 3, SIGKILL),
        (LOAD, 0, 0, _argument(target)),
        (EQUAL, 0, 1, pid),
        (RETURN, 0, 0, KILL),
        (LOAD, 0, 0, _argument(target)),
        *_if_one_of((pid,), errno.EPERM),
    ]


def _argument(index: int) -> int:
    """Offset of the low half of an argument; all that are looked at are C ints, or flags below
    2**32 of which the kernel ignores the rest. Both architectures are little-endian."""
    return ARGUMENTS + 8 * index


def _if_one_of(values: tuple[int, ...], otherwise: int) -> list[Instruction]:
    code: list[Instruction] = []
    for value in values:
        code += [(EQUAL, 0, 1, value), (RETURN, 0, 0, ALLOW)]
    return [*code, (RETURN, 0, 0, FAIL | otherwise)]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def install(code: bytes) -> None:
    """Filter this process's calls from here on, threads that it starts included."""
    filter_ = _Program(len(code) // 8, code)
    pointer = ctypes.cast(ctypes.pointer(filter_), ctypes.c_void_p)
    kernel.prctl(kernel.PR_SET_SECCOMP, kernel.SECCOMP_MODE_FILTER, pointer)
