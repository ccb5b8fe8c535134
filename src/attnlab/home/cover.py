"""What makes the course home a cover: a picture that means something, how far, what to keep."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from html import escape

from attnlab import small
from attnlab.home.arcs import arcs
from attnlab.home.listening import MOST, SENTENCE
from attnlab.home.own import kept
from attnlab.home.sheet import ticked
from attnlab.home.standing import Standing


def top(found: Sequence[Standing]) -> str:
    """The head of the page."""
    return (
        '<header class="cover"><div><h1>Attention, from a dictionary to a GPU kernel</h1>'
        f'<p class="quiet">{_so_far(found)}</p></div><figure>{picture()}'
        '<figcaption class="quiet">A small language model looks past “boy” to “dogs”, '
        "with which the next verb has to agree.</figcaption></figure></header>"
    )


@cache
def picture() -> str:
    """The small model's attention on the sentence that the course begins with."""
    return arcs(kept()["words"], kept()["weights"])


def _so_far(found: Sequence[Standing]) -> str:
    earned, worth = sum(each.score for each in found), sum(each.points for each in found)
    right, number = sum(each.passed for each in found), sum(len(each.exercises) for each in found)
    if not any(each.begun for each in found):
        return f"{len(found)} lessons, {number} exercises, {worth:g} points. Take them in order."
    known, asked = (sum(each.quiz[at] for each in found) for at in (0, 1))
    quiz = f" and {known} of {asked} quiz questions" if asked else ""
    return f"So far {earned:g} of {worth:g} points, {right} of {number} exercises{quiz} right."


def recall(questions: Sequence[str]) -> str:
    """What to recall today.

    Args:
        questions: each a link to where it stands.
    """
    if not questions:
        return ""
    rows = "".join(f"<li>{each}</li>" for each in questions)
    return (
        f'<section class="recall"><h2>To recall today</h2><ul>{rows}</ul>'
        '<p class="quiet">Your last answer was wrong: think first, then look.</p></section>'
    )


def to_keep(
    address: str,
    xsrf: str,
    kept: Sequence[str],
    said: Sequence[str] = (),
    asked: Sequence[str] = (),
) -> str:
    """The form that does what `attnlab keepsake` does.

    Args:
        kept: links to what was made, if it was.
        said: what came of what was last sent.
        asked: that, a sentence and a name, to be mended.
    """
    links = f"<p>{' · '.join(kept)}</p>" if kept else ""
    told = "".join(f"<p>{ticked(each)}</p>" for each in said)
    made = f'<div class="said" role="status" id="kept">{told}{links}</div>' if told else links
    here = ' autofocus aria-describedby="kept"' if told else ""
    sentence, name = map(escape, asked or (SENTENCE, ""))
    known = escape(" ".join(sorted(word for word in small.words if word != small.START)))
    return (
        '<h2>Something to keep</h2><p id="keeping">One page to print or to send: your own '
        "attention on a sentence of yours, the lessons you have done, the mistakes you have "
        "mended. It runs the attention that you wrote in <code>work/</code>, on this machine, "
        f"with your rights, and takes up to a minute.</p>{made}"
        f'<form class="keep" method="post" action="{escape(address)}#keeping">{xsrf}'
        f"<label>A sentence, in words of the small model, {MOST} at most"
        f'<input name="sentence" required maxlength="200" value="{sentence}"{here}></label>'
        '<label>A name to put on it, or none<input name="name" maxlength="75" '
        f'autocomplete="off" value="{name}"></label>'
        '<button class="button small" aria-describedby="keeping">Make the page</button></form>'
        f"<details><summary>The words of the small model</summary><p>{known}</p></details>"
    )
