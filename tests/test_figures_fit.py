"""Figures fit into a page with all their controls, and keep their height whatever is set in them.

A figure that jumps under the pointer, or whose slider is out of sight while its picture is in view,
is not worked with; nor is one whose words are too small to read. A new figure needs a line in
WALKS: what to set in it, and code that makes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.figure_lab import FIGURES, THEMES, FigureLab
from tests.figure_sources import WALKS
from tests.lab import chromium_path

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(not chromium_path(), reason="there is no Chromium here: install it"),
]


# Width and height, px: a figure is seen whole in the first, and scrolled in the other.
WIDE = (1280, 680)
PAGES = (WIDE, (390, 844))
WITHOUT_SIDEBAR, WITH_SIDEBAR = (
    f"window.jupyterapp.shell.{do}Left()" for do in ("collapse", "expand")
)
LEAST = 13  # px, of any word as it is seen
# The height of a figure, by how much it or a grid sticks out of its place, labels of a drawing that
# meet, and sizes of words as they are seen, each with the first word of its size.
LOOK = """node => {
    const box = node.getBoundingClientRect();
    const texts = drawing => [...drawing.querySelectorAll('text')].filter(
        text => text.textContent.trim() && getComputedStyle(text).visibility !== 'hidden'
    ).map(text => [boxes(text), text.textContent]);
    const boxes = text => {  // of words that are turned, one a letter
        const at = text.getScreenCTM();
        if (!at.b) return [text.getBoundingClientRect()];
        return [...text.textContent].map((_, n) => {
            const { x, y, width, height } = text.getExtentOfChar(n);
            const middle = new DOMPoint(x + width / 2, y + height / 2).matrixTransform(at);
            const size = 0.7 * height * Math.hypot(at.a, at.b);
            return new DOMRect(middle.x - size / 2, middle.y - size / 2, size, size);
        });
    };
    const meet = ([some], [others]) => some.some(a => others.some(b => cover(a, b)));
    const cover = (a, b) => {
        const [x, y] = [Math.min(a.right, b.right) - Math.max(a.left, b.left),
            Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)];
        return x > 1 && y > 2;  // lines of a letter's box, above and below it, are empty
    };
    const pairs = [...node.querySelectorAll('svg')].flatMap(drawing => texts(drawing).flatMap(
        (one, n, all) => all.slice(n + 1).filter(other => meet(one, other)).map(
            other => `${one[1]} | ${other[1]}`)));
    const sizes = {};
    const walk = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    for (let words = walk.nextNode(); words; words = walk.nextNode()) {
        const on = words.parentElement;
        if (!words.data.trim() || on.closest('.unseen, style, title')) continue;
        if (!on.checkVisibility({ visibilityProperty: true })) continue;
        const at = on.closest('svg') ? on.getScreenCTM() : { a: 1, b: 0 }; // turned, too
        const scale = Math.hypot(at.a, at.b);
        const size = scale * parseFloat(getComputedStyle(on).fontSize);
        sizes[size.toFixed(1)] ??= words.data.trim();
    }
    const cut = [...node.querySelectorAll('.dense:not(.crowd)')].map(
        grid => Math.max(grid.scrollWidth - grid.clientWidth, 0));
    const out = Math.max(node.scrollWidth - node.clientWidth, ...cut);
    return { height: box.height, out, pairs, sizes };
}"""


@pytest.fixture(scope="module")
def lab(figures: FigureLab) -> Iterator[FigureLab]:
    page = figures.page
    usual = page.viewport_size
    page.evaluate(WITHOUT_SIDEBAR)
    figures.wear(THEMES[1])
    page.emulate_media(reduced_motion="reduce")  # what is measured has arrived
    yield figures
    page.emulate_media(reduced_motion="no-preference")
    page.evaluate(WITH_SIDEBAR)
    figures.wear(THEMES[0])
    assert usual
    page.set_viewport_size(usual)
    figures.shown = ""


@pytest.mark.parametrize("name", FIGURES.values())
def test_it_fits_keeps_its_height_and_its_words_can_be_read(name: str, lab: FigureLab) -> None:
    states, source = WALKS[name]
    for width, height in PAGES:
        lab.page.set_viewport_size({"width": width, "height": height})
        lab.shown = ""  # each page has it from the beginning
        lab.show(source)
        seen: dict[str, Any] = {"at first": lab.figure.evaluate(LOOK)}
        for state in states:
            lab.ask(state)
            seen[state] = lab.figure.evaluate(LOOK)
        heights = {state: look["height"] for state, look in seen.items()}
        assert max(heights.values()) - min(heights.values()) <= 1, json.dumps(heights, indent=1)
        assert {state: look["pairs"] for state, look in seen.items() if look["pairs"]} == {}
        assert {state: look["out"] for state, look in seen.items() if look["out"] > 0} == {}
        small = {state: few for state, look in seen.items() if (few := _small(look["sizes"]))}
        # A film's words are measured on its sheet, by `test_films`: a site's page is wider.
        assert small == {} or name == "Film"
        if (width, height) == WIDE:
            assert max(heights.values()) <= height
        else:  # `test_figures_browser` asks on the wide page, in a light theme
            assert lab.findings() == []


def _small(sizes: dict[str, str]) -> dict[str, str]:
    return {size: word for size, word in sizes.items() if float(size) < LEAST}
