"""PyTorch's own attention, or softmax's own way back, refused where it is to be written.

The same lists for the notebook's `check` and for the grader. Kernels are replaced in PyTorch's
dispatcher, where every name and every way to call them ends; functions in Python by their code, so
that a name imported earlier refuses as well. Modules are made of these two. All is given back when
the call is over.
"""

from __future__ import annotations

import contextlib
import functools
import pkgutil
import warnings
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, MappingProxyType
from typing import Any, NoReturn

_VMAP = ("FuncTorchDynamicLayerFrontMode", "FuncTorchVmapMode", "FuncTorchBatchedDecomposition")
_COMPOSITE = ("CompositeImplicitAutograd", *_VMAP)
_NATIVE = ("CPU", "NestedTensorCPU")
# Name of the operator: dispatch keys of what it does on a CPU.
ATTENTION = MappingProxyType(
    {
        "scaled_dot_product_attention": _COMPOSITE,
        "_scaled_dot_product_attention_math": _COMPOSITE,
        "_scaled_dot_product_flash_attention_for_cpu": ("CPU",),
        "_scaled_dot_product_flash_attention_for_cpu_backward": ("CPU",),
        "_scaled_dot_product_fused_attention_overrideable": ("CompositeExplicitAutograd",),
        "_native_multi_head_attention": _NATIVE,
        "_transformer_encoder_layer_fwd": _NATIVE,
    }
)
# Autograd ends here as well, on its way back through torch.softmax.
BACKWARD = MappingProxyType(
    {
        "_softmax_backward_data": _NATIVE,
        "_softmax_backward_data.out": ("CPU",),
        "_log_softmax_backward_data": ("CPU",),
        "_log_softmax_backward_data.out": ("CPU",),
        "_masked_softmax_backward": ("CPU",),
        "_sparse_softmax_backward_data": ("SparseCPU",),
        "_sparse_log_softmax_backward_data": ("SparseCPU",),
        "_scaled_dot_product_flash_attention_for_cpu_backward": ("CPU",),
    }
)
KERNELS = MappingProxyType({"attention": ATTENTION, "backward": BACKWARD})
# Attention that is written in Python, of plain operators.
FUNCTIONS = (
    ("torch.nn.functional", "multi_head_attention_forward"),
    ("torch.nn.modules.activation", "MultiheadAttention.forward"),
    ("torch.nn.attention.flex_attention", "flex_attention"),
    ("torch._higher_order_ops.flex_attention", "math_attention"),  # whichever way it is called
    ("torch._higher_order_ops.flex_attention", "_math_attention_inner"),
    ("torch.ao.nn.quantizable.modules.activation", "MultiheadAttention.forward"),
    ("torch.onnx.ops", "attention"),
    ("torch.onnx.ops._impl", "attention_23._init_fn"),
)
MODULES = (
    "MultiheadAttention",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
)
NAMES = {
    "attention": frozenset([*ATTENTION, *(path for _, path in FUNCTIONS), *MODULES]),
    "backward": frozenset(["decomposition_table", *(name for name in BACKWARD if "." not in name)]),
}
SENTENCE = (
    "PyTorch's own attention ({}) is refused here: it is what your answer is checked against. "
    "Write scores, scale, mask, softmax and weighted sum yourself, with `@` and torch.softmax."
)
BACKWARD_SENTENCE = (
    "Softmax's own way back ({}), which autograd calls as well, is refused here: it is what your "
    "answer is checked against. Work the slopes out from the weights, with `*` and a sum."
)
SENTENCES = MappingProxyType({"attention": SENTENCE, "backward": BACKWARD_SENTENCE})


class Refused(RuntimeError):
    """What is to be written was called instead."""


asked: list[str] = []  # what was called all the same, each name once


def refuse(name: str, which: str = "attention") -> NoReturn:
    if name not in asked:
        asked.append(name)
    raise Refused(SENTENCES[which].format(name))


def refuse_in(module: Any) -> None:
    """Refuse a module that has one of PyTorch's own in it, and so parameters besides its own."""
    for part in module.modules():
        kind = type(part)
        if kind.__name__ in MODULES and kind.__module__.startswith("torch."):
            refuse(kind.__name__)


@contextlib.contextmanager
def refusing(which: str = "attention") -> Iterator[list[str]]:
    """Refuse PyTorch's own attention in the block.

    Args:
        which: a key of KERNELS: 'backward' refuses softmax's own way back instead.
    Yields:
        Names of what was called all the same; filled until the block ends.
    """
    import torch

    asked.clear()
    own = functions() if which == "attention" else ()
    replaced = [(function, function.__code__) for function in own]
    library = torch.library.Library("aten", "IMPL")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a kernel is replaced is what is wanted
            for name, keys in KERNELS[which].items():
                for key in keys:
                    library.impl(name, _refusing(name, which), key)
        for function, code in replaced:
            function.__code__ = _stand_in_for(code)
        yield asked
    finally:
        for function, code in replaced:
            function.__code__ = code
        library._destroy()


@functools.cache
def functions() -> tuple[FunctionType, ...]:
    """FUNCTIONS themselves, as they were when this was first asked for."""
    return tuple(pkgutil.resolve_name(f"{module}:{path}") for module, path in FUNCTIONS)


def _refusing(name: str, which: str = "attention") -> Callable[..., NoReturn]:
    return lambda *args, **kwargs: refuse(name, which)


def _stand_in_for(code: CodeType) -> CodeType:
    """Code that refuses, and carries what it refuses with: it runs among another module's names."""
    own, refuse = _stand_in.__code__, _refusing(code.co_qualname)
    held = tuple(refuse if each == "refuse" else each for each in own.co_consts)
    return own.replace(co_name=code.co_name, co_qualname=code.co_qualname, co_consts=held)


def _stand_in(*args: Any, **kwargs: Any) -> Any:
    refuse: Any = "refuse"
    return refuse()


def keep_kernels() -> None:
    """Let PyTorch give nobody a kernel that is refused: what has it calls it unseen."""
    import torch

    dispatcher: Any = torch._C
    taken = dispatcher._dispatch_get_computed_kernel_for_dispatch_key

    def take(name: str, key: Any) -> Any:
        for which, kernels in KERNELS.items():
            for each in kernels:
                if each in str.__str__(name):  # it may be a str's subclass
                    refuse(each, which)
        return taken(name, key)

    dispatcher._dispatch_get_computed_kernel_for_dispatch_key = take
