"""What a learner gets back: one page of HTML with the cards that the notebook shows.

The page needs no network and runs nothing. All that a learner chose, names and messages included,
is escaped; a policy in its head stops scripts even so.

Workers render pages, and know nothing of the gradebook. What is told of it stands between comments,
`<!--gradebook points attention-->…<!--/gradebook-->`, and `fill` puts it there, as often as it
changes. No text can hold such a comment, since its `<` is escaped.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from attnlab.checks import card
from attnlab.ipynb.words import CONTROLS, POLICY
from autograder.pages.standing import Mark, Standing
from autograder.submission.results import ExerciseResult, Graded, Result, Written

_CODE_CHARACTERS = 20_000  # of one cell; longer ones are cut
_ERROR_CHARACTERS = 2_000
_ERRORS = 20  # of cells that are no exercise
_MARKS = {"PASS": "✓", "MISSING": "○"}
_PERSON = "If you think that this is a mistake, ask your instructor to look at it."
_REGION = re.compile("(<!--gradebook ([a-z]+) ([^>]*)-->).*?(<!--/gradebook-->)", re.DOTALL)
_REPAIRS = {
    "source restored": "this cell is not yours to change, and its text was put back",
    "metadata restored": "its settings had changed, and were put back",
    "cell type restored": "it had become another type of cell, and was changed back",
    "put back": "this cell was missing, and was put back",
    "was there twice, the last one counts": "this cell was there twice, and the last one counts",
    "solution cell is missing": "the cell for your answer is missing",
    "is no cell of this lesson, label removed": (
        "this cell's label is not one of this lesson's, and was removed"
    ),
}

# Every text colour has a contrast of 7:1 or more with its background.
STYLE = """
:root { color-scheme: light dark; --text: #1a1a1a; --quiet: #4a4a4a; --page: #ffffff;
  --block: #f2f2ef; --rule: #767676; --link: #0b4f7a; }
@media (prefers-color-scheme: dark) {
  :root { --text: #ececec; --quiet: #bdbdbd; --page: #16181a; --block: #24272a; --rule: #8c8c8c;
    --link: #9ed0f5; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 50rem; color: var(--text);
  background: var(--page); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 2.5rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
p { margin: .5rem 0; }
a { color: var(--link); }
a:focus-visible, summary:focus-visible, pre:focus-visible { outline: 3px solid var(--link);
  outline-offset: 2px; }
.score { font-size: 1.25rem; font-weight: 600; }
.quiet { color: var(--quiet); }
nav ul { list-style: none; padding: 0; margin: 1rem 0; }
nav li { display: flex; gap: .5rem; padding: .3rem 0; border-bottom: 1px solid var(--rule); }
nav li a { flex: 1 0 40%; }
code, pre { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .9em; }
pre { background: var(--block); padding: .75rem; margin: .5rem 0; overflow-x: auto;
  white-space: pre; overflow-wrap: normal; unicode-bidi: isolate; }
pre.wrap { white-space: pre-wrap; overflow-wrap: anywhere; }
summary { cursor: pointer; padding: .25rem 0; }
.person { background: var(--block); border-left: 6px solid var(--link); padding: .25rem .75rem;
  margin: .5rem 0 1rem; }
.person h2 { margin-top: .5rem; }
.words { white-space: pre-wrap; }
p { unicode-bidi: isolate; }
@media print {
  :root { color-scheme: light; --text: #000; --quiet: #333; --page: #fff; --block: #f2f2ef;
    --rule: #767676; --link: #000; }
  body { max-width: none; padding: 0; font-size: 10.5pt; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  h2, h3, summary { break-after: avoid; }
  section section, nav li { break-inside: avoid; }
}
"""


def render(graded: Graded) -> str:
    """The page for one submission, as it stands where nobody has changed anything."""
    result = graded.result
    title = f"Feedback on {_lesson(result.lesson)}"
    if result.status == "INVALID":
        body = _not_graded(result)
    else:
        body = "".join([_summary(result), _exercises(graded), _other_errors(graded)])
    page = whole(
        title,
        f"<h1>{text_of(title)}</h1>\n"
        f'<p class="quiet">For {_region("whom")}'
        f"<bdi>{text_of(result.student)}</bdi></p>\n"
        f'<p class="score">{_region("total", f"{result.max_score:g}")}</p>\n'
        f"{_region('late')}{_region('other', f'{result.max_score:g}')}"
        f"{body}{_repaired(result)}",
    )
    marks = {item.name: Mark(item.score, item.max_score) for item in result.exercises}
    return fill(page, Standing(marks))


def whole(title: str, body: str, style: str = STYLE) -> str:
    """A page that needs no network and runs nothing, whatever is in it."""
    page = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"{POLICY}"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text_of(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        f"{body}</main>\n</body>\n</html>\n"
    )
    return page.translate(CONTROLS)


def read(path: Path) -> str | None:
    """What is in a page's place: None where there is none, '' where it is no text."""
    try:
        return path.read_bytes().decode()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeError):
        return ""


def is_page(text: str) -> bool:
    """Whether this is a page that can be filled."""
    return worth(text) != ""


def worth(page: str) -> str:
    """The points that could be reached when a page was made, '' if it is none."""
    found = re.search("<!--gradebook total ([^>]*)-->", page)
    return found[1] if found else ""


def fill(page: str, standing: Standing) -> str:
    """The page with what the gradebook holds of the submission, in place of what it showed before.

    Exercises that the gradebook does not have stay as they are, and so does what is not known.
    """

    def filled(region: re.Match[str]) -> str:
        begin, what, of, end = region.groups()
        told: str | None = None
        if what in _OF_ALL:
            told = _OF_ALL[what](standing, of)
        elif what in _OF_ONE and of in standing.marks:
            told = _OF_ONE[what](standing.marks[of])
        return region[0] if told is None else begin + told.translate(CONTROLS) + end

    return _REGION.sub(filled, page)


def _not_graded(result: Result) -> str:
    advice = ""
    if result.message.startswith("The file"):
        advice = (
            f"<p>Open <code>{text_of(result.lesson)}.ipynb</code> in JupyterLab. If it opens, save "
            "it there and hand in that file; if it does not, start from the lesson as it was given "
            "out and copy your answers into it.</p>\n"
        )
    said = _said(result.message)
    return f"<h2>This could not be graded</h2>\n{said}\n{advice}{_region('notes')}"


def _summary(result: Result) -> str:
    """Each exercise with its points, and what to do first."""
    rows = "".join(
        f'<li><span aria-hidden="true">{_MARKS.get(exercise.status, "✗")}</span> '
        f'<a href="#exercise-{number}">{text_of(exercise.name)}</a> '
        f"<span>{_region('points', exercise.name)}</span></li>"
        for number, exercise in enumerate(result.exercises, 1)
    )
    message = f"{_said(result.message)}\n" if result.message else ""
    unfinished = [
        number for number, item in enumerate(result.exercises, 1) if item.status != "PASS"
    ]
    if not unfinished:
        todo = "<p>Every exercise passed its check.</p>\n"
    else:
        first = result.exercises[unfinished[0] - 1]
        todo = (
            f'<p>Next: <a href="#exercise-{unfinished[0]}">{text_of(first.name)}</a>. Open '
            f"<code>{text_of(result.lesson)}.ipynb</code> in JupyterLab, change that answer, and "
            "run the cell below it, which shows the same card as this page.</p>\n"
        )
    return f'{message}{todo}<nav aria-label="Exercises"><ul>{rows}</ul></nav>\n'


def _exercises(graded: Graded) -> str:
    by_name = {cell.name: cell for cell in graded.written}
    return "".join(
        _exercise(number, exercise, graded, by_name.get(exercise.name))
        for number, exercise in enumerate(graded.result.exercises, 1)
    )


def _exercise(number: int, exercise: ExerciseResult, graded: Graded, cell: Written | None) -> str:
    verdict = graded.cards.get(exercise.name)
    shown = card.as_html(verdict, in_notebook=False) if verdict else _said(exercise.message)
    parts = [_region("note", exercise.name) + shown]
    if exercise.status == "POLICY":
        parts.append(f"<p>{_PERSON}</p>")
    if cell is not None:
        parts += [_error(error) for error in cell.errors]
        parts.append(_code(cell.source))
    return (
        f'<section aria-labelledby="exercise-{number}">\n'
        f'<h2 id="exercise-{number}">{text_of(exercise.name)}</h2>\n' + "\n".join(parts)
    ) + "\n</section>\n"


def _code(source: str) -> str:
    shown = source[:_CODE_CHARACTERS]
    cut = "\n… (cut here)" if len(source) > len(shown) else ""
    return (
        "<details open><summary>Your code</summary>"
        f'<pre tabindex="0"><code>{text_of(shown + cut)}</code></pre></details>'
    )


def _error(error: str) -> str:
    return (
        "<h3>Running your cell stopped with an error</h3>"
        f'<pre class="wrap">{text_of(error[:_ERROR_CHARACTERS])}</pre>'
    )


def _other_errors(graded: Graded) -> str:
    """Errors in cells that a learner wrote besides the answers."""
    answers = {exercise.name for exercise in graded.result.exercises}
    failed = [
        (cell, error)
        for cell in graded.written
        if cell.name not in answers
        for error in cell.errors
    ]
    if not failed:
        return ""
    items = "".join(
        f'<pre class="wrap">{text_of(cell.source.strip()[:200])}</pre>{_error(error)}\n'
        for cell, error in failed[:_ERRORS]
    )
    more = len(failed) - _ERRORS
    rest = f"<p>And {more} more.</p>\n" if more > 0 else ""
    return (
        '<section aria-labelledby="other-cells">\n<h2 id="other-cells">Your other cells</h2>\n'
        f"<p>These cost no points by themselves.</p>\n{items}{rest}</section>\n"
    )


def _repaired(result: Result) -> str:
    if not result.repaired:
        return ""
    items = "".join(f"<li>{_repair(note)}</li>" for note in result.repaired)
    return (
        '<section aria-labelledby="repaired">\n<h2 id="repaired">What was put right</h2>\n'
        "<p>The notebook differed from the lesson in places that are not for you to change. It was "
        f"graded with these put right:</p>\n<ul>{items}</ul>\n</section>\n"
    )


def _repair(note: str) -> str:
    name, _, what = note.partition(": ")
    if what not in _REPAIRS:
        return text_of(note)
    return f"<code>{text_of(name)}</code>: {text_of(_REPAIRS[what])}."


def _region(what: str, of: str = "") -> str:
    return f"<!--gradebook {what} {of}--><!--/gradebook-->"


def _whom(standing: Standing, _: str) -> str:
    return f"<bdi>{text_of(standing.name)}</bdi>, " if standing.name else ""


def _total(standing: Standing, most: str) -> str:
    return f"Score: {standing.total:g} of {_points(float(most))}"


def _late(standing: Standing, _: str) -> str:
    if standing.penalty <= 0:
        return ""
    least = "; a score is never below 0" if standing.penalty > standing.earned else ""
    when = rule = ""
    if late := standing.late:
        when = (
            f"It was due {late.due:%Y-%m-%d %H:%M} UTC, and handed in "
            f"{late.handed_in:%Y-%m-%d %H:%M} UTC, {_span(late.handed_in - late.due)} late. "
        )
        rule = f"The course's rule: {text_of(late.rule)} " if late.rule else ""
    return (
        f"<p>Handed in late: {_points(standing.penalty)} taken off{least}. {when}{rule}"
        f"Before that it came to {_points(standing.earned)}, now to {standing.total:g}.</p>\n"
    )


def _span(late: timedelta) -> str:
    """'49 hours', '1.5 hours', '20 minutes'; what is less than a minute is one."""
    seconds = late.total_seconds()
    count, unit = (round(seconds / 3600, 1), "hour")
    if count < 1:
        count, unit = max(1, round(seconds / 60)), "minute"
    return f"{count:g} {unit}{'s' * (count != 1)}"


def _other(standing: Standing, most: str) -> str | None:
    """Of two hand-ins, that the later one came to less."""
    other = standing.other
    if other is None:
        return None
    earned = f"earned {other.score:g} of {_points(float(most))}"
    if other.is_later:
        return f"<p>A later hand-in {earned} and comes to less, so this one counts.</p>\n"
    return (
        f"<p>An earlier hand-in {earned} and came to more. The last one counts: if you mean the "
        "earlier one, hand it in again.</p>\n"
    )


def _reached(mark: Mark) -> str:
    person = ""
    if mark.manual is not None:
        person = ", set by your instructor"
    elif mark.extra:
        person = ", with extra credit"
    return f"{mark.score:g} of {_points(mark.most)}{person}"


def _note(mark: Mark) -> str:
    """What a person says of an exercise, above what the autograder says."""
    said = _words(mark)
    if not said:
        return ""
    return (
        f'<div class="person">\n<h3>From your instructor</h3>\n{said}</div>\n'
        "<h3>From the autograder</h3>\n"
    )


def _notes(standing: Standing, _: str) -> str:
    """What a person says, on a page that has no exercises."""
    said = [(name, _words(mark)) for name, mark in standing.marks.items()]
    notes = "".join(f"<h3>{text_of(name)}</h3>\n{words}" for name, words in said if words)
    if not notes:
        return ""
    return f'<div class="person">\n<h2>From your instructor</h2>\n{notes}</div>\n'


def _words(mark: Mark) -> str:
    said = ""
    if mark.manual is not None:
        given = f"{mark.manual:g} of {_points(mark.most)}"
        said = f"<p>Your instructor gave {given}, in place of the autograder's score.</p>\n"
    if mark.extra:
        did = "added" if mark.extra > 0 else "took off"
        said += f"<p>Your instructor {did} {_points(abs(mark.extra))} of extra credit.</p>\n"
    if mark.comment:
        said += f'<p class="words">{text_of(mark.comment)}</p>\n'
    return said


# What stands in a region, by the name of it: of a submission, or of one exercise.
_OF_ALL: dict[str, Callable[[Standing, str], str | None]] = {
    "whom": _whom,
    "total": _total,
    "late": _late,
    "other": _other,
    "notes": _notes,
}
_OF_ONE: dict[str, Callable[[Mark], str]] = {"points": _reached, "note": _note}


def _lesson(slug: str) -> str:
    """'lesson 06, causal mask'."""
    number, _, words = slug.partition("-")
    return f"lesson {number}, {words.replace('-', ' ')}" if number.isdigit() else slug


def _points(most: float) -> str:
    return f"{most:g} point" + ("" if most == 1 else "s")


def _said(message: str) -> str:
    """A paragraph, with `code` between backticks as on a card."""
    marked = re.sub("`([^`]+)`", r"<code>\1</code>", text_of(message))
    return f"<p>{marked}</p>"


def text_of(text: str) -> str:
    """HTML that says it, and nothing else."""
    return html.escape(text, quote=True)
