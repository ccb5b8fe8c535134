"""What lesson 10's writer reads, documentation that everybody has; and how well it guesses."""

from __future__ import annotations

import inspect
import re

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SPAN = 64  # letters that the writer sees at once


def documentation() -> str:
    """The pages that come with Python, or PyTorch's where they do not; each paragraph once.

    Runs of spaces, which indent examples, are one space, as a sample would be full of them. Pages
    quote each other, and what stands in two of them could be both learned and held out.
    """
    try:
        from pydoc_data.topics import topics  # type: ignore[import-not-found,unused-ignore]

        pages = [*topics.values()]
    except ImportError:
        print(
            "This Python comes without its documentation (pydoc_data), so the model reads that of "
            "PyTorch instead: its samples and losses are not those that the lesson describes."
        )
        pages = [inspect.getdoc(each) or "" for each in vars(torch).values() if callable(each)]
    text = re.sub(" +", " ", "\n\n".join(pages))
    return "\n\n".join(dict.fromkeys(text.split("\n\n")))


@torch.no_grad()
def loss_on(model: nn.Module, ids: Tensor, first: int = 0, count: int = 100) -> float:
    """Mean over so many stretches, evenly spread, from the place `first` on."""
    some = ids.unfold(0, SPAN + 1, len(ids) // count)
    logits, targets = model(some[:, :-1])[:, first:], some[:, 1:][:, first:]
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten()).item()
