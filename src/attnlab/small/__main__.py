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
