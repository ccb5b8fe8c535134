"""`python -m tests.waits LESSON…`: how long a lesson's cells keep their reader waiting, recorded.

Runs the solutions and writes into `waits.json`, for each cell with a label, the seconds that one
core computed for it: they do not depend on what else the machine does. `tests.course.minutes` adds
them up. Whoever changes how long a cell takes runs this for its lesson.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

TABLE = Path(__file__).with_name("waits.json")
LEAST = 0.1  # what is less is 0 here


@cache
def waits() -> Mapping[str, Mapping[str, float]]:
    """Seconds by lesson and label."""
    return json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {}


def measured(path: Path) -> dict[str, float]:
    """Seconds by label, of a notebook that is run for it; what it stores stays as it is."""
    import psutil  # type: ignore[import-untyped]
    from nbclient import NotebookClient

    found: dict[str, float] = {}
    began = [0.0]

    def computed() -> float:
        started: Any = client.km
        kernel = psutil.Process(started.provisioner.pid)
        alive = [kernel, *kernel.children(recursive=True)]
        return sum(sum(each.cpu_times()[:4]) for each in alive)

    def start(cell: NotebookNode, cell_index: int) -> None:
        began[0] = computed()

    def end(cell: NotebookNode, cell_index: int, **_: object) -> None:
        label = cell.metadata.get("nbgrader", {}).get("grade_id")
        if label and cell.cell_type == "code":
            took = computed() - began[0]
            found[label] = round(took, 1) if took >= LEAST else 0.0

    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=900,
        resources={"metadata": {"path": str(path.parent)}},
        on_cell_start=start,
        on_cell_executed=end,
    )
    client.execute(env={**os.environ, "OMP_NUM_THREADS": "1"})
    return found


def main(slugs: list[str]) -> None:
    from attnlab.ipynb.files import write_whole
    from tests.course import SLUGS, solution_path

    for slug in slugs or SLUGS:
        took = measured(solution_path(slug))
        kept = json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {}
        kept[slug] = took
        table = {each: kept[each] for each in SLUGS if each in kept}
        write_whole(TABLE, (json.dumps(table, indent=1, ensure_ascii=False) + "\n").encode())
        print(f"{slug}: {sum(took.values()):.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
