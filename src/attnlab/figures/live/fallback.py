"""Still figures: HTML without scripts, for stored pages, exports, and wherever no kernel runs.

Numbers, colours and sentences are all in it. Where a page keeps style sheets, radio buttons step
from row to row and the pointer does the same; where it drops them (JupyterLab does, in a notebook
that it does not trust), every sentence is shown.
"""

from __future__ import annotations

import hashlib
import html
from collections.abc import Iterable, Sequence
from itertools import repeat

import numpy as np

from attnlab.figures import palette
from attnlab.figures.live import ramp
from attnlab.figures.live.ramp import NOUGHT, shade

MOVES = "It moves where its cell is run."  # said where no kernel may be
_CELL = "padding:3px 6px;text-align:center"
_LINE = "padding:2px 8px;text-align:right"
_NAME = "padding:2px 8px;text-align:left;font-weight:normal"
HATCHED = "repeating-linear-gradient(45deg,transparent 0 4px,#8886 4px 5px)"


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
    shaded = ramp.style(f".{mark}") if ramp.PALETTE[0][0] in content else ""
    return (
        f'<figure class="{mark}" aria-label="{label}" '
        f'style="margin:0;max-width:100%;overflow-x:auto">'
        f"<style>{palette.style(f'.{mark}')}{shaded}</style>"
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


def stepped(
    said: str,
    steps: Sequence[tuple[str, str]],
    *told: str,
    above: str = "",
    below: str = "",
    shown: Sequence[str] = (".said",),
) -> str:
    """A still figure of some steps, each with its radio button and a piece of HTML.

    Args:
        said: what there is to see.
        steps: label and piece of each, the first of which is shown.
        told: what else tells this figure from others.
        above: HTML before the pieces.
        below: HTML after them.
        shown: selectors of what has a child for each step.
    """
    name = mark(said, *told)
    styles = "".join(stepper(name, len(steps), each) for each in shown)
    radios = "".join(
        f'<span class="step step-{at + 1}" style="margin-right:12px;white-space:nowrap">'
        f"{radio(name, at, label)}</span>"
        for at, (label, _) in enumerate(steps)
    )
    pieces = listed([piece for _, piece in steps])
    return framed(f"{styles}{radios}{above}{pieces}{below}", said, name)


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
    return table(columns, steps, _shares(weights, blocked), starts)


def plain_table(
    weights: np.ndarray, rows: Sequence[str], columns: Sequence[str], blocked: np.ndarray
) -> str:
    """`heat_table` without radio buttons, for figures that step through something else."""
    return table(columns, [*map(html.escape, rows)], _shares(weights, blocked))


def table(
    columns: Sequence[str],
    rows: Sequence[str],
    cells: Iterable[Iterable[str]],
    starts: Iterable[str] = repeat("<tr>"),
) -> str:
    """Cells in rows.

    Args:
        columns: M labels; none where the columns have no names.
        rows: N labels, as HTML.
        cells: (N, M), each a `cell`.
        starts: the tag that each row begins with.
    """
    head = "".join(f'<th scope="col" style="{_CELL}">{html.escape(name)}</th>' for name in columns)
    lines = [f"<tr><td></td>{head}</tr>" if columns else ""]
    for start, row, line in zip(starts, rows, cells, strict=False):
        name = f'<th scope="row" style="{_CELL};text-align:left">{row}</th>'
        lines.append(f"{start}{name}{''.join(line)}</tr>")
    return f'<table style="border-collapse:collapse">{"".join(lines)}</table>'


def cell(text: str, look: Sequence[str] = (), hidden: bool = False) -> str:
    """A cell of a table: hatched where it is hidden, else with its face and its ink, if any."""
    if hidden:
        colours = f"color:{NOUGHT};background:{HATCHED}"
        return f'<td title="blocked" style="{_CELL};{colours}">{text}</td>'
    colours = f";color:{look[1]};background:{look[0]}" if look else ""
    return f'<td style="{_CELL}{colours}">{text}</td>'


def _shares(weights: np.ndarray, blocked: np.ndarray) -> list[list[str]]:
    return [
        [
            cell("0" if hidden and share == 0 else f"{share:.2f}", look(share), hidden)
            for share, hidden in zip(*row, strict=True)
        ]
        for row in zip(weights.tolist(), blocked.tolist(), strict=True)
    ]


def look(share: float) -> tuple[str, str]:
    """Face and ink of a weight, quiet where it shows as 0."""
    face, on_it = shade(share)
    return face, on_it if f"{share:.2f}".strip("0.") else NOUGHT


def headed(caption: str, content: str) -> str:
    """One of several tables that stand in a line, with its name over it."""
    return (
        '<div style="display:inline-block;vertical-align:top;margin:0 16px 8px 0">'
        f'<p style="margin:0">{html.escape(caption)}</p>{content}</div>'
    )


def sentences(said: Sequence[str]) -> str:
    """A sentence for each step."""
    return listed([html.escape(sentence) for sentence in said])


def listed(pieces: Sequence[str]) -> str:
    """A piece of HTML for each step."""
    items = "".join(f"<li>{piece}</li>" for piece in pieces)
    return f'<ul class="said" style="list-style:none;margin:8px 0;padding:0">{items}</ul>'


def lines(caption: str, rows: Sequence[Sequence[str]], heads: Sequence[str] = ()) -> str:
    """Rows of words, the first of which names the row."""
    top = "".join(f'<th scope="col" style="{_LINE}">{html.escape(head)}</th>' for head in heads)
    body = "".join(
        f'<tr><th scope="row" style="{_NAME}">{html.escape(name)}</th>'
        + "".join(f'<td style="{_LINE}">{html.escape(cell)}</td>' for cell in cells)
        + "</tr>"
        for name, *cells in rows
    )
    named = caption and f'<caption style="text-align:left"><b>{caption}</b></caption>'
    return f"<table>{named}{top and f'<tr>{top}</tr>'}{body}</table>"


def beside(*pieces: str, wide: str = "0 1 auto") -> str:
    """Pieces of HTML side by side where there is room; `wide` is their CSS `flex`."""
    each = "".join(f'<div style="flex:{wide};max-width:100%">{piece}</div>' for piece in pieces)
    return (
        f'<div style="display:flex;flex-wrap:wrap;gap:4px 24px;align-items:flex-start">{each}</div>'
    )
