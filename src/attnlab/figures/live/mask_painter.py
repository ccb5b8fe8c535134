"""Mask painter: cells are blocked and opened by hand, and the weights follow."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import traitlets

from attnlab.checks.reference import weights as soft_weights
from attnlab.figures.live import fallback
from attnlab.figures.live.figure import (
    Input,
    Values,
    WithRows,
    array,
    names,
    source,
    style,
    told_apart,
    whole,
)
from attnlab.figures.live.who_listens import closed, in_words
from attnlab.small.grammar import as_labels

BY_HAND = "by hand"
PRESETS = ("none", "causal", "padding", "causal and padding", "window")
MOST_STILL = 12  # tokens for which the still figure shows every preset
CONVENTIONS = {
    "attend": ("True = attend", "F.scaled_dot_product_attention(q, k, v, attn_mask=attend)"),
    "blocked": ("True = blocked", "nn.MultiheadAttention(…)(q, k, v, attn_mask=blocked)"),
}


class Next(NamedTuple):
    """What comes next in a text: by which mask, what, and whether it is right."""

    by: str
    said: str
    right: bool

    def __str__(self) -> str:
        return f"{self.by} → {self.said} {'✓' if self.right else '✗'}"


class Effect(NamedTuple):
    """What a mask does to a text: a line on it, what comes next, by it and by others, and why.

    `missed` is the cell, row and column, that the text would need and the mask blocks.
    """

    told: str
    following: Sequence[Next] = ()
    missed: tuple[int, int] | None = None


class MaskPainter(WithRows):
    """Weights whose cells are blocked and opened by pointer or keyboard.

    Args:
        scores: (N, N), scaled, of every query with every key.
        tokens: N labels, of queries and keys alike.
        preset: one of PRESETS, the mask to begin with.
        effect: of a mask, (N, N) bool, True = attend, what it does to a text.
    Raises:
        ValueError: sizes do not fit, or there is no such preset.

    Attributes:
        mask: (N, N) bool, True = attend, as in F.scaled_dot_product_attention; assigning to it
            paints the page.
        blocked: (N, N) bool, True = blocked, as in nn.MultiheadAttention: `~mask`.
        weights: (N, N), each row adds up to 1, or is 0 where all its keys are blocked.
        preset: which preset the mask is, 'by hand' if none.
        length: how many tokens are real where padding is blocked.
        window: how many tokens a query reads in a window, itself and those before it.
        row: the selected row.
    """

    _esm = source("mask_painter")
    _css = style("mask_painter")
    title = traitlets.Unicode("Mask painter").tag(sync=True)
    queries = "tokens"
    scores, tokens, mask = Input(), Input(), Input()
    preset, length, window, effect = Input(), Input(), Input(), Input()

    def __init__(
        self,
        scores: Any,
        tokens: Sequence[str],
        preset: str = "none",
        effect: Callable[[np.ndarray], Effect] | None = None,
    ) -> None:
        count = len(tokens)
        super().__init__(
            scores=scores,
            tokens=tokens,
            mask=None,
            preset=preset,
            length=max(count - count // 4, 1),
            window=min(3, max(count, 1)),
            effect=effect,
        )

    @property
    def blocked(self) -> np.ndarray:
        return ~self.mask

    @property
    def weights(self) -> np.ndarray:
        return np.array(self.state["weights"])

    def change(self, **inputs: Any) -> None:
        if "mask" in inputs:
            inputs.setdefault("preset", BY_HAND)
        if "tokens" in inputs:
            inputs["tokens"] = names("tokens", inputs["tokens"])
            # What nobody asked for must not keep a shorter sentence out.
            for each in ("length", "window"):
                inputs.setdefault(each, min(self._inputs[each], len(inputs["tokens"])))
        super().change(**inputs)

    def checked(self, inputs: Values) -> Values:
        tokens = names("tokens", inputs["tokens"])
        count, preset = len(tokens), inputs["preset"]
        scores = array("scores", inputs["scores"], (count, count))
        length = whole("length", inputs["length"], 1, count)
        window = whole("window", inputs["window"], 1, count)
        if preset == BY_HAND:
            mask = _bools(array("mask", inputs["mask"], (count, count)))
        else:
            mask = drawn(preset, count, length, window)
        return {
            "scores": scores,
            "tokens": tokens,
            "mask": mask,
            "preset": preset,
            "length": length,
            "window": window,
            "effect": inputs["effect"],
        }

    def computed(self, inputs: Values) -> Values:
        mask, tokens = inputs["mask"], as_labels(inputs["tokens"])
        named = told_apart(tokens)
        # Queries whose products with unit vectors are the scores, so that the oracle masks them.
        shares = soft_weights(inputs["scores"].copy(), np.eye(len(named)), mask.copy(), scale=1)
        told = [
            in_words(token, row, named) + closed(hidden)
            for token, row, hidden in zip(named, shares, ~mask, strict=True)
        ]
        effect = inputs["effect"](mask) if inputs["effect"] else Effect("")
        return {
            "tokens": tokens,
            "named": named,
            "weights": shares.tolist(),
            "blocked": (~mask).tolist(),
            "told": told,
            "counted": counted(tokens, mask),
            "effect": effect.told,
            "following": [each._asdict() for each in effect.following],
            "missed": effect.missed,
            "preset": inputs["preset"],
            "presets": list(PRESETS),
            "length": inputs["length"],
            "window": inputs["window"],
            "conventions": conventions(tokens, mask),
        }

    def _do(self, message: Values) -> None:
        """Do what the page asks.

        The page says which cell is the example, never what a cell becomes: what it shows may be one
        step behind.

        Args:
            message: {"toggle": [row, column]}, {"spread": [[row, column], …]}, in which all cells
                become what the first is, or one that every figure knows.
        """
        mask = np.array(self.mask)
        if "toggle" in message:
            row, column = message["toggle"]
            mask[row, column] ^= True
            message = {"change": {"mask": mask}}
        elif "spread" in message:
            (row, column), *others = message["spread"]
            for other in others:
                mask[tuple(other)] = mask[row, column]
            message = {"change": {"mask": mask}}
        super()._do(message)

    def summary(self) -> str:
        return f"preset {self.preset}. {self.state['counted']} {_in_a_line(self.state)}".rstrip()

    def controls(self) -> Values:
        return {"preset": PRESETS}

    def fallback(self) -> str:
        steps = {self.preset: self.state}
        if len(self.tokens) <= MOST_STILL:
            for preset in PRESETS:
                changed = {**self._inputs, "preset": preset}
                steps.setdefault(preset, self.computed(self.checked(changed)))
        stills = [(preset, _still(preset, state)) for preset, state in steps.items()]
        return fallback.stepped(repr(self), stills, *self.state["told"])


def drawn(preset: str, count: int, length: int, window: int) -> np.ndarray:
    """A preset's mask.

    Args:
        preset: one of PRESETS.
        count: tokens.
        length: how many of them are real.
        window: how many a query reads, itself included.
    Returns:
        (N, N) bool, True = attend.
    Raises:
        ValueError: there is no such preset.
    """
    query, key = np.indices((count, count))
    causal, real = key <= query, key < length
    masks = {
        "none": np.ones((count, count), dtype=bool),
        "causal": causal,
        "padding": real,
        "causal and padding": causal & real,
        "window": causal & (key > query - window),
    }
    if preset not in masks:
        raise ValueError(f"there is no preset “{preset}”; there are {', '.join(PRESETS)}")
    mask = masks[preset]
    mask.setflags(write=False)
    return mask


def counted(tokens: Sequence[str], mask: np.ndarray) -> str:
    """How many cells are open and blocked, in both conventions.

    Args:
        tokens: N labels.
        mask: (N, N) bool, True = attend.
    """
    named = told_apart(tokens)
    empty = [f"“{token}”" for token, row in zip(named, mask, strict=True) if not row.any()]
    unread = f" {', '.join(empty)} may read nothing: weights of 0, not NaN." if empty else ""
    opened = int(mask.sum())
    return (
        f"{mask.size - opened} of {mask.size} cells are blocked. So attend (True = attend) holds "
        f"{opened} True, and blocked (True = blocked) holds {mask.size - opened}.{unread}"
    )


def conventions(tokens: Sequence[str], mask: np.ndarray) -> list[Values]:
    """The mask as PyTorch's two functions want it, in letters and in words.

    Args:
        tokens: N labels.
        mask: (N, N) bool, True = attend.
    """
    return [
        {
            "name": name,
            "means": means,
            "call": call,
            "letters": [[letter(each) for each in row] for row in trues.tolist()],
            "text": in_letters(tokens, trues),
            "said": f"{name}, {means}, row by row: "
            + "; ".join(
                f"{token} {' '.join('T' if each else 'F' for each in row)}"
                for token, row in zip(told_apart(tokens), trues.tolist(), strict=True)
            ),
        }
        for (name, (means, call)), trues in zip(CONVENTIONS.items(), (mask, ~mask), strict=True)
    ]


def letter(true: bool) -> str:
    return "T" if true else "·"


def in_letters(tokens: Sequence[str], trues: np.ndarray) -> str:
    """(N, N) bool as N lines, T for True and · for False, each after its token."""
    width = max(map(len, tokens))
    return "\n".join(
        f"{token:>{width}}  {' '.join(map(letter, row))}"
        for token, row in zip(tokens, trues.tolist(), strict=True)
    )


def _bools(numbers: np.ndarray) -> np.ndarray:
    """0 and 1 as bools that nobody can change in place."""
    wrong = (numbers != 0) & (numbers != 1)
    if wrong.any():
        where = tuple(int(at) for at in np.argwhere(wrong)[0])
        raise ValueError(
            f"mask holds {numbers[where]:g} at {list(where)}; it has to be bool, True = attend"
        )
    mask = numbers != 0
    mask.setflags(write=False)
    return mask


def _in_a_line(state: Values) -> str:
    """What the mask does to the text."""
    following = ", ".join(str(Next(**each)) for each in state["following"])
    return f"{state['effect']}. {following}" if following else state["effect"]


def _still(preset: str, state: Values) -> str:
    """One mask: its weights, and both conventions."""
    weights, blocked = np.array(state["weights"]), np.array(state["blocked"])
    table = fallback.plain_table(weights, state["tokens"], state["tokens"], blocked)
    letters = [
        f'<p style="margin:4px 0"><b>{each["name"]}</b>: {each["means"]}<br>'
        f"<code>{html.escape(each['call'])}</code></p>"
        f'<pre role="img" aria-label="{html.escape(each["said"], quote=True)}">'
        f"{html.escape(each['text'])}</pre>"
        for each in state["conventions"]
    ]
    told = f"<p>Preset {preset}. {html.escape(state['counted'])} Hatched: blocked.</p>"
    effect = f"<p><b>{html.escape(_in_a_line(state))}</b></p>" if state["effect"] else ""
    return f"{told}{effect}{table}{fallback.beside(*letters)}"
