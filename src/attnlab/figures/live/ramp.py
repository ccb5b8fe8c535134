"""The colours of weights: matplotlib's cividis in 21 steps, each with the ink that reads best.

Cividis is even in lightness, and the same to colour-blind eyes. Numbers stand in the cells, so that
steps of 0.05 are fine enough.
"""

from __future__ import annotations

CIVIDIS = (
    *("#00224e", "#002b62", "#083370", "#243c6e", "#35456c", "#434e6c", "#4f576c"),
    *("#5b606e", "#666970", "#727274", "#7d7c78", "#888578", "#948e77", "#a19975"),
    *("#aea371", "#bcae6c", "#c8b866", "#d6c35d", "#e5cf52", "#f3db42", "#fee838"),
)


def luminance(colour: str) -> float:
    """How light a colour is, from 0 for black to 1 for white (WCAG 2.2, relative luminance).

    Args:
        colour: as '#rrggbb'.
    """
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [_linear(part) for part in parts]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _linear(part: float) -> float:
    """Light of a colour's red, green or blue; sRGB holds it on a curve."""
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours, from 1 to 21 (WCAG 2.2)."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def ink(face: str) -> str:
    """Black or white, whichever reads better on a face."""
    return max("#000000", "#ffffff", key=lambda colour: contrast(face, colour))


PALETTE = [[face, ink(face)] for face in CIVIDIS]


def shade(share: float) -> tuple[str, str]:
    """Face and ink of a cell that holds a share between 0 and 1."""
    face, on_it = PALETTE[round(min(max(share, 0.0), 1.0) * (len(PALETTE) - 1))]
    return face, on_it
