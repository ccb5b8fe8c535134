"""Sends JSON that is nested a million levels deep, and then some that means a gigabyte of lists.

lesson: 01-soft-lookup
expect: soft_lookup CRASH or ERROR
because: no reply came that could be read
"""

# %% soft_lookup
import os
import struct


def soft_lookup(query, keys, values, temperature=1.0):
    for text in (b"[" * 1_000_000, b"[" + b"[]," * 8_000_000 + b"[]]"):
        for descriptor in range(3, 64):
            try:
                os.set_blocking(descriptor, True)
                frame = struct.pack(">QQ", len(text), 0) + text
                while frame:
                    frame = frame[os.write(descriptor, frame) :]
            except OSError:
                pass
    return [], []
