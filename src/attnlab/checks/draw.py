"""What an exercise is given, drawn by its axes: arguments, parameters, masks.

`Draw` draws for one exercise from one generator; `cases` and `large` ask it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attnlab.checks.exercise import Case, Exercise
from attnlab.checks.inputs import (
    Generator,
    holes,
    random_list,
)

Sizes = Mapping[str, int]
FLOATS = ("float32", "float64", "torch.float32", "torch.float64")


@dataclass(frozen=True, slots=True)
class Given:
    """What one call is given.

    Attributes:
        args: by parameter name; what is left to its default is left out.
        state: a module's parameters by name.
        builds: what its constructor is given.
        sizes: by letter, and the leading axes by '…'.
    """

    args: Mapping[str, Any]
    state: Mapping[str, Any]
    builds: tuple[Any, ...] | None
    sizes: Mapping[str, Any]

    def but(self, **changed: Any) -> Given:
        """The same with other arguments."""
        return replace(self, args={**self.args, **changed})


class Draw:
    """Draws what an exercise is given, by its axes.

    Attributes:
        letters: the sizes that it has, in the order in which they are first named; those that
            follow from others are not among them.
        leads: whether it takes any number of leading axes.
        arrays: arguments that are arrays of numbers, drawn here and not by the exercise.
        mask: the argument that is a mask, with its axes and kinds; None where there is none.
        demanded: whether it has no default, so that where nothing is masked None is said.
        short: whether numbers have two decimals, so that a card can show them whole.
    """

    def __init__(self, exercise: Exercise, rng: Generator) -> None:
        self.exercise, self.rng = exercise, rng
        self.short = False
        pairs = list(zip(exercise.parameters, exercise.axes, strict=False))
        given = {name: axes.split() for name, axes in pairs}
        named = [*given.values(), *(axes.split() for axes in exercise.state.values())]
        words = [word.lstrip("=") for axes in [*named, exercise.builds or ()] for word in axes]
        words += " ".join(exercise.products.values()).split()
        letters = dict.fromkeys(word for word in words if len(word) == 1 and word.isalpha())
        self.letters = tuple(each for each in letters if each not in exercise.products)
        self.leads = any(axes[0] == "…" for axes in given.values())
        kinds = ("mask", "bias")
        self.mask = next((name for name, axes in given.items() if axes[-1] in kinds), None)
        self.demanded = bool(self.mask) and f"{self.mask}=" not in exercise.signature
        self.mask_axes = [axis for axis in given.get(self.mask or "", ()) if axis not in kinds]
        self.mask_kinds = [kind for kind in given.get(self.mask or "", ()) if kind in kinds]
        self.arrays = [
            name
            for name, axes in given.items()
            if name not in exercise.drawn and axes[0][0] not in "=?" and name != self.mask
        ]

    def sizes(self, low: int = 2, **fixed: int) -> dict[str, int]:
        """A size for each letter; all differ, and none is 4 or 9, whose root is a size as well.

        The batch and those that are multiplied are small, so that few numbers say as much.

        Args:
            low: the least of the others.
            fixed: sizes that are not drawn.
        """
        free = [letter for letter in self.letters if letter not in fixed]
        among = [size for size in range(low, low + len(free) + 4) if size not in (4, 9)]
        small = ["b", *" ".join(self.exercise.products.values()).split()]
        free.sort(key=lambda letter: letter not in small)
        least = sum(letter in small for letter in free)
        while True:
            few = [*self.rng.choice((2, 3, 5, 6, 7)[: least + 2], least, replace=False)]
            rest = [size for size in among if size not in few]
            drawn = [*few, *self.rng.choice(rest, len(free) - least, replace=False)]
            found = self.whole({**dict(zip(free, map(int, drawn), strict=True)), **fixed})
            if len({*found.values()} - {2, 4}) >= len(found) - 1 and len(
                set(found.values())
            ) == len(found):
                return found

    def whole(self, sizes: Sizes) -> dict[str, int]:
        """Sizes with those that follow from them: d is h · e."""
        found = dict(sizes)
        for letter, factors in self.exercise.products.items():
            each = (found[factor] if factor in found else int(factor) for factor in factors.split())
            found[letter] = math.prod(each)
        return found

    def equal(self) -> dict[str, int]:
        """One size for all, 5 or more; what asks whether a matrix is square finds one."""
        return self.whole(dict.fromkeys(self.letters, int(self.rng.choice([5, 6, 7, 8]))))

    def given(
        self, sizes: Sizes, leading: tuple[int, ...] | None = None, other: bool = False
    ) -> Given:
        """Arguments of these sizes.

        Args:
            leading: axes that '…' stands for; one if nothing is said.
            other: whether a module has biases where it has none by default, or the other way.
        """
        exercise = self.exercise
        biased = exercise.biased != other
        if leading is None:
            leading = (2,) if self.leads else ()
        all_sizes = {**sizes, "…": leading}
        args: dict[str, Any] = {}
        for name, axes in zip(exercise.parameters, exercise.axes, strict=False):
            if axes != "?" and name != self.mask:
                args[name] = self._argument(name, axes.split(), {**args, **all_sizes})
            elif name == self.mask and self.demanded:
                args[name] = None
        state = {
            name: self.numbers([sizes[axis] for axis in axes.split()], root=-1)
            for name, axes in exercise.state.items()
            if biased or "bias" not in exercise.promised or not name.endswith(".bias")
        }
        builds = exercise.builds and tuple(sizes.get(size, size) for size in exercise.builds)
        if builds and other:
            builds = (*builds, biased)
        return Given(args, state, builds, all_sizes)

    def _argument(self, name: str, axes: list[str], sizes: Mapping[str, Any]) -> Any:
        if name in self.exercise.drawn:
            return self.exercise.drawn[name](self.rng, sizes)
        if axes[0].startswith("="):
            return sizes[axes[0][1:]]
        return self.numbers(shape_of(axes, sizes), root=0 if name.startswith("W") else None)

    def numbers(self, shape: list[int], root: int | None = None) -> Any:
        """Normal numbers as the stage has them.

        Args:
            root: of a matrix, the axis that is summed over: what comes out is as large as what
                went in.
        """
        std = 1.0 if root is None or len(shape) < 2 else shape[root] ** -0.5
        if self.short:
            return random_list(self.rng, *shape, std=std)
        return self.staged(self.rng.normal(0, std, shape))

    def staged(self, array: np.ndarray) -> Any:
        """An array as the stage has it: lists, an array or a tensor."""
        if self.exercise.stage == "pure":
            return array.tolist()
        if self.exercise.stage == "numpy":
            return np.array(array)
        import torch

        return torch.from_numpy(np.ascontiguousarray(array))

    def case(self, given: Given, *promises: str, masks: Mapping[str, Any] = {}, **how: Any) -> Case:
        """A case of the first of these promises that is made; it relies on the others."""
        exercise = self.exercise
        added = [name for name in masks if str(getattr(masks[name], "dtype", "")) in FLOATS]
        kept = [promise for promise in promises if promise in exercise.promised]
        claims = [exercise.claim_of(promise) for promise in kept]
        masked = bool(masks) or exercise.causal
        how.setdefault("exact_zeros", masked and not how.get("gradient"))
        how.setdefault("tolerance", exercise.tolerance)
        if any(str(getattr(arg, "dtype", "")).endswith("float32") for arg in given.args.values()):
            masks = {name: _single(mask) for name, mask in masks.items()}
        args = [masks.get(name, arg) for name, arg in given.args.items()]
        kwargs = {name: mask for name, mask in masks.items() if name not in given.args}
        after = self.exercise.parameters[len(args) : len(args) + 1]
        if after and after[0] in kwargs and self.rng.random() < 0.5:
            args.append(kwargs.pop(after[0]))  # by its place, not by its name
        return Case(
            claims[0] if claims else exercise.claims[0].name,
            tuple(args),
            kwargs,
            sizes=given.builds,
            state=given.state,
            about=tuple(claim for claim in claims[1:] if claim != claims[0]),
            promise=" ".join([*kept, *(["float mask"] if added else [])]),
            **how,
        )

    def axes_of(self, name: str) -> list[str]:
        """The letters of an argument, without '…'."""
        axes = self.exercise.axes[self.exercise.parameters.index(name)].split()
        return [axis for axis in axes if axis != "…"]


def shape_of(axes: Iterable[str], sizes: Mapping[str, Any]) -> list[int]:
    shape: list[int] = []
    for axis in axes:
        shape += sizes[axis] if axis == "…" else [sizes[axis]]
    return shape


def in_float32(given: Given) -> Given:
    """The same in float32: all arrays and parameters."""
    args = {name: _single(part) for name, part in given.args.items()}
    return replace(given, args=args, state={n: _single(part) for n, part in given.state.items()})


def _single(part: Any) -> Any:
    if isinstance(part, np.ndarray) and part.dtype == np.float64:
        return part.astype(np.float32)
    return part.float() if str(getattr(part, "dtype", "")) == "torch.float64" else part


# Masks --------------------------------------------------------------------------------------------

Masks = tuple[str, Mapping[str, Any]]  # what is said of it, and the argument by name


def drawn_masks(draw: Draw, sizes: Mapping[str, Any]) -> list[Masks]:
    """A mask that leaves each query something, in each kind, of a form drawn at random."""
    if "causal" in draw.exercise.parameters:
        return [("causal=True", {"causal": True})]
    axes = draw.mask_axes
    if axes[:1] == ["…"]:
        forms = [["n", "m"], axes] + ([["…0", "1", "1", "m"]] if len(sizes["…"]) == 2 else [])
        axes = forms[draw.rng.integers(len(forms))]
    return masks_of(draw, axes, sizes) if axes else []


def masks_of(draw: Draw, axes: list[str], sizes: Mapping[str, Any]) -> list[Masks]:
    """A mask of these axes, in each kind."""
    leading = {f"…{at}": size for at, size in enumerate(sizes["…"])}
    known = {**sizes, "1": 1, **leading}
    allowed = holes(draw.rng, *shape_of(axes, known))
    return [
        (
            f"there is a {'float ' if kind == 'bias' else ''}mask {allowed.shape}",
            {draw.mask or "": as_kind(draw, allowed, kind)},
        )
        for kind in draw.mask_kinds
    ]


def as_kind(draw: Draw, allowed: np.ndarray, kind: str) -> Any:
    """A mask, True = attend, as bool or as 0 and -inf."""
    return draw.staged(allowed if kind == "mask" else np.where(allowed, 0.0, -np.inf))


def emptying(draw: Draw, sizes: Mapping[str, Any]) -> list[Masks]:
    """Masks that leave one row of queries nothing, or all; none where no claim is made of it."""
    if "empty" not in draw.exercise.promised or draw.mask is None:
        return []
    shape = shape_of([axis for axis in draw.mask_axes if axis != "…"], sizes)
    allowed = holes(draw.rng, *shape) if shape[-1] > 1 else np.ones(shape, dtype=bool)
    allowed[draw.rng.integers(len(allowed))] = False
    found: list[Masks] = []
    for kind in draw.mask_kinds:
        by = "a float mask" if kind == "bias" else "a mask"
        for which, note in (
            (allowed, "one row nothing"),
            (np.zeros(shape, dtype=bool), "all rows nothing"),
        ):
            masks = {draw.mask: as_kind(draw, which, kind)}
            found.append((f"{by} leaves {note}", masks))
    return found
