"""Runs a command with the network cut off: nothing but loopback exists for it.

    python -m tests.offline pytest ...

Kernels and browsers speak to each other over loopback, so everything that a learner does still
works, and anything that reaches for the network fails. Where the machine offers no network
namespaces the command runs all the same, and `test_offline.py` says that it was skipped.
"""

from __future__ import annotations

import array
import os
import shutil
import socket
import struct
import subprocess
import sys

INSIDE = "--inside"
IFF_UP, SIOCGIFFLAGS, SIOCSIFFLAGS = 0x1, 0x8913, 0x8914  # <net/if.h>, <linux/sockios.h>


def loopback_up() -> None:
    """What `ip link set lo up` does; a new network namespace has it down."""
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = array.array("b", struct.pack("16sh22x", b"lo", 0))
        fcntl.ioctl(control, SIOCGIFFLAGS, request)
        _, flags = struct.unpack("16sh22x", request)
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", flags | IFF_UP))


def namespace() -> list[str]:
    """The command that makes a network namespace here, [] if there is none."""
    if not shutil.which("unshare"):
        return []
    inside = [sys.executable, __file__, INSIDE, "true"]
    for flags in ("-n", "-rn"):  # as root; as anyone, where user namespaces are allowed
        prefix = ["unshare", flags]
        if subprocess.run([*prefix, *inside], capture_output=True).returncode == 0:
            return prefix
    return []


def is_cut_off() -> bool:
    """Whether this process sees no network interface but loopback."""
    return [name for _, name in socket.if_nameindex()] == ["lo"]


def main(arguments: list[str]) -> None:
    if arguments[:1] == [INSIDE]:
        loopback_up()
        os.execvp(arguments[1], arguments[1:])
    prefix = [] if is_cut_off() else namespace()
    command = [*prefix, sys.executable, __file__, INSIDE, *arguments] if prefix else arguments
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
