"""Lesson 10's family of sentences: in each, *it* means the animal or the thing."""

import itertools

ANIMALS = ("animal", "dog", "cat", "horse", "llama", "child", "bird")
THINGS = ("street", "bridge", "river", "road", "path", "field", "gate")
VERBS = ("cross", "enter", "leave")
OF_ANIMALS = ("tired", "scared", "sleepy", "hungry")
OF_THINGS = ("wide", "narrow", "long", "crowded")


def sentences() -> list[tuple[list[str], int]]:
    """All sentences of the family, with the place of the noun that *it* means: 1 or 5."""
    chosen = itertools.product(ANIMALS, VERBS, THINGS, (*OF_ANIMALS, *OF_THINGS))
    return [
        (
            f"the {animal} didn't {verb} the {thing} because it was too {adjective}".split(),
            1 if adjective in OF_ANIMALS else 5,
        )
        for animal, verb, thing, adjective in chosen
    ]
