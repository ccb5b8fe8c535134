"""Lesson 10 opens with a writer that learns: arcs and text from noise to words, as its loss falls.

    python -m attnlab.lessons.training.opening      trains it, and records what is shown

It is the training of the lesson's writer. Its last states differ a little from machine to machine,
and its pages from one Python to the next, so what is shown is recorded, in `opening.json`.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import CODE, INK, SMALL, Part, Place, arc, box, dot, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, Colour

RECORDED = Path(__file__).with_suffix(".json")
PROMPT, LETTERS = "The value ", 32  # letters that are shown, the prompt's as well
STEPS = (0, 20, 50, 100, 200, 300, 600, 1000)
EVERY = 20  # steps from one loss to the next

REAL, INVENTED = "the", "normatting"  # of what it writes in the end
JUMP = (50, 200)  # steps between which the arcs gather

HIGH = 268
FLOOR, LINE = 224, 250  # ends of the arcs, and the text
EDGE, PITCH, SIZE = 15, 14.5, 24  # the first letter's middle; from letter to letter; of letters
LEFT, RIGHT = 184, 402  # of both curves
GAP = 22  # from a curve's end to its number
LOSS, NEAR = (12, 52), (68, 108)  # top and bottom of the loss, and of the weight for one letter
TICKS = 128  # a line of steps
LEAST = 0.08  # a weight that is drawn
FLAT = 860  # how far words would reach for arcs as high as these
THICK = 4.5  # an arc of weight 1: neighbours are near


def opening() -> Film:
    """The film."""
    known = json.loads(RECORDED.read_text(encoding="utf-8"))
    frames = [_frame(n, known["states"], known["losses"]) for n in range(len(known["states"]))]
    return Film("A model learns to write", frames, HIGH)


def to_neighbours(weights: list[list[float]]) -> float:
    """The mean weight that a letter, from the prompt's last on, gives the one before it."""
    rows = range(len(PROMPT) - 1, len(weights))
    return sum(weights[n][n - 1] for n in rows) / len(rows)


def _frame(n: int, states: list[dict[str, Any]], losses: list[float]) -> Frame:
    step, weights = states[n]["step"], states[n]["weights"]
    text = whole(states[n]["text"])
    parts = [
        arc(f"arc {i} {j}", _at(i), _at(j), FLOOR, weight, BLUE, wide=FLAT, thickest=THICK)
        for i, row in enumerate(weights[: len(text)])
        for j, weight in enumerate(row)
        if weight >= LEAST
    ]
    parts += [_letter(i, letter) for i, letter in enumerate(text)]
    parts += [
        word("step", 10, 24, f"step {step}", anchor="start", size=24, weight=600),
        *_curves(n, states, losses),
    ]
    return Frame(parts, _told(step, to_neighbours(weights), losses[step // EVERY]))


def whole(text: str) -> str:
    """A text up to the end of its last whole word, if it has one beside the prompt."""
    words = text[len(PROMPT) :].rpartition(" ")[0]
    return PROMPT + (words or text[len(PROMPT) :])


def _told(step: int, near: float, loss: float) -> str:
    back = f"{near:.2f} of the weight goes one letter back"
    if step == 0:
        return f"Noise. In the first layer each letter looks everywhere: {back}."
    if step < JUMP[0]:
        return f"The loss falls at once, to {loss:.2f}. The arcs still go everywhere."
    if step == JUMP[0]:
        return f"Step {step}: still only {back}."
    if step < JUMP[1]:
        return f"Then the arcs gather: {back}, and the loss falls on."
    if step == JUMP[1]:
        since = f"From step {JUMP[0]} to step {step}"
        return f"{since} the share of weight one letter back jumps to {near:.2f}."
    if step < STEPS[-1]:
        return f"Step {step}: {back}, and the loss is {loss:.2f}."
    return f"{back.capitalize()}. “{REAL}” is a word, “{INVENTED}” is none yet."


def _at(n: int) -> float:
    return EDGE + PITCH * n


def _letter(n: int, letter: str) -> Part:
    """A letter of the text; the end of a line is a space."""
    given = n < len(PROMPT)
    colour, weight = (INK, 400) if given else (ORANGE, 600)
    return word(
        f"letter {n}", _at(n), LINE, letter.strip(), colour, size=SIZE, weight=weight, face=CODE
    )


def _curves(n: int, states: list[dict[str, Any]], losses: list[float]) -> list[Part]:
    """The loss, and under it what goes one letter back, up to a step where each has its dot."""
    step = states[n]["step"]
    near = [(each["step"], to_neighbours(each["weights"])) for each in states]
    fallen = [(EVERY * m, loss / max(losses)) for m, loss in enumerate(losses)]
    jumped = 0.16 if step >= JUMP[1] else 0
    wide = _along(JUMP[1]) - _along(JUMP[0])
    return [
        box("jump", (_along(JUMP[0]), LOSS[0]), (wide, NEAR[1] - LOSS[0]), BLUE, jumped),
        *_line(
            "loss", "loss", LOSS[1] - 4, fallen, step, f"{losses[step // EVERY]:.2f}", LOSS, ORANGE
        ),
        *_line(
            "near", "share of weight", NEAR[1] - 20, near, step, f"{near[n][1]:.2f}", NEAR, BLUE
        ),
        word("near name, on", LEFT - 16, NEAR[1], "one letter back", BLUE, "end", SMALL),
        *(
            word(f"tick {at}", _along(at), TICKS, f"{at}", GREY, size=SMALL)
            for at in (0, *JUMP, STEPS[-1])
        ),
    ]


def _line(
    key: str,
    name: str,
    named: float,
    points: list[tuple[int, float]],
    step: int,
    now: str,
    rows: Place,
    colour: Colour,
) -> list[Part]:
    """A curve by step, as shares of its height, its name before it, its number behind."""
    top, low = rows
    gone = [each for each in points if each[0] <= step]
    gone += gone[-1:] * (len(points) - len(gone))
    drawn = [(_along(at), low - (low - top) * share) for at, share in gone]
    (x, y), middle = drawn[-1], (top + low) / 2 + 6
    return [
        line(f"{key} floor", [(LEFT, low), (RIGHT, low)], GREY, 1),
        word(f"{key} name", LEFT - 16, named, name, colour, "end", SMALL),
        line(f"{key} curve", drawn, colour, 4),
        dot(f"{key} dot", x, y, 6, colour),
        word(f"{key} now", RIGHT + GAP, middle, now, colour, "start", weight=600),
    ]


def _along(step: int) -> float:
    """Where a step stands: the first ones are wider, as most happens there."""
    return LEFT + (RIGHT - LEFT) * math.log1p(step / EVERY) / math.log1p(STEPS[-1] / EVERY)


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
