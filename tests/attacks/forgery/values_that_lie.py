"""Forges each part of a reply in its turn: sizes, types, offsets, counts, big numbers, NaN, no inputs.

lesson: 01-soft-lookup
expect: soft_lookup FAIL or CRASH or ERROR or POLICY
because: each is malformed or wrong, or reaching for frames is refused when it is read
"""

# %% soft_lookup
import sys

LIES = [
    ["array", "ndarray", "float64", [1 << 60, 1 << 60], 0],
    ["array", "ndarray", "float64", [2, 0, 1 << 61], 0],
    ["array", "tensor", "object", [2], 0],
    ["array", "ndarray", "float64", [-1], 0],
    ["array", "ndarray", "float64", [True], 0],
    ["array", "ndarray", "complex256", [1] * 64, 0],
    ["floats", "list", 1 << 61, -8],
    ["floats", "tuple", 10**30, 0],
    ["items", "list", [["items", "list", []]] * 1000],
    ["items", "dict", []],
    ["scalar", "float", 10**400],
    ["scalar", "float", float("nan")],
    ["scalar", "numpy.float64", float("inf")],
    ["big", "int", "0x" + "f" * 4_000_000],
    ["big", "int", "-0x1"],
    ["seed", -1],
    ["other", "x" * 3000, ""],
    ["other", "list", "\ud800"],
    ["no such tag"],
    [],
    None,
    {},
    "PASS",
]
turn = -1


def soft_lookup(query, keys, values, temperature=1.0):
    global turn
    frame = sys._getframe()
    while "wire" not in frame.f_globals:
        frame = frame.f_back
    wire = frame.f_globals["wire"]

    def lie(value, block):
        global turn
        turn += 1
        return LIES[turn % len(LIES)]

    wire.write_value = lie
    return [], []
