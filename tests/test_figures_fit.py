"""Figures fit into a page with all their controls, and keep their height whatever is set in them.

A figure that jumps under the pointer, or whose slider is out of sight while its picture is in view,
is not worked with. A new figure needs a line in FIGURES: code that makes it, and what to set.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser

from tests.figure_lab import FigureLab, lessons_with
from tests.lab import Server, chromium_path

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(not chromium_path(), reason="there is no Chromium here: install it"),
]


class Walk(NamedTuple):
    """A figure, and statements that take it through the states of its main controls."""

    source: str
    states: list[str]


FIGURES = {
    "ByHand": Walk(
        """figure = figures.live.ByHand(
    ["the", "cat", "sat"],
    X=[[1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1]],
    W_q=[[0, 0, 1], [0, 1, 0], [1, 1, 0], [-1, 1, -1]],
    W_k=[[0, -1, 0], [1, 1, 0], [-1, 0, 0], [1, 1, 1]],
    W_v=[[-1, 0], [1, 1], [-1, 1], [2, 0]],
)""",
        [f"figure.stage = {stage}" for stage in range(1, 8)]
        + [f"figure.cell = ['{name}', 1, None]" for name in ("X", "Q", "S", "scaled", "A", "Z")]
        + ["figure.cell = ['A', 1, 1]", "figure.causal = True", "figure.stage = 6"]
        + ["figure.edit('X', 2, 2, '-9.25')", "figure.stage = 2", "figure.cell = ['Z', 1, None]"],
    ),
    "Cost": Walk(
        "figure = figures.live.Cost(4096, 512, 8, 'float32')",
        [f"figure.n = {64 * 2**power}" for power in range(13)]
        + ["figure.dtype = 'float64'", "figure.heads = 32", "figure.d = 4096"]
        + ["figure.change(d=64, heads=1)", "figure.measure()", "figure.heads = 2"],
    ),
    "RotaryArrows": Walk(
        """figure = figures.live.RotaryArrows(
    [2, 0, 1, 1], [1, 0, 0.5, 1], query_at=3, key_at=1, degrees=[30, 3]
)""",
        [f"figure.query_at = {place}" for place in range(13)]
        + [f"figure.key_at = {place}" for place in range(13)]
        + [f"figure.moved = {place}" for place in range(13)],
    ),
    "Saturation": Walk(
        "figure = figures.live.Saturation(64, reader=11)",
        [f"figure.d_k = {d_k}" for d_k in (2, 3, 8, 16, 64, 192, 1024)]
        + [f"figure.reader = {reader}" for reader in (1, 10, 50)],
    ),
    "Tiles": Walk(
        "figure = figures.live.Tiles(causal=True)",
        [f"figure.step = {step}" for step in range(1, 11)]
        + [f"figure.block = {block}" for block in range(1, 9)]
        + ["figure.change(block=3, causal=False)", *(f"figure.step = {n}" for n in range(1, 10))],
    ),
    "TrainingScrubber": Walk(
        """import numpy as np

words = "the animal did n't cross the street because it was tired/wide".split()
rng = np.random.default_rng(0)
recorded = {step: rng.dirichlet(np.full(11, 0.3), size=2) for step in range(0, 120, 3)}
losses = 0.7 * np.exp(-np.arange(120) / 40)
figure = figures.live.TrainingScrubber(losses, recorded, ["it … tired", "it … wide"], words)""",
        [f"figure.step = {step}" for step in range(0, 120, 3)],
    ),
}
# Width and height, px: a figure is seen whole in the first, and scrolled in the other.
PAGES = {"wide": (1280, 680), "narrow": (390, 844)}
CLOSE_SIDEBAR = "window.jupyterapp.commands.execute('application:toggle-left-area')"
# The height of a figure, by how much it sticks out of its cell, and labels of a drawing that meet.
LOOK = """node => {
    const box = node.getBoundingClientRect();
    const texts = drawing => [...drawing.querySelectorAll('text')].filter(
        text => text.textContent.trim() && getComputedStyle(text).visibility !== 'hidden');
    const meet = (one, other) => {
        const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
        const [x, y] = [Math.min(a.right, b.right) - Math.max(a.left, b.left),
            Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)];
        return x > 1 && y > 2;  // lines of a letter's box, above and below it, are empty
    };
    const pairs = [...node.querySelectorAll('svg')].flatMap(drawing => texts(drawing).flatMap(
        (one, n, all) => all.slice(n + 1).filter(other => meet(one, other)).map(
            other => `${one.textContent} | ${other.textContent}`)));
    return { height: box.height, out: node.scrollWidth - node.clientWidth, pairs };
}"""


@pytest.fixture(scope="module", params=PAGES)
def page(request: pytest.FixtureRequest, chromium: Browser, server: Server) -> Iterator[FigureLab]:
    lab = FigureLab(chromium, server, f"fit-{request.param}")
    lab.page.evaluate(CLOSE_SIDEBAR)
    width, height = PAGES[request.param]
    lab.page.set_viewport_size({"width": width, "height": height})
    lab.page.emulate_media(reduced_motion="reduce")  # what is measured has arrived
    yield lab
    lab.close()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.lessons(*lessons_with(name))) for name in FIGURES]
)
def test_it_fits_keeps_its_height_and_no_two_labels_meet(name: str, page: FigureLab) -> None:
    source, states = FIGURES[name]
    page.show(source)
    seen: dict[str, Any] = {"at first": page.figure.evaluate(LOOK)}
    for state in states:
        page.ask(state)
        seen[state] = page.figure.evaluate(LOOK)
    heights = {state: look["height"] for state, look in seen.items()}
    assert max(heights.values()) - min(heights.values()) <= 1, json.dumps(heights, indent=1)
    assert {state: look["pairs"] for state, look in seen.items() if look["pairs"]} == {}
    assert {state: look["out"] for state, look in seen.items() if look["out"] > 0} == {}
    size = page.page.viewport_size
    if size and (size["width"], size["height"]) == PAGES["wide"]:
        assert max(heights.values()) <= size["height"]
