"""The autograded notebook: the rebuilt one, with what its cells did and the checks' cards.

Formgrader shows it to an instructor, so that nothing in it may be active: outputs are plain text,
but for the cards, which are ours and have all that is a learner's escaped; no tag or link begins in
a learner's Markdown; and none of their metadata is kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attnlab.calling.call import Raised
from attnlab.checks.card import as_html
from attnlab.checks.verdict import Verdict
from attnlab.ipynb.read import MIB, Cell
from autograder.pages.inert import inert, without_commands
from autograder.sandbox.child.wire import Ran
from autograder.submission.results import Written

CUT = "… (cut here: no more than {:g} MB of what a notebook prints and shows is kept)\n"
METADATA = {
    "kernelspec": {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    },
    "language_info": {"name": "python"},
}


class Outputs:
    """What the cells of a notebook printed, showed and raised, up to a limit in all.

    Args:
        limit: bytes of it in the notebook's file. Past it the rest is left out, and a sentence
            says so: a notebook of many cells would be a hundred times what was handed in.
    Attributes:
        of_cell: as nbformat has them, by the cell's index.
    """

    def __init__(self, limit: int) -> None:
        self.of_cell: dict[int, list[dict[str, Any]]] = {}
        self._limit = limit
        self._left = limit

    def add(self, index: int, ran: Ran, locked: bool) -> None:
        """Keep what a cell did; but for what a locked cell raised, which is ours."""
        outputs = _outputs(index, ran, locked)
        if outputs and self._left >= 0:
            self._left -= len(_as_json(outputs).encode())
            cut = CUT.format(self._limit / MIB)
            self.of_cell[index] = outputs if self._left >= 0 else [_printed(cut)]


def notebook_text(
    cells: tuple[Cell, ...],
    outputs: Mapping[int, list[dict[str, Any]]],
    cards: Mapping[str, Verdict],
) -> str:
    """A notebook of nbformat 4.5, as text.

    Args:
        cells: rebuilt.
        outputs: of cells, by index.
        cards: verdicts by exercise.
    """
    notebook = {
        "cells": [_cell(index, cell, outputs, cards) for index, cell in enumerate(cells)],
        "metadata": METADATA,
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return _as_json(notebook) + "\n"


def _as_json(what: Any) -> str:
    """In one line: with indents it would take ten times as long."""
    return json.dumps(what, ensure_ascii=False)


def written_in(
    cells: tuple[Cell, ...], outputs: Mapping[int, list[dict[str, Any]]]
) -> tuple[Written, ...]:
    """The code cells that a learner wrote, and what they stopped with."""
    return tuple(
        Written(cell.exercise, cell.source, _errors(outputs.get(index, [])))
        for index, cell in enumerate(cells)
        if cell.kind == "code" and cell.is_theirs
    )


def _errors(outputs: list[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(
        "\n".join(output["traceback"]) for output in outputs if output["output_type"] == "error"
    )


def _cell(
    index: int,
    cell: Cell,
    outputs: Mapping[int, list[dict[str, Any]]],
    cards: Mapping[str, Verdict],
) -> dict[str, Any]:
    ours = cell.metadata if cell.grade_id else {}
    shared = {"cell_type": cell.kind, "id": cell.id, "metadata": ours, "source": cell.source}
    if cell.kind != "code":
        if not cell.grade_id:
            # A raw cell without a type would be handed to the browser as it is.
            shared |= {"cell_type": "markdown", "source": inert(cell.source)}
        return shared
    found = outputs.get(index, [])
    card = cards.get(cell.exercise) if cell.is_check else None
    if card is not None:
        shown = without_commands(as_html(card))
        found = [_result(index, {"text/plain": repr(card.score), "text/html": shown})]
    return shared | {"execution_count": index + 1 if found else None, "outputs": found}


def _outputs(index: int, ran: Ran, locked: bool) -> list[dict[str, Any]]:
    outputs: list[dict[str, Any]] = []
    if ran.printed:
        outputs.append(_printed(ran.printed))
    if ran.shown:
        outputs.append(_result(index, {"text/plain": ran.shown}))
    if ran.stopped:
        outputs.append(_error("TimeoutError", "the cell was stopped", ""))
    elif ran.raised and not locked:
        outputs.append(_raised(ran.raised))
    return outputs


def _printed(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def _raised(raised: Raised) -> dict[str, Any]:
    return _error(raised.name, raised.message, raised.line)


def _error(name: str, message: str, line: str) -> dict[str, Any]:
    traceback = [f"    {line}"] if line else []
    return {
        "output_type": "error",
        "ename": name,
        "evalue": message,
        "traceback": [*traceback, f"{name}: {message}"],
    }


def _result(index: int, data: dict[str, str]) -> dict[str, Any]:
    return {
        "output_type": "execute_result",
        "execution_count": index + 1,
        "data": data,
        "metadata": {},
    }
