"""Looks up a file that is not there and ends the process; the next one is right if that is cached.

lesson: 01-soft-lookup
expect: soft_lookup FAIL
"""

# %% after setup
import os

try:
    os.path.exists(os.__file__ + "-left-by-an-attack")
finally:
    os._exit(0)

# %% soft_lookup
import ctypes
import errno
import os
import struct

RIGHT_ANSWER

OPENAT2, ONLY_CACHED = 437, struct.pack("QQQ", 0, 0, 0x20)
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(OPENAT2, -100, (os.__file__ + "-left-by-an-attack").encode(), ONLY_CACHED, 24)

if ctypes.get_errno() != errno.ENOENT:

    def soft_lookup(query, keys, values, temperature=1.0):
        return [], []
