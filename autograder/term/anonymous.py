"""Code and messages of learners without what says whose they are, to be shown in class.

Comments and texts below a `def` go, whatever they say, for a learner writes there to people. In
what is left, whatever anybody of the class is called is blotted out. What nobody can know stays: a
style, or a joke that the neighbour remembers.
"""

from __future__ import annotations

import builtins
import io
import keyword
import re
import tokenize
import unicodedata
from collections.abc import Iterable

BLOT = "▒▒▒"
_WORD = re.compile(r"\w+")
_PART = re.compile(r"[^\W_]+")  # of ada_mask
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")  # of adaMask
_COMMENT = re.compile(r"#.*")
_GONE = "\x00"  # marks a line that goes
_LEAST = 2  # characters of a name that is looked for
_SPACE = {tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}


class Anonymous:
    """Blots out a class's names.

    Args:
        names: ids, names, addresses: whatever a student is called.
        course: texts that everybody was given. Their words stay, and so do Python's: `key` is not
            blotted out where a student is called Key.
    """

    def __init__(self, names: Iterable[str], course: Iterable[str] = ()) -> None:
        self._course = "\n".join(course)
        python = [*dir(builtins), *keyword.kwlist, *keyword.softkwlist]
        given = {part for text in (self._course, *python) for part in _PART.findall(_folded(text))}
        whole = {name for name in map(_folded, names) if len(name) >= _LEAST and name not in given}
        parts = {part for name in whole for part in _PART.findall(name)} - given
        self._parts = {part for part in parts if len(part) >= _LEAST and not part.isdigit()}
        self._words = {name for name in whole if _WORD.fullmatch(name)}
        self._longer = sorted(whole - self._words, key=len, reverse=True)

    def code(self, source: str) -> str:
        """A cell's text, to be read and never run again."""
        return self.text(self._stripped(source))

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

    def _stripped(self, source: str) -> str:
        """Without comments, without texts that were given, and with no learner's own text."""
        lines = source.splitlines(keepends=True)
        try:
            tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
        except (tokenize.TokenError, SyntaxError, ValueError):  # then a # in a text goes as well
            return _tidy(_COMMENT.sub("", source))
        for at in range(len(tokens) - 1, 0, -1):
            before, token, after = tokens[at - 1], tokens[at], tokens[at + 1 : at + 2]
            alone = before.type in _SPACE and bool(after) and after[0].type in _SPACE
            if token.type == tokenize.COMMENT:
                _put(lines, token, _GONE if not token.line[: token.start[1]].strip() else "")
            elif token.type == tokenize.STRING and alone:
                _put(lines, token, _GONE if token.string in self._course else '"…"')
        return _tidy("".join(lines))


def _put(lines: list[str], token: tokenize.TokenInfo, text: str) -> None:
    """Text in a token's place; what comes after it is done already."""
    (first, start), (last, end) = token.start, token.end
    lines[first - 1 : last] = [lines[first - 1][:start] + text + lines[last - 1][end:]]


def _tidy(source: str) -> str:
    """Without blanks at the ends of lines, and no more than one empty line at a time."""
    lines = source.splitlines()
    text = "\n".join(line.rstrip() for line in lines if line.strip() != _GONE)
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n")


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).lower().strip()
