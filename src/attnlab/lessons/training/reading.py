"""What lesson 10's writer reads: documentation that every reader has."""

from __future__ import annotations

import inspect
import re


def documentation() -> str:
    """The pages that come with Python, or PyTorch's where they do not; each paragraph once.

    Runs of spaces, which indent examples, are one space, as a sample would be full of them. Pages
    quote each other, and what stands in two of them could be both learned and held out.
    """
    try:
        from pydoc_data.topics import topics  # type: ignore[import-not-found,unused-ignore]

        pages = [*topics.values()]
    except ImportError:
        import torch

        print(
            "This Python comes without its documentation (pydoc_data), so the model reads that of "
            "PyTorch instead: its samples and losses are not those that the lesson describes."
        )
        pages = [inspect.getdoc(each) or "" for each in vars(torch).values() if callable(each)]
    text = re.sub(" +", " ", "\n\n".join(pages))
    return "\n\n".join(dict.fromkeys(text.split("\n\n")))
