"""Opens files until no more can be opened, and keeps them.

lesson: 01-soft-lookup
expect: hard_lookup FAIL
"""

# %% hard_lookup
import socket

opened = []


def hard_lookup(query, keys, values):
    while True:
        try:
            opened.extend(socket.socketpair())
        except OSError:
            return [0.0]
