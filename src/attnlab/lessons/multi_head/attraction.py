"""What lesson 07 asks the small model when its subject's head is switched off.

An attraction error is a verb that agrees with the noun beside it instead of with its subject, *the
key to the cabinets were* (Bock & Miller 1991). So a sentence needs two nouns, in either number.
"""

from __future__ import annotations

import random
from itertools import product

from attnlab.small.grammar import BESIDE, PLURAL, RUN, RUNS, SINGULAR, START
from attnlab.small.measure import Question

KING, DOG = SINGULAR.index("king"), SINGULAR.index("dog")


def two_nouns(rng: random.Random, count: int) -> dict[str, list[Question]]:
    """Beginnings like *the king near the dogs*, and whether a verb in the singular is likelier.

    Returns:
        By the numbers of the two, called 'king … dogs' and so on, the same `count` choices of
        nouns and of what stands between them.
    """
    drawn = [
        (rng.randrange(len(SINGULAR)), rng.choice(BESIDE), rng.randrange(len(SINGULAR)))
        for _ in range(count)
    ]
    return {
        f"{first[KING]} … {second[DOG]}": [
            Question([START, "the", first[one], beside, "the", second[other]], RUNS, RUN)
            for one, beside, other in drawn
        ]
        for first, second in product((SINGULAR, PLURAL), repeat=2)
    }
