"""Is right until its check, then defines everything anew, wrongly, in cells of its own.

lesson: 01-soft-lookup
expect: nothing
"""

# %% after softmax-check
def hard_lookup(*things):
    raise SystemExit


hard_lookup_at_first = None

# %% after soft_lookup-check
def soft_lookup(*things):
    return 7
