"""The hostile class: every way we know to get points, or to do harm, without the answer.

One small file is one attack, in a folder named for its family. Its docstring says in one line what
it tries, then declares what must come of it:

    lesson: 01-soft-lookup
    expect: soft_lookup CRASH
    because: needed where two statuses are equally right, as in `CRASH or ERROR`; and where the
        attack succeeds
    repaired: text of a repair that must be reported
    unseen: text that must reach neither the feedback nor the autograded notebook
    flagged: text of a flag that must be there, for what a person has to judge
    student: 'a name', as a Python string, where the name is the attack
    limits: short, for one that has to be waited for
    earns: points that the touched exercises rightly keep, 0 if not said
    spoils: its own answers, where what it does may cost its author other points, as with nbgrader

An exercise that `expect` leaves out must keep all its points, if its author does not spoil them,
and one that it names gets none. The single word INVALID stands for a submission that is no
notebook. The rest of the file is cells:

    # %% soft_lookup              takes the place of that exercise's solution
    # %% after setup              a cell of the learner's own, after the cell of that name
    # %% before soft_lookup       or before it
    # %% on the notebook          run by the test: changes `notebook` before it is handed in
    # %% in the folder            run by the test: changes `folder`, where `path` has been written

All else in the notebook is right. A line `RIGHT_ANSWER` stands for the right solution of that cell,
PORT for a port that listens on this machine, so that an attack can show that it got through. A line
`WHOLE_MATRIX` stands for `whole(q, k, v, causal)`, right attention that holds all its scores, and a
line `ATTENTION_BY_MIX` for 06's answer by `mix`, PyTorch's `multi_head_attention_forward` copied.
`python -m tests.attacks` grades them all and prints a table.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from attnlab.lessons import absent, slugs

HERE = Path(__file__).resolve().parent
LEFT_BEHIND = "left-by-an-attack"  # in the name of whatever an attack writes
STATUSES = {"PASS", "FAIL", "ERROR", "TIMEOUT", "OOM", "CRASH", "POLICY", "MISSING"}
KEYS = {"lesson", "expect", "because", "repaired", "unseen", "flagged", "student", "limits"}
KEYS |= {"earns", "spoils"}


class Undeclared(Exception):
    """An attack's file does not say what it should; the message names the file."""


@dataclass(frozen=True, slots=True, eq=False)
class Attack:
    """One attack.

    Attributes:
        family: name of its folder.
        tries: what it tries, in one line.
        expected: statuses that are right, by touched exercise.
        invalid: whether the submission is no notebook at all.
        cells: for each cell, 'soft_lookup', 'after setup', …, and its source.
        earns: points that a touched exercise keeps, although it does not pass.
        spoils: whether its author's other exercises may lose points.
    """

    name: str
    family: str
    tries: str
    lesson: str
    expected: dict[str, tuple[str, ...]]
    invalid: bool
    cells: tuple[tuple[str, str], ...]
    because: str = ""
    repaired: str = ""
    unseen: str = ""
    flagged: str = ""
    student: str = ""
    short: bool = False
    earns: float = 0.0
    spoils: bool = False

    def __str__(self) -> str:
        return f"{self.family}-{self.name}"


def catalogue() -> tuple[Attack, ...]:
    """Every attack, family by family."""
    return tuple(read(path) for path in sorted(HERE.glob("*/*.py")))


def read(path: Path) -> Attack:
    """An attack from its file.

    Raises:
        Undeclared: the file does not declare what it should.
    """
    text = path.read_text(encoding="utf-8")
    described = ast.get_docstring(ast.parse(text.split("\n# %%")[0])) or ""
    tries, _, declared = described.partition("\n\n")
    said = dict(re.findall(r"^(\w+): (.+(?:\n  +.+)*)$", declared, re.MULTILINE))
    expect = said.get("expect", "")
    expected = {}
    for part in filter(None, expect.split(", ")):
        name, _, statuses = part.partition(" ")
        expected[name] = tuple(statuses.split(" or ")) if statuses else ()
    invalid = expected == {"INVALID": ()}
    cells = re.findall(r"^# %% (.+)\n((?:(?!# %% ).*\n?)*)", text, re.MULTILINE)
    problems = [
        *(f"no key {key!r}" for key in set(said) - KEYS),
        *(f"no status {s!r}" for ss in expected.values() for s in ss if s not in STATUSES),
        *([absent(said["lesson"])] if said.get("lesson", slugs()[0]) not in slugs() else []),
        *(["no lesson"] if "lesson" not in said else []),
        *(["no line that says what it tries"] if not tries or "\n" in tries else []),
        *(["no expectation ('nothing' is one)"] if not expect else []),
        *(["no cells"] if not cells else []),
        *(["no reason for two statuses"] if " or " in expect and "because" not in said else []),
    ]
    if expect == "nothing":
        expected = {}
    elif not invalid and not all(expected.values()):
        problems.append(f"no statuses in {expect!r}")
    if problems:
        raise Undeclared(f"{path}: {'; '.join(problems)}")
    return Attack(
        name=path.stem.replace("_", "-"),
        family=path.parent.name,
        tries=tries,
        lesson=said["lesson"],
        expected={} if invalid else expected,
        invalid=invalid,
        cells=tuple((where.strip(), source.strip("\n")) for where, source in cells),
        because=said.get("because", ""),
        repaired=said.get("repaired", ""),
        unseen=said.get("unseen", ""),
        flagged=said.get("flagged", ""),
        student=ast.literal_eval(said["student"]) if "student" in said else "",
        short=said.get("limits") == "short",
        earns=float(said.get("earns", 0)),
        spoils="spoils" in said,
    )
