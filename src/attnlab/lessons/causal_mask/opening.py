"""Lesson 06 opens with a text that is read in six passes, and then in one, behind a mask."""

from __future__ import annotations

from collections.abc import Sequence

from attnlab import small
from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, Part, area, box, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, Colour

TEXT = ("fox", "owl", "cat", ";", "fox", "owl", "cat")  # a row, and the same again
LAST, AGAIN, ROWS = len(TEXT) - 1, TEXT.index(TEXT[0], 1), range(1, len(TEXT))
PASSES = (1, 2, 5, 6)  # that are shown; in each as many words are there
HIGH, COUNT, HEAD, TOP, TALL = 270, 29, 54, 64, 34  # of the sheet; lines over rows; of rows
ASKS, LEFT, STEP = 22, 46, 43  # middle of what asks; of rows; how wide a word's place is
PLACES = [LEFT + STEP * (n + 0.5) for n in range(len(TEXT))]
EDGE, SHUT = (LEFT + STEP * n for n in (len(TEXT), LAST))  # where rows end, and masked ones
ONE, EQUAL, SIX, TICK = 338, 372, 406, 454  # middles of one pass's guesses, of six', of signs
COPY, ASIDE = 380, 448  # middles of what is copied, and of six passes' guesses beside it
LETTERS, NAME, LARGE = 20, 26, 36  # sizes of words
DARK, CLOTH, COPIED, SEEN = 0.3, 0.08, 0.2, 0.08  # weight 1; the mask; places
GHOST = 0.3  # of the stairs that are to come
SIGNS = {  # by whether a guess is right
    True: (GREEN, [(-9, 0), (-3, 7), (10, -9)]),
    False: (GREY, [(-8, -8), (8, 8), (0, 0), (8, -8), (-8, 8)]),
}


def opening() -> Film:
    """The film."""
    layer, head = small.head("repeat")
    rows = small.weights(TEXT)[layer][head].tolist()
    alone = [next(iter(small.following(TEXT[:n], 1))) for n in ROWS]
    in_one = [
        small.words[n] for n in small.load()(small.numbered(TEXT))[0, :LAST].argmax(-1).tolist()
    ]
    right = sum(guess == each for guess, each in zip(alone, TEXT[1:], strict=True))
    tells = (
        f"Pass 1: a model sees “{TEXT[0]}”, and guesses that the next word is “{alone[0]}”.",
        f"Pass 2: the next word was “{TEXT[1]}”. So that was wrong, and the model guesses again.",
        f"Pass 5: the second “{TEXT[0]}” listens to “{TEXT[1]}” ({max(rows[AGAIN]):.2f}), "
        "which followed the first, and guesses it.",
        f"Pass 6: “{alone[-1]}”. {LAST} guesses took {LAST} passes; {right} are right.",
    )
    frames = [
        *(Frame(_alone(rows, alone, n), told) for n, told in zip(PASSES, tells, strict=True)),
        Frame(
            [*_copying(), *_six(ASIDE, alone, LAST, GREY)],
            "One pass reads the text once: six words ask. But each could copy the next word.",
        ),
        Frame(
            [
                *_masked(rows),
                *_count("one", ONE, "1", "pass", INK),
                *_column("one", ONE, in_one),
                *_column("equal", EQUAL, ["="] * LAST, GREY),
                *_six(SIX, alone, LAST),
                *_signs(alone, LAST),
            ],
            "Yes, if a mask hides what follows: one pass makes the same six guesses as six passes, "
            "both wrong ones too.",
        ),
    ]
    return Film("Can one pass do the work of six?", frames, HIGH)


def _alone(rows: list[list[float]], guesses: Sequence[str], n: int) -> list[Part]:
    """So many passes: each wrote a row, whose last word guesses. All else is still to come."""
    stairs = _mask(LAST)[1]._replace(key="stairs")
    stairs = stairs._replace(look={**stairs.look, "opacity": GHOST})
    parts = [*_cells(0), stairs, *_mask(n), *_listening(rows, n)]
    for row in ROWS:
        look = (INK, 600) if row == n else (GREY, 400)
        parts.append(_word(f"asks {row}", ASKS, row, f"{row}", *look))
        for m, each in enumerate(TEXT[: row if row <= n else 0]):
            look = (ORANGE, 600) if m == row - 1 else (INK, 400)
            parts.append(_word(f"word {m} of {row}", PLACES[m], row, each, *look))
    return [
        *parts,
        word("pass", ASKS, HEAD, "pass", GREY, size=SMALL),
        word("hides", EDGE - 10, _line(1), "still to come", PURPLE, "end", LETTERS, 600),
        *_six(SIX, guesses, n),
        *_signs(guesses, n if n == LAST else n - 1),
    ]


def _copying() -> list[Part]:
    """One pass without a mask: from the word after each that asks to what it could say."""
    parts, tip = [*_mask(LAST, is_open=True), *_map(len(TEXT))], COPY - 24
    for row in ROWS:
        y = _line(row) - 0.35 * LETTERS
        arrow = [(PLACES[row], y), (tip, y), (tip - 6, y - 5), (tip, y), (tip - 6, y + 5)]
        parts.append(_cell(f"copied {row}", row, row, PURPLE, COPIED))
        parts.append(line(f"copies {row}", arrow, PURPLE, 2))
        if row < LAST:
            parts += _text(row, 0)  # all rows of words end in one
    name = word("copied", COPY, COUNT, "copied", PURPLE, weight=600)
    return [*parts, name, *_column("one", COPY, TEXT[1:], PURPLE)]


def _masked(rows: list[list[float]]) -> list[Part]:
    """One pass behind the mask."""
    name = word("hides", SHUT - 10, TOP + TALL + 9, "the mask", PURPLE, "end", NAME, 600)
    return [*_mask(LAST, SHUT), *_map(0), *_listening(rows, LAST, is_told=True), name]


def _map(ahead: int) -> list[Part]:
    """What each word that asks can see of the text, which stands once: so many words ahead."""
    asks = [_word(f"asks {row}", ASKS, row, TEXT[row - 1], ORANGE) for row in ROWS]
    return [*_cells(ahead), *asks, *_text(LAST)[: LAST + ahead]]


def _cells(ahead: int) -> list[Part]:
    seen = [(row, m) for row in ROWS for m in range(min(row + ahead, len(TEXT)))]
    return [_cell(f"seen {row} {m}", row, m, GREY, SEEN) for row, m in seen]


def _text(row: int, opacity: float = 1) -> list[Part]:
    """A row of words, over all."""
    words = TEXT if row == LAST else TEXT[:row]
    return [
        word(f"word {m} of {row}", PLACES[m], HEAD, each, size=LETTERS, weight=600, opacity=opacity)
        for m, each in enumerate(words)
    ]


def _column(which: str, x: float, words: Sequence[str], colour: str | Colour = INK) -> list[Part]:
    return [_word(f"{which} {row}", x, row, each, colour) for row, each in enumerate(words, 1)]


def _six(x: float, guesses: Sequence[str], n: int, ink: str | Colour = INK) -> list[Part]:
    """So many passes and their guesses."""
    counted = "passes" if n > 1 else "pass"
    return [*_column("six", x, guesses[:n], ink), *_count("six", x, f"{n}", counted, GREY)]


def _count(which: str, x: float, count: str, counted: str, colour: str | Colour) -> list[Part]:
    """So many passes, over their guesses."""
    return [
        word(f"{which} count", x, COUNT, count, colour, size=LARGE, weight=700),
        word(f"{which} {counted}", x, HEAD, counted, colour, size=SMALL),
    ]


def _line(row: int) -> float:
    """Of the words of a row."""
    return TOP + TALL * (row - 0.5) + 0.35 * LETTERS


def _word(key: str, x: float, row: int, text: str, colour: str | Colour, weight: int = 600) -> Part:
    return word(key, x, _line(row), text, colour, size=LETTERS, weight=weight)


def _mask(n: int, edge: float = EDGE, is_open: bool = False) -> list[Part]:
    """It hides from the last words of so many rows what follows; it opens to the right."""
    hem = []
    for row in ROWS:
        x = edge if is_open else LEFT + STEP * min(row, n)
        hem += [(x, TOP + TALL * min(row - 1, n)), (x, TOP + TALL * min(row, n))]
    return [
        area("mask", [(edge, TOP), *hem, (edge, hem[-1][1])], PURPLE, CLOTH),
        line("hem", hem, PURPLE, 3, float(not is_open), cap="butt"),
    ]


def _listening(rows: list[list[float]], n: int, is_told: bool = False) -> list[Part]:
    """To what words listen most that come again, as dark as its weight, which may be told."""
    parts = []
    for row in range(AGAIN + 1, n + 1):
        weight = max(rows[row - 1])
        place = rows[row - 1].index(weight)
        parts.append(_cell(f"listens {row}", row, place, BLUE, DARK * weight))
        if is_told:
            told = PLACES[place], _line(row) - 1, f"{weight:.2f}"
            parts.append(word(f"weight {row}", *told, size=SMALL))
    return parts


def _cell(key: str, row: int, place: int, colour: Colour, dark: float) -> Part:
    """Around a word."""
    corner = LEFT + STEP * place + 1, TOP + TALL * (row - 1) + 4
    return box(key, corner, (STEP - 2, TALL - 8), colour, dark)


def _signs(guesses: Sequence[str], n: int) -> list[Part]:
    """Whether so many guesses are the words that came."""
    parts = []
    for row in ROWS[:n]:
        colour, points = SIGNS[guesses[row - 1] == TEXT[row]]
        y = _line(row) - 0.35 * LETTERS
        moved = [(TICK + right, y + down) for right, down in points]
        parts.append(line(f"sign {row}", moved, colour, 4))
    return parts
