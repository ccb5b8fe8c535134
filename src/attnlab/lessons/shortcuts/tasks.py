"""What lesson 12 asks of each shortcut: to find a mark, or a book among many, or four at once.

task = books(32)
x, answers = task.draw(64, torch.Generator().manual_seed(1))
reader = ...  # (B, N, …) in, logits (B, task.answers, LETTERS) out; begins with task.embed()
share = learn(reader, task, seed=1)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

from attnlab.lessons.training import race

LETTERS = race.CLASSES  # what an answer is one of; who guesses is right in 1 of 8
WIDTH = race.WIDTH  # numbers a token
TITLES = 64
BATCH, RATE = 64, 0.003
FRESH = 1000  # texts that a reader is tested on

Draw = torch.Generator


@dataclass(frozen=True, slots=True)
class Task:
    """Texts whose last token asks.

    Attributes:
        name: for tables.
        draw: how many texts, and where from, in; texts and their answers (count, answers) out.
        embed: makes a module, texts in, (B, N, WIDTH) out.
        answers: letters that one text asks for.
        steps: of training; attention over all tokens needs no more.
    """

    name: str
    draw: Callable[[int, Draw], tuple[Tensor, Tensor]]
    embed: Callable[[], nn.Module]
    answers: int = 1
    steps: int = 600


class Letters(race.Racer):
    """The race's tokens as rows: a marked letter has the same vector added to it as any other."""

    def forward(self, ids: Tensor) -> Tensor:
        return self.embed(ids)


def mark(distance: int) -> Task:
    """The race of lessons 01 and 10: which letter, so many tokens back, is marked?

    Texts have the race's 17 tokens, or as many as the distance needs.
    """

    def draw(count: int, source: Draw) -> tuple[Tensor, Tensor]:
        ids, marked = race.texts(count, distance, source, max(race.LENGTH, distance + 1))
        return ids, marked[:, None]

    return Task(f"mark {distance} back", draw, Letters, steps=300)


class Shelf(nn.Module):
    """Books as rows: the sum of what stands on the spine and of the letter inside.

    Args:
        facts: numbers on a spine, each from a list of its own.
        choices: how long such a list is.
    """

    def __init__(self, facts: int, choices: int) -> None:
        super().__init__()
        self.spines = nn.ModuleList(nn.Embedding(choices, WIDTH) for _ in range(facts))
        self.asked = nn.ModuleList(nn.Embedding(choices, WIDTH) for _ in range(facts))
        self.inside = nn.Embedding(LETTERS, WIDTH)

    def forward(self, books: Tensor) -> Tensor:
        """(B, N, facts + 1) to (B, N, WIDTH); the last row is the question."""
        *facts, letter = books.unbind(-1)
        rows = self.inside(letter[:, :-1])
        question = torch.zeros_like(rows[:, :1])
        for spine, asked, fact in zip(self.spines, self.asked, facts, strict=True):
            rows = rows + spine(fact[:, :-1])
            question = question + asked(fact[:, -1:])
        return torch.cat([rows, question], dim=1)


def books(number: int, facts: int = 1, choices: int = TITLES) -> Task:
    """What letter is in the book of which the question names a fact? One answer for each fact.

    A text is `number` books and a question. No two books of a text have the same title, nor
    another fact in common; the letter inside has nothing to do with them.
    """

    def draw(count: int, source: Draw) -> tuple[Tensor, Tensor]:
        orders = [torch.rand(count, choices, generator=source).argsort(-1) for _ in range(facts)]
        spines = torch.stack(orders, dim=-1)[:, :number]  # (count, number, facts)
        inside = torch.randint(LETTERS, (count, number), generator=source)
        wanted = torch.randint(number, (count, facts), generator=source)
        question = spines.gather(1, wanted[:, None])
        shelf = torch.cat([spines, inside[..., None]], dim=-1)
        last = torch.cat([question, torch.zeros_like(question[..., :1])], dim=-1)
        return torch.cat([shelf, last], dim=1), inside.gather(1, wanted)

    name = f"{number} books" if facts == 1 else f"{facts} questions"
    return Task(name, draw, lambda: Shelf(facts, choices), facts, steps=600 if facts == 1 else 1000)


def learn(reader: nn.Module, task: Task, seed: int) -> float:
    """Train a reader on new texts at each step; the share of fresh ones it answers right."""
    source = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(reader.parameters(), lr=RATE)
    for _ in range(task.steps):
        texts, answers = task.draw(BATCH, source)
        loss = F.cross_entropy(reader(texts).flatten(0, 1), answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return share_right(reader, task, source)


@torch.no_grad()
def share_right(reader: nn.Module, task: Task, source: Draw, fresh: int = FRESH) -> float:
    """Of fresh texts, read a few at a time: long ones have many scores."""
    texts, answers = task.draw(fresh, source)
    found = torch.cat([reader(few).argmax(dim=-1) for few in texts.split(40)])
    return (found == answers).float().mean().item()
