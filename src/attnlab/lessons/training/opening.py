"""Lesson 10 opens with a writer that learns: arcs and text from noise to words, as its loss falls.

    python -m attnlab.lessons.training.opening      trains it, and records what is shown

It is the training of the lesson's writer. The loss and the weight one letter back have a strip
each, over one line of steps. Levels are what counts of letters reach: how often each follows one
letter, and how often it follows two. The writer's last states differ a little from machine to
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
LEFT, RIGHT, SIDE = 30, 250, 266  # of both strips; what is said of them
TOP, LOW = 10, 92  # of the loss's strip
LIMITS = 5.2, 1.6  # losses there; between them equal ratios are equally far
NEAR_TOP, NEAR_LOW = 106, 140  # of the strip of the weight one letter back, 1 and 0
TICKS = 159  # a line of steps
LEAST = 0.08  # a weight that is drawn
NEAREST, FARTHER = 38, 2.1  # pull of an arc to the letter before; more for each further
THICK = 5  # an arc of weight 1: neighbours are near


def opening() -> Film:
    """The film."""
    known = json.loads(RECORDED.read_text(encoding="utf-8"))
    frames = [_frame(n, **known) for n in range(len(known["states"]))]
    return Film("A model learns to write", frames, HIGH)


def to_neighbours(weights: list[list[float]]) -> float:
    """The mean weight that a letter, from the prompt's last on, gives the one before it."""
    rows = range(len(PROMPT) - 1, len(weights))
    return sum(weights[n][n - 1] for n in rows) / len(rows)


def _frame(
    n: int, states: list[dict[str, Any]], losses: list[float], by_counts: list[float]
) -> Frame:
    step, weights = states[n]["step"], states[n]["weights"]
    text, near = whole(states[n]["text"]), to_neighbours(states[n]["weights"])
    parts = [
        arc(f"arc {i} {j}", _at(i), _at(j), FLOOR, weight, thickest=THICK, pull=_pull(i - j))
        for i, row in enumerate(weights[: len(text)])
        for j, weight in enumerate(row)
        if weight >= LEAST
    ]
    parts += [_letter(i, letter) for i, letter in enumerate(text)]
    parts += [*_levels(step, by_counts), *_curves(n, states, losses)]
    if step == JUMP[1]:
        says = "each one letter back"
        parts.append(word("found", WIDE - 6, FLOOR - 38, says, BLUE, "end"))
    return Frame(parts, _told(step, near, _loss(step, losses), by_counts))


def whole(text: str) -> str:
    """As much of a text as has room, up to the end of a word if one ends after the prompt."""
    words = text[len(PROMPT) : SEEN].rpartition(" ")[0]
    return PROMPT + (words or text[len(PROMPT) : SEEN - 1])


def _told(step: int, near: float, loss: float, levels: list[float]) -> str:
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
        goes = f"{near:.2f} of the weight goes one letter back"
        return f"In the first layer {goes}. Nobody told it to."
    return f"Below {levels[1]:.1f} it uses more than two letters. “{INVENTED}” is no word yet."


def _levels(step: int, losses: list[float]) -> list[Part]:
    """How low a loss can be by so many letters, where it has been spoken of."""
    parts = []
    for (name, start), loss, low in zip(LEVELS.items(), losses, (4, 8), strict=True):
        if step >= start:
            y = _high(loss)
            says = f"best with {name}: {loss:.1f}"
            parts += [
                line(f"by {name}", [(LEFT, y), (RIGHT, y)], ORANGE, 2, dashes="4 6"),
                word(f"level {name}", SIDE, y + low, says, ORANGE, "start", SMALL),
            ]
    return parts


def _at(n: int) -> float:
    return EDGE + PITCH * n


def _letter(n: int, letter: str) -> Part:
    """A letter of the text; the end of a line is a space."""
    given = n < len(PROMPT)
    colour, weight = (GREY, 400) if given else (INK, 600)
    return word(
        f"letter {n}", _at(n), LINE, letter.strip(), colour, size=SIZE, weight=weight, face=CODE
    )


def _pull(back: int) -> float:
    """How far the arc to a letter so far back is pulled up; 0: as any that goes to itself."""
    return NEAREST + FARTHER * (back - 1) if back else 0


def _curves(n: int, states: list[dict[str, Any]], losses: list[float]) -> list[Part]:
    """The loss that falls and the weight one letter back that rises, up to a step."""
    step = states[n]["step"]
    falls = [(EVERY * m, _high(loss)) for m, loss in enumerate(losses)]
    rises = [(each["step"], _near(to_neighbours(each["weights"]))) for each in states]
    loss, now = _loss(step, losses), to_neighbours(states[n]["weights"])
    return [
        line("falls floor", [(LEFT, LOW), (RIGHT, LOW)], GREY, 1.5),
        line("falls axis", [(LEFT, LOW), (LEFT, TOP)], ORANGE, 1.5),
        line("rises floor", [(LEFT, NEAR_LOW), (RIGHT, NEAR_LOW)], GREY, 1.5),
        line("rises axis", [(LEFT, NEAR_LOW), (LEFT, NEAR_TOP)], BLUE, 1.5),
        *(
            word(f"loss {at}", LEFT - 8, _high(at) + 6, f"{at}", ORANGE, "end", SMALL)
            for at in (2, 3, 5)
        ),
        *(
            word(f"near {at}", LEFT - 8, _near(at) + 6, f"{at}", BLUE, "end", SMALL)
            for at in (0, 1)
        ),
        *(
            word(f"tick {at}", _along(at) - n, TICKS, f"{at}", GREY, size=SMALL)
            for at, n in zip((0, *JUMP, STEPS[-1]), (0, 0, 0, 18), strict=True)
        ),
        word("steps", SIDE, TICKS, "steps", GREY, "start", SMALL),
        *_line("falls", falls, step, _high(loss), ORANGE),
        *_line("rises", rises, step, _near(now), BLUE),
        word("falls name", LEFT + 34, TOP + 9, "loss", ORANGE, "start", SMALL),
        word("step", SIDE, 19, f"step {step}", anchor="start", size=SMALL, weight=600),
        word("loss now", WIDE - 6, 19, f"loss {loss:.1f}", ORANGE, "end", SMALL, 700),
        word("near now", SIDE, 116, f"{now:.2f}", BLUE, "start", 26, 700),
        word("near name", SIDE + 66, 116, "of weight", BLUE, "start", SMALL),
        word("near name, on", SIDE, 137, "goes one letter back", BLUE, "start", SMALL),
    ]


def _line(
    key: str, points: list[tuple[int, float]], step: int, y: float, colour: Colour
) -> list[Part]:
    """A curve up to a step, and a dot where it is."""
    here = _along(step), y
    gone = [(_along(at), high) for at, high in points if at <= step]
    return [
        line(f"{key} curve", gone + [here] * (len(points) - len(gone)), colour, 4.5),
        dot(f"{key} dot", *here, 7, colour),
    ]


def _loss(step: int, losses: list[float]) -> float:
    """At a step that may be half-way between two losses."""
    before, after = losses[step // EVERY], losses[math.ceil(step / EVERY)]
    return before + (after - before) * (step / EVERY % 1)


def _high(loss: float) -> float:
    """Where a loss stands in its strip."""
    most, least = LIMITS
    return LOW - (LOW - TOP) * math.log(loss / least) / math.log(most / least)


def _near(weight: float) -> float:
    """Where a weight stands in its strip."""
    return NEAR_LOW - (NEAR_LOW - NEAR_TOP) * weight


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
