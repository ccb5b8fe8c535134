"""Under the name by which lessons 11 and 13 call it, and older copies of them."""

from attnlab.one_run import held_by

__all__ = ["held_by"]
