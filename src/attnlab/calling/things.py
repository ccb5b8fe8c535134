"""What learners' functions are given that no bytes can stand for; each is known by its name.

`observe.Made` says which and with what. Nothing here knows what the right answer is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def default_rng(seed: int) -> np.random.Generator:
    """NumPy's random generator."""
    import numpy as np

    return np.random.default_rng(seed)
