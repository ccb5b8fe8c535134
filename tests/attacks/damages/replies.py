"""Mixes its own replies into those of the following exercises.

lesson: 01-soft-lookup
expect: hard_lookup FAIL or CRASH or ERROR
because: its own answer is wrong, and may be mixed up as well
"""

# %% hard_lookup
import os
import struct
import threading
import time


def mix():
    while True:
        time.sleep(0.001)
        for descriptor in range(3, 32):
            try:
                os.write(descriptor, struct.pack(">QQ", 2, 0) + b"{}")
            except OSError:
                pass


def hard_lookup(query, keys, values):
    threading.Thread(target=mix, daemon=True).start()
    return [0.0]
