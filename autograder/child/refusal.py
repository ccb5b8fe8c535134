"""Absence again: PyTorch's own attention, taken away while an exercise is called that bans it.

Reading code and watching operators both look for names, and names can be hidden. The kernels
themselves are below all of that: a thread, TorchScript or a mode switched off ends here as well.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NoReturn

# Dispatch keys where these operators are implemented on a CPU.
KERNELS = {
    "scaled_dot_product_attention": "CompositeImplicitAutograd",
    "_scaled_dot_product_attention_math": "CompositeImplicitAutograd",
    "_scaled_dot_product_flash_attention_for_cpu": "CPU",
    "_scaled_dot_product_fused_attention_overrideable": "CompositeExplicitAutograd",
    "_native_multi_head_attention": "CPU",
    "_transformer_encoder_layer_fwd": "CPU",
}


class Refusal:
    """The kernels are gone from `take_away` until `give_back`. Both may be called again.

    Attributes:
        asked: names of those that were called all the same.
    """

    def __init__(self) -> None:
        self._library: Any = None
        self.asked: list[str] = []

    def take_away(self) -> None:
        """Replace the kernels by ones that raise RuntimeError."""
        import torch

        if self._library is not None:
            return
        self._library = torch.library.Library("aten", "IMPL")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a kernel is replaced is what is wanted
            for name, key in KERNELS.items():
                self._library.impl(name, self._refusing(name), key, allow_override=True)

    def give_back(self) -> None:
        if self._library is not None:
            self._library._destroy()
            self._library = None

    def _refusing(self, name: str) -> Callable[..., NoReturn]:
        def refuse(*args: Any, **kwargs: Any) -> NoReturn:
            self.asked.append(name)
            raise RuntimeError(f"PyTorch's own attention ({name}) is banned here")

        return refuse
