"""Answers requests that have not been made yet, in their form and with their numbers.

lesson: 01-soft-lookup
expect: soft_lookup CRASH
"""

# %% soft_lookup
import json
import os
import struct

for number in range(1, 400):
    answer = {"number": number, "raised": None, "printed": "", "shown": "", "stopped": "", "bound": ""}
    text = json.dumps(answer).encode()
    try:
        os.write(3, struct.pack(">QQ", len(text), 0) + text)
    except OSError:
        pass


def soft_lookup(query, keys, values, temperature=1.0):
    return [], []
