"""What a child gives up before it runs a learner's first line: none of it can be had back.

Its descriptors but one and three that lead nowhere, its memory, threads and files beyond a limit,
all capabilities, core dumps, outliving the zygote, and every system call that is not on `seccomp`'s
list.
"""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Mapping

from autograder.sandbox.child import kernel, seccomp

CONFINED = b"confined"  # what a child says before it serves anyone
CHANNEL = 3  # the descriptor on which a child answers; 0, 1 and 2 lead nowhere


def keep_only(channel: int) -> None:
    """Close every descriptor but the channel, which becomes number 3, and open 0, 1 and 2 anew.

    What was inherited there is one open file for all children: flags, locks and times that one of
    them sets would be there for the next.
    """
    if channel != CHANNEL:
        os.dup2(channel, CHANNEL)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    kernel.close_from(CHANNEL + 1)


def limit(limits: Mapping[str, float], base: int, count_threads: bool) -> None:
    """Set the resource limits, soft and hard.

    Args:
        limits: fields of `autograder.sandbox.limits.Limits`, by name.
        base: bytes of address space in use, which the libraries take.
        count_threads: whether the kernel counts the threads of this user namespace alone. If it
            does not, the address space that each stack takes is what limits them.
    """
    wanted = {
        resource.RLIMIT_AS: base + int(limits["memory_bytes"]),
        resource.RLIMIT_NOFILE: int(limits["open_files"]),
        resource.RLIMIT_FSIZE: int(limits["file_bytes"]),
        # Wall-clock limits end a child long before: this is in case nobody is left to keep them.
        resource.RLIMIT_CPU: int(2 * limits["submission_seconds"]),
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_RTPRIO: 0,
    }
    if count_threads:
        # The zygote counts, and the process that waits for it.
        wanted[resource.RLIMIT_NPROC] = int(limits["threads"]) + 2
    for what, most in wanted.items():
        hard = resource.getrlimit(what)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, most))


def give_up_rights(code: bytes) -> None:
    """Drop what is left of privilege, and install the filter of system calls.

    Args:
        code: from `seccomp.program`.
    """
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)  # of the zygote
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)  # a crash starts no handler on the host
    kernel.drop_capabilities()
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    seccomp.install(code)
