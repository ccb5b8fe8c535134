"""Code and messages of learners without what says whose they are, to be shown in class.

Comments and texts that stand alone go, whatever they say, for a learner writes there to people, and
so does how lines are broken. In what is left, whatever anybody of the class is called is blotted
out. What nobody can know stays: a style, or a joke that the neighbour remembers.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import unicodedata
from collections.abc import Iterable

BLOT = "▒▒▒"
_WORD = re.compile(r"\w+")
_PART = re.compile(r"[^\W_]+")  # of ada_mask
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")  # of adaMask
_COMMENT = re.compile(r"#.*")
_LEAST = 2  # characters of a name that is looked for


class Anonymous:
    """Blots out a class's names.

    Args:
        names: ids, names, addresses: whatever a student is called.
        course: texts that everybody was given. Their words stay, and so do Python's: `key` is not
            blotted out where a student is called Key.
    """

    def __init__(self, names: Iterable[str], course: Iterable[str] = ()) -> None:
        python = [*dir(builtins), *keyword.kwlist, *keyword.softkwlist]
        given = {part for text in (*course, *python) for part in _PART.findall(_folded(text))}
        whole = {name for name in map(_folded, names) if len(name) >= _LEAST and name not in given}
        parts = {part for name in whole for part in _PART.findall(name)} - given
        self._parts = {part for part in parts if len(part) >= _LEAST and not part.isdigit()}
        self._words = {name for name in whole if _WORD.fullmatch(name)}
        self._longer = sorted(whole - self._words, key=len, reverse=True)

    def code(self, source: str) -> str:
        """A cell's text, to be read and never run again."""
        return self.text(_stripped(source))

    def text(self, text: str) -> str:
        """A text without names."""
        folded = _folded(text)
        for name in self._longer:
            if name in folded:
                text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", BLOT, text, flags=re.IGNORECASE)
        return _WORD.sub(self._blotted, text)

    def _blotted(self, found: re.Match[str]) -> str:
        word = found[0]
        parts = {*_PART.findall(_folded(word)), *_PART.findall(_folded(_HUMP.sub("_", word)))}
        named = _folded(word) in self._words or not parts.isdisjoint(self._parts)
        return BLOT if named else word


def _stripped(source: str) -> str:
    """Without comments and without texts that stand alone, as below a `def`."""
    try:
        tree = ast.parse(source)
        for node in ast.walk(tree):
            for part in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
                if part and isinstance(part, list):  # that of a lambda is none
                    part[:] = [each for each in part if not _is_text(each)] or [ast.Pass()]
        return ast.unparse(tree)
    except (SyntaxError, ValueError, RecursionError):  # then a # in a text goes as well
        return _COMMENT.sub("", source)


def _is_text(node: ast.stmt) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).lower().strip()
