"""Lesson 10 opens with a writer that learns: arcs and text from noise to words, as its loss falls.

    python -m attnlab.lessons.training.opening      trains it, and records what is shown

It is the training of the lesson's writer. Arcs are the two largest weights of its first layer from
each letter to those before: one letter back they are blue, and so is the loss while they gather.
Levels are what counts reach of how often each letter follows another, or two. Its first loss is
above the chart. The writer's last states differ a little from machine to
machine, and its pages from one Python to the next, so what is shown is recorded, in `opening.json`.
"""

from __future__ import annotations

import json
import re
from heapq import nlargest
from itertools import count
from pathlib import Path
from typing import Any

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import CODE, INK, SMALL, Part, arc, dot, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, Colour

RECORDED = Path(__file__).with_suffix(".json")
PROMPT, LETTERS = "The value ", 64  # letters that are written, the prompt's as well
DRAWS = 320  # their seed: one of few by which each text has `SHOWN` letters to show, at last words
STEPS = (0, 50, 100, 200, 300)
EVERY = 10  # steps from one loss to the next
BEGINS = 10  # the step with which the chart begins

JUMP = (50, 200)  # steps between which the arcs gather
NEAR = "of its weight goes one letter back"
BY = {"guess from 1 letter": "end", "guess from 2 letters": "start"}  # of their lines, with words
RARE = 0.1  # added to each count: by two letters the loss is least with about so many

HIGH = 270
FROM, SHOWN = 30, 17  # the letter from which on, and how many at most
AXIS, RIGHT, EDGE = 6, 473, 479  # where steps begin, the last letter is, and names end
PITCH, SIZE = 29.1, 24  # from letter to letter; of letters
HERO, BIG = 36, 26  # sizes of the share, and of the loss
SAYS, FLOOR, LINE = 27, 79, 103  # lines: the share, arcs' ends, letters
HEAD, NAME, TURN = 125, 138, 163  # the chart's head; lines: its name, what is learnt meanwhile
LOW, TICKS, STEP = 245, 267, 1.32  # the chart's foot; steps; width of one
LEAST, UNIT = 1.95, 112  # the loss at its foot, and the height of 1
MOST, PALEST = 2, 0.02  # of a letter's arcs, and the least weight that is drawn
NEAREST, FARTHER = 42, 0.6  # pull of an arc to the letter before; more for each further
THICK = 6  # an arc of weight 1


def opening() -> Film:
    """The film."""
    known = json.loads(RECORDED.read_text(encoding="utf-8"))
    frames = [_frame(known, **state) for state in known["states"]]
    return Film("Where does a model’s first layer learn to look?", frames, HIGH)


def to_neighbours(weights: list[list[float]]) -> float:
    """The mean weight that a letter, from the second on, gives the one before it."""
    return sum(row[n] for n, row in enumerate(weights[1:])) / (len(weights) - 1)


def shown_of(text: str) -> slice:
    """The longest run of whole words on one line that has room, or as many letters."""
    words = [word.span() for word in re.finditer(r"\w+", text) if word.start() >= FROM]
    runs = [slice(start, end) for start, _ in words for _, end in words if start < end]
    fit = [run for run in runs if run.stop - run.start <= SHOWN and "\n" not in text[run]]
    return max(fit, key=lambda run: run.stop - run.start, default=slice(FROM, FROM + SHOWN))


def _frame(known: dict[str, Any], step: int, text: str, weights: list[list[float]]) -> Frame:
    letters = text[shown_of(text)]
    share, loss = to_neighbours(weights), known["losses"][step // EVERY]
    parts = [*_steps(step), *_levels(known["by_counts"]), *_curve(step, known)]
    drawn = [
        (n, m, weight)
        for n, row in enumerate(reversed(weights))
        for weight, m in nlargest(MOST, zip(row[-2::-1], count(n + 1)))
        if weight >= PALEST
    ]
    parts += [_arc(*each) for each in sorted(drawn, key=lambda each: each[1] - each[0] == 1)]
    parts += [
        word(f"letter {n}", _at(n), LINE, each.strip(), size=SIZE, face=CODE)
        for n, each in enumerate(reversed(letters))
    ]
    parts += [
        word("share", 0, SAYS, f"{share:.0%}", BLUE, "start", HERO, 700),
        word("near", 13 + 27 * len(f"{share:.0%}"), SAYS, NEAR, BLUE, "start"),
    ]
    return Frame(parts, _told(step, loss, share))


def _told(step: int, loss: float, share: float) -> str:
    if step == 0:
        return (
            f"It writes noise, here {SHOWN} of {LETTERS} letters. Layer 1’s one head looks "
            f"everywhere. The loss, {loss:.1f}, is off the chart."
        )
    if step == JUMP[0]:
        return f"Its loss at step {step} is {loss:.1f}: about as good as a guess from one letter."
    if step < JUMP[1]:
        return f"By step {step}, {share:.0%} goes to the letter before. The loss is {loss:.1f}."
    if step == JUMP[1]:
        return f"By step {step}, {share:.0%} goes there. The loss is {loss:.1f}."
    return (
        "One letter back: nobody told it to. "
        "Meanwhile its loss fell to about that of a guess from the last two letters."
    )


def _steps(step: int) -> list[Part]:
    """Under the chart: the one that is now is dark."""
    parts = [word("step", EDGE, TICKS, "steps", GREY, "end", SMALL)]
    for at in sorted({0, 100, 200, 300, step}):
        looks = (INK, "middle", SMALL, 700) if at == step else (GREY, "middle", SMALL)
        parts.append(word(f"tick {at}", _along(at), TICKS, f"{at}", *looks))
    return parts


def _levels(by_counts: list[float]) -> list[Part]:
    """How low a loss can be by one letter and by two."""
    parts = list[Part]()
    for (by, end), loss in zip(BY.items(), by_counts, strict=True):
        y, ends = _high(loss), {"start": 0, "end": EDGE}
        parts += [
            line(f"level {by}", [(x, y) for x in ends.values()], GREY, 1.5, dashes="4 6"),
            word(by, ends[end], y - 7, by, GREY, end, SMALL),
        ]
    return parts


def _curve(step: int, known: dict[str, Any]) -> list[Part]:
    """The loss so far, a dot where it is, and in blue where the arcs gather."""
    losses, (x, y) = known["losses"], (_along(step), _high(known["losses"][step // EVERY]))
    name = word("loss", AXIS + 28, NAME, "loss, lower is better", ORANGE, "start", SMALL, 600)

    def now(x: float, y: float) -> Part:
        return word("now", x, y, f"{losses[step // EVERY]:.1f}", ORANGE, "start", BIG, 700)

    if not step:
        up = [(AXIS + x, HEAD + y) for x, y in ((0, 30), (0, 2), (-6, 10), (0, 2), (6, 10))]
        return [name, line("up", up, ORANGE, 3.5), now(AXIS + 28, NAME + 28)]

    def upto(key: str, first: int, last: int, colour: Colour, thick: float) -> Part:
        """The curve between two steps, as far as it has come."""
        gone = [min(at, step) for at in range(first, last + 1, EVERY)]
        places = [(_along(at), _high(losses[at // EVERY])) for at in gone]
        return line(key, places, colour, thick)

    parts = [upto("curve", BEGINS, STEPS[-1], ORANGE, 4.5), upto("gathers", *JUMP, BLUE, 6.5)]
    if step >= JUMP[1]:
        place = _along(JUMP[0]) + 14, TURN
        parts.append(word("turn", *place, "learns to look back", BLUE, "start", SMALL, 600))
    return [name, *parts, now(x + 8, y - 13), dot("dot", x, y, 7, ORANGE)]


def _at(n: int) -> float:
    """Where a letter stands, counted from the last one."""
    return RIGHT - PITCH * n


def _arc(n: int, m: int, weight: float) -> Part:
    """From letter n to letter m: blue if that is the one before."""
    colour, opacity = (BLUE, 1) if m - n == 1 else (GREY, 0.8)
    pull = NEAREST + FARTHER * (m - n - 1) if m > n else 0
    key = f"arc {n} {m}"
    return arc(key, _at(n), _at(m), FLOOR, weight, colour, opacity, thickest=THICK, pull=pull)


def _high(loss: float) -> float:
    """Where a loss stands in the chart."""
    return LOW - UNIT * (loss - LEAST)


def _along(step: float) -> float:
    """Where a step stands."""
    return AXIS + STEP * step


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
        drawn = torch.Generator().manual_seed(DRAWS)
        while ids.shape[1] < LETTERS:
            shares = (model(ids)[:, -1] / 0.5).softmax(dim=-1)
            ids = torch.cat([ids, torch.multinomial(shares, 1, generator=drawn)], dim=1)
        model(ids)  # whose weights are kept
        return "".join(kinds[i] for i in ids[0].tolist())

    def rows_of(written: str) -> list[list[float]]:
        some = shown_of(written)
        rows = model.blocks[0].weights[0, some, some].tolist()
        return [[round(each, 2) for each in row[: n + 1]] for n, row in enumerate(rows)]

    counted = [round(by_counts(read, held_out, before), 3) for before in range(1, len(BY) + 1)]
    known: dict[str, Any] = {"losses": [], "states": [], "by_counts": counted}
    stretches = read.unfold(0, SPAN + 1, 1)
    for step in range(steps + 1):
        if step % EVERY == 0:
            known["losses"].append(round(loss_on(model, held_out), 3))
        if step in STEPS:
            written = writes()
            known["states"].append({"step": step, "text": written, "weights": rows_of(written)})
        if step == steps:
            break
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
