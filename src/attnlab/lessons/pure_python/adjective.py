"""`point_to_adjective`: two matrices of the learner's choice, judged by what rows do with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from attnlab.checks.exercise import Case, Claim, Exercise, Procedure, Slot, promises
from attnlab.checks.reference import weights

KINDS = ("article", "noun", "adjective", "verb")
NOUN, ADJECTIVE = KINDS.index("noun"), KINDS.index("adjective")
LONGEST, ENOUGH, ROUNDING = 8, 0.9, 1e-9
RETURNS = tuple(Slot(name, "list", "d d_k", any=True) for name in ("W_q", "W_k"))


def _missed(least: float, sentence: list[str], W_q: np.ndarray, W_k: np.ndarray) -> str:
    """What a noun's weights in a sentence lack, '' for nothing.

    Args:
        least: the weight that the adjective needs; it needs the largest as well.
        sentence: N kinds of words.
        W_q, W_k: (4, 2), a row for each kind.
    """
    kinds = [KINDS.index(kind) for kind in sentence]
    row = weights(W_q[kinds], W_k[kinds])[sentence.index("noun")]
    shares = dict(zip(sentence, row, strict=True))  # words of a kind get the same
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
        lambda sentence: (np.zeros((4, 2)), np.zeros((4, 2))),
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
    return lambda sentence, W_q, W_k: bool(
        holds((W_k * W_q[NOUN]).sum(-1), (W_q * W_k[NOUN]).sum(-1))
    )


def _leads(scores: np.ndarray) -> bool:
    """Whether the adjective's score is larger than that of every other kind."""
    return bool((np.delete(scores, ADJECTIVE) < scores[ADJECTIVE]).all())


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
        "non-finite": lambda sentence, W_q, W_k: not np.isfinite([W_q, W_k]).all(),
        # To a score of -inf softmax gives 0.
        "scores-overflow": _if(lambda scores, exchanged: not (scores < np.inf).all()),
        "weights-too-even": _if(lambda scores, exchanged: _leads(scores)),
        "swapped-q-k": _if(lambda scores, exchanged: _leads(exchanged)),
        "uniform-weights": _if(lambda scores, exchanged: (scores == scores[0]).all()),
        "one-matrix-for-both": lambda sentence, W_q, W_k: (
            (W_q == W_k).all() and W_k[NOUN] @ W_q[NOUN] >= W_k[ADJECTIVE] @ W_q[NOUN]
        ),
        "negated-scores": _if(lambda scores, exchanged: scores[ADJECTIVE] < 0 and _leads(-scores)),
        "drawn-to-itself": _if(lambda scores, exchanged: scores[NOUN] == scores.max()),
        "points-elsewhere": lambda sentence, W_q, W_k: True,
    },
)
