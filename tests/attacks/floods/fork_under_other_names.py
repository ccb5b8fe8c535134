"""Starts processes by every other door: vfork, posix_spawn, subprocess, multiprocessing, raw clone.

lesson: 01-soft-lookup
expect: soft_lookup FAIL or POLICY
because: some of these doors may be refused when they are read
"""

# %% soft_lookup
import ctypes
import multiprocessing
import os
import subprocess
import sys

RIGHT_ANSWER

right = soft_lookup
libc = ctypes.CDLL(None, use_errno=True)
command = [sys.executable, "-c", "import time; time.sleep(300)"]


def clone():
    if libc.syscall(56, 17, 0, 0, 0, 0) < 0:  # clone(SIGCHLD)
        raise OSError


def clone3():
    arguments = (ctypes.c_uint64 * 11)(0, 0, 0, 0, 17)
    if libc.syscall(435, ctypes.byref(arguments), 88) < 0:
        raise OSError


def vfork():
    if libc.syscall(58) < 0:
        raise OSError


def soft_lookup(*args, **kwargs):
    started = 0
    for start in (
        lambda: os.posix_spawn(sys.executable, command, {}),
        lambda: subprocess.Popen(command),
        lambda: multiprocessing.get_context("fork").Process(target=print).start(),
        lambda: os.system("sleep 300 &") and 1 / 0,
        lambda: os.popen("sleep 300 & echo started").read() or 1 / 0,
        clone,
        clone3,
        vfork,
    ):
        try:
            start()
            started += 1
        except Exception:
            pass
    return right(*args, **kwargs) if started else ([], [])
