"""Figures that move in an export of a notebook, which is run for it:

    jupyter nbconvert --to html --execute \\
        --HTMLExporter.preprocessors=attnlab.figures.live.exported.Moving NOTEBOOK
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nbconvert.preprocessors import Preprocessor

from attnlab.figures.live.figure import RECORDINGS
from attnlab.figures.live.recording import marked, moving
from attnlab.figures.live.stored import VIEW


def moved(output: Any, recordings: Path) -> None:
    """Put a figure that moves in the place of a still one.

    Args:
        output: of a cell, as nbformat has it; changed in place.
        recordings: a folder of them, named by the marks of their still figures.
    Raises:
        FileNotFoundError: the figure was not recorded.
    """
    data = output.get("data", {})
    if mark := marked("".join(data.get("text/html", ""))):
        data.pop(VIEW, None)  # a viewer would prefer it, without the kernel that it needs
        data["text/html"] = moving(json.loads((recordings / f"{mark}.json").read_text("utf-8")))


class Moving(Preprocessor):
    """nbconvert's step after the notebook was run: what it displayed was recorded."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(enabled=True, **settings)
        self.recordings = TemporaryDirectory()
        os.environ[RECORDINGS] = self.recordings.name  # which the kernel inherits

    def preprocess_cell(self, cell: Any, resources: Any, index: int) -> tuple[Any, Any]:
        for output in cell.get("outputs", []):
            moved(output, Path(self.recordings.name))
        return cell, resources
