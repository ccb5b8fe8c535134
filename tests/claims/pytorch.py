"""What lesson 05 says, and what would refute it."""

from __future__ import annotations

import copy
import itertools
import warnings
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from attnlab.lessons.pytorch.watch import kept
from tests.claims import Lesson, taught

lesson = Lesson("05-pytorch")
here = taught("05-pytorch")
attention = here.scaled_dot_product_attention

N, D, D_K, D_V = 5, 6, 4, 3


def qkv(seed: int, *leading: int) -> list[Tensor]:
    torch.manual_seed(seed)
    return [
        torch.randn(*leading, N, width, dtype=torch.float64, requires_grad=True)
        for width in (D_K, D_K, D_V)
    ]


class Largest(TorchDispatchMode):
    """Keeps the size of the largest tensor that any operator gives back."""

    numbers = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        given = func(*args, **(kwargs or {}))
        if isinstance(given, Tensor):
            self.numbers = max(self.numbers, given.numel())
        return given


@lesson.says(
    "`@` walks leading axes in step, so the lines for one sentence serve a batch, and nothing crosses from one sentence to another."
)
def a_sentence_in_a_batch_is_as_if_alone(seed: int) -> None:
    batch = qkv(seed, 3)
    out, _ = attention(*batch)
    for b in range(3):
        alone, _ = attention(*(part[b] for part in batch))
        assert torch.allclose(out[b], alone, rtol=0, atol=1e-12)
    for slopes in torch.autograd.grad(out[1].sum(), batch):
        assert (slopes[[0, 2]] == 0).all()
        assert slopes[1].abs().sum() > 0


@lesson.says(
    "So slopes of one reader reach every book of its sentence that has a weight above 0, and no other sentence."
)
def slopes_of_one_reader_reach_the_books_that_it_weighs(seed: int) -> None:
    for louder in (1, 1000):  # then nearly all weights are exactly 0
        q, k, v = qkv(seed, 2)
        out, weights = attention(louder * q, k, v)
        slopes = torch.autograd.grad(out[0, 2].sum(), (k, v))
        assert torch.equal((slopes[1][0] != 0).all(dim=-1), weights[0, 2] > 0)
        assert (weights[0, 2] > 0).all() == (louder == 1)
        assert (slopes[0][0] != 0).any() or louder > 1
        for each in slopes:
            assert (each[1] == 0).all()


@lesson.says(
    "Autograd records operations and multiplies their slopes from the end to the beginning, adds up where a tensor is used twice, and never writes softmax's Jacobian.",
    "M numbers go in and M come out, and the Jacobian's M² entries never exist.",
    "In self-attention x goes into queries, keys and values, and its slope is the sum of what comes back from the three.",
)
def slopes_of_uses_add_up_and_no_jacobian_is_written(seed: int) -> None:
    torch.manual_seed(seed)
    model = here.SelfAttention(D, D_K, D_V).double()
    uses = [torch.randn(2, N, D, dtype=torch.float64).requires_grad_()]
    uses += [uses[0].detach().clone().requires_grad_() for _ in range(2)]

    def answer(for_q: Tensor, for_k: Tensor, for_v: Tensor) -> Tensor:
        out, _ = attention(model.W_q(for_q), model.W_k(for_k), model.W_v(for_v))
        return (out**2).sum()

    [together] = torch.autograd.grad(answer(uses[0], uses[0], uses[0]), uses[:1])
    apart = torch.autograd.grad(answer(*uses), uses)
    assert torch.allclose(together, sum(apart), rtol=0, atol=1e-12)  # type: ignore[arg-type]
    assert all(not torch.allclose(together, part, atol=1e-3) for part in apart)

    scores = torch.randn(2000, requires_grad=True)
    with Largest() as largest:
        scores.softmax(dim=-1).square().sum().backward()
    assert largest.numbers <= 2000


@lesson.says(
    "The way back needs softmax's result alone, so autograd keeps that.",
    "The rest of the way back is products: two matrix products forward, four back, and your line between them.",
)
def softmaxs_way_back_needs_its_result_alone(seed: int) -> None:
    q, k, v = qkv(seed)
    pull = torch.randn(N, D_V, dtype=torch.float64)
    scores = (q @ k.mT / D_K**0.5).detach()
    rows = [
        (scores + shift).requires_grad_() for shift in (0.0, 100.0)
    ]  # other scores, same result
    weights = [row.softmax(-1) for row in rows]
    for row, result in zip(rows, weights, strict=True):
        due = torch.autograd.grad(result, row, pull @ v.mT, retain_graph=True)[0]
        assert torch.allclose(
            here.softmax_backward(weights[0], pull @ v.mT), due, rtol=0, atol=1e-12
        )
        kept_by_it = {name for name in dir(result.grad_fn) if name.startswith("_saved_")}
        assert "_saved_result" in kept_by_it
        assert "_saved_self" not in kept_by_it

    with FlopCounterMode(display=False) as forward:
        out, _ = attention(q, k, q)
    with FlopCounterMode(display=False) as back:
        out.backward(torch.ones_like(out))
    assert back.get_total_flops() == 2 * forward.get_total_flops() == 4 * 2 * N * N * D_K


@lesson.says(
    "`.detach()` cuts the record in silence.",
    "What comes from `x.detach()`, `x.item()`, `x.tolist()`, or from anything under `torch.no_grad()`, remembers nothing, and PyTorch does not warn you.",
    "No error, and the loss can go down all the same, since W_v learns. W_q and W_k never move: no slope tells this module *whom* to listen to.",
)
def with_weights_detached_only_values_learn(seed: int) -> None:
    for kind in (torch.optim.SGD, torch.optim.AdamW):  # which makes idle numbers smaller
        _train_without_slopes(kind, seed)


def _train_without_slopes(kind: Callable[..., torch.optim.Optimizer], seed: int) -> None:
    torch.manual_seed(seed)
    model = here.SelfAttention(D, D_K, D_V).double()
    x, wanted = torch.randn(2, 4, N, D).double(), torch.randn(4, N, D_V).double()
    before = copy.deepcopy(model.state_dict())
    optimizer = kind(model.parameters(), lr=0.3)
    losses = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept_past = model(x[0])[0].sum()
        assert kept_past.requires_grad
        assert not kept_past.detach().requires_grad
        assert isinstance(kept_past.item(), float)
        assert isinstance(kept_past.tolist(), float)
        with torch.no_grad():
            assert not (2 * kept_past).requires_grad
        for _ in range(50):
            _, weights = model(x[0])
            loss = ((weights.detach() @ model.W_v(x[0]) - wanted) ** 2).mean()
            losses.append(loss.item())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    moved = {name: not torch.equal(before[name], now) for name, now in model.state_dict().items()}
    assert moved == {"W_q.weight": False, "W_k.weight": False, "W_v.weight": True}
    assert losses[-1] < losses[0]


@lesson.says(
    "A bool mask hides (True = attend), a float mask is added to the scaled scores; a row with no key left is 0, and needs care in its slopes as well.",
    "Putting 0 there afterwards mends the answer, but not the slopes",
)
def zeros_put_after_softmax_leave_nan_in_the_slopes(seed: int) -> None:
    torch.manual_seed(seed)
    mask = torch.ones(N, N, dtype=torch.bool)  # True = attend
    mask[2], mask[0, 1] = False, False
    as_float = torch.zeros(N, N, dtype=torch.float64).masked_fill(~mask, -torch.inf)
    x = torch.randn(N, D, dtype=torch.float64)

    def careless(q: Tensor, k: Tensor, v: Tensor, hide: Tensor, zeros: Any) -> Tensor:
        scores = q @ k.mT / D_K**0.5
        scores = scores.masked_fill(~mask, -torch.inf) if hide is mask else scores + hide
        return zeros(scores.softmax(dim=-1)) @ v

    ways: list[Any] = [
        lambda weights: weights.masked_fill(~mask, 0.0),
        torch.nan_to_num,
        lambda weights: torch.where(weights.isnan(), 0.0, weights),
    ]
    for kind, zeros in itertools.product((mask, as_float), ways):
        model = here.SelfAttention(D, D_K, D_V).double()
        q, k, v = model.W_q(x), model.W_k(x), model.W_v(x)
        out, weights = attention(q, k, v, kind)
        assert (out[2] == 0).all()
        assert (weights[~mask] == 0).all()
        built_in = F.scaled_dot_product_attention(q, k, v, attn_mask=kind)
        assert (built_in[2] == 0).all()
        assert torch.allclose(careless(q, k, v, kind, zeros), out, rtol=0, atol=1e-12)

        out.sum().backward()
        assert all(parameter.grad.isfinite().all() for parameter in model.parameters())
        adam = torch.optim.Adam(model.parameters())
        model.zero_grad()
        careless(model.W_q(x), model.W_k(x), model.W_v(x), kind, zeros).sum().backward()
        adam.step()
        spoiled = [linear.weight.isnan().all().item() for linear in (model.W_q, model.W_k)]
        assert spoiled == [kind is as_float] * 2


@lesson.says(
    "It keeps the weights for the way back; the built-in's fused programs never hold them all.",
    "Its fused programs never hold all of them at once",
    "With four axes and values as wide as keys, the built-in runs a **fused** program, which goes through the keys block by block.",
)
def the_fused_program_never_allocates_a_table_of_weights() -> None:
    """Values of another width, which the fused program does not take, bring the table back."""
    n = 1024
    q, k, v = torch.randn(3, 1, 1, n, 16)
    wide = torch.randn(1, 1, n, 3)

    def largest_allocation(function: Callable[..., Any], *args: Tensor) -> int:
        with (
            torch.no_grad(),
            profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen,
        ):
            function(*args)
        return max(event.self_cpu_memory_usage for event in seen.events())

    table = n * n * q.element_size()
    assert largest_allocation(F.scaled_dot_product_attention, q, k, v) < table / 4
    assert largest_allocation(F.scaled_dot_product_attention, q, k, wide) >= table
    assert largest_allocation(attention, q, k, v) >= table


@lesson.says("Yours agrees with PyTorch's built-in in values and in slopes.")
def values_and_slopes_are_the_built_ins(seed: int) -> None:
    for leading in ((), (2,), (2, 3)):
        q, k, v = qkv(seed, *leading)
        for mask in (None, torch.rand(N, N) < 0.7, torch.randn(N, N, dtype=torch.float64)):
            ours, theirs = (
                attention(q, k, v, mask)[0],
                F.scaled_dot_product_attention(q, k, v, mask),
            )
            pull = torch.randn_like(ours)
            pairs = zip(
                (ours, *torch.autograd.grad(ours, (q, k, v), pull)),
                (theirs, *torch.autograd.grad(theirs, (q, k, v), pull)),
                strict=True,
            )
            assert all(torch.allclose(a, b, rtol=0, atol=1e-12) for a, b in pairs)


@lesson.says(
    "Your module owns three linears and nothing else. The table that mixes tokens is a result in attention, and a parameter in a linear layer across tokens.",
    "The first layer has one matrix, fixed before any sentence was read. Attention made a new one for each here, nudged or not.",
    "With scores in the thousands it is nearly one-hot, and a nudge often leaves it as it was.",
    "Its ReLUs switch hidden units on and off, which chooses among rows and columns of the same two matrices: 2⁵ = 32 ways at most. (With 20 hidden units the 1,000 sentences get some 650.)",
    "But a nudge that switches no unit leaves it as it was.",
)
def relu_chooses_among_matrices_and_attention_makes_one_for_each(seed: int) -> None:
    """With other starts, biases and more units; each MLP's matrices are put together by hand."""
    torch.manual_seed(seed)
    jacobian = torch.autograd.functional.jacobian
    model = here.SelfAttention(D, D_K, D_V).double()
    assert sorted(dict(model.named_parameters())) == ["W_k.weight", "W_q.weight", "W_v.weight"]
    texts = torch.randn(1000, N, D, dtype=torch.float64)
    read, nudged = texts[:, :, 0], texts[:, :, 0] + 1e-6

    def different(matrices: Tensor) -> int:
        return len(matrices.round(decimals=12).unique(dim=0))

    tables = [model(each)[1].detach() for each in (texts, texts + 1e-6)]
    assert different(tables[0]) == 1000
    assert ((tables[0] - tables[1]).abs().amax(dim=(1, 2)) > 1e-12).all()
    with torch.no_grad():
        model.W_q.weight *= 10_000
        tables = [model(each)[1] for each in (texts, texts + 1e-6)]
    same = (tables[0] - tables[1]).abs().amax(dim=(1, 2)) < 1e-12
    assert same.double().mean() > 0.5
    assert tables[0].amax(dim=-1).mean() > 0.99
    for units, bias, xavier in itertools.product((N, 20), (False, True), (False, True)):
        first, last = nn.Linear(N, units, bias=bias).double(), nn.Linear(units, N).double()
        for layer in (first, last) if xavier else ():
            nn.init.xavier_uniform_(layer.weight)
        on, later = ((first(each) > 0).double() for each in (read, nudged))
        chosen = last.weight @ torch.diag_embed(on) @ first.weight
        mlp = nn.Sequential(first, nn.ReLU(), last)
        asked = torch.stack([jacobian(mlp, text) for text in read[:5]])
        assert torch.allclose(asked, chosen[:5], rtol=0, atol=1e-12)
        low, high = (15, 32) if units == N else (400, 800)
        assert low <= different(chosen) <= high, (units, bias, xavier, different(chosen))
        assert (on == later).all(dim=1).double().mean() > 0.99
        straight = torch.stack([jacobian(first, text) for text in read[:5]])
        assert torch.equal(straight, first.weight.expand(5, -1, -1))


@lesson.says(
    "−∞ hides the key. Of other numbers only the differences count: if a key gets log 3 more than the others, its share triples beside theirs.",
    "(As long as rounding does not swallow the scores: in float32 a mask of −10⁹ for all makes all weights equal.)",
)
def only_differences_in_a_float_mask_count(seed: int) -> None:
    q, k, v = qkv(seed)
    mask = torch.randn(N, N, dtype=torch.float64)
    mask[0, 1] = -torch.inf
    _, weights = attention(q, k, v, mask)
    assert weights[0, 1] == 0
    for same in (-100.0, -5.0, 5.0, torch.randn(N, 1, dtype=torch.float64)):
        assert torch.allclose(attention(q, k, v, mask + same)[1], weights, rtol=0, atol=1e-12)
    far = torch.full((N, N), -1e9)
    swallowed = attention(q.float(), k.float(), v.float(), far)[1]
    assert torch.allclose(swallowed, torch.full((N, N), 1 / N))
    mask[1:, 2] += torch.tensor(3.0, dtype=torch.float64).log()
    louder = attention(q, k, v, mask)[1][1:]
    ratio = (louder[:, 2] / louder[:, 0]) / (weights[1:, 2] / weights[1:, 0])
    assert torch.allclose(ratio, torch.full_like(ratio, 3.0))


@lesson.says(
    "Your function keeps the (N, N) weights of each sentence, so the last term takes over: at the end of the table, twice the tokens are nearly four times the numbers.",
    "(If yours fills rows even without a mask, it keeps another copy of the weights.)",
    "(That is what the 1 in the cell is for. With your module's three axes it keeps as much as yours; lesson 13 says why.)",
    "It keeps q, k, v, the output and one number a row, from which it works out the weights again on the way back: twice the tokens, twice the numbers.",
)
def what_is_kept_for_the_way_back() -> None:
    def filled(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scores = q @ k.mT / q.shape[-1] ** 0.5
        empty = (scores == -torch.inf).all(dim=-1, keepdim=True)
        return scores.masked_fill(empty, 0).softmax(dim=-1).masked_fill(empty, 0) @ v

    def by_hand(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        powers = (q @ k.mT / q.shape[-1] ** 0.5).exp()
        return powers / powers.sum(dim=-1, keepdim=True) @ v

    counts = {}
    for n in (256, 512):
        parts = [torch.randn(2, 1, n, 16, requires_grad=True) for _ in range(3)]
        ways = attention, filled, F.scaled_dot_product_attention, by_hand
        counts[n] = [kept(way, *parts) for way in ways]
        assert counts[n][2] == 2 * n * (3 * 16 + 16 + 1)
        assert counts[n][3] > 1.3 * counts[n][0]
    for shape in ((2, 512, 16), (2, 1, 1, 512, 16)):  # what the fused program does not take
        parts = [torch.randn(shape, requires_grad=True) for _ in range(3)]
        assert kept(F.scaled_dot_product_attention, *parts) == counts[512][0]
    growth = [late / early for early, late in zip(counts[256], counts[512], strict=True)]
    assert 3.5 < growth[0] < 4
    assert growth[2] == 2
    assert 1.7 < counts[512][1] / counts[512][0] < 2


@lesson.says(
    "Called like this, `gradcheck` calls your function twice for each number: fine for a test, hopeless for training. Autograd gets all the slopes in one walk back, whose cost is a small multiple of one call.",
    "Such small nudges drown in float32's rounding, so its inputs are float64.",
)
def nudging_calls_twice_a_number_and_walking_back_costs_two_calls(seed: int) -> None:
    parts = qkv(seed, 2)
    calls = 0

    def counted(*args: Tensor) -> Any:
        nonlocal calls
        calls += 1
        return attention(*args)

    numbers = sum(part.numel() for part in parts)
    assert torch.autograd.gradcheck(counted, parts)
    assert 2 * numbers <= calls < 2.1 * numbers
    short = [part.detach().float().requires_grad_() for part in parts]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not torch.autograd.gradcheck(attention, short, raise_exception=False)

    with FlopCounterMode(display=False) as there:
        out, _ = attention(*parts)
    with FlopCounterMode(display=False) as back:
        out.sum().backward()
    assert back.get_total_flops() == 2 * there.get_total_flops()
