"""Writes a module that loops, and imports it.

lesson: 01-soft-lookup
expect: soft_lookup TIMEOUT
limits: short
"""

# %% soft_lookup
import sys
from pathlib import Path

Path("/tmp/left_by_an_attack.py").write_text("while True: pass\n")
sys.path.insert(0, "/tmp")


def soft_lookup(query, keys, values, temperature=1.0):
    return __import__("left_by_an_attack")
