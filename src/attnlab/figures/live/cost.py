"""Cost: what attention costs in operations and bytes, as counted, and as measured here."""

from __future__ import annotations

import html
from math import log2
from typing import Any

import traitlets

from attnlab.figures.live import counts, fallback
from attnlab.figures.live.cost_chart import (
    BLUE,
    BOLD,
    BOTTOM,
    CLEAR,
    GREY,
    HEIGHT,
    ORANGE,
    RIGHT,
    STEEP,
    TOP,
    WIDTH,
    chart,
    drawing,
    lines,
)
from attnlab.figures.live.counts import GIB, KIB, MEMORIES, MIB, SIZES, TIB, in_bytes
from attnlab.figures.live.counts import in_number_words as in_words
from attnlab.figures.live.figure import Figure, Input, Values, source, style, whole
from attnlab.figures.live.measured import Measured, measure
from attnlab.figures.live.strokes import text
from attnlab.figures.palette import GROUND

LENGTHS = [2**power for power in range(6, 19)]  # stops of the sliders
WIDTHS = [2**power for power in range(6, 13)]
HEADS = [2**power for power in range(6)]
STEPS = (1024, 4096, 16384, 65536, 262144)  # of the still figure
SOLID, SQUARE, LINEAR = (
    f'stroke="{colour}" stroke-width="{wide}"'
    for colour, wide in ((BLUE, 4), (ORANGE, 2), (GREY, 2))
)
PAGE = 512
LIKE = {PAGE: "a page", 8192: "an article", 262144: "a book"}  # texts of about so many tokens
TOKEN_TICKS = {float(n): name for n, name in LIKE.items()}
WORK_TICKS = {1e6: "million", 1e9: "billion", 1e12: "trillion"}
BYTE_TICKS = {KIB: "1 KiB", MIB: "1 MiB", GIB: "1 GiB", TIB: "1 TiB"}
MOST_BYTES = 64 * TIB  # of the axis
SIDE = HEIGHT - TOP - BOTTOM  # of the square of twice as many tokens, as high as a chart's axis
DRAWN = ("a laptop with 16 GiB", "a GPU with 140 GiB")  # the third is too close to the last
NUMBERS = "all counts in numbers"
MEANING = (
    "Both axes of a chart are logarithmic: a straight line is a power of N, and a steeper one a "
    "higher power. Counted is one layer for one sequence, matrix products alone, the scores held "
    "once. Heads share d: more heads cost no more operations, and H times the scores. A measured "
    "time is drawn at the operations that a plain matrix product does in that time."
)
NOT_MEASURED = "Nothing is measured for this d, these heads and this type of number."


class Cost(Figure):
    """Counts for N tokens as lines over N, and on request what this machine measures beside them.

    Args:
        n: tokens, 64 to 262144.
        d: numbers a token, 64 to 4096.
        heads: H, at most 32, which divides d.
        dtype: float64, float32, bfloat16 or float16.
        memory: bytes of this machine, where its scores end; None asks the machine.
    Raises:
        ValueError: a number is out of bounds, or H does not divide d.

    Attributes:
        measured: what `measure` found, or None; counted anew where d, heads or dtype change.
    """

    _esm = source("cost")
    _css = style("cost")
    title = traitlets.Unicode("What attention costs").tag(sync=True)
    n, d, heads, dtype, measured, memory = (Input() for _ in range(6))

    def __init__(
        self,
        n: int = 4096,
        d: int = 512,
        heads: int = 8,
        dtype: str = "float32",
        memory: int | None = None,
    ) -> None:
        here = counts.memory_here() if memory is None else memory
        super().__init__(n=n, d=d, heads=heads, dtype=dtype, measured=None, memory=here)

    def measure(self) -> None:
        """Measure plain attention on this machine, for about two seconds, and draw the points.

        Raises:
            RuntimeError: one length alone would take longer, or PyTorch cannot compute it here.
            MemoryError: there is too little memory.
        """
        self.measured = measure(self.d, self.heads, self.dtype)

    def change(self, **inputs: Any) -> None:
        others = inputs.keys() & {"d", "heads", "dtype"}
        super().change(**({"measured": None} if others else {}) | inputs)

    def _receive(self, sender: Any, message: Values, buffers: Any) -> None:
        if "measure" in message:
            self._try_to_measure()
        else:
            super()._receive(sender, message, buffers)

    def _try_to_measure(self) -> None:
        """Measure, or say in the page why not; what was measured before stays."""
        self.problem = ""
        try:
            self.measure()
        except MemoryError:
            self.problem = "nothing was measured: there is too little memory here"
        except (RuntimeError, ValueError) as error:
            self.problem = f"nothing was measured: {error}"

    def checked(self, inputs: Values) -> Values:
        n = whole("N", inputs["n"], LENGTHS[0], LENGTHS[-1])
        d = whole("d", inputs["d"], WIDTHS[0], WIDTHS[-1])
        heads = whole("the number of heads", inputs["heads"], HEADS[0], HEADS[-1])
        if d % heads:
            raise ValueError(f"{heads} heads cannot share d = {d}: there is a rest of {d % heads}")
        dtype, measured = inputs["dtype"], inputs["measured"]
        if dtype not in SIZES:
            raise ValueError(f"there is no type {dtype!r} here; there are {', '.join(SIZES)}")
        if not (measured is None or isinstance(measured, Measured)):
            raise ValueError("measured is what measure() finds, or None")
        memory = inputs["memory"]
        if memory is not None:
            memory = whole("memory", memory, 1, MOST_BYTES)
        return {
            **{"n": n, "d": d, "heads": heads, "dtype": dtype},
            **{"measured": measured, "memory": memory},
        }

    def computed(self, inputs: Values) -> Values:
        n, d, heads, measured, here = (
            inputs[name] for name in ("n", "d", "heads", "measured", "memory")
        )
        size = SIZES[inputs["dtype"]]
        scores = counts.score_bytes(n, heads, size)
        return {
            "sliders": [
                _slider("n", "tokens N", LENGTHS, n),
                _slider("d", "width d", WIDTHS, d),
                _slider("heads", "heads H", HEADS, heads),
            ],
            "dtype": inputs["dtype"],
            "dtypes": list(SIZES),
            "counts": [
                ["scores Q Kᵀ", "2 · N² · d", in_words(counts.score_flops(n, d))],
                ["weights · V", "2 · N² · d", in_words(counts.mixing_flops(n, d))],
                ["projections", "8 · N · d²", in_words(counts.projection_flops(n, d))],
                ["all operations", "", in_words(counts.total_flops(n, d))],
                ["bytes of the scores", f"H · N² · {size}", in_bytes(scores)],
            ],
            "fits": [
                [name, "yes" if scores <= memory else "no", _most(memory, heads, size)]
                for name, memory in [*MEMORIES.items(), *_named_memory(here)]
            ],
            "measured": [
                [f"{point.n:,}", _in_time(point.seconds), in_bytes(point.held)]
                for point in (measured.points if measured else ())
            ],
            "charts": [
                _squares(n, heads, size),
                _memory(n, heads, size, measured, here),
                _work(n, d, measured),
            ],
            "found": "Twice as long, four times the memory: "
            + f"{in_bytes(scores)} → {in_bytes(4 * scores)}".replace(" ", "\u00a0"),
            "told": _told(n, d, scores),
            "told_measured": _told_measured(measured, d, heads, size),
            "numbers": NUMBERS,
            "meaning": MEANING,
        }

    def summary(self) -> str:
        many = f"{self.heads} head{'s' if self.heads > 1 else ''}"
        return (
            f"{self.n:,} tokens, d = {self.d:,}, {many}, {self.dtype}. {self.state['found']}. "
            f"{self.state['told']}"
        )

    def controls(self) -> Values:
        given = {"n": LENGTHS, "d": WIDTHS, "heads": HEADS, "dtype": [*SIZES]}
        return {**given, "memory": [None]}  # of the machine that records, nobody needs it

    def fallback(self) -> str:
        lengths = [self.n, *(n for n in STEPS if n != self.n)]
        # What is stored is the same everywhere.
        unmeasured = {**self._inputs, "measured": None, "memory": None}
        steps = []
        for n in lengths:
            state = self.computed({**unmeasured, "n": n})
            piece = (
                f"<p><b>{html.escape(state['found'])}</b></p><p>{html.escape(state['told'])}</p>"
                f"{fallback.beside(*state['charts'], wide='1 1 260px')}"
                f"<details><summary>{NUMBERS}</summary>"
                f"{fallback.lines('counted', state['counts'])}"
                f"{fallback.lines('do the scores fit?', state['fits'])}</details>"
            )
            steps.append((f"N = {n:,}", piece))
        return fallback.stepped(repr(self), steps, below=f"<p>{MEANING}</p>")


def _slider(name: str, label: str, stops: list[int], value: int) -> Values:
    """A slider over powers of 2: its stops, the closest one, and the value in words."""
    at = round(log2(value / stops[0]))
    return {
        "name": name,
        "label": label,
        "stops": stops,
        "words": [_named(name, stop) for stop in stops],
        "at": at,
        "value": _named(name, value),
    }


def _named(name: str, value: int) -> str:
    """A number of a slider; of tokens, with the text that has about so many."""
    like = LIKE.get(value) if name == "n" else None
    return f"{value:,}, {like}" if like else f"{value:,}"


def _named_memory(here: int | None) -> list[tuple[str, int]]:
    return [] if here is None else [(f"this machine with {in_bytes(here)}", here)]


def _most(memory: int, heads: int, size: int) -> str:
    return f"up to N = {counts.longest(memory, heads, size):,}"


def _in_time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def _told(n: int, d: int, scores: int) -> str:
    """What the pictures do not say."""
    squared = counts.score_flops(n, d) + counts.mixing_flops(n, d)
    total = counts.total_flops(n, d)
    fits = [name for name, memory in MEMORIES.items() if scores <= memory]
    room = f"fit into {fits[0]}" if fits else "fit into none of the three memories"
    return (
        f"One layer, one text: {in_words(total)} operations, {100 * squared / total:.0f} % of them "
        f"in products that grow as N². The scores {room}."
    )


def _told_measured(measured: Measured | None, d: int, heads: int, size: int) -> str:
    """What was measured beside what was counted, for the longest sequence measured."""
    if measured is None:
        return NOT_MEASURED
    n, seconds, held = measured.points[-1]
    ratio = seconds / (counts.total_flops(n, d) / measured.rate)
    share = held / counts.score_bytes(n, heads, size)
    return (
        f"Measured on one core up to N = {n:,}: {_in_time(seconds)}, {ratio:.1f} times what the "
        f"count takes at the speed of a plain matrix product; {in_bytes(held)} held, {share:.1f} "
        "times the scores: the softmax makes weights of the same size from them."
    )


def _squares(n: int, heads: int, size: int) -> str:
    """The scores of N tokens, of twice as many, and of a page, as squares of one scale."""
    half = SIDE / 2
    scores, twice = (in_bytes(counts.score_bytes(each, heads, size)) for each in (n, 2 * n))
    like = f", {LIKE[n]}" if n in LIKE else ""
    page = max(half * PAGE / n, 2)
    others = "".join(
        f'<rect x="{x * half}" y="{y * half}" width="{half}" height="{half}"/>'
        for x, y in ((1, 0), (0, 1), (1, 1))
    )
    named = "".join(
        text(half * x, half * y + 6, scores, "middle")
        for x, y in ((1.5, 0.5), (0.5, 1.5), (1.5, 1.5))
    )
    off = 8 * (page < 30)  # a larger one needs the room
    named_at = max(page / 2 + 6, 12) if off else 16
    small = (
        f'<g transform="translate({off} {off})"><rect data-key="page" width="{page:.1f}" '
        f'height="{page:.1f}" fill="{ORANGE}" stroke="{GROUND}" stroke-width="1.5"/>'
        + text(page + 6, named_at, LIKE[PAGE], more=f' fill="{GROUND}"')
        + "</g>"
    )
    return drawing(
        f"scores as squares: {n:,} tokens take {scores}, {2 * n:,} tokens four times that, {twice}",
        text(0, 16, f"scores of {n:,} tokens{like}", more=BOLD),
        f'<g transform="translate(1 {TOP})"><g fill="{BLUE}" fill-opacity="0.15" '
        f'stroke="{BLUE}" stroke-dasharray="5 4">{others}</g>{named}'
        f'<rect width="{half}" height="{half}" fill="{BLUE}"/>'
        + text(half / 2, half / 2 + 6, scores, "middle", f' fill="{GROUND}"{BOLD}')
        + small * (n > PAGE)
        + lines(SIDE + 12, half - 12, "twice", "as long:", anchor="start")
        + text(SIDE + 12, half + 24, twice, more=BOLD)
        + "</g>",
    )


def _work(n: int, d: int, measured: Measured | None) -> str:
    """Operations over tokens; a time is drawn at what one plain matrix product does meanwhile."""
    axes = chart((LENGTHS[0], LENGTHS[-1]), (1e6, 1e16))
    counted = (
        (lambda n: counts.score_flops(n, d) + counts.mixing_flops(n, d), SQUARE),
        (lambda n: counts.projection_flops(n, d), LINEAR),
        (lambda n: counts.total_flops(n, d), SOLID),
    )
    points = [(p.n, p.seconds * measured.rate) for p in measured.points] if measured else []
    right = WIDTH - RIGHT
    flat, steep = (axes.up.at(counted[part][0](at)) for part, at in ((1, LENGTHS[-1]), (0, 256)))
    return drawing(
        f"operations over tokens; at N = {n:,}: {in_words(counts.total_flops(n, d))}",
        axes.frame("all operations", TOKEN_TICKS, WORK_TICKS, "tokens N"),
        *(axes.line(count, LENGTHS, line) for count, line in counted),
        text(right, flat + 56, "projections, as N", "end", f'{CLEAR} fill="{GREY}"'),
        text(
            axes.across.at(256) + 10,
            steep + 20,
            "Q Kᵀ and A V, as N²",
            more=f'{CLEAR} fill="{ORANGE}"',
        ),
        axes.points(points),
        axes.told(n, counts.total_flops(n, d), in_words(counts.total_flops(n, d))),
    )


def _memory(n: int, heads: int, size: int, measured: Measured | None, here: int | None) -> str:
    """Bytes over tokens, with what memories hold, and where this machine ends."""
    axes = chart((LENGTHS[0], LENGTHS[-1]), (KIB, MOST_BYTES))
    points = [(p.n, p.held) for p in measured.points] if measured else []
    end = ""
    if here is not None:
        longest = counts.longest(here, heads, size)
        place = min(max(longest, LENGTHS[0]), LENGTHS[-1])
        end = axes.end(place, "this machine:", f"N = {longest:,}")
    scores = counts.score_bytes(n, heads, size)
    words, double = in_bytes(scores), in_bytes(4 * scores)
    twice, low = "", 0.0
    if 2 * n <= LENGTHS[-1]:  # its words stand over those of N
        low = 6 + STEEP * max(axes.aside(2 * n, double, True) - axes.aside(n, words, True), 0)
        twice = axes.told(2 * n, 4 * scores, double, below=True, colour=BLUE)
    return drawing(
        f"bytes of the scores over tokens; at N = {n:,}: {words}, at twice as many {double}",
        axes.frame("bytes of the scores", TOKEN_TICKS, BYTE_TICKS, "tokens N"),
        axes.levels((name[2:].replace(" with", ","), MEMORIES[name]) for name in DRAWN),
        end,
        axes.line(lambda n: counts.score_bytes(n, heads, size), LENGTHS, SOLID),
        axes.points(points),
        twice,
        axes.told(n, scores, words, below=True, low=low),
    )
