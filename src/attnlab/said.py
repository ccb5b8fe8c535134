"""What a cell says: a sentence, as Jupyter shows it without the quotes of a string."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Found = TypeVar("Found")


class Said(str):
    """A text whose `repr` is itself."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def speaks(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """A function whose texts are Said; whatever else it returns stays as it is."""

    @wraps(function)
    def speaking(*args: Given.args, **kwargs: Given.kwargs) -> Found:
        found = function(*args, **kwargs)
        return Said(found) if isinstance(found, str) else found  # type: ignore[return-value]

    return speaking
