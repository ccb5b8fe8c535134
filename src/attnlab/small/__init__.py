"""A language model of the course's own: attention that was learned.

    small.weights("the dogs that the boy sees".split())     one array a layer, (H, N, N)
    small.following("the dogs that the boy sees".split())   what may come next, with its share
    small.load()                                            the model, for experiments
    small.head("subject")                                   which layer and head has a role

Lessons call these, and so does the course home. In goes a sentence of its own words; out come
weights, or shares of next words. `grammar` writes its texts, `model` is GPT-2's block, `train`
trains it, `measure` asks what it can do and what each head does, by removing it; `make model` does
all of that again. Begin at `grammar`.
"""

from __future__ import annotations

import difflib
import functools
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnlab.small.grammar import NUMBER, START, words

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    from attnlab.small.model import SmallModel

HERE = Path(__file__).parent
WEIGHTS, CONFIG, FACTS = "model.safetensors", "config.json", "facts.json"
SUBJECT = "subject.json"  # the head that finds a verb's subject, on SAMPLE
SAMPLE = ["<s>", "the", "dogs", "that", "the", "boy", "sees"]  # what other machines are compared by
__all__ = [
    "START",
    "facts",
    "following",
    "given",
    "head",
    "known",
    "load",
    "numbered",
    "save",
    "weights",
    "words",
]


def known(text: Sequence[str]) -> None:
    """Whether the model knows all these words.

    Raises:
        ValueError: there are none, or it does not know one of them; with those that are near.
    """
    if isinstance(text, str):
        raise ValueError(f"a list of words is needed, as {text.split()[:3]}…, not a text")
    if not text:
        raise ValueError("there are no words")
    for word in text:
        if word not in NUMBER:
            near = difflib.get_close_matches(str(word), words, n=3, cutoff=0)
            raise ValueError(
                f"the small model does not know “{word}”. The nearest that it knows: "
                f"{', '.join(near)}."
            )


def numbered(text: Sequence[str]) -> Tensor:
    """The numbers of words, (1, N).

    Raises:
        ValueError: as by `known`.
    """
    import torch

    known(text)
    return torch.tensor([[NUMBER[word] for word in text]])


@functools.cache
def _loaded(folder: Path) -> SmallModel:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    from attnlab.small.model import Sizes, SmallModel

    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        state = load_file(folder / WEIGHTS)
        if config["words"] != list(words):
            raise ValueError("they were trained on other words")
        model = SmallModel(
            Sizes(
                words=config["vocab_size"],
                positions=config["n_positions"],
                width=config["n_embd"],
                layers=config["n_layer"],
                heads=config["n_head"],
            )
        )
        model.load_state_dict(state)
    except (OSError, SafetensorError, ValueError, KeyError, TypeError, RuntimeError) as error:
        first = str(error).splitlines()[0]
        raise ValueError(
            f"the small model in {folder} cannot be used ({first}). `make model` makes it again."
        ) from error
    return model.eval().requires_grad_(False)


def load(folder: str | Path = HERE) -> SmallModel:
    """The model, ready to be asked; a new one each time, so that an experiment spoils no other.

    Args:
        folder: with model.safetensors and config.json.
    Raises:
        ValueError: they are missing, cut short or of another version.
    """
    import copy

    return copy.deepcopy(_loaded(Path(folder)))


def weights(text: Sequence[str]) -> list[np.ndarray]:
    """Who listens to whom in a text: for each layer (H, N, N), rows are queries.

    Args:
        text: N words that the model knows, 64 at most. Its texts began with "<s>", or without.
    Raises:
        ValueError: a word is unknown, or there are too many.
    """
    return [each[0].double().numpy() for each in _loaded(HERE).run(numbered(text))[1]]


def given(text: Sequence[str], layer: int, head: int) -> tuple[Tensor, Tensor, Tensor]:
    """What a head is given in a text: queries, keys and values, (N, d / H) each.

    Args:
        text: as for `weights`.
        layer, head: counted from 0.
    """
    model = load()
    attention: Any = model.transformer.h[layer].attn
    came: list[Any] = []
    attention.c_attn.register_forward_hook(lambda _, __, made: came.append(made[0]))
    model(numbered(text))
    q, k, v = came[0].chunk(3, dim=-1)
    width = q.shape[-1] // attention.heads
    mine = slice(head * width, (head + 1) * width)
    return q[:, mine], k[:, mine], v[:, mine]


def following(text: Sequence[str], most: int = 5) -> dict[str, float]:
    """The words that the model expects next, each with its probability, the likeliest first.

    Args:
        text: as for `weights`.
        most: how many.
    """
    return _following(_loaded(HERE), text, most)


def _following(model: SmallModel, text: Sequence[str], most: int) -> dict[str, float]:
    best = model(numbered(text))[0, -1].softmax(dim=-1).topk(most)
    return {
        words[word]: share
        for word, share in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    }


def head(role: str) -> tuple[int, int]:
    """The layer and head that has a role in the shipped model, counted from 0.

    Args:
        role: "subject": its row decides a verb's number; "previous": it reads the word before;
            "repeat": it reads what came after the same word earlier.
    Raises:
        ValueError: there is no such role.
    """
    roles = json.loads((HERE / CONFIG).read_text(encoding="utf-8"))["roles"]
    if role not in roles:
        raise ValueError(f"no head has the role “{role}”; there are {', '.join(roles)}")
    layer, which = roles[role]
    return layer, which


def facts() -> Any:
    """What such models can do, and what each head does, over several seeds; by `make model`."""
    return json.loads((HERE / FACTS).read_text(encoding="utf-8"))


def save(model: SmallModel, roles: Mapping[str, Sequence[int]], folder: Path = HERE) -> None:
    """Write the weights and the configuration, in GPT-2's layout; each whole, or not at all."""
    from safetensors.torch import save as as_bytes

    sizes = model.sizes
    config = {
        "model_type": "gpt2",
        "architectures": ["GPT2LMHeadModel"],
        "vocab_size": sizes.words,
        "n_positions": sizes.positions,
        "n_embd": sizes.width,
        "n_layer": sizes.layers,
        "n_head": sizes.heads,
        "activation_function": "relu",
        "tie_word_embeddings": True,
        **dict.fromkeys(("embd_pdrop", "attn_pdrop", "resid_pdrop"), 0.0),
        **dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id"), NUMBER[START]),
        "roles": dict(roles),
        "words": words,
        "sample": {"text": SAMPLE, "following": _following(model, SAMPLE, 5)},
    }
    state = {name: part.detach().contiguous() for name, part in model.state_dict().items()}
    written = json.dumps(config, indent=1, ensure_ascii=False) + "\n"
    for name, content in (
        (WEIGHTS, as_bytes(state, {"format": "pt"})),
        (CONFIG, written.encode()),
    ):
        whole = folder / f"{name}.new"
        whole.write_bytes(content)
        os.replace(whole, folder / name)
