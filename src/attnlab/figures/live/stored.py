"""Takes out of a notebook what needs the kernel that made it, so that the still figures are shown.

    python -m attnlab.figures.live.stored NOTEBOOK...

A viewer prefers a widget's view to its HTML, also where the kernel is gone and the view is empty.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

VIEW = "application/vnd.jupyter.widget-view+json"


def make_still(notebook: dict[str, Any]) -> None:
    """Drop views of widgets that have a still figure, and all saved state of widgets.

    Args:
        notebook: as JSON, of nbformat 4; changed in place.
    """
    notebook["metadata"].pop("widgets", None)
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "text/html" in data:
                data.pop(VIEW, None)


def make_file_still(path: Path) -> None:
    """Do the same to a notebook's file."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    make_still(notebook)
    text = json.dumps(notebook, indent=1, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        make_file_still(Path(name))
