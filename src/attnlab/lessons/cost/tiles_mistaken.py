"""What goes wrong in `tiled_attention`: in the running softmax, at the tiles' edges, in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F

from attnlab.checks import in_attention, in_softmax
from attnlab.checks.exercise import Mistake
from attnlab.checks.recipe import INFINITY, Recipe, Tensor, mistakes_in

Tiles = list[range]


def _cut(length: int, block: int) -> Tiles:
    return [range(at, min(at + block, length)) for at in range(0, length, block)]


def _behind(rows: range, columns: range) -> Tensor:
    """How far each key lies behind each query."""
    return torch.tensor(rows)[:, None] - torch.tensor(columns)


def _future(rows: range, columns: range, n: int, m: int) -> Tensor:
    return _behind(rows, columns) < 0


def _all_future(rows: range, columns: range) -> bool:
    return columns.start >= rows.stop


def _share(old: Tensor, new: Tensor) -> Tensor:
    """e to the old maximum minus the new one; 0 for what is empty."""
    return torch.where(old == -INFINITY, 0.0, (old - new).exp())


def _one(old: Tensor, new: Tensor) -> Tensor:
    return torch.ones_like(old)


def _row_maximum(scores: Tensor) -> Tensor:
    return scores.amax(-1, keepdim=True)


def _divided(m: Tensor, s: Tensor, o: Tensor) -> Tensor:
    return o / s


Share = Callable[[Tensor, Tensor], Tensor]
KEEP: Any = object()


@dataclass(frozen=True, slots=True)
class Running:
    """Tiled attention with exchangeable parts.

    Attributes:
        rows, columns: tiles of queries and of keys.
        blocked: pairs of a tile that are blocked, where it is causal.
        skipped: tiles that are left out, where it is causal.
        low: what is set as the score of a blocked pair.
        scale: of scores, from d_k and block_size.
        own: the maximum that a tile's powers of e are measured against, from its scores and the
            new running one.
        top: the new running maximum, from the old one and the tile's scores.
        of_sum, of_out: what the running sum and output are multiplied by in each tile.
        early: what is done to the running output after each tile.
        end: the output, from maximum, sum and output.
    """

    rows: Callable[[int, int], Tiles] = _cut
    columns: Callable[[int, int], Tiles] = _cut
    blocked: Callable[[range, range, int, int], Tensor] = _future
    skipped: Callable[[range, range], bool] = lambda rows, columns: False
    low: float = -INFINITY
    scale: Callable[[int, int], float] = lambda d_k, block: d_k**-0.5
    own: Callable[[Tensor, Tensor], Tensor] = lambda scores, m: m
    top: Callable[[Tensor, Tensor], Tensor] = lambda m, scores: torch.maximum(
        m, _row_maximum(scores)
    )
    of_sum: Share = _share
    of_out: Share = _share
    early: Callable[[Tensor, Tensor], Tensor] = lambda o, s: o
    end: Callable[[Tensor, Tensor, Tensor], Tensor] = _divided

    def __call__(self, q: Tensor, k: Tensor, v: Tensor, block: int, causal: bool = False) -> Any:
        """The exercise's function; two values for a case that watches what is held."""
        if block < 1:
            raise ValueError(f"block_size is {block}")
        if k.shape[-2] != v.shape[-2]:
            raise ValueError("a value for each key")
        n, m = q.shape[-2], k.shape[-2]
        out = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=q.dtype)
        for rows in self.rows(n, block):
            out = torch.cat(
                [out[..., : rows.start, :], self._row(q, k, v, rows, block, causal),
                 out[..., rows.stop :, :]], -2
            )  # fmt: skip
        return out[..., :n, :] if m else out

    def _row(
        self, q: Tensor, k: Tensor, v: Tensor, rows: range, block: int, causal: bool
    ) -> Tensor:
        n, m, d_k = q.shape[-2], k.shape[-2], q.shape[-1]
        asked = q[..., rows.start : rows.stop, :]
        top = torch.full((*asked.shape[:-1], 1), -INFINITY, dtype=q.dtype)
        s, o = torch.zeros_like(top), torch.zeros(*asked.shape[:-1], v.shape[-1], dtype=q.dtype)
        for columns in self.columns(m, block):
            if causal and self.skipped(rows, columns):
                continue
            here = slice(columns.start, columns.stop)
            scores = asked @ k[..., here, :].mT * self.scale(d_k, block)
            if causal:
                scores = scores.masked_fill(self.blocked(rows, columns, n, m), self.low)
            new = self.top(top, scores)
            powers = (scores - self.own(scores, new)).exp()
            s = s * self.of_sum(top, new) + powers.sum(-1, keepdim=True)
            o = self.early(o * self.of_out(top, new) + powers @ v[..., here, :], s)
            top = new
        return self.end(top, s, o)


def _in_one_piece(recipe: Recipe) -> Callable[..., Any]:
    """The exercise's function made from a recipe, with all scores at once."""

    def tiled_attention(q: Tensor, k: Tensor, v: Tensor, block: int, causal: bool = False) -> Any:
        if block < 1:
            raise ValueError(f"block_size is {block}")
        if not causal:
            return recipe.compute(q, k, v)[0]
        future = _future(range(q.shape[-2]), range(k.shape[-2]), 0, 0)
        return recipe.compute(q, k, v, mask=future)[0]

    return tiled_attention


def _holding(
    whole: bool, block: bool, together: bool, where_causal: tuple[bool, bool, bool] | None = None
) -> Callable[..., Any]:
    """Right in what it returns, and holds too much."""

    def tiled_attention(q: Tensor, k: Tensor, v: Tensor, size: int, causal: bool = False) -> Any:
        if size < 1:
            raise ValueError(f"block_size is {size}")
        if q.shape[-2] == k.shape[-2] >= 64:  # as in no case but the watched ones
            return where_causal if causal and where_causal else (whole, block, together)
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal)

    return tiled_attention


def _whole_tiles(length: int, block: int) -> Tiles:
    return [range(at, at + block) for at in range(0, length - block + 1, block)]


def _softmax_by_tile(q: Tensor, k: Tensor, v: Tensor, block: int, causal: bool = False) -> Any:
    """A softmax in each tile, and the outputs added up."""
    if block < 1:
        raise ValueError(f"block_size is {block}")
    out = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=q.dtype)
    for columns in _cut(k.shape[-2], block):
        here = slice(columns.start, columns.stop)
        scores = q @ k[..., here, :].mT * q.shape[-1] ** -0.5
        if causal:
            scores = scores.masked_fill(_future(range(q.shape[-2]), columns, 0, 0), -INFINITY)
        weights = scores.softmax(-1)
        out = out + (weights.nan_to_num(0.0) if causal else weights) @ v[..., here, :]
    return out


def _mean_of_tiles(q: Tensor, k: Tensor, v: Tensor, block: int, causal: bool = False) -> Any:
    return _softmax_by_tile(q, k, v, block, causal) / len(_cut(k.shape[-2], block))


def _padded(q: Tensor, k: Tensor, v: Tensor, block: int, causal: bool = False) -> Any:
    """Keys and values filled up with zeros to whole tiles, which are attended to."""
    if block < 1:
        raise ValueError(f"block_size is {block}")
    missing = -k.shape[-2] % block
    k, v = (F.pad(part, (0, 0, 0, missing)) for part in (k, v))
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


def _detached(at: int) -> Callable[..., Any]:
    def tiled_attention(*args: Any) -> Any:
        q, k, v = (part.detach() if at == i else part for i, part in enumerate(args[:3]))
        return Running()(q, k, v, *args[3:])

    return tiled_attention


RESCALE = (
    "When the maximum grows from m to m', multiply both running sums, s and o, by e^(m − m'), and "
    "add the new tile measured against m'."
)
AT_THE_END = "Divide once, after the last tile."
POSITIONS = (
    "Compare the positions in the whole sequence: query start_q + i and key start_k + j. Query i "
    "sees keys 0 … i, whatever N and M are."
)
BOTH = (
    "Cut queries and keys: a tile has at most block_size × block_size scores. What runs along with "
    "it is as long as the tile of queries."
)


def _mistake(slug: str, reason: str, remedy: str, **parts: Any) -> Mistake:
    return Mistake(slug, Running(**parts), reason, remedy)


IN_THE_SUM = (
    _mistake(
        "sum-not-rescaled",
        "The running output is rescaled when the maximum grows, and the running sum is not.",
        RESCALE,
        of_sum=_one,
    ),
    _mistake(
        "output-not-rescaled",
        "The running sum is rescaled when the maximum grows, and the running output is not.",
        RESCALE,
        of_out=_one,
    ),
    _mistake(
        "nothing-rescaled",
        "Each tile is measured against the maximum so far, and what was added up before stays "
        "measured against an older one.",
        RESCALE,
        of_sum=_one,
        of_out=_one,
    ),
    _mistake(
        "nothing-rescaled",
        "Each tile is measured against its own maximum, and they are added up as if it were the "
        "same.",
        RESCALE,
        of_sum=_one,
        of_out=_one,
        own=lambda scores, m: _row_maximum(scores),
    ),
    _mistake(
        "tile-measured-against-itself",
        "What was added up before is rescaled. The new tile is measured against its own maximum, "
        "even where the one before was larger.",
        RESCALE,
        own=lambda scores, m: _row_maximum(scores),
    ),
    _mistake(
        "rescaled-the-wrong-way",
        "The factor is e^(m' − m), larger than 1, where it should shrink.",
        RESCALE,
        of_sum=lambda old, new: torch.where(old == -INFINITY, 0.0, (new - old).exp()),
        of_out=lambda old, new: torch.where(old == -INFINITY, 0.0, (new - old).exp()),
    ),
    _mistake(
        "divided-too-soon",
        "The running output is divided by the running sum in each tile, and then goes on as if it "
        "had not been.",
        AT_THE_END,
        early=lambda o, s: o / s,
        end=lambda m, s, o: o,
    ),
    _mistake(
        "divided-too-soon",
        "The running output is divided by the running sum in each tile, and once more at the end.",
        AT_THE_END,
        early=lambda o, s: o / s,
    ),
    _mistake(
        "never-divided",
        "The output is never divided by the sum of the powers of e.",
        AT_THE_END,
        end=lambda m, s, o: o,
    ),
    Mistake(
        "softmax-by-tile",
        _softmax_by_tile,
        "Each tile has a softmax of its own, and their outputs are added up: each tile counts the "
        "same, however large its scores are.",
        RESCALE,
    ),
    Mistake(
        "softmax-by-tile",
        _mean_of_tiles,
        "Each tile has a softmax of its own, and the output is their mean: each tile counts the "
        "same, however large its scores are.",
        RESCALE,
    ),
    _mistake(
        "unstable-softmax",
        "e is raised to the scores as they are: no maximum is subtracted. It overflows from 710 "
        "on, and becomes 0 / 0 far below 0.",
        "Subtract the running maximum of each row.",
        top=lambda m, scores: torch.zeros_like(m),
    ),
    _mistake(
        "maximum-begins-at-0",
        "The running maximum begins at 0. Where all scores of a row lie far below, it stays there, "
        "every power of e is 0, and the output 0 / 0.",
        "Begin with −inf, which loses every comparison.",
        top=lambda m, scores: torch.maximum(m, _row_maximum(scores)).clamp(min=0.0),
    ),
    _mistake(
        "maximum-not-updated",
        "The first tile's maximum is kept. Where a later tile has larger scores, e to the "
        "difference overflows.",
        RESCALE,
        top=lambda m, scores: torch.where(m == -INFINITY, _row_maximum(scores), m),
    ),
    _mistake(
        "maximum-of-the-tile",
        "The new maximum is the tile's own, even where the one so far was larger: then the factor "
        "of what was added up before overflows.",
        "The new maximum is the larger of both: `torch.maximum(m, tile_max)`.",
        top=lambda m, scores: _row_maximum(scores),
    ),
    _mistake(
        "maximum-of-all-rows",
        "One maximum is taken for all rows of a tile. A row whose scores lie far below it becomes "
        "0 / 0.",
        "Each row has a running maximum of its own: `amax(dim=-1, keepdim=True)`.",
        top=lambda m, scores: torch.maximum(m, scores.amax((-2, -1), keepdim=True).expand_as(m)),
    ),
)
AT_THE_EDGES = (
    _mistake(
        "first-tile-only",
        "Only the first tile of keys is attended to: a `return` or `break` stands inside the loop.",
        "Go through all tiles of keys before you divide.",
        columns=lambda m, block: _cut(m, block)[:1],
    ),
    _mistake(
        "last-tile-only",
        "Only the last tile of keys counts: the running sums begin anew in each.",
        "Begin them once for each tile of queries, before the loop over keys.",
        columns=lambda m, block: _cut(m, block)[-1:],
    ),
    _mistake(
        "rest-left-out",
        "Keys that do not fill a tile are left out: M // block_size tiles, and no more.",
        "Let `range(0, M, block_size)` give the beginnings; slices end by themselves at M.",
        columns=_whole_tiles,
    ),
    _mistake(
        "rest-of-queries-left-out",
        "Queries that do not fill a tile got no answer: their rows are 0.",
        "Let `range(0, N, block_size)` give the beginnings; slices end by themselves at N.",
        rows=_whole_tiles,
    ),
    _mistake(
        "rest-left-out",
        "Queries and keys that do not fill a tile are left out: the whole tiles alone are done.",
        "Let `range(0, N, block_size)` give the beginnings; slices end by themselves.",
        rows=_whole_tiles,
        columns=_whole_tiles,
    ),
    Mistake(
        "padding-attended",
        _padded,
        "Keys were filled up with zeros to whole tiles, and the zeros are attended to: a score of "
        "0 has its share.",
        "Set their scores to −inf, or let the last tile be smaller.",
    ),
    _mistake(
        "scale-by-block",
        "The scores are divided by √block_size. They are dot products of queries and keys, which "
        "are d_k wide.",
        "Divide by √d_k.",
        scale=lambda d_k, block: block**-0.5,
    ),
    _mistake(
        "mask-missing",
        "`causal` makes no difference to the answer.",
        POSITIONS,
        blocked=lambda rows, columns, n, m: _behind(rows, columns) < -n - m,
    ),
    _mistake(
        "mask-in-each-tile",
        "Each tile has a triangle of its own, by the places inside the tile. Only tiles on the "
        "diagonal have one.",
        POSITIONS,
        blocked=lambda rows, columns, n, m: _behind(range(len(rows)), range(len(columns))) < 0,
    ),
    _mistake(
        "query-places-begin-anew",
        "Keys have their places in the whole sequence, and queries begin at 0 in each tile: later "
        "queries see too little.",
        POSITIONS,
        blocked=lambda rows, columns, n, m: _behind(range(len(rows)), columns) < 0,
    ),
    _mistake(
        "key-places-begin-anew",
        "Queries have their places in the whole sequence, and keys begin at 0 in each tile: "
        "queries see the future.",
        POSITIONS,
        blocked=lambda rows, columns, n, m: _behind(rows, range(len(columns))) < 0,
    ),
    _mistake(
        "no-triangle-inside",
        "Tiles in the future are skipped, and the tile on the diagonal is let through whole: in "
        "it, queries see the future.",
        POSITIONS,
        blocked=lambda rows, columns, n, m: torch.zeros(len(rows), len(columns), dtype=torch.bool),
        skipped=lambda rows, columns: columns.start > rows.start,
    ),
    _mistake(
        "future-tile-is-nan",
        "In a tile that lies wholly in a query's future each score is −inf, and so is their "
        "maximum: −inf minus −inf is NaN.",
        "Leave out tiles whose first key comes after the last query. Measure the others against "
        "the running maximum, which is a number from the first tile on.",
        own=lambda scores, m: torch.where(_row_maximum(scores) == -INFINITY, -INFINITY, m),
    ),
    *(
        _mistake(
            "mask-with-small-number",
            "Blocked scores were set to a number that is not low enough: other scores may be as "
            "low, and the future keeps some weight.",
            "Set blocked scores to −inf, as e to the −inf is 0.",
            low=low,
            skipped=skipped,
        )
        for low in (-100.0, -1e3, -1e4)
        for skipped in (lambda rows, columns: False, _all_future)
    ),
    _mistake(
        "diagonal-tile-skipped",
        "The tile on the diagonal is skipped with those of the future: nobody sees itself.",
        "Skip a tile only where its first key comes after the last query.",
        skipped=lambda rows, columns: columns.start >= rows.start,
    ),
    _mistake(
        "diagonal-tile-skipped",
        "A tile is skipped if its last key comes after the first query: too many are.",
        "Skip a tile only where its first key comes after the last query.",
        skipped=lambda rows, columns: columns.stop - 1 > rows.start,
    ),
    _mistake(
        "mask-off-by-one",
        "Each query sees the key after its own as well.",
        POSITIONS,
        blocked=lambda rows, columns, n, m: _behind(rows, columns) < -1,
    ),
    _mistake(
        "mask-off-by-one",
        "No query sees its own key, and the first sees nothing.",
        POSITIONS,
        blocked=lambda rows, columns, n, m: _behind(rows, columns) <= 0,
    ),
    _mistake(
        "mask-bottom-right",
        "The triangle is aligned at the bottom right: the last query sees the last key. Here, as "
        "in `F.scaled_dot_product_attention`, query 0 sees key 0 alone.",
        POSITIONS,
        blocked=lambda rows, columns, n, m: _behind(rows, columns) < n - m,
    ),
    _mistake(
        "mask-transposed",
        "Each query sees itself and the future.",
        POSITIONS,
        blocked=lambda rows, columns, n, m: _behind(rows, columns) > 0,
    ),
)
IN_MEMORY = (
    Mistake(
        "whole-matrix-held",
        _holding(True, True, True),
        "All N × M scores, or as many numbers, are there at one time. What comes out is right; "
        "what it costs is what tiles are to save.",
        BOTH,
    ),
    Mistake(
        "whole-matrix-held",
        _holding(True, True, True, (True, True, False)),
        "All N × M scores, or as many numbers, are there at one time. What comes out is right; "
        "what it costs is what tiles are to save.",
        BOTH,
    ),
    Mistake(
        "whole-mask-held",
        _holding(False, False, False, (True, True, True)),
        "The scores come in tiles, and the causal mask is made whole: N × M numbers.",
        "Make the mask of a tile from its positions.",
    ),
    *(
        Mistake(
            "one-side-cut",
            _holding(False, True, together, (False, True, when_causal)),
            "Only one side is cut: the scores of a tile of queries with all keys, or of all "
            "queries with a tile of keys, are block_size × M numbers.",
            BOTH,
        )
        for together in (False, True)
        for when_causal in (False, True)
    ),
    Mistake(
        "tiles-kept",
        _holding(False, False, True),
        "Each tile is small, and all are kept until the end: together they are N × M numbers.",
        "Let go of a tile's scores when its sums are added: only m, s and o go on.",
    ),
    Mistake(
        "tiles-kept",
        _holding(False, False, True, (False, False, False)),
        "Each tile is small, and all are kept until the end: together they are N × M numbers.",
        "Let go of a tile's scores when its sums are added: only m, s and o go on.",
    ),
)
SHARED = mistakes_in(
    _in_one_piece,
    in_softmax.NO_SOFTMAX,
    in_attention.SCALE,
    in_attention.SCALE_BY_VALUES,
    in_attention.SCORES,
    in_attention.MIX,
)
GRADIENTS = tuple(
    Mistake(
        "no-gradient",
        _detached(at),
        "The numbers are right, and one of the inputs is cut off: `.detach()`, `.data` or "
        "`torch.tensor(...)` make numbers that autograd cannot follow.",
        "Print `.requires_grad` of each intermediate result and find the first that is False.",
    )
    for at in range(3)
)
MISTAKES = (*IN_THE_SUM, *AT_THE_EDGES, *IN_MEMORY, *SHARED, *GRADIENTS)
