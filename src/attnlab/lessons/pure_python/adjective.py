"""`point_to_adjective`: two matrices of the learner's choice, judged by what rows do with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from attnlab.checks.exercise import Case, Exercise, Group, Mistake, Slot, Way
from attnlab.checks.reference import weights
from attnlab.lessons.pure_python import LESSON

KINDS = ("article", "noun", "adjective", "verb")
NOUN, ADJECTIVE = KINDS.index("noun"), KINDS.index("adjective")
WORDS = {
    "article": ("the", "a", "each"),
    "noun": ("clerk", "map", "desk", "shelf", "book", "reader", "page"),
    "adjective": ("old", "blue", "rare", "thin", "new"),
    "verb": ("finds", "reads", "asks", "holds", "opens", "needs"),
}
KIND_OF = {word: KINDS.index(kind) for kind, words in WORDS.items() for word in words}
LONGEST, ENOUGH = 8, 0.9
ROUNDING = 1e-9


# Sentences ----------------------------------------------------------------------------------------


def _sentence(rng: np.random.Generator, others: list[str], place: str) -> list[str]:
    """Words of these kinds in any order, with one adjective at a place among them."""
    words = [str(rng.choice(WORDS[kind])) for kind in rng.permutation(others)]
    middle = int(rng.integers(1, len(words))) if len(words) > 1 else 0
    at = {"first": 0, "middle": middle, "last": len(words)}[place]
    return [*words[:at], str(rng.choice(WORDS["adjective"])), *words[at:]]


def _drawn(rng: np.random.Generator, length: int) -> list[str]:
    """Kinds of all words but the adjective, a noun among them."""
    return ["noun", *(str(kind) for kind in rng.choice(["article", "noun", "verb"], length - 2))]


def _cases(rng: np.random.Generator) -> Iterator[Case]:
    """Sentences with every kind of word; then those in which the adjective has most rivals.

    A noun's weight on the adjective is least where all others are of the kind that it scores
    highest after it. So whoever passes with each kind in turn passes with every sentence.
    """

    def case(group: str, others: list[str], place: str) -> Case:
        return Case(group, (_sentence(rng, others, place),), way=WAYS[group])

    for place in rng.permutation(["first", "middle", "last"]):
        more = _drawn(rng, int(rng.integers(3, LONGEST - 1)))
        yield case("most", ["article", "verb", *more], place)
    for place in ("first", "last"):
        yield case("most", ["noun"], place)
    places = rng.permutation(["first", "middle", "last"])
    for kind, place in zip(("noun", "article", "verb"), places, strict=True):
        yield case("enough", ["noun", *[kind] * (LONGEST - 2)], place)
    for place in rng.permutation(["first", "middle", "last"]):
        yield case("enough", _drawn(rng, int(rng.integers(3, LONGEST + 1))), place)


# What a noun does ---------------------------------------------------------------------------------


def _elsewhere(sentence: list[str], W_q: np.ndarray, W_k: np.ndarray) -> tuple[str, str] | None:
    """Where a noun's largest weight goes, if not to the adjective. All its nouns do the same.

    Args:
        sentence: N words.
        W_q: (4, 2), a row for each kind of word.
        W_k: (4, 2).
    """
    for name, matrix in (("W_q", W_q), ("W_k", W_k)):
        if not np.isfinite(matrix).all():
            row, column = np.argwhere(~np.isfinite(matrix))[0]
            found = matrix[row, column]
            return "non-finite", f"{name}[{row}][{column}] is {found}, should be a finite number"
    scores = (W_q[NOUN] * W_k).sum(axis=-1)
    kinds = np.array([KIND_OF[word] for word in sentence])
    lost = np.isnan(scores[kinds]) | (scores[kinds] == np.inf)  # to -inf softmax gives 0
    if lost.any():
        at = int(np.argmax(lost))
        text = f"the score that a noun gives to “{sentence[at]}” comes out as {scores[kinds[at]]}"
        return "scores-overflow", text
    noun, adjective, shares = _given(sentence, W_q, W_k)
    rivals = np.where(kinds == ADJECTIVE, -np.inf, scores[kinds])
    best = int(np.argmax(rivals))
    if rivals[best] >= scores[ADJECTIVE]:
        rival = "itself" if kinds[best] == NOUN and best == noun else f"“{sentence[best]}”"
        text = f"in “{' '.join(sentence)}”, “{sentence[noun]}” gives {rival} {shares[best]:.3g}"
        text = f"{text} of its weight, and “{sentence[adjective]}” {shares[adjective]:.3g}"
        return _why(W_q, W_k), text
    return None


def _too_little(sentence: list[str], W_q: np.ndarray, W_k: np.ndarray) -> tuple[str, str] | None:
    """The same, and what of the adjective's largest weight is missing."""
    if found := _elsewhere(sentence, W_q, W_k):
        return found
    noun, adjective, shares = _given(sentence, W_q, W_k)
    if shares[adjective] < ENOUGH - ROUNDING:
        text = f"in “{' '.join(sentence)}”, “{sentence[noun]}” puts {shares[adjective]:.3g}"
        text = f"{text} of its weight on “{sentence[adjective]}”, should be at least {ENOUGH}"
        return "weights-too-even", text
    return None


def _given(sentence: list[str], W_q: np.ndarray, W_k: np.ndarray) -> tuple[int, int, np.ndarray]:
    """The places of the first noun and the adjective, and the weights that this noun gives."""
    kinds = np.array([KIND_OF[word] for word in sentence])
    noun, adjective = (int(np.argmax(kinds == kind)) for kind in (NOUN, ADJECTIVE))
    return noun, adjective, weights(W_q[kinds], W_k[kinds])[noun]


def _why(W_q: np.ndarray, W_k: np.ndarray) -> str:
    """Why the adjective's score is not a noun's largest. It does not depend on the sentence."""
    scores, exchanged = (W_q[NOUN] * W_k).sum(axis=-1), (W_k[NOUN] * W_q).sum(axis=-1)
    if _leads(exchanged):
        return "swapped-q-k"
    if (scores == scores[0]).all():
        return "uniform-weights"
    if (W_q == W_k).all() and scores[NOUN] >= scores[ADJECTIVE]:
        return "one-matrix-for-both"
    if scores[ADJECTIVE] < 0 and _leads(-scores):
        return "negated-scores"
    return "drawn-to-itself" if scores[NOUN] == scores.max() else "points-elsewhere"


def _leads(scores: np.ndarray) -> bool:
    """Whether the adjective's score is larger than that of every other kind."""
    return bool((np.delete(scores, ADJECTIVE) < scores[ADJECTIVE]).all())


# The exercise -------------------------------------------------------------------------------------


def _made(asks: Any, promises: Any) -> tuple[np.ndarray, np.ndarray]:
    """Matrices with a few rows that are not 0, by kind."""
    matrices = np.zeros((2, 4, 2))
    for matrix, rows in zip(matrices, (asks, promises), strict=True):
        for kind, row in rows.items():
            matrix[KINDS.index(kind)] = row
    return matrices[0], matrices[1]


_RETURNS = (Slot("W_q", "list", "d d_k"), Slot("W_k", "list", "d d_k"))
WAYS = {
    group: Way(
        "constants.returned",
        _RETURNS,
        oracle=lambda sentence: _made({}, {}),  # their form; many are right
        parameters=("sentence",),
        missed=missed,
    )
    for group, missed in (("most", _elsewhere), ("enough", _too_little))
}

POINT_TO_ADJECTIVE = Exercise(
    name="point_to_adjective",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="() -> (W_q, W_k)",
    axes=("n",),
    read="A word that its neighbour decides",
    returns=_RETURNS,
    groups=(
        Group("most", "each noun gives the adjective its largest weight", 1.0, core=True),
        Group("enough", "and at least 0.9 of it, in sentences of up to eight words", 1.0),
    ),
    cases=_cases,
    oracle=lambda sentence: _made({}, {}),
    mistakes=(
        Mistake(
            "weights-too-even",
            lambda sentence: _made({"noun": (1, 0)}, {"adjective": (1, 0)}),
            "The adjective does have a noun's largest score, and its lead is too small: up to "
            "seven other words share what it leaves.",
            "Give the adjective a larger lead over every other word. Softmax raises e to it, so a "
            "little more goes a long way.",
        ),
        Mistake(
            "swapped-q-k",
            lambda sentence: _made({"adjective": (9, 0)}, {"noun": (9, 0)}),
            "The two matrices have changed places: with W_q and W_k exchanged, a noun's largest "
            "score would be the adjective's. As it is, adjectives ask and nouns promise.",
            "The noun asks, so its row of W_q counts. The adjective is found, so its row of W_k "
            "counts.",
        ),
        Mistake(
            "one-matrix-for-both",
            lambda sentence: _made({"noun": (9, 0)}, {"noun": (9, 0)}),
            "W_q and W_k are the same matrix, so a noun asks for what it promises itself: its own "
            "score is a sum of squares, and the adjective's is no larger.",
            "Give the noun a question in W_q that its own row of W_k does not answer.",
        ),
        Mistake(
            "drawn-to-itself",
            lambda sentence: _made({"noun": (9, 0)}, {"noun": (9, 1), "adjective": (9, 0)}),
            "No word has a larger score for a noun than a noun, itself included: its row of W_k "
            "answers its own row of W_q.",
            "Multiply row 1 of W_q, the noun's, with row 1 of W_k and with row 2, the adjective's: "
            "the second product has to be the larger one.",
        ),
        Mistake(
            "points-elsewhere",
            lambda sentence: _made({"noun": (9, 0)}, {"verb": (9, 0)}),
            "A noun scores some other kind of word at least as high as the adjective.",
            "Multiply row 1 of W_q, the noun's, with each row of W_k: row 2, the adjective's, has "
            "to give the largest product. The rows stand in the order article, noun, adjective, "
            "verb.",
        ),
        Mistake(
            "negated-scores",
            lambda sentence: _made({"noun": (-9, 0)}, {"adjective": (9, 0)}),
            "The sign is turned round: the adjective has a noun's lowest score, below 0.",
            "Give the noun's row of W_q and the adjective's row of W_k entries of the same sign.",
        ),
        Mistake(
            "uniform-weights",
            lambda sentence: _made({"noun": (9, 0)}, dict.fromkeys(KINDS, (1, 1))),
            "A noun scores all kinds of words alike, so each word gets the same weight.",
            "Row 1 of W_q, the noun's, meets each row of W_k column by column. Give row 2 of W_k, "
            "the adjective's, alone a number, in a column in which row 1 of W_q holds one too.",
        ),
        Mistake(
            "scores-overflow",
            lambda sentence: _made({"noun": (1e300, 0)}, {"adjective": (1e300, 0)}),
            "Entries so large have a product that is beyond every float. It becomes inf, and "
            "softmax of inf is NaN.",
            "Entries below 100 are enough: softmax needs a lead, and no record.",
        ),
        Mistake(
            "non-finite",
            lambda sentence: _made({"noun": (np.inf, 0)}, {"adjective": (9, 0)}),
            "inf times 0 is NaN, and so is a sum with NaN in it: a token has a 0 in most places, "
            "so every score is lost.",
            "Use ordinary numbers. Entries below 100 are enough.",
        ),
    ),
)
