"""Lesson 13's `run_backend`: PyTorch's call by one backend, or None where that refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from attnlab.calling import fused
from attnlab.calling.observe import ByName, by_name
from attnlab.checks.exercise import (
    FLOAT32_TOLERANCE,
    Case,
    Claim,
    Exercise,
    Formula,
    Procedure,
    Slot,
    promises,
)
from attnlab.checks.inputs import Generator, normal, one_size, ones_in_turn, sizes

Tensor = torch.Tensor
Inputs = tuple[Tensor, ...]
HALF = 0.02  # float16 keeps three digits
HERE = ("MATH", "FLASH_ATTENTION")  # those that a CPU has
ELSEWHERE = ("EFFICIENT_ATTENTION", "CUDNN_ATTENTION")
OUT = Slot("out", "tensor", "B H N d")


def _backend(name: str) -> ByName:
    return by_name("fused.backend", name)


# Cases --------------------------------------------------------------------------------------------


def _inputs(rng: Generator, b: int, h: int, n: int, m: int, d: int) -> Inputs:
    return normal(rng, b, h, n, d), normal(rng, b, h, m, d), normal(rng, b, h, m, d)


def _some(rng: Generator) -> Inputs:
    return _inputs(rng, *sizes(rng, 5, 3, 9))


def _square(rng: Generator) -> Inputs:
    b, h, n, d = sizes(rng, 4, 3, 9)
    return _inputs(rng, b, h, n, n, d)


def _whole(rng: Generator) -> Inputs:
    """Inputs of a dtype that no kernel takes."""
    return tuple((10 * part).long() for part in _some(rng))


def _exactly(q: Tensor, k: Tensor, v: Tensor, backend: Any, causal: bool = False) -> Tensor:
    with sdpa_kernel(backend):
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


def _cases(rng: Generator) -> Iterator[Case]:
    for name in HERE:
        backend = _backend(name)
        yield Case("values", (*_some(rng), backend))
        yield Case("values", (*_inputs(rng, *one_size(rng, 5)), backend))
        for one in ones_in_turn(rng, 5):
            given = (*_inputs(rng, *one), backend)
            yield Case("values", given, note="one of the sizes is 1")
        for dtype, near in ((torch.float32, FLOAT32_TOLERANCE), (torch.float16, HALF)):
            given = (*(part.to(dtype) for part in _some(rng)), backend)
            note = f"inputs are {str(dtype).removeprefix('torch.')}"
            yield Case("values", given, note=note, tolerance=near)
        yield Case("causal", (*_some(rng), backend, False), note="causal is False")
        yield Case("causal", (*_square(rng), backend, True), note="causal is True")
        note = "causal is given by name"
        yield Case("causal", (*_square(rng), backend), {"causal": True}, note=note)
        for causal in (False, True):
            asked = "does that kernel run", float(rng.uniform(2, 9))
            given = (*asked, *_square(rng), backend, causal)
            note = "what the flash kernel gives is multiplied by the mark"
            about = ("causal",) if causal else ()
            yield Case("kernel", given, note=note, procedure=MARKED, about=about)
    yield from _refused(rng)
    yield from _left_alone(rng)


def _of_a_kernel(question: str, mark: float, *args: Any) -> Tensor:
    out = _exactly(*args)
    return fused.marked(mark, out, args[2]) if args[3] == SDPBackend.FLASH_ATTENTION else out


GIVEN = ("q", "k", "v", "backend", "causal")
MARKED = Procedure("fused.ask", (OUT,), _of_a_kernel, ("question", "mark", *GIVEN))


def _answer(slot: str) -> Procedure:
    """A question whose right answer is yes."""
    return Procedure("fused.ask", (Slot(slot, "bool"),), lambda *args: True, ("question", *GIVEN))


def _comes_back(question: str, *args: Any) -> tuple[bool, Any]:
    """None or a tensor, as the backend takes the inputs or does not."""
    q, k, v, *rest = args
    try:
        given = fused.columns(q, k, v) if "views" in question else (q, k, v)
        return fused.came_back(_exactly(*given, *rest))
    except RuntimeError:
        return fused.came_back(None)


TOLD = Procedure(
    "fused.ask",
    (Slot("whether None came back", "bool"), Slot("out", "tensor", "B H N d", any=True)),
    _comes_back,
    ("question", *GIVEN),
)


def _refused(rng: Generator) -> Iterator[Case]:
    """Inputs that a backend takes, and such as it does not: it is not there, or wants others.

    One question is asked of both kinds, and which is which is worked out where it is judged.
    """
    asked = "what comes back"
    for causal in (False, True):
        for name in ELSEWHERE:
            args = (asked, *_square(rng), _backend(name), causal)
            yield Case("none", args, note="there is no such kernel on a CPU", procedure=TOLD)
        for name in HERE:
            args = (asked, *_square(rng), _backend(name), causal)
            yield Case("none", args, note="the backend takes them", procedure=TOLD)
    for name in HERE:
        args = (asked, *_whole(rng), _backend(name))
        yield Case("none", args, note="inputs are whole numbers", procedure=TOLD)
        args = (f"{asked} for views", *_some(rng), _backend(name))
        note = "neighbours in the last axis are no neighbours in memory"
        yield Case("none", args, note=note, procedure=TOLD)


def _left_alone(rng: Generator) -> Iterator[Case]:
    """Calls that end well, that give None and that raise; some switches are off before them."""
    way, asked = _answer("whether the switches are as they were"), "are the switches left alone"
    for name in (*HERE, ELSEWHERE[rng.integers(2)]):
        some = [True, True, True, True]
        for off in rng.choice(4, int(rng.integers(1, 3)), replace=False):
            some[off] = False
        for before, note in ((some, "some switches are off"), ([True] * 4, "all switches are on")):
            args = (asked, *_some(rng), _backend(name), before)
            yield Case("switches", args, note=f"{note} before", procedure=way)
    q, k, v = _some(rng)
    args = (asked, q, k[..., :-1], v, _backend("MATH"), [True, False, True, True])
    yield Case("switches", args, note="widths do not fit", procedure=way)


# Mistakes -----------------------------------------------------------------------------------------


def used(function: Formula) -> Formula:
    """A function as cases use a learner's: it is called, or asked a question about."""

    def answer(first: Any, *rest: Any, **named: Any) -> Any:
        with fused.switched(fused.switches()):
            if isinstance(first, str):
                return fused.ask(function, first, *rest)
            return function(first, *rest, **named)

    return answer


def _careful(call: Formula) -> Formula:
    """An answer that gives None where a call raises."""

    def run_backend(q: Tensor, k: Tensor, v: Tensor, backend: Any, causal: bool = False) -> Any:
        try:
            return call(q, k, v, backend, causal)
        except RuntimeError:
            return None

    return run_backend


def _changed(change: Callable[..., tuple[Any, ...]]) -> Formula:
    """An answer that calls with other arguments than it was given."""
    return used(_careful(lambda *args: _exactly(*change(*args))))


def _falls_back(q: Tensor, k: Tensor, v: Tensor, backend: Any, causal: bool) -> Tensor:
    try:
        return _exactly(q, k, v, backend, causal)
    except RuntimeError:
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


def _not_caught(call: Formula) -> Formula:
    """An answer that lets out what a second call raises."""

    def run_backend(q: Tensor, k: Tensor, v: Tensor, backend: Any, causal: bool = False) -> Any:
        return call(q, k, v, backend, causal)

    return run_backend


def _turn(backend: Any) -> None:
    names = ("FLASH_ATTENTION", "EFFICIENT_ATTENTION", "MATH", "CUDNN_ATTENTION")
    fused.turn([backend == getattr(SDPBackend, name) for name in names])


def _left(q: Tensor, k: Tensor, v: Tensor, backend: Any, causal: bool) -> Tensor:
    _turn(backend)
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


def _left_first(*args: Any, **named: Any) -> Any:
    _turn(args[3])
    return _careful(_left)(*args, **named)


def _left_on_refusal(*args: Any) -> Tensor:
    before = fused.switches()
    out = _left(*args)
    fused.turn(before)
    return out


def _all_on(answer: Formula) -> Formula:
    def run_backend(*args: Any, **named: Any) -> Any:
        try:
            return answer(*args, **named)
        finally:
            fused.turn([True] * 4)

    return run_backend


_SWITCHED = (
    *(_careful(_left), _left_first, _careful(_left_on_refusal)),
    *(_careful(_all_on(_left)), _all_on(_careful(_left))),
)
RUN_BACKEND = Exercise(
    name="run_backend",
    signature="(q, k, v, backend, causal=False) -> Tensor | None",
    axes=(),
    read="Who refuses, and why",
    returns=(OUT,),
    claims=promises(
        "gives what PyTorch's call gives, in its dtype",
        0.5,
        Claim("causal", "hides the future where causal is True", 0.25),
        Claim("kernel", "lets the backend that is asked for do it, where that takes it", 0.25),
        Claim("none", "gives None where that refuses, and has no other do it", 0.5),
        Claim("switches", "leaves PyTorch's switches as they were", 0.25),
        unchanged=0.25,
    ),
    cases=_cases,
    oracle=_exactly,
    mistakes={
        "backend-ignored": tuple(
            _changed(lambda q, k, v, backend, causal, one=one: (q, k, v, one, causal))
            for one in (SDPBackend.MATH, SDPBackend.FLASH_ATTENTION)
        ),
        "falls-back": (
            used(_careful(_falls_back)),
            used(_not_caught(_falls_back)),
            _changed(
                lambda q, k, v, backend, causal: (q, k, v, [backend, SDPBackend.MATH], causal)
            ),
        ),
        "copied-for-the-kernel": _changed(
            lambda q, k, v, *rest: (*(part.contiguous() for part in (q, k, v)), *rest)
        ),
        "mask-missing": _changed(lambda q, k, v, backend, causal: (q, k, v, backend)),
        "causal-uncalled-for": (
            _changed(lambda q, k, v, backend, causal: (q, k, v, backend, True)),
            _changed(lambda q, k, v, backend, causal: (q, k, v, backend, not causal)),
        ),
        "swapped-k-v": _changed(lambda q, k, v, *rest: (q, v, k, *rest)),
        "switches-left": tuple(map(used, _SWITCHED)),
    },
)
