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
from typing import Any

import torch

from attnlab.small import FACTS, HERE, grammar, save
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
            save(model, roles(model, random.Random(seed)))
        if options.seeds > 1:
            found[str(seed)] = measured(model, seed)
            told = ", ".join(
                f"{task} {share:.2f}" for task, share in found[str(seed)]["right"].items()
            )
            print(f"seed {seed}: {told}")
    if found:
        _write_facts(found, options.steps)


def _write_facts(found: dict[str, Any], steps: int) -> None:
    made = {
        "command": f"make model SEEDS={len(found)}",
        "date": datetime.date.today().isoformat(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "machine": platform.machine(),
        "steps": steps,
        "words": len(grammar.words),
        "shipped seed": SHIPPED,
    }
    text = json.dumps({"made": made, "seeds": found}, indent=1, ensure_ascii=False)
    whole = HERE / f"{FACTS}.new"
    whole.write_text(f"{text}\n", encoding="utf-8")
    os.replace(whole, HERE / FACTS)


if __name__ == "__main__":
    main()
