"""Answers to lesson 09, with PyTorch."""

# A learner's style is not ours, and their mistakes are what this file is for.
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False

import math

import numpy as np
import torch
from torch import nn

from . import Lesson

lesson = Lesson("09-position")
wrong, right = lesson.wrong, lesson.right


# is_equivariant ------------------------------------------------------------------------------


@wrong("is_equivariant", "output-not-shuffled")
def invariance(fn, x, perm):
    return torch.allclose(fn(x[..., perm, :]), fn(x), rtol=0, atol=1e-6)


@wrong("is_equivariant", "input-not-shuffled")
def shuffles_only_the_output(fn, x, perm):
    out = fn(x)
    return torch.allclose(out, out[..., perm, :], rtol=0, atol=1e-6)


@wrong("is_equivariant", "inverse-permutation")
def undoes_it(fn, x, perm):
    back = torch.empty_like(perm)
    back[perm] = torch.arange(len(perm))
    return torch.allclose(fn(x[..., perm, :]), fn(x)[..., back, :], rtol=0, atol=1e-6)


@wrong("is_equivariant", "inverse-permutation")
def undoes_it_by_argsort(fn, x, perm):
    return torch.allclose(fn(x[..., torch.argsort(perm), :]), fn(x)[..., perm, :], atol=1e-6)


@wrong("is_equivariant", "another-axis-shuffled")
def takes_columns(fn, x, perm):
    return _close(fn(x[..., perm]), fn(x)[..., perm])


@wrong("is_equivariant", "another-axis-shuffled")
def second_axis(fn, x, perm):
    return _close(fn(x[:, perm]), fn(x)[:, perm])


@wrong("is_equivariant", "another-axis-shuffled")
def first_axis(fn, x, perm):
    return torch.allclose(fn(x[perm]), fn(x)[perm], rtol=0, atol=1e-6)


@wrong("is_equivariant", "another-axis-shuffled")
def first_axis_by_index_select(fn, x, perm):
    return _close(fn(x.index_select(0, perm)), fn(x).index_select(0, perm))


@wrong("is_equivariant", "another-order")
def always_backwards(fn, x, perm):
    return torch.allclose(fn(x.flip(-2)), fn(x).flip(-2), rtol=0, atol=1e-6)


@wrong("is_equivariant", "another-order")
def always_one_step(fn, x, perm):
    return torch.allclose(fn(x.roll(1, -2)), fn(x).roll(1, -2), rtol=0, atol=1e-6)


@wrong("is_equivariant", "tolerance-too-small")
def torch_equal(fn, x, perm):
    return torch.equal(fn(x[..., perm, :]), fn(x)[..., perm, :])


@wrong("is_equivariant", "tolerance-too-small")
def double_equals(fn, x, perm):
    return bool((fn(x[..., perm, :]) == fn(x)[..., perm, :]).all())


@wrong("is_equivariant", "relative-tolerance")
def with_the_default_rtol(fn, x, perm):
    return torch.allclose(fn(x[..., perm, :]), fn(x)[..., perm, :], atol=1e-6)


@wrong("is_equivariant", "relative-tolerance")
def no_atol(fn, x, perm):
    return torch.allclose(fn(x[..., perm, :]), fn(x)[..., perm, :])


@wrong("is_equivariant", "tolerance-too-small")
def ten_times_too_small(fn, x, perm):
    return torch.allclose(fn(x[..., perm, :]), fn(x)[..., perm, :], rtol=0, atol=1e-7)


@wrong("is_equivariant", "tolerance-too-small")
def nano(fn, x, perm):
    return bool((fn(x[..., perm, :]) - fn(x)[..., perm, :]).abs().max() < 1e-9)


@wrong("is_equivariant", "tolerance-too-large")
def one_in_ten_thousand(fn, x, perm):
    return torch.allclose(fn(x[..., perm, :]), fn(x)[..., perm, :], rtol=0, atol=1e-4)


@wrong("is_equivariant", "tolerance-too-large")
def one_in_a_hundred_thousand(fn, x, perm):
    return torch.allclose(fn(x[..., perm, :]), fn(x)[..., perm, :], rtol=0, atol=1e-5)


@wrong("is_equivariant", "tolerance-too-large")
def five_in_a_million(fn, x, perm):
    return torch.allclose(fn(x[..., perm, :]), fn(x)[..., perm, :], rtol=0, atol=5e-6)


@wrong("is_equivariant", "digits-lost")
def through_float32(fn, x, perm):
    x = x.float()
    return torch.allclose(fn(x[..., perm, :]), fn(x)[..., perm, :], rtol=0, atol=1e-6)


@wrong("is_equivariant", "part-compared")
def first_row(fn, x, perm):
    return _close(fn(x[..., perm, :])[..., 0, :], fn(x)[..., perm, :][..., 0, :])


@wrong("is_equivariant", "part-compared")
def last_row(fn, x, perm):
    return torch.allclose(fn(x[..., perm, :])[..., -1, :], fn(x)[..., perm[-1], :], atol=1e-6)


@wrong("is_equivariant", "part-compared")
def first_column(fn, x, perm):
    return _close(fn(x[..., perm, :])[..., 0], fn(x)[..., perm, 0])


@wrong("is_equivariant", "part-compared")
def first_sentence(fn, x, perm):
    a, b = fn(x[..., perm, :]), fn(x)[..., perm, :]
    while a.dim() > 2:
        a, b = a[0], b[0]
    return _close(a, b)


@wrong("is_equivariant", "part-compared")
def last_sentence(fn, x, perm):
    a, b = fn(x[..., perm, :]), fn(x)[..., perm, :]
    while a.dim() > 2:
        a, b = a[-1], b[-1]
    return _close(a, b)


@wrong("is_equivariant", "not-number-by-number")
def means_of_rows(fn, x, perm):
    return _close(fn(x[..., perm, :]).mean(-1), fn(x).mean(-1)[..., perm])


@wrong("is_equivariant", "not-number-by-number")
def norms_of_rows(fn, x, perm):
    return _close(fn(x[..., perm, :]).norm(dim=-1), fn(x).norm(dim=-1)[..., perm])


@wrong("is_equivariant", "not-number-by-number")
def mean_absolute_error(fn, x, perm):
    return (fn(x[..., perm, :]) - fn(x)[..., perm, :]).abs().mean().item() < 1e-6


@wrong("is_equivariant", "not-number-by-number")
def norm(fn, x, perm):
    return torch.linalg.vector_norm(fn(x[..., perm, :]) - fn(x)[..., perm, :]).item() < 1e-6


@wrong("is_equivariant", "not-number-by-number")
def sum_of_absolutes(fn, x, perm):
    return (fn(x[..., perm, :]) - fn(x)[..., perm, :]).abs().sum().item() < 1e-6


@wrong("is_equivariant", "not-number-by-number")
def sums(fn, x, perm):
    return abs(fn(x[..., perm, :]).sum().item() - fn(x)[..., perm, :].sum().item()) < 1e-6


@wrong("is_equivariant", "sign-ignored")
def no_abs(fn, x, perm):
    return (fn(x[..., perm, :]) - fn(x)[..., perm, :]).max().item() <= 1e-6


@wrong("is_equivariant", "sign-ignored")
def no_abs_turned_round(fn, x, perm):
    return bool((fn(x)[..., perm, :] - fn(x[..., perm, :]) <= 1e-6).all())


@wrong("is_equivariant", "part-compared")
def any_number(fn, x, perm):
    return bool(torch.isclose(fn(x[..., perm, :]), fn(x)[..., perm, :], atol=1e-6).any())


@wrong("is_equivariant", "always-the-same")
def compares_with_itself(fn, x, perm):
    return torch.allclose(fn(x[..., perm, :]), fn(x[..., perm, :]), atol=1e-6)


@wrong("is_equivariant", "always-the-same")
def identity_of_objects(fn, x, perm):
    return fn(x[..., perm, :]) is fn(x)[..., perm, :]


@wrong("is_equivariant", "negated")
def there_is_a_difference(fn, x, perm):
    return bool(((fn(x[..., perm, :]) - fn(x)[..., perm, :]).abs() > 1e-6).any())


@wrong("is_equivariant", "wrong-type")
def a_tensor(fn, x, perm):
    return torch.isclose(fn(x[..., perm, :]), fn(x)[..., perm, :], atol=1e-6).all()


@wrong("is_equivariant", "wrong-type")
def the_difference(fn, x, perm):
    return (fn(x[..., perm, :]) - fn(x)[..., perm, :]).abs().max().item()


@wrong("is_equivariant", "raised")
def truth_of_many(fn, x, perm):
    return True if (fn(x[..., perm, :]) == fn(x)[..., perm, :]) else False  # noqa: SIM210


@wrong("is_equivariant", "mutated-input")
def in_place(fn, x, perm):
    before = fn(x)[..., perm, :]
    x[...] = x[..., perm, :].clone()
    return torch.allclose(fn(x), before, rtol=0, atol=1e-6)


def _close(a, b):
    return a.shape == b.shape and torch.allclose(a, b, rtol=0, atol=1e-6)


@right("is_equivariant")
def by_allclose(fn, x, perm):
    return torch.allclose(fn(x[..., perm, :]), fn(x)[..., perm, :], rtol=0, atol=1e-6)


@right("is_equivariant")
def largest_difference(fn, x, perm):
    return (fn(x[..., perm, :]) - fn(x)[..., perm, :]).abs().max().item() < 1e-6


@right("is_equivariant")
def index_selected(fn, x, perm):
    out, shuffled = fn(x), fn(torch.index_select(x, -2, perm))
    return bool(((shuffled - out.index_select(-2, perm)).abs() <= 1e-6).all())


@right("is_equivariant")
def undoes_both(fn, x, perm):
    back = perm.argsort()
    return torch.allclose(fn(x[..., perm, :])[..., back, :], fn(x), rtol=0, atol=1e-6)


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


@right("is_equivariant")
def by_numpy(fn, x, perm):
    a, b = fn(x[..., perm, :]).numpy(), fn(x)[..., perm, :].numpy()
    return bool(np.abs(a - b).max() <= 1e-6)


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


@wrong("sinusoidal_encoding", "one-function-alone")
def sines(n, d):
    even(d)
    angles = torch.arange(n)[:, None] / 10000 ** (torch.arange(0, d, 2) / d)
    return angles.sin().repeat_interleave(2, -1)


@wrong("sinusoidal_encoding", "one-function-alone")
def cosines(n, d):
    even(d)
    angles = torch.arange(n)[:, None] / 10000 ** (torch.arange(0, d, 2) / d)
    return filled(n, d, angles, torch.cos, torch.cos)


@wrong("sinusoidal_encoding", "exponent-off")
def pairs_counted_once(n, d):
    even(d)
    return filled(n, d, torch.arange(n)[:, None] / 10000 ** (torch.arange(d // 2) / d))


@wrong("sinusoidal_encoding", "exponent-off")
def doubled_twice(n, d):
    even(d)
    i = torch.arange(0, d, 2)
    return filled(n, d, torch.arange(n)[:, None] / 10000 ** (2 * i / d))


@wrong("sinusoidal_encoding", "exponent-inverted")
def times_the_power(n, d):
    even(d)
    i = torch.arange(0, d, 2).double()
    return filled(n, d, torch.arange(n)[:, None] * 10000 ** (i / d))


@wrong("sinusoidal_encoding", "exponent-inverted")
def no_minus_in_the_exponent(n, d):
    even(d)
    i = torch.arange(0, d, 2)
    return filled(n, d, torch.arange(n)[:, None] * 10000 ** (i / d))


@wrong("sinusoidal_encoding", "exponent-inverted")
def no_minus_before_the_logarithm(n, d):
    even(d)
    i = torch.arange(0, d, 2)
    return filled(n, d, torch.arange(n)[:, None] * torch.exp(i * (math.log(10000.0) / d)))


@wrong("sinusoidal_encoding", "one-frequency")
def whole_division(n, d):
    even(d)
    return filled(n, d, torch.arange(n)[:, None] / 10000.0 ** (torch.arange(0, d, 2) // d))


@wrong("sinusoidal_encoding", "one-frequency")
def no_frequency(n, d):
    even(d)
    return filled(n, d, torch.arange(n)[:, None].float().expand(n, d // 2))


@wrong("sinusoidal_encoding", "another-base")
def power_of_e(n, d):
    even(d)
    return filled(n, d, torch.arange(n)[:, None] * torch.exp(-torch.arange(0, d, 2) / d))


@wrong("sinusoidal_encoding", "another-base")
def a_thousand(n, d):
    even(d)
    return filled(n, d, torch.arange(n)[:, None] / 1000 ** (torch.arange(0, d, 2) / d))


@wrong("sinusoidal_encoding", "exponent-off")
def a_hundred(n, d):
    even(d)
    return filled(n, d, torch.arange(n)[:, None] / 100 ** (torch.arange(0, d, 2) / d))


@wrong("sinusoidal_encoding", "exponent-off")
def not_divided_by_d(n, d):
    even(d)
    return filled(n, d, torch.arange(n)[:, None] * 10000.0 ** -torch.arange(0, d, 2))


@wrong("sinusoidal_encoding", "one-frequency")
def times_the_base(n, d):
    even(d)
    return filled(n, d, torch.arange(n)[:, None] * torch.full((d // 2,), 10000.0))


@wrong("sinusoidal_encoding", "one-frequency")
def divided_by_the_base(n, d):
    even(d)
    return filled(n, d, torch.arange(n)[:, None] / torch.full((d // 2,), 10000.0))


@wrong("sinusoidal_encoding", "each-column-its-own")
def exponent_by_column(n, d):
    even(d)
    angles = torch.arange(n)[:, None] / 10000 ** (torch.arange(d) / d)
    angles[:, 0::2], angles[:, 1::2] = angles[:, 0::2].sin(), angles[:, 1::2].cos()
    return angles


@wrong("sinusoidal_encoding", "steps-to-the-end")
def as_in_some_libraries(n, d):
    even(d)
    step = math.log(10000) / max(d // 2 - 1, 1)
    return filled(n, d, torch.arange(n)[:, None] * torch.exp(-step * torch.arange(d // 2)))


@wrong("sinusoidal_encoding", "positions-from-one")
def counts_like_people(n, d):
    even(d)
    return filled(n, d, torch.arange(1, n + 1)[:, None] / 10000 ** (torch.arange(0, d, 2) / d))


@wrong("sinusoidal_encoding", "not-in-radians")
def in_degrees(n, d):
    even(d)
    angles = torch.arange(n)[:, None] / 10000 ** (torch.arange(0, d, 2) / d)
    return filled(n, d, torch.deg2rad(angles))


@wrong("sinusoidal_encoding", "not-in-radians")
def two_pi(n, d):
    even(d)
    angles = torch.arange(n)[:, None] / 10000 ** (torch.arange(0, d, 2).double() / d)
    return filled(n, d, 2 * math.pi * angles)


@wrong("sinusoidal_encoding", "roles-exchanged")
def position_in_the_exponent(n, d):
    even(d)
    p, i = torch.arange(n)[:, None], torch.arange(d // 2)
    return filled(n, d, i / 10000 ** (2 * p / n))


@wrong("sinusoidal_encoding", "wrong-shape")
def transposed(n, d):
    even(d)
    return plain_loops(n, d).T


@wrong("sinusoidal_encoding", "wrong-dtype")
def through_numpy(n, d):
    even(d)
    angles = np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    return torch.from_numpy(np.stack([np.sin(angles), np.cos(angles)], -1).reshape(n, d))


@wrong("sinusoidal_encoding", "raised")
def stumbles_over_odd(n, d):
    return filled(n, d, torch.arange(n)[:, None] / 10000 ** (torch.arange(0, d, 2) / d))


@wrong("sinusoidal_encoding", "not-raised")
def cuts_the_last_cosine(n, d):
    angles = torch.arange(n)[:, None] / 10000 ** (torch.arange(0, d, 2) / d)
    pe = torch.zeros(n, d)
    pe[:, 0::2] = angles.sin()
    pe[:, 1::2] = angles.cos()[:, : d // 2]
    return pe


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


@right("sinusoidal_encoding")
def a_cosine_is_a_late_sine(n, d):
    even(d)
    angles = torch.arange(n)[:, None] / 10000 ** (torch.arange(d) // 2 * 2 / d)
    return torch.sin(angles + (torch.arange(d) % 2) * math.pi / 2)


@right("sinusoidal_encoding")
def where(n, d):
    even(d)
    j = torch.arange(d)
    angles = torch.arange(n)[:, None] / 10000 ** ((j - j % 2) / d)
    return torch.where(j % 2 == 0, angles.sin(), angles.cos())


@wrong("sinusoidal_encoding", "wrong-dtype")
def always_float32(n, d):
    even(d)
    angles = torch.arange(n)[:, None] / 10000 ** (torch.arange(0, d, 2) / d)
    return filled(n, d, angles).to(torch.float32)


@right("sinusoidal_encoding")
def numpy_to_the_default(n, d):
    even(d)
    angles = np.arange(n)[:, None] / np.power(10000, 2 * (np.arange(d) // 2) / d)
    angles[:, 0::2], angles[:, 1::2] = np.sin(angles[:, 0::2]), np.cos(angles[:, 1::2])
    return torch.tensor(angles, dtype=torch.get_default_dtype())


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


@wrong("LearnedPositions", "not-added")
class Subtracts(Table):
    def add(self, x, n):
        return x - self.table[:n]


@wrong("LearnedPositions", "positions-alone")
class PositionsAlone(Table):
    def add(self, x, n):
        return self.table[:n].expand(x.shape)


@wrong("LearnedPositions", "table-not-used")
class NotUsed(Table):
    def add(self, x, n):
        return x.clone()


@wrong("LearnedPositions", "other-rows")
class LastRows(Table):
    def add(self, x, n):
        return x + self.table[-n:]


@wrong("LearnedPositions", "one-row-for-all")
class RowN(Table):
    def add(self, x, n):
        return x + self.table[n - 1]


@wrong("LearnedPositions", "one-row-for-all")
class RowZero(Table):
    def add(self, x, n):
        return x + self.table[0]


@wrong("LearnedPositions", "one-row-for-all")
class Average(Table):
    def add(self, x, n):
        return x + self.table[:n].mean(0)


@wrong("LearnedPositions", "other-rows")
class Backwards(Table):
    def add(self, x, n):
        return x + self.table[:n].flip(0)


@wrong("LearnedPositions", "tokens-scaled")
class Scaled(Table):
    def add(self, x, n):
        return x * math.sqrt(x.shape[-1]) + self.table[:n]


@wrong("LearnedPositions", "no-gradient")
class TableThroughData(Table):
    def add(self, x, n):
        return x + self.table.data[:n]


@wrong("LearnedPositions", "no-gradient")
class TokensDetached(Table):
    def add(self, x, n):
        return x.detach() + self.table[:n]


@wrong("LearnedPositions", "no-gradient")
class NoGrad(Table):
    def add(self, x, n):
        with torch.no_grad():
            return x + self.table[:n]


@wrong("LearnedPositions", "wrong-structure")
class NoParameter(Table):
    def __init__(self, max_len, d):
        super().__init__(max_len, d)
        del self.table
        self.table = torch.randn(max_len, d)


@wrong("LearnedPositions", "wrong-structure")
class Buffer(Table):
    def __init__(self, max_len, d):
        super().__init__(max_len, d)
        del self.table
        self.register_buffer("table", torch.randn(max_len, d))


@wrong("LearnedPositions", "wrong-structure")
class TwoParameters(Table):
    def __init__(self, max_len, d):
        super().__init__(max_len, d)
        self.mix = nn.Linear(d, d)


@wrong("LearnedPositions", "wrong-structure")
class SizesSwapped(Table):
    def __init__(self, max_len, d):
        super().__init__(d, max_len)


@wrong("LearnedPositions", "wrong-structure")
class BatchAxisInTheTable(Table):
    def __init__(self, max_len, d):
        super().__init__(max_len, d)
        self.table = nn.Parameter(torch.zeros(1, max_len, d))


@wrong("LearnedPositions", "wrong-structure")
class NoModule:
    def __init__(self, max_len, d):
        self.table = torch.randn(max_len, d, requires_grad=True)

    def forward(self, x):
        return x + self.table[: x.shape[-2]]


@wrong("LearnedPositions", "other-rows")
class WholeTable(Table):
    def add(self, x, n):
        return x + self.table


@wrong("LearnedPositions", "raised")
class SecondAxis(nn.Module):
    def __init__(self, max_len, d):
        super().__init__()
        self.table = nn.Embedding(max_len, d)

    def forward(self, x):
        _, n, _ = x.shape
        if n > self.table.num_embeddings:
            raise ValueError("too long")
        return x + self.table(torch.arange(n))


@wrong("LearnedPositions", "raised")
class RefusesTheLast(Table):
    def forward(self, x):
        if x.shape[-2] >= self.max_len:
            raise ValueError("too long")
        return self.add(x, x.shape[-2])


@wrong("LearnedPositions", "raised")
class StumblesPastTheTable(nn.Module):
    def __init__(self, max_len, d):
        super().__init__()
        self.table = nn.Embedding(max_len, d)

    def forward(self, x):
        return x + self.table(torch.arange(x.shape[-2]))


@wrong("LearnedPositions", "not-raised")
class LastRowAgain(Table):
    def forward(self, x):
        places = torch.arange(x.shape[-2]).clamp(max=self.max_len - 1)
        return x + self.table[places]


@wrong("LearnedPositions", "not-raised")
class BeginsAgain(Table):
    def forward(self, x):
        return x + self.table[torch.arange(x.shape[-2]) % self.max_len]


@wrong("LearnedPositions", "remembers-a-call")
class KeepsTheFirstLength(Table):
    places = None

    def add(self, x, n):
        if self.places is None:
            self.places = torch.arange(n)
        return x + self.table[self.places]


@wrong("LearnedPositions", "remembers-a-call")
class KeepsRows(Table):
    rows = None

    def add(self, x, n):
        if self.rows is None or len(self.rows) != n:
            self.rows = self.table[:n].clone()
        return x + self.rows


@wrong("LearnedPositions", "wrong-dtype")
class AlwaysFloat64(Table):
    def add(self, x, n):
        return x.double() + self.table[:n]


@wrong("LearnedPositions", "mutated-input")
class InPlace(Table):
    def add(self, x, n):
        with torch.no_grad():
            x.copy_(x + self.table[:n])
        return x + self.table[:n] - self.table[:n].detach()


@right("LearnedPositions")
class Parameter(Table):
    pass


@right("LearnedPositions")
class Embedding(nn.Module):
    def __init__(self, max_len, d):
        super().__init__()
        self.pos = nn.Embedding(max_len, d)

    def forward(self, x):
        n = x.size(-2)
        if n > self.pos.num_embeddings:
            raise ValueError(f"sequence of {n} is longer than {self.pos.num_embeddings}")
        return x + self.pos(torch.arange(n, device=x.device))


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
class WeightOfAnEmbedding(nn.Module):
    def __init__(self, max_len, d):
        super().__init__()
        self.inner = nn.ModuleDict({"places": nn.Embedding(max_len, d)})

    def forward(self, x):
        table = self.inner["places"].weight
        if x.shape[-2] > table.shape[0]:
            raise ValueError("past the table")
        return x.add(table.narrow(0, 0, x.shape[-2]))


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


@right("LearnedPositions")
class LinearWithoutInput(nn.Module):
    def __init__(self, max_len, d):
        super().__init__()
        self.rows = nn.Linear(d, max_len, bias=False)

    def forward(self, x):
        if x.shape[-2] > self.rows.out_features:
            raise ValueError("past the table")
        return x + self.rows.weight[: x.shape[-2]]


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


@wrong("rotary", "pairs-and-halves-mixed")
def pairs_with_angles_in_halves(x, positions, base=10000.0):
    angles = angles_of(x, positions, base)
    emb = torch.cat((angles, angles), dim=-1)
    return x * emb.cos() + rotate_pairs(x) * emb.sin()


@wrong("rotary", "pairs-and-halves-mixed")
def halves_with_angles_in_pairs(x, positions, base=10000.0):
    emb = angles_of(x, positions, base).repeat_interleave(2, dim=-1)
    return x * emb.cos() + rotate_half(x) * emb.sin()


@wrong("rotary", "turned-otherwise")
def clockwise(x, positions, base=10000.0):
    return rotated(x, -angles_of(x, positions, base))


@wrong("rotary", "turned-otherwise")
def two_pluses(x, positions, base=10000.0):
    angles = angles_of(x, positions, base)
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return interleaved(a * cos + b * sin, a * sin + b * cos)


@wrong("rotary", "turned-otherwise")
def no_minus_in_the_swap(x, positions, base=10000.0):
    emb = angles_of(x, positions, base).repeat_interleave(2, dim=-1)
    return x * emb.cos() + interleaved(x[..., 1::2], x[..., 0::2]) * emb.sin()


@wrong("rotary", "turned-otherwise")
def minus_in_the_second_line(x, positions, base=10000.0):
    angles = angles_of(x, positions, base)
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return interleaved(a * cos + b * sin, a * sin - b * cos)


@wrong("rotary", "turned-otherwise")
def sines_for_cosines(x, positions, base=10000.0):
    angles = angles_of(x, positions, base)
    sin, cos = angles.cos(), angles.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return interleaved(a * cos - b * sin, a * sin + b * cos)


@wrong("rotary", "first-overwritten")
def one_after_the_other(x, positions, base=10000.0):
    angles = angles_of(x, positions, base)
    cos, sin = angles.cos(), angles.sin()
    out = x.clone()
    out[..., 0::2] = out[..., 0::2] * cos - out[..., 1::2] * sin
    out[..., 1::2] = out[..., 0::2].clone() * sin + out[..., 1::2] * cos
    return out


@wrong("rotary", "exponent-off")
def half_the_exponent(x, positions, base=10000.0):
    angles = positions.to(x.dtype)[:, None] * frequencies(x, base, 1)
    return rotated(x, angles)


@wrong("rotary", "exponent-off")
def twice_the_exponent(x, positions, base=10000.0):
    angles = positions.to(x.dtype)[:, None] * frequencies(x, base, 4)
    return rotated(x, angles)


@wrong("rotary", "exponent-inverted")
def multiplies_by_the_power(x, positions, base=10000.0):
    angles = positions.to(x.dtype)[:, None] / frequencies(x, base)
    return rotated(x, angles)


@wrong("rotary", "one-frequency")
def the_same_for_all_pairs(x, positions, base=10000.0):
    even(x.shape[-1])
    return rotated(x, positions.to(x.dtype)[:, None])


@wrong("rotary", "exponent-off")
def not_divided_by_the_width(x, positions, base=10000.0):
    even(x.shape[-1])
    speeds = base ** -torch.arange(0, x.shape[-1], 2, dtype=x.dtype)
    return rotated(x, positions.to(x.dtype)[:, None] * speeds)


@wrong("rotary", "one-frequency")
def multiplied_by_the_base(x, positions, base=10000.0):
    even(x.shape[-1])
    return rotated(x, positions.to(x.dtype)[:, None] * base)


@wrong("rotary", "turned-otherwise")
def first_line_cut(x, positions, base=10000.0):
    angles = angles_of(x, positions, base)
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return interleaved(a * cos, a * sin + b * cos)


@wrong("rotary", "turned-otherwise")
def multiplied_by_cosines(x, positions, base=10000.0):
    return x * angles_of(x, positions, base).cos().repeat_interleave(2, -1)


@wrong("rotary", "base-ignored")
def ten_thousand(x, positions, base=10000.0):
    return rotated(x, angles_of(x, positions, 10000.0))


@wrong("rotary", "positions-from-one")
def from_one(x, positions, base=10000.0):
    return rotated(x, angles_of(x, positions + 1, base))


@wrong("rotary", "other-positions")
def counts_by_itself(x, positions, base=10000.0):
    if len(positions) != x.shape[-2]:
        raise ValueError("one position a token")
    return rotated(x, angles_of(x, torch.arange(x.shape[-2]), base))


@wrong("rotary", "other-positions")
def relative_to_the_first(x, positions, base=10000.0):
    return rotated(x, angles_of(x, positions - positions[0], base))


@wrong("rotary", "other-positions")
def whole_positions(x, positions, base=10000.0):
    return rotated(x, angles_of(x, positions.int(), base))


@wrong("rotary", "other-positions")
def looks_up_a_table(x, positions, base=10000.0):
    places = positions.long()
    table = angles_of(x, torch.arange(int(places.max()) + 1), base)
    return rotated(x, table[places])


@wrong("rotary", "other-positions")
def distance_from_the_start(x, positions, base=10000.0):
    return rotated(x, angles_of(x, positions.abs(), base))


@wrong("rotary", "angles-in-float32")
def float_positions(x, positions, base=10000.0):
    return rotated(x, angles_of(x, positions.float(), base))


@wrong("rotary", "not-in-radians")
def degrees(x, positions, base=10000.0):
    return rotated(x, torch.deg2rad(angles_of(x, positions, base)))


@wrong("rotary", "not-in-radians")
def turns(x, positions, base=10000.0):
    return rotated(x, 2 * torch.pi * angles_of(x, positions, base))


@wrong("rotary", "added-not-turned")
def adds_an_encoding(x, positions, base=10000.0):
    angles = angles_of(x, positions, base)
    return x + interleaved(angles.sin(), angles.cos())


@wrong("rotary", "angles-in-float32")
def default_arange(x, positions, base=10000.0):
    even(x.shape[-1])
    speeds = base ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    angles = positions.float()[:, None] * speeds
    return rotated(x, angles).to(x.dtype)


@wrong("rotary", "angles-in-float32")
def float_everywhere(x, positions, base=10000.0):
    even(x.shape[-1])
    inv_freq = 1.0 / (base ** (torch.arange(0, x.shape[-1], 2).float() / x.shape[-1]))
    angles = torch.outer(positions.float(), inv_freq)
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    turn = torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(pairs * turn).flatten(-2).to(x.dtype)


@wrong("rotary", "wrong-dtype")
def positions_decide(x, positions, base=10000.0):
    return rotated(x, positions[:, None] * frequencies(x, base))


@wrong("rotary", "not-raised")
def stumbles_over_odd_widths(x, positions, base=10000.0):
    d = x.shape[-1]
    angles = positions.to(x.dtype)[:, None] * base ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return interleaved(a * cos - b * sin, a * sin + b * cos)


@wrong("rotary", "raised")
def refuses_what_is_below_0(x, positions, base=10000.0):
    if (positions < 0).any():
        raise ValueError("positions begin at 0")
    return rotated(x, angles_of(x, positions, base))


@wrong("rotary", "raised")
def complex_pairs_of_a_view(x, positions, base=10000.0):
    angles = angles_of(x, positions, base)
    turn = torch.polar(torch.ones_like(angles), angles)
    pairs = torch.view_as_complex(x.view(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * turn).flatten(-2)


@wrong("rotary", "axis-by-its-size")
def heads_or_tokens(x, positions, base=10000.0):
    angles = angles_of(x, positions, base)
    if x.dim() == 4 and x.shape[1] == len(angles):
        angles = angles[:, None]
    return rotated(x, angles)


@wrong("rotary", "pairs-left-out")
def half_of_the_pairs(x, positions, base=10000.0):
    angles = angles_of(x, positions, base)
    angles[:, max(1, angles.shape[-1] // 2) :] = 0.0
    return rotated(x, angles)


@wrong("rotary", "raised")
def three_axes(x, positions, base=10000.0):
    _, _, _ = x.shape
    return rotated(x, angles_of(x, positions, base))


@wrong("rotary", "not-raised")
def as_many_as_there_are(x, positions, base=10000.0):
    out = x.clone()
    for n, angle in zip(range(x.shape[-2]), angles_of(x, positions, base), strict=False):
        out[..., n, :] = rotated(x[..., n, :], angle)
    return out


@wrong("rotary", "no-gradient")
def detached(x, positions, base=10000.0):
    return rotated(x.detach(), angles_of(x, positions, base))


@wrong("rotary", "mutated-input")
def in_place_pairs(x, positions, base=10000.0):
    out = rotated(x, angles_of(x, positions, base))
    x.data.copy_(out)
    return out


@wrong("rotary", "wrong-shape")
def pairs_left_apart(x, positions, base=10000.0):
    return rotated(x, angles_of(x, positions, base)).unflatten(-1, (-1, 2))


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
def assigned_into_an_empty_one(x, positions, base=10000.0):
    angles = angles_of(x, positions, base)
    cos, sin = angles.cos(), angles.sin()
    out = torch.empty_like(x)
    out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    out[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
    return out


@right("rotary")
def by_matrices(x, positions, base=10000.0):
    angles = angles_of(x, positions, base)
    cos, sin = angles.cos(), angles.sin()
    turn = torch.stack([torch.stack([cos, -sin], -1), torch.stack([sin, cos], -1)], -2)
    pairs = x.unflatten(-1, (-1, 2))
    return torch.einsum("nirc,...nic->...nir", turn, pairs).flatten(-2)


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


@right("rotary")
def halves_of_a_reordered_tensor(x, positions, base=10000.0):
    angles = angles_of(x, positions, base)
    emb = torch.cat([angles, angles], -1)
    order = torch.cat([torch.arange(0, x.shape[-1], 2), torch.arange(1, x.shape[-1], 2)])
    y = x[..., order]
    return (y * emb.cos() + rotate_half(y) * emb.sin())[..., order.argsort()]


@right("rotary")
def angles_in_float64(x, positions, base=10000.0):
    return rotated(x.double(), angles_of(x.double(), positions, base)).to(x.dtype)
