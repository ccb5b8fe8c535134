"""The base of all figures to touch: inputs in, a state out, and a still picture of it.

    edit in the page ─> change ─> checked ─> computed ─> state ─> drawn in the page
    assignment in Python ─┘            └─> ValueError: said in the page, or raised; nothing changes

JavaScript never computes a number that is shown. It sends what was typed, and draws `state`.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np
import traitlets
from anywidget import AnyWidget

from attnlab.figures import palette
from attnlab.figures.arrays import as_array
from attnlab.figures.live import ramp
from attnlab.small.grammar import as_labels

RECORDINGS = "ATTNLAB_RECORDINGS"  # names a folder: what is displayed is recorded there
MOST = 32  # tokens along an edge: as many cells as are drawn at once without a delay
Values = dict[str, Any]
STALE = "the figure has changed meanwhile, and this no longer fits it; please try again"
_HERE = files("attnlab.figures.live")
SHARED = ("figure", "motion")  # modules that all figures may import from
_SHARED_IMPORT = re.compile(
    rf'^import \{{[^}}]*\}} from "\./({"|".join(SHARED)})\.mjs";\n', re.MULTILINE
)


def source(name: str) -> str:
    """The module of a figure and what it imports from those that are shared, as one module.

    anywidget hands the browser one text with no address, from which nothing can be imported.
    """
    texts = ((_HERE / f"{stem}.mjs").read_text(encoding="utf-8") for stem in (*SHARED, name))
    return "\n".join(_SHARED_IMPORT.sub("", text) for text in texts)


def style(name: str = "") -> str:
    """All colours, figure.css, and a figure's own rules where it has some.

    Those count more than shared ones in any order: a page has the sheets of all its figures.
    """
    shared = (_HERE / "figure.css").read_text(encoding="utf-8")
    own = (_HERE / f"{name}.css").read_text(encoding="utf-8") if name else ""
    own = own.replace(".attn-figure", ".attn-figure.attn-figure")
    colours = [each.style(".attn-figure") for each in (palette, ramp)]
    return "\n".join([*colours, shared, own])


class Input:
    """One of a figure's inputs: reading gives its value, assigning computes the figure again."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, figure: Any, owner: type | None = None) -> Any:
        return self if figure is None else figure._inputs[self.name]

    def __set__(self, figure: Any, value: Any) -> None:
        figure.change(**{self.name: value})


class Figure(AnyWidget):
    """A figure that a reader can touch.

    A figure declares its inputs as `Input`, sets `title` and `_esm`, and writes `checked`,
    `computed`, `summary` and `fallback`. An input may have any name that no widget has: `keys` is
    taken. What a reader sets in the page is an input, or else a trait that is synced: the page
    alone would not have it after a reload.

    Attributes:
        state: what the page draws, as JSON; made by `computed` and by nothing else.
        problem: what was wrong with the last edit, '' if nothing was.
    """

    _css = style()
    title = traitlets.Unicode().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)
    problem = traitlets.Unicode().tag(sync=True)

    def __init__(self, **inputs: Any) -> None:
        self._alone = RLock()  # JupyterLab's messages come to a thread of their own
        self._set_at: dict[str, float] = {}
        self._inputs = self.checked(inputs)
        super().__init__(state=self.computed(self._inputs))
        self.on_msg(self._receive)

    # What a figure writes for itself -----------------------------------------------------------

    def checked(self, inputs: Values) -> Values:
        """The inputs in their one form.

        Raises:
            ValueError: with a sentence for the reader, if an input cannot be used.
        """
        raise NotImplementedError

    def computed(self, inputs: Values) -> Values:
        """What is drawn, as JSON, from inputs that are `checked`."""
        raise NotImplementedError

    def summary(self) -> str:
        """What there is to see, in a sentence or two, for `repr` and for those who do not see."""
        raise NotImplementedError

    def fallback(self) -> str:
        """The figure as HTML without scripts, for where no kernel runs."""
        raise NotImplementedError

    def controls(self) -> dict[str, Sequence[Any]] | None:
        """For each input that a recording moves, its values; what the page does alone needs none.

        None where a recording would say what the figure keeps to itself.
        """
        return {}

    # What all figures do -----------------------------------------------------------------------

    def change(self, **inputs: Any) -> None:
        """Change inputs together: all of them, or none.

        Raises:
            ValueError: an input cannot be used; the figure stays as it was.
        """
        unknown = inputs.keys() - self._inputs.keys()
        if unknown:
            raise ValueError(f"{self.title} has no input {', '.join(sorted(unknown))}")
        with self._alone:
            checked = self.checked({**self._inputs, **inputs})
            state = self.computed(checked)
            self._inputs = checked
            self.state = state
            self.problem = ""

    def edit(self, name: str, row: int, column: int, text: str) -> None:
        """Put what was typed into one cell of an input.

        Args:
            name: of an input that is a matrix.
            row: of the cell.
            column: of the cell.
            text: what was typed.
        Raises:
            ValueError: it is not a number, or not one that the figure can use.
        """
        matrix = np.array(self._inputs[name])
        matrix[row, column] = number(text)
        self.change(**{name: matrix})

    def _receive(self, _: Any, message: Values, buffers: Any) -> None:
        """Do what the page asks.

        Args:
            message: {"change": {input: value, …}} or {"edit": [input, row, column, text]}; and
                "at", when it left.
        """
        with self._alone:
            self.problem = ""  # so that the same problem, met twice, is said twice
            try:
                self._do(message)
            except ValueError as error:
                self.problem = str(error)
            except (IndexError, KeyError, TypeError):
                self.problem = STALE  # what the page showed was one step behind

    def _do(self, message: Values) -> None:
        """Do what the page asks, or raise."""
        if "edit" in message:
            self.edit(*message["edit"])
        elif newest := self._newest(message["change"], message.get("at")):
            self.change(**newest)

    def _newest(self, change: Values, at: float | None) -> Values:
        """What of a change was not set again since: messages may overtake each other."""
        if at is None:
            return change
        newest = {name: to for name, to in change.items() if self._set_at.get(name, 0.0) <= at}
        self._set_at |= dict.fromkeys(newest, at)
        return newest

    def __repr__(self) -> str:
        return f"{self.title}: {self.summary()}"

    def _repr_mimebundle_(self, **options: Any) -> Any:
        data, metadata = super()._repr_mimebundle_(**options) or ({}, {})
        if folder := os.environ.get(RECORDINGS):
            import_module("attnlab.figures.live.recording").keep(self, Path(folder))
        return {**data, "text/html": self.fallback()}, metadata


class WithRows(Figure):
    """A figure that has a row for each query, of which one is chosen.

    Attributes:
        row: the chosen one; assigning to it moves the choice in the page.
        queries: what in the state has a label for each row.
    """

    row = traitlets.Int(0).tag(sync=True)
    queries = "queries"

    @traitlets.validate("row")
    def _row_is_there(self, proposal: Any) -> int:
        row, count = proposal["value"], len(self.state[self.queries])
        if not 0 <= row < count:
            raise traitlets.TraitError(f"there is no row {row}; rows are 0 to {count - 1}")
        return int(row)

    def change(self, **inputs: Any) -> None:
        super().change(**inputs)
        self.row = min(self.row, len(self.state[self.queries]) - 1)


def number(text: Any) -> float:
    """What was typed, as a finite number.

    Raises:
        ValueError: it is not one.
    """
    written = str(text).strip().replace("−", "-")
    try:
        if "_" in written:  # Python reads 1_0 as 10, and nobody else does
            raise ValueError
        value = float(written)
    except ValueError:
        raise ValueError(f"“{text}” is not a number") from None
    if not np.isfinite(value):
        raise ValueError(f"“{text}” is not a finite number")
    return value


def whole(name: str, given: Any, least: int, most: int) -> int:
    """A whole number within bounds.

    Raises:
        ValueError: it is not one.
    """
    value = number(given)
    if value != int(value) or not least <= value <= most:
        raise ValueError(f"{name} is {value:g}; it has to be a whole number, {least} to {most}")
    return int(value)


def short(value: float) -> str:
    """Two decimals, or a power of ten where they would show 0."""
    if value >= 0.01 or value == 0:
        return f"{value:.2f}"
    digits, power = f"{value:.0e}".split("e")
    return f"{digits} · 10{raised(int(power))}"


def raised(power: int) -> str:
    """A power as it stands above the line."""
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def array(name: str, data: Any, shape: Sequence[int | None]) -> np.ndarray:
    """Lists, an array or a tensor, as finite float64 that nobody can change in place.

    Args:
        name: for messages.
        data: of the shape.
        shape: the sizes, None where any is right.
    Raises:
        ValueError: it holds something else, or has another shape.
    """
    try:
        numbers = as_array(data).copy()
    except (TypeError, ValueError):
        raise ValueError(f"{name} has to hold numbers, in rows of the same length") from None
    fits = numbers.ndim == len(shape) and all(
        wanted in (None, size) for size, wanted in zip(numbers.shape, shape, strict=True)
    )
    if not fits:
        wanted = " × ".join("any" if size is None else str(size) for size in shape)
        raise ValueError(f"{name} has shape {numbers.shape}, and {wanted} is needed")
    if not np.isfinite(numbers).all():
        where = tuple(int(at) for at in np.argwhere(~np.isfinite(numbers))[0])
        raise ValueError(f"{name} holds {numbers[where]} at {list(where)}; all has to be finite")
    numbers.setflags(write=False)
    return numbers


def names(name: str, words: Iterable[Any], most: int = MOST) -> list[str]:
    """Labels of rows or columns.

    Raises:
        ValueError: there are none, or more than fit.
    """
    labels = [str(word) for word in words]
    if not 1 <= len(labels) <= most:
        raise ValueError(f"there are {len(labels)} {name}; 1 to {most} can be shown")
    return labels


def told_apart(tokens: Sequence[str]) -> list[str]:
    """Labels for names and sentences: the second of its kind is called that, “the, 2nd”.

    Args:
        tokens: of rows or columns, in their order.
    """
    labels = as_labels(tokens)
    counts, met = Counter(labels), Counter[str]()
    named = []
    for label in labels:
        met[label] += 1
        named.append(f"{label}, {ordinal(met[label])}" if counts[label] > 1 else label)
    return named


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, …, for numbers below 100."""
    endings = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{'th' if 11 <= number <= 13 else endings.get(number % 10, 'th')}"
