"""Tiles: attention computed tile by tile, as FlashAttention does, one tile a step.

    q, k, v ─> tiles in their order ─> one query at a time, what it keeps ─> picture, tables, words

A tile is a block of queries that meets a block of keys. Of a query only its largest score m, its
sum s and its output o so far are kept; the scores are forgotten (Dao et al. 2022, section 3.1; the
order, all keys for some queries before the next queries, is that of Dao 2023, section 3.1).
"""

from __future__ import annotations

import html
from typing import Any

import numpy as np
import traitlets

from attnlab.checks.reference import attend
from attnlab.figures.live import fallback
from attnlab.figures.live.figure import Figure, Input, Values, array, source, style, whole
from attnlab.figures.live.on_paper import written
from attnlab.figures.live.tiles_picture import named, pictures
from attnlab.figures.live.tiling import Kept, Tile, after, open_to, tiles

MOST_TOKENS, MOST_WIDTH = 10, 8  # along an edge of the picture; numbers in a row of q, k or v
NOTHING = 1e-12  # right ways differ by less in float64; by how much, depends on the machine
STILLS = 8  # steps of the still figure
TOLD = 4  # numbers of a row
NAMED = 3  # queries whose m has risen; the table has them all
HEADS = {
    "kept": ("query", "m", "factor", "s", "o"),
    "held": ("", "in this step", "all at once"),
    "out": ("query", "o ÷ s", "all at once"),
    "queries": ("query", "m", "factor", "s", "o", "o ÷ s", "all at once"),
}
CAPTIONS = {
    "kept": "kept of these queries",
    "held": "numbers that are held",
    "out": "output",
    "queries": "kept of the queries in fast memory, and output",
}
REQUEST = "m, s and o in numbers"
SHORT = "m: largest score so far; s: sum of powers; o: their weighted sum"
STILL = ("kept", "held", "out")  # tables of the still figure; in the page, one has a line a query

MEANING = (
    "m is the largest score so far, s the sum of e^(score − m), o the sum of e^(score − m) · "
    "value; s and o of before are multiplied by the factor e^(m before − m). The plan is in no "
    "memory: scores that are done are forgotten."
)


class Tiles(Figure):
    """A slider and two buttons go from tile to tile; the block's size and the mask can be chosen.

    Args:
        q: (N, d), N at most 10, d at most 8; None shows an example of eight queries and keys.
        k: (M, d), M at most 10.
        v: (M, d_v), d_v at most 8.
        block: queries and keys in a tile along each edge.
        causal: query i may attend to keys 0 to i alone; tiles without any of these are skipped.
        step: the tile that is shown, from 1 on.
    Raises:
        ValueError: sizes do not fit, or there is no such block or step.
    """

    _esm = source("tiles")
    _css = style("tiles")
    title = traitlets.Unicode("Attention in tiles").tag(sync=True)
    q, k, v, block, causal, step = (Input() for _ in range(6))

    def __init__(
        self,
        q: Any = None,
        k: Any = None,
        v: Any = None,
        block: int = 2,
        causal: bool = False,
        step: int = 1,
    ) -> None:
        if q is None:
            q, k, v = example()
        super().__init__(q=q, k=k, v=v, block=block, causal=causal, step=step)

    def checked(self, inputs: Values) -> Values:
        q = array("q", inputs["q"], (None, None))
        k = array("k", inputs["k"], (None, q.shape[1]))
        v = array("v", inputs["v"], (len(k), None))
        for name, each in (("q", q), ("k", k), ("v", v)):
            for size, most in zip(each.shape, (MOST_TOKENS, MOST_WIDTH), strict=True):
                if not 1 <= size <= most:
                    raise ValueError(
                        f"{name} has shape {each.shape}; at most {MOST_TOKENS} × {MOST_WIDTH} can "
                        "be shown"
                    )
        block = whole("block", inputs["block"], 1, max(len(q), len(k)))
        causal = bool(inputs["causal"])
        count = len(tiles(len(q), len(k), block, causal))
        step = whole("step", inputs["step"], 1, count)
        return {"q": q, "k": k, "v": v, "block": block, "causal": causal, "step": step}

    def change(self, **inputs: Any) -> None:
        """As for all figures; other tiles begin at the first, unless a step is given."""
        if inputs.keys() - {"step"}:
            inputs = {"step": 1, **inputs}
        super().change(**inputs)

    def computed(self, inputs: Values) -> Values:
        q, k, v, block, causal = (inputs[name] for name in ("q", "k", "v", "block", "causal"))
        loop = tiles(len(q), len(k), block, causal)
        done, tile = loop[: inputs["step"]], loop[inputs["step"] - 1]
        scores = q @ k.T / q.shape[1] ** 0.5
        is_open = open_to(len(q), len(k), causal)
        kept = after(done, scores, v, is_open)
        plain = attend(q.copy(), k.copy(), v.copy(), is_open)  # PyTorch warns of what is read-only
        out = {i: kept[i].o / kept[i].s for each in done if each.is_last for i in each.queries}
        return {
            "step": inputs["step"],
            "steps": len(loop),
            "block": block,
            "blocks": list(range(1, max(len(q), len(k)) + 1)),
            "causal": causal,
            "pictures": pictures(scores, is_open, done, kept),
            "captions": CAPTIONS,
            "heads": HEADS,
            "request": REQUEST,
            "short": SHORT,
            "meaning": MEANING,
            "kept": [kept_words(i, kept[i]) for i in tile.queries],
            "held": held(tile, q, k, v),
            "out": out_words(out, plain),
            "queries": [
                [*(kept_words(i, kept[i]) if i in tile.queries else (f"{i}", *"····")), *shown]
                for i, (_, *shown) in enumerate(out_words(out, plain))
            ],
            "found": found(tile, kept),
            "told": in_words(inputs["step"], loop, kept),
            "compared": compared(out, plain, len(k), len(loop), block),
        }

    def summary(self) -> str:
        return f"{self.state['told']} {self.state['compared']}"

    def controls(self) -> Values:
        steps, blocks = range(1, self.state["steps"] + 1), self.state["blocks"]
        return {"step": steps, "block": blocks, "causal": (False, True)}

    def fallback(self) -> str:
        steps = shown_in_stills(self.step, self.state["steps"])
        stills = [
            (f"tile {step}", _still(self.computed({**self._inputs, "step": step})))
            for step in steps
        ]
        return fallback.stepped(repr(self), stills, below=f"<p>{MEANING}</p>")


def example() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Whole numbers: q and k (8, 4), v (8, 2)."""
    rng = np.random.default_rng(6)
    q, k = rng.integers(-2, 3, (2, 8, 4))
    return q, k, np.stack([np.arange(1, 9), np.arange(8, 0, -1)], axis=1)


# What is said of it -----------------------------------------------------------------------------


def vector(values: np.ndarray) -> str:
    """Its first numbers in a row."""
    more = ", …" if len(values) > TOLD else ""
    return ", ".join(written(value, 2) for value in values[:TOLD].tolist()) + more


def kept_words(query: int, kept: Kept) -> list[str]:
    """A line of the table of what is kept."""
    m = written(kept.m, 2)
    if kept.m > kept.before:
        m = f"{written(kept.before, 2)} → {m}"
    return [f"{query}", m, written(kept.factor, 2), written(kept.s, 2), vector(kept.o)]


def out_words(out: dict[int, np.ndarray], plain: np.ndarray) -> list[list[str]]:
    """For each query its output, where it is done, beside that of plain attention."""
    return [
        [f"{i}", vector(out[i]) if i in out else "…", vector(row)] for i, row in enumerate(plain)
    ]


def held(tile: Tile, q: np.ndarray, k: np.ndarray, v: np.ndarray) -> list[list[str]]:
    """How many numbers have to be there in this step, and if all were computed at once."""
    (n, d), (m, d_v) = q.shape, v.shape
    a, b = len(tile.queries), len(tile.keys)
    numbers = {
        "scores": (a * b, n * m),
        "rows of q": (a * d, n * d),
        "rows of k and v": (b * (d + d_v), m * (d + d_v)),
        "o, m and s": (a * (d_v + 2), n * (d_v + 2)),
    }
    here, there = (sum(each) for each in zip(*numbers.values(), strict=True))
    numbers["together"] = (here, there)
    return [[name, *map(str, sides)] for name, sides in numbers.items()]


def found(tile: Tile, kept: dict[int, Kept]) -> str:
    """What happens now to what was kept, of the query to which most happens."""
    least = min(tile.queries, key=lambda i: kept[i].factor)
    if tile.is_first:
        many = len(tile.queries) > 1
        comes, of_it = ("come", "them") if many else ("comes", "it")
        who = named("Query", "Queries", tile.queries)
        return f"{who} {comes} in: nothing of {of_it} is kept yet"
    if kept[least].m > kept[least].before:
        counts = written(kept[least].factor, 2)
        return f"A larger score: what query {least} kept shrinks to {counts}"
    return "No larger score comes: all that was kept counts in full"


def in_words(step: int, loop: list[Tile], kept: dict[int, Kept]) -> str:
    """Who meets whom, and what becomes of what was kept."""
    tile = loop[step - 1]
    said = (
        f"Tile {step} of {len(loop)}: {named('query', 'queries', tile.queries)} with "
        f"{named('key', 'keys', tile.keys)}."
    )
    risen = [i for i in tile.queries if kept[i].m > kept[i].before]
    if tile.is_first:
        said += " Nothing was kept of these queries before."
    elif risen:
        each = ", ".join(f"{written(kept[i].factor, 2)} times for query {i}" for i in risen[:NAMED])
        more = f", and so on for {len(risen) - NAMED} more" if len(risen) > NAMED else ""
        said += f" A larger score has come: what was kept counts {each}{more}."
    else:
        said += " No larger score has come: every m stays, and every factor is 1."
    if tile.is_last:
        said += " These queries have met all their keys: o ÷ s is their output."
    return said


def compared(
    out: dict[int, np.ndarray], plain: np.ndarray, keys: int, visited: int, block: int
) -> str:
    """How many tiles are skipped, and how far the queries that are done are from plain attention.

    Args:
        out: for each query that is done, (d_v,).
        plain: (N, d_v), softmax attention with all scores at once.
        keys: M.
        visited: how many tiles are.
        block: their edge.
    """
    every = len(tiles(len(plain), keys, block, causal=False))
    skipped = (
        f"{every - visited} of {every} tiles {_are(every - visited)} skipped. "
        if visited < every
        else ""
    )
    if not out:
        return f"{skipped}No query is done yet."
    difference = max(float(np.abs(row - plain[i]).max()) for i, row in out.items())
    size = "below 10⁻¹²" if difference < NOTHING else f"{difference:.1e}"
    return (
        f"{skipped}{len(out)} of {len(plain)} queries {_are(len(out))} done; the largest "
        f"difference from plain softmax attention is {size}."
    )


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def shown_in_stills(step: int, steps: int) -> list[int]:
    """The step at hand, then some that are spread over all, the last included."""
    spread = np.linspace(1, steps, min(steps, STILLS)).round().astype(int).tolist()
    return [*dict.fromkeys([step, *spread])]


def _still(state: Values) -> str:
    """The picture, the tables and the sentences of one step."""
    drawings = fallback.beside(state["pictures"][1], wide="1 1 240px")
    tables = fallback.beside(
        *(fallback.lines(CAPTIONS[name], state[name], HEADS[name]) for name in STILL)
    )
    told = f"<p><b>{html.escape(state['found'])}</b></p>"
    told += f"<p>{html.escape(state['told'])} {html.escape(state['compared'])}</p>"
    return f"{drawings}{told}<details><summary>{REQUEST}</summary>{tables}</details>"
