"""Lesson 10 opens with a writer that learns: arcs and text from noise to words, as its loss falls.

    python -m attnlab.lessons.training.opening      trains it, and records what is shown

It is the training of the lesson's writer. Arcs that go one letter back are blue, and so is the loss
while they gather. Levels are what counts of letters reach: how often each follows one letter, and
how often it follows two. The writer's last states differ a little from machine to
machine, and its pages from one Python to the next, so what is shown is recorded, in `opening.json`.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import CODE, INK, SMALL, WIDE, Part, arc, dot, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, Colour

RECORDED = Path(__file__).with_suffix(".json")
PROMPT, LETTERS = "The value ", 32  # letters that are shown, the prompt's as well
STEPS = (0, 20, 50, 100, 200, 300, 1000)
EVERY = 20  # steps from one loss to the next

INVENTED = "normatting"  # a word of what it writes in the end
JUMP = (50, 200)  # steps between which the arcs gather
LEVELS = {"1 letter": JUMP[0], "2 letters": JUMP[1]}  # known of a text; from which step on
RARE = 0.1  # added to each count: by two letters the loss is least with about so many

HIGH = 270
FLOOR, LINE = 230, 262  # ends of the arcs, and the text
EDGE, PITCH, SIZE = 14, 18.8, 31  # the first letter's middle; from letter to letter; of letters
SEEN = 25  # letters that have room
LEFT, RIGHT = 28, 468  # of the chart
TOP, LOW = 10, 121
LIMITS = 5.0, 1.6  # losses there; between them equal ratios are equally far
TICKS, NEAR = 140, 170  # a line of steps, and one over the arcs
LEAST = 0.08  # a weight that is drawn
NEAREST, FARTHER = 38, 1.25  # pull of an arc to the letter before; more for each further
THICK = 5  # an arc of weight 1: neighbours are near


def opening() -> Film:
    """The film."""
    known = json.loads(RECORDED.read_text(encoding="utf-8"))
    frames = [_frame(**state, **known) for state in known.pop("states")]
    return Film("A model learns to write", frames, HIGH)


def to_neighbours(weights: list[list[float]]) -> float:
    """The mean weight that a letter, from the prompt's last on, gives the one before it."""
    rows = range(len(PROMPT) - 1, len(weights))
    return sum(weights[n][n - 1] for n in rows) / len(rows)


def _frame(
    step: int,
    text: str,
    weights: list[list[float]],
    losses: list[float],
    by_counts: list[float],
) -> Frame:
    text, near = whole(text), to_neighbours(weights)
    drawn = [
        (i, j, weight)
        for i, row in enumerate(weights[: len(text)])
        for j, weight in enumerate(row)
        if weight >= LEAST
    ]
    parts = [*_axes(step), *_levels(step, by_counts), *_curve(step, losses)]
    parts += [_arc(*each) for each in sorted(drawn, key=lambda each: each[0] - each[1] == 1)]
    parts += [_letter(i, letter) for i, letter in enumerate(text)]
    parts += [
        word("near now", EDGE - 10, NEAR, f"{near:.2f}", BLUE, "start", 28, 700),
        word("near name", 76, NEAR, "of the weight goes one letter back", BLUE, "start"),
    ]
    return Frame(parts, _told(step, _loss(step, losses), by_counts))


def whole(text: str) -> str:
    """As much of a text as has room, up to the end of a word if one ends after the prompt."""
    words = text[len(PROMPT) : SEEN].rpartition(" ")[0]
    return PROMPT + (words or text[len(PROMPT) : SEEN - 1])


def _told(step: int, loss: float, levels: list[float]) -> str:
    if step == 0:
        return "Noise. In the first layer each letter looks everywhere."
    if step < JUMP[0]:
        return f"The loss falls at once, to {loss:.1f}. The arcs still go everywhere."
    if step == JUMP[0]:
        return f"The loss nears {levels[0]:.1f}, which a guess by one letter alone can reach."
    if step < JUMP[1]:
        below = f"and the loss goes below {levels[0]:.1f}"
        return f"The first layer's arcs gather one letter back, {below}."
    if step == JUMP[1]:
        return f"Two letters tell more than one. The loss is {loss:.1f}, and words come."
    if step < STEPS[-1]:
        return "Nobody told the first layer to look one letter back."
    return f"Below {levels[1]:.1f} it uses more than two letters. “{INVENTED}” is no word yet."


def _axes(step: int) -> list[Part]:
    """Of losses over steps, and the step that is now."""
    ticks = (*STEPS[:-2], STEPS[-1])
    return [
        line("floor", [(LEFT, LOW), (RIGHT, LOW)], GREY, 1.5),
        line("axis", [(LEFT, LOW), (LEFT, TOP)], GREY, 1.5),
        *(
            word(f"loss {at}", LEFT - 11, _high(at) + 6, f"{at}", GREY, "end", SMALL)
            for at in (2, 3, 5)
        ),
        *(
            word(
                f"tick {at}", _along(at) - (at == STEPS[-1]) * 18, TICKS, f"{at}", GREY, size=SMALL
            )
            for at in ticks
        ),
        word("steps", 368, TICKS, "steps (log)", GREY, size=SMALL),
        word("loss", LEFT + 24, TOP + 9, "loss (log)", ORANGE, "start", SMALL),
        word("step", WIDE - 4, 30, f"step {step}", anchor="end", size=32, weight=700),
    ]


def _levels(step: int, losses: list[float]) -> list[Part]:
    """How low a loss can be by so many letters, where it has been spoken of."""
    right, parts = WIDE - 4, []
    for (name, start), loss in zip(LEVELS.items(), losses, strict=True):
        if step >= start:
            y = _high(loss)
            parts += [
                line(f"by {name}", [(LEFT, y), (RIGHT, y)], GREY, 1.5, dashes="4 6"),
                word(f"level {name}", right, y - 5, f"{name}: {loss:.1f}", GREY, "end", SMALL),
            ]
    says = word("levels", right, _high(losses[0]) - 25, "best guess from", GREY, "end", SMALL)
    return [says, *parts] if parts else []


def _curve(step: int, losses: list[float]) -> list[Part]:
    """The loss so far, a dot where it is, and in blue where the arcs gather."""
    points = [(EVERY * n, loss) for n, loss in enumerate(losses)]
    here = _along(step), _high(_loss(step, losses))

    def upto(key: str, first: int, last: int, colour: Colour, thick: float) -> Part:
        """The curve between two steps, as far as it has come."""
        some = [(at, loss) for at, loss in points if first < at < last]
        some = [(first, _loss(first, losses)), *some, (last, _loss(last, losses))]
        gone = [(_along(at), _high(loss)) for at, loss in some if at <= step]
        return line(key, gone + [here] * (len(some) - len(gone)), colour, thick)

    parts = [upto("curve", 0, STEPS[-1], ORANGE, 4.5)]
    start, end = JUMP
    if step >= start:
        parts.append(upto("gathers", start, end, BLUE, 7))
    if step > start:
        middle = (_along(start) + _along(end)) / 2
        parts.append(word("found", middle, _high(2.9), "arcs gather", BLUE, size=SMALL, weight=600))
    return [*parts, dot("dot", *here, 8, ORANGE)]


def _at(n: int) -> float:
    return EDGE + PITCH * n


def _arc(i: int, j: int, weight: float) -> Part:
    """From letter i to letter j: blue if that is the one before."""
    colour = BLUE if i - j == 1 else GREY
    pull = NEAREST + FARTHER * (i - j - 1) if i > j else 0
    return arc(f"arc {i} {j}", _at(i), _at(j), FLOOR, weight, colour, thickest=THICK, pull=pull)


def _letter(n: int, letter: str) -> Part:
    """A letter of the text; the end of a line is a space."""
    given = n < len(PROMPT)
    colour, weight = (GREY, 400) if given else (INK, 600)
    return word(
        f"letter {n}", _at(n), LINE, letter.strip(), colour, size=SIZE, weight=weight, face=CODE
    )


def _loss(step: int, losses: list[float]) -> float:
    """At a step that may be half-way between two losses."""
    before, after = losses[step // EVERY], losses[math.ceil(step / EVERY)]
    return before + (after - before) * (step / EVERY % 1)


def _high(loss: float) -> float:
    """Where a loss stands in the chart."""
    most, least = LIMITS
    return LOW - (LOW - TOP) * math.log(loss / least) / math.log(most / least)


def _along(step: int) -> float:
    """Where a step stands: by its logarithm, but for the first ones, as the axis has a 0."""
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

    counted = [round(by_counts(read, held_out, before), 3) for before in range(1, len(LEVELS) + 1)]
    known: dict[str, Any] = {"losses": [], "states": [], "by_counts": counted}
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


def by_counts(read: Any, held_out: Any, before: int, rare: float = RARE) -> float:
    """The loss, on held-out letters, of a guess by how often each followed so many that were read.

    Args:
        read, held_out: (N,), numbers of letters.
        before: how many letters are known.
        rare: what is added to each count.
    """
    import torch

    kinds = int(max(read.max(), held_out.max())) + 1

    def pairs(ids: Any) -> tuple[Any, Any]:
        rows = ids.unfold(0, before + 1, 1)
        return (rows[:, :-1] * kinds ** torch.arange(before)).sum(-1), rows[:, -1]

    counts = torch.full((kinds**before, kinds), rare, dtype=torch.float64)
    counts.index_put_(pairs(read), torch.ones((), dtype=torch.float64), accumulate=True)
    shares = counts / counts.sum(dim=-1, keepdim=True)
    return float(-shares[pairs(held_out)].log().mean())


if __name__ == "__main__":
    RECORDED.write_text(json.dumps(learned(), ensure_ascii=False) + "\n", encoding="utf-8")
