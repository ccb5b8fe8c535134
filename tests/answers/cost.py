"""Answers to lesson 11, with PyTorch."""

# A learner's style is not ours, and their mistakes are what this file is for.
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False

import inspect
import math
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import torch
import torch.nn.functional as F

from . import Lesson

lesson = Lesson("11-cost")
wrong, right = lesson.wrong, lesson.right


# attention_cost ------------------------------------------------------------------------------


@right("attention_cost")
def by_the_formulas(n, d, bytes_per_element=2):
    return 4 * n * n * d, n * n * bytes_per_element, 4 * n * d * bytes_per_element


lesson.edits(
    by_the_formulas,
    "products-miscounted | two_n_n_d | 4 * n * n -> 2 * n * n",
    "more-than-products-counted | whole_layer | 4 * n * n * d -> 4 * n * n * d + 8 * n * d**2",
    "matrices-miscounted | each_read_and_written | 4 * n * d -> 8 * n * d",
)


@right("attention_cost")
def step_by_step(n, d, bytes_per_element=2):
    scores = n**2 * (d + d)  # d products and as many sums
    mix = n * d * 2 * n
    moved = sum(n * d for _ in ("q", "k", "v", "out"))
    return scores + mix, n**2 * bytes_per_element, moved * bytes_per_element


@right("attention_cost")
def by_shapes(n, d, bytes_per_element=2):
    q = torch.empty(n, d)
    numbers = 4 * q.numel()
    return n * numbers, q.shape[0] ** 2 * bytes_per_element, numbers * bytes_per_element


@right("attention_cost")
def in_floats_first(n, d, bytes_per_element=2):
    flops = 2 * 2 * math.pow(n, 2) * d
    return int(flops), int(n**2 * bytes_per_element), int(4.0 * n * d * bytes_per_element)


@wrong("attention_cost", "matrices-miscounted")
def scores_go_out_too(n, d, bytes_per_element=2):
    scores = n * n
    moved = (4 * n * d + scores) * bytes_per_element
    return 4 * n * n * d, scores * bytes_per_element, moved


@wrong("attention_cost", "bytes-always-2")
def eight_n_d(n, d, bytes_per_element=2):
    return 4 * n * n * d, n * n * bytes_per_element, 8 * n * d


@wrong("attention_cost", "raised")
def no_bytes_taken(n, d):
    return 4 * n**2 * d, n**2 * 2, 4 * n * d * 2


# merge_softmax -------------------------------------------------------------------------------


@right("merge_softmax")
def by_where(m1, s1, o1, m2, s2, o2):
    m = torch.maximum(m1, m2)
    shift = torch.where(m == -torch.inf, torch.zeros_like(m), m)
    a, b = torch.exp(m1 - shift), torch.exp(m2 - shift)
    return m, a * s1 + b * s2, a[..., None] * o1 + b[..., None] * o2


@right("merge_softmax")
def factors_filled_in(m1, s1, o1, m2, s2, o2):
    m = torch.max(m1, m2)
    a = (m1 - m).masked_fill(m1.isneginf(), -torch.inf).exp()
    b = (m2 - m).masked_fill(m2.isneginf(), -torch.inf).exp()
    return m, s1 * a + s2 * b, o1 * a.unsqueeze(-1) + o2 * b.unsqueeze(-1)


@right("merge_softmax")
def nan_to_num(m1, s1, o1, m2, s2, o2):
    m = torch.maximum(m1, m2)
    a, b = (torch.nan_to_num((each - m).exp(), nan=0.0) for each in (m1, m2))
    o = torch.einsum("...,...v->...v", a, o1) + torch.einsum("...,...v->...v", b, o2)
    return m, s1 * a + s2 * b, o


@right("merge_softmax")
def stacked(m1, s1, o1, m2, s2, o2):
    ms = torch.stack((m1, m2))
    m = ms.max(dim=0).values
    shares = torch.exp(ms - m.clamp(min=-1e300 if m.dtype == torch.float64 else -1e38))
    s = (shares * torch.stack((s1, s2))).sum(0)
    return m, s, (shares.unsqueeze(-1) * torch.stack((o1, o2))).sum(0)


@right("merge_softmax")
def one_factor(m1, s1, o1, m2, s2, o2):
    """The larger part stays as it is, the smaller one shrinks."""
    first = m1 >= m2
    shrink = torch.exp(-(m1 - m2).abs()).nan_to_num(0.0)
    a, b = torch.where(first, 1.0, shrink).to(s1), torch.where(first, shrink, 1.0).to(s1)
    m = torch.where(first, m1, m2)
    return m, a * s1 + b * s2, a[..., None] * o1 + b[..., None] * o2


@wrong("merge_softmax", "not-rescaled")
def added(m1, s1, o1, m2, s2, o2):
    return torch.maximum(m1, m2), s1 + s2, o1 + o2


@wrong("merge_softmax", "half-rescaled")
def sums_added(m1, s1, o1, m2, s2, o2):
    m, _, o = by_where(m1, s1, o1, m2, s2, o2)
    return m, s1 + s2, o


@wrong("merge_softmax", "raised")
def factors_do_not_fit(m1, s1, o1, m2, s2, o2):
    m = torch.maximum(m1, m2)
    a, b = torch.exp(m1 - m), torch.exp(m2 - m)
    return m, a * s1 + b * s2, a * o1 + b * o2


@wrong("merge_softmax", "no-gradient")
@torch.no_grad()
def with_no_slopes(m1, s1, o1, m2, s2, o2):
    return by_where(m1, s1, o1, m2, s2, o2)


@wrong("merge_softmax", "no-gradient")
def factors_detached(m1, s1, o1, m2, s2, o2):
    m = torch.maximum(m1, m2)
    shift = m.masked_fill(m == -torch.inf, 0.0)
    a, b = torch.exp(m1 - shift).detach(), torch.exp(m2 - shift).detach()
    return m, a * s1 + b * s2, a[..., None] * o1 + b[..., None] * o2


# tiled_attention -----------------------------------------------------------------------------


def positive(block_size):
    if block_size < 1:
        raise ValueError(f"block_size = {block_size}")


def hidden(i, j, rows, columns):
    """True = blocked: keys from j on that come after queries from i on."""
    return torch.arange(j, j + columns)[None, :] > torch.arange(i, i + rows)[:, None]


@right("tiled_attention")
def running(q, k, v, block_size, causal=False):
    positive(block_size)
    n, m, scale = q.shape[-2], k.shape[-2], q.shape[-1] ** -0.5
    outs = []
    for i in range(0, n, block_size):
        qi = q[..., i : i + block_size, :]
        top = torch.full(qi.shape[:-1], -torch.inf, dtype=q.dtype).unsqueeze(-1)
        total = torch.zeros_like(top)
        out = torch.zeros(*qi.shape[:-1], v.shape[-1], dtype=q.dtype)
        for j in range(0, m, block_size):
            if causal and j > i + block_size - 1:
                break
            kj, vj = k[..., j : j + block_size, :], v[..., j : j + block_size, :]
            s = qi @ kj.mT * scale
            if causal:
                s = s.masked_fill(hidden(i, j, *s.shape[-2:]), -torch.inf)
            new = torch.maximum(top, s.amax(-1, keepdim=True))
            p, shrink = torch.exp(s - new), torch.exp(top - new)
            total = total * shrink + p.sum(-1, keepdim=True)
            out = out * shrink + p @ vj
            top = new
        outs.append(out / total)
    return torch.cat(outs, dim=-2)


@right("tiled_attention")
def by_logsumexp(q, k, v, block_size, causal=False):
    positive(block_size)
    out = torch.empty(*q.shape[:-1], v.shape[-1], dtype=v.dtype)
    for i in range(0, q.shape[-2], block_size):
        qi = q[..., i : i + block_size, :]
        so_far, lse = 0.0, None
        for j in range(0, k.shape[-2], block_size):
            if causal and j >= i + qi.shape[-2]:
                continue
            s = torch.einsum("...nk,...mk->...nm", qi, k[..., j : j + block_size, :])
            s = s / q.shape[-1] ** 0.5
            if causal:
                s = s.masked_fill(hidden(i, j, *s.shape[-2:]), -1e30)
            mine = s.logsumexp(-1, keepdim=True)
            new = mine if lse is None else torch.logaddexp(lse, mine)
            tile = (s - new).exp() @ v[..., j : j + block_size, :]
            so_far = tile if lse is None else so_far * (lse - new).exp() + tile
            lse = new
        out[..., i : i + block_size, :] = so_far
    return out


@right("tiled_attention")
def keys_outside(q, k, v, block_size, causal=False):
    """The order of the first FlashAttention: each tile of keys meets all tiles of queries."""
    positive(block_size)
    n, m = q.shape[-2], k.shape[-2]
    starts = range(0, n, block_size)
    tops = dict.fromkeys(starts)
    totals, outs = {}, {}
    for j in range(0, m, block_size):
        kj, vj = k[..., j : j + block_size, :], v[..., j : j + block_size, :]
        for i in starts:
            qi = q[..., i : i + block_size, :]
            if causal and j > i + qi.shape[-2] - 1:
                continue
            s = (qi * q.shape[-1] ** -0.5) @ kj.transpose(-1, -2)
            if causal:
                s = torch.where(hidden(i, j, *s.shape[-2:]), -torch.inf, s)
            if tops[i] is None:
                tops[i] = s.max(dim=-1, keepdim=True)[0]
                p = (s - tops[i]).exp()
                totals[i], outs[i] = p.sum(dim=-1, keepdim=True), p @ vj
                continue
            new = torch.max(tops[i], s.max(dim=-1, keepdim=True)[0])
            old, p = (tops[i] - new).exp(), (s - new).exp()
            totals[i] = old * totals[i] + p.sum(dim=-1, keepdim=True)
            outs[i] = old * outs[i] + p @ vj
            tops[i] = new
    return torch.cat([outs[i] / totals[i] for i in starts], dim=-2)


@right("tiled_attention")
def maxima_first(q, k, v, block_size, causal=False):
    """Twice through the keys: once for the maxima, once for the sums."""
    positive(block_size)

    def tiles(i, qi):
        for j in range(0, k.shape[-2], block_size):
            s = qi @ k[..., j : j + block_size, :].mT / q.shape[-1] ** 0.5
            if causal:
                s = s.masked_fill(hidden(i, j, *s.shape[-2:]), -torch.inf)
            yield s, v[..., j : j + block_size, :]

    outs = []
    for i in range(0, q.shape[-2], block_size):
        qi = q[..., i : i + block_size, :]
        top = torch.stack([s.amax(-1) for s, _ in tiles(i, qi)]).amax(0)[..., None].detach()
        up, total = 0, 0
        for s, vj in tiles(i, qi):
            p = torch.exp(s - top)
            up, total = up + p @ vj, total + p.sum(-1, keepdim=True)
        outs.append(up / total)
    return torch.cat(outs, dim=-2)


@right("tiled_attention")
def padded_and_hidden(q, k, v, block_size, causal=False):
    """Keys are filled up to whole tiles, and what fills them up is blocked."""
    positive(block_size)
    n, m = q.shape[-2], k.shape[-2]
    block_size = min(block_size, max(n, m))
    missing = (block_size - m % block_size) % block_size
    k, v = F.pad(k, (0, 0, 0, missing)), F.pad(v, (0, 0, 0, missing))
    if k.shape[-2] != v.shape[-2]:
        raise ValueError("a value for each key")
    outs = []
    for i in range(0, n, block_size):
        qi = q[..., i : i + block_size, :]
        places = torch.arange(i, i + qi.shape[-2])[:, None]
        top, total, out = None, None, None
        for t in range(k.shape[-2] // block_size):
            here = slice(t * block_size, (t + 1) * block_size)
            keys = torch.arange(here.start, here.stop)
            s = qi @ k[..., here, :].mT / q.shape[-1] ** 0.5
            s = s.masked_fill((keys >= m) | ((keys > places) & causal), -torch.inf)
            new = s.amax(-1, keepdim=True) if top is None else torch.maximum(top, s.amax(-1, True))
            p = (s - new).exp()
            if top is None:
                total, out = p.sum(-1, keepdim=True), p @ v[..., here, :]
            else:
                shrink = (top - new).exp()
                total = total * shrink + p.sum(-1, keepdim=True)
                out = out * shrink + p @ v[..., here, :]
            top = new
        outs.append(out / total)
    return torch.cat(outs, -2)


@right("tiled_attention")
def sentence_by_sentence(q, k, v, block_size, causal=False):
    if q.dim() > 2:
        each = zip(q, k, v, strict=True)
        return torch.stack([sentence_by_sentence(*one, block_size, causal) for one in each])
    return running(q, k, v, block_size, causal)


def slip(slug, label, of, *changes):
    """File a right answer with a line of it written otherwise: what it was, and what it is."""
    text = inspect.getsource(of).partition("\n")[2]
    for was, now in changes:
        assert was in text, (label, was)
        text = text.replace(was, now)
    names = dict(globals())
    exec(compile(text, f"<{label}>", "exec"), names)
    wrong("tiled_attention", slug, label)(names[of.__name__])


KEPT, HIDDEN = "            top = new\n", "hidden(i, j, *s.shape[-2:])"
SKIPPED = "            if causal and j > i + block_size - 1:\n                break\n"
BLOCKED = f"            if causal:\n                s = s.masked_fill({HIDDEN}, -torch.inf)\n"
MEETS = "new = torch.max(tops[i], s.max(dim=-1, keepdim=True)[0])"

slip("half-rescaled", "the sum as it was", running, ("total * shrink + p", "total + p"))
slip("half-rescaled", "the output as it was", keys_outside, ("old * outs[i] +", "outs[i] +"))
slip(
    "not-rescaled",
    "both as they were",
    keys_outside,
    ("old * totals[i] +", "totals[i] +"),
    ("old * outs[i] +", "outs[i] +"),
)
slip(
    "tile-measured-against-itself",
    "its own maximum",
    running,
    ("torch.exp(s - new)", "torch.exp(s - s.amax(-1, keepdim=True))"),
)
slip(
    "rescaled-the-wrong-way",
    "new minus old",
    keys_outside,
    ("(tops[i] - new).exp()", "(new - tops[i]).exp()"),
)
slip(
    "divided-too-soon",
    "and at the end",
    running,
    ("p @ vj\n", "p @ vj\n            out = out / total\n"),
)
slip(
    "divided-too-soon",
    "in each tile",
    running,
    ("p @ vj\n", "p @ vj\n            out = out / total\n"),
    ("outs.append(out / total)", "outs.append(out)"),
)
slip("not-normalised", "no division", running, ("outs.append(out / total)", "outs.append(out)"))
slip(
    "not-normalised", "no division, keys outside", keys_outside, ("outs[i] / totals[i]", "outs[i]")
)
slip("epsilon-added", "never by zero", running, ("out / total)", "out / (total + 1e-5))"))
slip(
    "epsilon-added", "never by zero, with less", running, ("out / total)", "out / (total + 1e-8))")
)
slip(
    "unstable-softmax",
    "no maximum",
    running,
    ("torch.maximum(top, s.amax(-1, keepdim=True))", "torch.zeros_like(top)"),
)
slip("maximum-of-one-tile", "the first tile's", keys_outside, (MEETS, "new = tops[i]"))
slip(
    "maximum-of-one-tile",
    "the newest tile's",
    keys_outside,
    (MEETS, "new = s.max(dim=-1, keepdim=True)[0]"),
)
slip("one-maximum-for-all-rows", "of all", running, ("s.amax(-1, keepdim=True)", "s.amax()"))
slip("maximum-begins-at-0", "zeros for all three", running, ("-torch.inf, dtype", "0.0, dtype"))
slip("one-tile-only", "breaks", running, (KEPT, f"{KEPT}            break\n"))
slip("one-tile-only", "forgets the maximum", running, (KEPT, ""))
slip(
    "rest-left-out",
    "whole tiles of keys",
    running,
    ("range(0, m, block_size)", "range(0, m - block_size + 1, block_size)"),
)
slip(
    "rest-left-out",
    "whole tiles of queries",
    by_logsumexp,
    ("torch.empty", "torch.zeros"),
    (
        "range(0, q.shape[-2], block_size)",
        "range(0, q.shape[-2] // block_size * block_size, block_size)",
    ),
)
slip(
    "rest-left-out",
    "without the last tile",
    running,
    ("range(0, m, block_size)", "range(0, m - block_size, block_size)"),
)
slip(
    "scale-by-block",
    "its root",
    running,
    ("q.shape[-1] ** -0.5", "block_size ** -0.5"),
)
slip("mask-missing", "ignores causal", running, (SKIPPED, ""), (BLOCKED, ""))
slip("no-triangle-inside", "skips, and no more", running, (BLOCKED, ""))
slip("mask-in-each-tile", "both from 0", running, (HIDDEN, "hidden(0, 0, *s.shape[-2:])"))
slip("mask-in-each-tile", "queries from 0", maxima_first, (HIDDEN, "hidden(0, j, *s.shape[-2:])"))
slip("mask-in-each-tile", "keys from 0", maxima_first, (HIDDEN, "hidden(i, 0, *s.shape[-2:])"))
slip("diagonal-tile-skipped", "from the diagonal", running, ("j > i + block_size - 1", "j >= i"))
slip("mask-off-by-one", "sees the next", maxima_first, (HIDDEN, "hidden(i + 1, j, *s.shape[-2:])"))
slip("mask-off-by-one", "not itself", maxima_first, (HIDDEN, "hidden(i - 1, j, *s.shape[-2:])"))
slip(
    "mask-bottom-right",
    "as if they ended together",
    maxima_first,
    (HIDDEN, "hidden(i + k.shape[-2] - q.shape[-2], j, *s.shape[-2:])"),
)
slip(
    "mask-transposed",
    "sees the future",
    running,
    (SKIPPED, ""),
    (HIDDEN, "hidden(j, i, *s.shape[-2:][::-1]).mT"),
)
slip(
    "mask-with-small-number",
    "-1000",
    maxima_first,
    ("-torch.inf)\n            yield", "-1e3)\n            yield"),
)
slip(
    "mask-with-small-number",
    "-10,000, and skips",
    running,
    (f"{HIDDEN}, -torch.inf", f"{HIDDEN}, -1e4"),
)
slip("mask-with-zero", "0 for −∞, and skips", running, (f"{HIDDEN}, -torch.inf", f"{HIDDEN}, 0.0"))
slip("no-scale", "no root", keys_outside, ("(qi * q.shape[-1] ** -0.5)", "qi"))
slip("scale-by-d", "no root of it", maxima_first, ("q.shape[-1] ** 0.5", "q.shape[-1]"))
slip(
    "softmax-by-tile",
    "a softmax in each",
    maxima_first,
    ("p = torch.exp(s - top)", "p = s.softmax(-1).nan_to_num(0.0)"),
    ("outs.append(up / total)", "outs.append(up)"),
)


slip("half-kept", "the sum begins anew", running, ("total * shrink + p", "p"))
slip("half-kept", "the output begins anew", keys_outside, ("old * outs[i] +", ""))
slip("tile-not-measured", "e to the scores", running, ("torch.exp(s - new)", "torch.exp(s)"))
slip("tiles-overlap", "one key further", running, ("range(0, m, block_size)", "range(m)"))
slip(
    "first-left-out",
    "from the second tile on",
    running,
    ("range(0, m, block_size)", "range(block_size, m, block_size)"),
)
slip(
    "first-left-out",
    "from the second key on",
    running,
    ("range(0, m, block_size)", "range(1, m, block_size)"),
)
slip("not-the-maximum-subtracted", "the smallest", running, ("s.amax(", "s.amin("))
slip("not-each-rows-sum", "over the queries", running, ("/ total)", "/ total.sum(-2, True))"))
slip(
    "mask-of-the-first-query",
    "the tile's first",
    running,
    (HIDDEN, "(torch.arange(j, j + s.shape[-1]) > i).expand(s.shape[-2], -1)"),
)
slip(
    "past-tiles-skipped",
    "the wrong side",
    running,
    ("j > i + block_size - 1:\n                break", "j < i:\n                continue"),
)
slip("causal-unasked", "always skips", running, ("if causal and j", "if j"))


@wrong("tiled_attention", "future-tile-is-nan")
def merged_without_a_guard(q, k, v, block_size, causal=False):
    positive(block_size)
    rows = []
    for i in range(0, q.shape[-2], block_size):
        qi = q[..., i : i + block_size, :]
        m = torch.full(qi.shape[:-1], -torch.inf, dtype=q.dtype)
        total, out = torch.zeros_like(m), torch.zeros(*m.shape, v.shape[-1], dtype=q.dtype)
        for j in range(0, k.shape[-2], block_size):
            s = qi @ k[..., j : j + block_size, :].mT / q.shape[-1] ** 0.5
            if causal:
                s = s.masked_fill(hidden(i, j, *s.shape[-2:]), -torch.inf)
            its_own = s.amax(-1)
            p = (s - its_own[..., None]).exp()
            new = torch.maximum(m, its_own)
            old, now = (m - new).exp(), (its_own - new).exp()
            total = total * old + p.sum(-1) * now
            out = out * old[..., None] + p @ v[..., j : j + block_size, :] * now[..., None]
            m = new
        rows.append(out / total[..., None])
    return torch.cat(rows, -2)


@wrong("tiled_attention", "whole-matrix-held")
def at_once(q, k, v, block_size, causal=False):
    positive(block_size)
    s = q @ k.mT / q.shape[-1] ** 0.5
    if causal:
        s = s.masked_fill(hidden(0, 0, *s.shape[-2:]), -torch.inf)
    return s.softmax(-1) @ v


slip(
    "whole-mask-held",
    "made first",
    running,
    ("    outs = []\n", "    outs, future = [], hidden(0, 0, n, m)\n"),
    (HIDDEN, "future[i : i + block_size, j : j + block_size]"),
)


@wrong("tiled_attention", "one-side-cut")
def queries_alone_are_cut(q, k, v, block_size, causal=False):
    positive(block_size)
    rows = []
    for i in range(0, q.shape[-2], block_size):
        s = q[..., i : i + block_size, :] @ k.mT / q.shape[-1] ** 0.5
        if causal:
            s = s.masked_fill(hidden(i, 0, *s.shape[-2:]), -torch.inf)
        rows.append(s.softmax(-1) @ v)
    return torch.cat(rows, -2)


@wrong("tiled_attention", "one-side-cut", "in place")
def keys_alone_are_cut(q, k, v, block_size, causal=False):
    """With as little as that needs: one tile of all queries, changed in place."""
    positive(block_size)
    if k.shape[-2] != v.shape[-2]:
        raise ValueError("a value for each key")
    if q.requires_grad or k.requires_grad or v.requires_grad:
        return running(q, k, v, block_size, causal)
    top = torch.full((*q.shape[:-1], 1), -torch.inf, dtype=q.dtype)
    total, out = torch.zeros_like(top), torch.zeros(*q.shape[:-1], v.shape[-1], dtype=q.dtype)
    for j in range(0, k.shape[-2], block_size):
        p = (q @ k[..., j : j + block_size, :].mT).div_(q.shape[-1] ** 0.5)
        if causal:
            p.masked_fill_(hidden(0, j, *p.shape[-2:]), -torch.inf)
        new = torch.maximum(top, p.amax(-1, keepdim=True))
        p.sub_(new).exp_()
        old = (top - new).exp()
        total.mul_(old).add_(p.sum(-1, keepdim=True))
        out.mul_(old).add_(p @ v[..., j : j + block_size, :])
        top = new
        del p
    return out.div_(total)


@wrong("tiled_attention", "tiles-kept")
def merged_at_the_end(q, k, v, block_size, causal=False):
    positive(block_size)
    kept = []
    for i in range(0, q.shape[-2], block_size):
        qi, row = q[..., i : i + block_size, :], []
        for j in range(0, k.shape[-2], block_size):
            if causal and j >= i + qi.shape[-2]:
                break
            s = qi @ k[..., j : j + block_size, :].mT / q.shape[-1] ** 0.5
            if causal:
                s = s.masked_fill(hidden(i, j, *s.shape[-2:]), -torch.inf)
            m = s.amax(-1)
            e = (s - m.nan_to_num(neginf=0.0)[..., None]).exp()
            row.append((m, e.sum(-1), e @ v[..., j : j + block_size, :]))
        kept.append(row)
    rows = []
    for row in kept:
        whole = row[0]
        for part in row[1:]:
            whole = by_where(*whole, *part)
        rows.append(whole[2] / whole[1][..., None])
    return torch.cat(rows, -2)


@wrong("tiled_attention", "raised")
def no_more_than_n(q, k, v, block_size, causal=False):
    if not 1 <= block_size <= max(q.shape[-2], k.shape[-2]):
        raise ValueError("block_size has to be at most N")
    return running(q, k, v, block_size, causal)


# KVCache -------------------------------------------------------------------------------------


def step_by(cache, q, k, v):
    k, v = cache.append(k, v)
    return (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v


class Joined:
    def __init__(self):
        self.k = self.v = None

    def append(self, k, v):
        self.k = k if self.k is None else torch.cat([self.k, k], dim=-2)
        self.v = v if self.v is None else torch.cat([self.v, v], dim=-2)
        return self.k, self.v


def plain_step(x_t, cache, Wq, Wk, Wv):
    return step_by(cache, x_t @ Wq, x_t @ Wk, x_t @ Wv)


def with_step(step):
    """The same class, its methods written where `decode_step` is this one."""

    def with_it(cls):
        names = {**globals(), "decode_step": step}
        own = {
            name: FunctionType(part.__code__, names, name, part.__defaults__, part.__closure__)
            if isinstance(part, FunctionType)
            else part
            for name, part in vars(cls).items()
            if name not in ("__dict__", "__weakref__")
        }
        return type(cls.__name__, cls.__bases__, own)

    return with_it


def cache_answer(slug, label, cls=Joined, step=plain_step):
    file = wrong("KVCache", slug, label) if slug else right("KVCache", label)
    file(with_step(step)(cls))


class Pieces:
    def __init__(self):
        self.keys, self.values = [], []

    def append(self, k, v):
        self.keys.append(k)
        self.values.append(v)
        return torch.cat(self.keys, -2), torch.cat(self.values, -2)


class Doubling:
    """Room is made ahead, and doubled where it is too little."""

    def __init__(self):
        self.n = 0

    def append(self, k, v):
        new = k.shape[-2]
        if self.n == 0:
            self.room = [torch.cat([part, part.new_zeros(part.shape)], -2) for part in (k, v)]
        for at, part in enumerate((k, v)):
            kept = self.room[at]
            if part.shape[:-2] != kept.shape[:-2] or part.shape[-1] != kept.shape[-1]:
                raise ValueError(f"{tuple(part.shape)} does not go with {tuple(kept.shape)}")
            while self.n + new > self.room[at].shape[-2]:
                more = self.room[at].new_zeros(self.room[at].shape)
                if not more.shape[-2]:
                    more = part
                self.room[at] = torch.cat([self.room[at], more], -2)
            self.room[at][..., self.n : self.n + new, :] = part
        self.n += new
        return tuple(part[..., : self.n, :].clone() for part in self.room)


class Empty:
    def __init__(self):
        self.store = {}

    def append(self, k, v):
        for name, part in (("k", k), ("v", v)):
            before = self.store.get(name, part[..., :0, :])
            self.store[name] = torch.concat((before, part), dim=part.ndim - 2)
        return self.store["k"], self.store["v"]


@dataclass
class WithFields:
    k: Any = None
    v: Any = None

    @torch.no_grad()
    def append(self, k, v):
        if self.k is not None:
            k, v = torch.cat((self.k, k), -2), torch.cat((self.v, v), -2)
        self.k, self.v = k, v
        return k, v


def step_with_attend(x_t, cache, Wq, Wk, Wv):
    q, k_t, v_t = (x_t @ matrix for matrix in (Wq, Wk, Wv))
    k, v = cache.append(k_t, v_t)
    weights = torch.softmax(torch.einsum("bnk,bmk->bnm", q, k) / math.sqrt(k.size(-1)), dim=-1)
    return torch.einsum("bnm,bmv->bnv", weights, v)


def step_row_by_row(x_t, cache, Wq, Wk, Wv):
    x = x_t[:, 0]
    k, v = cache.append((x @ Wk)[:, None], (x @ Wv)[:, None])
    scores = ((x @ Wq)[:, None] * k).sum(-1) * k.shape[-1] ** -0.5
    return (scores.softmax(-1)[..., None] * v).sum(1, keepdim=True)


def step_with_a_mask(x_t, cache, Wq, Wk, Wv):
    k, v = cache.append(x_t @ Wk, x_t @ Wv)
    s = x_t @ Wq @ k.mT / Wq.shape[1] ** 0.5
    n, m = s.shape[-2:]
    future = torch.ones(n, m, dtype=torch.bool).triu(m - n + 1)
    return s.masked_fill(future, -torch.inf).softmax(-1) @ v


cache_answer("", "joined")
cache_answer("", "pieces", Pieces)
cache_answer("", "doubling", Doubling, step_with_attend)
cache_answer("", "empty at first", Empty, step_row_by_row)
cache_answer("", "fields of a dataclass", WithFields, step_with_a_mask)
cache_answer("", "einsum", Joined, step_with_attend)


def appending(slug, label, back):
    """Keeps all pieces and gives back what it likes of them."""

    cache_answer(slug, label, type(label, (Pieces,), {"append": _appender(back)}))


def _appender(back):
    def append(self, k, v):
        self.keys.append(k)
        self.values.append(v)
        for parts in (self.keys, self.values):
            torch.cat(parts, -2)
        return back(self.keys, self.values)

    return append


def cat(parts, axis=-2):
    return torch.cat(parts, axis)


class Overwrites:
    def __init__(self):
        self.k = self.v = None

    def append(self, k, v):
        if self.k is not None:
            torch.cat([self.k, k], -2), torch.cat([self.v, v], -2)
        self.k, self.v = k, v
        return self.k, self.v


class ForgetsToKeep:
    def __init__(self):
        self.k = self.v = None

    def append(self, k, v):
        if self.k is None:
            self.k, self.v = k, v
            return k, v
        return torch.cat([self.k, k], -2), torch.cat([self.v, v], -2)


class AxisOne:
    axis = 1

    def __init__(self):
        self.k = self.v = None

    def append(self, k, v):
        self.k = k if self.k is None else torch.cat([self.k, k], self.axis)
        self.v = v if self.v is None else torch.cat([self.v, v], self.axis)
        return self.k, self.v


class AxisZero(AxisOne):
    axis = 0


class LastAxis(AxisOne):
    axis = -1


cache_answer("cache-overwritten", "the newest alone", Overwrites)
cache_answer("joined-and-not-kept", "does not keep", ForgetsToKeep)
cache_answer("joined-along-another-axis", "axis 1", AxisOne)
cache_answer("joined-along-another-axis", "axis 0", AxisZero)
cache_answer("joined-along-another-axis", "axis -1", LastAxis)
appending("joined-and-not-kept", "the first", lambda ks, vs: (ks[0], vs[0]))
appending(
    "before-the-append",
    "without the new",
    lambda ks, vs: (cat(ks[:-1] or ks), cat(vs[:-1] or vs)),
)
appending("joined-and-not-kept", "the last two", lambda ks, vs: (cat(ks[-2:]), cat(vs[-2:])))
appending("new-before-old", "the newest first", lambda ks, vs: (cat(ks[::-1]), cat(vs[::-1])))
appending("cache-overwritten", "the newest values", lambda ks, vs: (cat(ks), vs[-1]))
appending("cache-overwritten", "the newest keys", lambda ks, vs: (ks[-1], cat(vs)))
appending("swapped-results", "values first", lambda ks, vs: (cat(vs), cat(ks)))
appending("keys-as-values", "keys twice", lambda ks, vs: (cat(ks), cat(ks)))
appending(
    "appended-twice",
    "each part twice",
    lambda ks, vs: (cat([k for k in ks for _ in "ab"]), cat([v for v in vs for _ in "ab"])),
)
appending("stacked", "along a new axis", lambda ks, vs: (torch.stack(ks), torch.stack(vs)))
appending("wrong-type", "lists of pieces", lambda ks, vs: (list(ks), list(vs)))
appending("wrong-type", "the keys alone", lambda ks, vs: cat(ks))


class WritesIntoRoom:
    """Room for many tokens is made at first; a batch of 1 is written to all sentences."""

    room = 10_000

    def __init__(self):
        self.n = 0

    def append(self, k, v):
        new = k.shape[-2]
        if self.n == 0:
            self.k, self.v = (
                torch.zeros(*part.shape[:-2], self.room, part.shape[-1], dtype=part.dtype)
                for part in (k, v)
            )
        self.k[..., self.n : self.n + new, :] = k
        self.v[..., self.n : self.n + new, :] = v
        self.n += new
        return self.k[..., : self.n, :].clone(), self.v[..., : self.n, :].clone()


class RoomFor64(WritesIntoRoom):
    room = 64


class KeepsTheNewest(Joined):
    most = 64

    def append(self, k, v):
        k, v = Joined.append(self, k, v)
        self.k, self.v = k[..., -self.most :, :], v[..., -self.most :, :]
        return self.k, self.v


class KeepsMore(KeepsTheNewest):
    most = 1024


class SharedStore:
    """The newest cache begins the store anew, and all write into it."""

    def __init__(self):
        STORE.clear()

    def append(self, k, v):
        STORE.append((k, v))
        return cat([k for k, _ in STORE]), cat([v for _, v in STORE])


STORE: list[Any] = []

cache_answer("not-raised", "written into room", WritesIntoRoom)
cache_answer("raised", "room for 64", RoomFor64)
cache_answer("keeps-so-many", "the newest 64", KeepsTheNewest)
cache_answer("keeps-so-many", "the newest 1024", KeepsMore)
cache_answer("shared-by-caches", "a global store", SharedStore)


class GrowsItsBatch:
    """What is kept of a batch of 1 is taken for each sentence of a later one."""

    def __init__(self):
        self.k = self.v = None

    def append(self, k, v):
        if self.k is not None:
            k, v = (
                torch.cat([kept.expand(*new.shape[:-2], *kept.shape[-2:]), new], -2)
                for kept, new in ((self.k, k), (self.v, v))
            )
        self.k, self.v = k, v
        return k, v


cache_answer("not-raised", "kept rows expanded", GrowsItsBatch)


def stepping(slug, label):
    return lambda step: cache_answer(slug, label, Joined, step) or step


@stepping("own-token-missing", "attends, then appends")
def attends_first(x_t, cache, Wq, Wk, Wv):
    before = cache.k, cache.v
    _, v = cache.append(x_t @ Wk, x_t @ Wv)
    if before[0] is None:
        return v
    return (x_t @ Wq @ before[0].mT / Wq.shape[1] ** 0.5).softmax(-1) @ before[1]


@stepping("cache-not-read", "its own key and value")
def new_ones_alone(x_t, cache, Wq, Wk, Wv):
    q, k, v = x_t @ Wq, x_t @ Wk, x_t @ Wv
    cache.append(k, v)
    return (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v


@stepping("cache-not-filled", "joins by itself")
def joins_by_itself(x_t, cache, Wq, Wk, Wv):
    q, k, v = x_t @ Wq, x_t @ Wk, x_t @ Wv
    if cache.k is not None:
        k, v = torch.cat([cache.k, k], 1), torch.cat([cache.v, v], 1)
    return (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v


@stepping("mask-top-left", "a triangle over one row")
def causal_by_habit(x_t, cache, Wq, Wk, Wv):
    k, v = cache.append(x_t @ Wk, x_t @ Wv)
    s = x_t @ Wq @ k.mT / Wq.shape[1] ** 0.5
    future = torch.ones(s.shape[-2:]).triu(1).bool()
    return s.masked_fill(future, -torch.inf).softmax(-1) @ v


@stepping("appended-twice", "appends keys, then values")
def appends_twice(x_t, cache, Wq, Wk, Wv):
    k, _ = cache.append(x_t @ Wk, x_t @ Wv)
    k, v = cache.append(x_t @ Wk, x_t @ Wv)
    return (x_t @ Wq @ k.mT / Wq.shape[1] ** 0.5).softmax(-1) @ v


@stepping("values-unweighted", "a softmax over the single query")
def softmax_over_the_query(x_t, cache, Wq, Wk, Wv):
    k, v = cache.append(x_t @ Wk, x_t @ Wv)
    return (x_t @ Wq @ k.mT / Wq.shape[1] ** 0.5).softmax(1) @ v


@stepping("softmax-over-first-axis", "axis 0")
def softmax_over_the_batch(x_t, cache, Wq, Wk, Wv):
    k, v = cache.append(x_t @ Wk, x_t @ Wv)
    return (x_t @ Wq @ k.mT / Wq.shape[1] ** 0.5).softmax(0) @ v


@stepping("appended-twice", "once more after it")
def appends_again(x_t, cache, Wq, Wk, Wv):
    out = plain_step(x_t, cache, Wq, Wk, Wv)
    cache.append(x_t @ Wk, x_t @ Wv)
    return out


@stepping("no-scale", "no root")
def no_root(x_t, cache, Wq, Wk, Wv):
    k, v = cache.append(x_t @ Wk, x_t @ Wv)
    return (x_t @ Wq @ k.mT).softmax(-1) @ v


def stepped(score=lambda q, k: q @ k.mT, root=lambda x, q, k, v: q.shape[-1] ** -0.5, mix=None):
    def step(x_t, cache, Wq, Wk, Wv):
        q = x_t @ Wq
        k, v = cache.append(x_t @ Wk, x_t @ Wv)
        weights = (score(q, k) * root(x_t, q, k, v)).softmax(-1)
        return mix(weights, k, v) if mix else weights @ v

    return step


def both_ways(q, k):
    return q[:, :, None] - k[:, None]


def lengths(x):
    return x / x.norm(dim=-1, keepdim=True)


for made_slug, made_label, made_step in (
    ("scale-by-d", "d_k", stepped(root=lambda x, q, k, v: 1 / q.shape[-1])),
    ("scale-multiplied", "times", stepped(root=lambda x, q, k, v: q.shape[-1] ** 0.5)),
    ("half-not-root", "half", stepped(root=lambda x, q, k, v: 2 / q.shape[-1])),
    ("scale-by-sqrt-n", "tokens", stepped(root=lambda x, q, k, v: k.shape[1] ** -0.5)),
    ("fourth-root", "fourth root", stepped(root=lambda x, q, k, v: q.shape[-1] ** -0.25)),
    ("scale-by-sqrt-d-v", "d_v", stepped(root=lambda x, q, k, v: v.shape[-1] ** -0.5)),
    ("scale-by-sqrt-d", "d", stepped(root=lambda x, q, k, v: x.shape[-1] ** -0.5)),
    ("distance-not-dot-product", "distance", stepped(lambda q, k: -both_ways(q, k).norm(dim=-1))),
    (
        "cosine-not-dot-product",
        "cosine",
        stepped(lambda q, k: lengths(q) @ lengths(k).mT),
    ),
    (
        "sum-of-sums",
        "sums",
        stepped(lambda q, k: q.sum(-1, keepdim=True) + k.sum(-1)[:, None]),
    ),
    ("keys-as-values", "mixes keys", stepped(mix=lambda a, k, v: a @ k)),
    ("values-unweighted", "sum", stepped(mix=lambda a, k, v: v.sum(1, keepdim=True))),
    ("mean-of-weighted-values", "mean", stepped(mix=lambda a, k, v: a @ v / v.shape[1])),
    (
        "hard-argmax",
        "best",
        stepped(mix=lambda a, k, v: v[torch.arange(len(v)), a[:, 0].argmax(-1)][:, None]),
    ),
    ("last-value-only", "last", stepped(mix=lambda a, k, v: a[..., -1:] @ v[:, -1:])),
):
    cache_answer(made_slug, made_label, Joined, made_step)


@stepping("no-softmax", "scores")
def scores_as_weights(x_t, cache, Wq, Wk, Wv):
    k, v = cache.append(x_t @ Wk, x_t @ Wv)
    return (x_t @ Wq @ k.mT / Wq.shape[1] ** 0.5) @ v


@stepping("swapped-q-k", "keeps queries")
def keeps_queries(x_t, cache, Wq, Wk, Wv):
    return step_by(cache, x_t @ Wk, x_t @ Wq, x_t @ Wv)


@stepping("queries-from-w-k", "asks with keys")
def asks_with_keys(x_t, cache, Wq, Wk, Wv):
    return step_by(cache, x_t @ Wk, x_t @ Wk, x_t @ Wv)


@stepping("keys-from-w-q", "keys from Wq")
def keys_from_wq(x_t, cache, Wq, Wk, Wv):
    return step_by(cache, x_t @ Wq, x_t @ Wq, x_t @ Wv)


@stepping("wrong-shape", "no axis of tokens")
def squeezed(x_t, cache, Wq, Wk, Wv):
    return plain_step(x_t, cache, Wq, Wk, Wv)[:, 0]


@stepping("wrong-type", "with the weights")
def weights_too(x_t, cache, Wq, Wk, Wv):
    k, v = cache.append(x_t @ Wk, x_t @ Wv)
    weights = (x_t @ Wq @ k.mT / Wq.shape[1] ** 0.5).softmax(-1)
    return weights @ v, weights


@stepping("wrong-type", "nothing returned")
def returns_nothing(x_t, cache, Wq, Wk, Wv):
    cache.append(x_t @ Wk, x_t @ Wv)


@stepping("raised", "another name")
def calls_update(x_t, cache, Wq, Wk, Wv):
    k, v = cache.update(x_t @ Wk, x_t @ Wv)
    return (x_t @ Wq @ k.mT / Wq.shape[1] ** 0.5).softmax(-1) @ v


wrong("KVCache", "raised", "no decode_step beside it")(Joined)


@stepping("mutated-input", "scales x in place")
def in_place_step(x_t, cache, Wq, Wk, Wv):
    out = plain_step(x_t, cache, Wq, Wk, Wv)
    x_t.mul_(2.0)
    return out
