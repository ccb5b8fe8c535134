"""Gates on the lessons: pairs in step, the release up to date, and nothing given away."""

from __future__ import annotations

import html
import math
import re
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from jupytext.cli import jupytext
from nbformat import NotebookNode

from attnlab.figures.picture import FIRST
from attnlab.lessons import ROUTES, exercises_of, lesson, slugs
from tests.course import (
    BEGIN,
    GIVEN,
    ROOT,
    SLUGS,
    code_cells,
    grading,
    headings,
    is_check,
    is_exercise,
    minutes,
    own_share,
    read,
    released_path,
    solution_path,
    split_solution,
)
from tests.waits import waits

pytestmark = pytest.mark.slow

each_lesson = pytest.mark.parametrize("slug", SLUGS)
STUB_END = re.compile(
    r'# Your code here\n\s+raise NotImplementedError\("This exercise is not written yet\."\)\Z'
)
PHONE = 390 - 20  # px: a narrow page, less its margins
LEAST = r"min-width:calc\(.*?\*(?:min\()?(\d+)px"
HEADING = 70  # letters
TELLING = 12  # characters, spaces left out; shorter lines are anybody's


def test_there_are_lessons() -> None:
    assert SLUGS  # every other test here holds for no lessons at all


# Pairs and the release ------------------------------------------------------------------------


@each_lesson
def test_pair_is_in_step(slug: str, tmp_path: Path) -> None:
    notebook = solution_path(slug)
    script = tmp_path / f"{slug}.py"
    jupytext(["--quiet", "--to", "py:percent", "--output", str(script), str(notebook)])
    assert script.read_bytes() == notebook.with_suffix(".py").read_bytes(), "make sync"


def files_under(folder: Path) -> dict[str, bytes]:
    paths = [path for path in folder.rglob("*") if path.is_file()]
    kept = [path for path in paths if ".ipynb_checkpoints" not in path.parts]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in kept}


def test_release_holds_notebooks_and_no_sources() -> None:
    assert set(files_under(ROOT / "notebooks")).isdisjoint({f"{slug}/{slug}.py" for slug in SLUGS})
    assert [released_path(slug).is_file() for slug in SLUGS] == [True] * len(SLUGS)


# Leaks ----------------------------------------------------------------------------------------


def squeezed(line: str) -> str:
    """A line without spaces and trailing comment, so that a new layout does not hide it."""
    return re.sub(r"\s+", "", line.split("  #")[0])


def telling_lines(slug: str) -> set[str]:
    """Lines that only somebody who knows the solution would write."""
    telling: set[str] = set()
    public: set[str] = set()
    for cell in filter(is_exercise, code_cells(read(solution_path(slug)))):
        stub, solution = split_solution(cell.source)
        public |= {squeezed(line) for line in stub.splitlines()}
        telling |= {
            squeezed(line)
            for line in solution.splitlines()
            if not re.match(r"\s*(import |from |#|raise |if \w+ is (not )?None:)", line)
        }
    return {line for line in telling - public if len(line) >= TELLING}


def given_away(telling: set[str], text: str) -> set[str]:
    found = {squeezed(line) for line in text.splitlines()}
    # In prose and in HTML a line stands inside backticks or tags, so it need not be a whole line.
    whole = squeezed(text)
    return {line for line in telling if line in found or line in whole}


@each_lesson
def test_solutions_have_lines_to_look_for(slug: str) -> None:
    assert telling_lines(slug)


def test_released_files_give_no_solution_away() -> None:
    telling = set().union(*map(telling_lines, SLUGS))
    for name, content in files_under(ROOT / "notebooks").items():
        text = content.decode("utf-8", errors="replace")
        assert BEGIN not in text, name
        assert "HIDDEN TESTS" not in text, name
        if name.endswith(".ipynb"):
            cells = read(ROOT / "notebooks" / name).cells
            # Lessons from 07 on are given what earlier ones ask for.
            text = "\n".join(c.source for c in cells if grading(c).get("grade_id") not in GIVEN)
        assert given_away(telling, text) == set(), name


def test_a_solution_pasted_into_prose_would_be_seen() -> None:
    telling = set().union(*map(telling_lines, SLUGS))
    line = max(telling, key=len)
    assert given_away(telling, f"Try `{line}` here.") >= {line}
    assert given_away(telling, f"    {line}  # indented") >= {line}


# Cells ----------------------------------------------------------------------------------------


def repeated(names: list[str]) -> list[str]:
    return [name for name, times in Counter(names).items() if times > 1]


@each_lesson
def test_cell_ids_and_grade_ids_are_unique(slug: str) -> None:
    for path in (solution_path(slug), released_path(slug)):
        cells = read(path).cells
        assert repeated([cell.id for cell in cells]) == []
        assert repeated([grading(cell).grade_id for cell in cells if grading(cell)]) == []


@each_lesson
def test_graded_cells_are_the_declared_exercises(slug: str) -> None:
    declared = exercises_of(slug)
    cells = read(released_path(slug)).cells
    assert [grading(cell).grade_id for cell in cells if is_exercise(cell)] == list(declared)
    checks = {grading(cell).grade_id: cell for cell in cells if is_check(cell)}
    assert list(checks) == [f"{name}-check" for name in declared]
    for name, exercise in declared.items():
        cell = checks[f"{name}-check"]
        assert grading(cell).points == exercise.points
        assert grading(cell).locked
        assert not grading(cell).solution
        assert re.match(rf"check\({name}\b", cell.source)


@each_lesson
def test_exercise_cells_define_their_function_and_stop(slug: str) -> None:
    for cell in filter(is_exercise, read(released_path(slug)).cells):
        assert re.search(rf"^(def|class) {grading(cell).grade_id}\b", cell.source, re.MULTILINE)
        assert STUB_END.search(cell.source.rstrip())
        assert '"""' in cell.source, "a stub says what it is for"


@each_lesson
def test_each_exercise_has_hints_and_an_outline_only_past_five_lines(slug: str) -> None:
    hints: list[str] = []
    for cell in read(solution_path(slug)).cells:
        if cell.cell_type == "markdown":
            hints += re.findall(r"<summary>Hint \d: (.+?)</summary>", cell.source)
        elif is_exercise(cell):
            lines = split_solution(cell.source)[1].splitlines()
            assert hints, grading(cell).grade_id
            assert len(lines) > 5 or "an outline" not in hints, grading(cell).grade_id
            hints = []


@each_lesson
def test_released_notebooks_hold_no_outputs(slug: str) -> None:
    for cell in code_cells(read(released_path(slug))):
        assert cell.outputs == []
        assert cell.execution_count is None


@each_lesson
def test_released_notebooks_say_nothing_of_their_author(slug: str) -> None:
    notebook = read(released_path(slug))
    assert set(notebook.metadata) <= {"kernelspec", "language_info"}


@each_lesson
def test_solutions_are_stored_with_their_outputs(slug: str) -> None:
    cells = [cell for cell in code_cells(read(solution_path(slug))) if cell.source.strip()]
    assert all(cell.execution_count for cell in cells), "make outputs"
    for cell in filter(is_check, cells):  # which nbval sees confirmed
        assert float(cell.outputs[-1].data["text/plain"]) == grading(cell).points


@each_lesson
def test_no_cell_holds_comments_alone(slug: str) -> None:
    """As one does whose marker in the script follows a line of prose."""
    for cell in filter(lambda cell: not is_exercise(cell), code_cells(read(solution_path(slug)))):
        lines = [line.strip() for line in cell.source.splitlines()]
        assert any(line and not line.startswith("#") for line in lines), cell.source
        assert "# %%" not in cell.source


@each_lesson
def test_no_text_holds_a_marker_of_cells(slug: str) -> None:
    assert not [cell for cell in read(solution_path(slug)).cells if "%% nbgrader" in cell.source]


# Reading --------------------------------------------------------------------------------------


@each_lesson
def test_headings_descend_one_level_at_a_time(slug: str) -> None:
    levels = [level for level, _ in headings(read(released_path(slug)))]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@each_lesson
def test_minutes_on_the_card_are_those_it_takes(slug: str) -> None:
    released = read(released_path(slug))
    core, optional = minutes(released)
    about = lesson(slug).minutes
    assert about - 5 < core <= about <= 90
    said = re.findall(
        r"\| about \d+(?:, and (\d+) more for the optional parts?)? \|", released.cells[0].source
    )
    assert said == [str(5 * math.ceil(optional / 5)) if optional else ""]


@each_lesson
def test_a_third_of_the_minutes_are_the_learners_own(slug: str) -> None:
    assert own_share(read(released_path(slug))) >= 1 / 3


@each_lesson
def test_what_each_cell_keeps_one_waiting_is_recorded(slug: str) -> None:
    cells = code_cells(read(solution_path(slug)))
    told = f"{slug} has other cells than tests/waits.json: run `python -m tests.waits {slug}`"
    assert {label for cell in cells if (label := grading(cell).get("grade_id"))} == {
        *waits().get(slug, {})
    }, told


@each_lesson
def test_sections_to_read_again_are_headings_of_the_lesson(slug: str) -> None:
    titles = [text for _, text in headings(read(released_path(slug)))]
    assert [
        exercise.read for exercise in exercises_of(slug).values() if exercise.read not in titles
    ] == []


def anchor(heading: str) -> str:
    """A heading's id, as JupyterLab makes it."""
    return heading.strip().replace(" ", "-")


@each_lesson
def test_links_inside_the_course_lead_somewhere(slug: str) -> None:
    notebook = read(released_path(slug))
    titles = {anchor(text) for _, text in headings(notebook)}
    glossary = (ROOT / "notebooks" / "glossary.md").read_text(encoding="utf-8")
    entries = {anchor(text) for text in re.findall(r"^## (.+)$", glossary, re.MULTILINE)}
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    lost = []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        place, _, section = target.partition("#")
        if target.startswith("#"):
            found = section in titles
        elif place == "../glossary.md":
            found = not section or section.lower() in {entry.lower() for entry in entries}
        elif place.startswith("../"):
            found = not section and place in {f"../{other}/{other}.ipynb" for other in SLUGS}
        else:
            found = place.startswith("https://")
        if not found:
            lost.append(target)
    assert lost == []


class _Pictures(HTMLParser):
    """Finds pictures that say nothing to those who do not see them."""

    def __init__(self) -> None:
        super().__init__()
        self.silent: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        hidden = given.get("aria-hidden") == "true"
        said = given.get("alt" if tag == "img" else "aria-label") or ""
        if tag in ("img", "svg") and not hidden and not said.strip():
            self.silent.append((self.get_starttag_text() or tag)[:80])


def silent_pictures(html: str) -> list[str]:
    parser = _Pictures()
    parser.feed(html)
    markdown = re.findall(r"!\[\s*\]\([^)]*\)", html)
    return parser.silent + markdown


def shown(notebook: NotebookNode) -> list[str]:
    """All HTML and Markdown that a reader is shown."""
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    for cell in code_cells(notebook):
        for output in cell.outputs:
            data = output.get("data", {})
            texts += [text for kind, text in data.items() if kind in ("text/html", "text/markdown")]
            texts += [text for kind, text in data.items() if kind == "image/svg+xml"]
    return texts


@each_lesson
def test_every_figure_has_a_text_alternative(slug: str) -> None:
    notebook = read(solution_path(slug))
    assert [silent for text in shown(notebook) for silent in silent_pictures(text)] == []
    for cell in code_cells(notebook):
        for output in cell.outputs:
            data = output.get("data", {})
            pictures = {kind for kind in data if kind.startswith("image/")}
            assert not pictures or "text/html" in data, (
                f"{pictures} without alt text: {cell.source}"
            )


@each_lesson
def test_each_part_of_a_picture_fits_a_phone_with_words_that_can_be_read(slug: str) -> None:
    texts = shown(read(solution_path(slug)))
    least = [int(px) for text in texts for px in re.findall(LEAST, text)]
    assert max(least, default=0) <= PHONE, "of several panels each is 5.1 inches wide at most"


@each_lesson
def test_a_pictures_heading_stands_on_one_line_of_a_wide_page(slug: str) -> None:
    found = re.compile(f'<p style="[^"]*{re.escape(FIRST)}">(.*?)</p>')
    lines = [line for text in shown(read(solution_path(slug))) for line in found.findall(text)]
    said = [html.unescape(re.sub("<.*?>", "", line)) for line in lines]
    assert [line for line in said if len(line) > HEADING] == []


@pytest.mark.parametrize(
    ("html", "count"),
    [
        ('<img src="a.png">', 1),
        ('<img src="a.png" alt=" ">', 1),
        ("![](a.png)", 1),
        ("<svg><path/></svg>", 1),
        ('<img src="a.png" alt="Weights of four keys">', 0),
        ("![Weights of four keys](a.png)", 0),
        ('<svg role="img" aria-label="Weights"></svg><svg aria-hidden="true"></svg>', 0),
    ],
)
def test_silent_pictures_are_found(html: str, count: int) -> None:
    assert len(silent_pictures(html)) == count


@each_lesson
def test_the_card_says_what_it_needs_and_where_one_may_stop(slug: str) -> None:
    released = read(released_path(slug))
    card = released.cells[0].source
    needed = re.findall(r"\*\*You need\*\* \|(.+?)\|", card)
    assert len(needed) == 1
    earlier = [int(number) for number in re.findall(r"\b\d\d\b", needed[0])]
    assert all(number < lesson(slug).number for number in earlier)
    assert earlier or lesson(slug).number == 1
    [stop] = re.findall(r"\*\*You may stop\*\* \| before \*(.+?)\* \|", card)
    assert stop in [text for _, text in headings(released)]


def until(slug: str) -> float:
    """The minutes of a lesson up to where its card says that one may stop."""
    released = read(released_path(slug))
    [stop] = re.findall(r"\*\*You may stop\*\* \| before \*(.+?)\* \|", released.cells[0].source)
    texts = [cell.source for cell in released.cells]
    [at] = [
        at for at, text in enumerate(texts) if re.search(rf"^##+ {re.escape(stop)}$", text, re.M)
    ]
    kept = NotebookNode(released, cells=released.cells[:at])
    return minutes(kept)[0]


def test_ways_through_take_as_long_as_they_say() -> None:
    evening, weekend, whole = ROUTES
    some = ("01-soft-lookup", "03-numpy", "06-causal-mask")
    assert abs(sum(map(until, some)) + 10 - evening.minutes) < 30
    chosen = [
        lesson(slug).minutes
        for slug in slugs()
        if lesson(slug).number in (1, 2, 3, 5, 6, 7, 10, 14)
    ]
    assert abs(sum(chosen) - weekend.minutes) < 30
    assert abs(sum(lesson(slug).minutes for slug in slugs()) - whole.minutes) < 60
