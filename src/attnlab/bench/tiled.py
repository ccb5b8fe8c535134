"""Attention in tiles, taken from where a lesson's author or a learner wrote it.

It is lesson 11's exercise, so there is no copy here. Of a notebook, or of a file with its code,
the imports are run, the function, and what it uses of that file; nothing else.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attnlab

NAME = "tiled_attention"
BLOCK = 128  # queries and keys in a tile
SOLUTION = Path(attnlab.__file__).parents[2] / "solutions" / "11-cost" / "11-cost.py"
HOW = "give a notebook or a .py with your own: --tiled work/11-cost/11-cost.ipynb"


class Missing(Exception):
    """There is no such function; the text says where it was looked for, and what to do."""


def tiled(path: Path | None = None) -> Callable[..., Any]:
    """The function, as one of q, k, v and causal, in tiles of BLOCK queries and keys.

    Args:
        path: a notebook or a Python file; None takes the course's own solution.
    Raises:
        Missing: there is none.
    """
    if path is None and not SOLUTION.exists():
        raise Missing(f"there are no solutions beside the package; {HOW}")
    path = path or SOLUTION
    if not path.is_file():
        raise Missing(f"there is no file {path}")
    names: dict[str, Any] = {}
    code = ast.Module(_needed(_statements(path), path), type_ignores=[])
    exec(compile(code, str(path), "exec"), names)
    function = names[NAME]

    def run(q: Any, k: Any, v: Any, causal: bool) -> Any:
        return function(q, k, v, BLOCK, causal)

    return run


def _statements(path: Path) -> list[ast.stmt]:
    """What a file says at its top level; a notebook's cell that is no Python is passed over.

    Raises:
        Missing: it is neither a notebook nor Python.
    """
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix != ".ipynb":
            return ast.parse(text).body
        cells = [
            "".join(cell["source"])
            for cell in json.loads(text)["cells"]
            if cell["cell_type"] == "code"
        ]
    except (SyntaxError, ValueError, KeyError, TypeError) as error:
        raise Missing(f"{path} cannot be read: {error}") from None
    found: list[ast.stmt] = []
    for cell in cells:
        try:
            found += ast.parse(cell).body
        except SyntaxError:  # a magic, or a cell that is being written
            continue
    return found


def _needed(statements: list[ast.stmt], path: Path) -> list[ast.stmt]:
    """The imports, the function and whatever it uses, in the file's order.

    Raises:
        Missing: nothing defines the function.
    """
    by_name = {name: each for each in statements for name in _defines(each)}  # the last one counts
    if not isinstance(by_name.get(NAME), ast.FunctionDef):
        raise Missing(f"{path} defines no function {NAME}; {HOW}")
    taken: set[ast.stmt] = set()
    waiting = [by_name[NAME]]
    while waiting:
        one = waiting.pop()
        if one not in taken:
            taken.add(one)
            used = {node.id for node in ast.walk(one) if isinstance(node, ast.Name)}
            waiting += [by_name[name] for name in used & by_name.keys()]
    return [each for each in statements if each in taken]


def _defines(statement: ast.stmt) -> list[str]:
    """The names that a statement gives to something: an import, a definition or an assignment."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return [statement.name]
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return [(name.asname or name.name).partition(".")[0] for name in statement.names]
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        return [name.id for name in names if isinstance(name.ctx, ast.Store)]
    return []
