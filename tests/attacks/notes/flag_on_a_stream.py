"""Sets flags of descriptors 0 and 2 and ends the process; the next one is right if it finds one.

lesson: 01-soft-lookup
expect: soft_lookup FAIL
"""

# %% after setup
import fcntl
import os

try:
    os.set_blocking(0, False)
    fcntl.fcntl(2, fcntl.F_SETFL, os.O_APPEND)
finally:
    os._exit(0)

# %% soft_lookup
import fcntl
import os

RIGHT_ANSWER

flags = fcntl.fcntl(0, fcntl.F_GETFL) | fcntl.fcntl(2, fcntl.F_GETFL)

if not flags & (os.O_NONBLOCK | os.O_APPEND):

    def soft_lookup(query, keys, values, temperature=1.0):
        return [], []
