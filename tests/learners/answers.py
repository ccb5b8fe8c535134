"""What learners write: the answers of `tests.answers`, as the text of a cell.

The bank is read and never imported: an answer's function is cut out of its module, with the
imports and the helpers that it uses, and takes the name of its exercise.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from attnlab.lessons import name_of

BANK = Path(__file__).parents[1] / "answers"
Definition = ast.FunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Written:
    """An answer to one exercise.

    Attributes:
        made: the mistake that it makes, '' if it makes none.
        label: which answer of the bank it is, or what kind of unfinished one.
        imports, helpers: what the source needs, one statement or definition each.
        source: the function or class, under the exercise's name.
    """

    exercise: str
    made: str
    label: str
    imports: tuple[str, ...]
    helpers: tuple[str, ...]
    source: str

    def __str__(self) -> str:
        return f"{self.made or 'right'}: {self.label}"


@cache
def bank(lesson: str) -> tuple[Written, ...]:
    """All answers to a lesson's exercises, in the order in which they are written down."""
    text = (BANK / f"{name_of(lesson)}.py").read_text(encoding="utf-8")
    module = _Module(text)
    return tuple(
        module.written(exercise, made, label, node)
        for node in module.definitions.values()
        for exercise, made, label in _filed_as(node)
    )


def _filed_as(node: Definition) -> Iterator[tuple[str, str, str]]:
    """Exercise, mistake and label of each `@wrong(…)` and `@right(…)` above a definition."""
    for mark in filter(_files, node.decorator_list):
        assert isinstance(mark, ast.Call)
        exercise, *rest = (ast.literal_eval(argument) for argument in mark.args)
        if _verb(mark) == "right":
            rest = ["", *rest]
        made, label = [*rest, "", ""][:2]
        yield exercise, made, label or node.name


def _verb(mark: ast.expr) -> str:
    return ast.unparse(mark).partition("(")[0]


def _files(mark: ast.expr) -> bool:
    return _verb(mark) in ("wrong", "right")


class _Module:
    """One module of the bank, to be cut up."""

    def __init__(self, text: str) -> None:
        tree = ast.parse(text)
        self.lines = text.splitlines()
        self.definitions: dict[str, Definition] = {}
        self.imports: dict[str, str] = {}
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                self.definitions[node.name] = node
            elif isinstance(node, ast.Import) or (
                isinstance(node, ast.ImportFrom) and not node.level
            ):
                for alias in node.names:
                    self.imports[alias.asname or alias.name] = _import_of(node, alias)

    def written(self, exercise: str, made: str, label: str, node: Definition) -> Written:
        used: dict[str, None] = {}  # in the order in which they are needed
        self._collect(node, used)
        used.pop(node.name, None)
        helpers = [self.definitions[name] for name in used if name in self.definitions]
        helpers.sort(key=lambda helper: helper.lineno)
        return Written(
            exercise,
            made,
            label,
            tuple(self.imports[name] for name in used if name in self.imports),
            tuple(self._source(helper, helper.name) for helper in helpers),
            self._source(node, exercise),
        )

    def _collect(self, node: Definition, used: dict[str, None]) -> None:
        for part in (*node.body, *_arguments(node), *_kept_marks(node)):
            for name in ast.walk(part):
                if not isinstance(name, ast.Name) or name.id in used:
                    continue
                if name.id in self.imports or name.id in self.definitions:
                    used[name.id] = None
                if name.id in self.definitions:
                    self._collect(self.definitions[name.id], used)

    def _source(self, node: Definition, name: str) -> str:
        """A definition's text without its filing marks, renamed."""
        lines = self.lines[node.lineno - 1 : node.end_lineno]
        columns = [
            (part.lineno - node.lineno, part.col_offset)
            for part in ast.walk(node)
            if isinstance(part, ast.Name) and part.id == node.name
        ]
        for row, column in sorted(columns, reverse=True):
            before, after = lines[row][:column], lines[row][column + len(node.name) :]
            lines[row] = f"{before}{name}{after}"
        lines[0] = lines[0].replace(f" {node.name}", f" {name}", 1)
        marks = [f"@{ast.unparse(mark)}" for mark in _kept_marks(node)]
        return "\n".join([*marks, *lines])


def _kept_marks(node: Definition) -> list[ast.expr]:
    return [mark for mark in node.decorator_list if not _files(mark)]


def _arguments(node: Definition) -> list[ast.expr]:
    """Where a definition uses names outside its body: base classes, defaults."""
    if isinstance(node, ast.ClassDef):
        return node.bases
    defaults = [*node.args.defaults, *node.args.kw_defaults]
    return [default for default in defaults if default is not None]


def _import_of(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    name = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
    return (
        f"from {node.module} import {name}"
        if isinstance(node, ast.ImportFrom)
        else f"import {name}"
    )


def unfinished(exercise: str, stub: str) -> tuple[Written, ...]:
    """What is left in a cell by someone who ran out of time.

    Args:
        stub: the released cell.
    """
    head = stub[: stub.index("# Your code here")].rstrip()
    indent = " " * 4 if "class " not in head.splitlines()[0] else " " * 8
    kinds = {
        "untouched": stub,
        "pass": f"{head}\n{indent}pass",
        "dots": f"{head}\n{indent}...",
        "half a line": f"{head}\n{indent}scores = (",
        "a name that is not there": f"{head}\n{indent}return reslut",
        "prints instead of returning": f'{head}\n{indent}print("the answer")',
        "commented out": "\n".join(f"# {line}" for line in stub.splitlines()),
        "nothing left": "",
        "a note to the teacher": "I ran out of time here, sorry :(",
    }
    return tuple(
        Written(exercise, "unfinished", label, (), (), source) for label, source in kinds.items()
    )
