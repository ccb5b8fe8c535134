"""Talks to a server that listens on this machine.

lesson: 01-soft-lookup
expect: soft_lookup FAIL
"""

# %% soft_lookup
import socket

RIGHT_ANSWER

right = soft_lookup
reached = []
for family, address in (
    (socket.AF_INET, ("127.0.0.1", PORT)),
    (socket.AF_INET6, ("::1", PORT)),
    (socket.AF_UNIX, "\0attnlab-attack-PORT"),
):
    try:
        with socket.socket(family, socket.SOCK_STREAM) as client:
            client.settimeout(2)
            client.connect(address)
            reached.append(address)
    except OSError:
        pass


def soft_lookup(*args, **kwargs):
    return right(*args, **kwargs) if reached else ([], [])
