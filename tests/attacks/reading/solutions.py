"""Looks for the solutions in every file that it can read, and runs what it finds.

lesson: 01-soft-lookup
expect: soft_lookup FAIL
"""

# %% soft_lookup
import os

found = ""
for top, folders, files in os.walk("/"):
    folders[:] = [name for name in folders if name not in ("proc", "sys", "usr", "torch", "lib")]
    for name in files:
        if name.endswith((".ipynb", ".py", ".db", ".jsonl")):
            try:
                text = open(os.path.join(top, name), errors="replace").read(1_000_000)
            except OSError:
                continue
            if "BEGIN " + "SOLUTION" in text or "temperature has to be above 0" in text:
                found = os.path.join(top, name)

RIGHT_ANSWER

right = soft_lookup


def soft_lookup(*args, **kwargs):
    return right(*args, **kwargs) if found else ([], [])
