"""Figures: `picture` holds what the lessons' own share, `live` those that can be touched, `block`
draws attention as a diagram, `figures.block("softmax")`, and `opening()` is the picture that moves
at the beginning of the lesson that was begun.

`figures.causal_mask` is `attnlab/lessons/causal_mask/figures.py`, and so for each lesson: that is
the one way up from here, by a name that older copies of lessons have, and taken when it is asked.
Lessons call all of them, with numbers of their own code in, so that a picture shows what was
computed. Out comes a Picture, an image with its alternative text, for the light theme and the dark
one; or a figure of `live`, `figures.live.WhoListens(weights, tokens)`. Begin at `picture`.
"""

from importlib import import_module
from typing import Any

from attnlab import begun, lessons


def __getattr__(name: str) -> Any:
    if name == "live":
        return import_module("attnlab.figures.live")
    if name == "opening":
        of_lesson = lessons.name_of(begun.slug)
        return import_module(f"attnlab.lessons.{of_lesson}.opening").opening
    if name == "block":
        return import_module("attnlab.figures.diagram").block
    of_lessons = {lessons.name_of(slug): slug for slug in lessons.slugs()}
    if name in of_lessons:
        try:
            return lessons.figures_of(of_lessons[name])
        except LookupError as none:
            raise AttributeError(none.args[0]) from None
    parts = ", ".join([*of_lessons, "live", "block", "opening"])
    raise AttributeError(f"attnlab.figures has no {name!r}; it has {parts}")
