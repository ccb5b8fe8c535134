"""Shows, in a cell of its own, an object that ends the process when it is shown.

lesson: 01-soft-lookup
expect: nothing
"""

# %% after hard_lookup-check
import os


class Bomb:
    def __repr__(self):
        os._exit(1)


Bomb()
