"""How long a learner waits for `check`, per lesson: warm, and the first time in a fresh kernel.

    python -m benchmarks.checking

Warm: every answer that the tests hold, right and wrong, in this process. First: in a kernel of its
own, a few seconds after `begin`, which is when nobody has written an answer yet; beside it what
`import torch` takes there, which is most of what a first check would take without `begin`.
"""

from __future__ import annotations

import statistics
import time

import nbformat
from nbclient import NotebookClient

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


def taken(answer: Answer) -> float:
    """Milliseconds of one check."""
    started = time.perf_counter()
    check(answer.function, name=answer.exercise, lesson=answer.lesson)
    return (time.perf_counter() - started) * 1000


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
    torch = in_a_kernel(FIRST.format(statement="import torch"))
    print(f"{'lesson':18} {'checks':>6} {'median':>7} {'p95':>6} {'longest':>8} {'first':>6}   ms")
    for slug in slugs():
        answers = [answer for answer in all_answers() if answer.lesson == slug]
        taken(answers[0])
        times = [taken(answer) for answer in answers]
        p95 = statistics.quantiles(times, n=20)[-1]
        print(
            f"{slug:18} {len(times):6} {statistics.median(times):7.1f} {p95:6.1f} "
            f"{max(times):8.1f} {first(slug):6}"
        )
    print(f"import torch alone, in a kernel: {torch} ms")


if __name__ == "__main__":
    main()
