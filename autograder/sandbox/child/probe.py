"""In place of `serve`: tries to get out of a sandbox, and tells what came of it. For `doctor`."""

from __future__ import annotations

import importlib
import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path


def warm_up(stage: str) -> None:
    """There is nothing to prepare."""


def serve(channel: socket.socket, stage: str) -> None:
    """Answer one message, a list of paths outside, with what each attempt came to."""
    paths = json.loads(channel.recv(1 << 16))
    attempts: dict[str, Callable[[], object]] = {
        "the network": lambda: socket.create_connection(("127.0.0.1", 9), 1),
        "a new process": os.fork,
        "another program": lambda: os.execv(sys.executable, [sys.executable, "-c", ""]),
        "signals to others": lambda: os.kill(-1, signal.SIGTERM),
        "the list of processes": lambda: os.listdir("/proc/1"),
        "writing beside /tmp": Path(__file__).with_name("x").touch,
    }
    attempts |= {f"the file {path}": Path(path).read_bytes for path in paths}
    libraries = {"pure": ("numpy", "torch"), "numpy": ("torch",), "torch": ("nbgrader",)}[stage]
    attempts |= {f"importing {name}": partial(importlib.import_module, name) for name in libraries}
    found = {}
    for what, attempt in attempts.items():
        try:
            attempt()
        except (OSError, ImportError) as error:
            found[what] = type(error).__name__
        else:
            found[what] = ""  # it worked
    channel.sendall(json.dumps(found).encode())
