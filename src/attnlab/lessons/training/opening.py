"""Lesson 10 opens with a writer that learns: arcs and text from noise to words, as its loss falls.

    python -m attnlab.lessons.training.opening      trains it, and records what is shown

It is the training of the lesson's writer. Its last states differ a little from machine to machine,
and its pages from one Python to the next, so what is shown is recorded, in `opening.json`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import CODE, INK, SMALL, Part, arc, dot, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE

RECORDED = Path(__file__).with_suffix(".json")
PROMPT, LETTERS = "The value ", 32  # letters that are shown, the prompt's as well
STEPS = (0, 20, 50, 100, 200, 300, 400, 600, 800, 1000)
EVERY = 20  # steps from one loss to the next

HIGH = 250
FLOOR, LINE = 206, 230  # ends of the arcs, and the text
EDGE, PITCH, SIZE = 15, 14.5, 24  # the first letter's middle; from letter to letter; of letters
CURVE = ((200, 466), (16, 92))  # left and right, top and bottom of the loss
LEAST = 0.08  # a weight that is drawn
FLAT = 780  # how far words would reach for arcs as high as these
THICK = 4.5  # an arc of weight 1: neighbours are near


def opening() -> Film:
    """The film."""
    known = json.loads(RECORDED.read_text(encoding="utf-8"))
    frames = [_frame(state, known["losses"]) for state in known["states"]]
    return Film("A model learns to write", frames, HIGH)


def to_neighbours(weights: list[list[float]]) -> float:
    """The mean weight that a letter, from the prompt's last on, gives the one before it."""
    rows = range(len(PROMPT) - 1, len(weights))
    return sum(weights[n][n - 1] for n in rows) / len(rows)


def _frame(state: dict[str, Any], losses: list[float]) -> Frame:
    step, text, weights = state["step"], state["text"], state["weights"]
    loss, near = losses[step // EVERY], to_neighbours(weights)
    parts = [
        arc(f"arc {n} {m}", _at(n), _at(m), FLOOR, weight, BLUE, wide=FLAT, thickest=THICK)
        for n, row in enumerate(weights)
        for m, weight in enumerate(row)
        if weight >= LEAST
    ]
    parts += [_letter(n, letter) for n, letter in enumerate(text)]
    parts += [
        word("step", 10, 44, f"step {step}", anchor="start", size=24, weight=600),
        word("loss", 10, 74, f"loss {loss:.2f}", ORANGE, anchor="start", size=24),
        *_curve(step, losses),
    ]
    told = f"Step {step}. The letter before gets {near:.2f} of the attention."
    if step == 0:
        told = f"Noise: each letter looks everywhere, and gives {near:.2f} to the letter before."
    if step == STEPS[-1]:
        told = f"Words: in the first layer, each letter gives {near:.2f} to the letter before."
    return Frame(parts, told)


def _at(n: int) -> float:
    return EDGE + PITCH * n


def _letter(n: int, letter: str) -> Part:
    """A letter of the text; the end of a line is a space."""
    given = n < len(PROMPT)
    colour, weight = (INK, 400) if given else (ORANGE, 600)
    return word(
        f"letter {n}", _at(n), LINE, letter.strip(), colour, size=SIZE, weight=weight, face=CODE
    )


def _curve(step: int, losses: list[float]) -> list[Part]:
    """The loss up to a step, which is where its line and its dot end."""
    (left, right), (top, low) = CURVE

    def place(n: int) -> tuple[float, float]:
        share = losses[n] / max(losses)
        return left + (right - left) * n / (len(losses) - 1), low - (low - top) * share

    points = [place(min(n, step // EVERY)) for n in range(len(losses))]
    return [
        line("nothing", [(left, low), (right, low)], GREY, 1),
        word("zero", left - 8, low + 6, "0", GREY, anchor="end", size=SMALL),
        line("losses", points, ORANGE, 4),
        dot("now", *points[-1], 7, ORANGE),
    ]


# What is recorded ---------------------------------------------------------------------------------


def learned(steps: int = STEPS[-1]) -> dict[str, Any]:
    """Train the lesson's writer; its losses on held-out text, and what it writes at some steps."""
    import torch
    import torch.nn.functional as F

    from attnlab.lessons.training.models import Reader
    from attnlab.lessons.training.reading import SPAN, documentation, loss_on

    torch.set_num_threads(1)
    text = documentation()
    kinds = sorted(set(text))
    code = {letter: i for i, letter in enumerate(kinds)}
    every = torch.tensor([code[letter] for letter in text])
    read = every[: len(every) * 9 // 10]
    held_out = every[len(read) :]

    torch.manual_seed(0)
    model = Reader(len(kinds), 96, len(kinds), length=SPAN, layers=2, causal=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)

    @torch.no_grad()
    def writes() -> str:
        ids = torch.tensor([[code[letter] for letter in PROMPT]])
        drawn = torch.Generator().manual_seed(0)
        while ids.shape[1] < LETTERS:
            shares = (model(ids)[:, -1] / 0.5).softmax(dim=-1)
            ids = torch.cat([ids, torch.multinomial(shares, 1, generator=drawn)], dim=1)
        model(ids)  # whose weights are kept
        return "".join(kinds[i] for i in ids[0].tolist())

    known: dict[str, Any] = {"losses": [], "states": []}
    stretches = read.unfold(0, SPAN + 1, 1)
    for step in range(steps + 1):
        if step % EVERY == 0:
            known["losses"].append(round(loss_on(model, held_out), 3))
        if step in STEPS:
            written = writes()
            rows = model.blocks[0].weights[0].tolist()
            weights = [[round(each, 2) for each in row[: n + 1]] for n, row in enumerate(rows)]
            known["states"].append({"step": step, "text": written, "weights": weights})
        batch = stretches[torch.randint(len(stretches), (24,))]
        logits = model(batch[:, :-1])
        optimizer.zero_grad()
        F.cross_entropy(logits.flatten(0, -2), batch[:, 1:].flatten()).backward()
        optimizer.step()
    return known


if __name__ == "__main__":
    RECORDED.write_text(json.dumps(learned(), ensure_ascii=False) + "\n", encoding="utf-8")
