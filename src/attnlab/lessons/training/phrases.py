"""Lesson 10's classifier of phrases, graded by what its gradients reach and what it learns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from attnlab.calling.training import ENOUGH
from attnlab.checks.exercise import Case, Exercise, Group, Mistake, Slot, Way, unchanged
from attnlab.checks.inputs import ones_in_turn, sizes
from attnlab.lessons.training import LESSON
from attnlab.lessons.training.drawn import Generator, Tensor, seed, tokens

WIDTH = 32  # of the classifiers that are trained; narrow ones get stuck more often
QUESTIONS = ("not apart", "out of reach", "shares", "never below", "averages")


def _zeros(ids: Tensor, v: int, d: int, c: int, seed: int, double: bool = False) -> Tensor:
    """Logits of the right shape: their numbers are the learner's own."""
    return torch.zeros(len(ids), c, dtype=torch.double if double else torch.float)


def _in_shape(ids: Tensor, sizes: tuple[int, ...], note: str, *how: Any) -> Case:
    way = Way("training.logits", (Slot("logits", "tensor", "B n_classes"),), _zeros)
    v, d, c = sizes
    note = f"{note}, made with vocab_size {v}, d {d} and n_classes {c}"
    # Any finite number will do, in the right place.
    return Case("shape", (ids, v, d, c, *how), note=note, tolerance=float("inf"), way=way)


def _counting(
    question: str, slot: str, rng: Generator, *, n: int, note: str, group: str = ""
) -> Case:
    """A case whose right answer is 0: how often something is found that should not be."""
    d, b, c = sizes(rng, 3, 3, 7)
    v = 12 + d
    ids = torch.from_numpy(rng.permuted(np.tile(np.arange(v), (b, 1)), axis=1)[:, :n].copy())
    way = Way("training.count", (Slot(slot, "int"),), lambda *args: 0)
    note = f"{note}, made with vocab_size {v}, d {2 * d + 12} and n_classes {c}"
    args = (ids, v, 2 * d + 12, c, question, seed(rng))
    return Case(group or question, args, note=note, way=way)


def _classifier_cases(rng: Generator) -> Iterator[Case]:
    for _ in range(2):
        b, n, more, d, c = sizes(rng, 5, 2, 9)
        v = 2 * d + c + more  # so that no other size has room for the last word
        ids = tokens(rng, v, b, n)
        ids[rng.integers(b), rng.integers(n)] = v - 1
        yield _in_shape(ids, (v, 2 * d, c), "ids is (B, N)", seed(rng))
    for b, n, d in ones_in_turn(rng, 3)[:2]:
        one = "one phrase" if b == 1 else "phrases of one word"
        yield _in_shape(tokens(rng, 11, b, n), (11, 2 * d, 9), f"there are {one}", seed(rng))
    b, n, v, d, c = sizes(rng, 5, 2, 9)
    note = "the module is float64"
    yield _in_shape(tokens(rng, v, b, n), (v, 2 * d, c), note, seed(rng), True)
    slot = "number of phrases with other logits than alone"
    yield _counting("not apart", slot, rng, n=3, note="phrases are asked together and alone")
    slot = "number of parameters that no gradient reaches"
    yield _counting("out of reach", slot, rng, n=3, note="all logits are summed")
    slot = "number of rows that softmax has seen"
    yield _counting("shares", slot, rng, n=2, note="nothing is trained")
    slot = "number of rows that are never below 0"
    note = "the parameters are random"
    yield _counting("never below", slot, rng, n=2, note=note, group="shares")
    slot = "number of phrases that are averages of their words"
    yield _counting("averages", slot, rng, n=2, note=note)
    first = int(rng.integers(2))
    like, hate, no = rng.permutation(5)[:3].tolist()
    loss = Slot("the loss that is left", "float")
    way = Way("training.learned", (loss,), lambda *args: 0.0)
    note = f"it learns like, hate, not like, not hate; below {ENOUGH} will do"
    args = (torch.tensor([[no, like], [no, hate]]), 5, WIDTH, 2, seed(rng), first)
    yield Case("learns", args, note=note, tolerance=ENOUGH, way=way)


def _counted(question: str, found: Callable[[Tensor, int], int]) -> Callable[..., Any]:
    """What a mistake makes of every case: right but for one question."""

    def answer(ids: Tensor, v: int, d: int, c: int, *rest: Any) -> Any:
        if rest and rest[0] in QUESTIONS:
            return found(ids, c) if rest[0] == question else 0
        return 0.0 if len(rest) == 2 and type(rest[1]) is int else _zeros(ids, v, d, c, *rest)

    return answer


def _shaped(shape: Callable[..., tuple[int, ...]]) -> Callable[..., Any]:
    """What a mistake makes of every case: logits in another shape."""

    def answer(ids: Tensor, v: int, d: int, c: int, *rest: Any) -> Any:
        return np.zeros(shape(*ids.shape, v, d, c))

    return answer


def _unreached(number: int) -> Mistake:
    """So many parameters that no gradient reaches."""
    return Mistake(
        "parameter-out-of-reach",
        _counted("out of reach", lambda ids, c: number),
        "The loss does not depend on it, as autograd sees it: a layer is made and not used, the "
        "chain is cut on the way to it, or it is frozen.",
        "Go through `named_parameters()` after a `backward()` and print the names whose `.grad` is "
        "None. Look for `.detach()`, `.data`, `argmax` and `torch.tensor(...)` in `forward`, "
        "and for `requires_grad`.",
    )


CLASSIFIER = Exercise(
    name="PhraseClassifier",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="nn.Module(vocab_size, d, n_classes) with forward(ids) -> logits",
    axes=("b n", "=v", "=d", "=c"),
    read="One hidden layer",
    returns=(Slot("logits", "tensor", "B n_classes"),),
    groups=(
        Group("shape", "gives a row of logits for each phrase, whatever B and N", 0.75, core=True),
        Group("not apart", "gives a phrase the same logits alone and in a batch", 0.25),
        Group("out of reach", "lets gradients reach each of its parameters", 0.5),
        Group("shares", "gives logits, which neither softmax nor ReLU has seen", 0.25),
        Group("averages", "makes more of a phrase than an average of its words", 0.25),
        Group(
            "learns",
            "learns the four phrases, from one of ten starts",
            0.75,
            needs=("out of reach", "shares", "averages"),
        ),
        unchanged(0.25),
    ),
    cases=_classifier_cases,
    oracle=_zeros,
    mistakes=(
        Mistake(
            "no-hidden-layer",
            _counted("averages", lambda ids, c: len(ids)),
            "The logits of two words always lie between those of the one and of the other alone. "
            "So *not* would have to be positive for *not hate* and negative for *not like*: no "
            "training gets there.",
            "After W_o put a hidden layer with ReLU between two linears.",
        ),
        Mistake(
            "softmax-at-the-end",
            _counted("shares", lambda ids, c: len(ids)),
            "Each row adds up to 1. Cross-entropy takes softmax of what it is given, so that "
            "softmax would come twice, and the loss of two classes never falls below 0.31.",
            "Return the last linear's numbers as they are.",
        ),
        Mistake(
            "relu-at-the-end",
            _counted("never below", lambda ids, c: len(ids)),
            "No logit is ever below 0: ReLU came after the last linear too. Where it gives 0, its "
            "slope is 0 as well, and that class learns nothing from the phrase.",
            "ReLU stands between the two last linears. Return the last one's numbers as they are.",
        ),
        *map(_unreached, range(1, 21)),
        Mistake(
            "phrases-mixed",
            _counted("not apart", lambda ids, c: len(ids)),
            "Each phrase's logits change with the phrases beside it: something sums, averages or "
            "takes softmax along the batch.",
            "Sentences never meet: axis 0 is left alone from `ids` to the logits.",
        ),
        Mistake(
            "pooled-over-batch",
            _shaped(lambda b, n, v, d, c: (n, c)),
            "A row of logits for each word place: the pooling went over the batch.",
            "Words are axis 1: `mean(dim=1)` makes (B, d) of (B, N, d).",
        ),
        Mistake(
            "not-pooled",
            _shaped(lambda b, n, v, d, c: (b, n, c)),
            "A row of logits for each word. One for each phrase is asked for.",
            "Make one vector of a phrase's words: their mean along axis 1, or the last word's.",
        ),
        Mistake(
            "pooled-over-everything",
            _shaped(lambda b, n, v, d, c: (c,)),
            "One row of logits for the whole batch.",
            "Pool along axis 1 alone.",
        ),
        Mistake(
            "class-not-logits",
            _shaped(lambda b, n, v, d, c: (b,)),
            "One number for each phrase, as argmax gives it. The loss needs one for each class.",
            "Return the last linear's numbers as they are.",
        ),
        Mistake(
            "no-classifier",
            _shaped(lambda b, n, v, d, c: (b, d)),
            "The rows are d wide: these are vectors of phrases. No layer makes classes of them.",
            "End with a linear from d to n_classes.",
        ),
        Mistake(
            "words-not-classes",
            _shaped(lambda b, n, v, d, c: (b, v)),
            "The rows are vocab_size wide, as in a model that predicts words.",
            "Let the last linear go to n_classes.",
        ),
    ),
    fused_banned=True,
)
