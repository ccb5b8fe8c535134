"""Attention on a learner's own sentence, by a function of their own where one gives it.

What the small model's heads are asked and promised goes through the function that they wrote. It
is run as `check-mine` runs a notebook: in a kernel, from a copy of the file that is not written.
Only what it may need is run: the set-up, answers, and cells of their own before it. The kernel's
folder is an empty one, so no progress is noted of a run that nobody asked for.
"""

from __future__ import annotations

import json
import math
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnlab import small
from attnlab.home.check_mine import Run, Stopped, run_in_kernel
from attnlab.home.copies import Amiss, own_copy
from attnlab.home.own import OWN, weights_of
from attnlab.ipynb.read import cell_of
from attnlab.work.places import Course, Refused

SENTENCE = "the king behind the dogs that the boy sees"
MOST = 20  # words that fit the picture
ROLES = ("subject", "previous", "repeat")
SHOWN = "application/json"
TOLERANCE = 1e-4  # of float32, in whatever order a machine adds


@dataclass(frozen=True, slots=True)
class Heard:
    """Who listens to whom in a sentence.

    Attributes:
        words: N, the first is <s>.
        weights: (N, N), rows are queries.
        layer, head: of the small model, counted from 1.
        role: what that head does in it, one of ROLES.
        lesson: of the function that computed it, '' if the small model's own did.
    """

    words: tuple[str, ...]
    weights: tuple[tuple[float, ...], ...]
    layer: int
    head: int
    role: str
    lesson: str = ""

    @property
    def exercise(self) -> str:
        return OWN.get(self.lesson, "")


def in_words_of_the_model(sentence: str) -> tuple[str, ...]:
    """A sentence's words, as the small model knows them, after the one that begins its texts.

    Raises:
        Refused: one is unknown, or they are too few or too many.
    """
    found = re.findall(rf"{small.START}|\w+|[^\w\s]", sentence.lower())
    words = tuple(word for word in found if word != small.START)
    if not 2 <= len(words) <= MOST:
        raise Refused(f"The sentence has {len(words)} words; 2 to {MOST} fit the picture.")
    try:
        small.known(words)
    except ValueError as why:
        said = str(why)
        raise Refused(f"{said[0].upper()}{said[1:]}") from None
    return (small.START, *words)


def hear(course: Course, words: Sequence[str], run: Run = run_in_kernel) -> Heard:
    """Ask the learner's own functions, one after the other, until one gives what the model gives.

    Raises:
        Stopped: not even the small model could be asked.
    """
    for slug, cells in _written(course):
        with suppress(Stopped):
            found = _asked(words, slug, cells, run)
            if found is not None:
                return found
    found = _asked(words, "", [], run)
    if found is None:
        raise Stopped("The small model could not be asked. `attnlab doctor` helps.")
    return found


def _written(course: Course) -> Iterator[tuple[str, list[str]]]:
    """Lessons in which such a function is written, with the cells that it may need."""
    for slug, exercise in OWN.items():
        with suppress(Amiss):
            cells = [cell for cell in own_copy(course, slug).cells if cell.kind == "code"]
            names = [cell.grade_id for cell in cells]
            if exercise in names and cells[names.index(exercise)].is_written:
                needed = cells[: names.index(exercise) + 1]
                yield (
                    slug,
                    [
                        cell.source
                        for cell in needed
                        if cell.grade_id == "setup" or (cell.is_theirs and not cell.is_check)
                    ],
                )


def _asked(words: Sequence[str], slug: str, cells: Sequence[str], run: Run) -> Heard | None:
    """What a kernel shows after these cells; None if the function does not give the weights."""
    mine = f", {slug!r}, {OWN[slug]}" if slug else ""
    last = f"from attnlab.home.listening import show\nshow({list(words)!r}{mine})"
    sources = [*cells, last]
    with tempfile.TemporaryDirectory() as folder:
        ran = run(Path(folder), _notebook(sources), lambda: None)
    shown = [item for item in ran if (cell := cell_of(item)) and cell.source == last]
    for output in shown[-1].get("outputs", []) if shown else []:
        with suppress(KeyError, TypeError, ValueError, AttributeError):
            return _heard(tuple(words), slug, output["data"][SHOWN])
    return None


def _notebook(sources: Sequence[str]) -> bytes:
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "id": f"c{at}", "metadata": {}, "source": source}
        | {"outputs": [], "execution_count": None}
        for at, source in enumerate(sources)
    ]
    whole = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole).encode("utf-8", "replace")


def _heard(words: tuple[str, ...], slug: str, found: Any) -> Heard:
    """What came back, if it is what it has to be: a learner's cells may show anything."""
    weights = tuple(tuple(float(each) for each in row) for row in found["weights"])
    layer, head, role = int(found["layer"]), int(found["head"]), found["role"]
    square = [len(row) for row in weights] == [len(words)] * len(words)
    if not square or role not in ROLES:
        raise ValueError("not the weights of these words")
    for i, row in enumerate(weights):
        fits = math.isclose(sum(row), 1, abs_tol=1e-3) and not any(row[i + 1 :])
        if not fits or not all(0 <= each <= 1 for each in row):
            raise ValueError("not weights")
    return Heard(words, weights, layer, head, role, slug)


# In the kernel ------------------------------------------------------------------------------------


def show(words: Sequence[str], slug: str = "", function: Callable[..., Any] | None = None) -> None:
    """Show the weights of one head, as a function gives them; nothing if they are not the model's.

    Of the heads whose part in the model is known, it is the one whose last word listens hardest to
    one of the others.
    """
    import numpy as np
    from IPython.display import display

    every = small.weights(words)
    heads = {role: small.head(role) for role in ROLES}
    role = max(heads, key=lambda each: _hardest(every[heads[each][0]][heads[each][1]]))
    layer, head = heads[role]
    right = every[layer][head]
    found = right
    if function is not None:
        given = (part.tolist() for part in small.given(words, layer, head))
        found = np.asarray(weights_of(function, slug, *given), dtype=float)
        if found.shape != right.shape or not np.allclose(found, right, rtol=0, atol=TOLERANCE):
            return
    shown = {"weights": found.round(6).tolist(), "role": role}
    display({SHOWN: shown | {"layer": layer + 1, "head": head + 1}}, raw=True)


def _hardest(weights: Any) -> float:
    """The largest weight from the last word to another that is not the first, <s>."""
    return float(max(weights[-1, 1:-1]))
