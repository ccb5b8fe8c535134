"""Takes out of a notebook what needs the kernel that made it, so that the still figures are shown.

    python -m attnlab.figures.live.stored NOTEBOOK...

A viewer prefers a widget's view to its HTML, also where the kernel is gone and the view is empty.
So a view is laid aside as a notebook is saved, under a name that no viewer knows, and brought back
as it is opened, where its kernel still has it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import Any

VIEW = "application/vnd.jupyter.widget-view+json"
ASIDE = "application/vnd.attnlab.widget-view+json"


def make_still(notebook: dict[str, Any]) -> None:
    """Drop views of widgets that have a still figure, and all saved state of widgets.

    Args:
        notebook: as JSON, of nbformat 4; changed in place.
    """
    lay_aside(notebook)
    for data in shown(notebook["cells"]):
        data.pop(ASIDE, None)


def lay_aside(notebook: dict[str, Any]) -> None:
    """Lay views of widgets aside that have a still figure, and drop all saved state of widgets."""
    notebook["metadata"].pop("widgets", None)
    for data in shown(notebook["cells"]):
        if "text/html" in data and VIEW in data:
            data[ASIDE] = data.pop(VIEW)


def bring_back(notebook: dict[str, Any], held: Container[str]) -> None:
    """Bring back the views that were laid aside.

    Args:
        notebook: as JSON, of nbformat 4; changed in place.
        held: names of the models that the notebook's kernel has.
    """
    for data in shown(notebook["cells"]):
        view = data.get(ASIDE)
        if isinstance(view, dict) and str(view.get("model_id")) in held:
            data[VIEW] = data.pop(ASIDE)


def shown(cells: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """What cells display: by its MIME type, each in its forms."""
    for cell in cells:
        for output in cell.get("outputs", []):
            yield output.get("data", {})


def make_file_still(path: Path) -> None:
    """Do the same to a notebook's file."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    make_still(notebook)
    text = json.dumps(notebook, indent=1, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        make_file_still(Path(name))
