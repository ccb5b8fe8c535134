"""Hands in a notebook that is nested a million levels deep.

lesson: 01-soft-lookup
expect: INVALID
"""

# %% in the folder
path.write_bytes(b'{"cells": ' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}")
