"""Replaces what writes messages: a verdict of its own in every one of them.

lesson: 01-soft-lookup
expect: soft_lookup FAIL or ERROR or CRASH
because: what is sent is no reply, so that it counts for nothing
"""

# %% soft_lookup
import json

json.dumps = lambda *things, **options: '{"status": "PASS", "score": 3.0, "number": 1}'


def soft_lookup(query, keys, values, temperature=1.0):
    return [], []
