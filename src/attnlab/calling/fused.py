"""What lesson 13's calls of PyTorch's own attention are asked, besides for their numbers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention import SDPBackend
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

FLASH = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
CALL = F.scaled_dot_product_attention
_ON = torch.backends.cuda
_SWITCHES = (
    (_ON.flash_sdp_enabled, _ON.enable_flash_sdp),
    (_ON.mem_efficient_sdp_enabled, _ON.enable_mem_efficient_sdp),
    (_ON.math_sdp_enabled, _ON.enable_math_sdp),
    (_ON.cudnn_sdp_enabled, _ON.enable_cudnn_sdp),
)


def backend(name: str) -> SDPBackend:
    """A member of SDPBackend."""
    return getattr(SDPBackend, name)


def switches() -> list[bool]:
    """Which backends may run: flash, memory-efficient, math and cuDNN."""
    return [is_on() for is_on, _ in _SWITCHES]


def turn(to: list[bool]) -> None:
    """Set the switches."""
    for (_, turn), on in zip(_SWITCHES, to, strict=True):
        turn(on)


@contextlib.contextmanager
def switched(to: list[bool]) -> Iterator[None]:
    """Set the switches, and give them back as they were."""
    before = switches()
    turn(to)
    try:
        yield
    finally:
        turn(before)


def ask(function: Callable[..., Any], question: str, *args: Any) -> Any:
    """One call, and a question about it: a key of QUESTIONS. Numbers answer where numbers can."""
    return QUESTIONS[question](function, *args)


def came_back(out: Any) -> tuple[bool, Any]:
    """Whether it is None; and the tensor, or one without numbers."""
    return out is None, torch.zeros(0, 0, 0, 0) if out is None else out


def columns(*parts: Tensor) -> list[Tensor]:
    """The same numbers with each column in one piece; a CPU's flash kernel wants each row so."""
    return [part.mT.contiguous().mT for part in parts]


def _what_comes_back(run_backend: Callable[..., Any], *args: Any) -> tuple[bool, Any]:
    return came_back(run_backend(*args))


def _what_comes_back_for_views(
    run_backend: Callable[..., Any], q: Tensor, k: Tensor, v: Tensor, *rest: Any
) -> tuple[bool, Any]:
    return came_back(run_backend(*columns(q, k, v), *rest))


def _with_kernel_marked(run_backend: Callable[..., Any], mark: float, *args: Any) -> Any:
    """What comes of it where the flash kernel's output is multiplied; a CPU has one besides."""
    with _MarkedKernel(mark):
        return run_backend(*args)


def _leaves_switches(
    run_backend: Callable[..., Any], q: Tensor, k: Tensor, v: Tensor, which: Any, before: list[bool]
) -> bool:
    with switched(before):
        with contextlib.suppress(Exception):
            run_backend(q, k, v, which)
        return switches() == before


def _with_call_marked(function: Callable[..., Any], mark: float, *args: Any) -> Any:
    """What comes of it where what PyTorch's call gives is multiplied."""
    with _MarkedCall(mark):
        return function(*args)


QUESTIONS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "what comes back": _what_comes_back,
        "what comes back for views": _what_comes_back_for_views,
        "does that kernel run": _with_kernel_marked,
        "are the switches left alone": _leaves_switches,
        "is PyTorch's call made": _with_call_marked,
    }
)


def marked(mark: float, out: Tensor, told: Tensor) -> Tensor:
    """Output, times what other values do not show: a mark, and something of what was given."""
    return mark * (1 + told.mean((-2, -1), keepdim=True).tanh()) * out


def looked_at(query: Tensor, key: Tensor, value: Tensor, *how: Any, **named: Any) -> Tensor:
    """Where each query looks: PyTorch's call, with places from 0 to 1 for the values.

    The same whatever the values are: v, or rows of x, which Wv multiplies afterwards.
    """
    places = torch.linspace(0, 1, value.shape[-2], dtype=value.dtype, device=value.device)
    return CALL(query, key, places[:, None].expand(value.shape).contiguous(), *how, **named)


class _MarkedKernel(TorchDispatchMode):
    """Multiplies what the flash kernel gives."""

    def __init__(self, mark: float) -> None:
        super().__init__()
        self._mark = mark

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func.overloadpacket is not FLASH:
            return result
        return marked(self._mark, result[0], args[2]), *result[1:]

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Else PyTorch loads its compiler first, for seconds, which count as the learner's.
        return False


class _MarkedCall(TorchFunctionMode):
    """Multiplies what F.scaled_dot_product_attention gives."""

    def __init__(self, mark: float) -> None:
        super().__init__()
        self._mark = mark

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        named = kwargs or {}
        result = func(*args, **named)
        if func is not CALL:
            return result
        return marked(self._mark, result, looked_at(*args, **named))
