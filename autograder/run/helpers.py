"""The course's own functions, to stand in for a learner's that fails its own check.

They come from nbgrader's source, the notebook with the course's answers, and go to a child as code
objects: what one is made of and nothing else, without comments, docstrings or lines of source.
"""

from __future__ import annotations
import __future__

import ast
import marshal
from functools import cached_property

from attnlab.ipynb.read import Unreadable, read
from autograder import Problem
from autograder.sandbox.limits import Limits
from autograder.submission import lookups

FUTURE = __future__.annotations.compiler_flag


class Helpers:
    """Of one lesson.

    Args:
        solution: text of its notebook; '' for none.
    """

    def __init__(self, lesson: str, solution: str, limits: Limits) -> None:
        self._lesson, self._solution, self._limits = lesson, solution, limits
        self._codes: dict[str, bytes] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._programs

    def code(self, name: str) -> bytes:
        """What makes the course's function of this name, from `marshal`."""
        if name not in self._codes:
            self._codes[name] = _compiled(name, self._programs[name])
        return self._codes[name]

    @cached_property
    def _programs(self) -> dict[str, list[lookups.Statement]]:
        """For each exercise, the statements that make the course's function.

        Raises:
            Problem: the solution cannot be read.
        """
        if not self._solution:
            return {}
        program: list[lookups.Statement] = []
        found = {}
        try:
            for index, cell in enumerate(read(self._solution.encode(), self._limits)):
                if cell.kind == "code" and not cell.is_check:
                    program += lookups.statements(index, cell.source)
                if cell.is_solution:
                    found[cell.exercise] = lookups.made_of(cell.exercise, program)[1]
        except (Unreadable, lookups.Unparsed, lookups.TooLong) as error:
            raise Problem(
                f"The solution of {self._lesson} cannot be read: {error or type(error).__name__}."
            ) from error
        return found


def _compiled(name: str, program: list[lookups.Statement]) -> bytes:
    tree = ast.parse("\n".join(part.source for part in program))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body[0] = ast.copy_location(ast.Pass(), node.body[0])
    code = compile(tree, f"<the course's {name}>", "exec", FUTURE, dont_inherit=True)
    return marshal.dumps(code)
