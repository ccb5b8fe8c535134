"""The settings of NumPy and PyTorch that a check is made under: those that they begin with.

A learner may compute in float64 by default, on a GPU, or without gradients, and a right answer is
right all the same. Each setting is a learner's again after it.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

_KERNELS = ("flash", "mem_efficient", "math", "cudnn")  # of PyTorch's attention


class _Setting(NamedTuple):
    get: Callable[[], Any]
    put: Callable[[Any], object]
    usual: Any


@contextlib.contextmanager
def usual_settings() -> Iterator[None]:
    """Compute in the block as NumPy and PyTorch do unless told otherwise, if they are loaded."""
    settings = [*_of_numpy(), *_of_torch()]
    before = [setting.get() for setting in settings]
    with _no_inference():
        for setting in settings:
            _put(setting, setting.usual)
        try:
            with _modes_ended():
                yield
        finally:
            for setting, value in zip(settings, before, strict=True):
                _put(setting, value)


def _put(setting: _Setting, value: Any) -> None:
    if setting.get() != value:
        setting.put(value)


@functools.cache
def _usual_of_numpy(numpy: Any) -> _Setting:
    usual = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
    return _Setting(numpy.geterr, lambda errors: numpy.seterr(**errors), usual)


def _of_numpy() -> list[_Setting]:
    numpy = sys.modules.get("numpy")
    return [_usual_of_numpy(numpy)] if hasattr(numpy, "geterr") else []


def _of_torch() -> list[_Setting]:
    torch = sys.modules.get("torch")
    return _usual_of_torch(torch) if hasattr(torch, "get_default_device") else []


@functools.cache
def _usual_of_torch(torch: Any) -> list[_Setting]:
    kernels = torch.backends.cuda
    return [
        _Setting(torch.get_default_dtype, torch.set_default_dtype, torch.float32),
        _Setting(torch.get_default_device, _make_on, torch.device("cpu")),
        _Setting(torch.is_grad_enabled, torch.set_grad_enabled, True),
        _Setting(torch.is_anomaly_enabled, torch.autograd.set_detect_anomaly, False),
        _Setting(
            functools.partial(torch.is_autocast_enabled, "cpu"),
            functools.partial(torch.set_autocast_enabled, "cpu"),
            False,
        ),
        _Setting(torch.get_float32_matmul_precision, torch.set_float32_matmul_precision, "highest"),
        *(
            _Setting(
                getattr(kernels, f"{kernel}_sdp_enabled"),
                getattr(kernels, f"enable_{kernel}_sdp"),
                True,
            )
            for kernel in _KERNELS
        ),
    ]


@contextlib.contextmanager
def _modes_ended() -> Iterator[None]:
    """End PyTorch's modes that the block began: an interrupt may come while one is being left."""
    torch: Any = sys.modules.get("torch")
    if not hasattr(torch, "overrides"):
        yield
        return
    stacks = (
        (torch._C._len_torch_function_stack, torch._C._pop_torch_function_stack),
        (torch._C._len_torch_dispatch_stack, lambda: torch._C._pop_torch_dispatch_stack(None)),
    )
    before = [count() for count, _ in stacks]
    try:
        yield
    finally:
        for (count, end), number in zip(stacks, before, strict=True):
            while count() > number:
                end()


def _make_on(device: Any) -> None:
    """Have new tensors made on a device."""
    # A default device is a mode that slows every call, but for none, which is the CPU.
    sys.modules["torch"].set_default_device(None if device.type == "cpu" else device)


def _no_inference() -> contextlib.AbstractContextManager[None]:
    """Lets tensors have gradients where a notebook is in `inference_mode`."""
    torch: Any = sys.modules.get("torch")
    if hasattr(torch, "is_inference_mode_enabled") and torch.is_inference_mode_enabled():
        return torch.inference_mode(False)
    return contextlib.nullcontext()
