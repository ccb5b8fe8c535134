"""Reading code by its names: which cells have to run, and what a person might look at.

What is read here never scores: names accuse the honest and miss the sly. The code is a stranger's,
and is only ever parsed.
"""

from __future__ import annotations

import ast
import contextlib
import re
import symtable
import warnings
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

# Names that nobody needs who answers: ways to what stands beside it. These and what is banned there
# are all that is looked for, as a hint to a person. A single chr() gets past it.
HINTS = frozenset(
    {
        *("_getframe", "currentframe", "f_back", "f_locals", "f_globals", "gi_frame"),
        *("__closure__", "cell_contents", "get_objects", "get_referrers", "ctypes", "calling"),
    }
)
STATEMENTS = 1000  # of one cell
SCOPES = 1000  # functions, classes, comprehensions in one statement: `symtable` takes their square
STEPS = 200_000  # of following names; a lesson's notebook takes some thousands
SCOPED = (
    ast.FunctionDef
    | ast.AsyncFunctionDef
    | ast.ClassDef
    | ast.Lambda
    | ast.ListComp
    | ast.SetComp
    | ast.DictComp
    | ast.GeneratorExp
)
COMPREHENSIONS = ("listcomp", "setcomp", "dictcomp", "genexpr")  # as `symtable` calls them
# Lines that IPython alone understands; of those that time code, the code is kept.
MAGIC = re.compile(
    r"^([ \t]*)(?:%%?(?:timeit|time|prun)\b(?:[ \t]+-[a-z]\S*(?:[ \t]+\d+)?)*(.*)"
    r"|(?:[\w.]+[ \t]*=[ \t]*)?[%!?].*|[\w.]+\?{1,2}[ \t]*)$",
    re.MULTILINE,
)
# A cell in another language, which is not run: `%%bash`, `%%html`.
FOREIGN = re.compile(r"\s*%%(?!(?:timeit|time|prun|capture)\b)\w")
# Without these no text is IPython's dialect, so that what Python cannot parse cannot be run.
DIALECT = re.compile(r"[%!?]|^[ \t]*(?:[/,;]|>>>|In \[)|\A\s*^[ \t]", re.MULTILINE)
# `"name" in globals()` looks up that name, and no other.
ASKED = re.compile(
    r"""(['"])([^\W\d]\w*)\1\s+(?:not\s+)?in\s+(?:globals|locals|vars|dir)\(\)(?!\s*[.\[])"""
)
PARSING_ERRORS = (SyntaxError, ValueError, RecursionError, MemoryError)


class TooLong(Exception):
    """Code whose names cannot be followed in reasonable time."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement at the top level of a notebook.

    Attributes:
        cell: index of its cell.
        binds: names that it gives a value to, or a part of: `a` of `a.b = …` and `a[0] = …`.
        uses: names of the notebook that it looks up, now or when its functions are called.
        later: those of them that its functions look up.
        replaces: whether it surely takes the place of earlier values of these names.
        source: without magics.
    """

    cell: int
    binds: frozenset[str]
    uses: frozenset[str]
    later: frozenset[str]
    replaces: bool
    source: str


class Unparsed(Exception):
    """Code that Python cannot parse, not even without IPython's magics."""


def statements(cell: int, source: str) -> list[Statement]:
    """The top-level statements of a cell.

    Raises:
        Unparsed: it is not Python.
        TooLong: there are more than anyone would write.
    """
    try:
        text, tree = _parsed(source)
        if len(tree.body) > STATEMENTS:
            raise TooLong
        lines = text.encode().split(b"\n")
        return [_statement(cell, lines, node) for node in tree.body]
    except PARSING_ERRORS as error:
        raise Unparsed from error


def hint(source: str, names: Set[str]) -> str:
    """The first of some names that code refers to, '' if there is none.

    An attribute of `self` is a learner's own.
    """
    found: list[str] = []
    for node in _nodes(source):
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") != "self":
            found.append(node.attr)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            said = [getattr(node, "module", "") or "", *(alias.name for alias in node.names)]
            found += [part for path in said for part in path.split(".")]
    return next((name for name in found if name in names), "")


class Names:
    """Where the names of a notebook get their values.

    Args:
        program: all of its statements.
    """

    def __init__(self, program: Sequence[Statement]) -> None:
        self._program = program
        self._binders: defaultdict[str, list[int]] = defaultdict(list)
        for at, statement in enumerate(program):
            for name in statement.binds:
                self._binders[name].append(at)
        self._steps = 0

    def has(self, name: str, before: int) -> bool:
        """Whether a statement gives the name a value before a place."""
        return any(True for _ in self.givers(name, before))

    def givers(self, name: str, before: int) -> Iterator[int]:
        """Places of the statements that may give a name its value at a place, the last first.

        Raises:
            TooLong: more has been asked for than anyone's code needs.
        """
        binders = self._binders.get(name, [])
        for number in range(bisect_left(binders, before) - 1, -1, -1):
            self._steps += 1
            if self._steps > STEPS:
                raise TooLong
            yield binders[number]
            if self._program[binders[number]].replaces:
                return


def made_of(name: str, program: list[Statement]) -> tuple[frozenset[str], list[Statement]]:
    """Names that a function is made of: those it looks up, and those that these look up in turn.

    Args:
        name: the function.
        program: all statements up to where it is checked.
    Returns:
        the names, and the statements that give them their values.
    Raises:
        TooLong: there is more to follow than anyone would write.
    """
    names, end = Names(program), len(program)
    asked: set[tuple[str, int]] = set()
    givers: set[int] = set()
    wanted = [(name, end)]
    while wanted:
        question = wanted.pop()
        if question in asked:
            continue
        asked.add(question)
        for at in names.givers(*question):
            givers.add(at)
            # A name in a function's body is looked up when it is called, others at once.
            wanted += [(used, when) for used in program[at].uses for when in (at, end)]
    return frozenset(asked_for for asked_for, _ in asked), [program[at] for at in sorted(givers)]


def relied_on(
    program: list[Statement], cells: Set[int], asked_for: Iterable[tuple[str, int]]
) -> set[int]:
    """Cells that give a value to a name which some cells look up, or cells that those rely on.

    What a function looks up counts where it is called: from what is asked for, from a statement,
    or at the next place where something is asked for.

    Args:
        program: all statements of a notebook.
        cells: those that are run in any case.
        asked_for: names, and before how many statements each is looked up: where it is checked.
    Returns:
        the other cells that have to be run.
    Raises:
        TooLong: there is more to follow than anyone would write.
    """
    origins = Names(program)
    places: defaultdict[int, list[int]] = defaultdict(list)
    for at, statement in enumerate(program):
        places[statement.cell].append(at)
    # A name, where it is looked up, and where functions that are found there are called.
    wanted = [(name, place, place) for name, place in asked_for]
    checks = sorted({place for _, place, _ in wanted} | {len(program)})
    for at in (at for cell in cells for at in places[cell]):
        for name in program[at].later:
            calls = checks[bisect_left(checks, at + 1) :]
            called = next((end for end in calls if origins.has(name, end)), calls[-1])
            wanted.append((name, called, called))
    asked: set[tuple[str, int, int]] = set()
    found, todo = set(cells), list(cells)
    while todo or wanted:
        for at in places[todo.pop()] if todo else ():
            wanted += [(used, at, at) for used in program[at].uses]
        question = wanted.pop() if wanted else ("", 0, 0)
        if question in asked:
            continue
        asked.add(question)
        name, place, called = question
        for at in origins.givers(name, place):
            wanted += [(used, at, called) for used in program[at].uses]
            wanted += [(used, called, called) for used in program[at].later]
            if (cell := program[at].cell) not in found:
                found.add(cell)
                todo.append(cell)
    return found - cells


def free_names(source: str, parts: Iterable[Statement]) -> frozenset[str]:
    """Names of the notebook that a cell looks up; each word in it, if only IPython may read it.

    Args:
        parts: the cell's statements.
    """
    if parts:
        return frozenset[str]().union(*(part.uses for part in parts))
    if _cannot_look_up(source):
        return frozenset()
    words = "".join(char if char.isalnum() or char == "_" else " " for char in source)
    return frozenset(words.split())


def _cannot_look_up(source: str) -> bool:
    """Whether a cell without statements is nothing but comments and magics, or cannot be run."""
    with contextlib.suppress(*PARSING_ERRORS):
        return not _parsed(source)[1].body
    first, _, rest = source.partition("\n")
    return not DIALECT.search(rest if first.startswith("%%") else source)


def _parsed(source: str) -> tuple[str, ast.Module]:
    """A cell as Python, without magics if it has any, and its tree.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: it is not Python.
    """
    if FOREIGN.match(source):
        return "", ast.Module([], [])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of an odd escape sequence, say
        try:
            return source, ast.parse(source)
        except PARSING_ERRORS:
            plain = MAGIC.sub(lambda line: line[1] + (line[2] or "").strip(), source)
            return plain, ast.parse(plain)


@lru_cache(maxsize=1)  # one cell is read for one thing after the other
def _nodes(source: str) -> tuple[ast.AST, ...]:
    """All of a cell's tree, from the outside in; nothing of what is not Python."""
    try:
        return tuple(ast.walk(_parsed(source)[1]))
    except PARSING_ERRORS:
        return ()


def _statement(cell: int, lines: list[bytes], node: ast.stmt) -> Statement:
    if sum(isinstance(inner, SCOPED) for inner in ast.walk(node)) > SCOPES:
        raise TooLong
    text = _text_of(lines, node)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = symtable.symtable(ASKED.sub(r"(\2)", text), "statement", "exec")
    binds = frozenset(
        symbol.get_name()
        for symbol in table.get_symbols()
        if symbol.is_assigned() or symbol.is_imported()
    ) | _bound_deeper(table)
    simple = isinstance(
        node,
        ast.FunctionDef
        | ast.AsyncFunctionDef
        | ast.ClassDef
        | ast.Assign
        | ast.AnnAssign
        | ast.Import
        | ast.ImportFrom,
    )
    if isinstance(node, ast.AnnAssign) and node.value is None:
        binds = frozenset()  # `x: int` says something of x, and leaves it as it is
    stored = frozenset(_roots_of_stores(node))
    return Statement(
        cell,
        binds | stored,
        _free(table) | stored,
        _free_later(table),
        simple and not stored,
        text,
    )


def _text_of(lines: list[bytes], node: ast.stmt) -> str:
    """A statement's source, its decorators included."""
    decorators = getattr(node, "decorator_list", [])
    start = min([node.lineno, *(item.lineno for item in decorators)])
    assert node.end_lineno is not None
    part = lines[start - 1 : node.end_lineno]
    part[-1] = part[-1][: node.end_col_offset]
    if not decorators:
        part[0] = part[0][node.col_offset :]
    return b"\n".join(part).decode()


def _free(table: symtable.SymbolTable) -> frozenset[str]:
    """Names looked up in the notebook's own namespace, by this code or by functions in it."""
    top = table.get_type() == "module"
    names = {
        symbol.get_name()
        for symbol in table.get_symbols()
        if symbol.is_referenced() and (top or symbol.is_global())
    }
    for child in table.get_children():
        names |= _free(child)
    return frozenset(names)


def _free_later(table: symtable.SymbolTable) -> frozenset[str]:
    """Those of these names that are looked up when a function is called."""
    names: set[str] = set()
    for child in table.get_children():
        called = child.get_type() == "function" and child.get_name() not in COMPREHENSIONS
        names |= _free(child) if called else _free_later(child)
    return frozenset(names)


def _bound_deeper(table: symtable.SymbolTable) -> frozenset[str]:
    """Names that functions assign to after saying `global`."""
    names: set[str] = set()
    for child in table.get_children():
        names |= {
            symbol.get_name()
            for symbol in child.get_symbols()
            if symbol.is_declared_global() and symbol.is_assigned()
        }
        names |= _bound_deeper(child)
    return frozenset(names)


def _roots_of_stores(node: ast.stmt) -> Iterator[str]:
    """`a` of `a.b = …` and `a[0] = …` at the top level."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute | ast.Subscript) and not isinstance(inner.ctx, ast.Load):
            root = _root(inner)
            if isinstance(root, ast.Name):
                yield root.id


def _root(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node
