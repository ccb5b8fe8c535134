"""A table that another program reads again: single cells are replaced, all other bytes stay.

The text is cut into cells, each with what ends it: `"a,b";9\\n` into `"a,b"` `;` and `9` `\\n`.
These pieces joined are the file, whatever its delimiter, quotes, line ends and byte order mark; a
cell that is replaced is one piece exchanged for another.
"""

from __future__ import annotations

import codecs
import re

from autograder import Problem
from autograder.term.roster import text_of

_DELIMITERS = ",;\t"  # a spreadsheet's, in one country or another
_CODECS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_Row = list[tuple[str, str]]  # cells as they stand in the file, each with what ends it


class Sheet:
    """A table as CSV.

    Args:
        data: the file's bytes.
        where: what to call it.
    Attributes:
        rows: the cells' texts, row by row; a blank line has one cell, which is empty.
        lines: the line of the file in which each row begins.
    Raises:
        Problem: it is no CSV, or in another encoding than UTF-8 or UTF-16.
    """

    def __init__(self, data: bytes, where: str) -> None:
        self.where = where
        self._mark = next((mark for mark in _CODECS if data.startswith(mark)), b"")
        text = text_of(data, where)
        cuts = [(each, *_cut(text, each)) for each in _DELIMITERS]
        self._delimiter, self._cells, wrong = max(cuts, key=_likely)
        if wrong:
            raise Problem(
                f"{where}, line {wrong}, is no CSV: a quote is not closed, or something follows "
                "one that is."
            )
        self.rows = [[_text(cell) for cell, _ in row] for row in self._cells]
        self.lines, line = [], 1
        for row in self._cells:
            self.lines.append(line)
            line += sum((cell + end).count("\n") for cell, end in row)

    def put(self, row: int, column: int, text: str) -> None:
        """Replace a cell, quoted if it was, or if it has to be."""
        cell, end = self._cells[row][column]
        alone = not text and len(self._cells[row]) == 1  # two line ends might become one
        if alone or cell.startswith('"') or set(text) & {self._delimiter, '"', "\r", "\n"}:
            cell = '"' + text.replace('"', '""') + '"'
        else:
            cell = text
        self._cells[row][column] = cell, end
        self.rows[row][column] = text

    def __bytes__(self) -> bytes:
        text = "".join(cell + end for row in self._cells for cell, end in row)
        return self._mark + text.encode(_CODECS.get(self._mark, "utf-8"))


def _cut(text: str, delimiter: str) -> tuple[list[_Row], int]:
    """The rows of a text, and 0; where it cannot be cut, those before, and the line."""
    piece = re.compile(
        rf'("[^"]*(?:""[^"]*)*"|(?!")[^{delimiter}\r\n]*)({delimiter}|\r\n|\r|\n|\Z)'
    )
    rows: list[_Row] = [[]]
    at = 0
    while True:
        found = piece.match(text, at)
        if found is None:
            return rows, text.count("\n", 0, at) + 1
        rows[-1].append((found[1], found[2]))
        at = found.end()
        if found[2] == delimiter:
            continue
        if at == len(text):
            return rows, 0
        rows.append([])


def _likely(cut: tuple[str, list[_Row], int]) -> tuple[bool, int]:
    """How likely a delimiter is the table's: it cuts all of it, and the first line into most."""
    _, rows, wrong = cut
    return not wrong and len(rows[0]) > 1, len(rows[0])


def _text(cell: str) -> str:
    return cell[1:-1].replace('""', '"') if cell.startswith('"') else cell
