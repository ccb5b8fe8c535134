"""What one learned head of the small model reads, and what becomes of the text if it reads less."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch

from attnlab import small
from attnlab.checks.reference import weights as soft_weights
from attnlab.figures.live.mask_painter import Effect, Next
from attnlab.small import grammar, measure
from attnlab.small.model import Block

Tensor = torch.Tensor


def inside(words: Sequence[str]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """What the head gets that finds a verb's subject: causal attention of it is what the head does.

    Args:
        words: N that the small model knows.
    Returns:
        x: (1, N, 65) float64, a row for each word, and a 1 in it for the biases.
        Wq, Wk, Wv: (65, 16), in their last row the biases.
    """
    layer, head = small.head("subject")
    model = small.load()
    block = model.transformer.h[layer]
    assert isinstance(block, Block)
    attention = block.attn
    rows: list[Tensor] = []
    attention.register_forward_pre_hook(lambda _, given: rows.append(given[0]))
    model(small.numbered(words))
    x = torch.cat([rows[0], torch.ones(1, len(words), 1)], dim=-1).double()
    both = torch.cat([attention.c_attn.weight, attention.c_attn.bias[None]]).double()
    Wq, Wk, Wv = (
        part.unflatten(-1, (attention.heads, -1))[:, head] for part in both.chunk(3, dim=-1)
    )
    return x, Wq, Wk, Wv


def reader_by(attention: Callable[..., tuple[Tensor, Tensor]]) -> Callable[[Sequence[str]], Tensor]:
    """What `WhoListens` reads a reader's own sentence with: weights, (N, N), of words of the model.

    Args:
        attention: a learner's, of what `inside` gives.
    """
    return lambda words: attention(*inside(words))[1][0]


def verb_after(words: Sequence[str]) -> tuple[np.ndarray, Callable[[np.ndarray], Effect]]:
    """What `MaskPainter` takes of that head.

    Args:
        words: N that the small model knows; the first noun is the subject.
    Returns:
        scores: (N, N), scaled.
        effect: of a mask, (N, N) bool, True = attend, what the last word reads, or cannot where
            it would read most, and the verb that the model expects after it, without a mask and
            with this one.
    """
    layer, head = small.head("subject")
    x, Wq, Wk, Wv = inside(words)
    q, k, v = (x[0] @ each for each in (Wq, Wk, Wv))
    scores: np.ndarray = (q @ k.mT / q.shape[-1] ** 0.5).numpy()
    model = small.load()

    def after(mask: np.ndarray) -> tuple[str, float]:
        read = torch.from_numpy(
            soft_weights(scores.copy(), np.eye(len(words)), mask.copy(), scale=1)
        )

        def change(at: int, out: Tensor) -> Tensor:
            if at != layer:
                return out
            out = out.clone()
            out[0, head] = (read @ v).to(out.dtype)
            return out

        shares = measure.verbs(model, words, change)
        verb = max(shares, key=lambda each: shares[each])
        return verb, shares[verb]

    nouns = {**dict.fromkeys(grammar.SINGULAR, "runs"), **dict.fromkeys(grammar.PLURAL, "run")}
    right = next(nouns[word] for word in words if word in nouns)

    def following(by: str, verb: str, share: float) -> Next:
        return Next(by, f"{verb} {share:.2f}", verb == right)

    free = following("no mask", *after(np.ones(scores.shape, dtype=bool)))
    last, best = len(words) - 1, int(scores[-1].argmax())
    whom = "itself" if best == last else f"“{words[best]}”"

    def effect(mask: np.ndarray) -> Effect:
        verb, share = after(mask)
        can, hidden = ("reads", None) if mask[last, best] else ("cannot read", (last, best))
        does = f"{can} {whom}" if mask[last].any() else "reads nothing"
        told = f"“{words[-1]}” {does}: next, “{verb}”"
        return Effect(told, [free, following("this mask", verb, share)], hidden)

    return scores, effect
