"""Looks for the gradebook and other students' work, and would write marks into what it finds.

lesson: 01-soft-lookup
expect: soft_lookup FAIL
"""

# %% soft_lookup
import os
import sqlite3

RIGHT_ANSWER

right = soft_lookup
found = []
for top, folders, files in os.walk("/"):
    folders[:] = [name for name in folders if name not in ("proc", "sys", "usr")]
    if {"submitted", "autograded", "feedback"} & set(folders):
        found.append(top)
    for name in files:
        if name.endswith(".db"):
            try:
                with sqlite3.connect(os.path.join(top, name)) as book:
                    book.execute("UPDATE grade SET manual_score = 3")
                found.append(name)
            except sqlite3.Error:
                pass


def soft_lookup(*args, **kwargs):
    return right(*args, **kwargs) if found else ([], [])
