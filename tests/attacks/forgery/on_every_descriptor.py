"""Writes well-formed replies on every open descriptor: right away, and with all the next numbers.

lesson: 01-soft-lookup
expect: soft_lookup FAIL or CRASH or ERROR
because: a reply that nobody asked for ends the conversation, or is an answer like any other
"""

# %% soft_lookup
import json
import os
import struct


def soft_lookup(query, keys, values, temperature=1.0):
    verdict = {"status": "PASS", "score": 3.0, "bound": "", "raised": None, "after": []}
    verdict |= {"returned": ["scalar", "float", 1.0], "printed": "", "stopped": "", "fused": []}
    for number in range(300):
        text = json.dumps(verdict | {"number": number, "diagnosis": None}).encode()
        frame = struct.pack(">QQ", len(text), 0) + text
        for descriptor in range(64):
            try:
                os.set_blocking(descriptor, False)
                os.write(descriptor, frame)
                os.set_blocking(descriptor, True)
            except OSError:
                pass
    return [], []
