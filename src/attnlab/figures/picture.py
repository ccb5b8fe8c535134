"""What all figures share: an image with alternative text, house colours, and the heatmap."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# Okabe and Ito's colours, which stay apart for every common kind of colour vision.
BLUE, ORANGE, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#666666"
WEIGHT_COLOURS = "cividis"  # even in lightness, and the same to colour-blind eyes
STYLE: Any = {
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 12,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.hashsalt": "attnlab",
}


class Picture:
    """An image and the words that say what it shows.

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
        buffer = io.BytesIO()
        with mpl.rc_context(STYLE):
            figure.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
        self.png = buffer.getvalue()
        self.alt = " ".join(alt.split())

    def __repr__(self) -> str:
        return f"Picture: {self.alt}"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        data = base64.b64encode(self.png).decode()
        image = (
            f'<img alt="{html.escape(self.alt, quote=True)}" style="max-width:100%" '
            f'src="data:image/png;base64,{data}">'
        )
        return {"text/plain": repr(self), "text/html": image}


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
    matrix = np.asarray(numbers, dtype=float)
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


def weights_heatmap(
    weights: Any, queries: Sequence[str], keys: Sequence[str], title: str = "weights"
) -> Picture:
    """Who listens to whom: one row a query, one column a key.

    Args:
        weights: (N, M), rows add up to 1.
        queries: N labels.
        keys: M labels.
        title: above the figure.
    """
    matrix = np.asarray(weights, dtype=float)
    figure, axes = new_figure(width=1.9 + 0.85 * len(keys), height=1.4 + 0.5 * len(queries))
    image = draw_heatmap(axes[0, 0], matrix, queries, keys, title)
    axes[0, 0].set(xlabel="keys", ylabel="queries")
    figure.colorbar(image, ax=axes[0, 0], label="weight")
    return Picture(figure, f"Heatmap, {title}. {rows_in_words(matrix, queries, keys)}")


def rows_in_words(weights: Any, queries: Sequence[str], keys: Sequence[str]) -> str:
    """'the attends most to sat (0.61); …', a clause for each query."""
    clauses = [
        f"{query} attends most to {keys[int(np.argmax(row))]} ({np.max(row):.2f})"
        for query, row in zip(queries, np.asarray(weights, dtype=float), strict=True)
    ]
    return "; ".join(clauses) + "."
