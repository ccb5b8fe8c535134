"""Trains small models: `make model`, or

python -m attnlab.small              one, and ships it
python -m attnlab.small --seeds 5    five, ships the first, and writes what all of them can do
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from attnlab import small
from attnlab.figures.live import WhoListens
from attnlab.figures.live.recording import recorded
from attnlab.lessons.soft_lookup.figures import HEAD as ONE_HEAD
from attnlab.lessons.soft_lookup.opening import LOOK, WORDS
from attnlab.small import grammar
from attnlab.small.measure import measured, roles
from attnlab.small.train import STEPS, trained

SHIPPED = 1  # its seed


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m attnlab.small", description="Train the model.")
    parser.add_argument("--seeds", type=int, default=1, help="how many; the first is shipped")
    parser.add_argument("--steps", type=int, default=STEPS)
    options = parser.parse_args(given)
    if min(options.seeds, options.steps) < 1:
        parser.error("--seeds and --steps are 1 or more")
    found: dict[str, Any] = {}
    for seed in range(SHIPPED, SHIPPED + options.seeds):
        model = trained(seed, options.steps)
        if seed == SHIPPED:
            small.save(model, roles(model, random.Random(seed)))
            record()
        if options.seeds > 1:
            found[str(seed)] = measured(model, seed)
            told = ", ".join(
                f"{task} {share:.2f}" for task, share in found[str(seed)]["right"].items()
            )
            print(f"seed {seed}: {told}")
    if found:
        _write_facts(found, options.steps)


def record() -> None:
    """Write what lessons show of the shipped model, with no model loaded: one sentence."""
    weights = small.weights(small.SAMPLE)
    layer, head = small.head("subject")
    n, first = len(small.SAMPLE), layer * len(weights[0]) + head
    later = np.triu(np.ones((n, n), dtype=bool), 1)  # True = blocked
    figure = WhoListens(weights, small.SAMPLE, blocked=later, shown=first)
    _write(ONE_HEAD, json.dumps(recorded(figure), ensure_ascii=False))
    made = dict(zip("qkv", small.given(small.SAMPLE, layer, head), strict=True))
    made["weights"] = torch.from_numpy(weights[layer][head])
    rounded = {name: part.double().numpy().round(4).tolist() for name, part in made.items()}
    text = json.dumps({"words": small.SAMPLE, **rounded}, ensure_ascii=False)
    _write(small.HERE / small.SUBJECT, text)
    _write(LOOK, json.dumps(looked(WORDS), indent=1))


def looked(words: Sequence[str]) -> dict[str, Any]:
    """What the head that finds subjects takes from where, for the last word, and what is next.

    Returns:
        verbs: the likeliest verb for one, and the same for many.
        shares: (N + 1,), of the start of a text and of each word.
        soft: of the probability of these two verbs, each one's part.
        hard: the same, if that word takes all from the one that it listens to most.
    """
    layer, head = small.head("subject")
    row = small.weights([small.START, *words])[layer][head, -1]
    soft, hard = following(words, row), following(words, row == row.max())
    one = max(grammar.RUNS, key=lambda verb: soft[verb])
    verbs = (one, grammar.RUN[grammar.RUNS.index(one)])
    found: dict[str, Any] = {"verbs": verbs, "shares": row.round(3).tolist()}
    for name, each in (("soft", soft), ("hard", hard)):
        both = [each[verb] for verb in verbs]
        found[name] = [round(part / sum(both), 3) for part in both]
    return found


def following(words: Sequence[str], row: np.ndarray) -> dict[str, float]:
    """How likely each word is next, if the head that finds subjects takes these shares (N + 1,)."""
    text, (layer, head) = [small.START, *words], small.head("subject")
    read = torch.from_numpy(row).float() @ small.given(text, layer, head)[2]

    def change(at: int, made: torch.Tensor) -> torch.Tensor:
        if at == layer:
            made = made.clone()
            made[:, head, -1] = read
        return made

    shares = small.load()(small.numbered(text), change)[0, -1].softmax(dim=-1)
    return dict(zip(small.words, shares.tolist(), strict=True))


def _write(path: Path, text: str) -> None:
    """The whole file, or none of it."""
    whole = path.with_name(f"{path.name}.new")
    whole.write_text(f"{text}\n", encoding="utf-8")
    os.replace(whole, path)


def _write_facts(found: dict[str, Any], steps: int) -> None:
    settings = {
        "command": f"make model SEEDS={len(found)}",
        "date": datetime.date.today().isoformat(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "machine": platform.machine(),
        "steps": steps,
        "words": len(grammar.words),
        "shipped seed": SHIPPED,
    }
    facts = {"made": settings, "seeds": found}
    _write(small.HERE / small.FACTS, json.dumps(facts, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
