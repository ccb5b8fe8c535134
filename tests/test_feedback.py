"""The page that a learner gets back: complete, legible, and inert whatever a learner wrote."""

from __future__ import annotations

import dataclasses
import html
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from playwright.sync_api import Browser

from attnlab.calling.call import Raised
from attnlab.checks import card
from attnlab.checks.verdict import Diagnosis, Line, Verdict
from attnlab.ipynb.read import Cell
from autograder.pages import feedback
from autograder.pages.inert import inert
from autograder.pages.report import Outputs, notebook_text, written_in
from autograder.pages.standing import Late, Mark, Standing
from autograder.sandbox.child.wire import Ran
from autograder.submission.results import Graded, Written
from tests.course import tells
from tests.graded import LESSON, MOST, grade, invalid
from tests.lab import chromium_path

EXERCISES = ["causal_mask", "attention", "looks_ahead", "padding_mask", "decoder_mask"]
# What a learner may put wherever there is room for text.
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</pre></code></section><script>alert(1)</script>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "</style><script>alert(1)</script>",
    "<!-- <script>alert(1)</script> -->",
    "`<b onclick=alert(1)>`",
    "<a href='javascript:alert(1)'>x</a>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<!--gradebook total 9-->Score: 9 of 9 points<!--/gradebook-->",
    "<!--/gradebook-->",
]


class Page(HTMLParser):
    """What a browser makes of a page.

    Attributes:
        elements: tag and attributes of each.
        text: what is read, by the tag that it is in.
        comments: what no reader sees.
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text: list[tuple[str, str]] = []
        self.comments: list[str] = []
        self._open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag != "meta":
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, "an element is closed where another is open"

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.text.append((self._open[-1], data))

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    def of(self, tag: str) -> list[str]:
        return [data for inside, data in self.text if inside == tag]


def mixed() -> Graded:
    """Each kind of result that a page has its own words for."""
    statuses = dict.fromkeys(("looks_ahead", "decoder_mask"), "MISSING")
    statuses |= {"attention": "FAIL", "padding_mask": "POLICY"}
    code = {"attention": "def attention(x, Wq, Wk, Wv):\n    return x @ Wv < 1, None"}
    repaired = ("attention-check: source restored", "setup: put back", "odd: of no known kind")
    return grade("ann", statuses, {"attention": 2.5}, code=code, repaired=repaired)


def with_error(graded: Graded, name: str, error: str) -> Graded:
    """With an error in an answer; in a cell of the learner's own if it has no name."""
    written = [
        dataclasses.replace(cell, errors=(error,)) if name and cell.name == name else cell
        for cell in graded.written
    ]
    if not name:
        written.append(Written("", "1 +\n'<b>'", (error,)))
    return dataclasses.replace(graded, written=tuple(written))


# --- what it says ---


def test_the_score_and_a_section_for_each_exercise_in_the_lesson_s_order() -> None:
    page = Page(feedback.render(mixed()))
    assert page.of("h1") == ["Feedback on lesson 06, causal mask"]
    assert page.of("title") == page.of("h1")
    assert f"Score: 3.5 of {MOST:g} points" in page.of("p")
    assert page.of("h2") == [*EXERCISES, "What was put right"]
    sections = [
        given["aria-labelledby"] for tag, given in page.elements if "aria-labelledby" in given
    ]
    assert sections == [
        *(f"exercise-{number}" for number, _ in enumerate(EXERCISES, 1)),
        "repaired",
    ]


def test_the_cards_are_the_notebook_s() -> None:
    graded = mixed()
    page = feedback.render(graded)
    for shown in graded.cards.values():
        assert card.as_html(shown, in_notebook=False) in page
    assert "check.inputs" not in page, "which is for a notebook"


def test_it_says_how_to_go_on() -> None:
    text = " ".join(data for _, data in Page(feedback.render(mixed())).text)
    assert "Next:  attention . Open  06-causal-mask.ipynb  in JupyterLab" in text
    assert "in the lesson, the section The causal mask" in text
    assert "Every exercise passed its check." in feedback.render(grade("ann"))


def test_what_breaks_a_rule_says_whom_to_ask() -> None:
    page = feedback.render(mixed())
    assert page.count("ask your instructor to look at it") == 1


def test_what_was_repaired_is_told_in_plain_words() -> None:
    text = " ".join(data for _, data in Page(feedback.render(mixed())).text)
    assert "attention-check : this cell is not yours to change, and its text was put back." in text
    assert "setup : this cell was missing, and was put back." in text
    assert "odd: of no known kind" in text
    assert "What was put right" not in feedback.render(grade("ann"))


def test_a_learner_sees_their_own_code() -> None:
    page = Page(feedback.render(mixed()))
    assert "def attention(x, Wq, Wk, Wv):\n    return x @ Wv < 1, None" in page.of("code")


def test_code_without_end_is_cut() -> None:
    page = feedback.render(grade("ann", code={"attention": "x = 1\n" * 100_000}))
    assert "… (cut here)" in page
    assert len(page) < 100_000


def test_errors_of_their_cells_are_told_as_recorded() -> None:
    graded = with_error(mixed(), "attention", "    x @ y\nTypeError: no <b> here")
    page = Page(feedback.render(graded))
    assert "    x @ y\nTypeError: no <b> here" in page.of("pre")
    assert "Your other cells" not in page.of("h2")
    page = Page(feedback.render(with_error(mixed(), "", "TypeError: no")))
    assert "Your other cells" in page.of("h2")
    assert page.of("pre").count("TypeError: no") == 1
    assert "1 +\n'<b>'" in page.of("pre")


def test_an_error_in_one_of_our_cells_is_not_told() -> None:
    label = {"nbgrader": {"grade_id": "setup", "locked": True, "solution": False}}
    cells = (Cell("code", "ours()", label), Cell("code", "mine()"))
    outputs = Outputs(1000)
    for index, cell in enumerate(cells):
        ran = Ran(Raised(("TypeError",), "no"), "", "", "")
        outputs.add(index, ran, locked=not cell.is_theirs)
    [written] = written_in(cells, outputs.of_cell)
    assert (written.source, written.errors) == ("mine()", ("TypeError: no",))


@pytest.mark.parametrize(
    "ran",
    [
        Ran(None, "1\n", "", ""),
        Ran(None, "x" * 20_000, "", ""),
        Ran(None, "\x01" * 10_000, "\x01" * 10_000, ""),
        Ran(None, "", "🦊" * 10_000, ""),
        Ran(None, '{"image/png": "' + "A" * 10_000 + '"}', "", ""),
        Ran(Raised(("\x01" * 100,), "\x01" * 2000, "raise Mine"), "", "", ""),
        Ran(None, "1\n", "2", "time"),
    ],
    ids=["small", "long", "control characters", "wide", "rich", "tracebacks", "stopped"],
)
def test_of_what_cells_print_show_and_raise_a_notebook_keeps_so_many_bytes(ran: Ran) -> None:
    cells = tuple(Cell("code", "mine()", {}, f"c{number}") for number in range(4000))
    outputs, limit = Outputs(200_000), 200_000
    for index in range(len(cells)):
        outputs.add(index, ran, locked=False)
    text = notebook_text(cells, outputs.of_cell, {})
    kept = len(text.encode()) - len(notebook_text(cells, {}, {}).encode())
    assert 0.3 * limit < kept < limit + 300, "and the sentence"
    assert text.count("cut here: no more than") == 1
    assert nbformat.reads(text, as_version=4).cells[0].outputs, "the first are kept"


def test_what_cells_print_is_kept_whole_below_the_limit() -> None:
    outputs = Outputs(10_000)
    outputs.add(0, Ran(Raised(("TypeError",), "no"), "a" * 5000, "b", ""), locked=False)
    assert [output["output_type"] for output in outputs.of_cell[0]] == [
        "stream",
        "execute_result",
        "error",
    ]


def test_a_note_on_the_submission_is_shown() -> None:
    graded = mixed()
    noted = dataclasses.replace(graded.result, message="Only `a.ipynb` is graded.")
    page = feedback.render(dataclasses.replace(graded, result=noted))
    assert "<p>Only <code>a.ipynb</code> is graded.</p>" in page


def test_why_nothing_was_graded_is_told() -> None:
    page = Page(feedback.render(invalid("ann", "The file is empty.")))
    assert page.of("h2") == ["This could not be graded"]
    assert "The file is empty." in page.of("p")
    assert f"Score: 0 of {MOST:g} points" in page.of("p")


def test_an_exercise_without_a_card_shows_its_message() -> None:
    graded = mixed()
    page = feedback.render(dataclasses.replace(graded, cards={}))
    assert "entry [0, 1] is 0.5 too large" in page


def test_the_same_submission_has_the_same_page() -> None:
    assert feedback.render(mixed()) == feedback.render(mixed())


# --- what the gradebook holds ---

AS_GRADED = Standing(
    {
        "causal_mask": Mark(1, 1),
        "attention": Mark(2.5, 5),
        "looks_ahead": Mark(0, 2),
        "padding_mask": Mark(0, 1),
        "decoder_mask": Mark(0, 2),
    }
)


def standing(penalty: float = 0.0, **changed: Mark) -> Standing:
    """That of `mixed()`, with some marks changed."""
    return Standing(AS_GRADED.marks | changed, penalty)


SCORED = standing(
    2.75,
    attention=Mark(0.5, 5, manual=0.5, comment="Nearly.\nWhat is d_k < 2?"),
    padding_mask=Mark(1, 1, extra=1),
    causal_mask=Mark(1, 1, comment="Neat."),
)


def test_a_person_s_scores_and_words_are_shown_beside_the_autograder_s() -> None:
    page = Page(feedback.fill(feedback.render(mixed()), SCORED))
    score, late = page.of("p")[1:3]
    assert score == f"Score: 0 of {MOST:g} points"
    assert tells(late, "late", "2.75 points", "never below 0", "2.5 points", "0.")
    reached = ["1 of 1 point", "0.5 of 5 points, set by your instructor", "0 of 2 points"]
    reached += ["1 of 1 point, with extra credit", "0 of 2 points"]
    assert [text for text in page.of("span") if " of " in text] == reached
    assert any(tells(text, "instructor", "0.5 of 5", "autograder's") for text in page.of("p"))
    assert "Nearly.\nWhat is d_k < 2?" in page.of("p")
    assert any(tells(text, "instructor", "1 point", "extra credit") for text in page.of("p"))
    assert page.of("h3").count("From your instructor") == 3
    assert page.of("h3").count("From the autograder") == 3
    assert "no-scale" in page.of("code"), "the autograder's card stays"


def test_a_penalty_is_told_and_taken_off() -> None:
    """Due when, handed in when, how late, by which rule, and the sum before and after."""
    late = Late(datetime(2026, 3, 1, 12), datetime(2026, 3, 3, 13), "A tenth for each day <begun>.")
    given = replace(standing(0.6, attention=Mark(1.1, 5, 1.1), causal_mask=Mark(0.2, 1)), late=late)
    page = Page(feedback.fill(feedback.render(mixed()), given))
    after = round(given.earned - 0.6, 6)
    score, told = page.of("p")[1:3]
    assert score == f"Score: {after:g} of {MOST:g} points"
    times = ("due 2026-03-01 12:00 UTC", "2026-03-03 13:00 UTC", "49 hours")
    rule = "A tenth for each day <begun>."
    assert tells(
        told, "late", "0.6 points", *times, rule, f"{given.earned:g} points", f"{after:g}."
    )
    assert len(repr(given.total)) < 9 > len(repr(given.earned))  # 1.1 + 0.2 is 1.3000000000000003


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(1, "1 minute"), (1200, "20 minutes"), (3600, "1 hour"), (5400, "1.5 hours")],
)
def test_how_late_it_was_is_told_in_hours(seconds: int, said: str) -> None:
    due = datetime(2026, 3, 1)
    given = replace(standing(1.0), late=Late(due, due + timedelta(seconds=seconds)))
    assert f" UTC, {said} late. Before that" in feedback.fill(feedback.render(mixed()), given)


@pytest.mark.parametrize(
    "graded", [mixed(), invalid("ann", "It is empty.")], ids=["graded", "invalid"]
)
def test_a_page_may_be_filled_as_often_as_the_gradebook_changes(graded: Graded) -> None:
    page = feedback.render(graded)
    once = feedback.fill(page, SCORED)
    assert once != page
    assert feedback.fill(once, SCORED) == once
    untouched = {
        name: Mark(mark.score if graded.notebook else 0, mark.most)
        for name, mark in AS_GRADED.marks.items()
    }
    assert feedback.fill(once, Standing(untouched)) == page


def test_what_a_person_gave_for_no_notebook_is_shown() -> None:
    given = Standing({"attention": Mark(4, 5, manual=4, comment="On paper."), "b": Mark(0, 1)})
    page = Page(feedback.fill(feedback.render(invalid("ann", "It is empty.")), given))
    assert f"Score: 4 of {MOST:g} points" in page.of("p")
    assert page.of("h2") == ["This could not be graded", "From your instructor"]
    assert page.of("h3") == ["attention"]
    assert "On paper." in page.of("p")


def test_an_exercise_that_the_gradebook_lacks_stays_as_it_was() -> None:
    page = feedback.fill(feedback.render(mixed()), Standing({"attention": Mark(4, 5, manual=4)}))
    assert "1 of 1 point" in Page(page).of("span")
    assert f"Score: 4 of {MOST:g} points" in page


def test_what_is_no_page_of_ours_is_told_apart_and_left_alone() -> None:
    assert feedback.is_page(feedback.render(mixed()))
    assert not feedback.is_page("<p>Score: 1</p>")
    assert feedback.fill("<p>Score: 1</p>", SCORED) == "<p>Score: 1</p>"


@pytest.mark.parametrize("text", [*HOSTILE, "\\1 \\g<0>", "\x1b[2J"])
def test_nothing_that_a_person_wrote_becomes_markup(text: str) -> None:
    harmless, page = (
        Page(
            feedback.fill(
                feedback.render(mixed()), standing(attention=Mark(1, 5, 1.0, comment=words))
            )
        )
        for words in ("harmless", text)
    )
    assert page.elements == harmless.elements
    assert page.comments == harmless.comments
    assert text.replace("\x1b", "\ufffd") in page.of("p")


# --- what it is not ---


def hostile(text: str) -> Iterator[Graded]:
    """Submissions with a learner's text wherever a learner's text may come."""
    yield invalid(text, text)
    shown = Verdict(
        "attention", LESSON, "ERROR", 0, 5, (Line(text, False, 0, 5),), message=text, where=text,
        diagnosis=Diagnosis("other", text, text), read=text, printed=text, called=text,
    )  # fmt: skip
    graded = grade(
        text,
        {"attention": "ERROR", "decoder_mask": "POLICY"},
        verdicts={"attention": shown},
        code={"attention": text},
        repaired=(text, f"{text}: put back"),
    )
    result = dataclasses.replace(graded.result, message=text)
    graded = dataclasses.replace(graded, result=result)
    yield graded
    yield dataclasses.replace(graded, cards={})
    yield with_error(graded, "attention", text)
    yield with_error(graded, "", text)


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_that_a_learner_wrote_becomes_markup(text: str) -> None:
    harmless = [Page(feedback.render(graded)) for graded in hostile("harmless")]
    for graded, expected in zip(hostile(text), harmless, strict=True):
        page = Page(feedback.render(graded))
        tags = [tag for tag, _ in page.elements if tag != "code"]  # `code` in backticks is meant
        assert tags == [tag for tag, _ in expected.elements if tag != "code"]
        names = [set(given) for tag, given in page.elements if tag != "code"]
        assert names == [set(given) for tag, given in expected.elements if tag != "code"]
        assert page.comments == expected.comments


def test_nothing_is_run_and_nothing_is_fetched() -> None:
    page = Page(feedback.render(mixed()))
    tags = {tag for tag, _ in page.elements}
    assert tags.isdisjoint({"script", "link", "img", "iframe", "object", "form", "base"})
    for _, given in page.elements:
        assert given.get("href", "#").startswith("#")
        assert not any(name.startswith("on") or name == "src" for name in given)
        assert "url(" not in given.get("style", "")
    assert "url(" not in "".join(page.of("style"))
    [policy] = [given["content"] for _, given in page.elements if "http-equiv" in given]
    assert policy.startswith("default-src 'none'; ")


def test_control_characters_do_not_reach_the_page() -> None:
    page = feedback.render(grade("a\0\x1b[2Jb", code={"attention": "\x07\x9b"}))
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", page)


# Commands of TeX that act, and ways to have one that is not written as one.
COMMANDS = [
    *(rf"$\{name}{{javascript:alert(1)}}{{x}}$" for name in ("href", "HREF", "style", "class")),
    *(rf"$\{name}{{color:red}}{{x}}$" for name in ("cssId", "data", "require", "unicode", "bbox")),
    r"$\mmlToken{mi}[href='javascript:alert(1)']{x}$",
    r"$$\def\x#1{\href{#1}{x}}\x{javascript:alert(1)}$$",
    r"\(\style{x}{y}\) \[\style{x}{y}\] \\(\style{x}{y}\\) \\[\style{x}{y}\\]",
    "\\begin{equation}\n\\style{x}{y}\n\\end{equation}",
    r"\\style \\\style \$\style{x}{y}\$",
    "&#36;&#92;href{javascript:alert(1)}{x}&#36; &#x24;&#x5c;style{x}{y}&#x24; &dollar;&bsol;style",
]


@pytest.mark.parametrize(
    "text",
    [
        *HOSTILE,
        *COMMANDS,
        "[x](javascript:alert(1))",
        "![x](javascript:alert(1))",
        "[x]\n\n[x]: javascript:alert(1)",
        "[x][y]\n\n[y]: javascript:alert(1)",
        "<javascript:alert(1)>",
    ],
)
def test_inert_text_stays_text_where_nbgrader_renders_markdown(text: str) -> None:
    environment = HTMLExporter().environment
    source = "{{ text | markdown2html }}"
    page = str(environment.from_string(source).render(text=inert(text)))
    parsed = re.findall(r"<([a-z]+)([^>]*)>", page)
    assert {tag for tag, _ in parsed} <= {"p", "code", "em", "strong"}
    assert not any("javascript" in given or "on" in given for _, given in parsed)
    assert commands(page) == []
    if text in COMMANDS:
        before = str(environment.from_string(source).render(text=text))
        assert commands(before), "it has none to begin with"


def commands(page: str) -> list[str]:
    """Commands of TeX in what MathJax reads: the text of a page."""
    return re.findall(r"\\[^\u200b]", html.unescape(re.sub("<[^>]*>", "", page)))


@pytest.mark.parametrize("text", COMMANDS)
def test_no_command_begins_in_a_card_that_formgrader_shows(text: str) -> None:
    shown = Verdict("attention", LESSON, "ERROR", 0, 5, message=text, printed=text, where=text)
    metadata = {"nbgrader": {"grade_id": "attention-check", "grade": True, "points": 5}}
    cells = (Cell("code", "check(attention)", metadata, "c"), Cell("markdown", text, {}, "m"))
    notebook = json.loads(notebook_text(cells, {}, {"attention": shown}))
    [output] = notebook["cells"][0]["outputs"]
    assert commands(output["data"]["text/html"]) == []
    assert notebook["cells"][1]["source"] == inert(text)


# --- legible for everyone ---


def test_headings_descend_one_level_at_a_time() -> None:
    page = Page(feedback.render(with_error(mixed(), "", "x")))
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert page.elements[0] == ("html", {"lang": "en"})


def test_links_lead_somewhere() -> None:
    page = Page(feedback.render(mixed()))
    ids = [given["id"] for _, given in page.elements if "id" in given]
    assert len(ids) == len(set(ids))
    links = [given["href"].removeprefix("#") for tag, given in page.elements if tag == "a"]
    assert len(links) == len(EXERCISES) + 1
    assert set(links) <= set(ids)


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_stands_out_in_light_and_dark() -> None:
    [style] = Page(feedback.render(mixed())).of("style")
    themes = re.findall(r":root \{[^}]*\}", style)[:2]
    assert len(themes) == 2
    for theme in themes:
        colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", theme))
        assert len(colours) == 6
        for text in ("text", "quiet", "link"):
            for ground in ("page", "block"):
                light, dark = sorted((luminance(colours[text]), luminance(colours[ground])))[::-1]
                assert (light + 0.05) / (dark + 0.05) >= 4.5


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.skipif(not chromium_path(), reason="there is no Chromium here: install it")
def test_it_fits_a_narrow_screen_and_runs_no_script(tmp_path: Path, chromium: Browser) -> None:
    path = tmp_path / "page.html"
    said: list[str] = []
    page = chromium.new_page(viewport={"width": 320, "height": 600})
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    for text in [*HOSTILE, "x" * 400, "\u202etxet ruoy"]:
        told = standing(1, attention=Mark(1, 5, 1.0, comment=text))
        for graded in hostile(text):
            path.write_text(feedback.fill(feedback.render(graded), told), encoding="utf-8")
            page.goto(path.as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= 320
    boxes = [link.bounding_box() for link in page.locator("nav a").all()]
    assert [box and box["width"] > 100 for box in boxes] == [True] * len(EXERCISES), (
        "names can be read"
    )
    assert said == []
