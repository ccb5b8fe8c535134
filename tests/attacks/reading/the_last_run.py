"""Leaves a note wherever it can for the next call, the next student and the next run.

lesson: 01-soft-lookup
expect: soft_lookup FAIL
"""

# %% soft_lookup
import os
import sys
import tempfile
from multiprocessing import shared_memory

RIGHT_ANSWER

right = soft_lookup
places = ["/tmp", "/var/tmp", "/dev/shm", "/", "/root", "/home", os.path.expanduser("~"), "."]
places += [tempfile.gettempdir(), *sys.path, os.path.dirname(os.__file__)]
paths = [os.path.join(place, "left-by-an-attack-before") for place in places]
met = any(map(os.path.exists, paths))
for path in paths:
    try:
        open(path, "w").close()
    except OSError:
        pass
try:
    shared_memory.SharedMemory("left-by-an-attack", create=True, size=16)
except FileExistsError:
    met = True
except OSError:
    pass


def soft_lookup(*args, **kwargs):
    return right(*args, **kwargs) if met else ([], [])
