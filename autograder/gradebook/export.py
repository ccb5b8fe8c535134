"""What `nbgrader export` writes, without the tails that sums of fractions leave."""

from __future__ import annotations

import re
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.plugins import CsvExportPlugin

from autograder.pages.standing import PLACES

_POINTS = re.compile(r"(?:,-?\d[\d.e-]*){4}$", re.MULTILINE)  # the last columns of a row


class Rounded(CsvExportPlugin):
    """nbgrader's own table: 0.6 less 0.5 is 0.1 in it, not 0.09999999999999998."""

    def export(self, gradebook: Gradebook) -> None:
        super().export(gradebook)
        path = Path(self.to or "grades.csv")
        path.write_text(_POINTS.sub(_rounded, path.read_text()))  # encoded as nbgrader does


def _rounded(points: re.Match[str]) -> str:
    _, *each = points[0].split(",")
    return "".join(f",{round(float(value), PLACES)}" for value in each)
