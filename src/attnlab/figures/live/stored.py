"""Takes out of a notebook what needs the kernel that made it, so that the still figures are shown.

    python -m attnlab.figures.live.stored NOTEBOOK...

A viewer prefers a widget's view to its HTML, also where the kernel is gone and the view is empty.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

VIEW = "application/vnd.jupyter.widget-view+json"


def make_still(path: Path) -> None:
    """Drop views and saved state of widgets from a notebook's file."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["metadata"].pop("widgets", None)
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(VIEW, None)
    text = json.dumps(notebook, indent=1, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        make_still(Path(name))
