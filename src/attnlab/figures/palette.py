"""The colours of all figures, to touch and printed, each as it is in light themes and in dark ones.

Okabe and Ito's hues, made darker or lighter until words in them can be read (4.5 : 1) on white and
on JupyterLab's dark #111, and until they stay apart for every common kind of colour vision.
"""

from __future__ import annotations

from typing import NamedTuple

IN_THE_DARK = '[data-jp-theme-light="false"]'  # what JupyterLab says of itself in its dark theme


class Colour(NamedTuple):
    """A colour, and what stands for it in the dark."""

    name: str
    light: str
    dark: str

    @property
    def drawn(self) -> str:
        """For styles and SVG: that of the theme, or the light one where there is no style sheet."""
        return f"var(--attn-{self.name},{self.light})"


COLOURS = (
    Colour("blue", "#0072b2", "#56b4e9"),
    Colour("orange", "#c44e00", "#f08030"),
    Colour("green", "#00704f", "#00c795"),
    Colour("purple", "#b3478f", "#e69fc8"),
    Colour("ochre", "#5e4500", "#f0e442"),
    Colour("grey", "#6e6e6e", "#9a9a9a"),
)
BLUE, ORANGE, GREEN, PURPLE, OCHRE, GREY = COLOURS
GROUND = "var(--jp-layout-color0,#fff)"  # what lies under a picture
# Of things that keep their colour in every picture of a lesson, in their order: lesson 01's rivers,
# marshes, seas and deserts. Orange is left to slopes.
SERIES = (PURPLE, GREEN, BLUE, OCHRE)

# Numbers with signs, from the lowest to the highest: stops of the light ramp and of the dark one.
SIGNED = (
    ("#00395c", BLUE.light, "#8fc0df", "#f3f3f3", "#f2b88f", ORANGE.light, "#6a2900"),
    ("#d3edff", BLUE.dark, "#2a5f80", "#242424", "#85481c", ORANGE.dark, "#ffdcc2"),
)


def style(selector: str) -> str:
    """The style sheet that gives these colours to what a selector finds."""
    light, dark = (
        ";".join(f"--attn-{colour.name}:{getattr(colour, theme)}" for colour in COLOURS)
        for theme in ("light", "dark")
    )
    return f"{selector}{{{light}}}{IN_THE_DARK} {selector}{{{dark}}}"
