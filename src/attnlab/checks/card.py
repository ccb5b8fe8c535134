"""A verdict, shown: a float that Jupyter draws as a card.

The float is the score: `nbgrader` reads it from the cell's `text/plain` as partial credit. The card
is its `text/html`; `print(card)` and a terminal show the same as text. In this order: the verdict;
the cause in a sentence; one small call that shows it, or what differed where none was made; what to
try; and folded, what differed, where to read, and each thing that the exercise asks for. Of a right
answer: what was mended on the way, and an arc for each exercise of the lesson that is right.
"""

from __future__ import annotations

import html
import re
import sys
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

from attnlab.calling.call import Call, repeat
from attnlab.calling.observe import lay, rebuild
from attnlab.checks.verdict import Example, Line, Verdict

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
BLUE, ORANGE, GREY = "#2a7f9e", "#c8641b", "#8a8a8a"
_ACCENTS = {"PASS": BLUE, "MISSING": GREY}
CAUSE, DIFFERED, EXAMPLE = "Likely cause", "What differed", "For example"
_UNTRIED = ("MISSING", "UNKNOWN")
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
    told, more = _sections(verdict, in_notebook)
    paragraphs = [headline(verdict)]
    paragraphs += [_plain(*each) for each in told]
    if verdict.passed:
        paragraphs.append(f"{arcs_in_words(verdict.passed)}.")
    if verdict.lines:
        paragraphs.append(f"{_count(verdict)}:")
    paragraphs += [_filled(f"  {_MARKS[line.holds][0]} {_line(line)}") for line in verdict.lines]
    paragraphs += [_plain(*each) for each in more]
    return "\n".join(paragraphs)


def _plain(label: str, text: str) -> str:
    if label == EXAMPLE:
        return f"{label}:\n{textwrap.indent(text, '  ')}"
    return _filled(f"{label}: {text}")


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
    accent = _ACCENTS.get(verdict.status, ORANGE)
    mark = {"PASS": "✓", "MISSING": "○"}.get(verdict.status, "✗")
    title = html.escape(headline(verdict))
    label = html.escape(f"Check of {verdict.name}", quote=True)
    told, more = _sections(verdict, in_notebook)
    lead = next((each for each in told if each[0] in (CAUSE, DIFFERED)), None)
    shown = "".join(_paragraph(*each, in_notebook, each is lead) for each in told)
    shown += lesson_arcs(verdict.passed, verdict.name)
    return (
        f'<section aria-label="{label}" style="border-left:6px solid {accent};'
        'padding:4px 0 6px 12px;margin:4px 0;max-width:46em;line-height:1.5">'
        f'<p style="margin:0;font-weight:bold"><span aria-hidden="true">{mark}</span> {title}</p>'
        f"{shown}{_folded(verdict, more, in_notebook)}</section>"
    )


def _paragraph(label: str, text: str, in_notebook: bool, leads: bool = False) -> str:
    if leads:
        first, rest = first_sentence(text)
        large = "margin:6px 0 0;font-size:1.25em;line-height:1.35"
        after = f'<p style="margin:2px 0 0">{_marked(rest)}</p>' if rest else ""
        return f'<p style="{large}">{_marked(first)}</p>{after}'
    if label == EXAMPLE:
        return (
            '<pre style="margin:8px 0 0;padding:6px 10px;white-space:pre-wrap;line-height:1.5;'
            f'background:rgba(128,128,128,.12)">{html.escape(text)}</pre>'
        )
    shown = _html_text(label, text, in_notebook)
    return f'<p style="margin:6px 0 0"><strong>{label}.</strong> {shown}</p>'


def first_sentence(text: str) -> tuple[str, str]:
    """A text's first sentence, and the rest of it; none ends within `code`."""
    plain = re.sub("`[^`]*`", lambda code: f"`{'x' * (len(code[0]) - 2)}`", text)
    ends = re.search(r"[.?!] (?=\S)", plain)
    return (text[: ends.end() - 1], text[ends.end() :]) if ends else (text, "")


def _folded(verdict: Verdict, more: list[tuple[str, str]], in_notebook: bool) -> str:
    """What a click or the Enter key opens; a graded page has it open where points were lost."""
    shown = "".join(_paragraph(*each, in_notebook) for each in more)
    if not verdict.lines:
        return shown
    rows = "".join(_html_line(line) for line in verdict.lines)
    lost = any(line.earned < line.worth for line in verdict.lines)
    is_open = " open" if lost and not in_notebook else ""
    return (
        f'<details{is_open} style="margin:8px 0 0">'
        '<summary style="cursor:pointer;width:fit-content">'
        f"{_count(verdict)}</summary>"
        f'<ul style="list-style:none;margin:4px 0 0;padding:0 0 0 1em">{rows}</ul>{shown}</details>'
    )


def _count(verdict: Verdict) -> str:
    """'What was tried: 3 of 5 right, 1 not tried'."""
    number, holding = len(verdict.lines), sum(line.holds is True for line in verdict.lines)
    untried = sum(line.holds is None for line in verdict.lines)
    if holding == number:
        return f"What was tried: all {number} right"
    if untried == number:
        return f"What was tried: none of {number}"
    found = f"What was tried: {holding} of {number} right"
    return f"{found}, {untried} not tried" if untried else found


def _sections(
    verdict: Verdict, in_notebook: bool
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Label and text of each paragraph below the headline, and of those that are folded."""
    cause, found = verdict.diagnosis, _found(verdict, in_notebook)
    told = [("First", verdict.first)] if verdict.first else []
    more: list[tuple[str, str]] = []
    if verdict.status in _UNTRIED:
        told += found
        told += [(CAUSE, cause.reason)] if cause else []
    elif found:
        told.append((CAUSE, cause.reason) if cause else (DIFFERED, verdict.message))
        told += [(EXAMPLE, _seen(verdict.example))] if verdict.example else []
        (more if verdict.example else told).extend(found if cause else found[1:])
    if cause:
        told.append(("Try", cause.remedy))
        more.append(("Its name", f"`{cause.slug}`"))
    if verdict.printed:
        told.append(("It printed", " ".join(verdict.printed.split())))
    if verdict.mended:
        told.append(("Mended on the way", " ".join(f"“{each}”" for each in verdict.mended)))
    if verdict.read:
        where = verdict.read if in_notebook else f"in the lesson, the section {verdict.read}"
        more.append(("Read again", where))
    if verdict.unsaved:
        told.append(("Not saved", verdict.unsaved))
    return told, more


def _found(verdict: Verdict, in_notebook: bool) -> list[tuple[str, str]]:
    """What differed, and in which call."""
    if not verdict.message:
        return []
    found = [("Next" if verdict.status in _UNTRIED else DIFFERED, verdict.message)]
    if verdict.where:
        found.append(("With", verdict.where))
    if verdict.call is not None and in_notebook:
        found.append(("See for yourself", _once_more(verdict, verdict.call)))
    return found


def _seen(example: Example) -> str:
    """Three lines, one below the other."""
    return f"for        {example.given}\nit gives   {example.gave}\nshould be  {example.right}"


def arcs_in_words(passed: Mapping[str, bool], of: str = "this lesson") -> str:
    """'2 of the 3 arcs of this lesson are drawn'."""
    number, right = len(passed), sum(passed.values())
    if right == number:
        return f"All {number} arcs of {of} are drawn"
    return f"{right} of the {number} arcs of {of} {'is' if right == 1 else 'are'} drawn"


def lesson_arcs(passed: Mapping[str, bool], now: str = "", of: str = "this lesson") -> str:
    """A lesson's arcs, one for each exercise, drawn where it is right; '' without exercises.

    Args:
        passed: by exercise, whether it is right; or by lesson, of the course.
        now: the one that stands out.
        of: what the arcs are of, in words.
    """
    if not passed:
        return ""
    step, number = 26, len(passed)
    wide, floor = step * number + 16, 14 * number + 10
    marks = []
    for at, (name, right) in enumerate(passed.items()):
        start, end = 8 + step * at, 8 + step * number
        top = floor - (end - start) * 0.72
        colour = ORANGE if name == now else BLUE if right else GREY
        width = 3 if name == now else 2 if right else 1
        dashes = "" if right else ' stroke-dasharray="2 4"'
        marks.append(
            f'<path d="M{start} {floor}C{start} {top:.0f} {end} {top:.0f} {end} {floor}" '
            f'fill="none" stroke="{colour}" stroke-width="{width}" stroke-linecap="round"{dashes}/>'
        )
    return (
        f'<svg role="img" aria-label="{arcs_in_words(passed, of)}" '
        f'viewBox="0 0 {wide} {floor + 4}" '
        f'width="{wide}" height="{floor + 4}" style="display:block;margin:6px 0 0">'
        f"{''.join(marks)}</svg>"
    )


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


def _line(line: Line) -> str:
    if not line.worth:
        return line.claim
    waits = ", until the first line holds" if line.holds and not line.earned else ""
    return f"{line.claim} ({line.earned:g} of {line.worth:g}{waits})"


def _html_line(line: Line) -> str:
    mark, said = _MARKS[line.holds]
    return (
        f'<li style="margin:0"><span role="img" aria-label="{said}">{mark}</span> '
        f"{_ticked(html.escape(_line(line)))}</li>"
    )


def _html_text(label: str, text: str, in_notebook: bool) -> str:
    escaped = html.escape(text)
    if label == "Read again" and in_notebook:
        # JupyterLab makes a heading's id from its text, spaces turned to hyphens.
        anchor = html.escape(text.replace(" ", "-"), quote=True)
        return f'<a href="#{anchor}">{escaped}</a>'
    if label in ("With", "It printed"):
        return f"<code>{escaped}</code>"
    return _marked(text) if label == "Try" else _ticked(escaped)


def _marked(text: str) -> str:
    return _stressed(_ticked(html.escape(text)))


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
