"""Mutants: the course's own solutions, each with one small thing changed in its code.

A check that lets a mutant pass either has a hole, or the mutant is right as well. What is right is
written down, with the reason, in `tests/survivors.txt`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from attnlab.checks.verdict import Verdict
from attnlab.lessons import exercises_of
from attnlab.notebook import verdict_on
from tests.course import GIVEN, ROOT, grading, is_exercise, read, solution_path

SURVIVORS = ROOT / "tests" / "survivors.txt"
SECONDS = 4.0
IMPORTS = """
import math
import time
import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
"""  # as the lessons' first cells have them
_OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
}
_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_TWINS = {"max": "min", "min": "max", "sum": "max", "all": "any", "any": "all", "mean": "sum"}
_TWINS |= {"triu": "tril", "tril": "triu", "append": "extend", "exp": "abs", "log": "abs"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """A solution with one thing changed.

    Attributes:
        change: 'axis=-1 → axis=0', with the line that it is in.
        source: of the cell.
    """

    lesson: str
    exercise: str
    change: str
    source: str

    def __str__(self) -> str:
        return f"{self.lesson} {self.exercise}: {self.change}"


@cache
def solutions(lesson: str) -> dict[str, str]:
    """Source of each solution cell, by its exercise, in the lesson's order."""
    cells = filter(is_exercise, read(solution_path(lesson)).cells)
    return {grading(cell).grade_id: cell.source for cell in cells}


@cache
def given(lesson: str) -> str:
    """Source of what a lesson gives its exercises, '' if it gives nothing."""
    cells = [cell for cell in read(solution_path(lesson)).cells if cell.cell_type == "code"]
    found = [cell for cell in cells if grading(cell).get("grade_id") in GIVEN]
    return "\n".join(cell.source for cell in found)


def mutants(lesson: str, exercise: str) -> Iterator[Mutant]:
    """Every solution that differs from an exercise's own in one place."""
    source = solutions(lesson)[exercise]
    tree = ast.parse(source)
    before = ast.unparse(tree)
    seen = {before}
    for place, node in enumerate(_places(tree)):
        line = ast.unparse(_statement(tree, node)).splitlines()[0]
        for way in range(len(list(_variants(node, tree)))):
            other = ast.parse(source)
            list(_variants(list(_places(other))[place], other))[way]()
            ast.fix_missing_locations(other)
            text = ast.unparse(other)
            if text not in seen:
                seen.add(text)
                yield Mutant(lesson, exercise, _change(before, text, line), text)


def _places(tree: ast.AST) -> Iterator[ast.AST]:
    """The parts that make a difference to what is computed: no annotation, no error's text."""
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "exc"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child
                yield from _places(child)


def _variants(node: ast.AST, tree: ast.Module) -> Iterator[Callable[[], None]]:
    """Ways to change a node, each of which does so when called."""

    def swap(name: str, value: object) -> Callable[[], None]:
        return lambda: setattr(node, name, value)

    match node:
        case ast.BinOp(op=op):
            yield from (swap("op", other()) for other in _OPERATORS.get(type(op), ()))
            if not isinstance(op, (ast.Add, ast.Mult)):
                yield lambda: node.__dict__.update(left=node.right, right=node.left)
        case ast.AugAssign(op=op):
            yield from (swap("op", other()) for other in _OPERATORS.get(type(op), ()))
        case ast.Compare(ops=[op]):
            yield from (swap("ops", [other()]) for other in _COMPARISONS.get(type(op), ()))
        case ast.BoolOp(op=op):
            yield swap("op", ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as number)):
            yield lambda: _become(node, ast.Constant(0))
            yield lambda: _become(node, ast.Constant(-number - 1))
        case ast.UnaryOp(operand=operand):
            yield lambda: _become(node, operand)
        case ast.Constant(value=bool() as value):
            yield swap("value", not value)
        case ast.Constant(value=int() | float() as value):
            yield swap("value", value + 1)
            if value:
                yield swap("value", type(value)(0))
        case ast.Attribute(value=ast.Name("math" | "np" | "torch"), attr="inf"):
            yield lambda: _become(node, ast.Constant(100.0))
        case ast.Attribute(attr=attr, ctx=ast.Load()) if attr in _TWINS:
            yield swap("attr", _TWINS[attr])
        case ast.Attribute(value=value, attr="mT" | "T"):
            yield lambda: _become(node, value)
        case ast.Name(id=name, ctx=ast.Load()):
            if name in _TWINS:
                yield swap("id", _TWINS[name])
            yield from (swap("id", other) for other in _others(tree, node, name))
        case ast.Call(args=args, keywords=keywords):
            yield from (swap("keywords", _without(keywords, i)) for i in range(len(keywords)))
            if len(args) == 2:
                yield swap("args", args[::-1])
            if args and not keywords:
                yield lambda: _become(node, args[0])
        case ast.IfExp(test=test) | ast.If(test=test):
            yield swap("test", ast.UnaryOp(ast.Not(), test))
            yield swap("test", ast.Constant(False))
        case ast.Tuple(elts=[first, second], ctx=ast.Load()):
            yield swap("elts", [second, first])
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.Raise)):
        yield lambda: _drop(tree, node)


def _others(tree: ast.Module, node: ast.AST, name: str) -> list[str]:
    """Other parameters of the function around, where this name is one."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and node in list(ast.walk(function)):
            names = [argument.arg for argument in function.args.args if argument.arg != "self"]
            if name in names:
                return [other for other in names if other != name]
    return []


def _without(items: list[Any], index: int) -> list[Any]:
    return [item for position, item in enumerate(items) if position != index]


def _become(node: Any, other: ast.expr) -> None:
    node.__class__ = other.__class__
    node.__dict__.update(other.__dict__)


def _drop(tree: ast.Module, node: ast.AST) -> None:
    for parent in ast.walk(tree):
        for _, field in ast.iter_fields(parent):
            if isinstance(field, list) and node in field:
                field[field.index(node)] = ast.Pass()


def _statement(tree: ast.Module, node: ast.AST) -> ast.stmt:
    """The innermost statement that a node is part of."""
    around = [
        statement
        for statement in ast.walk(tree)
        if isinstance(statement, ast.stmt) and node in list(ast.walk(statement))
    ]
    return around[-1]


def _change(before: str, after: str, line: str) -> str:
    """What differs, as the one line before and the one after."""
    for old, new in zip(before.splitlines(), after.splitlines(), strict=False):
        if old != new:
            return f"{old.strip()} → {new.strip()}"
    return f"{line} → nothing"


def defined(mutant: Mutant) -> Callable[..., Any] | None:
    """What a mutant's cell defines; None where it does not even run."""
    names: dict[str, Any] = {"__name__": "mutant"}
    exec(IMPORTS + given(mutant.lesson), names)
    try:
        for name, source in solutions(mutant.lesson).items():
            own = name == mutant.exercise
            exec(compile(mutant.source if own else source, f"<{mutant}>", "exec"), names)
            if own:
                break
    except Exception:
        return None
    function: Callable[..., Any] = names[mutant.exercise]
    return function


def judged(mutant: Mutant, seeds: tuple[int, ...]) -> Verdict | None:
    """The verdict on a mutant, None where its cell does not even run."""
    function = defined(mutant)
    if function is None:
        return None
    return verdict_on(exercises_of(mutant.lesson)[mutant.exercise], function, seeds, SECONDS)


def survives(verdict: Verdict | None) -> bool:
    return verdict is not None and verdict.status == "PASS"


def reviewed() -> dict[str, str]:
    """Why each mutant that may survive is right, by what it is called."""
    known = {}
    for line in SURVIVORS.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            mutant, _, reason = line.partition("  # ")
            known[mutant.strip()] = reason
    return known
