"""Two texts of lesson 06, of six words each: one that nobody can predict, one whose past helps.

And what its little model needs beside them: attention with a mask, the loop that trains it, a loss
without a future, and a way to write.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F

LONG = 12  # words in a text
MANY = 64  # texts in a batch
WORDS = ("one", "two", "sheep", "runs", "run", "and")
CLAUSES = torch.tensor([[0, 2, 3, 5], [1, 2, 4, 5]])  # one sheep runs and; two sheep run and


def dice(rng: torch.Generator) -> torch.Tensor:
    """(MANY, LONG) rolls of a die, from 0 to 5, each independent of the others."""
    return torch.randint(6, (MANY, LONG), generator=rng)


def sheep(rng: torch.Generator) -> torch.Tensor:
    """(MANY, LONG) places in WORDS: three clauses each, of one sheep or of two, as it falls."""
    return CLAUSES[torch.randint(2, (MANY, 3), generator=rng)].flatten(1)


def in_words(text: torch.Tensor) -> str:
    """One text (n,) of sheep."""
    return " ".join(WORDS[word] for word in text.tolist())


def masked(attend: torch.Tensor) -> Callable[..., tuple[torch.Tensor, None]]:
    """Attention (x, Wq, Wk, Wv) that reads where a mask (N, N) says so, True = attend."""

    def read(x: torch.Tensor, *matrices: torch.Tensor) -> tuple[torch.Tensor, None]:
        q, k, v = (x @ each for each in matrices)
        mask = attend[: x.shape[1], : x.shape[1]]
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask), None

    return read


def train(
    loss_on: Callable[..., torch.Tensor],
    draw: Callable[[torch.Generator], torch.Tensor],
    read: Callable[..., Any],
    seed: int = 1,
    steps: int = 200,
) -> tuple[list[torch.Tensor], list[float]]:
    """Parameters after some steps on fresh texts, and the loss at each: lesson 05's, with Adam.

    Args:
        loss_on: called with texts (B, N), parameters and read; returns one number.
        draw: dice or sheep.
        read: attention, of x, Wq, Wk and Wv.
    """
    rng = torch.Generator().manual_seed(seed)
    sizes = [(18, 64), (18, 64), (18, 64), (64, 6)]  # Wq, Wk, Wv and W_word
    parameters = [torch.randn(*size, generator=rng) / size[0] ** 0.5 for size in sizes]
    optimizer = torch.optim.Adam([each.requires_grad_() for each in parameters], lr=0.02)
    history = []
    for _ in range(steps):
        loss = loss_on(draw(rng), parameters, read)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.item())
    return parameters, history


def train_on_both(
    loss_on: Callable[..., torch.Tensor], readers: Mapping[str, Callable[..., Any]]
) -> dict[str, dict[str, tuple[list[torch.Tensor], list[float]]]]:
    """By text and name of a reader, what `train` returns."""
    return {
        draw.__name__: {name: train(loss_on, draw, read) for name, read in readers.items()}
        for draw in (dice, sheep)
    }


def loss_when_cut(predict: Callable[..., torch.Tensor], text: torch.Tensor, *model: Any) -> float:
    """The mean cross-entropy where nothing stands behind the word that asks.

    Args:
        predict: called with (B, n) words and the model, returns scores (B, n, 6).
        text: (B, N) words.
        model: what predict takes besides.
    """
    asked = [predict(text[:, :n], *model)[:, -1] for n in range(1, text.shape[1])]
    return F.cross_entropy(torch.cat(asked), text[:, 1:].T.flatten()).item()


def written(
    predict: Callable[..., torch.Tensor], start: Sequence[int], *model: Any, more: int = 10
) -> str:
    """What a model of sheep writes after a start: each time the word with the highest score.

    Args:
        predict: as above.
        start: words.
        model: what predict takes besides.
        more: words that it writes.
    """
    text = torch.tensor([start])
    for _ in range(more):
        newest = predict(text, *model)[:, -1].argmax(dim=-1, keepdim=True)
        text = torch.cat([text, newest], dim=1)
    return in_words(text[0])
