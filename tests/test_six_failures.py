"""What lesson 06 tells of a reader's names for its six failures."""

from __future__ import annotations

import pytest

from attnlab.lessons.causal_mask.failures import NAMED, told

NOTHING = dict.fromkeys(NAMED, "")
SWAPPED = NAMED | {"b": NAMED["e"], "e": NAMED["b"]}


@pytest.mark.parametrize(
    ("guess", "said"),
    [
        (NOTHING, "No letter has a name yet."),
        (NOTHING | {"a": "filled", "b": "axis"}, "1 of 2 are right. 4 have no name yet."),
        (SWAPPED, "4 of 6 are right. Look again at b, e."),
        (NAMED, "6 of 6 are right."),
        (
            NAMED | {"c": "root"},
            "The names are axis, diagonal, filled, late, scale, shape, and not root.",
        ),
    ],
    ids=["none", "some", "two exchanged", "all", "another name"],
)
def test_which_names_are_wrong_is_told_once_all_are_there(guess: dict[str, str], said: str) -> None:
    assert told(guess) == said
