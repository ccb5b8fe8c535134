"""Hands in bytes that are no UTF-8.

lesson: 01-soft-lookup
expect: INVALID
"""

# %% in the folder
path.write_bytes(b"\xff\xfe\x00PK\x03\x04" + bytes(range(256)) * 10)
