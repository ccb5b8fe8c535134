"""Lesson 12's figure: how often a reader finds the book, by how many there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attnlab.figures.picture import (
    BLUE,
    GREY,
    ORANGE,
    PAGE,
    QUIET,
    Picture,
    in_style,
    name_lines,
    new_figure,
)


@in_style
def found(
    books: Sequence[int], right: Mapping[str, Sequence[float]], chance: float, focus: str
) -> Picture:
    """Shares of right answers, a line for each way of attention.

    Args:
        books: how many there are in a text, ascending.
        right: for each way, its share for each of these numbers; full attention first.
        chance: the share of who guesses.
        focus: the way that is looked at.
    """
    figure, [[place]] = new_figure(width=PAGE, height=3.6)
    best, *_ = right
    colours, places = {best: BLUE, focus: ORANGE}, range(len(books))
    for name, shares in right.items():
        colour = colours.get(name, GREY)
        told = [f"{share:.0%}".replace("%", " %") for share in shares]
        place.plot(
            places,
            shares,
            "o",
            ls="-" if name in colours else (0, (3, 3)),  # over a line that it meets
            color=colour,
            ms=11 if name in colours else 7,
            markevery=1 if name in colours else [-1],
            lw=4.5 if name in colours else 2,
            clip_on=False,
            label=f"{name}: {told[-1]}",
        )
        for n in places[1:-1] if name == focus else ():
            alike = [other for other, theirs in right.items() if theirs[n] == shares[n]]
            place.annotate(
                f"{'both ' * (len(alike) == 2)}{told[n]}",
                (n, shares[n]),
                (14, -2),
                textcoords="offset points",
                color=colour,
                va="center",
            )
    place.axhline(chance, color=QUIET, linewidth=1, linestyle=":", zorder=0)
    place.annotate(
        f"guessing one of {1 / chance:.0f} letters",
        (0, chance),
        (0, 5),
        textcoords="offset points",
        color=QUIET,
    )
    place.set(xlabel="books in a text, log", ylim=(0, 1.06), title="letters answered right")
    place.set_yticks([0, 0.5, 1], ["0", "50 %", "100 %"])
    place.set_xticks(places, map(str, books))
    name_lines(place)
    said = "; ".join(
        f"{name}: {', '.join(f'{share:.2f}' for share in shares)}" for name, shares in right.items()
    )
    return Picture(
        figure,
        f"Lines of the share of right answers for {', '.join(map(str, books))} books in a text, "
        f"with a line at {chance:.2f}, guessing. {said}.",
        f"More books: {focus} attention and a window lose, {best} keeps all\n"
        "In each book stands a letter, and the last token asks for that of one book."
        if all(shares[0] > shares[-1] for name, shares in right.items() if name != best)
        and right[best][-1] > 0.99
        else "",
    )
