"""Shows, in a cell of its own, something that takes half a gigabyte to write down.

lesson: 01-soft-lookup
expect: nothing
"""

# %% after hard_lookup-check
class Long:
    def __repr__(self):
        return "x" * 500_000_000


Long()
