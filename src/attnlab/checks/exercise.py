"""What an exercise is: declared once, run by the notebook's check and by the grader.

A declaration keeps its *inputs* (cases), its *call* (how the function is named and called) and its
*comparison* (slots, oracle, mistakes) apart, so that the learner's function and the oracle need
never share a process. `attnlab.checks` says what becomes of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

TOLERANCE = 1e-6  # absolute, in float64; relative is 0
FLOAT32_TOLERANCE = 1e-4  # for the one float32 case: float32 keeps about 7 digits
SEEDS = (20, 26)  # a notebook's own; the grader brings fresh ones


@dataclass(frozen=True, slots=True)
class Slot:
    """One thing that a function returns.

    Args:
        name: as in the signature, 'weights'.
        kind: 'list' (of floats, nested as deep as it has axes), 'ndarray', 'tensor', 'float',
            'int' or 'bool'.
        axes: the names of its axes, 'N M'; a leading '…' stands for any number of them.
    """

    name: str
    kind: str
    axes: str = ""


class State(dict[str, Any]):
    """What an oracle or a mistake gets of a module: its parameters by name, tensors.

    Attributes:
        sizes: what its constructor was given, as parameters need not tell how many heads there are.
    """

    def __init__(self, parameters: Mapping[str, Any], sizes: tuple[Any, ...]) -> None:
        super().__init__(parameters)
        self.sizes = sizes


@dataclass(frozen=True, slots=True)
class Way:
    """Another way to use an answer than to call it once: to build it, train it, ask it in turns.

    Attributes:
        procedure: a function of `attnlab.calling` that does it, 'modules.construct'; it takes the
            learner's function, then the case's arguments.
        returns: one Slot, or several, for what the procedure gives back.
        oracle: the case's arguments in, what is right out.
        parameters: what the arguments are called, if not as in the exercise's signature.
        missed: where many answers are right, and `oracle` gives no more than their form: takes the
            case's arguments and an array for each of `returns`, and gives the slug of the mistake
            that is made and what came of it, in words; None where nothing is missed. It is asked on
            the side that judges, and the mistake stands in the exercise's bank.
    """

    procedure: str
    returns: tuple[Slot, ...]
    oracle: Callable[..., Any]
    parameters: tuple[str, ...] = ()
    missed: Callable[..., tuple[str, str] | None] | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One call: its inputs, and the group of cases it belongs to.

    Args:
        group: name of a Group of the exercise.
        args: what the function is called with, as ordinary Python, NumPy or PyTorch objects.
        kwargs: the same, by name.
        raises: the name of the exception that is the right answer here, '' for none; several that
            are as good as each other are joined by ' or '.
        note: what is special about it, read after 'when', as in 'all scores are -inf'.
        tolerance: largest |difference| that is still right.
        exact_zeros: where the right answer is 0, nothing but 0 will do.
        draws: where the numbers are shares of so many draws: they are right if chance explains how
            far they are from their probabilities, and there is no tolerance.
        sizes: where the exercise is a module, what its constructor is given.
        state: and the parameters loaded into it, tensors by name.
        gradient: compare gradients with respect to float tensors in args, and to state.
        fixed: positions of args that need no gradient all the same.
        earlier: args of a call that the same function or module has had before this one; a
            module's parameters had other numbers then.
        way: how the function is used, if not by one call.
        laid: 'views' for arrays that are not contiguous, 'meta' for tensors on that device: there
            only type, shape and dtype are compared. See `Call`.
        made: how a module is made, if not as usual: 'modules.in_evaluation'. See `Call`.
    """

    group: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    raises: str = ""
    note: str = ""
    tolerance: float = TOLERANCE
    exact_zeros: bool = False
    draws: int = 0
    sizes: tuple[Any, ...] | None = None
    state: Mapping[str, Any] = field(default_factory=dict)
    gradient: bool = False
    fixed: tuple[int, ...] = ()
    earlier: tuple[Any, ...] = ()
    laid: str = ""
    made: str = ""
    way: Way | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Cases that stand for one claim, and the points that the claim earns.

    Args:
        name: what cases refer to.
        claim: a line on the card, said of the learner's function: 'equals PyTorch on …'.
        worth: points.
        core: if this fails, nothing else earns points.
        needs: names of groups whose claims its cases rely on: while one of them fails, nothing
            is said of this one, which may hold.
    """

    name: str
    claim: str
    worth: float
    core: bool = False
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Property:
    """Something that must be true of every answer, said on a line of its own and worth no points.

    Args:
        claim: 'each row of weights sums to 1'.
        holds: takes the case's args, then one array for each slot; True where the claim is true.
    """

    claim: str
    holds: Callable[..., bool]


@dataclass(frozen=True, slots=True)
class Relation:
    """Something that must be true of two answers to two related calls.

    Args:
        claim: 'changing the future changes nothing in the past'.
        cases: a seeded generator in, the two cases out.
        holds: takes the arrays of the first answer and those of the second.
        worth: points.
        slug: name of the mistake that breaks it.
        reason: why that is a mistake.
        remedy: one thing to try.
    """

    claim: str
    cases: Callable[[np.random.Generator], tuple[Case, Case]]
    holds: Callable[[tuple[np.ndarray, ...], tuple[np.ndarray, ...]], bool]
    worth: float = 0.0
    slug: str = ""
    reason: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A wrong way of doing it, computed, so that an answer that equals it can be named.

    Args:
        slug: the mistake's name, 'no-scale'.
        answer: same arguments as the exercise's function; what this mistake would return. It may
            raise, as the mistake would.
        reason: why an answer that equals this is wrong, one or two sentences.
        remedy: one thing to try.
    """

    slug: str
    answer: Callable[..., Any]
    reason: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Exercise:
    """One graded exercise.

    Args:
        name: the function's name, and its solution cell's grade_id.
        lesson: slug, '03-numpy'.
        stage: what the learner's code may import: 'pure', 'numpy' or 'torch'.
        signature: as the curriculum gives it.
        axes: of each argument, then of what a module's constructor is given: 'n d', where one
            letter is one size everywhere; '…' stands for any number of axes, '=n' for an int that
            is a size itself, '?' for what has none.
        read: heading of the section to read again, as it stands in the lesson.
        returns: one Slot, or several for a tuple.
        groups: their worth adds up to the exercise's points.
        cases: a seeded generator in, cases out; every size in a case is different.
        oracle: same arguments as the function; the right answer, by a thin call to PyTorch. For a
            module, its State comes first.
        mistakes: the bank that diagnoses are drawn from.
        pairs: two mistakes at once, asked only if no single one fits.
        properties: extra lines on the card, each about one answer.
        relations: the same, each about two answers.
        fused_banned: whether calling PyTorch's own attention forfeits the points.
    """

    name: str
    lesson: str
    stage: str
    signature: str
    axes: tuple[str, ...]
    read: str
    returns: tuple[Slot, ...]
    groups: tuple[Group, ...]
    cases: Callable[[np.random.Generator], Iterable[Case]]
    oracle: Callable[..., Any]
    mistakes: tuple[Mistake, ...]
    pairs: tuple[Mistake, ...] = ()
    properties: tuple[Property, ...] = ()
    relations: tuple[Relation, ...] = ()
    fused_banned: bool = False

    def slots(self, case: Case) -> tuple[Slot, ...]:
        """What is compared in a case: the results, or the gradients."""
        if not case.gradient:
            return case.way.returns if case.way else self.returns
        names = [
            name
            for at, (name, arg) in enumerate(zip(self.parameters, case.args, strict=False))
            if getattr(getattr(arg, "dtype", None), "is_floating_point", False)
            and at not in case.fixed
        ]
        return tuple(Slot(f"gradient of {name}", "tensor", "…") for name in [*names, *case.state])

    def oracle_of(self, case: Case) -> Callable[..., Any]:
        """What gives the right answer to a case."""
        return case.way.oracle if case.way else self.oracle

    def names(self, case: Case) -> tuple[str, ...]:
        """What a case's arguments are called."""
        return (case.way.parameters if case.way else ()) or self.parameters

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters in the signature; for a module, of its `forward`."""
        inside = self.signature.rpartition("forward")[2].partition("(")[2].partition(")")[0]
        parts = inside.split(",") if inside else []
        return tuple(part.split(":")[0].split("=")[0].strip() for part in parts)

    @property
    def points(self) -> float:
        return sum(group.worth for group in self.groups) + sum(
            relation.worth for relation in self.relations
        )


UNCHANGED = "unchanged"  # the group that watches inputs; every case belongs to it too


def unchanged(worth: float) -> Group:
    """The group that every exercise has: it leaves its inputs as they were."""
    return Group(UNCHANGED, "leaves its inputs unchanged", worth)
