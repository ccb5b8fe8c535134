"""Run in Pyodide by `js/pyodide.mjs`: cells as a page runs them, and cards of held answers.

    ARGUMENTS: JSON each, [a lesson's slug, [[cell, source], …], [answer, …]]

A lesson is begun anew for each; the answers are those of `tests.answers`, by what they are called.
Prints, for each, [what came of its cells, [[answer, the HTML of its card], …]].
"""

import importlib
import json
import sys
import types
from collections.abc import Iterator

from attnlab import notebook
from attnlab.browser import engine
from attnlab.work import progress


class Absent(types.ModuleType):
    """A module that has a class by any name."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def text(path: str) -> str:
    with open(f"/files/{path}", encoding="utf-8") as file:
        return file.read()


def came_of(slug: str, cells: list, answers: list) -> list:
    files = json.loads(engine.begin(text(f"{slug}/lesson.json")))["files"]
    done = []
    for cell, source in cells:
        for name in json.loads(engine.needs(source)):
            engine.give(text(files[name]))
        done.append(json.loads(engine.run(cell, source)))
    return [done, list(cards(slug, files, answers)) if answers else []]


def cards(slug: str, files: dict, wanted: list) -> Iterator[tuple[str, str]]:
    for path in files.values():
        engine.give(text(path))
    for answer in answers_of(slug):
        if str(answer) in wanted:
            progress.forget()  # a card looks back on what was checked before
            card = notebook.check(answer.function, name=answer.exercise, lesson=slug)
            yield str(answer), card._repr_mimebundle_()["text/html"]


def answers_of(slug: str) -> list:
    """All that are written.

    Some name NumPy and PyTorch, in lines that no list comes to: they get as much of them as it
    takes to be imported, and the checks nothing.
    """
    sys.path.append("/")
    absent = {name: Absent(name) for name in ("numpy", "torch")}
    sys.modules.update(absent)
    answers = importlib.import_module("tests.answers")
    for name in absent:
        del sys.modules[name]
    vars(answers)["slipped"] = lambda: ()  # it asks all lessons
    return answers.all_answers(slug)


if __name__ == "told":
    for each in globals()["ARGUMENTS"]:
        print(json.dumps(came_of(*json.loads(each))))
