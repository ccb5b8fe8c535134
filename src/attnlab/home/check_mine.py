"""`attnlab check-mine`: all of one's own lessons, run as they are, on one page.

Each notebook runs from its first cell on in a fresh kernel, in its own folder. The file itself is
read and never written. What is on the page are the cards that its checks show. A check cell may
show anything, as its notebook may be another's: only what cards are made of is shown as HTML.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from attnlab import lessons
from attnlab.checks.unparsed import unparsed
from attnlab.home.copies import Amiss, Copy, own_copy, put
from attnlab.home.sheet import whole
from attnlab.home.standing import declared
from attnlab.ipynb.read import cell_of
from attnlab.ipynb.rebuild import squeezed
from attnlab.ipynb.which import is_answered
from attnlab.ipynb.words import CONTROLS, POLICY, few, short
from attnlab.work.places import Course

TITLE = "My checks"
CELL_SECONDS = 120
UNWRITTEN = "No exercise is written yet."
NO_GRADE = "This is no grade: it says what the course's own checks find in work/ as it is now."
WARNING = "This runs the code in work/ on this machine, with your rights."
# What a card is made of, see `attnlab.checks.card`.
_TAGS = {"section", "p", "strong", "em", "code", "span", "details", "summary", "ul", "li", "a"}
_TAGS |= {"pre"}
_ATTRIBUTES = {"*": ["style", "aria-label", "aria-hidden", "role"]}
_PICTURE = re.compile(r"<svg .*?</svg>", re.DOTALL)
_STYLES = {"border-left", "padding", "margin", "max-width", "line-height", "font-weight", "cursor"}
_STYLES |= {"width", "list-style", "font-size", "white-space"}
_CARD_CHARACTERS = 50_000
_CARD_TAGS = 1000  # a card has some fifty; the time to clean what is nested grows with its square
_OUTPUTS, _OUTPUT_CHARACTERS = 20, 1_000_000  # of a cell, and of one of them
_ERROR_CHARACTERS = 2000
_LINK = re.compile(r"</?a\b[^>]*>")  # to a heading of the notebook
_BLANK_LINE = re.compile(r"\n\s*\n")  # ends HTML in Markdown

Run = Callable[[Path, bytes, Callable[[], None]], list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of one lesson.

    Attributes:
        cards: HTML that is safe to show, one for each check.
        score: points earned, of `points`.
        problem: what kept it from being run to its end, '' if nothing did.
        others: check cells that are not the course's, see `not_the_courses`.
    """

    slug: str
    cards: tuple[str, ...] = ()
    score: float = 0.0
    points: float = 0.0
    problem: str = ""
    others: str = ""

    @property
    def said(self) -> str:
        points = f"{self.score:g} of {self.points:g} points." if self.points else ""
        return " ".join(filter(None, (points, self.problem, self.others)))


class Stopped(Exception):
    """A notebook could not be run to its end; the sentence says why."""


def told_first(course: Course, slugs: Sequence[str]) -> Iterator[str]:
    """What to know before anything is run."""
    yield WARNING
    for slug in slugs:
        with suppress(Amiss):  # which is told when its turn comes
            if found := not_the_courses(own_copy(course, slug)):
                yield f"{slug}: {found}"


def not_the_courses(copy: Copy) -> str:
    """A sentence on the check cells that a learner, or somebody else, edited or added; or ''."""
    known = {cell.grade_id: squeezed(cell) for cell in copy.released if cell.is_check}
    checks = [cell for cell in copy.cells if cell.is_check or cell.grade_id in known]
    found = [
        f"`{short(cell.grade_id)}` ({'edited' if cell.grade_id in known else 'added'})"
        for cell in checks
        if not cell.is_check or known.get(cell.grade_id) != squeezed(cell)
    ]
    return f"Check cells that are not the course's: {', '.join(few(found))}." if found else ""


def check_all(course: Course, slugs: Sequence[str], run: Run | None = None) -> Iterator[Checked]:
    """Run lessons one after the other.

    Args:
        run: runs a notebook, a call after each code cell, and gives back its cells; a real kernel
            if left out.
    """
    for slug in slugs:
        try:
            copy = own_copy(course, slug)
        except Amiss as why:
            yield Checked(slug, problem=str(why))
            continue
        if is_answered(copy.cells, copy.released):
            yield _checked(course, slug, copy, run or run_in_kernel)
        else:
            yield Checked(slug, problem=UNWRITTEN)


def _checked(course: Course, slug: str, copy: Copy, run: Run) -> Checked:
    from tqdm import tqdm

    others = not_the_courses(copy)
    code = sum(cell.kind == "code" for cell in copy.cells)
    with tqdm(total=code, desc=slug, unit="cell", leave=False) as bar:
        try:
            ran = run(course.notebook(slug).parent, copy.data, lambda: bar.update() and None)
        except Stopped as why:
            return Checked(slug, problem=str(why), others=others)
    cells = [(cell, item.get("outputs", [])) for item in ran if (cell := cell_of(item))]
    checks = [each for each in cells if each[0].kind == "code" and each[0].is_check]
    # Of a check that is there twice, the last one counts.
    answers = {each.exercise: each.source for each, _ in cells if each.is_solution}
    found = {
        cell.exercise: _card(cell.exercise, outputs, answers.get(cell.exercise, ""))
        for cell, outputs in checks
    }
    worth = declared(course, slug)
    score = sum(min(earned, worth.get(name, 0.0)) for name, (_, earned) in found.items())
    points = sum(worth.get(name, 0.0) for name in found)
    return Checked(slug, tuple(card for card, _ in found.values()), score, points, others=others)


def _card(name: str, outputs: Sequence[dict[str, Any]], answer: str) -> tuple[str, float]:
    """A check's card and score; what was raised, or why nothing ran, where it has none."""
    for output in reversed(outputs):
        if output.get("output_type") == "error" and (unread := unparsed(answer)):
            said = f"The cell of {name} is not Python yet: {unread}. {' '.join(unread.words)}"
            return f"<p>{escape(said)}</p>", 0.0
        if output.get("output_type") == "error":
            said = f"{output.get('ename')}: {output.get('evalue')}"[:_ERROR_CHARACTERS]
            return f"<p>The cell of the check stopped: <code>{escape(said)}</code></p>", 0.0
        data = output.get("data")
        if isinstance(data, dict) and "text/html" in data:
            number = re.fullmatch(r"\d+(\.\d+)?", str(data.get("text/plain")))
            return _safe(str(data["text/html"])), float(number[0]) if number else 0.0
    return f"<p><code>{escape(short(name))}</code> showed no card.</p>", 0.0


def _safe(card: str) -> str:
    """HTML in which all but what cards are made of is text; pictures are left out."""
    import bleach  # nbconvert's, as is mistune, and so with every Jupyter
    from bleach.css_sanitizer import CSSSanitizer

    if len(card) > _CARD_CHARACTERS or card.count("<") > _CARD_TAGS:
        return "<p>What this check shows is too long for a card.</p>"
    plain = _PICTURE.sub("", card)
    return bleach.clean(plain, _TAGS, _ATTRIBUTES, css_sanitizer=CSSSanitizer(_STYLES))


def run_in_kernel(folder: Path, data: bytes, tick: Callable[[], None]) -> list[dict[str, Any]]:
    """The cells of a notebook after they ran in a kernel of their own.

    Args:
        folder: the one to run in.
    Raises:
        Stopped: its kernel died, or could not be started.
    """
    import nbformat
    from nbclient import NotebookClient

    class Client(NotebookClient):
        """Keeps what may be a card: a notebook that prints for ever shall fill no memory."""

        def output(self, outs: list[Any], msg: dict[str, Any], *rest: Any) -> Any:
            content = msg["content"]
            if msg["msg_type"] == "error":
                msg = msg | {"content": content | {"traceback": []}}
                msg["content"]["evalue"] = str(content["evalue"])[:_ERROR_CHARACTERS]
            said = sum(len(str(part)) for part in content.get("data", {}).values())
            if msg["msg_type"] == "stream" or len(outs) >= _OUTPUTS or said > _OUTPUT_CHARACTERS:
                return None
            return super().output(outs, msg, *rest)

    try:
        notebook = nbformat.reads(data.decode("utf-8-sig"), as_version=4)
        client = Client(
            notebook,
            timeout=CELL_SECONDS,
            interrupt_on_timeout=True,
            allow_errors=True,
            kernel_name="python3",
            extra_arguments=["--log-level=ERROR"],  # a kernel's own words, such as on its sockets
            resources={"metadata": {"path": str(folder)}},
            on_cell_executed=lambda **_: tick(),
        )
        client.execute()
    except Exception as error:  # of many libraries; a learner's own errors are in the notebook
        said = (str(error).strip() or repr(error)).splitlines()
        raise Stopped(f"It could not be run to its end: {short(said[-1])}") from error
    return [dict(cell) for cell in notebook.cells]


def write_page(course: Course, found: Sequence[Checked]) -> Path:
    """Write the page with all cards into work/; what somebody else put there is kept."""
    path = course.checks
    earned, worth = sum(each.score for each in found), sum(each.points for each in found)
    parts = [
        f"<header><h1>{TITLE}</h1>",
        f"<p>{earned:g} of {worth:g} points in the lessons that were run, "
        f"{time.strftime('%Y-%m-%d, %H:%M')}.</p>",
        '<p class="quiet"><a href="../attnlab">Course home</a>. Links work where this page is '
        "opened from there, as <em>My checks</em>.</p></header><main>",
    ]
    for each in found:
        if each.problem != UNWRITTEN:
            parts.append(f"<h2>{_link(each.slug)}</h2>")
            parts.append(f'<p class="quiet">{escape(each.said)}</p>')
            parts += each.cards
    if waiting := [_link(each.slug) for each in found if each.problem == UNWRITTEN]:
        parts.append(f"<p>Nothing is written yet in {'; '.join(waiting)}.</p>")
    page = whole(TITLE, "".join([*parts, "</main>"]), POLICY).translate(CONTROLS)
    put(course, path, page, f"<title>{TITLE}</title>")
    return path


def summary(found: Sequence[Checked]) -> str:
    """All cards as Markdown with HTML in it, which is how GitHub shows the summary of a run."""
    parts = [f"# {TITLE}", NO_GRADE]
    for each in found:
        if each.problem != UNWRITTEN:
            parts += [f"## {_name(each.slug)}", f"<p>{escape(each.said)}</p>"]
            parts += [_BLANK_LINE.sub("\n", _LINK.sub("", card)) for card in each.cards]
    if waiting := [_name(each.slug) for each in found if each.problem == UNWRITTEN]:
        parts.append(f"Nothing is written yet in {'; '.join(waiting)}.")
    return "\n\n".join([*parts, ""]).translate(CONTROLS)


def _link(slug: str) -> str:
    """A link to a lesson, from where a Jupyter server has the page: /files/my-checks.html."""
    return f'<a href="../lab/tree/{slug}/{slug}.ipynb">{_name(slug)}</a>'


def _name(slug: str) -> str:
    about = lessons.lesson(slug)
    return f"{about.number:02} {escape(about.title)}"
