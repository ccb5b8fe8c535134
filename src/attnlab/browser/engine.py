"""Runs a lesson's cells, in a namespace that they share: see `attnlab.browser` for who calls this.

Cells run in `__main__`, with their sources in `In`, as in IPython: so `check` finds there what it
finds in a notebook.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import json
import linecache
import re
import sys
import time
from types import CodeType
from typing import Any

import attnlab
from attnlab import lesson, lessons
from attnlab.browser import shown, trouble
from attnlab.browser.shown import Output
from attnlab.calling import deadline
from attnlab.calling.call import PRINT_LIMIT, Printed, nobody_types, replaced
from attnlab.calling.deadline import Deadline, Overrun, first_of
from attnlab.checks.recorded import declared, with_cases
from attnlab.checks.unparsed import unparsed
from attnlab.home import progress

SECONDS = 15.0  # for a cell; what gives no way then, its page ends, after a few more
_MAGIC = re.compile(r"\s*[%!]")
_WORD = re.compile(r"[^\W\d]\w*")


class Engine:
    """One lesson, as far as its cells were run.

    Args:
        told: of lesson.json.
    """

    def __init__(self, told: dict[str, Any]) -> None:
        self.slug: str = told["lesson"]
        self._exercises = {each["name"]: declared(each) for each in told["exercises"]}
        self._cells: list[dict[str, Any]] = told["cells"]
        self._figures: list[dict[str, Any]] = told["figures"]
        self._given: set[str] = set()
        self._ran: set[str] = set()
        self._ids: dict[str, str] = {}  # of cells, by the files that they are to Python
        self._quizzes: dict[str, shown.Quiz] = {}
        self._sources = [""]
        self._names = vars(sys.modules["__main__"])
        self._begin()

    def _begin(self) -> None:
        for name in [name for name in self._names if not name.startswith("__")]:
            del self._names[name]
        self._names["In"] = self._sources
        self._names["display"] = self._display
        vars(attnlab).update(figures=shown.Figures(), quiz=self._quiz)
        progress.forget()
        lessons.take(self.slug, self._exercises)
        lesson.begin(self.slug)

    @property
    def about(self) -> dict[str, Any]:
        files = {name: f"{self.slug}/{name}.json" for name in self._exercises}
        return {"lesson": self.slug, "exercises": list(files), "files": files}

    def needs(self, source: str) -> list[str]:
        """Exercises whose cases a run of this cell may ask for, and that were not given yet."""
        if "check" not in source:
            return []
        texts = [source, *self._sources]
        meant, waiting = set[str](), [source]
        while waiting:  # what it names, and what the cells that define that name
            for name in set(_WORD.findall(waiting.pop())) & self._exercises.keys() - meant:
                meant.add(name)
                defining = re.compile(rf"^(?:async )?(?:def|class) {name}\b|^{name}\b.*=", re.M)
                waiting += [text for text in texts if defining.search(text)]
        return [name for name in self._exercises if name in meant - self._given]

    def give(self, told: dict[str, Any]) -> str:
        name: str = told["name"]
        self._exercises[name] = with_cases(self._exercises[name], told)
        self._given.add(name)
        lessons.take(self.slug, self._exercises)
        return name

    def run(self, cell: str, source: str) -> dict[str, Any]:
        """What stands below a cell once it was run, and whether the next one may be run."""
        begun = time.perf_counter()
        self._outputs: list[Output] = []
        self._printed = Printed(PRINT_LIMIT, PRINT_LIMIT)
        stopped = self._stopped(cell, source)
        self._flush()
        if stopped:
            self._outputs.append(stopped)
        is_ok = stopped is None or stopped["slug"] == "not-written"
        self._ran |= {cell} if stopped is None else set()
        seconds = round(time.perf_counter() - begun, 4)
        return {"outputs": self._outputs, "seconds": seconds, "ok": is_ok}

    def choose(self, quiz: str, question: int, choice: int) -> dict[str, Any]:
        self._quizzes[quiz].choose(question, choice)
        return {"values": self._quizzes[quiz].values}

    def _stopped(self, cell: str, source: str) -> Output | None:
        """Run a cell; what stopped it, None if nothing did."""
        file = f"<cell {len(self._sources)}>"
        self._sources.append(source)
        self._names["In"] = self._sources
        self._ids[file] = cell
        lines = [f"{line}\n" for line in source.split("\n")]
        linecache.cache[file] = len(source), None, lines, file
        limit = Deadline(SECONDS)
        try:
            if found := unparsed(source):
                is_magic = _MAGIC.match(lines[found.number - 1])
                return trouble.magic(found.number) if is_magic else trouble.of_source(found)
            try:
                parts = _compiled(source, file)
            except SyntaxError as error:  # Jupyter could run it
                return trouble.awaits(error.lineno or 0)
            with (
                replaced(builtins, "input", nobody_types),
                contextlib.redirect_stdout(self._printed),
                contextlib.redirect_stderr(self._printed),
                limit,
            ):
                self._execute(*parts)
        except Overrun as over:
            limit.release()
            return self._told(first_of(over), cell)
        except BaseException as error:  # a learner's code may raise anything, SystemExit too
            return self._told(error, cell)
        return None

    def _execute(self, body: CodeType, last: CodeType | None) -> None:
        exec(body, self._names)
        value = eval(last, self._names) if last else None
        if value is not None:
            self._display(value)

    def _display(self, *things: Any) -> None:
        """What a notebook's `display` does."""
        for thing in things:
            output = shown.value(thing, self._figures)
            self._flush()
            self._outputs.append(output)

    def _flush(self) -> None:
        """Put what was printed so far among the outputs."""
        if text := self._printed.kept:
            self._printed.kept = ""
            self._outputs.append({"kind": "stream", "name": "stdout", "text": text})

    def _quiz(self, title: str) -> Any:
        found = shown.quiz(title)
        if isinstance(found, shown.Quiz):
            self._quizzes[title] = found
        return found

    def _told(self, error: BaseException, cell: str) -> Output:
        def absent(name: str) -> trouble.Advice | None:
            return self._absent(name, cell)

        with contextlib.suppress(Exception):
            return trouble.of_exception(error, trouble.places_in(error, self._ids), cell, absent)
        return trouble.of_exception(type(error)(), [], cell, absent)

    def _absent(self, name: str, cell: str) -> trouble.Advice | None:
        """What to say of a name that is not defined, where a cell that was not run defines it."""
        ids = [each["id"] for each in self._cells]
        at = ids.index(cell) if cell in ids else len(ids)
        homes = [each for each in self._cells if name in each["names"] and each["id"] != cell]
        above = [each for each in homes if ids.index(each["id"]) < at]
        home = next((each for each in (*above, *homes) if each["id"] not in self._ran), None)
        if home is None or (above and home not in above):
            return None
        which = f"the one under “{home['under']}” that begins `{home['begins']}`"
        if home in above:
            why = f"`{name}` is made in a cell above that was not run to its end: {which}."
            return trouble.Advice("not-run", why, "Run all cells above, then this one.", home["id"])
        why = f"`{name}` is made in a cell further down: {which}."
        return trouble.Advice("not-run", why, "Run that one first.", home["id"])


def _compiled(source: str, file: str) -> tuple[CodeType, CodeType | None]:
    """A cell as Python has it, and apart from it what stands at its end to be shown."""
    tree = ast.parse(source, file)
    last = tree.body[-1] if tree.body and not source.rstrip().endswith(";") else None
    shown_last = None
    if isinstance(last, ast.Expr):
        tree.body.pop()
        shown_last = compile(ast.Expression(last.value), file, "eval", dont_inherit=True)
    return compile(tree, file, "exec", dont_inherit=True), shown_last


_engine: Engine | None = None
if sys.platform == "emscripten":  # which has no timer
    deadline.timer = lambda seconds: None


def _here() -> Engine:
    assert _engine is not None, "begin() comes first"
    return _engine


def keep_time(alarm: Any) -> None:
    deadline.timer = alarm


def begin(text: str) -> str:
    global _engine
    _engine = Engine(json.loads(text))
    return json.dumps(_engine.about)


def needs(source: str) -> str:
    return json.dumps(_here().needs(source))


def give(text: str) -> str:
    return json.dumps({"exercise": _here().give(json.loads(text))})


def run(cell: str, source: str) -> str:
    return json.dumps(_here().run(cell, source))


def choose(quiz: str, question: int, choice: int) -> str:
    return json.dumps(_here().choose(quiz, question, choice))
