"""Lesson 12's figure: how often a reader finds the book, by how many there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attnlab.figures.arrays import as_array
from attnlab.figures.picture import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    Picture,
    name_lines,
    new_figure,
    with_looks,
)

LINES = tuple(zip((BLUE, ORANGE, GREEN, PURPLE), "os^D", ("-", "--", "-.", ":"), strict=True))


def found(books: Sequence[int], right: Mapping[str, Sequence[float]], chance: float) -> Picture:
    """Shares of right answers, a line for each way of attention.

    Args:
        books: how many there are in a text, ascending.
        right: for each way, its share for each of these numbers; four ways at most.
        chance: the share of who guesses.
    """
    figure, axes = new_figure(width=7.5, height=3.4)
    place = axes[0, 0]
    for (name, shares), (colour, marker, line) in with_looks(right.items(), LINES):
        place.plot(books, as_array(shares), color=colour, marker=marker, linestyle=line, label=name)
    place.axhline(chance, color=GREY, linewidth=1, zorder=0)
    place.annotate("guessing", (books[0], chance), (0, 4), textcoords="offset points", color=GREY)
    place.set_xscale("log", base=2)
    place.set_xticks(books, [str(number) for number in books])
    place.minorticks_off()
    place.set(xlabel="books in a text", ylabel="share right", ylim=(0, 1.05))
    name_lines(place)
    said = "; ".join(
        f"{name}: {', '.join(f'{share:.2f}' for share in shares)}" for name, shares in right.items()
    )
    numbers = ", ".join(map(str, books))
    return Picture(
        figure,
        f"Lines of the share of right answers over the number of books in a text, {numbers}, with "
        f"a line at {chance:.2f}, guessing. {said}.",
    )
