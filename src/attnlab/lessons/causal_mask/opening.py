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
EDGE = LEFT + STEP * len(TEXT)  # where rows end
OVER, GUESS, TICK = 414, 394, 438  # middles of a count of passes, of guesses and of signs
ONE, SIX = 384, 444  # middles of one pass's guesses and of six', side by side
LETTERS, NAME, LARGE = 20, 26, 36  # sizes of words
DARK, CLOTH, COPIED, SEEN = 0.3, 0.08, 0.2, 0.08  # weight 1; the mask; places
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
    aside = *_guesses("six", SIX, alone, GREY), *_count("six", SIX, f"{LAST}", "passes", GREY)
    beside = _count("one", ONE, "1", "pass", INK)
    under = _guesses("six", GUESS, alone, GREY, 0)
    same = *_guesses("one", GUESS, in_one), *_count("one", OVER, "1 pass", "the same six", INK)
    return Film(
        "Can one pass do the work of six?",
        [
            *(Frame(_alone(rows, alone, n), told) for n, told in zip(PASSES, tells, strict=True)),
            Frame(
                [*_copying(), *aside, *beside, *_guesses("one", ONE, TEXT[1:], PURPLE)],
                "One pass reads the text once: six words ask. But each could copy the next word.",
            ),
            Frame(
                [*_masked(rows), *aside, *beside, *_guesses("one", ONE, in_one)],
                "So a mask hides from each word all that follows it. Now one pass has to guess.",
            ),
            Frame(
                [*_masked(rows), *under, *same, *_signs(alone, LAST)],
                "Yes: with the mask, one pass makes the same six guesses as six passes, "
                "both wrong ones too.",
            ),
        ],
        HIGH,
    )


def _alone(rows: list[list[float]], guesses: Sequence[str], n: int) -> list[Part]:
    """So many passes: each wrote a row, whose last word guesses. All else is still to come."""
    parts = [*_mask(n), *_listening(rows, n)]
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
        *_count("six", OVER, f"{n}", "passes" if n > 1 else "pass", GREY),
        *_guesses("six", GUESS, guesses[:n]),
        *_signs(guesses, n if n == LAST else n - 1),
    ]


def _copying() -> list[Part]:
    """One pass without a mask: from the word after each that asks to what it could say."""
    parts, tip = [*_mask(LAST, is_open=True), *_map(len(TEXT))], ONE - 24
    for row in ROWS:
        y = _line(row) - 0.35 * LETTERS
        arrow = [(PLACES[row], y), (tip, y), (tip - 6, y - 5), (tip, y), (tip - 6, y + 5)]
        parts.append(_cell(f"copied {row}", row, row, PURPLE, COPIED))
        parts.append(line(f"copies {row}", arrow, PURPLE, 2))
        if row < LAST:
            parts += _text(row, 0)  # all rows of words end in one
    return parts


def _masked(rows: list[list[float]]) -> list[Part]:
    """One pass behind the mask."""
    name = word("hides", EDGE - 10, TOP + TALL + 9, "the mask", PURPLE, "end", NAME, 600)
    return [*_mask(LAST), *_map(0), *_listening(rows, LAST, is_told=True), name]


def _map(ahead: int) -> list[Part]:
    """What each word that asks can see of the text, which stands once: so many words ahead."""
    asks = [_word(f"asks {row}", ASKS, row, TEXT[row - 1], ORANGE) for row in ROWS]
    seen = [(row, m) for row in ROWS for m in range(min(row + ahead, len(TEXT)))]
    cells = [_cell(f"seen {row} {m}", row, m, GREY, SEEN) for row, m in seen]
    return [*cells, *asks, *_text(LAST)]


def _text(row: int, opacity: float = 1) -> list[Part]:
    """A row of words, over all."""
    words = TEXT if row == LAST else TEXT[:row]
    return [
        word(f"word {m} of {row}", PLACES[m], HEAD, each, size=LETTERS, weight=600, opacity=opacity)
        for m, each in enumerate(words)
    ]


def _guesses(
    which: str, x: float, guesses: Sequence[str], colour: str | Colour = INK, opacity: float = 1
) -> list[Part]:
    look = colour, 600, opacity
    return [_word(f"{which} {row}", x, row, each, *look) for row, each in enumerate(guesses, 1)]


def _count(which: str, x: float, count: str, counted: str, colour: str | Colour) -> list[Part]:
    """So many passes, over their guesses."""
    return [
        word(f"{which} count", x, COUNT, count, colour, size=LARGE, weight=700),
        word(f"{which} {counted}", x, HEAD, counted, colour, size=SMALL),
    ]


def _line(row: int) -> float:
    """Of the words of a row."""
    return TOP + TALL * (row - 0.5) + 0.35 * LETTERS


def _word(
    key: str,
    x: float,
    row: int,
    text: str,
    colour: str | Colour,
    weight: int = 600,
    opacity: float = 1,
) -> Part:
    return word(key, x, _line(row), text, colour, "middle", LETTERS, weight, opacity)


def _mask(n: int, is_open: bool = False) -> list[Part]:
    """It hides from the last words of so many rows what follows; it opens to the right."""
    hem = []
    for row in ROWS:
        x = EDGE if is_open else LEFT + STEP * min(row, n)
        hem += [(x, TOP + TALL * min(row - 1, n)), (x, TOP + TALL * min(row, n))]
    return [
        area("mask", [(EDGE, TOP), *hem, (EDGE, hem[-1][1])], PURPLE, CLOTH),
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
