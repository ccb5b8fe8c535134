"""Figures to touch: Python computes, JavaScript draws, and a still picture stands in for both.

    figures.live.WhoListens(weights, tokens)

A lesson's cell makes one, out of numbers that it has computed. In go inputs, checked; out comes a
`state`, JSON, which the page draws, and `fallback`, the same as HTML without scripts, which is what
a stored notebook and an export show. What is touched in the page comes back as a message.

Each figure is a class in its own module, with the ES module that draws it beside it. `figure` holds
what all of them share in Python, `figure.mjs`, `motion.mjs` and `figure.css` what they share in the
browser, `strokes` what drawings are made of, and `fallback` what is shown where nothing runs.
A `dials.Dialled` has sliders, pictures, a table and a sentence, a `film.Film` frames between which
it moves; neither needs JavaScript of its own.
Begin at `figure`, then `saturation` or `who_listens`.
"""

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attnlab.figures.live.by_hand import ByHand
    from attnlab.figures.live.cost import Cost
    from attnlab.figures.live.film import Film
    from attnlab.figures.live.heads import Heads
    from attnlab.figures.live.mask_painter import MaskPainter
    from attnlab.figures.live.quiz import Quiz
    from attnlab.figures.live.race import Race
    from attnlab.figures.live.roofline import Roofline
    from attnlab.figures.live.rotary_arrows import RotaryArrows
    from attnlab.figures.live.saturation import Saturation
    from attnlab.figures.live.slopes import Slopes
    from attnlab.figures.live.soft_lookup import SoftLookup
    from attnlab.figures.live.tiles import Tiles
    from attnlab.figures.live.training_scrubber import TrainingScrubber
    from attnlab.figures.live.who_listens import WhoListens

__all__ = [
    "ByHand",
    "Cost",
    "Film",
    "Heads",
    "MaskPainter",
    "Quiz",
    "Race",
    "Roofline",
    "RotaryArrows",
    "Saturation",
    "Slopes",
    "SoftLookup",
    "Tiles",
    "TrainingScrubber",
    "WhoListens",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        home = re.sub("(?<!^)(?=[A-Z])", "_", name).lower()  # WhoListens is in who_listens.py
        return getattr(import_module(f"attnlab.figures.live.{home}"), name)
    raise AttributeError(f"attnlab.figures.live has no {name!r}; it has {', '.join(__all__)}")
