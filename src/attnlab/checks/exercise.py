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

    from attnlab.checks.attention import Attention

TOLERANCE = 1e-6  # absolute, in float64; relative is 0
FLOAT32_TOLERANCE = 1e-4  # for the one float32 case: float32 keeps about 7 digits
Formula = Callable[..., Any]
SEEDS = (20, 26)  # a notebook's own; the grader brings fresh ones


@dataclass(frozen=True, slots=True)
class Slot:
    """One thing that a function returns.

    Args:
        name: as in the signature, 'weights'.
        kind: 'list' (of floats, nested as deep as it has axes), 'ndarray', 'tensor', 'float',
            'int' or 'bool'.
        axes: the names of its axes, 'N M'; a leading '…' stands for any number of them.
        any: whether many numbers are right, which the procedure's `missed` looks at.
    """

    name: str
    kind: str
    axes: str = ""
    any: bool = False

    @property
    def averages(self) -> bool:
        """Whether its last axis is a width: then it holds averages of values, and no weights."""
        return self.axes.split()[-1:] in (["d_v"], ["d"])


class State(dict[str, Any]):
    """What an oracle or a mistake gets of a module: its parameters by name, tensors.

    Attributes:
        sizes: what its constructor was given, as parameters need not tell how many heads there are.
    """

    def __init__(self, parameters: Mapping[str, Any], sizes: tuple[Any, ...]) -> None:
        super().__init__(parameters)
        self.sizes = sizes

    def linear(self, name: str, x: Any) -> Any:
        """What the linear of this name makes of x, with its bias where it has one."""
        import torch.nn.functional as F

        return F.linear(x, self[f"{name}.weight"], self.get(f"{name}.bias"))


@dataclass(frozen=True, slots=True)
class Procedure:
    """Another way to use an answer than to call it once: to build it, train it, ask it in turns.

    Attributes:
        name: of a function of `attnlab.calling` that does it, 'modules.construct'; it takes the
            learner's function, then the case's arguments.
        returns: one Slot, or several, for what the procedure gives back.
        oracle: the case's arguments in, what is right out.
        parameters: what the arguments are called, if not as in the exercise's signature.
        missed: where many answers are right, and `oracle` gives no more than the form of each Slot
            that is `any`: takes the case's arguments and an array for each of `returns`, and says
            what is wrong with what comes of them; '' where nothing is. It is asked on the side that
            judges. The exercise's mistakes take the same, and say whether they were made; the first
            that was is named, if it was made in all cases of the claim that failed.
        unsteady: whether the same call may come out differently, as by a clock of the machine's.
    """

    name: str
    returns: tuple[Slot, ...]
    oracle: Callable[..., Any]
    parameters: tuple[str, ...] = ()
    missed: Callable[..., str] | None = None
    unsteady: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """One call: its inputs, and the claim that it tries.

    Args:
        claim: name of a Claim of the exercise.
        args: what the function is called with, as ordinary Python, NumPy or PyTorch objects.
        kwargs: the same, by name.
        raises: the name of the exception that is the right answer here, '' for none; several that
            are as good as each other are joined by ' or '.
        note: what is special about it, read after 'when', as in 'all scores are -inf'.
        kind: what it is a case of, where its note says more than that: see `Posed.kind`.
        tolerance: largest |difference| that is still right.
        exact_zeros: where the right answer is 0, nothing but 0 will do.
        only_zeros: nothing but the exact zeros is looked at, and NaN is as good as 0 there.
        sizes: where the exercise is a module, what its constructor is given.
        state: and the parameters loaded into it, tensors by name.
        gradient: compare gradients with respect to float tensors in args, and to state.
        fixed: positions of args that need no gradient all the same.
        earlier: args of a call that the same function or module has had before this one; a
            module's parameters had other numbers then.
        procedure: how the function is used, if not by one call.
        about: other claims that this case relies on: while one of them fails, a failure here tells
            nothing of its own.
        promise: which of a claim's promises it tries, if not the one that the claim is named after.
        laid: 'views' for arrays that are not contiguous, 'meta' for tensors on that device: there
            only type, shape and dtype are compared. See `Call`.
        built: how a module is made, if not as usual: 'modules.in_evaluation'. See `Call`.
        once: whether it takes so long that it is asked on one seed alone.
    """

    claim: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    raises: str = ""
    note: str = ""
    kind: str = ""
    tolerance: float = TOLERANCE
    exact_zeros: bool = False
    only_zeros: bool = False
    sizes: tuple[Any, ...] | None = None
    state: Mapping[str, Any] = field(default_factory=dict)
    gradient: bool = False
    fixed: tuple[int, ...] = ()
    earlier: tuple[Any, ...] = ()
    laid: str = ""
    built: str = ""
    procedure: Procedure | None = None
    about: tuple[str, ...] = ()
    promise: str = ""
    once: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that an exercise promises: what its cases try, and the points that it earns.

    Args:
        name: what cases refer to.
        text: a line on the card, said of the learner's function: 'equals PyTorch on …'.
        worth: points.
        also: what else it promises, by the names in PROMISES.
    """

    name: str
    text: str
    worth: float
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mistake:
    """A wrong way of doing it, computed, so that an answer that equals it can be named.

    What is said of it stands in the lesson's `mistakes.md`, under its slug: see `words`.

    Args:
        slug: the mistake's name, 'no-scale'.
        answer: same arguments as the exercise's function; what this mistake would return. It may
            raise, as the mistake would.
    """

    slug: str
    answer: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Recorded:
    """What was worked out beforehand, for where nothing can be: see `attnlab.checks.recorded`.

    Attributes:
        posed: an exercise's cases, each a `Posed`, by claim.
        mistakes: those that can be named; their answers stand in the cases.
        small: calls that can be checked by eye, see `small`.
    """

    posed: tuple[Any, ...]
    mistakes: tuple[Mistake, ...]
    small: tuple[Any, ...] = ()


def _none(rng: np.random.Generator) -> Iterable[Case]:
    """No cases of its own."""
    return ()


@dataclass(frozen=True, slots=True, eq=False)
class Exercise:
    """One graded exercise.

    From its axes, its claims and what else it says of itself follow its cases: see `cases`. From
    its attention follow its oracle and the mistakes of the recipe: see `bank`.

    Args:
        name: the function's name, and its solution cell's grade_id.
        signature: as the curriculum gives it.
        axes: of each argument: 'n d', where one letter is one size everywhere; '…' stands for any
            number of axes, '=n' for an int that is a size itself, '?' for what is left to its
            default. A mask ends in 'mask' (bool, True = attend), in 'bias' (float) or in both.
        read: heading of the section to read again, as it stands in the lesson.
        returns: one Slot, or several for a tuple.
        claims: what it promises, in points; see `promises`. The first is the core: while it fails,
            nothing else earns points.
        oracle: same arguments as the function; the right answer, by a thin call to PyTorch. For a
            module, its State comes first. None where `attention` has it.
        mistakes: those of its own, by slug: what each would return, or raise, for the function's
            arguments; several formulas where it can be made in several ways.
        cases: those that nothing shared brings: a seeded generator in, cases out.
        attention: if it is attention: how its arguments become queries, keys and values.
        scores: the argument that is scores, if it is softmax.
        causal: whether it hides the future, always.
        builds: for a module, what its constructor is given: letters of sizes, or values.
        state: for a module, the axes of its parameters by name.
        products: letters whose sizes follow from others: {'d': 'h k'}, {'d': '2 p'}.
        drawn: arguments that are no normal numbers: their generator and sizes in, one out; the
            arguments before it stand among the sizes, by name.
        fits: letters whose misfit is no error.
        stretched: whether a size of 1 where another one belongs is to be refused as well.
        without: slugs of shared mistakes that are none here, or that give another one's numbers.
        banned: what forfeits the points when called: 'attention', PyTorch's own, or 'backward',
            softmax's own way back, by autograd as well; '' for nothing.
        tolerance: of shared cases, where float64 is none of the exercise's business.
        lesson, stage: of its lesson, which fills them in.
        recorded: its cases, posed beforehand, where nothing can be computed; None elsewhere.
    """

    name: str
    signature: str
    axes: tuple[str, ...]
    read: str
    returns: tuple[Slot, ...]
    claims: tuple[Claim, ...]
    oracle: Callable[..., Any] | None = None
    mistakes: Mapping[str, Formula | tuple[Formula, ...]] = field(default_factory=dict)
    cases: Callable[[np.random.Generator], Iterable[Case]] = _none
    attention: Attention | None = None
    scores: str = ""
    causal: bool = False
    builds: tuple[Any, ...] | None = None
    state: Mapping[str, str] = field(default_factory=dict)
    products: Mapping[str, str] = field(default_factory=dict)
    drawn: Mapping[str, Callable[[np.random.Generator, Mapping[str, Any]], Any]] = field(
        default_factory=dict
    )
    fits: str = ""
    stretched: bool = False
    without: tuple[str, ...] = ()
    banned: str = ""
    tolerance: float = TOLERANCE
    lesson: str = ""
    stage: str = ""
    recorded: Recorded | None = None

    def slots(self, case: Case) -> tuple[Slot, ...]:
        """What is compared in a case: the results, or the gradients."""
        if not case.gradient:
            return case.procedure.returns if case.procedure else self.returns
        names = [
            name
            for at, (name, arg) in enumerate(zip(self.parameters, case.args, strict=False))
            if getattr(getattr(arg, "dtype", None), "is_floating_point", False)
            and at not in case.fixed
        ]
        return tuple(Slot(f"gradient of {name}", "tensor", "…") for name in [*names, *case.state])

    def oracle_of(self, case: Case) -> Callable[..., Any]:
        """What gives the right answer to a case."""
        if case.procedure:
            return case.procedure.oracle
        if self.oracle is not None:
            return self.oracle
        assert self.attention is not None, f"{self.name} has no oracle"
        return self.attention.oracle

    def names(self, case: Case) -> tuple[str, ...]:
        """What a case's arguments are called."""
        return (case.procedure.parameters if case.procedure else ()) or self.parameters

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters in the signature; for a module, of its `forward`."""
        inside = self.signature.rpartition("forward")[2].partition("(")[2].partition(")")[0]
        parts = inside.split(",") if inside else []
        return tuple(part.split(":")[0].split("=")[0].strip() for part in parts)

    @property
    def promised(self) -> frozenset[str]:
        """All that it promises, by the names in PROMISES and those of its own claims."""
        return frozenset(name for claim in self.claims for name in (claim.name, *claim.also))

    def claim_of(self, promise: str) -> str:
        """The name of the claim that holds a promise; of the first where none does."""
        holding = (each.name for each in self.claims if promise in (each.name, *each.also))
        return next(holding, self.claims[0].name)

    def called(self, letter: str) -> str:
        """What a size is called: 'd_k' for 'k'."""
        return CALLED.get(letter, letter)

    @property
    def biased(self) -> bool:
        """Whether a module has biases where nobody says."""
        return "bias=False" not in self.signature

    @property
    def points(self) -> float:
        return sum(claim.worth for claim in self.claims)


UNCHANGED = "unchanged"  # the claim that every case tries as well
CALLED = {"b": "B", "h": "H", "e": "d/H", "n": "N", "m": "M", "k": "d_k", "v": "d_v"}
CALLED |= {"f": "d_hidden", "g": "G", "s": "H/G", "p": "d / 2", "t": "max_len", "r": "max_len / N"}
PROMISES = {
    "masked": "hides what is blocked, and only that",
    "empty": "gives 0, not NaN, to a query with nothing to attend to",
    "shapes": "is right for sizes of 1, long inputs and transposed ones",
    "blocked": "gives exactly 0 to a score of -inf",
    "large": "stays right at scores in the thousands",
    "precision": "keeps the digits of its inputs, float32 (to 1e-4) or float64",
    "gradient": "passes the right gradients back to all of its inputs",
    "finite": "passes no NaN back where there is nothing to attend to",
    "bias": "adds biases in all linears or in none, as `bias` says",
    "again": "does the same whatever else was called or made",
    "refuses": "raises an error for what does not fit",
    "ragged": "raises ValueError where rows differ in length",
    UNCHANGED: "leaves its inputs unchanged",
}
# Weights that are masked after softmax, and then divided by their sum, are right up to there.
LARGE_AND_BLOCKED = f"{PROMISES['large']}, where a blocked one leads by less than 700"


def promises(core: str, worth: float, *own: Claim, **worths: float) -> tuple[Claim, ...]:
    """What an exercise promises, in points, each a line on its card.

    Args:
        core: of the first claim, 'values': 'equals X W'.
        worth: of that.
        own: claims that no other exercise makes.
        worths: of those that others make as well, by the names in PROMISES; each brings its cases.
            Two or three in one claim are one sentence: `large_and_precision`.
    """
    shared, texts = [], dict(PROMISES)
    promised = {name for names in worths for name in names.split("_and_")}
    if "masked" in promised:
        texts["large"] = LARGE_AND_BLOCKED
    if "empty" in promised and "finite" not in promised:
        texts["gradient"] += ", where there is something to attend to"
    for names, points in worths.items():
        if unknown := set(names.split("_and_")) - texts.keys():
            raise ValueError(f"no promise is called {unknown}; there are {', '.join(texts)}")
        first, *also = names.split("_and_")
        *others, last = (texts[name] for name in (first, *also))
        text = f"{', '.join(others)}, and {last}" if others else last
        shared.append(Claim(first, text, points, also=tuple(also)))
    return (Claim("values", core, worth), *own, *shared)
