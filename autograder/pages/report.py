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
from attnlab.ipynb.read import Cell
from autograder.pages.inert import inert, without_commands
from autograder.sandbox.child.wire import Ran
from autograder.submission.results import Written

METADATA = {
    "kernelspec": {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    },
    "language_info": {"name": "python"},
}


def notebook_text(
    cells: tuple[Cell, ...], ran: Mapping[int, Ran], cards: Mapping[str, Verdict]
) -> str:
    """A notebook of nbformat 4.5, as text.

    Args:
        cells: rebuilt.
        ran: what cells did, by index.
        cards: verdicts by exercise.
    """
    notebook = {
        "cells": [_cell(index, cell, ran, cards) for index, cell in enumerate(cells)],
        "metadata": METADATA,
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def written_in(cells: tuple[Cell, ...], ran: Mapping[int, Ran]) -> tuple[Written, ...]:
    """The code cells that a learner wrote, and what they stopped with."""
    return tuple(
        Written(cell.exercise, cell.source, _errors(ran[index]) if index in ran else ())
        for index, cell in enumerate(cells)
        if cell.kind == "code" and cell.is_theirs
    )


def _errors(ran: Ran) -> tuple[str, ...]:
    return tuple(
        "\n".join(output["traceback"])
        for output in _outputs(0, ran, locked=False)
        if output["output_type"] == "error"
    )


def _cell(
    index: int, cell: Cell, ran: Mapping[int, Ran], cards: Mapping[str, Verdict]
) -> dict[str, Any]:
    ours = cell.metadata if cell.grade_id else {}
    shared = {"cell_type": cell.kind, "id": cell.id, "metadata": ours, "source": cell.source}
    if cell.kind != "code":
        if not cell.grade_id:
            # A raw cell without a type would be handed to the browser as it is.
            shared |= {"cell_type": "markdown", "source": inert(cell.source)}
        return shared
    outputs: list[dict[str, Any]] = []
    card = cards.get(cell.exercise) if cell.is_check else None
    if card is not None:
        shown = without_commands(as_html(card))
        outputs = [_result(index, {"text/plain": repr(card.score), "text/html": shown})]
    elif index in ran:
        outputs = _outputs(index, ran[index], locked=ours.get("editable") is False)
    return shared | {"execution_count": index + 1 if outputs else None, "outputs": outputs}


def _outputs(index: int, ran: Ran, locked: bool) -> list[dict[str, Any]]:
    """What a cell printed, showed and raised; but for what a locked cell raised, which is ours."""
    outputs: list[dict[str, Any]] = []
    if ran.printed:
        outputs.append({"output_type": "stream", "name": "stdout", "text": ran.printed})
    if ran.shown:
        outputs.append(_result(index, {"text/plain": ran.shown}))
    if ran.stopped:
        outputs.append(_error("TimeoutError", "the cell was stopped", ""))
    elif ran.raised and not locked:
        outputs.append(_raised(ran.raised))
    return outputs


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
