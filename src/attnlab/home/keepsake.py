"""`attnlab keepsake`: a page and a picture of what a learner has built, at any time, to show.

What is on it is theirs to show: their attention on a sentence of their own, timings that they have
recorded, mistakes that they have mended, lessons that they have done. What is not, is left out: no
path, no name that they did not give, nothing that is still wrong, and no score.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from html import escape
from pathlib import Path
from textwrap import shorten

from attnlab import lessons
from attnlab.checks.card import lesson_arcs
from attnlab.home.arcs import alone, arcs
from attnlab.home.check_mine import Run, Stopped, run_in_kernel
from attnlab.home.copies import from_work, put
from attnlab.home.listening import SENTENCE, Heard, hear, in_words_of_the_model
from attnlab.home.report import told
from attnlab.home.sheet import whole, worded
from attnlab.home.standing import Mistake, Standing, mistakes, standings
from attnlab.ipynb.read import Unreadable
from attnlab.ipynb.words import CONTROLS, POLICY, few, short
from attnlab.lessons.gpu_sdpa import kept
from attnlab.work.places import Course, Refused
from attnlab.work.progress import NO_MISTAKE, read

TITLE = "My attention"
MOST, WHY = 6, 200  # mistakes, and characters on why one is wrong, so that it stays one page
ROLES = {
    "subject": "the one whose row decides whether the verb is singular or plural",
    "previous": "the one that reads the word before",
    "repeat": "the one that reads what came after the same word earlier",
}
# Where `python -m attnlab.bench --record` keeps what was measured.


def keep(
    course: Course, sentence: str = SENTENCE, name: str = "", run: Run = run_in_kernel
) -> list[str]:
    """Make work/keepsake.html and work/keepsake.svg.

    Args:
        sentence: in words of the small model.
        name: to put on the page, '' for none.
        run: see `attnlab.home.check_mine.check_all`.
    Returns:
        What to say: where they are, whose attention it is, what could not be read.
    Raises:
        NotWritten: the disk is full, or something else is in their place.
        Refused: the sentence is not in the model's words, or nothing can be run.
    """
    words = in_words_of_the_model(sentence)
    log = read(course)
    found = standings(course, log.records)
    try:
        heard = hear(course, words, run)
    except Stopped as why:
        raise Refused(str(why)) from None
    met = mistakes(found, log.records)
    mended = [one for one in met if one.mended and one.slug not in NO_MISTAKE]
    done = [each for each in found if each.done]
    drawn = arcs(heard.words, heard.weights)
    parts = [
        _head(name, drawn, heard),
        _timings(course),
        _mended(mended),
        _done(found),
        '</main><footer><p class="quiet">Made with attnlab, a course on attention.</p></footer>',
    ]
    page = whole(TITLE, "".join(parts), POLICY).translate(CONTROLS)
    picture = course.keepsake.with_suffix(".svg")
    put(course, picture, alone(drawn), 'class="arcs"')
    put(course, course.keepsake, page, f"<title>{TITLE}</title>")
    made = f"Your page is {from_work(course, course.keepsake)}"
    said = [f"{made}, its picture {from_work(course, picture)}.", _whose(heard)]
    if not (mended or done):
        said.append("No lesson is done and no mistake mended yet that it could list.")
    return [*said, *told(course, log)]


def _whose(heard: Heard) -> str:
    if heard.lesson:
        number = lessons.lesson(heard.lesson).number
        return f"Your own `{heard.exercise}` of lesson {number:02} has computed it."
    return (
        "None of your own functions gives the model's attention yet: it is the small model's own, "
        "and the page says so."
    )


def _head(name: str, drawn: str, heard: Heard) -> str:
    by = f"{escape(short(name.strip()))}, " if name.strip() else ""
    head = f"head {heard.head} of layer {heard.layer}, {ROLES[heard.role]}"
    if heard.lesson:
        about = lessons.lesson(heard.lesson)
        whose = (
            f"Computed by my own <code>{heard.exercise}</code> of lesson {about.number:02}, "
            f"{worded(about.title)}, from what a small language model gives to {head}. The model "
            "itself computes the same."
        )
    else:
        whose = f"It is the attention of the course’s small language model itself: {head}."
    return (
        f"<header><h1>{TITLE}</h1>"
        f'<p class="quiet">{by}{time.strftime("%Y-%m-%d")}</p></header><main class="kept">'
        f"<figure>{drawn}<figcaption><p><strong>“{escape(' '.join(heard.words[1:]))}”</strong></p>"
        "<p>An arc leads from each word back to a word that it listens to; the thicker, the more. "
        f"A dot is what it keeps for itself. {whose}</p></figcaption></figure>"
    )


def _timings(course: Course) -> str:
    """The learner's own attention in tiles beside PyTorch's, if they have recorded it."""
    own = [each for path in kept.RECORDED.glob("*.json") for each in _compared(course, path)]
    if not own:
        return ""
    return f"<h2>Beside PyTorch</h2><p>{escape(max(own)[1])}</p>"


def _compared(course: Course, path: Path) -> Iterator[tuple[str, str]]:
    """The day and a sentence for the longest text that both were timed with, of one's own file."""
    with suppress(Unreadable, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        found = json.loads(course.read(path))
        if "--tiled" not in found["command"].split():
            return  # it is the course's own
        for run in found["runs"][:1]:
            took = {(row["name"], row["n"]): row["seconds"] for row in run["rows"]}
            both = [n for name, n in took if name == "tiled" and took[name, n]]
            n = max(n for n in both if took.get(("sdpa", n)))
            mine, theirs = (f"{1000 * took[name, n]:.3g} ms" for name in ("tiled", "sdpa"))
            yield (
                str(found["date"]),
                f"For {n:,} words, my own attention in tiles takes {mine}, PyTorch’s {theirs}. "
                f"Measured on {short(str(found['date']))}, {short(str(found['device']))}, "
                f"{run['dtype']}, d = {run['d']}.",
            )


def _mended(met: Sequence[Mistake]) -> str:
    if not met:
        return ""
    rows = [
        f"<code>{escape(short(one.slug))}</code>. {worded(shorten(one.why, WHY, placeholder=' …'))}"
        for one in met
    ]
    shown = "".join(f"<li>{row}</li>" for row in few(rows, MOST))
    return f"<h2>Mistakes that I mended</h2><ul>{shown}</ul>"


def _done(found: Sequence[Standing]) -> str:
    done = [each for each in found if each.done]
    if not done:
        return ""
    drawn = lesson_arcs({each.lesson.slug: each.done for each in found}, of="the course")
    rows = " · ".join(
        f'<span class="one">{each.lesson.number:02} {worded(each.lesson.title)}</span>'
        for each in done
    )
    return f"<h2>Lessons that I have done</h2>{drawn}<p>{rows}</p>"
