"""Answers to lesson 09, with PyTorch."""

# A learner's style is not ours, and their mistakes are what this file is for.
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False

import math

import torch
from torch import nn

from . import Lesson

lesson = Lesson("09-position")
wrong, right = lesson.wrong, lesson.right


# is_equivariant ------------------------------------------------------------------------------


@wrong("is_equivariant", "input-not-shuffled")
def shuffles_only_the_output(fn, x, perm):
    out = fn(x)
    return torch.allclose(out, out[..., perm, :], rtol=0, atol=1e-6)


@wrong("is_equivariant", "wrong-type")
def a_tensor(fn, x, perm):
    return torch.isclose(fn(x[..., perm, :]), fn(x)[..., perm, :], atol=1e-6).all()


def _close(a, b):
    return a.shape == b.shape and torch.allclose(a, b, rtol=0, atol=1e-6)


@right("is_equivariant")
def by_allclose(fn, x, perm):
    return torch.allclose(fn(x[..., perm, :]), fn(x)[..., perm, :], rtol=0, atol=1e-6)


lesson.edits(
    by_allclose,
    "output-not-shuffled | invariance | [..., perm, :], -> ,",
)


@right("is_equivariant")
def index_selected(fn, x, perm):
    out, shuffled = fn(x), fn(torch.index_select(x, -2, perm))
    return bool(((shuffled - out.index_select(-2, perm)).abs() <= 1e-6).all())


@right("is_equivariant")
def by_a_matrix(fn, x, perm):
    P = torch.eye(len(perm), dtype=x.dtype)[perm]
    return torch.allclose(fn(P @ x), P @ fn(x), rtol=0, atol=1e-6)


@right("is_equivariant")
def row_after_row(fn, x, perm):
    out, shuffled = fn(x), fn(torch.stack([x[..., p, :] for p in perm.tolist()], -2))
    for place, p in enumerate(perm):
        if (shuffled[..., place, :] - out[..., p, :]).abs().max() > 1e-6:
            return False
    return True


@right("is_equivariant")
def sentence_after_sentence(fn, x, perm):
    a, b = (y.reshape(-1, *y.shape[-2:]) for y in (fn(x[..., perm, :]), fn(x)[..., perm, :]))
    return all(_close(one, other) for one, other in zip(a, b, strict=True))


# sinusoidal_encoding -------------------------------------------------------------------------


def even(d):
    if d % 2:
        raise ValueError(f"d = {d} is odd")


def filled(n, d, angles, even=torch.sin, odd=torch.cos):
    pe = torch.zeros(n, d)
    pe[:, 0::2] = even(angles)
    pe[:, 1::2] = odd(angles)
    return pe


@wrong("sinusoidal_encoding", "halves-not-interleaved")
def concatenated(n, d):
    even(d)
    angles = torch.arange(n)[:, None] / 10000 ** (torch.arange(0, d, 2) / d)
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


@wrong("sinusoidal_encoding", "sin-cos-swapped")
def cosines_first(n, d):
    even(d)
    angles = torch.arange(n)[:, None] / 10000 ** (torch.arange(0, d, 2) / d)
    return filled(n, d, angles, torch.cos, torch.sin)


@wrong("sinusoidal_encoding", "wrong-shape")
def transposed(n, d):
    even(d)
    return plain_loops(n, d).T


@right("sinusoidal_encoding")
def assigned(n, d):
    even(d)
    return filled(n, d, torch.arange(n)[:, None] / 10000 ** (torch.arange(0, d, 2) / d))


@right("sinusoidal_encoding")
def through_exp_and_log(n, d):
    even(d)
    pe = torch.zeros(n, d)
    position = torch.arange(0, n, dtype=torch.float).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d, 2).float() * (-math.log(10000.0) / d))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe


@right("sinusoidal_encoding")
def plain_loops(n, d):
    even(d)
    rows = []
    for p in range(n):
        row = []
        for i in range(d // 2):
            angle = p / 10000 ** (2 * i / d)
            row += [math.sin(angle), math.cos(angle)]
        rows.append(row)
    return torch.tensor(rows)


@right("sinusoidal_encoding")
def stacked(n, d):
    even(d)
    angles = torch.outer(torch.arange(n).float(), 10000.0 ** (-torch.arange(0, d, 2) / d))
    return torch.stack((angles.sin(), angles.cos()), dim=-1).reshape(n, d)


@right("sinusoidal_encoding")
def complex_numbers(n, d):
    even(d)
    angles = torch.arange(n)[:, None] * 10000 ** (-torch.arange(0, d, 2).double() / d)
    turns = torch.polar(torch.ones_like(angles), angles)
    return torch.stack([turns.imag, turns.real], -1).flatten(-2).to(torch.get_default_dtype())


# LearnedPositions ----------------------------------------------------------------------------


class Table(nn.Module):
    """A parameter for the table; `add` is what each answer writes."""

    def __init__(self, max_len, d):
        super().__init__()
        self.max_len = max_len
        self.table = nn.Parameter(torch.randn(max_len, d))

    def forward(self, x):
        n = x.shape[-2]
        if n > self.max_len:
            raise ValueError(f"{n} tokens, and {self.max_len} positions")
        return self.add(x, n)

    def add(self, x, n):
        return x + self.table[:n]


@wrong("LearnedPositions", "not-added")
class Multiplies(Table):
    def add(self, x, n):
        return x * self.table[:n]


@wrong("LearnedPositions", "positions-alone")
class PositionsAlone(Table):
    def add(self, x, n):
        return self.table[:n].expand(x.shape)


@wrong("LearnedPositions", "wrong-structure")
class NoParameter(Table):
    def __init__(self, max_len, d):
        super().__init__(max_len, d)
        del self.table
        self.table = torch.randn(max_len, d)


@right("LearnedPositions")
class Parameter(Table):
    pass


@right("LearnedPositions")
class EmbeddingWithABuffer(nn.Module):
    def __init__(self, max_len, d):
        super().__init__()
        self.position_embeddings = nn.Embedding(max_len, d)
        self.register_buffer("position_ids", torch.arange(max_len))

    def forward(self, x):
        ids = self.position_ids[: x.shape[-2]]
        if len(ids) < x.shape[-2]:
            raise ValueError("past the table")
        return x + self.position_embeddings(ids)


@right("LearnedPositions")
class KeepsPlacesByLength(Table):
    def __init__(self, max_len, d):
        super().__init__(max_len, d)
        self.places = {}

    def add(self, x, n):
        return x + self.table[self.places.setdefault(n, torch.arange(n))]


@right("LearnedPositions")
class TokenByToken(Table):
    def add(self, x, n):
        return torch.stack([x[..., i, :] + self.table[i] for i in range(n)], dim=-2)


@right("LearnedPositions")
class OneHot(Table):
    def add(self, x, n):
        return x + torch.eye(n, self.max_len, dtype=x.dtype) @ self.table


# rotary --------------------------------------------------------------------------------------


def frequencies(x, base, step=2):
    even(x.shape[-1])
    d = x.shape[-1]
    return base ** (-torch.arange(0, d, 2, dtype=x.dtype) / d * step / 2)


def angles_of(x, positions, base):
    return positions.to(x.dtype)[:, None] * frequencies(x, base)


def interleaved(a, b):
    return torch.stack([a, b], dim=-1).flatten(-2)


def rotated(x, angles):
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return interleaved(a * cos - b * sin, a * sin + b * cos)


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


def rotate_pairs(x):
    return interleaved(-x[..., 1::2], x[..., 0::2])


@wrong("rotary", "halves-not-pairs")
def as_in_llama(x, positions, base=10000.0):
    angles = angles_of(x, positions, base)
    emb = torch.cat((angles, angles), dim=-1)
    return x * emb.cos() + rotate_half(x) * emb.sin()


@wrong("rotary", "pairs-and-halves-mixed")
def concatenates(x, positions, base=10000.0):
    angles = angles_of(x, positions, base)
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


def turns(x, positions, base=10000.0):
    return rotated(x, 2 * torch.pi * angles_of(x, positions, base))


@wrong("rotary", "wrong-dtype")
def positions_decide(x, positions, base=10000.0):
    return rotated(x, positions[:, None] * frequencies(x, base))


@right("rotary")
def by_the_formula(x, positions, base=10000.0):
    return rotated(x, angles_of(x, positions, base))


@right("rotary")
def rotate_every_two(x, positions, base=10000.0):
    emb = angles_of(x, positions, base).repeat_interleave(2, dim=-1)
    return x * emb.cos() + rotate_pairs(x) * emb.sin()


@right("rotary")
def complex_pairs(x, positions, base=10000.0):
    angles = angles_of(x, positions, base)
    turn = torch.polar(torch.ones_like(angles), angles)
    pairs = torch.view_as_complex(x.contiguous().unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * turn).flatten(-2)


@right("rotary")
def split_by_a_view(x, positions, base=10000.0):
    angles = angles_of(x, positions, base)
    cos, sin = angles.cos(), angles.sin()
    a, b = x.view(*x.shape[:-1], -1, 2).unbind(-1)
    return interleaved(a * cos - b * sin, a * sin + b * cos)


@right("rotary")
def in_loops(x, positions, base=10000.0):
    d, n = x.shape[-1], x.shape[-2]
    even(d)
    if len(positions) != n:
        raise ValueError(f"x is {tuple(x.shape)} and positions {tuple(positions.shape)}")
    columns = [[torch.empty(0)] * d for _ in range(n)]
    for m, p in enumerate(positions.tolist()):
        for i in range(d // 2):
            angle = p * base ** (-2 * i / d)
            a, b = x[..., m, 2 * i], x[..., m, 2 * i + 1]
            columns[m][2 * i] = a * math.cos(angle) - b * math.sin(angle)
            columns[m][2 * i + 1] = a * math.sin(angle) + b * math.cos(angle)
    return torch.stack([torch.stack(row, -1) for row in columns], -2)
