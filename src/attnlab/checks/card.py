"""A verdict, shown: a float that Jupyter draws as a card.

The float is the score: `nbgrader` reads it from the cell's `text/plain` as partial credit. The card
is its `text/html`; `print(card)` and a terminal show the same as text. In this order: the verdict,
what differed, the likely cause, what to try, where to read, and folded, the claims.
"""

from __future__ import annotations

import html
import re
import sys
import textwrap
from collections.abc import Callable
from typing import Any

from attnlab.calling.call import Call, repeat
from attnlab.calling.observe import lay, rebuild
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
        laid = self.verdict.call.laid if self.verdict.call else ""
        return {name: lay(rebuild(value), laid) for name, value in self.verdict.inputs.items()}

    def again(self, function: Callable[..., Any]) -> Any:
        """The call that went wrong, made again: see `check.again`.

        Raises:
            LookupError: there is no such call.
        """
        if self.verdict.call is None:
            raise LookupError("the last check has no call to make again")
        return repeat(function, self.verdict.call)

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


def as_text(verdict: Verdict, in_notebook: bool = True) -> str:
    """The card for a terminal, a log or a screen reader.

    Args:
        in_notebook: whether there is a `check` to ask, and a heading to follow a link to.
    """
    paragraphs = [headline(verdict)]
    sections = _sections(verdict, in_notebook)
    paragraphs += [_filled(f"{label}: {text}") for label, text in sections]
    if verdict.lines:
        paragraphs.append(f"{_count(verdict)}:")
    paragraphs += [_filled(f"  {_MARKS[line.holds][0]} {_claim(line)}") for line in verdict.lines]
    return "\n".join(paragraphs)


def _filled(text: str) -> str:
    return textwrap.fill(text, 96, subsequent_indent="    ", break_long_words=False)


def as_message(verdict: Verdict) -> str:
    """What comes first, what differed or was raised, why, what to try; '' on a pass."""
    parts = [verdict.first, verdict.message]
    if verdict.diagnosis:
        parts += [verdict.diagnosis.reason, verdict.diagnosis.remedy]
    return " ".join(part if part[-1] in ".?!" else f"{part}." for part in parts if part)


def as_html(verdict: Verdict, in_notebook: bool = True) -> str:
    """The card for a notebook: inline styles alone, as JupyterLab drops style sheets.

    Args:
        in_notebook: see `as_text`.
    """
    accent = _ACCENTS.get(verdict.status, _WRONG)
    mark = {"PASS": "✓", "MISSING": "○"}.get(verdict.status, "✗")
    title = html.escape(headline(verdict))
    label = html.escape(f"Check of {verdict.name}", quote=True)
    sections = "".join(
        f'<p style="margin:6px 0 0"><strong>{label_}.</strong> '
        f"{_html_text(label_, text, in_notebook)}</p>"
        for label_, text in _sections(verdict, in_notebook)
    )
    return (
        f'<section aria-label="{label}" style="border-left:6px solid {accent};'
        'padding:4px 0 6px 12px;margin:4px 0;max-width:46em;line-height:1.5">'
        f'<p style="margin:0;font-weight:bold"><span aria-hidden="true">{mark}</span> {title}</p>'
        f"{sections}{_folded(verdict, in_notebook)}</section>"
    )


def _folded(verdict: Verdict, in_notebook: bool) -> str:
    """The claims, which a click or the Enter key opens; a graded page has open what lost points."""
    if not verdict.lines:
        return ""
    rows = "".join(_html_line(line) for line in verdict.lines)
    lost = any(line.earned < line.worth for line in verdict.lines)
    shown = " open" if lost and not in_notebook else ""
    return (
        f'<details{shown} style="margin:6px 0 0"><summary style="cursor:pointer;width:fit-content">'
        f"{_count(verdict)}</summary>"
        f'<ul style="list-style:none;margin:4px 0 0;padding:0 0 0 1em">{rows}</ul></details>'
    )


def _count(verdict: Verdict) -> str:
    """'3 of 5 claims hold, 1 was not tried'."""
    number, holding = len(verdict.lines), sum(line.holds is True for line in verdict.lines)
    untried = sum(line.holds is None for line in verdict.lines)
    if holding == number:
        return f"All {number} claims hold"
    if untried == number:
        return f"None of {number} claims was tried"
    found = f"{holding} of {number} claims {'holds' if holding == 1 else 'hold'}"
    was = "was" if untried == 1 else "were"
    return f"{found}, {untried} {was} not tried" if untried else found


def _sections(verdict: Verdict, in_notebook: bool) -> list[tuple[str, str]]:
    """Label and text of each paragraph below the headline."""
    sections = [("First", verdict.first)] if verdict.first else []
    if verdict.message:
        label = "Next" if verdict.status in ("MISSING", "UNKNOWN") else "What differed"
        sections.append((label, verdict.message))
    if verdict.where:
        sections.append(("With", verdict.where))
    if verdict.printed:
        sections.append(("It printed", " ".join(verdict.printed.split())))
    if verdict.call is not None and in_notebook:
        sections.append(("See for yourself", _once_more(verdict, verdict.call)))
    if verdict.diagnosis:
        slug = verdict.diagnosis.slug
        sections.append(("Likely cause", f"{slug}. {verdict.diagnosis.reason}"))
        sections.append(("Try", verdict.diagnosis.remedy))
    if verdict.read:
        where = verdict.read if in_notebook else f"in the lesson, the section {verdict.read}"
        sections.append(("Read again", where))
    if verdict.unsaved:
        sections.append(("Not saved", verdict.unsaved))
    return sections


def _once_more(verdict: Verdict, call: Call) -> str:
    """How to make the call that went wrong in a cell of one's own."""
    function = verdict.called or verdict.name
    if call.sizes is None and not call.earlier and not call.gradient:
        return f"in a new cell, `{function}(**check.inputs)`"
    steps = []
    if call.sizes is not None:
        sizes = ", ".join(str(rebuild(size)) for size in call.sizes)
        steps.append(f"builds `{function}({sizes})`")
    if call.state:
        steps.append("loads the check's numbers into its parameters")
    if call.earlier:
        steps.append("calls it with other inputs")
    steps.append("calls it with `check.inputs`")
    if call.gradient:
        steps.append("takes the gradients")
    return f"in a new cell, `check.again({function})`, which {', then '.join(steps)}"


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


def _html_text(label: str, text: str, in_notebook: bool) -> str:
    escaped = html.escape(text)
    if label == "Read again" and in_notebook:
        # JupyterLab makes a heading's id from its text, spaces turned to hyphens.
        anchor = html.escape(text.replace(" ", "-"), quote=True)
        return f'<a href="#{anchor}">{escaped}</a>'
    if label in ("With", "It printed"):
        return f"<code>{escaped}</code>"
    if label == "Likely cause":
        slug, _, reason = escaped.partition(". ")
        return f"<strong><code>{slug}</code></strong>. {_stressed(_ticked(reason))}"
    return _stressed(_ticked(escaped)) if label == "Try" else _ticked(escaped)


def _ticked(escaped: str) -> str:
    """`code` between backticks, as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped)


def _stressed(marked: str) -> str:
    """A *word* of our own between stars, as emphasis."""
    return re.sub(r"(?<![\w*])\*(\w+)\*(?![\w*])", r"<em>\1</em>", marked)


def _in_terminal() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return type(shell).__name__ == "TerminalInteractiveShell"
