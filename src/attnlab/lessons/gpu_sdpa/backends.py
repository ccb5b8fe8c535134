"""Lesson 12's second exercise: PyTorch's call by one backend, or None where that refuses."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from attnlab.calling import fused
from attnlab.calling.observe import Made, made
from attnlab.checks.exercise import (
    FLOAT32_TOLERANCE,
    Case,
    Exercise,
    Group,
    Mistake,
    Slot,
    Way,
    unchanged,
)
from attnlab.checks.inputs import Generator, ones_in_turn, sizes
from attnlab.checks.recipe import Tensor
from attnlab.lessons.gpu_sdpa import LESSON
from attnlab.lessons.gpu_sdpa.one_call import HALF_TOLERANCE
from attnlab.lessons.pytorch.exercises import normal

NONE, KERNEL = "does it give None", "does that kernel run"
VIEWS = "does it give None for views"
SWITCHES, SILENT = "are the switches left alone", "is stderr empty"
HERE = ("MATH", "FLASH_ATTENTION")  # those that a CPU has
ELSEWHERE = ("EFFICIENT_ATTENTION", "CUDNN_ATTENTION")
Inputs = tuple[Tensor, ...]


def _inputs(rng: Generator, b: int, h: int, n: int, m: int, d: int) -> Inputs:
    return normal(rng, b, h, n, d), normal(rng, b, h, m, d), normal(rng, b, h, m, d)


def _some(rng: Generator, low: int = 2) -> Inputs:
    return _inputs(rng, *sizes(rng, 5, low, 9))


def _square(rng: Generator) -> Inputs:
    b, h, n, d = sizes(rng, 4, 3, 9)
    return _inputs(rng, b, h, n, n, d)


def _backend(name: str) -> Made:
    return made("fused.backend", name)


def _answer(slot: str) -> dict[str, Any]:
    """How a question is asked whose right answer is yes."""
    names = ("question", "q", "k", "v", "backend", "causal")
    return {"way": Way("fused.ask", (Slot(slot, "bool"),), lambda *args: True, names)}


def _cases(rng: Generator) -> Iterator[Case]:
    here = [_backend(name) for name in HERE]
    way = Way("fused.run", (Slot("out", "tensor", "B H N d"),), _exactly)
    for backend in here:
        yield Case("values", (*_some(rng), backend), way=way)
        yield Case("values", (*_some(rng), backend, False), note="causal is False", way=way)
        note = "causal is True"
        yield Case("causal", (*_square(rng), backend, True), note=note, way=way)
        by_name = {"causal": True}
        note = "causal is given by name"
        yield Case("causal", (*_square(rng), backend), by_name, note=note, way=way)
        for one in ones_in_turn(rng, 5):
            inputs = (*_inputs(rng, *one), backend)
            yield Case("dtype", inputs, note="one of the sizes is 1", way=way)
        single = tuple(part.float() for part in _some(rng))
        note, tolerance = "inputs are float32", FLOAT32_TOLERANCE
        yield Case("dtype", (*single, backend), note=note, tolerance=tolerance, way=way)
        half = tuple(part.half() for part in _some(rng))
        note, tolerance = "inputs are float16", HALF_TOLERANCE
        yield Case("dtype", (*half, backend), note=note, tolerance=tolerance, way=way)
    slot = "whether that kernel ran"
    for backend in here:
        for causal in (False, True):
            yield Case("kernel", (KERNEL, *_square(rng), backend, causal), **_answer(slot))
    yield from _refused(rng)
    yield from _impossible(rng)
    yield from _switches(rng)
    slot = "whether stderr stayed empty"
    for name in (*HERE, *ELSEWHERE):
        yield Case("silent", (SILENT, *_some(rng), _backend(name)), **_answer(slot))
    flash = _backend("FLASH_ATTENTION")
    yield Case("silent", (SILENT, *_whole(rng), flash), note="whole numbers", **_answer(slot))


def _whole(rng: Generator) -> Inputs:
    """Inputs of a dtype that no kernel takes."""
    return tuple((10 * part).long() for part in _some(rng))


def _refused(rng: Generator) -> Iterator[Case]:
    """Inputs that a backend does not take, as it is not there or wants others."""
    kind = _answer("whether None came back")
    for name in ELSEWHERE:
        for causal in (False, True):
            note = "there is no such kernel on a CPU"
            args = (NONE, *_square(rng), _backend(name), causal)
            yield Case("none", args, note=note, **kind)
    for name in HERE:
        note = "inputs are whole numbers"
        yield Case("none", (NONE, *_whole(rng), _backend(name)), note=note, **kind)
    note = "neighbours in the last axis are no neighbours in memory"
    yield Case("none", (VIEWS, *_some(rng), _backend("FLASH_ATTENTION")), note=note, **kind)


def _impossible(rng: Generator) -> Iterator[Case]:
    """Shapes that do not fit; some kernels take them nevertheless."""
    way = Way("fused.run", (Slot("out", "tensor", "B H N d"),), _exactly)
    for name in (*HERE, *ELSEWHERE):
        q, k, v = _some(rng, 3)
        for changed, note in (
            ((q[..., :-1], k, v), "q is narrower than k"),
            ((q, k[..., :-1], v[..., :-1]), "q is wider than k"),
            ((q, k[..., :-1, :], v), "there are fewer keys than values"),
            ((q, k, v[..., :-1, :]), "there are fewer values than keys"),
            ((q[:-1], k, v), "the batch of q is smaller"),
            ((q, k[:-1], v[:-1]), "the batch of k and v is smaller"),
            ((q[:, :-1], k, v), "q has fewer heads"),
            ((q, k[:, :-1], v[:, :-1]), "k and v have fewer heads"),
        ):
            args = (*(part.contiguous() for part in changed), _backend(name))
            yield Case("refuses", args, raises="ValueError", note=note, way=way)
    q, k, v = _some(rng, 3)
    for changed, note in (  # one of the three is unlike the two others
        ((q, k[..., :-1], v), "q is wider than k, and as wide as v"),
        ((q, k[:-1], v), "the batch of k is smaller"),
        ((q, k, v[:-1]), "the batch of v is smaller"),
        ((q, k[:, :-1], v), "k has fewer heads"),
        ((q, k, v[:, :-1]), "v has fewer heads"),
    ):
        args = (*(part.contiguous() for part in changed), _backend("FLASH_ATTENTION"))
        yield Case("refuses", args, raises="ValueError", note=note, way=way)
    for changed, note in (  # math takes what broadcasts
        ((q[:1], k, v), "the batch of q is 1"),
        ((q, k[:1], v[:1]), "the batch of k and v is 1"),
        ((q, k[:1], v), "the batch of k is 1"),
        ((q, k, v[:1]), "the batch of v is 1"),
        ((q[:, :1], k, v), "q has one head"),
        ((q, k[:, :1], v[:, :1]), "k and v have one head"),
        ((q, k[:, :1], v), "k has one head"),
        ((q, k, v[:, :1]), "v has one head"),
        ((q.transpose(0, 1), k, v), "B and H of q are exchanged"),
        ((q, k.transpose(0, 1), v), "B and H of k are exchanged"),
        ((q, k, v.transpose(0, 1)), "B and H of v are exchanged"),
    ):
        args = (*(part.contiguous() for part in changed), _backend("MATH"))
        yield Case("refuses", args, raises="ValueError", note=note, way=way)


def _switches(rng: Generator) -> Iterator[Case]:
    """Calls that end well, that give None and that raise; some switches are off before them."""
    slot = "whether the switches are as they were"
    for name in (*HERE, ELSEWHERE[int(rng.integers(2))]):
        before = [True, True, True, True]
        for off in rng.choice(4, int(rng.integers(1, 3)), replace=False):
            before[off] = False
        args = (SWITCHES, *_some(rng), _backend(name), before)
        yield Case("switches", args, note="some switches are off before", **_answer(slot))
    for name in HERE:
        args = (SWITCHES, *_some(rng), _backend(name), [True] * 4)
        yield Case("switches", args, note="all switches are on before", **_answer(slot))
    q, k, v = _some(rng, 3)
    args = (SWITCHES, q, k[..., :-1], v, _backend("MATH"), [True, False, True, True])
    yield Case("switches", args, note="widths do not fit", **_answer(slot))


def _exactly(q: Tensor, k: Tensor, v: Tensor, backend: Any, causal: bool = False) -> Tensor:
    with sdpa_kernel(backend):
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


def _refuse(q: Tensor, k: Tensor, v: Tensor) -> None:
    same = q.shape[:2] == k.shape[:2] == v.shape[:2]
    if not same or q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError


Call = Callable[..., Any]


def _called(kernel: Callable[[Any], Any] = lambda backend: backend) -> Call:
    """PyTorch's call by other backends than the one that is asked for."""

    def call(q: Tensor, k: Tensor, v: Tensor, backend: Any, causal: bool) -> Tensor:
        with sdpa_kernel(kernel(backend)):
            return F.scaled_dot_product_attention(q, k, v, is_causal=causal)

    return call


def _always(backend: Any) -> Call:
    return _called(lambda _: backend)


def _careful(call: Call) -> Call:
    """What an answer does around the call: it refuses, is silent, and gives None."""

    def run_backend(q: Tensor, k: Tensor, v: Tensor, backend: Any, causal: bool = False) -> Any:
        _refuse(q, k, v)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return call(q, k, v, backend, causal)
            except RuntimeError:
                return None

    return run_backend


def _mistake(slug: str, run_backend: Call, reason: str, remedy: str) -> Mistake:
    """A wrong answer, asked as a learner's is: nothing of it is seen or stays."""

    def answer(*args: Any, **kwargs: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            how = fused.ask if isinstance(args[0], str) else fused.run
            return how(run_backend, *args, **kwargs)

    return Mistake(slug, answer, reason, remedy)


def _warns(q: Tensor, k: Tensor, v: Tensor, backend: Any, causal: bool = False) -> Any:
    _refuse(q, k, v)
    try:
        return _exactly(q, k, v, backend, causal)
    except RuntimeError:
        return None


def _falls_back(q: Tensor, k: Tensor, v: Tensor, backend: Any, causal: bool) -> Tensor:
    try:
        return _exactly(q, k, v, backend, causal)
    except RuntimeError:
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


def _copied(q: Tensor, k: Tensor, v: Tensor, backend: Any, causal: bool) -> Tensor:
    return _exactly(q.contiguous(), k.contiguous(), v.contiguous(), backend, causal)


def _turn(backend: Any) -> None:
    """By the switches themselves."""
    names = ("FLASH_ATTENTION", "EFFICIENT_ATTENTION", "MATH", "CUDNN_ATTENTION")
    fused._set([backend == getattr(SDPBackend, name) for name in names])


def _left(q: Tensor, k: Tensor, v: Tensor, backend: Any, causal: bool) -> Tensor:
    _turn(backend)
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


def _left_first(q: Tensor, k: Tensor, v: Tensor, backend: Any, causal: bool = False) -> Any:
    _turn(backend)  # before anything is looked at
    return _careful(_left)(q, k, v, backend, causal)


def _left_on_refusal(q: Tensor, k: Tensor, v: Tensor, backend: Any, causal: bool) -> Tensor:
    before = fused.switches()
    out = _left(q, k, v, backend, causal)
    fused._set(before)
    return out


def _all_on(q: Tensor, k: Tensor, v: Tensor, backend: Any, causal: bool) -> Tensor:
    try:
        return _left(q, k, v, backend, causal)
    finally:
        fused._set([True] * 4)


def _all_on_before(q: Tensor, k: Tensor, v: Tensor, backend: Any, causal: bool = False) -> Any:
    try:
        return _careful(_left)(q, k, v, backend, causal)
    finally:
        fused._set([True] * 4)


_CONTEXT = "Write `with sdpa_kernel(backend):` around the call."

BACKEND = Exercise(
    name="run_backend",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(q, k, v, backend, causal=False) -> Tensor | None",
    axes=("b h n d", "b h m d", "b h m d", "?", "?"),
    read="Who refuses, and why",
    returns=(Slot("out", "tensor", "B H N d"),),
    groups=(
        Group("values", "gives what PyTorch's call gives", 0.5, core=True),
        Group("causal", "hides the future where causal is True", 0.25),
        Group("kernel", "runs the backend that is asked for, and no other", 0.375),
        Group("none", "gives None where that backend does not take these inputs", 0.375),
        Group("dtype", "keeps float16, float32 and float64, and takes sizes of 1", 0.0625),
        Group("refuses", "raises ValueError for shapes that do not fit", 0.125),
        Group("switches", "leaves PyTorch's global switches as they were", 0.125),
        Group("silent", "writes nothing to stderr", 0.125),
        unchanged(0.0625),
    ),
    cases=_cases,
    oracle=_exactly,
    mistakes=(
        *(
            _mistake(
                "backend-ignored",
                _careful(_always(one)),
                "The same kernel runs whichever backend is asked for: the one that PyTorch chooses "
                "by itself, or one that stands in your code.",
                _CONTEXT,
            )
            for one in (SDPBackend.MATH, SDPBackend.FLASH_ATTENTION)
        ),
        *(
            _mistake(
                "falls-back",
                answer,
                "Where the backend refuses, another one did the work. Who measures then measures "
                "the wrong kernel.",
                "Allow this one backend alone, catch the `RuntimeError`, and return None.",
            )
            for answer in (
                _careful(_falls_back),
                _careful(_called(lambda backend: [backend, SDPBackend.MATH])),
            )
        ),
        _mistake(
            "copied-for-the-kernel",
            _careful(_copied),
            "Views were copied into other inputs, which the backend takes. Asked was whether it "
            "takes these.",
            "Hand q, k and v over as they are, without `.contiguous()`.",
        ),
        _mistake(
            "causal-ignored",
            _careful(lambda q, k, v, backend, causal: _exactly(q, k, v, backend)),
            "Each token sees the future also where causal is True.",
            "Hand causal on to the call: `is_causal=causal`.",
        ),
        *(
            _mistake(
                "causal-uncalled-for",
                _careful(call),
                "The future is hidden where causal is False.",
                "Let `is_causal=causal` alone hide it, as it is, with no `attn_mask`.",
            )
            for call in (
                lambda q, k, v, backend, causal: _exactly(q, k, v, backend, True),
                lambda q, k, v, backend, causal: _exactly(q, k, v, backend, not causal),
            )
        ),
        _mistake(
            "swapped-k-v",
            _careful(lambda q, k, v, backend, causal: _exactly(q, v, k, backend, causal)),
            "Keys and values have changed places.",
            "The call takes queries, keys and values, in this order.",
        ),
        *(
            _mistake(
                "switches-left",
                answer,
                "The switches are PyTorch's, and each later call of anyone follows them. They stay "
                "as your function set them.",
                "`with sdpa_kernel(backend):` sets them, and sets them back.",
            )
            for answer in (_careful(_left), _left_first)
        ),
        _mistake(
            "switches-left-on-refusal",
            _careful(_left_on_refusal),
            "The switches are set back after the call, and where the call raises that line is "
            "never reached.",
            "`with sdpa_kernel(backend):` sets them back whatever happens; by hand it takes "
            "`try` and `finally`.",
        ),
        *(
            _mistake(
                "switches-all-on",
                answer,
                "Afterwards all switches are on, whatever they were before.",
                "`with sdpa_kernel(backend):` remembers them, and sets them back.",
            )
            for answer in (_careful(_all_on), _all_on_before)
        ),
        _mistake(
            "warnings-shown",
            _warns,
            "Where a backend refuses, PyTorch warns of the reasons, and the warnings went to "
            "stderr.",
            "Write `with warnings.catch_warnings():` around it, and in it "
            '`warnings.simplefilter("ignore")`.',
        ),
    ),
)
