"""Lesson 12's figure: how often a reader finds the book, by how many there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attnlab.figures.picture import (
    BLUE,
    GREY,
    ORANGE,
    QUIET,
    Picture,
    in_style,
    new_figure,
    with_looks,
)

OTHERS = ((BLUE, "-"), (GREY, "--"))  # ways that the one in focus is compared with


@in_style
def found(
    books: Sequence[int], right: Mapping[str, Sequence[float]], chance: float, focus: str
) -> Picture:
    """Shares of right answers over the number of books, a line for each way of attention.

    Args:
        books: how many there are in a text, ascending.
        right: for each way, its share for each of these numbers; three ways at most.
        chance: the share of who guesses.
        focus: the way that is looked at.
    """
    figure, axes = new_figure(width=5.1, height=4.0)
    place = axes[0, 0]
    others = with_looks([name for name in right if name != focus], OTHERS)
    looks = {**dict(others), focus: (ORANGE, "-")}
    # From the highest end to the lowest: under its line, to the right of it, to the left.
    sides = ((0, -17, "center"), (14, 4, "left"), (-14, -4, "right"))
    highest_first = sorted(right, key=lambda name: -right[name][-1])
    for name, (x, y, side) in with_looks(highest_first, sides):
        (colour, line), shares = looks[name], right[name]
        bold = {"color": colour, "weight": "bold" if name == focus else "normal", "va": "center"}
        front = 4 if name == focus else 3
        place.plot(books, shares, line, c=colour, marker="o", ms=8, clip_on=False, zorder=front)
        near = {"textcoords": "offset points", **bold}
        place.annotate(f"{shares[-1]:.2f}", (books[-1], shares[-1]), (12, 0), **near)
        middle = (books[-2] * books[-1]) ** 0.5, sum(shares[-2:]) / 2
        place.annotate(name, middle, (x, y), ha=side, **near)
    place.axhline(chance, color=QUIET, linewidth=1, linestyle=":")
    place.text(books[0], chance - 0.025, "guessing", color=QUIET, va="top")
    place.set(
        xscale="log", xlim=(books[0] * 0.9, books[-1]), ylim=(0, 1.05), xlabel="books in a text"
    )
    place.set_xticks(books, list(map(str, books)))
    place.minorticks_off()
    place.set_yticks([0, 0.5, 1], ["0", "½", "1"])
    place.set_title("share of right answers")
    said = "; ".join(
        f"{name}: {', '.join(f'{share:.2f}' for share in shares)}" for name, shares in right.items()
    )
    numbers = ", ".join(map(str, books))
    return Picture(
        figure,
        f"Lines of the share of right answers for {numbers} books in a text, with "
        f"a line at {chance:.2f}, guessing. {said}.",
        f"The more books there are, the less {focus} attention finds: of {books[-1]} the right one "
        f"in {right[focus][-1]:.0%} of texts".replace("%", " %")
        if sorted(right[focus], reverse=True) == list(right[focus])
        else "",
    )
