"""A learner's own attention on the words that the course begins with, as `summary` draws it.

What one head of the small model is given there is kept in a file, so that nothing has to be loaded:
a lesson of Python alone draws it too. `listening` asks the same functions about other sentences.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from attnlab import small
from attnlab.calling.call import Call, perform
from attnlab.calling.deadline import Deadline
from attnlab.calling.observe import rebuild
from attnlab.home.arcs import arcs

# An exercise that computes weights, by lesson; the nearest to a model first.
OWN = {
    "06-causal-mask": "attention",
    "05-pytorch": "scaled_dot_product_attention",
    "03-numpy": "scaled_dot_product_attention",
    "02-pure-python": "attention_weights",
    "01-soft-lookup": "soft_lookup",
}
SECONDS = 2.0
NEAR = 1e-3  # of weights that are kept with four digits
Rows = list[list[float]]


@cache
def kept() -> Any:
    """The words, what the head is given (q, k, v), and the weights that it makes of that."""
    text = (files(small) / small.SUBJECT).read_text(encoding="utf-8")
    return json.loads(text)


def drawn(slug: str, names: Mapping[str, Any]) -> str:
    """A lesson's own function as arcs; '' where it gives other weights, or the lesson has none.

    Args:
        names: of the notebook.
    """
    function = names.get(OWN.get(slug, ""))
    if not callable(function):
        return ""
    about = kept()
    given = (about["q"], about["k"], about["v"])
    outcome = perform(lambda: weights_of(function, slug, *given), Call(()), Deadline(SECONDS))
    if outcome.returned is None:
        return ""
    try:
        found = [[float(each) for each in row] for row in rebuild(outcome.returned)]
        pairs = [
            abs(one - other)
            for row, right in zip(found, about["weights"], strict=True)
            for one, other in zip(row, right, strict=True)
        ]
    except (TypeError, ValueError):  # it gave something else
        return ""
    return arcs(about["words"], found) if max(pairs) < NEAR else ""


def weights_of(function: Callable[..., Any], slug: str, q: Rows, k: Rows, v: Rows) -> Any:
    """What a learner's function makes of queries, keys and values: (N, N), nested.

    No word is to listen to a later one: where an exercise knows no mask, each word is asked with
    those up to it.
    """
    n, d = len(q), len(q[0])
    if slug == "01-soft-lookup":  # it does not scale
        rows = [function([x / d**0.5 for x in q[i]], k[: i + 1], v[: i + 1])[1] for i in range(n)]
        return [[*row, *[0.0] * (n - len(row))] for row in rows]
    if slug == "02-pure-python":
        rows = [function([q[i]], k[: i + 1])[0] for i in range(n)]
        return [[*row, *[0.0] * (n - len(row))] for row in rows]
    if slug == "03-numpy":
        import numpy as np

        seen = np.tril(np.ones((n, n), dtype=bool))
        return function(np.array(q), np.array(k), np.array(v), seen)[1].tolist()
    import torch

    parts = [torch.tensor(each) for each in (q, k, v)]
    if slug == "05-pytorch":
        return function(*parts, torch.ones(n, n).tril().bool())[1].tolist()
    x = torch.cat(parts, dim=-1)  # of which each matrix takes its part
    three = torch.eye(3 * d).split(d, dim=-1)
    return function(x[None], *three)[1][0].tolist()
