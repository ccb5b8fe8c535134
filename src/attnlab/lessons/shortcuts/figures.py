"""Lesson 12's figure: how often a reader finds the book, by how many there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attnlab.figures.picture import ORANGE, Picture, in_style, new_figure


@in_style
def found(
    books: Sequence[int], right: Mapping[str, Sequence[float]], chance: float, focus: str
) -> Picture:
    """Shares of right answers: a panel for each number of books, a bar for each way of attention.

    Args:
        books: how many there are in a text, ascending.
        right: for each way, its share for each of these numbers.
        chance: the share of who guesses.
        focus: the way that is looked at; the others are grey.
    """
    figure, axes = new_figure(
        columns=len(books), width=3.5 * len(books), height=1.1 + 0.42 * len(right)
    )
    for n, (place, number) in enumerate(zip(axes[0], books, strict=True)):
        for at, (name, shares) in enumerate(right.items()):
            looked_at, share = name == focus, float(shares[n])
            place.barh(at, share, height=0.7, color=ORANGE if looked_at else "#cccccc")
            place.text(
                share + 0.03,
                at,
                f"{share:.2f}",
                va="center",
                weight="bold" if looked_at else "normal",
            )
        place.axvline(chance, color="black", linewidth=1, linestyle=":")
        place.set_title(f"{number} books")
        place.set(xlim=(0, 1.25), xticks=[], ylim=(len(right) - 0.35, -0.65))
        place.set_yticks(range(len(right)), right)
        place.spines["bottom"].set_visible(False)
        place.tick_params(length=0, labelcolor="black")
        place.set_xlabel("dotted: guessing", loc="left")
    ends = {name: 100 * float(shares[-1]) for name, shares in right.items()}
    mine = ends.pop(focus)
    other = max(ends, key=lambda name: ends[name])
    said = "; ".join(
        f"{name}: {', '.join(f'{share:.2f}' for share in shares)}" for name, shares in right.items()
    )
    numbers = ", ".join(map(str, books))
    return Picture(
        figure,
        f"Bars of the share of right answers for {numbers} books in a text, with "
        f"a line at {chance:.2f}, guessing. {said}.",
        f"Of {books[-1]} books, {focus} attention finds the one that is asked for in {mine:.0f} % "
        f"of texts, {other} in {ends[other]:.0f} %",
    )
