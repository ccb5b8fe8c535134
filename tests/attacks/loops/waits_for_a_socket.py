"""Reads from a socket that nothing is written into, with all signals blocked.

lesson: 01-soft-lookup
expect: soft_lookup TIMEOUT
limits: short
"""

# %% soft_lookup
import signal
import socket


def soft_lookup(query, keys, values, temperature=1.0):
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    end, _other = socket.socketpair()
    return end.recv(1)
