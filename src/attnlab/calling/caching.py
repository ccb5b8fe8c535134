"""Ways to use a learner's cache of keys and values, and the step that decodes with it.

Nothing here knows what the right answer is.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import torch

Tensor = torch.Tensor


def append(cache_class: Callable[[], Any], *parts: Tensor) -> Any:
    """What a new cache gives back for the last of several parts.

    Args:
        parts: keys and values in turn, (…, L, d_k) and (…, L, d_v).
    """
    cache = cache_class()
    for k, v in zip(parts[::2], parts[1::2], strict=True):
        result = cache.append(k, v)
    return result


def two_caches(cache_class: Callable[[], Any], *parts: Tensor) -> tuple[Any, ...]:
    """The same of two caches that are filled by turns, the first one's and the second one's."""
    caches = cache_class(), cache_class()
    results: list[Any] = [None, None]
    for at, (k, v) in enumerate(zip(parts[::2], parts[1::2], strict=True)):
        results[at % 2] = caches[at % 2].append(k, v)
    return tuple(part for result in results for part in result)


def decode(
    cache_class: Callable[[], Any],
    x: Tensor,
    Wq: Tensor,
    Wk: Tensor,
    Wv: Tensor,
    prefill: int,
) -> Any:
    """What decode_step gives for each token of x after the first ones, which are put in at once.

    Args:
        x: (B, N, d).
        prefill: how many tokens' keys and values are in the cache before.
    """
    decode_step = beside(cache_class, "decode_step")
    cache = cache_class()
    if prefill:
        first = x[:, :prefill]
        cache.append(first @ Wk, first @ Wv)
    steps = [decode_step(x[:, at : at + 1], cache, Wq, Wk, Wv) for at in range(prefill, x.shape[1])]
    return steps[0] if len(steps) == 1 else tuple(steps)


def beside(thing: Any, name: str) -> Any:
    """What a name stands for where a class's methods are written.

    Raises:
        NameError: nothing there has that name.
    """
    for names in _around(thing):
        if name in names:
            return names[name]
    raise NameError(f"name {name!r} is not defined")


def _around(thing: Any) -> Iterator[dict[str, Any]]:
    """The global names of a class's methods, its own before those it inherits."""
    for kind in thing.__mro__ if isinstance(thing, type) else ():
        for part in vars(kind).values():
            method = inspect.unwrap(getattr(part, "__func__", part))
            if inspect.isfunction(method):
                yield method.__globals__
    if inspect.isfunction(thing):  # a function that makes caches
        yield thing.__globals__
