"""Grades the hostile class and prints the table: what was tried, and what came of it.

python -m tests.attacks [NAME …]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.attacks import catalogue
from tests.attacks.hostile_class import run
from tests.attacks.judged import of_class, problems, summary


def main(names: list[str]) -> int:
    chosen = [a for a in catalogue() if not names or a.name in names or a.family in names]
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        done = run(chosen, Path(folder))
    failed = 0
    for attack in chosen:
        wrong = problems(attack, done)
        failed += bool(wrong)
        held = "" if not wrong else "  ← " + "; ".join(wrong)
        print(f"{attack.family:9} {attack.name:32} {summary(attack, done):28} {attack.tries}{held}")
    for trouble in of_class(done):
        failed += 1
        print(f"the class: {trouble}")
    print(
        f"{len(chosen)} attacks, {failed} problems, {len(done.honest)} honest submissions among "
        f"them, {time.monotonic() - started:.0f} s"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
