"""By hand, as a still figure: all stages as tables, and the sums behind every cell to unfold."""

from __future__ import annotations

import html as escaping
from typing import Any

from attnlab.figures.live import fallback
from attnlab.figures.live.figure import Values
from attnlab.figures.live.ramp import shade

FROM_MASK = slice(4, None)  # stages that a mask changes
_CELL = "padding:2px 6px;text-align:center"
_GROUP = "display:inline-block;vertical-align:top;margin:0 16px 8px 0"


def html(said: str, state: Values, turned: Values) -> str:
    """A step for each stage, and once more those that a mask changes, with the mask turned over.

    Args:
        said: what the figure shows, in words.
        state: of the figure.
        turned: of the same figure with the causal mask on for off, or off for on.
    """
    stages = [
        (f"{number} {stage['name']}", stage, state["matrices"])
        for number, stage in enumerate(state["stages"], start=1)
    ]
    masked = "causal" if turned["causal"] else "no mask"
    stages += [
        (f"{label}, {masked}", stage, turned["matrices"])
        for (label, _, _), stage in zip(stages[FROM_MASK], turned["stages"][FROM_MASK], strict=True)
    ]
    trails = "".join(
        f"<li>“{escaping.escape(token)}”: {' → '.join(step['text'] for step in trail)}</li>"
        for token, trail in zip(state["tokens"], state["trails"], strict=True)
    )
    steps = [(label, _stage(label, *rest)) for label, *rest in stages]
    followed = f"<p>What becomes of each query:</p><ul>{trails}</ul>"
    return fallback.stepped(said, steps, *state["tokens"], below=followed)


def _stage(label: str, stage: Values, matrices: Values) -> str:
    shown = [name for group in stage["groups"] for name in group]
    tables = "".join(_table(matrices[name], name == "A") for name in shown)
    results = [name for name in stage["makes"] if not matrices[name]["yours"]]
    sums = [cell for name in results for row in matrices[name]["told"] for cell in row]
    unfolded = "".join(
        f"<li>{escaping.escape(cell['what'])} {escaping.escape(cell['sums'][0])}</li>"
        for cell in sums
    )
    details = f"<details><summary>The sum behind every cell</summary><ul>{unfolded}</ul></details>"
    return (
        f"<p><b>{escaping.escape(label)}.</b> {escaping.escape(stage['about'])}</p>"
        f"<div>{tables}</div>{details if sums else ''}"
    )


def _table(matrix: dict[str, Any], shaded: bool) -> str:
    head = "".join(_head("col", name) for name in matrix["columns"])
    lines = "".join(
        f"<tr>{_head('row', name)}{cells}</tr>"
        for name, cells in zip(matrix["rows"], _rows(matrix, shaded), strict=True)
    )
    caption = escaping.escape(matrix["caption"])
    return (
        f'<div style="{_GROUP}"><p style="margin:0">{caption}</p>'
        f'<table style="border-collapse:collapse"><tr><td></td>{head}</tr>{lines}</table></div>'
    )


def _head(scope: str, name: str) -> str:
    return f'<th scope="{scope}" style="{_CELL};font-weight:normal">{escaping.escape(name)}</th>'


def _rows(matrix: dict[str, Any], shaded: bool) -> list[str]:
    """The cells of each row."""
    return [
        "".join(
            _cell(text, hidden, number if shaded else None)
            for text, hidden, number in zip(*row, strict=True)
        )
        for row in zip(matrix["text"], matrix["blocked"], matrix["numbers"], strict=True)
    ]


def _cell(text: str, hidden: bool, share: float | None) -> str:
    if hidden:
        colours = f";color:#000;background:{fallback.HATCHED}"
        return f'<td title="blocked" style="{_CELL}{colours}">{text}</td>'
    if share is None:
        return f'<td style="{_CELL}">{text}</td>'
    face, ink = shade(share)
    return f'<td style="{_CELL};color:{ink};background:{face}">{text}</td>'
