"""The hostile class handed in, graded and looked over: a course in a temporary folder.

Between the attacks sit honest students, who must not notice. Attacks that have to be waited for are
graded in this process with short limits, all others by `python -m autograder grade`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.run.grade import Grader
from autograder.sandbox.limits import Limits
from tests.attacks import LEFT_BEHIND, Attack
from tests.course import ROOT, copy_to, grading, is_check, is_exercise, released_path
from tests.test_nbgrader import right_notebook

HONEST = "honest"
EVERY = 5  # attacks to one honest student
SHORT = Limits(
    cell_seconds=1.5,
    our_cell_seconds=20,
    call_seconds=1.5,
    grace_seconds=0.5,
    submission_seconds=60,
)
SEED = 7
RESULT = Mapping[str, Any]
STEPS = {"on the notebook", "in the folder"}


class Notebook:
    """A right notebook, for an attack to change."""

    def __init__(self, lesson: str) -> None:
        self.lesson = lesson
        self._node = right_notebook(lesson)

    @property
    def node(self) -> NotebookNode:
        return self._node

    @property
    def cells(self) -> list[NotebookNode]:
        cells: list[NotebookNode] = self._node.cells
        return cells

    @cells.setter
    def cells(self, cells: list[NotebookNode]) -> None:
        self._node.cells = cells

    @property
    def metadata(self) -> NotebookNode:
        return self._node.metadata

    def cell(self, name: str) -> NotebookNode:
        """The cell with a grade_id."""
        [cell] = [cell for cell in self.cells if grading(cell).get("grade_id") == name]
        return cell

    def solution(self, exercise: str) -> NotebookNode:
        cell = self.cell(exercise)
        assert is_exercise(cell)
        return cell

    def checks(self) -> list[NotebookNode]:
        return [cell for cell in self.cells if is_check(cell)]


SHARED = {
    "WHOLE_MATRIX": """\
def whole(q, k, v, causal):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if causal:
        n, m = scores.shape[-2:]
        scores = scores.masked_fill(torch.ones(n, m, dtype=torch.bool).triu(1), float("-inf"))
    return torch.softmax(scores, dim=-1) @ v
""",
    "ATTENTION_BY_MIX": """\
def attention(x, Wq, Wk, Wv):
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    n, d = q.shape[-2:]
    one, mask = torch.eye(d, dtype=q.dtype), nn.Transformer.generate_square_subsequent_mask(n).to(q)
    q, k = (each.reshape(-1, n, d).transpose(0, 1) for each in (q, k))
    nothing = 5 * (None,)
    _, weights = mix(
        *(q, k, k, d, 1, *nothing[:4], False, 0.0, one, None),
        **dict(training=False, attn_mask=mask, use_separate_proj_weight=True),
        **dict(q_proj_weight=one, k_proj_weight=one, v_proj_weight=one),
    )
    weights = weights.reshape(*x.shape[:-1], n)
    return weights @ v, weights
""",
}


def tampered(attack: Attack, port: int) -> Notebook:
    """The right notebook with an attack's cells in it."""
    notebook = Notebook(attack.lesson)
    for where, source in attack.cells:
        if where in STEPS:
            continue
        for name, text in {"PORT": str(port), **SHARED}.items():
            source = source.replace(name, text)
        side, _, name = where.rpartition(" ")
        target = notebook.cell(name)
        if not side:
            target.source = source.replace("RIGHT_ANSWER", target.source)
            continue
        assert side in ("before", "after"), f"{attack}: no such cell: {where}"
        at = notebook.cells.index(target) + (side == "after")
        notebook.cells.insert(at, nbformat.v4.new_code_cell(source))
    for where, source in attack.cells:
        if where == "on the notebook":
            exec(compile(source, f"{attack}, {where}", "exec"), {"notebook": notebook})
    return notebook


def hand_in(attack: Attack, student: str, submitted: Path, port: int) -> None:
    """Write a student's folder."""
    folder = submitted / student
    path = folder / attack.lesson / f"{attack.lesson}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(_as_json(tampered(attack, port).node), encoding="utf-8")
    for where, source in attack.cells:
        if where == "in the folder":
            names = {"folder": folder, "path": path}
            exec(compile(source, f"{attack}, {where}", "exec"), names)


def _as_json(node: NotebookNode) -> str:
    # nbformat's own writer would put right what an attack has just made wrong.
    return json.dumps(node, indent=1)


@dataclass(slots=True)
class Run:
    """What came of the whole class.

    Attributes:
        attacks: result of each attack, by its name; None where there is none.
        honest: results of the students between them.
        pages: what students and instructors are shown, by the attack's name.
        survivors: command lines of processes that outlived the grader.
        left: files that attacks left behind.
        changed: files that are not what they were.
        callers: connections that got through.
        failed: lessons that could not be graded to the end, and what was said of it.
    """

    attacks: dict[str, RESULT | None] = field(default_factory=dict)
    honest: list[RESULT] = field(default_factory=list)
    pages: dict[str, str] = field(default_factory=dict)
    survivors: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    callers: int = 0
    failed: list[str] = field(default_factory=list)


def run(attacks: Sequence[Attack], folder: Path, jobs: int = 2) -> Run:
    """Grade a class of attacks and of honest students between them.

    Args:
        attacks: of any lessons.
        folder: an empty one, for the course.
    """
    done = Run()
    course = copy_to(folder)
    shutil.copytree(ROOT / "notebooks", course / "notebooks")
    submitted = course / "class" / "submitted"
    waited_for = [attack for attack in attacks if attack.short]
    with listening() as (port, callers):
        students: dict[Attack, str] = {}
        for lesson in sorted({attack.lesson for attack in attacks}):
            at_once = [a for a in attacks if a.lesson == lesson and not a.short]
            students |= _fill(lesson, at_once, submitted, port)
        before = _fingerprints(course)
        for lesson in sorted({attack.lesson for attack in attacks if not attack.short}):
            results = _grade(lesson, course, jobs, done)
            for result in results:
                if result["student"].endswith(HONEST):
                    done.honest.append(result)
            by_student = {result["student"]: result for result in results}
            for attack, student in students.items():
                if attack.lesson == lesson:
                    shown = os.fsencode(student).decode("utf-8", "backslashreplace")
                    done.attacks[attack.name] = by_student.get(shown)
                    done.pages[attack.name] = _pages(course, student)
        _grade_short(waited_for, port, done, jobs)
        done.callers = callers()
    after = _fingerprints(course)
    done.changed = [path for path, was in before.items() if after.get(path) != was]
    done.left = list(_left_behind(course))
    return done


def _fill(lesson: str, attacks: Sequence[Attack], submitted: Path, port: int) -> dict[Attack, str]:
    """Hand in for everyone; the names of the students, in whose order they are graded."""
    numbers, students = count(), {}
    honest = _as_json(right_notebook(lesson))
    for position, attack in enumerate(attacks):
        if position % EVERY == 0:
            path = submitted / f"{next(numbers):03d}-{HONEST}" / lesson / f"{lesson}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(honest, encoding="utf-8")
        student = attack.student or f"{next(numbers):03d}-{attack.name}"
        hand_in(attack, student, submitted, port)
        students[attack] = student
    return students


def _grade(lesson: str, course: Path, jobs: int, done: Run) -> list[RESULT]:
    """Results from the command line, whose orphans become children of `tests.attacks.survivors`."""
    results, orphans = course / f"{lesson}.jsonl", course / f"{lesson}.orphans"
    command = [sys.executable, "-m", "autograder", "grade", lesson]
    command += ["--jobs", str(jobs), "--seed", str(SEED), "--json", str(results)]
    watched = [sys.executable, "-m", "tests.attacks.survivors", str(orphans), *command]
    ended = subprocess.run(
        watched,
        cwd=course,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="backslashreplace",
        timeout=900,
    )
    if ended.returncode:
        done.failed.append(f"{lesson}: exit {ended.returncode}\n{ended.stdout}\n{ended.stderr}")
    done.survivors += orphans.read_text().splitlines()
    if not results.exists():
        return []
    return [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]


def _grade_short(attacks: Sequence[Attack], port: int, done: Run, jobs: int) -> None:
    """The same with short limits, each thread with an honest student after every attack."""
    shares = [
        (lesson, mine[first::jobs])
        for lesson in sorted({each.lesson for each in attacks})
        if (mine := [each for each in attacks if each.lesson == lesson])
        for first in range(min(jobs, len(mine)))
    ]

    def grade(lesson: str, mine: Sequence[Attack]) -> None:
        released = released_path(lesson).read_text(encoding="utf-8")
        honest = _as_json(right_notebook(lesson)).encode()
        with Grader(lesson, released, SEED, SHORT) as grader:
            for attack in mine:
                data = _as_json(tampered(attack, port).node).encode()
                graded = grader.grade(data, attack.name)
                done.attacks[attack.name] = graded.result.as_json()
                done.pages[attack.name] = _shown_by(graded.notebook)
                done.honest.append(grader.grade(honest, HONEST).result.as_json())

    with ThreadPoolExecutor(jobs) as pool:
        started = [pool.submit(grade, lesson, mine) for lesson, mine in shares]
        for each in started:
            each.result()


@contextlib.contextmanager
def listening() -> Iterator[tuple[int, Any]]:
    """A TCP port and an abstract Unix socket that take calls; and how many have called."""
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as local,
    ):
        port = server.getsockname()[1]
        local.bind(f"\0attnlab-attack-{port}")
        local.listen()

        def callers() -> int:
            called = 0
            for each in (server, local):
                each.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    while True:
                        each.accept()[0].close()
                        called += 1
            return called

        yield port, callers


def _fingerprints(course: Path) -> dict[str, str]:
    """Of all that a learner's code has no business to change."""
    kept = [course / "solutions", course / "notebooks", course / "class" / "submitted"]
    kept += [ROOT / "src", ROOT / "solutions", ROOT / "notebooks"]
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in kept
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink() and "__pycache__" not in path.parts
        if path.stat().st_size < 50_000_000
    }


def _left_behind(course: Path) -> Iterator[str]:
    """Files with the name that attacks give to theirs, wherever one could be."""
    places = [ROOT, course, Path.home(), *map(Path, ("/tmp", "/var/tmp", "/dev/shm"))]
    places += [Path(sys.prefix), Path(os.__file__).parent]
    for place in places:
        if any(place != other and place.is_relative_to(other) for other in places):
            continue  # it is looked through with that one
        for top, folders, files in os.walk(place):
            folders[:] = [name for name in folders if name not in (".git", "proc")]
            for name in files:
                if name.replace("_", "-").startswith(LEFT_BEHIND):
                    yield os.path.join(top, name)


def _pages(course: Path, student: str) -> str:
    """What a browser would take for its own language: feedback, outputs in HTML, and metadata."""
    text = ""
    for path in sorted((course / "class" / "feedback" / student).rglob("*.html")):
        text += path.read_text(encoding="utf-8", errors="replace")
    for path in sorted((course / "class" / "autograded" / student).rglob("*.ipynb")):
        text += _shown_by(path.read_text(encoding="utf-8"))
    return text


def _shown_by(notebook: str) -> str:
    """The parts of a notebook, if there is one, that are neither code nor plain text."""
    if not notebook:
        return ""
    node = json.loads(notebook)
    parts = [node["metadata"]]
    for cell in node["cells"]:
        parts.append(cell["metadata"])
        for output in cell.get("outputs", ()):
            parts += [data for kind, data in output.get("data", {}).items() if kind != "text/plain"]
    return json.dumps(parts, ensure_ascii=False)
