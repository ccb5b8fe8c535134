"""Lesson 06's figures: hiding scores, masks of three models, masked weights, a loss that cheats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch, Rectangle

from attnlab.figures.picture import (
    BLUE,
    GREY,
    ORANGE,
    STYLE,
    Picture,
    draw_heatmap,
    new_figure,
)

SIGNED = "RdBu_r"  # blue below 0, white at 0, red above; apart for every common colour vision
OPEN_OR_BLOCKED = ListedColormap(["#ffffff", "#9ecae1"])
HATCH = "///"
Numbers = Any  # nested lists, an array or a tensor


def _hatch(place: Axes, blocked: np.ndarray) -> None:
    """Hatch the cells where blocked, (N, M) bool, is True."""
    for n, m in np.argwhere(blocked).tolist():
        place.add_patch(
            Rectangle((m - 0.5, n - 0.5), 1, 1, fill=False, hatch=HATCH, edgecolor=GREY, lw=0)
        )


def _mark_blocked(place: Axes, image: Any, weights: np.ndarray, blocked: np.ndarray) -> None:
    """Hatch blocked cells of a heatmap around their numbers, and write 0 where it is exactly 0."""
    _hatch(place, blocked)
    for text, hatched, number in zip(place.texts, blocked.ravel(), weights.ravel(), strict=True):
        if hatched:
            face = image.cmap(image.norm(number))
            text.set_bbox({"facecolor": face, "edgecolor": "none", "pad": 1})
            text.set_text("0" if number == 0 else f"{number:.2f}")


def hide_then_share(scores: Numbers, tokens: Sequence[str]) -> Picture:
    """Scaled scores, the same with the future at −∞, and the weights that come of it.

    Args:
        scores: (N, N), scaled.
        tokens: N labels.
    """
    before = np.asarray(scores, dtype=float)
    blocked = np.triu(np.ones_like(before), 1).astype(bool)
    powers = np.where(blocked, 0.0, np.exp(before))
    weights = powers / powers.sum(axis=1, keepdims=True)
    limit = float(abs(before).max())
    figure, axes = new_figure(columns=3, width=11.5, height=3.1)
    first = draw_heatmap(
        axes[0, 0], before, tokens, tokens, "1. scaled scores", (-limit, limit), SIGNED
    )
    hidden = np.where(blocked, 0.0, before)
    draw_heatmap(axes[0, 1], hidden, tokens, tokens, "2. the future: −∞", (-limit, limit), SIGNED)
    for text, below in zip(axes[0, 1].texts, blocked.ravel(), strict=True):
        if below:
            text.set(text="−∞", bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5})
    last = draw_heatmap(axes[0, 2], weights, tokens, tokens, "3. softmax of each row")
    _mark_blocked(axes[0, 2], last, weights, blocked)
    _hatch(axes[0, 1], blocked)
    for place in axes[0]:
        place.set_xlabel("keys")
    axes[0, 0].set_ylabel("queries")
    figure.colorbar(first, ax=axes[0, 1], label="scaled score")
    figure.colorbar(last, ax=axes[0, 2], label="weight")
    rows = "; ".join(
        f"{token} {', '.join(f'{weight:.2f}' for weight in row)}"
        for token, row in zip(tokens, weights, strict=True)
    )
    return Picture(
        figure,
        f"Three heatmaps for '{' '.join(tokens)}'. First the scaled scores; then the same with "
        f"the {int(blocked.sum())} cells above the diagonal hatched and set to minus infinity; "
        f"then the weights, row by row: {rows}.",
    )


def _draw_mask(
    place: Axes, attend: np.ndarray, rows: Sequence[str], columns: Sequence[str], title: str
) -> None:
    """One mask, True = attend: open cells filled, blocked ones hatched."""
    place.imshow(attend, cmap=OPEN_OR_BLOCKED, vmin=0, vmax=1)
    _hatch(place, ~attend)
    place.set_title(title)
    place.set_xticks(range(len(columns)), columns, rotation=90 * (max(map(len, columns)) > 2))
    place.set_yticks(range(len(rows)), rows)
    place.set_xticks(np.arange(len(columns) + 1) - 0.5, minor=True)
    place.set_yticks(np.arange(len(rows) + 1) - 0.5, minor=True)
    place.grid(which="minor", color="white", linewidth=1.5)
    place.tick_params(which="both", length=0)
    place.spines[:].set_visible(False)
    place.set_xlabel("keys")


def _mask_legend(figure: Any) -> None:
    """What filled and hatched cells mean."""
    handles = [
        Patch(facecolor=OPEN_OR_BLOCKED(1), label="may attend"),
        Patch(facecolor="white", edgecolor=GREY, hatch=HATCH, label="blocked"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False)


def three_models(source: Sequence[str], target: Sequence[str]) -> Picture:
    """Who may attend to whom in an encoder, in a decoder and in an encoder–decoder.

    Args:
        source: M tokens that are read.
        target: N tokens that are written.
    """
    m, n = len(source), len(target)
    encoder = np.ones((m, m), dtype=bool)
    decoder = np.tril(np.ones((n, n), dtype=bool))
    both = np.block([[encoder, np.zeros((m, n), dtype=bool)], [np.ones((n, m), bool), decoder]])
    figure, axes = new_figure(columns=3, width=11.5, height=4.4, width_ratios=[m + 1, n + 1, m + n])
    everything = [*source, *target]
    _draw_mask(axes[0, 0], encoder, source, source, "encoder: no mask")
    _draw_mask(axes[0, 1], decoder, target, target, "decoder: causal")
    _draw_mask(axes[0, 2], both, everything, everything, "encoder–decoder: both, and cross")
    axes[0, 0].set_ylabel("queries")
    place = axes[0, 2]
    for line in (place.axhline, place.axvline):
        line(m - 0.5, color="black", linewidth=2)
    middle_m, middle_n = (m - 1) / 2, m + (n - 1) / 2
    for x, y, words in (
        (middle_m, middle_m, "encoder\nself"),
        (middle_m, middle_n, "cross"),
        (middle_n, middle_n, "decoder\nself"),
    ):
        box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 2}
        place.text(x, y, words, ha="center", va="center", fontsize=10, bbox=box)
    _mask_legend(figure)
    return Picture(
        figure,
        f"Three masks. Encoder, over '{' '.join(source)}': all {m * m} cells may attend. Decoder, "
        f"over '{' '.join(target)}': the {n * (n + 1) // 2} cells on and below the diagonal may "
        f"attend, the {n * (n - 1) // 2} above are blocked. Encoder–decoder, all {m + n} tokens: "
        f"source rows see all source columns and no target column; target rows see all {m} source "
        "columns (cross attention) and the target columns up to their own.",
    )


def masks(panels: Mapping[str, Numbers], tokens: Sequence[str]) -> Picture:
    """Masks of one shape side by side, True = attend.

    Args:
        panels: for each title, (N, N) bool, True = attend.
        tokens: N labels.
    """
    figure, axes = new_figure(columns=len(panels), width=3.4 * len(panels), height=4.25)
    words = []
    for place, (title, attend) in zip(axes[0], panels.items(), strict=True):
        matrix = np.asarray(attend, dtype=bool)
        _draw_mask(place, matrix, tokens, tokens, title)
        counts = ", ".join(str(int(row.sum())) for row in matrix)
        words.append(f"{title}: open keys row by row {counts}")
    axes[0, 0].set_ylabel("queries")
    _mask_legend(figure)
    return Picture(figure, f"{len(panels)} masks. {'; '.join(words)}.")


def weights_in_panels(
    panels: Mapping[str, Numbers],
    queries: Sequence[str],
    keys: Sequence[str],
    blocked: Numbers,
    columns: int = 0,
) -> Picture:
    """Weights under several conditions, hatched where there should be none.

    Args:
        panels: for each title, (N, M) weights.
        queries: N labels.
        keys: M labels.
        blocked: (N, M) bool, True = blocked, or should be.
        columns: panels in a row of the figure; 0 puts all in one row.
    """
    hatched = np.asarray(blocked, dtype=bool)
    across = columns or len(panels)
    down = -(-len(panels) // across)
    width = 1.3 + (0.9 + 0.62 * len(keys)) * across
    height = max(2.4, 1.1 + 0.42 * len(queries))
    figure, axes = new_figure(across, down, width, height * down)
    words = []
    for place, (title, weights) in zip(axes.flat, panels.items(), strict=False):
        matrix = np.asarray(weights, dtype=float)
        image = draw_heatmap(place, matrix, queries, keys, title)
        _mark_blocked(place, image, matrix, hatched)
        place.tick_params(labelsize=10)
        if max(map(len, keys)) > 6:
            place.set_xticks(range(len(keys)), keys, rotation=30, ha="right")
        leaked, sums = float(matrix[hatched].sum()), matrix.sum(axis=1)
        share = f"{leaked:.2f}" if leaked else "exactly 0"
        words.append(
            f"{title}: the hatched cells hold {share} in all, rows add up to "
            f"{sums.min():.2f} to {sums.max():.2f}"
        )
    for place in axes.flat[len(panels) :]:
        place.set_visible(False)
    for place in axes[-1]:
        place.set_xlabel("keys")
    for place in axes[:, 0]:
        place.set_ylabel("queries")
    figure.colorbar(image, ax=axes, label="weight")
    many = f"{len(panels)} heatmaps" if len(panels) > 1 else "Heatmap"
    return Picture(
        figure, f"{many} of weights, one row a query, one column a key. {'; '.join(words)}."
    )


def losses(curves: Mapping[str, Sequence[float]], floor: float, label: str) -> Picture:
    """Training losses, and the best that an honest model can reach.

    Args:
        curves: for each model, its loss at every step.
        floor: the honest best.
        label: what the floor is.
    """
    figure, axes = new_figure(width=8.5, height=3.3)
    place = axes[0, 0]
    words = []
    for (name, curve), (colour, line) in zip(
        curves.items(), ((ORANGE, "--"), (BLUE, "-")), strict=False
    ):
        place.plot(curve, color=colour, linestyle=line, label=name)
        words.append(f"{name}: from {curve[0]:.1f} to {curve[-1]:.1f}")
    place.axhline(floor, color=GREY, linewidth=1, zorder=0)
    place.annotate(
        label,
        (1, floor),
        xycoords=("axes fraction", "data"),
        xytext=(0, 4),
        textcoords="offset points",
        ha="right",
        color=GREY,
        fontsize=STYLE["font.size"] - 1,
    )
    place.set(xlabel="step", ylabel="loss, nats", ylim=(-0.05, None))
    place.legend(frameon=False, loc="center right")
    return Picture(
        figure,
        f"Training loss over {len(next(iter(curves.values())))} steps, with a line at "
        f"{floor:.2f}, {label}. {'; '.join(words)}.",
    )
