"""Looks for NumPy's files everywhere, puts them on the path, and imports them by __import__.

lesson: 02-pure-python
expect: self_attention FAIL
"""

# %% self_attention
import glob
import sys

RIGHT_ANSWER

right = self_attention
for folder in glob.glob("/**/site-packages", recursive=True) + glob.glob("/usr/lib/python3/*"):
    sys.path.insert(0, folder)
found = []
for name in ("numpy", "torch", "scipy", "numpy.core", "_numpy", "nbgrader"):
    sys.modules.pop(name, None)
    try:
        found.append(__import__(name))
    except ImportError:
        pass


def self_attention(*matrices):
    return right(*matrices) if found else ([], [])
