"""The colours of weights, live and printed: from nothing, which is nearly the page, to all.

One hue, for every eye, even in lightness, in 21 steps, each with the ink that reads best. Numbers
stand in the cells, so that steps of 0.05 are fine enough. In the dark theme, which has a ramp of
its own, more is lighter, as there the page is dark.
"""

from __future__ import annotations

from attnlab.figures.palette import BLUE, GREY, IN_THE_DARK

STEPS = 20
LIGHT = ("#f1f4f7", "#b5d3e8", "#4f9dcb", BLUE.light, "#00395c")
DARK = ("#20262b", "#27475c", "#3380ad", BLUE.dark, "#d3edff")


def luminance(colour: str) -> float:
    """How light a colour is, from 0 for black to 1 for white (WCAG 2.2, relative luminance).

    Args:
        colour: as '#rrggbb'.
    """
    linear = [_linear(part / 255) for part in _parts(colour)]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _parts(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


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


def between(stops: tuple[str, ...], share: float) -> str:
    """The colour at a share, 0 to 1, of the way along stops that lie equally far apart."""
    way = share * (len(stops) - 1)
    at = min(int(way), len(stops) - 2)
    first, last = map(_parts, stops[at : at + 2])
    mixed = (round(a + (way - at) * (b - a)) for a, b in zip(first, last, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


FACES = {
    theme: [between(stops, step / STEPS) for step in range(STEPS + 1)]
    for theme, stops in (("light", LIGHT), ("dark", DARK))
}
# Face and ink of each step: those of the theme, or light ones where there is no style sheet.
PALETTE = [
    [f"var(--w{step},{face})", f"var(--i{step},{ink(face)[:4]})"]
    for step, face in enumerate(FACES["light"])
]


def shade(share: float) -> tuple[str, str]:
    """Face and ink of a cell that holds a share between 0 and 1."""
    face, on_it = PALETTE[round(min(max(share, 0.0), 1.0) * STEPS)]
    return face, on_it


NOUGHT = f"var(--n,{GREY.light})"  # ink of what shows as 0: there when one asks, never in the way


def style(selector: str) -> str:
    """The style sheet that gives these colours to what a selector finds, in the dark theme too."""
    light, dark = (
        ";".join(f"--w{n}:{face};--i{n}:{ink(face)}" for n, face in enumerate(FACES[theme]))
        + f";--n:{getattr(GREY, theme)}"
        for theme in ("light", "dark")
    )
    return f"{selector}{{{light}}}{IN_THE_DARK} {selector}{{{dark}}}"
