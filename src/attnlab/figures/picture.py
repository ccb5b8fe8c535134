"""What all figures share: an image with alternative text, house colours, and the heatmap."""

from __future__ import annotations

import base64
import html
import math
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import Collection
from matplotlib.colors import Colormap, LinearSegmentedColormap, to_hex, to_rgba
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from attnlab.figures import palette, svg
from attnlab.figures.arrays import as_array
from attnlab.figures.live.ramp import DARK as DARK_WEIGHTS
from attnlab.figures.live.ramp import LIGHT as WEIGHTS
from attnlab.figures.live.ramp import ink
from attnlab.figures.palette import COLOURS

BLUE, ORANGE, GREEN, PURPLE, OCHRE, GREY = (colour.light for colour in COLOURS)
_DARK = {colour.light: colour.dark for colour in COLOURS}
DARK, LIGHT_INK = 0x11 / 255, 0.93  # JupyterLab's dark theme: its background, and the ink on it
# 0 in JupyterLab's light theme and 1 in its dark one; a page that knows of no theme takes 0.
IN_THE_DARK = "(var(--jp-shadow-base-lightness,0)/32)"
IN_THE_LIGHT = f"(1 - {IN_THE_DARK})"


def _ramp(name: str, *colours: str) -> LinearSegmentedColormap:
    return LinearSegmentedColormap.from_list(name, colours)


WEIGHT_COLOURS = _ramp("weights", *WEIGHTS)
# Blue below 0, nothing at 0, orange above: apart for every common colour vision.
SIGNED = _ramp("signed", *palette.SIGNED[0])
_DARK_RAMPS = {
    "weights": _ramp("weights in the dark", *DARK_WEIGHTS),
    "signed": _ramp("signed in the dark", *palette.SIGNED[1]),
}
QUIET = "#5c5c5c"  # ticks, and what an axis is called: there when one asks, never in the way
SIZE = 13  # points of all words, and their pixels in a narrow page
# Pixels of a point in a wide page. In a narrow one a picture shrinks to a pixel a point, breaks
# between its panels, and a panel that is still too wide is scrolled.
LARGE = 1.5
PAGE = 8.6  # inches that a page has room for
PHONE = 5.1  # inches that a phone has room for: a single panel that is wider is drawn so too
STYLE: Any = {
    "font.size": SIZE,
    "axes.titlesize": SIZE,
    "axes.titlelocation": "left",
    "axes.titlepad": 9,
    "axes.labelsize": SIZE,
    "axes.labelcolor": QUIET,
    "axes.edgecolor": "#b5b5b5",
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.labelsize": SIZE,
    "ytick.labelsize": SIZE,
    "xtick.color": "#b5b5b5",
    "ytick.color": "#b5b5b5",
    "xtick.labelcolor": QUIET,
    "ytick.labelcolor": QUIET,
    "grid.color": "#e8e8e8",
    "lines.linewidth": 2.4,
    "lines.solid_capstyle": "round",
    "figure.facecolor": "white",
    "svg.hashsalt": "attnlab",  # the same names in each run
}
FIRST, OTHERS = "font-size:1.3em;font-weight:600", "opacity:0.75"  # lines of what is said
# Panels whose right sides stand below each other where they do not fit beside each other.
ROW = '<div style="display:flex;flex-wrap:wrap;place-content:normal safe flex-end">'
HATCH = "#c4c4c4"
CELL = "cell"  # the numbers that stand in the cells of a heatmap
FREE = 6  # points on both sides of a number in its cell, in the widest of all usual types
in_style = mpl.rc_context(STYLE)  # for a function that draws: what it writes is of one size
Line = TypeVar("Line")
Look = TypeVar("Look")


class Picture:
    """An image and the words that say what it shows, for the light theme and for the dark one.

    JupyterLab shows the one of its theme, by a style of the images' own. Everywhere else, and
    wherever styles are dropped, the light one is shown, on white. Panels that stand side by side
    stand under each other where a page is narrow.

    Args:
        figure: a matplotlib figure, made with `new_figure`.
        alt: alternative text: what kind of picture, what is on its axes, what there is to see.
        title: what there is to see, in a sentence above the picture, and what else is to be
            known in further lines; the figure's own, or its only panel's, if none is given.
    """

    def __init__(self, figure: Figure, alt: str, title: str = "") -> None:
        if not alt.strip():
            raise ValueError("a picture needs alternative text that says what it shows")
        for axes in figure.axes:
            if title_in_the_middle := axes.get_title():
                axes.set_title(title_in_the_middle, loc="left")
                axes.set_title("", loc="center")
        self.title = title or figure.get_suptitle()
        figure.suptitle("")
        if len(figure.axes) == 1 and not self.title:  # it is that of the whole
            self.title = figure.axes[0].get_title(loc="left")
            figure.axes[0].set_title("", loc="left")
        # The first line has no full stop, as a heading; each further one has.
        lines = (line.rstrip(".") + "." * (n > 0) for n, line in enumerate(self.title.splitlines()))
        self.title = "\n".join(lines)
        with mpl.rc_context(STYLE):
            figure.draw_without_rendering()  # what stands where is known then
            figure.set_layout_engine("none")  # the dark one is the same picture, label for label
            _shorten(figure)
            wide = figure.get_figwidth()
            widths = (wide, PHONE) if len(figure.axes) == 1 and wide > PHONE else (wide,)
            light = [_drawn(_resized(figure, inches)) for inches in widths]
            _darken(figure)
            dark = [_drawn(_resized(figure, inches)) for inches in widths]
            both = zip(light, dark, strict=True)
            # The whole, and a single wide panel as it is on a phone.
            self.rows, *self.narrow = [[*zip(*each, strict=True)] for each in both]
        self.alt = " ".join(alt.split())

    def __repr__(self) -> str:
        return " ".join(["Picture:", *self.title.split(), self.alt])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        words = "".join(
            f'<p style="margin:0 0 8px;{OTHERS if n else FIRST}">{_lowered(line)}</p>'
            for n, line in enumerate(self.title.splitlines())
        )
        widest = max(piece.width for light, _ in self.rows for piece in light)
        rows, alt = "", self.alt
        for light, dark in self.rows:
            row = ""
            for piece in light:
                row += _image(piece, _style(piece, widest, IN_THE_LIGHT), alt, seen=True)
                alt = ""  # the first part says all of it
            row += "".join(_image(piece, _style(piece, widest, IN_THE_DARK)) for piece in dark)
            rows += f"{ROW}{row}</div>"
        for narrow in self.narrow:
            rows = f"{ROW}{_switched(self.rows[0], narrow[0], self.alt)}</div>"
        wide = max(sum(piece.width for piece in light) for light, _ in self.rows) * LARGE
        shown = f'{words}<div style="max-width:{wide:.0f}px;overflow-x:auto">{rows}</div>'
        return {"text/plain": repr(self), "text/html": shown}


def _lowered(line: str) -> str:
    """HTML of a line, where `_` lowers the letter after it."""
    return svg.SUBSCRIPT.sub(r"<sub>\1</sub>", html.escape(line))


class Piece(NamedTuple):
    """A part of a picture, and how many points it is wide."""

    svg: str
    width: float


Row = tuple[list[Piece], list[Piece]]  # in the light theme, and in the dark one


def _image(piece: Piece, style: str, alt: str = "", seen: bool = False) -> str:
    """In the theme of its style; where styles are dropped, only if it is `seen`."""
    words = html.escape(alt, quote=True)
    hidden = "" if alt else ' aria-hidden="true"'
    size = f'width="{piece.width * LARGE:.0f}"' if seen else 'width="0" height="0"'
    own = style if seen else f"width:auto;{style}"
    return f'<img alt="{words}"{hidden} {size} style="{own}" src="{_as_url(piece.svg)}">'


def _style(piece: Piece, widest: float, share: str) -> str:
    """Between its own width and the narrowest in which words can be read; or nothing at all.

    Each grows by its width, so that panels keep one scale, beside each other and below.
    """
    width = piece.width
    least = f"calc({share}*{width:.0f}px)"
    most = f"calc({share}*min({width * LARGE:.0f}px, {width / widest:.2%}))"
    return f"height:auto;flex:{width:.0f} 0 {least};min-width:{least};max-width:{most}"


def _switched(wide: Row, narrow: Row, alt: str) -> str:
    """A panel where a page has room for the points of its width, and the narrow one elsewhere."""
    room = f"{wide[0][0].width:.0f}px"
    images = ""
    for row, here in ((wide, f"100% - {room} + 1px"), (narrow, f"{room} - 100%")):
        for [piece], share in zip(row, (IN_THE_LIGHT, IN_THE_DARK), strict=True):
            least, most = (
                f"calc({share}*min({width:.0f}px, max(0px, ({here})*999)))"
                for width in (piece.width * (row is narrow), piece.width * LARGE)
            )
            style = f"height:auto;flex:1 0 {least};min-width:{least};max-width:{most}"
            images += _image(piece, style, alt, seen=not images)
            alt = ""
    return images


def _resized(figure: Figure, inches: float) -> Figure:
    """A drawn figure in another width, with the same margins."""
    by = figure.get_figwidth() / inches
    for axes in figure.axes if by != 1 else ():
        box = axes.get_position()
        right = 1 - (1 - box.x1) * by
        axes.set_position(Bbox.from_extents(box.x0 * by, box.y0, right, box.y1))
    figure.set_figwidth(inches)
    return figure


def _as_url(image: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(image.encode()).decode()}"


def _drawn(figure: Figure) -> list[list[Piece]]:
    """The panels of a figure, row by row."""
    around = figure.get_tightbbox().padded(0.05)
    (left, low), (right, high) = around.get_points() * figure.dpi
    across, down = _cuts(figure)
    columns, rows = [left, *across, right], [high, *down, low]
    return [
        [_piece(figure, Bbox.from_extents(x0, y0, x1, y1)) for x0, x1 in pairwise(columns)]
        for y1, y0 in pairwise(rows)
    ]


def _piece(figure: Figure, box: Bbox) -> Piece:
    """The panels whose middle is in a box."""
    middles = [
        (axes, axes.bbox.x0 + axes.bbox.x1, axes.bbox.y0 + axes.bbox.y1) for axes in figure.axes
    ]
    within = [axes for axes, x, y in middles if box.contains(x / 2, y / 2)]
    return Piece(svg.drawn(figure, box, within), box.width)


def _cuts(figure: Figure) -> tuple[list[float], list[float]]:
    """Where a drawn figure comes apart, between columns and, from the top, between rows."""
    if figure.legends or any(text.get_text() for text in figure.texts):  # they belong to all panels
        return [], []
    across, down = [], []
    for axes in figure.axes:
        box, is_bar = axes.get_tightbbox(), axes.get_label() == "<colorbar>"
        if box is not None:
            across.append((box.x0, box.x1, is_bar))
            down.append((box.y0, box.y1, is_bar))
    # Panels that leave their numbers to a neighbour stay beside it.
    beside = all(axes.yaxis.get_tick_params().get("labelleft", True) for axes in figure.axes)
    below = all(axes.xaxis.get_tick_params().get("labelbottom", True) for axes in figure.axes)
    return _gaps(across) if beside else [], _gaps(down)[::-1] if below else []


def _gaps(spans: Sequence[tuple[float, float, bool]]) -> list[float]:
    """The middles between spans that do not meet; a colour bar stays with what is before it."""
    gaps, end = [], -math.inf
    for low, high, is_bar in sorted(spans):
        if low > end > -math.inf and not is_bar:
            gaps.append((low + end) / 2)
        end = max(end, high)
    return gaps


def _darken(figure: Figure) -> None:
    """Give a drawn figure the dark theme's colours: greys turned round, the palette's lighter.

    So are the house's ramps turned round, with what stands on them; another image keeps its
    colours, and what stands on it does.
    """
    kept: set[Artist] = set()
    for axes in figure.axes:
        for image in axes.images:
            ramp = _DARK_RAMPS.get(image.get_cmap().name)
            if ramp is None:
                kept |= {*axes.texts, *axes.patches, *axes.lines, *axes.collections}
            else:
                image.set_cmap(ramp)
    for artist in figure.findobj(lambda artist: artist not in kept):
        _recolour(artist)
    for axes in figure.axes:
        for image in axes.images:
            ink_cells(axes, image)


def ink_cells(axes: Axes, image: Any) -> None:
    """Black or white for each number of a heatmap, whichever reads better on its cell."""
    matrix = image.get_array()
    for text in axes.texts:
        if text.get_gid() == CELL:
            column, row = text.get_position()
            face = to_hex(image.cmap(image.norm(matrix[round(row), round(column)])))
            text.set_color(ink(face))


def _shorten(figure: Figure) -> None:
    """Where a cell is too narrow for its number, all numbers do without their first 0: .92, 1."""
    held = [(axes, text) for axes in figure.axes for text in axes.texts if text.get_gid() == CELL]
    held = [each for each in held if re.fullmatch(r"\u2212?(0\.\d\d|1\.00)", each[1].get_text())]
    if any(
        text.get_window_extent().width + 2 * FREE
        > axes.bbox.width / abs(np.diff(axes.get_xlim())[0])
        for axes, text in held
    ):
        for _, text in held:
            text.set_text(re.sub(r"0(?=\.)|\.00", "", text.get_text()))


def _recolour(artist: Artist) -> None:
    if isinstance(artist, Text):
        artist.set_color(_on_dark(artist.get_color()))
        for patch in (artist.get_bbox_patch(), getattr(artist, "arrow_patch", None)):
            if patch is not None:
                _recolour(patch)
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
        figure = Figure(figsize=(width, height), dpi=72)
        FigureCanvasAgg(figure)
        figure.set_layout_engine("constrained", w_pad=0.1, h_pad=0.1)
        axes = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, axes


def draw_heatmap(
    axes: Axes,
    numbers: Any,
    rows: Sequence[str],
    columns: Sequence[str],
    title: str,
    limits: tuple[float, float] = (0.0, 1.0),
    colours: Colormap = WEIGHT_COLOURS,
    least: float = 0.0,
) -> Any:
    """Draw a matrix as tiles, with its numbers in the cells.

    Args:
        axes: where to draw.
        numbers: (N, M).
        rows: N labels, from top to bottom.
        columns: M labels.
        title: above the panel.
        limits: values of the first and the last colour; the same across compared panels.
        colours: one of the house's ramps.
        least: size of a number that is written; smaller ones are seen by their colour.
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
    tile(axes, rows, columns, title)
    for (i, j), number in np.ndenumerate(matrix):
        said = digits(number, matrix) if abs(number) >= least else ""
        axes.text(j, i, said, ha="center", va="center", fontsize=SIZE, gid=CELL)
    ink_cells(axes, image)
    return image


def digits(number: float, among: np.ndarray) -> str:
    """A number of a matrix: whole where all are, else two digits; 0 is what is exactly 0."""
    whole = bool((among == among.round()).all())
    said = f"{number:.0f}" if whole or number == 0 else f"{number:.2f}"
    return said.replace("-", "\u2212")


def tile(axes: Axes, rows: Sequence[Any], columns: Sequence[Any], title: str) -> None:
    """Names for the rows and columns of an image, and gaps between its cells."""
    axes.set_title(title)
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.set_xticks(np.arange(len(columns) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(rows) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=2.5, linestyle="-")
    axes.tick_params(which="both", length=0)
    axes.tick_params(labelcolor="black")
    axes.spines[:].set_visible(False)


def frame(
    axes: Axes, row: int, column: int, wide: int = 1, high: int = 1, colour: str = ORANGE
) -> None:
    """Put cells of a heatmap in focus.

    Args:
        axes: with the heatmap.
        row, column: the first cell.
        wide, high: in cells.
        colour: of the frame.
    """
    axes.add_patch(
        Rectangle(
            (column - 0.5, row - 0.5),
            wide,
            high,
            fill=False,
            edgecolor=colour,
            linewidth=3.5,
            joinstyle="round",
            zorder=3,
            clip_on=False,
        )
    )


def hatch(axes: Axes, blocked: np.ndarray) -> None:
    """Empty the cells of a heatmap where blocked, (N, M) bool, is True, and hatch them."""
    for n, m in np.argwhere(blocked).tolist():
        axes.add_patch(
            Rectangle(
                (m - 0.5, n - 0.5), 1, 1, facecolor="white", hatch="///", edgecolor=HATCH, lw=0
            )
        )


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
    figure, size = place.get_figure(root=True), SIZE
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
