"""What lesson 08 uses and does not show: the desk's questions, its training, PyTorch's module."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

AUTHORS = 10
ROOMS = 10
CARDS = 6
NAMES = [
    "Austen",
    "Borges",
    "Chekhov",
    "Dante",
    "Eliot",
    "Frisch",
    "Goethe",
    "Hesse",
    "Ibsen",
    "Joyce",
]
Questions = tuple[Tensor, Tensor, Tensor, Tensor]


def questions(size: int, rng: torch.Generator, new_pairs: bool = False) -> Questions:
    """Authors asked for (B, 4), catalogues (B, 6, 20), which cards are real, right rooms (B, 4).

    Author a never stands in room a, unless new_pairs is True: then about half the authors do.
    """
    authors = torch.rand(size, AUTHORS, generator=rng).argsort(-1)[:, :CARDS]
    rooms = (authors + torch.randint(1, ROOMS, authors.shape, generator=rng)) % ROOMS
    if new_pairs:
        moved = torch.rand(rooms.shape, generator=rng) < 0.5
        rooms = torch.where(moved, authors, rooms)
    real = torch.arange(CARDS) < torch.randint(4, CARDS + 1, (size, 1), generator=rng)
    cards = torch.cat([F.one_hot(authors, AUTHORS), F.one_hot(rooms, ROOMS)], -1).float()
    asked = torch.rand(size, 4, generator=rng).argsort(-1)  # the first four cards, shuffled
    return authors.gather(1, asked), cards, real, rooms.gather(1, asked)


def in_words(asked: Tensor, cards: Tensor, real: Tensor) -> tuple[list[str], list[str], Tensor]:
    """Of one catalogue: who is asked for, what each card says, and what is blocked (4, 6)."""
    said = [
        f"{NAMES[card[:AUTHORS].argmax()]} {int(card[AUTHORS:].argmax())}" if ok else "dummy"
        for card, ok in zip(cards, real.tolist(), strict=True)
    ]
    return [NAMES[author] for author in asked.tolist()], said, (~real).expand(len(asked), -1)


class Ready(nn.MultiheadAttention):
    """PyTorch's own module with two heads, called as the lesson calls its own."""

    def __init__(self, need_weights: bool = True) -> None:
        super().__init__(16, 2, kdim=AUTHORS + ROOMS, vdim=AUTHORS + ROOMS, batch_first=True)
        self.need_weights = need_weights

    def forward(  # type: ignore[override]
        self, x: Tensor, context: Tensor, real: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        return super().forward(
            x, context, context, ~real, self.need_weights, average_attn_weights=False
        )


def learn(desk: nn.Module, seed: int = 0, steps: int = 150) -> list[float]:
    """Train a desk by Adam, with new catalogues in each step: its losses."""
    rng, losses = torch.Generator().manual_seed(seed), []
    optimizer = torch.optim.Adam([p for p in desk.parameters() if p.requires_grad], lr=0.01)
    for _ in range(steps):
        asked, cards, real, rooms = questions(64, rng)
        loss = F.cross_entropy(desk(asked, cards, real)[0].flatten(0, 1), rooms.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def as_pytorchs(ours: nn.Module) -> nn.MultiheadAttention:
    """PyTorch's module with the numbers of the lesson's `CrossAttention`."""
    own = ours.state_dict()
    (d, width), dtype = own["W_k.weight"].shape, own["W_k.weight"].dtype
    n_heads = int(ours.n_heads)  # type: ignore[arg-type]
    theirs = nn.MultiheadAttention(d, n_heads, kdim=width, vdim=width, batch_first=True)
    packed = {f"{letter}_proj_weight": own[f"W_{letter}.weight"] for letter in "qkv"}
    if width == d:  # then it keeps the three as one
        packed = {"in_proj_weight": torch.cat(list(packed.values()))}
    packed["in_proj_bias"] = torch.cat([own[f"W_{letter}.bias"] for letter in "qkv"])
    packed |= {f"out_proj.{kind}": own[f"W_o.{kind}"] for kind in ("weight", "bias")}
    theirs.to(dtype).load_state_dict(packed)
    return theirs
