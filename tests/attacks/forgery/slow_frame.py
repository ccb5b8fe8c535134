"""Sends its reply one byte at a time, each in time.

lesson: 01-soft-lookup
expect: soft_lookup TIMEOUT or CRASH
because: the bytes come too late, and would be no reply if they did not
limits: short
"""

# %% soft_lookup
import os
import time


def soft_lookup(query, keys, values, temperature=1.0):
    frame = bytes(6) + b"\x10\x00" + bytes(8) + b" " * 4096
    for byte in frame:
        for descriptor in range(3, 64):
            try:
                os.write(descriptor, bytes([byte]))
            except OSError:
                pass
        try:
            time.sleep(0.05)
        except BaseException:
            pass
