"""A drawn figure as SVG whose words are words, in the type of the page that shows it.

Matplotlib places them by the widths of its own type, which is wider than most: what is centred
stays centred, and what ends at a place ends there, as each is held at its own anchor.
"""

from __future__ import annotations

import io
import math
import re
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

# JupyterLab's, and the site's: an image knows nothing of the page around it.
TYPE = "system-ui, sans-serif"
HELD = {"left": (0.0, "start"), "center": (0.5, "middle"), "right": (1.0, "end")}
_UNSIGNED: Any = dict.fromkeys(("Creator", "Date", "Format", "Type"))
_USUAL = {"opacity": "1", "font-weight": "normal", "font-family": TYPE}
SUBSCRIPT = re.compile(r"(?<=[A-Za-z])_([A-Za-z])\b")
_POWER = re.compile(r"\$\\mathdefault\{10\^\{([−-]?\d+)\}\}\$")  # as a logarithmic axis has it
_RAISED = str.maketrans("0123456789-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻")


def drawn(figure: Figure, box: Bbox, panels: list[Axes]) -> str:
    """Part of a figure.

    Args:
        figure: laid out, at 72 dots an inch.
        box: what is shown of it, in points.
        panels: the axes that are drawn.
    Returns:
        SVG, one unit a point.
    """
    out, (width, height) = io.StringIO(), figure.bbox.size
    page = _Page(width, height, out, image_dpi=2 * figure.dpi, metadata=_UNSIGNED)
    others = [axes for axes in figure.axes if axes not in panels and axes.get_visible()]
    for axes in others:
        axes.set_visible(False)
    figure.draw(page)
    for axes in others:
        axes.set_visible(True)
    page.finalize()
    ground = to_hex(figure.get_facecolor())
    view = " ".join(f"{n:.1f}" for n in (box.x0, height - box.y1, box.width, box.height))
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="{view}" width="{box.width:.1f}" height="{box.height:.1f}" '
        f'font-family="{TYPE}" style="background:{ground}">'
    )
    _, _, inside = re.sub(r"\s+(?=<)|\s*\n\s*", "", out.getvalue()).partition("<svg")
    return opening + inside.partition(">")[2]


class _Page(RendererSVG):
    """Matplotlib's, but for words."""

    def open_group(self, s: str, gid: str | None = None) -> None:
        super().open_group(s, gid)
        self._lines: list[_Line] = []

    def draw_text(
        self,
        gc: Any,
        x: float,
        y: float,
        s: str,
        prop: Any,
        angle: float,
        ismath: Any = False,
        mtext: Text | None = None,
    ) -> None:
        """Keep a line until all lines of its text are there: they tell where it is held."""
        words = _POWER.sub(lambda power: "10" + power[1].translate(_RAISED), s)
        if "$" in words:
            raise ValueError(f"{s!r} is mathtext: write plain words, and W_q for a subscript")
        width, _, _ = self.get_text_width_height_descent(words, prop, ismath=False)
        colour = gc.get_rgb()
        look = {
            "font-size": f"{prop.get_size_in_points():g}",
            "fill": to_hex(colour),
            "opacity": f"{colour[3]:g}",
            "font-weight": str(prop.get_weight()),
            "font-family": "monospace" if prop.get_family() == ["monospace"] else TYPE,
        }
        look = {name: value for name, value in look.items() if value != _USUAL.get(name)}
        self._lines.append(_Line(words, x, y, width, angle, look))
        self._held = _held(mtext, angle)

    def close_group(self, s: str) -> None:
        held = self._held if len(self._lines) == 1 else _common(self._lines)
        for line in self._lines:
            self._write(line, *held)
        self._lines = []
        super().close_group(s)

    def _write(self, line: _Line, share: float, anchor: str) -> None:
        """`_` makes the letter after it a subscript."""
        turn = math.radians(line.angle)
        x = line.x + share * line.width * math.cos(turn)
        y = line.y - share * line.width * math.sin(turn)
        place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor}
        if line.angle:
            place["transform"] = f"rotate({-line.angle:g} {x:.1f} {y:.1f})"
        self.writer.start("text", {**place, **line.look})
        level, *rest = SUBSCRIPT.split(line.words)
        self.writer.data(level)
        for low, level in zip(rest[::2], rest[1::2], strict=True):
            self.writer.element("tspan", low, {"font-size": "75%", "dy": "0.24em"})
            if level:
                self.writer.element("tspan", level, {"dy": "-0.18em"})
        self.writer.end("text")


class _Line(NamedTuple):
    words: str
    x: float
    y: float
    width: float
    angle: float
    look: dict[str, str]


def _held(text: Text | None, angle: float) -> tuple[float, str]:
    """Which share of a line is before the point that holds it, and SVG's word for that point."""
    if text is None:
        return HELD["left"]
    # What is turned without an anchor is aligned by its box, not by its words.
    is_boxed = angle and text.get_rotation_mode() != "anchor"
    return HELD["center" if is_boxed else text.get_horizontalalignment()]


def _common(lines: list[_Line]) -> tuple[float, str]:
    """What lines of one text have in common: their left ends, their middles or their right ends."""

    def spread(held: tuple[float, str]) -> float:
        places = [line.x + held[0] * line.width for line in lines]
        return max(places, default=0) - min(places, default=0)

    return min(HELD.values(), key=spread)
