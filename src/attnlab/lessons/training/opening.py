"""Lesson 10 opens with a writer that learns: arcs and text from noise to words, as its loss falls.

    python -m attnlab.lessons.training.opening      trains it, and records what is shown

It is the training of the lesson's writer. Arcs are larger weights of its first layer: those that go
one letter back are blue, and so is the loss while they gather. Levels are what counts reach of how
often each letter follows another, or two. Its first loss is above the chart. The writer's last
states differ a little from machine to machine, and its pages from one Python to the next, so what
is shown is recorded, in `opening.json`.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import CODE, INK, SMALL, Part, arc, dot, line, word
from attnlab.figures.palette import BLUE, GREY, ORANGE, Colour

RECORDED = Path(__file__).with_suffix(".json")
PROMPT, LETTERS = "The value ", 64  # letters that are written, the prompt's as well
STEPS = (0, 50, 100, 200, 300, 1000)
EVERY = 20  # steps from one loss to the next; with its second the chart begins

JUMP = (50, 200)  # steps between which the arcs gather
TWO = 300  # the step from which on it does as well as by two letters
NEAR = "of layer 1’s weight: one letter back"
BY = ("guess from 1 letter", "from 2 letters")  # what a guess knows
RARE = 0.1  # added to each count: by two letters the loss is least with about so many

HIGH = 270
WIDTH = 30  # letters whose weights are recorded, at most, of those it writes
SHOWN = 24  # of them
EDGE, PITCH, SIZE = 17, 19.4, 30  # the first letter's middle; from letter to letter; of letters
SAYS, FLOOR, LINE = 32, 68, 99  # lines: over the arcs, of their ends, of the letters
LEFT, AXIS, RIGHT = 8, 54, 472  # edges, and where lines begin
FIRST, LAST = 70, 346  # the steps of the chart from which on, and to which, logs count
LOW, TICKS, HEAD = 246, 266, 133  # of the chart, the line of its steps, and that of its name
LEAST, UNIT = 1.65, 108  # the loss at its foot, and the height of 1
PALEST = 0.06  # the least weight that is drawn
NEAREST, FARTHER = 31, 0.25  # pull of an arc to the letter before; more for each further
THICK = 4.5  # an arc of weight 1: neighbours are near


def opening() -> Film:
    """The film."""
    known = json.loads(RECORDED.read_text(encoding="utf-8"))
    frames = [_frame(known, **state) for state in known["states"]]
    return Film("Where does a model's first layer learn to look?", frames, HIGH)


def to_neighbours(weights: list[list[float]]) -> float:
    """The mean weight that a letter, from the second on, gives the one before it."""
    return sum(row[n] for n, row in enumerate(weights[1:])) / (len(weights) - 1)


def shown_of(text: str) -> slice:
    """Of what it writes: about the last half, from a word's start to a word's end if it has any."""
    text = re.sub(r"\s", " ", text)
    start = text.rindex(" ", 0, LETTERS - WIDTH - 1) + 1
    words = text[start : start + WIDTH + 1].rpartition(" ")[0]
    return slice(start, start + (len(words) or WIDTH))


def cut(text: str) -> slice:
    """The longest run of whole words that has room, or as many letters."""
    words = [word.span() for word in re.finditer(r"\S+", text)]
    runs = [slice(start, end) for start, _ in words for _, end in words if start < end]
    fit = [run for run in runs if run.stop - run.start <= SHOWN]
    return max(fit, key=lambda run: run.stop - run.start, default=slice(0, SHOWN))


def _frame(known: dict[str, Any], step: int, text: str, weights: list[list[float]]) -> Frame:
    text = text[shown_of(text)]
    some = cut(text)
    weights = [row[some.start :] for row in weights[some]]
    share, loss = to_neighbours(weights), _loss(step, known["losses"])
    goes = f"{share:.0%}"
    parts = [*_axes(step), *_levels(step, known["by_counts"]), *_curve(step, loss, known)]
    parts += [_arc(*each) for each in _drawn(weights)]
    parts += [_letter(i, letter) for i, letter in enumerate(text[some])]
    parts += [
        word("share", LEFT, SAYS, goes, BLUE, "start", 30, 700),
        word("near", LEFT + 17 + 21 * len(goes), SAYS, NEAR, BLUE, "start", SMALL, 600),
    ]
    if not step:
        parts.append(word("writes", RIGHT, HEAD + 1, "what the model writes", GREY, "end", SMALL))
    if step >= TWO:
        ends, y = (_at(len(text[some]) - 2) - 7, _at(len(text[some]) - 1) + 7), LINE + 12
        parts.append(line("both", [(x, y) for x in ends], BLUE, 4.5))
    return Frame(parts, _told(step, loss, known, share))


def _drawn(weights: list[list[float]]) -> list[tuple[int, int, float]]:
    """From, to and weight of arcs, those that go one letter back last."""
    drawn = [
        (i, j, weight)
        for i, row in enumerate(weights)
        for j, weight in enumerate(row)
        if weight >= PALEST
    ]
    return sorted(drawn, key=lambda each: each[0] - each[1] == 1)


def _told(step: int, loss: float, known: dict[str, Any], share: float) -> str:
    one, two = known["by_counts"]
    if step == 0:
        return f"Noise. Layer 1’s only head looks everywhere. The loss is {loss:.1f}."
    if step == JUMP[0]:
        return f"The loss is near {one:.1f}: a guess from one letter gets as low."
    if step < JUMP[1]:
        return f"Arcs gather: {share:.0%} goes one letter back. The loss falls below {one:.1f}."
    if step == JUMP[1]:
        return f"Soon {share:.0%} goes one letter back, and the loss nears {two:.1f}."
    if step < STEPS[-1]:
        return f"A letter and the one before are two: the loss is {two:.1f}, as from two letters."
    lower = f"Both layers together reach {loss:.1f}: lower than from two letters."
    return f"Nobody told it to look there. {lower}"


def _axes(step: int) -> list[Part]:
    """Of losses over steps: the step that is now is dark, and its near one left out."""
    parts = [line("axes", [(AXIS, HEAD - 14), (AXIS, LOW), (RIGHT, LOW)], GREY, 1.5)]
    for at in (EVERY, *STEPS[1:]):
        if at == (STEPS[-3] if step == STEPS[-2] else STEPS[-2]):
            continue
        looks = (INK, "middle", SMALL, 700) if at == step else (GREY, "middle", SMALL)
        parts.append(word(f"tick {at}", _along(at), TICKS, f"{at}", *looks))
    return [*parts, word("steps", RIGHT, TICKS, "steps (log)", GREY, "end", SMALL)]


def _levels(step: int, by_counts: list[float]) -> list[Part]:
    """How low a loss can be by one letter and by two, which is lit once it is reached."""
    parts: list[Part] = []
    for loss, by in zip(by_counts, BY, strict=True):
        y, is_lit = _high(loss), step >= TWO and by == BY[1]
        colour, weight = (BLUE, 600) if is_lit else (GREY, 400)
        parts += [
            line(f"level {by}", [(AXIS, y), (RIGHT, y)], colour, 1.5, dashes="4 6"),
            word(f"lowest {by}", LEFT, y + 6, f"{loss:.1f}", colour, "start", SMALL, weight),
            word(by, RIGHT, y - 9, by if step else "", colour, "end", SMALL, weight),
        ]
    return parts


def _curve(step: int, loss: float, known: dict[str, Any]) -> list[Part]:
    """The loss so far, a dot where it is, and in blue where the arcs gather."""
    losses, lines = known["losses"], [0, *map(_high, known["by_counts"]), LOW]
    parts = [word("loss", LEFT, HEAD, "loss", ORANGE, "start", SMALL, 600)]
    if not step:
        up = [(FIRST + x, HEAD + y) for x, y in ((0, 2), (0, -20), (-7, -12), (0, -20), (7, -12))]
        return [
            *parts,
            line("up", up, ORANGE, 3),
            word("first", FIRST + 17, HEAD + 2, f"{loss:.1f}", ORANGE, "start", 28, 700),
            word("at first", FIRST + 78, HEAD + 1, "at step 0", GREY, "start", SMALL),
        ]
    here = x, y = _along(step), _high(loss)

    def upto(key: str, first: int, last: int, colour: Colour, thick: float) -> Part:
        """The curve between two steps, as far as it has come."""
        steps = [first, *(at for at in range(0, last, EVERY) if at > first), last]
        gone = [(_along(at), _high(_loss(at, losses))) for at in steps if at <= step]
        return line(key, gone + [here] * (len(steps) - len(gone)), colour, thick)

    parts.append(upto("curve", EVERY, STEPS[-1], ORANGE, 4.5))
    start, end = JUMP
    if step >= start:
        parts.append(upto("gathers", start, end, BLUE, 7))
    if step > start:
        at = _along((start * end) ** 0.5) - 10, lines[2] - 9
        parts.append(word("gather", *at, "arcs gather", BLUE, "end", SMALL, 600))
    over = max(each for each in lines if each < y + 2)
    under = min(each for each in lines if each > y + 2)
    now = min(max(y + 10, over + 25), under - 6)
    parts.append(word("now", x + 14, now, f"{loss:.1f}", ORANGE, "start", 28, 700))
    return [*parts, dot("dot", x, y, 7, ORANGE)]


def _at(n: int) -> float:
    return EDGE + PITCH * n


def _arc(i: int, j: int, weight: float) -> Part:
    """From letter i to letter j: blue if that is the one before."""
    colour, opacity = (BLUE, 1) if i - j == 1 else (GREY, 0.5)
    pull = NEAREST + FARTHER * (i - j - 1) if i > j else 0
    key = f"arc {i} {j}"
    return arc(key, _at(i), _at(j), FLOOR, weight, colour, opacity, thickest=THICK, pull=pull)


def _letter(n: int, letter: str) -> Part:
    """A letter of the text."""
    key = f"letter {n}"
    return word(key, _at(n), LINE, letter.strip(), size=SIZE, weight=600, face=CODE)


def _loss(step: float, losses: list[float]) -> float:
    """At a step that may be between two losses."""
    before, after = losses[int(step // EVERY)], losses[math.ceil(step / EVERY)]
    return before + (after - before) * (step / EVERY % 1)


def _high(loss: float) -> float:
    """Where a loss stands in the chart, or above it."""
    return LOW - UNIT * (loss - LEAST)


def _along(step: float) -> float:
    """Where a step stands: by its logarithm, from the second one on."""
    return FIRST + (LAST - FIRST) * math.log(step / EVERY) / math.log(STEPS[-1] / EVERY)


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

    def rows_of(some: slice) -> list[list[float]]:
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
            rows = rows_of(shown_of(written))
            known["states"].append({"step": step, "text": written, "weights": rows})
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
