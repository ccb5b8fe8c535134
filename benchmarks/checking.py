"""How long a learner waits for `check`, per lesson: warm, and the first time in a fresh kernel.

    python -m benchmarks.checking

Warm: every answer that the tests hold, right and wrong, in this process, once its exercise has been
checked before; beside it the same without the time that the answer itself takes, which with loops
over tensors is most of it. First: in a kernel of its own, a few seconds after `begin`, which is
when nobody has written an answer yet; beside it what `import torch` takes there, which is most of
what a first check would take without `begin`.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import Any

import nbformat
from nbclient import NotebookClient

from attnlab.calling import call
from attnlab.lessons import exercises_of, slugs
from attnlab.notebook import check
from tests.answers import Answer, all_answers

READING = 4  # seconds between `begin` and the first check
FIRST = """
import time
started = time.perf_counter()
{statement}
print(round((time.perf_counter() - started) * 1000))
"""


class Watch:
    """Times checks, and within them what answers take to build and to call."""

    def __init__(self) -> None:
        self._within = 0.0
        self._make = call._make
        call._make = self._timed  # type: ignore[assignment]

    def _timed(self, *args: Any) -> Any:
        started = time.perf_counter()
        try:
            return self._make(*args)
        finally:
            self._within += time.perf_counter() - started

    def check(self, answer: Answer) -> tuple[float, float]:
        """Milliseconds of one check: all of it, and without the answer's own."""
        self._within, started = 0.0, time.perf_counter()
        check(answer.function, name=answer.exercise, lesson=answer.lesson)
        whole = time.perf_counter() - started
        return whole * 1000, (whole - self._within) * 1000


def in_a_kernel(*sources: str) -> int:
    """The number that the last of some cells prints, run in a kernel of their own."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return int(notebook.cells[-1].outputs[0].text)


def first(slug: str) -> int:
    """Milliseconds of a lesson's first check, after some reading."""
    name = next(iter(exercises_of(slug)))
    stub = f"from attnlab import begin, check\nbegin({slug!r})\ndef {name}(*args): ..."
    wait = f"import time; time.sleep({READING})"
    return in_a_kernel(stub, wait, FIRST.format(statement=f"check({name})"))


def main() -> None:
    watch = Watch()
    torch = in_a_kernel(FIRST.format(statement="import torch"))
    print(f"{'lesson':18} {'':6}  {'a whole check':^23}  {'without the answer':^23}  {'':>6}")
    columns = f"{'median':>7} {'p95':>7} {'longest':>7}"
    print(f"{'':18} {'checks':>6}  {columns}  {columns}  {'first':>6}  ms")
    for slug in slugs():
        answers = [answer for answer in all_answers() if answer.lesson == slug]
        for answer in {answer.exercise: answer for answer in answers}.values():
            watch.check(answer)
        whole, ours = zip(*map(watch.check, answers), strict=True)
        print(f"{slug:18} {len(answers):6}  {_row(whole)}  {_row(ours)}  {first(slug):6}")
    print(f"import torch alone, in a kernel: {torch} ms")


def _row(times: Sequence[float]) -> str:
    p95 = statistics.quantiles(times, n=20)[-1]
    return f"{statistics.median(times):7.1f} {p95:7.1f} {max(times):7.1f}"


if __name__ == "__main__":
    main()
