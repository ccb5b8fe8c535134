"""The race over distance: one letter of a text is marked, and asked for at its end.

Lesson 10 runs it. Lesson 01 shows what this records:

    python -m attnlab.lessons.training.race
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path
from typing import Any

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

from attnlab.figures import live

LENGTH, CLASSES = 17, 8  # tokens of a text; letters
ASKS = 2 * CLASSES  # the last token, which asks: which letter was marked?
WIDTH, LAYERS = 32, 4  # numbers a token; layers of the convolution
STEPS, BATCH, RATE = 600, 64, 0.003
FRESH = 1000  # texts that a racer is tested on
LEARNED = 0.5  # a loss below it; guessing costs log 8 = 2.08
SEEDS, DISTANCES = (1, 2, 3), tuple(range(1, LENGTH))
RECORD = Path(live.__file__).parent / "race.json"


def texts(
    count: int, distance: int, draw: torch.Generator, length: int = LENGTH
) -> tuple[Tensor, Tensor]:
    """Texts and their marked letters: 0 to 7 are letters, 8 to 15 the same letters, marked.

    Args:
        count: of texts.
        distance: of the marked letter from the end, 1 to length − 1.
        draw: where letters are drawn from.
        length: tokens of a text, the last of which asks.
    Returns:
        (count, length) ids and (count,) letters.
    """
    ids = torch.randint(CLASSES, (count, length), generator=draw)
    ids[:, -1] = ASKS
    marked = ids[:, -1 - distance].clone()
    ids[:, -1 - distance] += CLASSES
    return ids, marked


class Racer(nn.Module):
    """Embeds, brings what it can to the last token, and classifies there."""

    def __init__(self) -> None:
        super().__init__()
        self.letters, self.mark = nn.Embedding(CLASSES + 1, WIDTH), nn.Parameter(torch.randn(WIDTH))
        self.classes = nn.Linear(WIDTH, CLASSES)

    def embed(self, ids: Tensor) -> Tensor:
        """Letters (B, N) as rows (B, N, d); each marked one has the same vector added to it."""
        is_marked = (ids >= CLASSES) & (ids < ASKS)
        letters = torch.where(ids == ASKS, CLASSES, ids % CLASSES)
        return self.letters(letters) + is_marked[..., None] * self.mark

    def states(self, x: Tensor) -> list[Tensor]:
        """What is handed over, in the order in which it is: the last row of the last answers.

        Args:
            x: (B, N, d), the embedded text.
        Returns:
            (B, some, d) each.
        """
        raise NotImplementedError

    def forward(self, ids: Tensor) -> Tensor:
        return self.classes(self.states(self.embed(ids))[-1][:, -1])  # (B, CLASSES)


class Recurrent(Racer):
    """A summary that is handed on from token to token."""

    def __init__(self, kind: Callable[..., nn.RNN | nn.GRU]) -> None:
        super().__init__()
        self.layer = kind(WIDTH, WIDTH, batch_first=True)

    def states(self, x: Tensor) -> list[Tensor]:
        summaries: list[Tensor] = []
        summary = None
        for row in x.split(1, dim=1):
            summaries.append(self.layer(row, summary)[0])
            summary = summaries[-1].transpose(0, 1)  # (1, B, d)
        return summaries

    def forward(self, ids: Tensor) -> Tensor:
        """The same in one call, which is quicker and waits as often."""
        return self.classes(self.layer(self.embed(ids))[0][:, -1])


class Convolution(Racer):
    """Four layers, each of which sees one neighbour on either side."""

    def __init__(self, gaps: Iterable[int] = (1,) * LAYERS) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Conv1d(WIDTH, WIDTH, 3, padding=gap, dilation=gap) for gap in gaps
        )

    def states(self, x: Tensor) -> list[Tensor]:
        found = [x]
        for layer in self.layers:
            found.append(layer(found[-1].mT).relu().mT)
        return found


class Attention(Racer):
    """The last token looks once at all of them; no positions."""

    def __init__(self) -> None:
        super().__init__()
        self.W_q, self.W_k, self.W_v = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(3))

    def states(self, x: Tensor) -> list[Tensor]:
        scores = self.W_q(x[:, -1:]) @ self.W_k(x).mT / WIDTH**0.5  # (B, 1, N)
        return [x, scores.softmax(dim=-1) @ self.W_v(x)]


class Placed(Attention):
    """The same look, at tokens that say where they stand: a learned row for each place is added."""

    def __init__(self, spread: float = 1.0) -> None:
        super().__init__()
        self.places = nn.Parameter(spread * torch.randn(LENGTH, WIDTH))  # nn.Embedding's start: 1

    def embed(self, ids: Tensor) -> Tensor:
        return super().embed(ids) + self.places


RACERS: dict[str, Callable[[], Racer]] = {
    "RNN": lambda: Recurrent(nn.RNN),
    "GRU": lambda: Recurrent(nn.GRU),
    "convolution": Convolution,
    "attention": Attention,
}
PLACED = "attention with positions"  # in lesson 01 alone: it serves texts of LENGTH tokens only
RECORDED = {**RACERS, PLACED: Placed}
WAITS = {"RNN": LENGTH, "GRU": LENGTH, "convolution": LAYERS, "attention": 1, PLACED: 1}


def learn(
    racer: nn.Module,
    distance: int,
    draw: torch.Generator,
    losses: list[float],
    steps: Iterable[int] = range(STEPS),
) -> None:
    """Train on texts of one distance, new ones at each step, and note each step's loss."""
    optimizer = torch.optim.Adam(racer.parameters(), lr=RATE)
    for _ in steps:
        ids, marked = texts(BATCH, distance, draw)
        loss = F.cross_entropy(racer(ids), marked)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())


@torch.no_grad()
def share_right(
    racer: nn.Module, distance: int, draw: torch.Generator, length: int = LENGTH
) -> float:
    """Of fresh texts."""
    ids, marked = texts(FRESH, distance, draw, length)
    return (racer(ids).argmax(dim=-1) == marked).float().mean().item()


def steps_needed(losses: list[float]) -> int | None:
    """Steps until the loss was small; None if it never was."""
    return next((step for step, loss in enumerate(losses) if loss < LEARNED), None)


def slopes(racer: Racer, distance: int, draw: torch.Generator) -> list[list[float]]:
    """How large the loss's slope is in each state, beside that in the state that answers.

    Returns:
        For each of the racer's states a list with a mean size for each of its rows.
    """
    ids, marked = texts(FRESH, distance, draw)
    states = racer.states(racer.embed(ids))
    loss = F.cross_entropy(racer.classes(states[-1][:, -1]), marked)
    sizes = [slope.norm(dim=-1).mean(dim=0) for slope in torch.autograd.grad(loss, states)]
    return [(size / sizes[-1][-1]).tolist() for size in sizes]


def enter(name: str, distance: int, seed: int) -> dict[str, Any]:
    """One racer at one distance, from its start, and one place nearer and farther."""
    torch.manual_seed(seed)
    racer, draw = RECORDED[name](), torch.Generator().manual_seed(seed)
    losses: list[float] = []
    before = slopes(racer, distance, draw)
    learn(racer, distance, draw, losses)
    beside = [at for at in (distance - 1, distance + 1) if at in DISTANCES]
    return {
        "right": share_right(racer, distance, draw),
        "steps": steps_needed(losses),
        "before": before,
        "after": slopes(racer, distance, draw),
        "beside": [round(share_right(racer, at, draw), 3) for at in beside],
    }


def record() -> dict[str, Any]:
    """All racers, distances and seeds: what each seed did, and the middle one's slopes."""
    racers = {}
    for name in RECORDED:
        entered = []
        for distance in DISTANCES:
            entered.append([enter(name, distance, seed) for seed in SEEDS])
            told = [f"{each['right']:.2f} (steps: {each['steps']})" for each in entered[-1]]
            print(f"{name}, distance {distance}: {', '.join(told)}", flush=True)
        racers[name] = {
            "parameters": sum(each.numel() for each in RECORDED[name]().parameters()),
            "waits": WAITS[name],
            "right": [[round(each["right"], 3) for each in seeds] for seeds in entered],
            "beside": [[each["beside"] for each in seeds] for seeds in entered],
            "steps": [[each["steps"] for each in seeds] for seeds in entered],
            "before": [_middle([each["before"] for each in seeds]) for seeds in entered],
            "after": [_middle([each["after"] for each in seeds]) for seeds in entered],
        }
    return {
        "about": "right, steps: for each distance one number a seed; beside: for each distance and "
        "seed what is right one place nearer and one farther; before, after training: for "
        "each distance the sizes of the loss's slope in the racer's states, beside that in the "
        "state that answers, the middle of the seeds",
        "command": "python -m attnlab.lessons.training.race",
        "date": date.today().isoformat(),
        "versions": {"python": platform.python_version(), "torch": torch.__version__},
        "machine": f"{platform.system()}, {platform.machine()}, one thread",
        "settings": {
            "length": LENGTH,
            "classes": CLASSES,
            "width": WIDTH,
            "steps": STEPS,
            "batch": BATCH,
            "rate": RATE,
            "fresh": FRESH,
            "learned": LEARNED,
            "seeds": SEEDS,
            "distances": DISTANCES,
        },
        "racers": racers,
    }


def _middle(seeds: list[list[list[float]]]) -> list[list[float]]:
    """The middle one of the seeds' numbers, to three digits."""
    lines = [torch.tensor(rows).median(dim=0).values for rows in zip(*seeds, strict=True)]
    return [[float(f"{number:.3g}") for number in line.tolist()] for line in lines]


def write(path: Path = RECORD) -> None:
    """Record the race; the file is the old one or the new one, whole, at every moment."""
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(record()) + "\n", encoding="utf-8")
    os.replace(unfinished, path)


if __name__ == "__main__":
    torch.set_num_threads(1)
    write()
    print(f"written: {RECORD}")
