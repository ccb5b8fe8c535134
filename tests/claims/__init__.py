"""What the lessons say, each with an experiment that could refute it.

Each module is for the lesson whose name it has, `causal_mask` for '06-causal-mask'. A claim quotes
the lesson word for word and runs an experiment, most of them the lesson's own code by other seeds:
`taught` gives what its cells define. `tests/test_claims.py` finds the words and runs them all.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from attnlab import quizzes
from attnlab.lessons import known, name_of, slugs
from tests.course import code_cells, read, solution_path

SEEDS = (7001, 7002, 7003)  # no lesson draws by them
_SENTENCE_END = re.compile(r"(?<=[.?])\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class Claim:
    """Sentences of a lesson, and what would refute them.

    Attributes:
        lesson: slug.
        quotes: the sentences, word for word.
        experiment: fails if they are false; takes a seed if it draws, else nothing.
        long: whether it takes more than a second, so that `make prove` runs it alone.
        gpu: whether it needs a GPU, and is run nowhere else.
    """

    lesson: str
    quotes: tuple[str, ...]
    experiment: Callable[..., None]
    long: bool
    gpu: bool

    @property
    def draws(self) -> bool:
        return "seed" in inspect.signature(self.experiment).parameters

    def __str__(self) -> str:
        return f"{self.lesson}-{self.experiment.__name__}"


_claims: list[Claim] = []


class Lesson:
    """Decorators that file a lesson's claims."""

    def __init__(self, slug: str) -> None:
        self.slug = known(slug)

    def says(
        self, *quotes: str, long: bool = False, gpu: bool = False
    ) -> Callable[[Callable[..., None]], Callable[..., None]]:
        """File an experiment under the sentences that it could refute."""

        def file(experiment: Callable[..., None]) -> Callable[..., None]:
            _claims.append(Claim(self.slug, quotes, experiment, long, gpu))
            return experiment

        return file


def all_claims() -> tuple[Claim, ...]:
    for slug in slugs():
        import_module(f"{__name__}.{name_of(slug)}")
    return tuple(_claims)


@cache
def taught(slug: str) -> Any:
    """What a lesson's cells define: functions, classes, imports and Constants, by their names.

    The first of each name counts, as later ones are broken on purpose. Nothing else of the lesson
    runs, so a constant (its name has a capital letter first) that is made of more is left out, and
    so is what is decorated by more.
    """
    kept: list[ast.stmt] = []
    names = set(vars(builtins))
    for cell in code_cells(read(solution_path(slug))):
        for node in ast.parse(cell.source).body:
            found = set(_defined(node, names)) - names
            if found or isinstance(node, ast.ImportFrom | ast.Import):
                kept.append(node)
            names |= found
    space = ModuleType(slug)
    unread = annotations.compiler_flag  # types may name what is left out
    exec(compile(ast.Module(kept, []), slug, "exec", unread), vars(space))
    return space


def _defined(node: ast.stmt, names: set[str]) -> list[str]:
    match node:
        case ast.FunctionDef() | ast.ClassDef():
            decorators = [part for each in node.decorator_list for part in ast.walk(each)]
            used = {part.id for part in decorators if isinstance(part, ast.Name)}
            return [node.name] if used <= names else []
        case ast.Import() | ast.ImportFrom():
            return [(each.asname or each.name).partition(".")[0] for each in node.names]
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=ast.expr() as value)
            | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
        ) if name[0].isupper():
            named = [each for each in ast.walk(value) if isinstance(each, ast.Name)]
            own = {each.id for each in named if isinstance(each.ctx, ast.Store)}
            return [name] if {each.id for each in named} <= names | own else []
    return []


@cache
def prose(slug: str) -> str:
    """A lesson's words as one line: without links' addresses and references in brackets."""
    cells = read(solution_path(slug)).cells
    asked = [each for questions in quizzes.of(slug).values() for each in questions]
    said = [text for each in asked for text in (each.asked, *each.choices, *each.answers)]
    said += [cell.source for cell in cells if cell.cell_type == "markdown"]
    return plain("\n".join(said))


def take_away(slug: str) -> list[str]:
    """The sentences of the list that a lesson's take-away begins with."""
    cells = read(solution_path(slug)).cells
    [cell] = [cell for cell in cells if cell.source.startswith("## Take away")]
    items = re.split(r"^(?:\d+\.|-) ", cell.source.split("\n\n")[1], flags=re.MULTILINE)[1:]
    return [sentence for item in items for sentence in sentences(plain(item))]


def plain(markdown: str) -> str:
    """Markdown as it is quoted: without addresses and line breaks, small formulas as typed."""
    for formula, typed in _TYPED:
        markdown = formula.sub(typed, markdown)
    link = r"\[[^]]*\]\((?:[^()]|\([^()]*\))*\)"
    unbracketed = re.sub(rf"\s*\({link}(?:,\s+{link})*\)", "", markdown)
    return " ".join(re.sub(r"\[([^]]*)\]\((?:[^()]|\([^()]*\))*\)", r"\1", unbracketed).split())


_TYPED = (
    (re.compile(r"\$(1/)?\\sqrt\{(\w_\w)\}\$"), r"\1√\2"),
    (re.compile(r"\$((?:1/)?\w_\w)\$"), r"\1"),
    (re.compile(r"\$(\w_\w)\^T\$"), r"\1ᵀ"),
    (re.compile(r"\$-(\\log\b[^$]*)\$"), r"$−\1$"),
    (re.compile(r"\$(−|p )?\\(log\b[^$]*)\$"), r"\1\2"),
)


def sentences(line: str) -> list[str]:
    return [each for each in _SENTENCE_END.split(line) if each]


def nearest(quote: str, slug: str) -> str:
    """The sentence of a lesson that is most like a text."""
    return max(sentences(prose(slug)), key=lambda each: SequenceMatcher(None, quote, each).ratio())
