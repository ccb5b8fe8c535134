"""The course home as HTML: no script, nothing from elsewhere, made anew at each request."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from html import escape

from attnlab import lessons
from attnlab.checks.card import lesson_arcs
from attnlab.home import cover
from attnlab.home.report import told
from attnlab.home.sheet import ticked, whole, worded
from attnlab.home.standing import (
    Mistake,
    Standing,
    mistakes,
    next_up,
    standings,
)
from attnlab.quizzes import Question, missed
from attnlab.work.places import Course
from attnlab.work.progress import read

RECALLED = 3  # questions that the home asks to recall at once


class Links:
    """Addresses on the server that shows the page.

    Args:
        base: the server's own, '/' or '/user/ann/'.
        phones: whether Notebook's page is there, which reads well on a narrow screen.
    """

    def __init__(self, base: str = "/", phones: bool = True) -> None:
        self.base = base
        self.home = f"{base}attnlab"
        self.glossary = f"{base}attnlab/glossary"
        self.lab = f"{base}lab"
        self.files = f"{base}files"
        self._narrow = "notebooks" if phones else "lab/tree"

    def to(self, slug: str, text: str, classes: str = "", more: str = "") -> str:
        """A link to a lesson: in JupyterLab on a wide screen, on Notebook's page on a small one."""
        path = f"{slug}/{slug}.ipynb"
        return "".join(
            f'<a class="{f"{width} {classes}".strip()}" href="{escape(self.base + page)}/{path}"'
            f"{more}>{text}</a>"
            for width, page in (("wide", "lab/tree"), ("narrow", self._narrow))
        )

    def zip(self, slug: str) -> str:
        """A link that downloads what was made to be handed in."""
        return f'<a href="{escape(self.home)}/hand-in/{slug}.zip" download>Download {slug}.zip</a>'

    def returned(self, slug: str) -> str:
        """A link to what came back of a hand-in."""
        return f'<a href="{escape(self.home)}/returned/{slug}">Your instructor’s page</a>'

    def kept(self, course: Course) -> list[str]:
        """Links to the page of `attnlab keepsake` and to its picture, if there are."""
        made = (course.keepsake, course.keepsake.with_suffix(".svg"))
        return [
            f'<a href="{escape(self.files)}/{path.name}">{text}</a>'
            for path, text in zip(made, ("The page that you made", "its picture"), strict=True)
            if os.path.isfile(path)
        ]


def home(
    course: Course,
    links: Links,
    *,
    xsrf: str = "",
    said: Sequence[str] = (),
    made: Sequence[str] = (),
    keeping: Sequence[str] = (),
    asked: Sequence[str] = (),
    back: Collection[str] = (),
) -> str:
    """The page that opens first.

    Args:
        xsrf: Jupyter's hidden field, for forms.
        said: sentences to show on top, of what was just done.
        made: links to what was just made.
        keeping: sentences to show beside the form of the page to keep.
        asked: the sentence and the name that a page to keep was just asked for with.
        back: lessons of which the instructor's page came back.
    """
    log = read(course)
    found = standings(course, log.records)
    going = next_up(found, log.records)
    done = "".join(f"<p>{ticked(line)}</p>" for line in said)
    done += f"<p>{' · '.join(made)}</p>" if made else ""
    parts = [
        f"{cover.top(found)}<main>",
        f'<div class="said" role="status">{done}</div>' if done else "",
        _continue(going, found, links, focus=not keeping),
        cover.recall([_question(each, links) for each in missed(log.records)[:RECALLED]]),
        _ways(found),
        "<h2>Lessons</h2>",
        _handing_in(found),
        '<ol class="lessons">',
        *(_lesson(course, each, links, each is going, xsrf, back) for each in found),
        *(_planned(each) for each in lessons.planned()),
        "</ol>",
        _mistakes(mistakes(found, log.records)),
        cover.to_keep(f"{links.home}/keepsake", xsrf, links.kept(course), keeping, asked),
        "</main><footer>",
        f'<p><a href="{escape(links.glossary)}">Glossary</a> · '
        f'<a href="{escape(links.lab)}">JupyterLab</a>{_checks(course, links)}</p>',
        '<p class="quiet">On a wide screen lessons open in JupyterLab; on a phone, or in a narrow '
        "window, on Notebook’s page, which reads well there. Both show the same file, yours, in "
        "<code>work/</code>. What you did is kept beside it and never leaves your machine.</p>",
        *(f'<p class="quiet">{ticked(line)}</p>' for line in told(course, log)),
        "</footer>",
    ]
    return whole("Attention: your course", "".join(parts))


def glossary(course: Course, links: Links) -> str:
    """The glossary, rendered."""
    import mistune

    text = course.text(course.released / "glossary.md")
    none = "# Glossary\n\nIt is not among what was handed out."
    body = str(mistune.create_markdown(escape=True)(text or none))

    def named(heading: re.Match[str]) -> str:
        plain = re.sub("<[^>]+>", "", heading[1]).strip().replace(" ", "-")
        return f'<h2 id="{escape(plain)}">{heading[1]}</h2>'

    body = re.sub(r"<h2>(.*?)</h2>", named, body)
    back = f'<p><a href="{escape(links.home)}">Course home</a></p>'
    return whole("Glossary", f"<header>{back}</header><main><article>{body}</article></main>")


def _question(asked: Question, links: Links) -> str:
    """A link to the lesson in which a question of a quiz stands."""
    words = worded(asked.asked.replace("*", ""))
    return links.to(asked.lesson, f"Lesson {asked.lesson[:2]}: {words}")


def _handing_in(found: Sequence[Standing]) -> str:
    """What the buttons do, said once."""
    if not any(each.begun for each in found):
        return ""
    return (
        '<p class="quiet" id="handing-in"><em>Hand in</em> looks through what you last saved, '
        "says what is missing, and makes one file of it for you to download and send. Where your "
        "course collects by itself, it is submitted as well.</p>"
    )


def _ways(found: Sequence[Standing]) -> str:
    """Ways through the whole course, where it was handed out whole."""
    if len(found) < len(lessons.slugs()):
        return ""
    rows = "".join(f"<li>{escape(str(way))}.</li>" for way in lessons.ROUTES)
    return (
        f'<details class="ways"><summary>Not all of it? Ways through</summary><ul>{rows}</ul>'
        f"<p>{escape(lessons.SKIPPED)}</p></details>"
    )


def _continue(going: Standing | None, found: Sequence[Standing], links: Links, focus: bool) -> str:
    if not found:
        return '<div class="go"><p>There are no lessons in <code>notebooks/</code>.</p></div>'
    if going is None:
        return '<div class="go"><p><strong>Every exercise is right.</strong></p></div>'
    about = going.lesson
    title = f"Lesson {about.number:02}, {worded(about.title)}"
    if going.begun:
        todo = going.open[0]
        word, what = "Continue", f"<code>{escape(todo.name)}</code>, {todo.said}"
    else:
        word, what = "Begin", f"{worded(about.heading)}, about {about.minutes} minutes"
    # The one that is shown takes the focus: Enter opens it.
    keys = ' autofocus accesskey="c"' if focus else ' accesskey="c"'
    link = links.to(about.slug, word, "button", keys)
    return f'<div class="go"><p><strong>{title}</strong><br>{what}</p>{link}</div>'


def _lesson(
    course: Course,
    each: Standing,
    links: Links,
    going: bool,
    xsrf: str,
    back: Collection[str],
) -> str:
    about = each.lesson
    title = worded(about.title)
    there = os.path.isfile(course.notebook(about.slug))
    rows = "".join(
        f'<li><span aria-hidden="true">{"✓" if one.passed else "○"}</span> '
        f"<code>{escape(one.name)}</code>: {one.said}, {one.score:g} of {one.points:g}</li>"
        for one in each.exercises
    )
    rows += "".join(f"<li><code>{escape(one.name)}</code>: {one.said}</li>" for one in each.gone)
    right, asked = each.quiz
    quiz = f"<br>quiz: {right} of {asked} right" if asked else ""
    made = [links.zip(about.slug)] if os.path.isfile(course.handed_in(about.slug)) else []
    made += [links.returned(about.slug)] if about.slug in back else []
    mine = links.to(about.slug, title) if there else f"{title} (no copy yet: start again)"
    kind = "next" if going else "begun" if each.begun and not each.done else "plain"
    said = each.said if each.begun else each.worth
    passed = {one.name: one.passed for one in each.exercises}
    drawn = lesson_arcs(passed) if going or each.begun else ""
    return (
        f'<li class="lesson {kind}">'
        f'<div class="number" aria-hidden="true">{about.number:02}</div>'
        f'<div><h3>{mine}</h3><p class="quiet">{worded(about.builds)}</p>'
        f'<details><summary>Exercises<span class="unseen"> of lesson {about.number:02}</span>'
        f'</summary><ul class="exercises">{rows}</ul></details>'
        f"{_hand_in(each, links, xsrf, ' · '.join(made)) if there and each.begun else ''}</div>"
        f'<div class="far">{drawn}<p class="quiet">'
        f"{'<span aria-hidden=true>✓ </span>' if each.done else ''}{said}"
        f"{quiz}<br>about {about.minutes} minutes</p></div></li>"
    )


def _hand_in(each: Standing, links: Links, xsrf: str, made: str) -> str:
    """The button that does what `attnlab hand-in` does, and links to what it made or brought."""
    slug = each.lesson.slug
    return (
        f'<form method="post" action="{escape(links.home)}/hand-in">{xsrf}'
        f'<button class="button small" name="lesson" value="{slug}" aria-describedby="handing-in">'
        f'Hand in<span class="unseen"> lesson {each.lesson.number:02}</span></button> {made}</form>'
    )


def _planned(about: lessons.Lesson) -> str:
    return (
        '<li class="lesson planned">'
        f'<div class="number" aria-hidden="true">{about.number:02}</div>'
        f'<div><h3>{worded(about.title)}</h3><p class="quiet">{worded(about.builds)}</p></div>'
        f'<div class="far"><p class="quiet">planned, about {about.minutes} minutes</p></div></li>'
    )


def _mistakes(met: Sequence[Mistake]) -> str:
    if not met:
        return ""
    rows = "".join(
        f'<li><span aria-hidden="true">{"✓" if one.mended else "○"}</span> '
        f"<code>{escape(one.slug)}</code>: {worded(one.said)}</li>"
        for one in met
    )
    return f'<h2>Mistakes you met</h2><ul class="exercises">{rows}</ul>'


def _checks(course: Course, links: Links) -> str:
    """The page of `attnlab check-mine`, if there is one."""
    if not os.path.isfile(course.checks):
        return ""
    return f' · <a href="{escape(links.files)}/{course.checks.name}">My checks</a>'
