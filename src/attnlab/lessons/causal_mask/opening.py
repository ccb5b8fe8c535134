"""Lesson 06 opens with a text that is read in six passes, and then in one, behind a mask."""

from __future__ import annotations

from collections.abc import Sequence

from attnlab import small
from attnlab.figures.live.film import Film, Frame
from attnlab.figures.live.parts import INK, SMALL, WIDE, Part, area, box, line, word
from attnlab.figures.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, Colour

TEXT = ("fox", "owl", "cat", ";", "fox", "owl", "cat")  # a row, and the same again
LAST, AGAIN, ROWS = len(TEXT) - 1, TEXT.index(TEXT[0], 1), range(1, len(TEXT))
PASSES = (1, 2, 5, 6)  # that are shown; in each as many words are there
HIGH, COUNT, HEAD, TOP, TALL = 270, 38, 60, 68, 33  # of the sheet; lines over rows; of rows
LEFT, STEP = 48, 40  # where rows begin; how wide a word's place is
PLACES = [LEFT + STEP * (n + 0.5) for n in range(len(TEXT))]
EDGE = LEFT + STEP * len(TEXT)  # where rows end
ONE, SIX, NEXT = 343, 410, 366  # where guesses begin; of one pass each, or what could be copied
EQUAL, TICK = 388, 468  # middles of what stands between both guesses, and of signs
LETTERS, NAME, LARGE = 20, 30, 40  # sizes of words
SEEN, CLOTH, COPIED, DARK = 0.1, 0.14, 0.3, 0.4  # seen; still to come; copied; of weight 1
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
        f"Passes 3 and 4 are right. Then the second “{TEXT[0]}” listens to "
        f"“{TEXT[1]}” ({max(rows[AGAIN]):.2f}), which followed the first, and guesses it.",
        f"Pass 6: “{alone[-1]}”. {LAST} guesses took {LAST} passes; {right} are right.",
    )
    frames = [
        *(Frame(_alone(rows, alone, n), told) for n, told in zip(PASSES, tells, strict=True)),
        Frame(
            _copying(),
            "One pass reads the whole known text: six words ask. But each could copy the next.",
        ),
        Frame(
            [
                *_masked(rows),
                *_equal(),
                *_column("one", ONE, in_one),
                *_column("six", SIX, alone),
                *_signs(alone, LAST),
            ],
            "Yes, if the text is known and a mask hides what follows: the same guesses, both wrong "
            "ones too.",
        ),
    ]
    return Film("Can one pass do the work of six?", frames, HIGH)


def _alone(rows: list[list[float]], guesses: Sequence[str], n: int) -> list[Part]:
    """So many passes: each wrote a row, whose last word guesses. All else is still to come."""
    parts = [*_seen(0), *_mask(n), *_listening(rows, n)]
    for row in ROWS:
        ink, weight = (INK, 600) if row == n else (GREY, 400)
        parts.append(_word(f"asks {row}", 0, row, f"{row}", ink, weight, "start"))
        for m, each in enumerate(TEXT[: row if row <= n else 0]):
            look = (ORANGE, 600) if m == row - 1 else (INK, 400)
            parts.append(_word(f"word {m} of {row}", PLACES[m], row, each, *look))
    return [
        *parts,
        *_count(n),
        word("hides", EDGE - 12, _line(1), "still to come", PURPLE, "end", LETTERS, 600),
        word("guess", NEXT, HEAD, "guess", GREY, "start", SMALL),
        *([word("right", WIDE, HEAD, "right?", GREY, "end", SMALL)] if n > 1 else []),
        *_column("six", NEXT, guesses[:n]),
        *_signs(guesses, n if n == LAST else n - 1),
    ]


def _copying() -> list[Part]:
    """One pass without a mask: from the word after each that asks to what it could say."""
    parts, tip = [*_mask(LAST, is_open=True), *_map(len(TEXT))], NEXT - 8
    for row in ROWS:
        x, y = LEFT + STEP * (row + 1), _line(row) - 0.35 * LETTERS
        parts += [
            _cell(f"copied {row}", row, row, PURPLE, COPIED),
            line(f"copies {row}", [(x, y), (tip, y)], PURPLE, 2, dashes="2 6"),
            line(f"tip {row}", [(tip - 6, y - 5), (tip, y), (tip - 6, y + 5)], PURPLE, 2),
        ]
        if row < LAST:
            parts += _text(TEXT[:row], row, 0)  # all rows of words end in one
    name = word("copy", NEXT, HEAD, "could copy", PURPLE, "start", SMALL)
    return [*parts, *_count(1), name, *_column("one", NEXT, TEXT[1:], PURPLE)]


def _masked(rows: list[list[float]]) -> list[Part]:
    """One pass behind the mask, and the words that are listened to most."""
    parts = [*_map(0), *_listening(rows, LAST), *_mask(LAST, DARK)]
    for row in ROWS[AGAIN:]:
        most = rows[row - 1].index(max(rows[row - 1]))
        parts.append(word(f"was {row}", PLACES[most], _line(row), TEXT[most], weight=500))
    middle = LEFT + STEP * 5, TOP + TALL * 5 / 3  # of its widest place
    return [*parts, word("hides", middle[0], middle[1] + NAME / 3, "mask", size=NAME, weight=700)]


def _equal() -> list[Part]:
    """What stands over the guesses of one pass and of six."""
    return [
        *_count(1, "one", ONE),
        *_count(LAST, "six", SIX),
        *(word(f"equal {row}", EQUAL, _line(row), "=", GREY, size=SMALL) for row in ROWS),
    ]


def _map(ahead: int) -> list[Part]:
    """What each word that asks can see of the text, which stands once: so many words ahead."""
    asks = _column("asks", 0, TEXT[:LAST], ORANGE)
    return [*_seen(ahead), *asks, *_text(TEXT)]


def _seen(ahead: int) -> list[Part]:
    return [_cell(f"seen {row}", row, 0, GREY, SEEN, min(row + ahead, len(TEXT))) for row in ROWS]


def _text(words: Sequence[str], row: int = LAST, opacity: float = 1) -> list[Part]:
    """Words of a row, over all."""
    return [
        word(f"word {m} of {row}", PLACES[m], HEAD, each, INK, "middle", LETTERS, 500, opacity)
        for m, each in enumerate(words)
    ]


def _column(which: str, x: float, words: Sequence[str], colour: str | Colour = INK) -> list[Part]:
    rows = enumerate(words, 1)
    return [_word(f"{which} {row}", x, row, each, colour, 600, "start") for row, each in rows]


def _count(n: int, which: str = "one", x: float = 0) -> list[Part]:
    """So many passes."""
    counted = "passes" if n > 1 else "pass"
    return [
        word(f"{which} count", x, COUNT, f"{n}", anchor="start", size=LARGE, weight=700),
        word(f"counted {x}", x, HEAD, counted, GREY, "start", SMALL),
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
    anchor: str = "middle",
) -> Part:
    return word(key, x, _line(row), text, colour, anchor, LETTERS, weight)


def _mask(n: int, dark: float = CLOTH, is_open: bool = False) -> list[Part]:
    """It hides from the last words of so many rows what follows; it opens to the right."""
    hem = []
    for row in ROWS:
        x = EDGE if is_open else LEFT + STEP * min(row, n)
        hem += [(x, TOP + TALL * min(row - 1, n)), (x, TOP + TALL * min(row, n))]
    corners = [(EDGE, TOP), *hem, (EDGE, hem[-1][1])]
    return [area("mask", corners, PURPLE, dark)]


def _listening(rows: list[list[float]], n: int) -> list[Part]:
    """To what words listen most that come again, as dark as its weight."""
    parts = []
    for row in range(AGAIN + 1, n + 1):
        weight = max(rows[row - 1])
        place = rows[row - 1].index(weight)
        parts.append(_cell(f"listens {row}", row, place, BLUE, DARK * weight))
    return parts


def _cell(key: str, row: int, place: int, colour: Colour, dark: float, words: int = 1) -> Part:
    """Around so many words, from one at a place."""
    corner = LEFT + STEP * place, TOP + TALL * (row - 1) + 3
    return box(key, corner, (STEP * words, TALL - 6), colour, dark)


def _signs(guesses: Sequence[str], n: int) -> list[Part]:
    """Whether so many guesses are the words that came."""
    parts = list[Part]()
    for row in ROWS[:n]:
        colour, points = SIGNS[guesses[row - 1] == TEXT[row]]
        y = _line(row) - 0.35 * LETTERS
        moved = [(TICK + right, y + down) for right, down in points]
        parts.append(line(f"sign {row}", moved, colour, 4))
    return parts
