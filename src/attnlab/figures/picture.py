"""What all figures share: an image with alternative text, house colours, and the heatmap."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import Collection
from matplotlib.colors import to_hex, to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Annotation, Text

from attnlab.figures.arrays import as_array
from attnlab.figures.palette import COLOURS

BLUE, ORANGE, GREEN, PURPLE, OCHRE, GREY = (colour.light for colour in COLOURS)
_DARK = {colour.light: colour.dark for colour in COLOURS}
DARK, LIGHT_INK = 0x11 / 255, 0.93  # JupyterLab's dark theme: its background, and the ink on it
# 0 in JupyterLab's light theme and 1 in its dark one; a page that knows of no theme takes 0.
IN_THE_DARK = "var(--jp-shadow-base-lightness,0)/32"
WEIGHT_COLOURS = "cividis"  # even in lightness, and the same to colour-blind eyes
STYLE: Any = {
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 12,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.hashsalt": "attnlab",
    "mathtext.default": "regular",  # a subscript looks like the words around it
}
Line = TypeVar("Line")
Look = TypeVar("Look")


class Picture:
    """An image and the words that say what it shows, for the light theme and for the dark one.

    JupyterLab shows the one of its theme, by a style of the images' own. Everywhere else, and
    wherever styles are dropped, the light one is shown, on white.

    Args:
        figure: a matplotlib figure, made with `new_figure`.
        alt: alternative text: what kind of picture, what is on its axes, what there is to see.
    """

    def __init__(self, figure: Figure, alt: str) -> None:
        if not alt.strip():
            raise ValueError("a picture needs alternative text that says what it shows")
        for axes in figure.axes:
            axes.set_title(axes.get_title(), loc="left")
            axes.set_title("", loc="center")
        self.png = _png(figure)
        figure.set_layout_engine("none")  # the dark one is the same picture, label for label
        _darken(figure)
        self.dark_png = _png(figure)
        self.alt = " ".join(alt.split())

    def __repr__(self) -> str:
        return f"Picture: {self.alt}"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        shown = (
            f'<img alt="{html.escape(self.alt, quote=True)}" style="max-width:100%;'
            f'max-width:calc((1 - {IN_THE_DARK})*100%)" src="{_as_url(self.png)}">'
        )
        hidden = (
            '<img alt="" aria-hidden="true" width="0" height="0" style="width:auto;height:auto;'
            f'max-width:0;max-width:calc({IN_THE_DARK}*100%)" src="{_as_url(self.dark_png)}">'
        )
        return {"text/plain": repr(self), "text/html": shown + hidden}


def _as_url(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


def _png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    with mpl.rc_context(STYLE):
        figure.savefig(
            buffer,
            format="png",
            dpi=110,
            bbox_inches="tight",  # labels beside panels of fixed shape are cut off without
            pad_inches=0.05,
            facecolor=figure.get_facecolor(),
            metadata={"Software": None},
        )
    return buffer.getvalue()


def _darken(figure: Figure) -> None:
    """Give a drawn figure the dark theme's colours: greys turned round, the palette's lighter.

    What stands on an image, as the numbers of a heatmap do, keeps its colours: so does the image.
    """
    kept = {
        artist
        for axes in figure.axes
        if axes.images
        for artist in (*axes.texts, *axes.patches, *axes.lines, *axes.collections)
    }
    for artist in figure.findobj(lambda artist: artist not in kept):
        _recolour(artist)


def _recolour(artist: Artist) -> None:
    if isinstance(artist, Text):
        artist.set_color(_on_dark(artist.get_color()))
        if isinstance(artist, Annotation) and artist.arrow_patch is not None:
            _recolour(artist.arrow_patch)
    elif isinstance(artist, Line2D):
        # All three are read first: a marker that has no colour of its own takes the line's.
        face, edge = artist.get_markerfacecolor(), artist.get_markeredgecolor()
        artist.set_color(_on_dark(artist.get_color()))
        artist.set_markerfacecolor(_on_dark(face))
        artist.set_markeredgecolor(_on_dark(edge))
    elif isinstance(artist, Patch):
        face, edge = artist.get_facecolor(), artist.get_edgecolor()
        artist.set_facecolor(_on_dark(face))
        artist.set_edgecolor(_on_dark(edge))
    elif isinstance(artist, Collection) and artist.get_array() is None:
        faces, edges = (list(map(_on_dark, colours)) for colours in _colours_of(artist))
        artist.set_facecolor(faces)
        artist.set_edgecolor(edges)


def _colours_of(collection: Collection) -> tuple[Any, Any]:
    return collection.get_facecolor(), collection.get_edgecolor()


def _on_dark(colour: Any) -> Any:
    """A colour as it is in the dark theme; 'none' and 'auto' stay what they are."""
    if isinstance(colour, str) and colour in ("none", "auto"):
        return colour
    *rgb, alpha = to_rgba(colour)
    if (named := to_hex((rgb[0], rgb[1], rgb[2]))) in _DARK:
        return to_rgba(_DARK[named], alpha)
    if max(rgb) - min(rgb) > 0.03:
        return (*rgb, alpha)
    return (*[LIGHT_INK + (DARK - LIGHT_INK) * rgb[0]] * 3, alpha)


def new_figure(
    columns: int = 1, rows: int = 1, width: float = 7.5, height: float = 3.2, **options: Any
) -> tuple[Figure, np.ndarray]:
    """A figure in the house style and its axes.

    Args:
        columns: panels side by side.
        rows: panels above each other.
        width: of the whole figure, inches.
        height: of the whole figure, inches.
        options: for matplotlib's `subplots`, such as `sharey=True`.
    Returns:
        The figure and an array of axes, (rows, columns).
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, axes


def draw_heatmap(
    axes: Axes,
    numbers: Any,
    rows: Sequence[str],
    columns: Sequence[str],
    title: str,
    limits: tuple[float, float] = (0.0, 1.0),
    colours: str = WEIGHT_COLOURS,
) -> Any:
    """Draw a matrix with its numbers in the cells.

    Args:
        axes: where to draw.
        numbers: (N, M).
        rows: N labels, from top to bottom.
        columns: M labels.
        title: above the panel.
        limits: values of the first and the last colour; the same across compared panels.
        colours: a matplotlib colour map.
    Returns:
        The image, for a colour bar.
    """
    matrix = as_array(numbers)
    if matrix.shape != (len(rows), len(columns)):
        raise ValueError(
            f"numbers have shape {matrix.shape}, and there are {len(rows)} row labels "
            f"and {len(columns)} column labels"
        )
    image = axes.imshow(matrix, cmap=colours, vmin=limits[0], vmax=limits[1], aspect="auto")
    axes.set_title(title)
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for (i, j), number in np.ndenumerate(matrix):
        red, green, blue, _ = image.cmap(image.norm(number))
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
        colour = "white" if dark else "black"
        axes.text(j, i, f"{number:.2f}", ha="center", va="center", color=colour, fontsize=10)
    return image


def with_looks(lines: Iterable[Line], looks: Sequence[Look]) -> list[tuple[Line, Look]]:
    """Each line with a look of its own.

    Raises:
        ValueError: there are more lines than looks.
    """
    drawn = list(lines)
    if len(drawn) > len(looks):
        raise ValueError(
            f"this figure can show {len(looks)} lines that are told apart, and was given "
            f"{len(drawn)}: leave some out"
        )
    return list(zip(drawn, looks, strict=False))


def name_lines(place: Axes) -> None:
    """Write each line's label beside the axes, at the height where the line ends, in its colour.

    Args:
        place: with all its lines, scales and ticks.
    """
    figure, size = place.get_figure(root=True), STYLE["font.size"]
    assert figure is not None
    with mpl.rc_context(STYLE):
        figure.draw_without_rendering()  # what stands where is known then
    ends = [
        (float(line.get_transform().transform(_end(line))[1]), line)
        for line in place.get_lines()
        if not str(line.get_label()).startswith("_")
    ]
    ends.sort(key=lambda each: each[0])
    heights = _apart([y for y, _ in ends], 1.3 * size * figure.dpi / 72)  # no two over each other
    for height, (_, line) in zip(heights, ends, strict=True):
        place.annotate(
            str(line.get_label()),
            (1, (height - place.bbox.y0) / place.bbox.height),
            (8, 0),
            xycoords="axes fraction",
            textcoords="offset points",
            color=line.get_color(),
            va="center",
            size=size,
        )


def _end(line: Line2D) -> tuple[float, float]:
    """Where a line ends, as it is given."""
    x, y = map(as_array, (line.get_xdata(), line.get_ydata()))
    last = np.flatnonzero(np.isfinite(x) & np.isfinite(y))[-1]
    return float(x[last]), float(y[last])


def _apart(heights: Sequence[float], step: float) -> list[float]:
    """Heights in their order, moved as little as sets them a step apart."""
    groups: list[list[float]] = []
    for height in heights:
        groups.append([height])
        while (
            len(groups) > 1 and _spread(groups[-2], step)[-1] + step > _spread(groups[-1], step)[0]
        ):
            last = groups.pop()
            groups[-1] += last
    return [height for group in groups for height in _spread(group, step)]


def _spread(group: Sequence[float], step: float) -> list[float]:
    """As many heights around the same middle, a step apart."""
    middle = sum(group) / len(group)
    return [middle + (n - (len(group) - 1) / 2) * step for n in range(len(group))]


def rows_in_words(weights: Any, queries: Sequence[str], keys: Sequence[str]) -> str:
    """'the attends most to sat (0.61); …', a clause for each query."""
    clauses = [
        f"{query} attends most to {keys[int(np.argmax(row))]} ({np.max(row):.2f})"
        for query, row in zip(queries, as_array(weights), strict=True)
    ]
    return "; ".join(clauses) + "."
