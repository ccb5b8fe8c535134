"""Writes into the package, the interpreter's library and the home folder, for the next run to import.

lesson: 01-soft-lookup
expect: soft_lookup FAIL
"""

# %% soft_lookup
import os
import sys

wrote = []
RIGHT_ANSWER

right = soft_lookup
for module in list(sys.modules.values()):
    path = getattr(module, "__file__", None)
    if path and os.path.isabs(path):
        try:
            with open(path, "a") as file:
                file.write("\n")
            wrote.append(path)
        except OSError:
            pass
for place in [*map(os.path.abspath, sys.path), os.path.expanduser("~"), "/etc", "/usr", "/"]:
    try:
        open(os.path.join(place, "left-by-an-attack.pth"), "w").close()
        wrote.append(place)
    except OSError:
        pass


def soft_lookup(*args, **kwargs):
    changed = [place for place in wrote if not place.startswith("/tmp")]
    return right(*args, **kwargs) if changed else ([], [])
