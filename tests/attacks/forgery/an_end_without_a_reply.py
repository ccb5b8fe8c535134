"""Says, by shutting its descriptors down, that nothing will follow, and lives on.

lesson: 01-soft-lookup
expect: soft_lookup CRASH
"""

# %% soft_lookup
import socket
import threading


def soft_lookup(query, keys, values, temperature=1.0):
    for descriptor in range(64):
        try:
            end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, descriptor)
            end.shutdown(socket.SHUT_WR)
        except OSError:
            pass
    threading.Event().wait()
