"""Answers that are the same up to names and comments: found by a digest of what is left.

Each answer is brought to a normal form by its syntax tree: no comments, docstrings, type hints or
layout, and what it names itself is numbered in the order in which it is met. Equal forms have equal
digests, so that a class of any size is gone through once.

That two answers are alike is a question for a person. It is no evidence where there is hardly
another way to write it: an answer of fewer than `LEAST` nodes, one that equals the reference
solution or the stub, or one that a good part of the class has.
"""

from __future__ import annotations

import ast
import hashlib
import warnings
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from autograder.term.normal import normal

# Nodes of the syntax tree, less the stub's. Among the 600 answers that the tests hold, each meant
# to be another way than the rest, those that came out like the reference had up to 18. Twice that
# still says little: two who follow the lesson's notation line by line can meet.
LEAST = 40
# A form is the obvious way to write it if more than this part of those who answered have it.
_COMMON, _FEW = 0.1, 4
_CHARACTERS = 20_000  # of an answer that is looked at


@dataclass(frozen=True, slots=True)
class Form:
    """What is left of an answer.

    Attributes:
        digest: the same for answers that are alike.
        nodes: of its syntax tree.
    """

    digest: str
    nodes: int


@dataclass(frozen=True, slots=True)
class Group:
    """Students whose answers to one exercise are alike.

    Attributes:
        nodes: of the answers' syntax tree, less what was given.
        also: other exercises in which at least two of them are alike.
    """

    exercise: str
    students: tuple[str, ...]
    nodes: int
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Alike:
    """What there is to look at, the most telling first.

    Attributes:
        common: how many students have a form that many others have as well, by exercise.
    """

    groups: list[Group]
    common: Mapping[str, int]


def normal_form(source: str) -> Form | None:
    """What is left of an answer without names, comments, hints and layout; None if it is no Python.

    Args:
        source: of a cell, a stranger's.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an odd escape sequence, say
            tree = ast.parse(source[:_CHARACTERS])
        bare = normal(tree)
        text = ast.dump(bare, annotate_fields=False)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    nodes = sum(not isinstance(node, ast.expr_context) for node in ast.walk(bare))
    return Form(hashlib.sha256(text.encode(errors="replace")).hexdigest(), nodes)


def find(
    answers: Mapping[str, Mapping[str, str]],
    given: Mapping[str, Collection[str]],
    stubs: Mapping[str, str],
    least: int = LEAST,
) -> Alike:
    """Groups of students with answers that are alike.

    Args:
        answers: by student and exercise.
        given: by exercise, what everybody may have: the reference solution and the stub.
        stubs: by exercise; their nodes are not the learner's.
        least: nodes of an answer that says anything by being alike.
    """
    seen: dict[str, Form | None] = {}  # half a class may have the same text

    def form(source: str) -> Form | None:
        if source not in seen:
            seen[source] = normal_form(source)
        return seen[source]

    alike: dict[tuple[str, Form], list[str]] = defaultdict(list)
    written: dict[str, int] = defaultdict(int)
    ours = {name: {form(text) for text in texts} for name, texts in given.items()}
    start = {name: found.nodes if (found := form(text)) else 0 for name, text in stubs.items()}
    for student, texts in answers.items():
        for exercise, source in texts.items():
            found = form(source)
            if found is None or found in ours.get(exercise, ()):
                continue
            written[exercise] += 1
            if found.nodes - start.get(exercise, 0) >= least:
                alike[exercise, found].append(student)
    groups, common = [], defaultdict[str, int](int)
    for (exercise, found), students in alike.items():
        if len(students) > max(_FEW, _COMMON * written[exercise]):
            common[exercise] += len(students)
        elif len(students) > 1:
            nodes = found.nodes - start.get(exercise, 0)
            groups.append(Group(exercise, tuple(sorted(students)), nodes))
    return Alike(_with_others(groups), common)


def _with_others(groups: Sequence[Group]) -> list[Group]:
    """The groups with what else their students share, those that share most first."""
    of_pair: dict[tuple[str, str], set[str]] = defaultdict(set)
    for group in groups:
        for pair in _pairs(group.students):
            of_pair[pair].add(group.exercise)
    told = []
    for group in groups:
        found = {name for pair in _pairs(group.students) for name in of_pair[pair]}
        also = tuple(sorted(found - {group.exercise}))
        told.append(Group(group.exercise, group.students, group.nodes, also))
    return sorted(told, key=lambda each: (-len(each.also), -each.nodes, each.students))


def _pairs(students: Sequence[str], most: int = 12) -> Iterable[tuple[str, str]]:
    """Pairs of students, of the first few where there are many."""
    few = students[:most]
    return ((one, other) for at, one in enumerate(few) for other in few[at + 1 :])
