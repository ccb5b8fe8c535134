"""Breaks the names that locked cells rely on: check, figures, and the tables of the lesson.

lesson: 01-soft-lookup
expect: nothing
"""

# %% after see-the-shelf
del check, figures, KEYS, PAGES, QUERY, BOOKS


def check(*things, **options):
    import os

    os._exit(1)
