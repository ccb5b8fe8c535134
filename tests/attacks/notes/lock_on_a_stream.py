"""Locks a byte of descriptor 1 and ends the process; the next one is right if it finds the lock.

lesson: 01-soft-lookup
expect: soft_lookup FAIL
"""

# %% after setup
import fcntl
import os
import struct

try:
    lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 7, 1, 0)
    fcntl.fcntl(1, fcntl.F_OFD_SETLK, lock)
finally:
    os._exit(0)

# %% soft_lookup
import fcntl
import os
import struct

RIGHT_ANSWER

found = False
try:
    null = os.open("/dev/null", os.O_RDWR)
    lock = fcntl.fcntl(null, fcntl.F_OFD_GETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 7, 1, 0))
    found = struct.unpack("hhqqi4x", lock)[0] != fcntl.F_UNLCK
except OSError:
    pass

if not found:

    def soft_lookup(query, keys, values, temperature=1.0):
        return [], []
