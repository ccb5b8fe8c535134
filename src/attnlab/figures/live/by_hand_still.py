"""By hand, as a still figure: all stages as tables, and the sums behind every cell to unfold."""

from __future__ import annotations

import html as escaping
from typing import Any

from attnlab.figures.live import fallback
from attnlab.figures.live.figure import Values

FROM_MASK = slice(4, None)  # stages that a mask changes


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
    cells = [
        [
            fallback.cell(text, fallback.look(number) if shaded and not hidden else (), hidden)
            for text, hidden, number in zip(*row, strict=True)
        ]
        for row in zip(matrix["text"], matrix["blocked"], matrix["numbers"], strict=True)
    ]
    rows = [*map(escaping.escape, matrix["rows"])]
    return fallback.headed(matrix["caption"], fallback.table(matrix["columns"], rows, cells))
