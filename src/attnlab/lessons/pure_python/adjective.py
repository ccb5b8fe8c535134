"""`point_to_adjective`: two matrices of the learner's choice, judged by what rows do with them.

Whatever comes is 4 × 2, so lists do: this is also judged where there is no NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from attnlab.checks.exercise import Case, Claim, Exercise, Procedure, Slot, promises

if TYPE_CHECKING:
    import numpy as np

KINDS = ("article", "noun", "adjective", "verb")
NOUN, ADJECTIVE = KINDS.index("noun"), KINDS.index("adjective")
LONGEST, ENOUGH, ROUNDING = 8, 0.9, 1e-9
RETURNS = tuple(Slot(name, "list", "d d_k", any=True) for name in ("W_q", "W_k"))


def scores_of(asks: Any, promises: Any) -> list[float]:
    """What a noun's row of one matrix scores with each row of the other: four numbers."""
    noun = asks.tolist()[NOUN]
    return [sum(map(math.prod, zip(noun, row, strict=True))) for row in promises.tolist()]


def shares_of(scores: list[float], sentence: list[str]) -> dict[str, float]:
    """The weight that each kind of a sentence's words gets, a word."""
    tamed = {kind: scores[KINDS.index(kind)] / math.sqrt(2) for kind in sentence}
    if not all(score < math.inf for score in tamed.values()):
        return dict.fromkeys(tamed, math.nan)
    return {kind: _share(own, [tamed[other] for other in sentence]) for kind, own in tamed.items()}


def _share(own: float, all_of_them: list[float]) -> float:
    return 0.0 if own == -math.inf else 1 / sum(_exp(other - own) for other in all_of_them)


def _exp(number: float) -> float:
    return math.inf if 709 < number < math.inf else math.exp(number)


def _missed(least: float, sentence: list[str], W_q: Any, W_k: Any) -> str:
    """What a noun's weights in a sentence lack, '' for nothing.

    Args:
        least: the weight that the adjective needs; it needs the largest as well.
        sentence: N kinds of words.
        W_q, W_k: (4, 2), a row for each kind.
    """
    shares = shares_of(scores_of(W_q, W_k), sentence)
    adjective = shares.pop("adjective")
    rival = max(shares, key=lambda kind: shares[kind])
    if adjective > shares[rival] and adjective >= least - ROUNDING:
        return ""
    return (
        f"in “{' '.join(sentence)}” a noun gives each {rival} {shares[rival]:.3g} of its weight, "
        f"and the adjective {adjective:.3g}, should be {f'at least {least}' if least else 'more'}"
    )


# Their form; many are right.
WAYS = {
    group: Procedure(
        "modules.returned",
        RETURNS,
        lambda sentence: ([[0.0, 0.0]] * 4, [[0.0, 0.0]] * 4),
        ("sentence",),
        partial(_missed, least),
    )
    for group, least in (("values", 0.0), ("enough", ENOUGH))
}


def _cases(rng: np.random.Generator) -> Iterator[Case]:
    """Sentences of full length: a noun, the adjective, and six words of one kind.

    A noun's weight on the adjective is least where all others are of the kind that it scores
    highest after it. So whoever passes with each kind in turn passes with every sentence.
    """
    for group, way in WAYS.items():
        for kind in ("article", "noun", "verb"):
            words = rng.permutation(["noun", "adjective", *[kind] * (LONGEST - 2)])
            yield Case(group, (words.tolist(),), procedure=way)


def _if(holds: Callable[..., bool]) -> Callable[..., bool]:
    """Whether something holds of a noun's scores (4,), and of what it scores if roles change."""
    return lambda sentence, W_q, W_k: holds(scores_of(W_q, W_k), scores_of(W_k, W_q))


def _leads(scores: list[float]) -> bool:
    """Whether the adjective's score is larger than that of every other kind."""
    return all(scores[kind] < scores[ADJECTIVE] for kind in range(4) if kind != ADJECTIVE)


POINT_TO_ADJECTIVE = Exercise(
    name="point_to_adjective",
    signature="() -> (W_q, W_k)",
    axes=(),
    read="A word that its neighbour decides",
    returns=RETURNS,
    claims=promises(
        "each noun gives the adjective its largest weight",
        1.0,
        Claim("enough", "and at least 0.9 of it, in sentences of up to eight words", 1.0),
    ),
    cases=_cases,
    mistakes={
        "non-finite": lambda sentence, W_q, W_k: (
            not all(
                math.isfinite(each)
                for matrix in (W_q, W_k)
                for row in matrix.tolist()
                for each in row
            )
        ),
        # To a score of -inf softmax gives 0.
        "scores-overflow": _if(lambda scores, exchanged: any(not s < math.inf for s in scores)),
        "weights-too-even": _if(lambda scores, exchanged: _leads(scores)),
        "swapped-q-k": _if(lambda scores, exchanged: _leads(exchanged)),
        "uniform-weights": _if(lambda scores, exchanged: scores == scores[:1] * 4),
        "one-matrix-for-both": lambda sentence, W_q, W_k: (
            W_q.tolist() == W_k.tolist()
            and (scores := scores_of(W_q, W_k))[NOUN] >= scores[ADJECTIVE]
        ),
        "negated-scores": _if(
            lambda scores, exchanged: scores[ADJECTIVE] < 0 and _leads([-score for score in scores])
        ),
        "drawn-to-itself": _if(lambda scores, exchanged: scores[NOUN] == max(scores)),
        "points-elsewhere": lambda sentence, W_q, W_k: True,
    },
)
