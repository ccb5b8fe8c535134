"""Lesson 10's phrases, *like*, *hate*, *not like*, *not hate*: training, and what is answered.

losses = learn(train_step, model, "plain", TWO_WORDS, HATE_LIKE)
answers(model)  # 'like → like, hate → hate, not like → hate, not hate → a coin'
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from attnlab.lessons.training.figures import Watch

ONE_WORD = torch.tensor([[0], [1]])  # like, hate
TWO_WORDS = torch.tensor([[2, 0], [2, 1]])  # not like, not hate
WORDS = "like", "hate", "not"  # by number; each may be the answer
LIKE_HATE = torch.tensor([0, 1])  # the right words
HATE_LIKE = torch.tensor([1, 0])
PHRASES = "like", "hate", "not like", "not hate"

Step = Callable[[nn.Module, Tensor, Tensor, torch.optim.Optimizer], float]


def learn(
    train_step: Step, model: nn.Module, name: str, two_words: Tensor, targets: Tensor
) -> list[float]:
    """Losses of 400 rounds, each of two steps, one on each batch."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    with Watch(name, 400) as watch:
        for _ in watch:
            short = train_step(model, ONE_WORD, LIKE_HATE, optimizer)
            long = train_step(model, two_words, targets, optimizer)
            watch.losses.append((short + long) / 2)
    return watch.losses


def answers(model: nn.Module) -> str:
    """The likeliest word after each of the four phrases; 'a coin' where none gets 0.8."""
    with torch.no_grad():
        shares = torch.cat([model(ONE_WORD), model(TWO_WORDS)]).softmax(-1)
    said = [WORDS[int(each.argmax())] if each.max() > 0.8 else "a coin" for each in shares]
    return ", ".join(map(" → ".join, zip(PHRASES, said, strict=True)))
