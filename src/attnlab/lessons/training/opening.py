"""Lesson 10 opens with a writer that learns: arcs and text from noise to words, as its loss falls.

    python -m attnlab.lessons.training.opening      trains it, and records what is shown

It is the training of the lesson's writer. Arcs are weights of its first layer: those that go one
letter back are blue, and so is the loss while they gather. Levels are what counts of letters reach:
how often each follows one letter, and how often it follows two. In the end come those arcs of its
second layer that reach further. The writer's last states differ a little from machine to machine,
and its pages from one Python to the next, so what is shown is recorded, in `opening.json`.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import CODE, INK, SMALL, WIDE, Part, arc, dot, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, ORANGE, Colour

RECORDED = Path(__file__).with_suffix(".json")
PROMPT, LETTERS = "The value ", 64  # letters that are written, the prompt's as well
STEPS = (0, 20, 50, 100, 200, 300, 1000)
EVERY = 20  # steps from one loss to the next

INVENTED = "normatting"  # a word of what it writes in the end
JUMP = (50, 200)  # steps between which the arcs gather
LEVELS = {"1 letter": JUMP[0], "2 letters": JUMP[1]}  # known of a text; from which step on
RARE = 0.1  # added to each count: by two letters the loss is least with about so many

HIGH = 270
WIDTH = 32  # letters in a line, of which there are two
EDGE, PITCH, SIZE = 13, 14.7, 24  # the first letter's middle; from letter to letter; of letters
FLOOR, LINES = 212, (236, 264)  # ends of the arcs, which stand on the first line; and both lines
LEFT, FIRST, RIGHT = 28, 82, 316  # of the chart: step 0, the second one, from which on logs count
TOP, LOW = 9, 95
LIMITS = 5.0, 1.5  # losses there; between them equal ratios are equally far
BESIDE = RIGHT + 12  # what is said of it, right of the chart
TICKS, NEAR = 115, 152  # a line of steps, and one over the arcs
LEAST = 0.08  # a weight that is drawn
NEAREST, FARTHER = 30, 1.2  # pull of an arc to the letter before; more for each further
ABOVE = 12  # more for those of the second layer
THICK = 5  # an arc of weight 1: neighbours are near


def opening() -> Film:
    """The film."""
    known = json.loads(RECORDED.read_text(encoding="utf-8"))
    states, chart = known["states"], (known["losses"], known["by_counts"])
    frames = [_frame(*chart, **state) for state in states]
    then = _then(frames[-1], states[-1], known["second"])
    return Film("A model learns to write", [*frames, then], HIGH)


def to_neighbours(weights: list[list[float]]) -> float:
    """The mean weight that a letter, from the prompt's last on, gives the one before it."""
    rows = range(len(PROMPT) - 1, WIDTH)
    return sum(weights[n][n - 1] for n in rows) / len(rows)


def farther(weights: list[list[float]]) -> float:
    """The mean of what it gives all those before that."""
    rows = range(len(PROMPT) - 1, WIDTH)
    return sum(sum(weights[n][: n - 1]) for n in rows) / len(rows)


def _frame(
    losses: list[float],
    by_counts: list[float],
    step: int,
    text: str,
    weights: list[list[float]],
) -> Frame:
    first, rest = lines_of(text)
    parts = [*_axes(step), *_levels(step, by_counts), *_curve(step, losses)]
    parts += [_arc(*each) for each in _drawn(weights, len(first))]
    parts += [_letter(0, i, letter) for i, letter in enumerate(first)]
    parts += [_letter(1, i, letter) for i, letter in enumerate(rest)]
    says = "of layer 1's weight goes one letter back"
    parts += _share(to_neighbours(weights), says, BLUE)
    return Frame(parts, _told(step, _loss(step, losses), by_counts))


def _then(frame: Frame, state: dict[str, Any], second: list[list[float]]) -> Frame:
    """The last one, with those arcs of the second layer that go further back."""
    others = [part for part in frame.parts if not part.key.startswith("near")]
    arcs = _drawn(second, len(lines_of(state["text"])[0]))
    leaps = [_arc(*each, second=True) for each in arcs if each[0] - each[1] > 1]
    share = _share(farther(second), "of layer 2's weight goes further back", GREEN)
    told = "How? A second layer looks back, from letters that know the one before."
    return Frame([*others, *leaps, *share], told)


def _drawn(weights: list[list[float]], letters: int) -> list[tuple[int, int, float]]:
    """From, to and weight of arcs, those that go one letter back last."""
    drawn = [
        (i, j, weight)
        for i, row in enumerate(weights[:letters])
        for j, weight in enumerate(row)
        if weight >= LEAST
    ]
    return sorted(drawn, key=lambda each: each[0] - each[1] == 1)


def _share(share: float, says: str, colour: Colour) -> list[Part]:
    return [
        word("near now", EDGE - 7, NEAR, f"{share:.2f}", colour, "start", 28, 700),
        word("near name", 77, NEAR, says, colour, "start"),
    ]


def lines_of(text: str) -> tuple[str, str]:
    """Both that are shown, each up to the end of a word if one ends after the prompt."""
    text = text.replace("\n", " ")
    first = text[:WIDTH] if text[WIDTH] == " " else _whole(text[:WIDTH], len(PROMPT))
    rest = text[len(first) :].lstrip(" ")
    return first, _whole(rest[:WIDTH], 0)


def _whole(text: str, start: int) -> str:
    words = text[start:].rpartition(" ")[0]
    return text[:start] + words if words else text


def _told(step: int, loss: float, levels: list[float]) -> str:
    if step == 0:
        return "Noise. In the first layer each letter looks everywhere."
    if step < JUMP[0]:
        return f"The loss falls at once, to {loss:.1f}. The arcs still go everywhere."
    if step == JUMP[0]:
        return f"The loss nears {levels[0]:.1f}, which a guess by one letter alone can reach."
    if step < JUMP[1]:
        two = "A letter sees itself and the one before: two"
        return f"{two}, and the loss falls below {levels[0]:.1f}."
    if step == JUMP[1]:
        return f"Two letters tell more than one. The loss is {loss:.1f}, and words come."
    if step < STEPS[-1]:
        return "Nobody told the first layer to look one letter back."
    return f"Below {levels[1]:.1f} it uses more than two letters. “{INVENTED}” is no word yet."


def _axes(step: int) -> list[Part]:
    """Of losses over steps, and the step that is now."""
    return [
        line("floor", [(FIRST, LOW), (RIGHT, LOW)], GREY, 1.5),
        line("before", [(LEFT, LOW), (FIRST, LOW)], GREY, 1.5, dashes="4 6"),
        line("axis", [(LEFT, LOW), (LEFT, TOP)], GREY, 1.5),
        *(
            word(f"loss {at}", LEFT - 11, _high(at) + 6, f"{at}", GREY, "end", SMALL)
            for at in (2, 3, 5)
        ),
        *(
            word(f"tick {at}", _along(at), TICKS, f"{at}", GREY, size=SMALL)
            for at in (*STEPS[:-2], STEPS[-1])
        ),
        word("steps", WIDE - 4, TICKS, "steps (log)", GREY, "end", SMALL),
        word("loss", LEFT + 24, TOP + 9, "loss (log)", ORANGE, "start", SMALL),
        word("step", BESIDE, 28, f"step {step}", anchor="start", size=28, weight=700),
    ]


def _levels(step: int, losses: list[float]) -> list[Part]:
    """How low a loss can be by so many letters, where it has been spoken of."""
    parts: list[Part] = []
    for (name, start), loss, down in zip(LEVELS.items(), losses, (2, 10), strict=True):
        if step >= start:
            y, says = _high(loss), f"by {name}: {loss:.1f}"
            parts += [
                line(f"by {name}", [(LEFT, y), (RIGHT + 6, y)], GREY, 1.5, dashes="4 6"),
                word(f"level {name}", BESIDE, y + down, says, GREY, "start", SMALL),
            ]
    return parts


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
        parts.append(
            word("found", middle + 8, _high(3), "arcs gather", BLUE, size=SMALL, weight=600)
        )
    return [*parts, dot("dot", *here, 8, ORANGE)]


def _at(n: int) -> float:
    return EDGE + PITCH * n


def _arc(i: int, j: int, weight: float, second: bool = False) -> Part:
    """From letter i to letter j: blue if that is the one before, green in the second layer."""
    colour = GREEN if second else BLUE if i - j == 1 else GREY
    pull = NEAREST + FARTHER * (i - j - 1) + ABOVE * second if i > j else 0
    key = f"{'second' if second else 'arc'} {i} {j}"
    return arc(key, _at(i), _at(j), FLOOR, weight, colour, thickest=THICK, pull=pull)


def _letter(row: int, n: int, letter: str) -> Part:
    """A letter of a line of the text."""
    given = row == 0 and n < len(PROMPT)
    colour, weight = (GREY, 400) if given else (INK, 600)
    key, y = f"letter {row} {n}", LINES[row]
    return word(key, _at(n), y, letter.strip(), colour, size=SIZE, weight=weight, face=CODE)


def _loss(step: int, losses: list[float]) -> float:
    """At a step that may be half-way between two losses."""
    before, after = losses[step // EVERY], losses[math.ceil(step / EVERY)]
    return before + (after - before) * (step / EVERY % 1)


def _high(loss: float) -> float:
    """Where a loss stands in the chart."""
    most, least = LIMITS
    return LOW - (LOW - TOP) * math.log(loss / least) / math.log(most / least)


def _along(step: float) -> float:
    """Where a step stands: by its logarithm from the second one on, as the axis has a 0."""
    if step < STEPS[1]:
        return LEFT + (FIRST - LEFT) * step / STEPS[1]
    return FIRST + (RIGHT - FIRST) * math.log(step / STEPS[1]) / math.log(STEPS[-1] / STEPS[1])


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

    def rows_of(layer: int) -> list[list[float]]:
        rows = model.blocks[layer].weights[0, :WIDTH].tolist()
        return [[round(each, 2) for each in row[: n + 1]] for n, row in enumerate(rows)]

    counted = [round(by_counts(read, held_out, before), 3) for before in range(1, len(LEVELS) + 1)]
    known: dict[str, Any] = {"losses": [], "states": [], "by_counts": counted}
    stretches = read.unfold(0, SPAN + 1, 1)
    for step in range(steps + 1):
        if step % EVERY == 0:
            known["losses"].append(round(loss_on(model, held_out), 3))
        if step in STEPS:
            written = writes()
            known["states"].append({"step": step, "text": written, "weights": rows_of(0)})
            known["second"], known["alone"] = rows_of(1), round(alone(model, held_out), 3)
        batch = stretches[torch.randint(len(stretches), (24,))]
        logits = model(batch[:, :-1])
        optimizer.zero_grad()
        F.cross_entropy(logits.flatten(0, -2), batch[:, 1:].flatten()).backward()
        optimizer.step()
    return known


def alone(model: Any, ids: Any) -> float:
    """The loss if each letter sees itself alone in the second layer."""
    from attnlab.lessons.training.reading import loss_on

    second = model.blocks[1]
    second.attention = lambda x: second.W_o(second.W_v(x))  # instead of the method
    loss = loss_on(model, ids)
    del second.attention
    return loss


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
