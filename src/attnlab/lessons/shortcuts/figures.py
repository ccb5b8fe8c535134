"""Lesson 12's figure: how often a reader finds the book, by how many there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attnlab.figures.picture import BLUE, GREY, ORANGE, QUIET, Picture, in_style, new_figure

APART = 0.7  # rows between two ways


@in_style
def found(
    books: Sequence[int], right: Mapping[str, Sequence[float]], chance: float, focus: str
) -> Picture:
    """Shares of right answers as bars, a group for each way of attention.

    Args:
        books: how many there are in a text, ascending.
        right: for each way, its share for each of these numbers; full attention first.
        chance: the share of who guesses.
        focus: the way that is looked at.
    """
    figure, [[place]] = new_figure(width=5.1, height=4.4)
    best, *_ = right
    colours, rows = {best: BLUE, focus: ORANGE}, []
    for group, (name, shares) in enumerate(right.items()):
        colour, top = colours.get(name, GREY), group * (len(books) + APART)
        heights = [top + n for n in range(len(books))]
        bars = place.barh(heights, shares, 0.76, color=colour)
        told = [f"{share:.0%}".replace("%", " %") for share in shares]
        place.bar_label(bars, told, padding=5, color=colour)
        middle = (-0.24, sum(heights) / len(heights))
        place.text(*middle, name.replace(" of", "\nof"), color=colour, ha="right", va="center")
        rows += heights
    place.axvline(chance, color=QUIET, linewidth=1, linestyle=":", zorder=0)
    place.text(chance, -0.75, f"guessing: 1 in {1 / chance:.0f}", color=QUIET)
    place.set(xlim=(0, 1.12), ylim=(rows[-1] + 0.5, -0.6), xticks=[])
    place.set_yticks(rows, [*map(str, books)] * len(right))
    place.set_ylabel("books in a text", loc="top", rotation=0)
    place.tick_params(length=0)
    place.spines["bottom"].set_visible(False)
    said = "; ".join(
        f"{name}: {', '.join(f'{share:.2f}' for share in shares)}" for name, shares in right.items()
    )
    return Picture(
        figure,
        f"Bars of the share of right answers for {', '.join(map(str, books))} books in a text, "
        f"with a line at {chance:.2f}, guessing. {said}.",
        f"Of {books[-1]} books, {focus} attention finds the right one in "
        f"{right[focus][-1]:.0%} of texts, and {best} attention in {right[best][-1]:.0%}".replace(
            "%", " %"
        ),
    )
