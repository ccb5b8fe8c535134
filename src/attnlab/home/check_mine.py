"""`attnlab check-mine`: all of one's own lessons, run as they are, on one page.

Each notebook runs from its first cell on in a fresh kernel, in its own folder. The file itself is
read and never written. What is on the page are the cards that its checks show.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from attnlab import lessons
from attnlab.home.copies import Amiss, back_up, own_copy
from attnlab.home.page import whole
from attnlab.home.places import Course
from attnlab.ipynb.files import NotWritten
from attnlab.ipynb.read import Unreadable

TITLE = "My checks"
CELL_SECONDS = 120
UNWRITTEN = "No exercise is written yet."

Run = Callable[[Path, Callable[[], None]], list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of one lesson.

    Attributes:
        cards: HTML, one for each check.
        score: points earned, of `points`.
        problem: what kept it from being run to its end, '' if nothing did.
    """

    slug: str
    cards: tuple[str, ...] = ()
    score: float = 0.0
    points: float = 0.0
    problem: str = ""

    @property
    def said(self) -> str:
        points = f"{self.score:g} of {self.points:g} points" if self.points else ""
        return ". ".join(filter(None, (points, self.problem)))


class Stopped(Exception):
    """A notebook could not be run to its end; the sentence says why."""


def check_all(course: Course, slugs: Sequence[str], run: Run | None = None) -> Iterator[Checked]:
    """Run lessons one after the other.

    Args:
        run: runs a notebook, a call after each code cell, and gives back its cells; a real kernel
            if left out.
    """
    for slug in slugs:
        try:
            cells = own_copy(course, slug).cells
        except Amiss as why:
            yield Checked(slug, problem=str(why))
            continue
        if any(cell.is_solution and cell.is_written for cell in cells):
            code = sum(cell.kind == "code" for cell in cells)
            yield _checked(slug, course.notebook(slug), code, run or run_in_kernel)
        else:
            yield Checked(slug, problem=UNWRITTEN)


def _checked(slug: str, path: Path, code: int, run: Run) -> Checked:
    from tqdm import tqdm

    with tqdm(total=code, desc=slug, unit="cell", leave=False) as bar:
        try:
            ran, problem = run(path, lambda: bar.update() and None), ""
        except Stopped as why:
            return Checked(slug, problem=str(why))
    cards, score, points = [], 0.0, 0.0
    for cell in ran:
        note = cell.get("metadata", {}).get("nbgrader", {})
        if note.get("grade"):
            card, earned = _card(cell.get("outputs", []))
            name = str(note.get("grade_id", "")).removesuffix("-check")
            cards.append(card or f"<p><code>{escape(name)}</code> showed no card.</p>")
            points += note.get("points") or 0
            score += earned
    return Checked(slug, tuple(cards), score, points, problem)


def _card(outputs: Sequence[dict[str, Any]]) -> tuple[str, float]:
    """A check's card and score; what was raised where it has none."""
    for output in reversed(outputs):
        if output.get("output_type") == "error":
            said = escape(f"{output.get('ename')}: {output.get('evalue')}")
            return f"<p>The cell of the check stopped: <code>{said}</code></p>", 0.0
        data = output.get("data", {})
        if "text/html" in data:
            number = re.fullmatch(r"\d+(\.\d+)?", str(data.get("text/plain")))
            return str(data["text/html"]), float(number[0]) if number else 0.0
    return "", 0.0


def run_in_kernel(path: Path, tick: Callable[[], None]) -> list[dict[str, Any]]:
    """The cells of a notebook after they ran in a kernel of their own.

    Raises:
        Stopped: its kernel died, or could not be started.
    """
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        interrupt_on_timeout=True,
        allow_errors=True,
        kernel_name="python3",
        extra_arguments=["--log-level=ERROR"],  # a kernel's own words, such as on its sockets
        resources={"metadata": {"path": str(path.parent)}},
        on_cell_executed=lambda **_: tick(),
    )
    try:
        client.execute()
    except Exception as error:  # of many libraries; a learner's own errors are in the notebook
        said = str(error).strip().splitlines()
        raise Stopped(f"It could not be run to its end: {said[-1] if said else error!r}") from error
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
    page = whole(TITLE, "".join([*parts, "</main>"])).encode()
    try:
        before = course.read(path)
        if f"<title>{TITLE}</title>".encode() not in before:
            back_up(course, path, before)
    except FileNotFoundError:
        pass
    except Unreadable as why:
        raise NotWritten(path, OSError(0, str(why).rstrip("."))) from None
    course.write(path, page)
    return path


def _link(slug: str) -> str:
    """A link to a lesson, from where a Jupyter server has the page: /files/my-checks.html."""
    about = lessons.lesson(slug)
    name = f"{about.number:02} {escape(about.title)}"
    return f'<a href="../lab/tree/{slug}/{slug}.ipynb">{name}</a>'
