"""What a model can do, and what each of its heads does: by removing it, and by exchanging rows.

A map of weights shows where a head looks, not what that does. So each head is removed, by 0 and by
its mean, and each task is asked again; and what a head gives at the word before a verb is exchanged
with what it gives where the subject has the other number.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attnlab.small import grammar
from attnlab.small.grammar import NUMBER, START, Writer
from attnlab.small.model import Change, SmallModel
from attnlab.small.train import batch, loss_of

Head = tuple[int, int]  # layer and head, from 0
Asked = Callable[[Tensor, Change | None], Tensor]  # a model, as it is asked: ids (B, N) to logits
TASKS = ("agreement", "brackets", "it", "bank", "repeats")
DISTANCES = (1, 4, 5, 7, 8, 9, 10, 11, 12, 13)  # what up to three clauses can make of it


@dataclass(frozen=True, slots=True)
class Question:
    """What comes after a text: one of the right words, rather than one of the wrong ones."""

    text: list[str]
    right: Sequence[str]
    wrong: Sequence[str]


# Questions ----------------------------------------------------------------------------------------


def agreement(rng: random.Random, distance: int | None = None) -> tuple[Question, Question]:
    """A subject and what stands between it and its verb; and the same with the other number.

    Args:
        distance: from the subject to its verb, in words, one of `DISTANCES`; None draws it.
    """
    writer = Writer(rng)
    while True:
        writer.text = []
        for _ in range(rng.randrange(4)):
            writer.clause()
        if distance is None or len(writer.text) == distance - 1:
            break
    which, many = rng.randrange(len(grammar.SINGULAR)), rng.random() < 0.5
    verbs = (grammar.RUNS, grammar.RUN)
    asked = [
        Question([START, "the", nouns[which], *writer.text], verbs[plural], verbs[not plural])
        for plural, nouns in enumerate((grammar.SINGULAR, grammar.PLURAL))
    ]
    return asked[many], asked[not many]


def questions(task: str, rng: random.Random, count: int) -> list[Question]:
    """Questions of a task, on sentences that the grammar writes."""
    ask = {"brackets": _brackets, "it": _it, "bank": _bank, "repeats": _repeats}
    if task == "agreement":
        return [agreement(rng)[0] for _ in range(count)]
    return [ask[task](rng) for _ in range(count)]


def _sentence(kind: str, rng: random.Random) -> list[str]:
    writer = Writer(rng)
    writer.say(START)
    writer.sentence(kind)
    return writer.text


def _brackets(rng: random.Random) -> Question:
    """Before a bracket that closes, one that has another in it or stands in one."""
    while True:
        text = _sentence("brackets", rng)
        closed = [at for at, word in enumerate(text) if word in grammar.CLOSING]
        if len(closed) > 1 and len(text) <= 40:
            break
    at = rng.choice(closed)
    return Question(text[:at], [text[at]], [each for each in grammar.CLOSING if each != text[at]])


def _it(rng: random.Random) -> Question:
    text = _sentence("it", rng)
    right, nouns = text[-2], {text[3], text[7]}
    return Question(text[:-2], [right], sorted(nouns - {right}))


def _bank(rng: random.Random) -> Question:
    text = _sentence("bank", rng)
    wet, rich = (grammar.WET, grammar.RICH)
    return Question(text[:-2], *((wet, rich) if text[-2] in wet else (rich, wet)))


def _repeats(rng: random.Random) -> Question:
    """Within a run that comes again: not its first word, which the grammar may leave out."""
    run = rng.sample(grammar.CONTENT, rng.randint(3, 8))
    between = [";"] if rng.random() < 0.5 else []
    known = rng.randrange(1, len(run))
    right = run[known]
    others = [word for word in grammar.words if word != right]
    return Question([START, *run, *between, *run[:known]], [right], others)


# Answers ------------------------------------------------------------------------------------------


def _padded(asked: Sequence[Question]) -> tuple[Tensor, Tensor]:
    """Texts as ids, filled up at the end, where nothing looks; and the place of each last word."""
    last = torch.tensor([len(each.text) - 1 for each in asked])
    ids = torch.zeros(len(asked), int(last.max()) + 1, dtype=torch.long)
    for row, each in enumerate(asked):
        ids[row, : len(each.text)] = torch.tensor([NUMBER[word] for word in each.text])
    return ids, last


@torch.no_grad()
def answers(model: Asked, asked: Sequence[Question], change: Change | None = None) -> Tensor:
    """Whether the right words together are likelier than the wrong ones, (questions,) bool."""
    ids, last = _padded(asked)
    shares = model(ids, change)[torch.arange(len(asked)), last].softmax(dim=-1)
    sums = [
        [float(row[[NUMBER[word] for word in some]].sum()) for some in (each.right, each.wrong)]
        for row, each in zip(shares, asked, strict=True)
    ]
    return torch.tensor([right > wrong for right, wrong in sums])


def right_share(model: Asked, asked: Sequence[Question], change: Change | None = None) -> float:
    """The share of questions that the model answers rightly."""
    return float(answers(model, asked, change).float().mean())


# Interventions ------------------------------------------------------------------------------------


def without(heads: Iterable[Head], instead: Mapping[int, Tensor] | None = None) -> Change:
    """Removes heads.

    Args:
        heads: layer and head.
        instead: by layer what takes their place, (H, 1, d/H); None is 0.
    """
    removed = list(heads)

    def change(layer: int, out: Tensor) -> Tensor:
        out = out.clone()
        for at, head in removed:
            if at == layer:
                out[:, head] = 0 if instead is None else instead[layer][head]
        return out

    return change


@torch.no_grad()
def verbs(model: Asked, text: Sequence[str], change: Change | None = None) -> dict[str, float]:
    """Of what a model gives to verbs after a text, the shares of both numbers.

    Returns:
        "runs", of all in the singular, and "run", of all in the plural; they add up to 1.
    """
    shares = model(torch.tensor([[NUMBER[word] for word in text]]), change)[0, -1].softmax(dim=-1)
    one, many = (
        float(shares[[NUMBER[verb] for verb in some]].sum()) for some in (grammar.RUNS, grammar.RUN)
    )
    return {"runs": one / (one + many), "run": many / (one + many)}


def removal(
    model: SmallModel, layer: int, text: Sequence[str]
) -> Callable[[int | None], dict[str, float]]:
    """Of a head of a layer, or of None, which verb comes after a text without it, as `verbs`."""

    def without_it(head: int | None) -> dict[str, float]:
        return verbs(model, text, without([] if head is None else [(layer, head)]))

    return without_it


@torch.no_grad()
def heads_outputs(model: SmallModel, ids: Tensor) -> dict[int, Tensor]:
    """What the heads of each layer give, (B, H, N, d/H)."""
    kept: dict[int, Tensor] = {}

    def keep(layer: int, out: Tensor) -> Tensor:
        kept[layer] = out
        return out

    model(ids, keep)
    return kept


def means(model: SmallModel, rng: random.Random) -> dict[int, Tensor]:
    """What the heads of each layer give on average, (H, 1, d/H), over ordinary texts."""
    ids, _ = batch(rng, 64, model.sizes.positions)
    outputs = heads_outputs(model, ids)
    return {layer: out.mean(dim=(0, 2), keepdim=True)[0] for layer, out in outputs.items()}


def exchanged(head: Head, donor: Mapping[int, Tensor], last: Tensor) -> Change:
    """What one head gives at the last word of each text is taken from another text."""
    layer, which = head

    def change(at: int, out: Tensor) -> Tensor:
        if at != layer:
            return out
        out = out.clone()
        rows = torch.arange(len(out))
        out[rows, which, last] = donor[layer][rows, which, last]
        return out

    return change


def flipped(model: SmallModel, head: Head, pairs: Sequence[tuple[Question, Question]]) -> float:
    """How often the verb has the other number, if one head's row is the other sentence's."""
    asked, other = zip(*pairs, strict=True)
    ids, last = _padded(other)
    change = exchanged(head, heads_outputs(model, ids), last)
    return 1 - right_share(model, asked, change)


# Facts --------------------------------------------------------------------------------------------


def heads_of(model: SmallModel) -> list[Head]:
    return list(itertools.product(range(model.sizes.layers), range(model.sizes.heads)))


def named(head: Head) -> str:
    """As people count: layer 2, head 3."""
    return f"layer {head[0] + 1}, head {head[1] + 1}"


@torch.no_grad()
def looks(
    model: SmallModel, rng: random.Random, change: Change | None = None
) -> dict[Head, tuple[float, float]]:
    """For each head, its mean weight on the word before, and on what came after the same word.

    Both where a run comes again, the first word of that aside; with heads removed, if `change` is.
    """
    sums: dict[Head, list[tuple[float, float]]] = {head: [] for head in heads_of(model)}
    for _ in range(60):
        size = rng.randint(4, 8)
        run = rng.sample(grammar.CONTENT, size)
        ids = torch.tensor([[NUMBER[word] for word in (START, *run, *run)]])
        for layer, weights in enumerate(model.run(ids, change)[1]):
            for at in range(size + 1, 2 * size):
                for head, row in enumerate(weights[0, :, at + 1]):
                    before, after = float(row[at]), float(row[at + 2 - size])
                    sums[layer, head].append((before, after))
    return {
        head: (sum(a for a, _ in each) / len(each), sum(b for _, b in each) / len(each))
        for head, each in sums.items()
    }


def roles(model: SmallModel, rng: random.Random) -> dict[str, Head]:
    """Which head has which role: by exchange of rows, or by where it looks in a run."""
    pairs = [agreement(rng) for _ in range(200)]
    seen = looks(model, rng)
    return {
        "subject": max(heads_of(model), key=lambda head: flipped(model, head, pairs)),
        "previous": max(seen, key=lambda head: seen[head][0]),
        "repeat": max(seen, key=lambda head: seen[head][1]),
    }


def measured(model: SmallModel, seed: int, count: int = 400) -> dict[str, Any]:
    """What a model can do: its loss beside the grammar's, tasks, and each head's part in them.

    Args:
        seed: of texts and questions.
        count: of questions of each task.
    """
    rng = random.Random(f"measured {seed}")
    ids, costs = batch(rng, count, model.sizes.positions)
    with torch.no_grad():
        loss = float(loss_of(model, ids))
    asked = {task: questions(task, rng, count) for task in TASKS}
    pairs = [agreement(rng) for _ in range(count)]
    average, seen = means(model, rng), looks(model, rng)
    two = {
        task: min(
            (right_share(model, some, without(both)), both)
            for both in itertools.combinations(heads_of(model), 2)
        )
        for task, some in asked.items()
    }
    return {
        "loss": loss,
        "best possible loss": float(costs[:, 1:].mean()),
        "right": {task: right_share(model, some) for task, some in asked.items()},
        "agreement by distance": {
            distance: right_share(model, [agreement(rng, distance)[0] for _ in range(count // 4)])
            for distance in DISTANCES
        },
        "roles": {role: named(head) for role, head in roles(model, rng).items()},
        "heads": {
            named(head): {
                "removed": {
                    t: right_share(model, some, without([head])) for t, some in asked.items()
                },
                "by its mean": {
                    task: right_share(model, some, without([head], average))
                    for task, some in asked.items()
                },
                "verb flipped by its row": flipped(model, head, pairs),
                "weight on the word before": seen[head][0],
                "weight on what came after the same word": seen[head][1],
            }
            for head in heads_of(model)
        },
        "worst pair removed": {
            task: {"right": share, "heads": [named(head) for head in both]}
            for task, (share, both) in two.items()
        },
    }
