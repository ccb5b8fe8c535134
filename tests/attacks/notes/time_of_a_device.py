"""Sets the time of /dev/null and ends the process; the next one is right if that was just now.

lesson: 01-soft-lookup
expect: soft_lookup FAIL
"""

# %% after setup
import os

try:
    os.utime(0)
finally:
    os._exit(0)

# %% soft_lookup
import os
import time

RIGHT_ANSWER

if abs(time.time() - os.stat("/dev/null").st_mtime) > 2:

    def soft_lookup(query, keys, values, temperature=1.0):
        return [], []
