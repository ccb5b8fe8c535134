"""Still figures: HTML without scripts, for stored pages, exports, and wherever no kernel runs.

Numbers, colours and sentences are all in it. Where a page keeps style sheets, radio buttons step
from row to row and the pointer does the same; where it drops them (JupyterLab does, in a notebook
that it does not trust), every sentence is shown.
"""

from __future__ import annotations

import hashlib
import html
from collections.abc import Sequence

import numpy as np

from attnlab.figures import palette
from attnlab.figures.live.ramp import shade

MOVES = "It moves where its cell is run."  # said where no kernel may be
_CELL = "padding:3px 6px;text-align:center"
HATCHED = "repeating-linear-gradient(45deg,#fff 0 4px,#bbb 4px 5px)"


def mark(*words: str) -> str:
    """A class for HTML that is the same in every run, and for the same figure shown twice.

    Args:
        words: what is told; not the numbers themselves, whose last bits differ between machines.
    """
    return "attn-" + hashlib.sha256("\n".join(words).encode()).hexdigest()[:8]


def framed(content: str, said: str, mark: str) -> str:
    """Content as a figure with a name that is read out, and how to get one that moves.

    One page may hold the same figure twice. Radio buttons with the same name are one group for each
    form, so each figure has a form; this kind of form sends nothing, also not on Enter.
    """
    label = html.escape(said, quote=True)
    return (
        f'<figure class="{mark}" aria-label="{label}" '
        f'style="margin:0;max-width:100%;overflow-x:auto">'
        f"<style>{palette.style(f'.{mark}')}</style>"
        f'<form method="dialog" style="margin:0">{content}</form>'
        f"<figcaption>{MOVES}</figcaption></figure>"
    )


def stepper(mark: str, steps: int, shown: str = ".said") -> str:
    """A style sheet that shows one step, the one chosen by radio button or under the pointer.

    Inside of the element with the class `mark` there have to be a `.step` with a radio button for
    each step, and a `.said` with a child for each. Where none is chosen, the first is shown.

    Args:
        mark: the figure's class.
        steps: how many.
        shown: selector of what has a child for each step.
    """
    rules = [
        f".{mark} {shown}>*{{display:none}}",
        f".{mark} .step:hover,.{mark} .step:has(:checked){{outline:2px solid}}",
        f".{mark}:not(:has(.step :checked,.step:hover)) {shown}>:first-child{{display:block}}",
    ]
    for step in range(1, steps + 1):
        chosen, under, said = (
            f".{mark}:has(.step-{step} :checked)",
            f".{mark}:has(.step-{step}:hover)",
            f"{shown}>:nth-child({step})",
        )
        rules.append(f"{chosen}:not(:has(.step:hover)) {said},{under} {said}{{display:block}}")
    return f"<style>@supports selector(:has(a)){{{''.join(rules)}}}</style>"


def radio(mark: str, step: int, label: str) -> str:
    """A radio button for a step, counted from 0; the first is chosen."""
    chosen = "" if step else " checked"
    return f'<label><input type="radio" name="{mark}"{chosen}> {html.escape(label)}</label>'


def heat_table(
    mark: str,
    weights: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    blocked: np.ndarray,
) -> str:
    """Weights as a table, with a radio button in front of each row.

    Args:
        mark: the figure's class.
        weights: (N, M).
        rows: N labels.
        columns: M labels.
        blocked: (N, M) bool, True = blocked.
    """
    steps = [radio(mark, step, row) for step, row in enumerate(rows)]
    starts = [f'<tr class="step step-{step + 1}">' for step in range(len(rows))]
    return _table(weights, steps, columns, blocked, starts)


def plain_table(
    weights: np.ndarray, rows: Sequence[str], columns: Sequence[str], blocked: np.ndarray
) -> str:
    """`heat_table` without radio buttons, for figures that step through something else."""
    return _table(weights, [*map(html.escape, rows)], columns, blocked, ["<tr>"] * len(rows))


def _table(
    weights: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    blocked: np.ndarray,
    starts: Sequence[str],
) -> str:
    """Rows are HTML, and each begins with its start tag."""
    head = "".join(f'<th scope="col" style="{_CELL}">{html.escape(name)}</th>' for name in columns)
    lines = [f"<tr><td></td>{head}</tr>"]
    for start, row, shares, hidden in zip(starts, rows, weights, blocked, strict=True):
        cells = "".join(map(_cell, shares.tolist(), hidden.tolist()))
        name = f'<th scope="row" style="{_CELL};text-align:left">{row}</th>'
        lines.append(f"{start}{name}{cells}</tr>")
    return f'<table style="border-collapse:collapse">{"".join(lines)}</table>'


def _cell(share: float, hidden: bool) -> str:
    if hidden:
        shown = "0" if share == 0 else f"{share:.2f}"
        return f'<td title="blocked" style="{_CELL};color:#000;background:{HATCHED}">{shown}</td>'
    face, ink = shade(share)
    return f'<td style="{_CELL};color:{ink};background:{face}">{share:.2f}</td>'


def sentences(said: Sequence[str]) -> str:
    """A sentence for each step."""
    return listed([html.escape(sentence) for sentence in said])


def listed(pieces: Sequence[str]) -> str:
    """A piece of HTML for each step."""
    items = "".join(f"<li>{piece}</li>" for piece in pieces)
    return f'<ul class="said" style="list-style:none;margin:8px 0;padding:0">{items}</ul>'


def lines(caption: str, rows: Sequence[Sequence[str]], heads: Sequence[str] = ()) -> str:
    """Rows of words, the first of which names the row."""
    top = "".join(f"<th>{html.escape(head)}</th>" for head in heads)
    body = "".join(
        f"<tr><th>{html.escape(name)}</th><td>{'</td><td>'.join(map(html.escape, cells))}</td></tr>"
        for name, *cells in rows
    )
    named = f'<caption style="text-align:left">{caption}</caption>'
    return f"<table>{named}{f'<tr>{top}</tr>' if heads else ''}{body}</table>"
