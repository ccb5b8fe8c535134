"""A syntax tree without what differs between two spellings of one program.

Comments and layout are in no tree. Docstrings, type hints and imports are taken out, and names that
a program gives are numbered, each in its scope, in the order in which they are met. A name that it
does not give, `torch` or `len`, stays: it says what is called.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_Inner = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef | _Comprehension


def normal(tree: ast.Module) -> ast.Module:
    """The tree, changed in place.

    Raises:
        RecursionError: it is nested too deeply.
    """
    namer = _Namer(tree)
    namer.visit(tree)
    return tree


class _Namer(ast.NodeTransformer):
    """Walks through a program once, with the scopes that it is in.

    Attributes:
        scopes: from the outermost: each name's number, None until it is met.
        attributes: the same of what is written into an object, as in `self.W = …`.
        imported: what an import's name stands for.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.scopes: list[dict[str, int | None]] = [dict.fromkeys(_bound(tree.body))]
        self.attributes: dict[str, int | None] = {}
        self.imported: dict[str, str] = {}
        self._count = 0
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                self.attributes[node.attr] = None
            elif isinstance(node, ast.Import):
                named = [alias for alias in node.names if alias.asname]
                self.imported |= {alias.asname or "": alias.name for alias in named}
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    self.imported[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    # Names

    def _number(self, names: dict[str, int | None], name: str) -> str:
        if names[name] is None:
            self._count += 1
            names[name] = self._count
        return f"_{names[name]}"

    def _named(self, name: str) -> str:
        for scope in reversed(self.scopes):
            if name in scope:
                return self._number(scope, name)
        return self.imported.get(name, name)

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._named(node.id)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """`math.sqrt` is one name, as it is after `from math import sqrt`."""
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and not node.value.id.startswith("_"):
            return ast.Name(f"{node.value.id}.{node.attr}", node.ctx)
        if node.attr in self.attributes:
            node.attr = self._number(self.attributes, node.attr)
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        own = isinstance(node.func, ast.Name) and any(node.func.id in each for each in self.scopes)
        self.generic_visit(node)
        if own:  # what the parameters of a function of theirs are called
            for keyword in node.keywords:
                keyword.arg = keyword.arg and "_"
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        node.name = node.name and self._named(node.name)
        return self._body(node)

    # Scopes

    def _inside(self, bound: Iterable[str], nodes: Iterable[ast.AST]) -> None:
        self.scopes.append(dict.fromkeys(bound))
        for node in nodes:
            self.visit(node)
        self.scopes.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef, method: bool = False) -> ast.FunctionDef:
        if not method:
            node.name = self._named(node.name)
        node.returns = None
        self._outside(node.args)
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        node.body = _telling(node.body)
        self.scopes.append(dict.fromkeys([*_parameters(node.args), *_bound(node.body)]))
        self._rename(node.args)
        node.body = [self.visit(each) for each in node.body]
        self.scopes.pop()
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        self._outside(node.args)
        self.scopes.append(dict.fromkeys(_parameters(node.args)))
        self._rename(node.args)
        node.body = self.visit(node.body)
        self.scopes.pop()
        return node

    def _outside(self, arguments: ast.arguments) -> None:
        """Defaults belong to the scope around a function."""
        arguments.defaults = [self.visit(each) for each in arguments.defaults]
        arguments.kw_defaults = [each and self.visit(each) for each in arguments.kw_defaults]

    def _rename(self, arguments: ast.arguments) -> None:
        for each in _arguments(arguments):
            each.arg, each.annotation = self._named(each.arg), None

    def _comprehension(self, node: _Comprehension) -> ast.AST:
        """Its generators come first, for they give the names."""
        targets = [each.target for each in node.generators]
        self.scopes.append(dict.fromkeys(_bound(targets)))
        node.generators = [self.visit(each) for each in node.generators]
        for field in ("key", "value", "elt"):
            if hasattr(node, field):
                setattr(node, field, self.visit(getattr(node, field)))
        self.scopes.pop()
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """What a class's body names is asked for by that name, from outside: it stays."""
        node.name = self._named(node.name)
        node.bases = [self.visit(each) for each in node.bases]
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        node.body = [
            self.visit_FunctionDef(each, method=True)
            if isinstance(each, ast.FunctionDef)
            else self.visit(each)
            for each in _telling(node.body)
        ]
        return node

    # What says nothing

    def _body(self, node: ast.AST) -> ast.AST:
        for field in ("body", "orelse", "finalbody"):
            statements = getattr(node, field, None)
            if isinstance(statements, list):
                setattr(node, field, _telling(statements))
        return self.generic_visit(node)

    visit_Module = visit_If = visit_For = visit_While = visit_With = visit_Try = _body

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        assert node.value is not None  # else it was taken out
        return self.visit(ast.Assign([node.target], node.value, lineno=node.lineno))


def _telling(statements: list[ast.stmt]) -> list[ast.stmt]:
    """Without docstrings, ellipses, `pass`, imports and hints of a type alone."""
    return [each for each in statements if not _says_nothing(each)]


def _says_nothing(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Import() | ast.ImportFrom() | ast.Expr(ast.Constant()):
            return True
        case ast.AnnAssign(value=None):
            return True
    return False


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    rest = filter(None, [arguments.vararg, arguments.kwarg])
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *rest]


def _parameters(arguments: ast.arguments) -> list[str]:
    return [each.arg for each in _arguments(arguments)]


def _bound(nodes: Iterable[ast.AST]) -> list[str]:
    """The names that some code of one scope gives, imports aside."""
    names, outer = [], set()
    for node in _own(nodes):
        match node:
            case ast.Name(name, ast.Store() | ast.Del()):
                names.append(name)
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                names.append(name)
            case ast.ExceptHandler(_, str() as name):
                names.append(name)
            case ast.Global(found) | ast.Nonlocal(found):
                outer.update(found)
    return [name for name in names if name not in outer]


def _own(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of one scope: those of the scopes inside it are not."""
    for node in nodes:
        yield node
        if not isinstance(node, _Inner):
            yield from _own(ast.iter_child_nodes(node))
