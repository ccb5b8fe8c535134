"""Searches /proc and the environment for seeds, commands, other processes and their files.

lesson: 01-soft-lookup
expect: soft_lookup FAIL
"""

# %% soft_lookup
import os

RIGHT_ANSWER

right = soft_lookup
leaks = []
seen = os.listdir("/proc") if os.path.isdir("/proc") else []
for pid in filter(str.isdigit, seen):
    if int(pid) != os.getpid():
        leaks.append(pid)
    for name in ("environ", "cmdline"):
        try:
            text = open(f"/proc/{pid}/{name}", "rb").read().lower()
        except OSError:
            continue
        if any(word in text for word in (b"seed", b"submitted", b"gradebook", b"solutions")):
            leaks.append(f"{pid}/{name}")
known = {"PYTHONHASHSEED"}  # of dicts, and 0 for everyone
leaks += [name for name in os.environ if "SEED" in name and name not in known]
for place in ("/proc/1/root", "/proc/self/root", "/proc/1/cwd"):
    try:
        if {"work", "home", "root"} & set(os.listdir(place)):
            leaks.append(place)
    except OSError:
        pass


def soft_lookup(*args, **kwargs):
    return right(*args, **kwargs) if leaks else ([], [])
