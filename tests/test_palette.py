"""The colours of the figures can be read in both themes, and told apart by everybody."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest

from attnlab.figures import palette
from attnlab.figures.live import fallback
from attnlab.figures.live.figure import style
from attnlab.figures.live.ramp import contrast
from attnlab.figures.palette import COLOURS, SERIES, Colour

GROUNDS = {"light": "#ffffff", "dark": "#111111"}  # of JupyterLab's two themes
SHADED = {
    "light": "#cfcfcf",
    "dark": "#414141",
}  # as SoftLookup's plane, by a fifth
APART = 10  # in CIELAB; 2 is the least that an eye sees
# What those see who lack one kind of cones (Machado, Oliveira and Fernandes 2009, severity 1).
SIGHTS: dict[str, Any] = {
    "all cones": np.eye(3),
    "no long": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no middle": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "no short": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
each_colour = pytest.mark.parametrize("colour", COLOURS, ids=lambda colour: str(colour.name))
each_theme = pytest.mark.parametrize("theme", GROUNDS)


def cielab(colour: str, sight: Any) -> np.ndarray:
    parts = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(sight) @ linear, 0, 1)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(to_xyz) @ seen / [0.9505, 1, 1.089]
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@each_theme
@each_colour
def test_words_in_a_colour_can_be_read_in_each_theme(colour: Colour, theme: str) -> None:
    assert contrast(getattr(colour, theme), GROUNDS[theme]) >= 4.5


@each_theme
@each_colour
def test_what_is_drawn_in_a_colour_is_seen_on_shaded_ground(colour: Colour, theme: str) -> None:
    assert contrast(getattr(colour, theme), SHADED[theme]) >= 3


@each_theme
@pytest.mark.parametrize("sight", SIGHTS)
def test_colours_stay_apart_for_every_eye(sight: str, theme: str) -> None:
    places = {each.name: cielab(getattr(each, theme), SIGHTS[sight]) for each in COLOURS}
    near = {
        pair: round(float(np.linalg.norm(places[pair[0]] - places[pair[1]])))
        for pair in itertools.combinations(places, 2)
    }
    assert {pair: apart for pair, apart in near.items() if apart < APART} == {}


def test_pages_and_still_figures_have_the_same_colours() -> None:
    for sheet in (style(), fallback.framed("", "a figure", "attn-x")):
        for colour in COLOURS:
            light, dark = re.findall(rf"--attn-{colour.name}:(#\w+)", sheet)
            assert (light, dark) == (colour.light, colour.dark)
    assert palette.BLUE.drawn == "var(--attn-blue,#0072b2)"
    assert palette.ORANGE not in SERIES, "slopes have it"
