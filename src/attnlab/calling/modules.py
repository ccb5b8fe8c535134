"""Ways to use a learner's module other than one call of it; each is a procedure of a `Way`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def construct(module_class: Callable[..., Any], *sizes: Any) -> None:
    """Only make it, for a constructor that has to refuse."""
    module_class(*sizes)
