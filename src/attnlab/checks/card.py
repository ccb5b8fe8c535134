"""A verdict, shown: a float that Jupyter draws as a card.

The float is the score: `nbgrader` reads it from the cell's `text/plain` as partial credit. The card
is its `text/html`; `print(card)` and a terminal show the same as text.
"""

from __future__ import annotations

import html
import re
import sys
import textwrap
from typing import Any

from attnlab.calling.observe import rebuild
from attnlab.checks.verdict import Line, Verdict

_HEADLINES = {
    "PASS": "right",
    "FAIL": "not right yet",
    "ERROR": "stopped with an error",
    "TIMEOUT": "did not finish in time",
    "OOM": "ran out of memory",
    "CRASH": "ended the program it ran in",
    "MISSING": "not written yet",
    "POLICY": "uses a call that is banned here",
    "UNKNOWN": "could not be checked",
}
# Symbols carry the meaning; colour only repeats it. Both are legible on JupyterLab's light and dark
# backgrounds, where text keeps the theme's own colour.
_ACCENTS = {"PASS": "#2a7f9e", "MISSING": "#8a8a8a"}
_WRONG = "#c8641b"
_MARKS = {True: ("✓", "holds"), False: ("✗", "does not hold"), None: ("–", "not tried")}


class Card(float):
    """A score in [0, points] that knows why.

    Attributes:
        verdict: all that the check found.
    """

    verdict: Verdict

    def __new__(cls, verdict: Verdict) -> Card:
        card = super().__new__(cls, verdict.score)
        card.verdict = verdict
        return card

    def __reduce__(self) -> tuple[type[Card], tuple[Verdict]]:
        return Card, (self.verdict,)  # a float would be copied by its number alone

    @property
    def inputs(self) -> dict[str, Any]:
        """A fresh copy of the inputs that went wrong, by name: see `check.inputs`."""
        return {name: rebuild(value) for name, value in self.verdict.inputs.items()}

    def __str__(self) -> str:
        return as_text(self.verdict)

    def __format__(self, spec: str) -> str:
        return float(self).__format__(spec) if spec else str(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        if _in_terminal():
            return {"text/plain": as_text(self.verdict)}
        return {"text/plain": repr(float(self)), "text/html": as_html(self.verdict)}


def headline(verdict: Verdict) -> str:
    """'softmax: not right yet · 0.5 of 2 points'."""
    said, name = _HEADLINES[verdict.status], verdict.name
    if verdict.called and verdict.called != verdict.name:
        name = f"{verdict.called}, checked as {verdict.name}"
    if not verdict.max_score:
        return f"{name}: {said}"
    unit = "point" if verdict.max_score == 1 else "points"
    return f"{name}: {said} · {verdict.score:g} of {verdict.max_score:g} {unit}"


def as_text(verdict: Verdict) -> str:
    """The card for a terminal, a log or a screen reader."""
    paragraphs = [headline(verdict)]
    paragraphs += [f"  {_MARKS[line.holds][0]} {_claim(line)}" for line in verdict.lines]
    for label, text in _sections(verdict):
        filled = textwrap.fill(
            f"{label}: {text}", 96, subsequent_indent="    ", break_long_words=False
        )
        paragraphs.append(filled)
    return "\n".join(paragraphs)


def as_message(verdict: Verdict) -> str:
    """What comes first, what differed or was raised, why, what to try; '' on a pass."""
    parts = [verdict.first, verdict.message]
    if verdict.diagnosis:
        parts += [verdict.diagnosis.reason, verdict.diagnosis.remedy]
    return " ".join(part if part[-1] in ".?!" else f"{part}." for part in parts if part)


def as_html(verdict: Verdict) -> str:
    """The card for a notebook: inline styles alone, as JupyterLab drops style sheets."""
    accent = _ACCENTS.get(verdict.status, _WRONG)
    mark = {"PASS": "✓", "MISSING": "○"}.get(verdict.status, "✗")
    title = html.escape(headline(verdict))
    label = html.escape(f"Check of {verdict.name}", quote=True)
    rows = "".join(_html_line(line) for line in verdict.lines)
    listing = f'<ul style="list-style:none;margin:4px 0;padding:0">{rows}</ul>' if rows else ""
    sections = "".join(
        f'<p style="margin:6px 0 0"><strong>{label_}.</strong> {_html_text(label_, text)}</p>'
        for label_, text in _sections(verdict)
    )
    return (
        f'<section aria-label="{label}" style="border-left:6px solid {accent};'
        'padding:4px 0 6px 12px;margin:4px 0;max-width:46em;line-height:1.5">'
        f'<p style="margin:0;font-weight:bold"><span aria-hidden="true">{mark}</span> {title}</p>'
        f"{listing}{sections}</section>"
    )


def _sections(verdict: Verdict) -> list[tuple[str, str]]:
    """Label and text of each paragraph below the lines."""
    sections = [("First", verdict.first)] if verdict.first else []
    if verdict.message:
        label = "Next" if verdict.status in ("MISSING", "UNKNOWN") else "What differed"
        sections.append((label, verdict.message))
    if verdict.where:
        sections.append(("With", verdict.where))
    if verdict.inputs:
        sections.append(
            (
                "See for yourself",
                f"in a new cell, `{verdict.called or verdict.name}{verdict.built}(**check.inputs)`",
            )
        )
    if verdict.diagnosis:
        slug = verdict.diagnosis.slug
        sections.append(("Likely cause", f"{slug}. {verdict.diagnosis.reason}"))
        sections.append(("Try", verdict.diagnosis.remedy))
    if verdict.printed:
        sections.append(("It printed", " ".join(verdict.printed.split())))
    if verdict.read:
        sections.append(("Read again", verdict.read))
    if verdict.unsaved:
        sections.append(("Not saved", verdict.unsaved))
    return sections


def _claim(line: Line) -> str:
    if not line.worth:
        return line.claim
    waits = ", until the first line holds" if line.holds and not line.earned else ""
    return f"{line.claim} ({line.earned:g} of {line.worth:g}{waits})"


def _html_line(line: Line) -> str:
    mark, said = _MARKS[line.holds]
    return (
        f'<li style="margin:0"><span role="img" aria-label="{said}">{mark}</span> '
        f"{_ticked(html.escape(_claim(line)))}</li>"
    )


def _html_text(label: str, text: str) -> str:
    escaped = html.escape(text)
    if label == "Read again":
        # JupyterLab makes a heading's id from its text, spaces turned to hyphens.
        anchor = html.escape(text.replace(" ", "-"), quote=True)
        return f'<a href="#{anchor}">{escaped}</a>'
    if label in ("With", "It printed"):
        return f"<code>{escaped}</code>"
    if label == "Likely cause":
        slug, _, reason = escaped.partition(". ")
        return f"<strong><code>{slug}</code></strong>. {_ticked(reason)}"
    return _ticked(escaped)


def _ticked(escaped: str) -> str:
    """`code` between backticks, as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped)


def _in_terminal() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return type(shell).__name__ == "TerminalInteractiveShell"
