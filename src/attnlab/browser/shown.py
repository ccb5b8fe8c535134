"""What stands below a cell: values as Jupyter shows them, stored figures, and quizzes."""

from __future__ import annotations

import math
import pprint
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from attnlab import lesson
from attnlab.asking import Asking, Chosen
from attnlab.checks.card import Card
from attnlab.home.stuck import Solution
from attnlab.home.summary import Summary

Output = dict[str, Any]
WIDTH, MOST = 79, 1000  # of a line; of things in a list: as IPython has it
LONGEST = 64 * 1024  # characters of one value
OTHERS = (
    "This is the figure of the lesson's own numbers. Yours are others, and drawing them takes "
    "NumPy, which this page has not: take the lesson home to see yours."
)
NONE = "This page has no such figure. Take the lesson home, where figures are drawn."
_HREF = re.compile(r'href="#[^"]+"')
_NOTEBOOK = re.compile(r'(href="\.\./[^"]+)\.ipynb"')


# figures ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure that a cell asks for."""

    name: str
    given: Any = field(repr=False)


class Figures:
    """Stands in the place of `attnlab.figures`, which needs NumPy: keeps what is asked for."""

    def __init__(self, name: str = "") -> None:
        self._name = name

    def __getattr__(self, name: str) -> Figures:
        if name.startswith("_"):
            raise AttributeError(name)
        return Figures(f"{self._name}.{name}" if self._name else name)

    def __call__(self, *args: Any, **kwargs: Any) -> Figure:
        return Figure(self._name, plain([args, kwargs]))

    def __repr__(self) -> str:
        return f"figures.{self._name}" if self._name else "figures"


def plain(thing: Any) -> Any:
    """A figure's inputs, as JSON has them; what is none of that by its type."""
    if isinstance(thing, Mapping):
        return {str(name): plain(each) for name, each in thing.items()}
    if isinstance(thing, list | tuple):
        return [plain(each) for each in thing]
    return thing if thing is None or type(thing) in (bool, int, float, str) else str(type(thing))


def is_same(one: Any, other: Any) -> bool:
    """Whether inputs would be drawn alike."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(one[name], other[name]) for name in one)
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)
    return bool(one == other)


def figure(asked: Figure, stored: Sequence[Mapping[str, Any]]) -> Output:
    """The stored figure that is meant: of the same inputs, or else of the same name.

    Args:
        stored: each a cell's id, and the figure's name and inputs.
    """
    named = [each for each in stored if each["figure"] == asked.name]
    same = [each for each in named if is_same(each["given"], asked.given)]
    meant = (same or named or [{"cell": ""}])[0]
    note = "" if same else OTHERS if named else NONE
    return {"kind": "figure", "figure": asked.name, "cell": meant["cell"], "note": note}


# quizzes ----------------------------------------------------------------------------------------


class Quiz:
    """Questions, and what was chosen."""

    def __init__(self, name: str, asking: Asking) -> None:
        self.name, self._asking = name, asking
        self._chosen: Chosen = asking.start
        self._problem = asking.problem

    def __repr__(self) -> str:
        return f"{self._asking.title}: {self._asking.summary()}"

    def choose(self, question: int, choice: int) -> None:
        try:
            self._chosen = self._asking.choose(self._chosen, question, choice)
            self._problem = self._asking.problem
        except ValueError as why:
            self._problem = str(why)

    @property
    def values(self) -> dict[str, Any]:
        """What the model has that `quiz.mjs` draws."""
        state = self._asking.state(self._chosen)
        return {
            "title": self._asking.title,
            "state": state,
            "problem": self._problem,
        }


def quiz(title: str) -> Any:
    """See `attnlab.quiz`."""
    asked = lesson.to_ask(title)
    return asked if isinstance(asked, str) else Quiz(title, Asking(*asked))


# values -----------------------------------------------------------------------------------------


def value(thing: Any, stored: Sequence[Mapping[str, Any]]) -> Output:
    """A value, below its cell. Raises what its own methods raise."""
    if isinstance(thing, Figure):
        return figure(thing, stored)
    if isinstance(thing, Quiz):
        return {"kind": "quiz", "quiz": thing.name, "values": thing.values}
    if isinstance(thing, Card | Summary | Solution):
        return _ours(thing)
    made = _bundle(thing)
    if "text/html" in made:
        text = str(made.get("text/plain", ""))
        return {"kind": "html", "html": cut(str(made["text/html"])), "text": text, "ours": False}
    text = made["text/plain"] if "text/plain" in made else as_text(thing)
    return {"kind": "text", "text": cut(str(text))}


def _ours(thing: Card | Summary | Solution) -> Output:
    made = thing._repr_mimebundle_() if isinstance(thing, Card) else {}
    html = made["text/html"] if made else thing._repr_html_()  # type: ignore[union-attr]
    output = {"kind": "html", "html": linked(html), "text": str(thing), "ours": True}
    if isinstance(thing, Card):
        of = thing.verdict
        told = {"exercise": of.name, "status": of.status, "score": of.score, "points": of.max_score}
        output["card"] = told
    return output


def linked(html: str) -> str:
    """Links as the site's pages have them: headings in small letters, lessons as pages."""
    lowered = _HREF.sub(lambda found: found[0].replace(" ", "-").lower(), html)
    return _NOTEBOOK.sub(r'\1.html"', lowered)


def _bundle(thing: Any) -> Mapping[str, Any]:
    """What a value says of its own looks, as Jupyter asks for it."""
    for name in ("_repr_mimebundle_", "_repr_html_"):
        method: Callable[[], Any] | None = getattr(type(thing), name, None)
        if method is None or isinstance(thing, type):
            continue
        found = getattr(thing, name)()
        if name == "_repr_html_" and isinstance(found, str):
            return {"text/html": found, "text/plain": repr(thing)}
        if isinstance(found, tuple):
            found = found[0]
        if isinstance(found, Mapping):
            return found
    return {}


def as_text(thing: Any) -> str:
    """A value as Jupyter prints it: lists over several lines where one is too short."""
    if type(thing) in (list, tuple, set, dict):
        if len(thing) > MOST:
            first = list(thing.items() if type(thing) is dict else thing)[:MOST]
            return f"{pprint.pformat(first, width=WIDTH)}\n… and {len(thing) - MOST:,} more"
        return pprint.pformat(thing, width=WIDTH, sort_dicts=False)
    return repr(thing)


def cut(text: str) -> str:
    """A text, not longer than a page can bear."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text):,} characters)"
