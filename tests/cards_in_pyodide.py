"""Run in Pyodide by `js/pyodide.mjs`: the cards of held answers, as a page makes them.

    ARGUMENTS: slugs of lessons; prints one JSON object a line.

The answers are those of `tests/answers`. Of NumPy and PyTorch, which some of them name in places
that lists do not come to, there is as much as it takes to import them, and nothing afterwards.
"""

import importlib
import json
import sys
import time
import types

from attnlab import lessons, notebook
from attnlab.browser import engine


class Absent(types.ModuleType):
    """A module that has a class by any name."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def text(path: str) -> str:
    with open(f"/files/{path}", encoding="utf-8") as file:
        return file.read()


def answers_of(slug: str) -> list:
    """All that are held, the slips that are made of them too."""
    sys.path.insert(0, "/")
    for name in ("numpy", "torch"):
        sys.modules[name] = Absent(name)
    answers = importlib.import_module("tests.answers")
    for name in ("numpy", "torch"):
        del sys.modules[name]
    general = sys.modules["tests.answers.general"]
    general.generate = lambda exercise, seeds: [
        (each.seed, each.case) for each in exercise.recorded.posed if each.seed in seeds
    ]
    return answers.all_answers(slug)


def cards(slug: str, names: list) -> None:
    told = json.loads(engine.begin(text(f"{slug}/lesson.json")))
    for path in told["files"].values():
        engine.give(text(path))
    for answer in answers_of(slug):
        if names and str(answer) not in names:
            continue
        begun = time.perf_counter()
        card = notebook.check(answer.function, name=answer.exercise, lesson=slug)
        seconds = time.perf_counter() - begun
        html = card._repr_mimebundle_()["text/html"]
        print(json.dumps([str(answer), float(card), html, str(card), seconds]))


if __name__ == "told":
    slugs = [each for each in ARGUMENTS if each in lessons.slugs()]  # noqa: F821
    wanted = [each for each in ARGUMENTS if each not in slugs]  # noqa: F821
    for each in slugs:
        cards(each, wanted)
