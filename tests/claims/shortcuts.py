"""What lesson 12 says, and what would refute it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from attnlab.lessons.shortcuts import tasks
from tests.claims import Lesson, taught

lesson = Lesson("12-shortcuts")
here = taught("12-shortcuts")


def qkv(seed: int, n: int = 60, width: int = 16) -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(seed)
    q, k, v = torch.randn(3, n, width, dtype=torch.float64)
    return q, k, v


def flops_of(function: Callable[..., Any], *args: Any) -> int:
    with FlopCounterMode(display=False) as counter:
        function(*args)
    flops: int = counter.get_total_flops()
    return flops


def trained(
    task: tasks.Task, way: Callable[..., Tensor], seed: int, **sizes: int
) -> tuple[Any, float]:
    """A reader of the lesson's, and its share of right answers."""
    torch.manual_seed(seed)
    reader = here.Reader(task, way, **sizes)
    return reader, tasks.learn(reader, task, seed)


# A sliding window ---------------------------------------------------------------------------------


@lesson.says(
    "A window is as good as full attention inside its reach, and guesses beyond it.",
    "With near marks and short shelves you lose nothing.",
    "At 16 tokens back it guesses.",
    "Of 32 books it finds the seven that it can see, nine in ten of them by now and all after twice the steps.",
    "The rest it guesses, as the count says.",
    "Open the window to 33, and the same layer finds them all: it was the reach.",
    "Full attention learns all six.",
    long=True,
)
def a_window_finds_what_it_sees_and_guesses_the_rest(seed: int) -> None:
    window = here.windowed(8)
    for task in here.TASKS:
        assert trained(task, here.full, seed)[1] > 0.98
    near, far, two, _, many, _ = here.TASKS
    for task in (near, two, tasks.mark(7)):
        assert trained(task, window, seed)[1] > 0.98
    for task in (far, tasks.mark(8)):
        assert abs(trained(task, window, seed)[1] - 1 / 8) < 0.05
    books, letters = many.draw(4000, torch.Generator().manual_seed(seed))
    at = (books[:, :-1, 0] == books[:, -1:, 0]).long().argmax(-1)
    for steps, least, most in ((many.steps, 0.85, 0.95), (2 * many.steps, 0.97, 1)):
        reader, share = trained(replace(many, steps=steps), window, seed)
        assert abs(share - (7 / 32 + 25 / 32 / 8)) < 0.05
        with torch.no_grad():
            found = (reader(books).argmax(-1) == letters)[:, 0]
        assert least <= found[at >= 25].float().mean() <= most
        assert abs(found[at < 25].float().mean() - 1 / 8) < 0.05
    assert trained(many, here.windowed(33), seed)[1] > 0.98


@lesson.says(
    "A mask alone saves nothing: `attend` computes every score and throws most away.",
    "That is N · w pairs at most.",
    "A cache need keep no more than w keys and values.",
)
def a_mask_saves_no_flops_and_leaves_at_most_n_times_w_pairs(seed: int) -> None:
    q, k, v = qkv(seed)
    window = here.sliding_window_mask(60, 8)
    plain = flops_of(here.attend, q, k, v)
    assert flops_of(here.attend, q, k, v, window) == plain
    assert window.sum() == 60 * 8 - sum(range(8))
    wanted = here.attend(q, k, v, window)[0][-1:]
    assert torch.allclose(here.attend(q[-1:], k[-8:], v[-8:])[0], wanted, rtol=0, atol=1e-12)
    assert not torch.allclose(here.attend(q[-1:], k[-7:], v[-7:])[0], wanted, rtol=0, atol=1e-12)


@lesson.says(
    "With a window, *whales* no longer sees *Find* in one look.",
    "Layers hand things on, w − 1 tokens each;",
    "With a global token two layers are enough",
)
def a_word_reaches_w_minus_1_further_with_each_layer(seed: int) -> None:
    """The first word is changed; which rows notice, layer by layer."""
    q, _, _ = qkv(seed, n=20)
    changed = q.clone()
    changed[0] += 1
    window = here.sliding_window_mask(20, 4)
    for layer in range(1, 5):
        q, changed = (here.attend(x, x, x, window)[0] for x in (q, changed))
        notice = ((q - changed).abs().amax(dim=-1) > 0).nonzero().flatten().tolist()
        assert notice == list(range(3 * layer + 1))

    one = (window | window.T).double()
    assert not (one @ one > 0).all()
    one[0] = one[:, 0] = 1  # the first token is global
    assert (one @ one > 0).all()


# Linear attention ---------------------------------------------------------------------------------


@lesson.says(
    "Softmax gives the book that is asked for 0.44, about twenty times its even share; linear attention gives it 0.03, one and a half times that share.",
)
def softmax_gives_the_book_its_weight_and_linear_attention_does_not(seed: int) -> None:
    """All keys are moved away from each other: softmax gains by it, linear attention hardly."""
    torch.manual_seed(seed)
    keys = torch.randn(50, 16, dtype=torch.float64)
    pages = torch.eye(50, dtype=torch.float64)
    shares = {}
    for size in (1.0, 3.0):
        k = size * keys
        shares[size] = [
            out.diagonal().mean()
            for out in (here.attend(k, k, pages)[0], _open_linear(k, k, pages))
        ]
    assert 15 / 50 < shares[1.0][0] < 25 / 50
    assert 1.2 / 50 < shares[1.0][1] < 1.6 / 50
    assert shares[3.0][0] > 0.9
    assert shares[3.0][1] < 4 / 50


def _open_linear(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The last row of the lesson's causal function sees all keys; so each query is put last."""
    rows = [
        here.linear_attention(torch.cat([k[:-1], q[i : i + 1]]), k, v)[-1] for i in range(len(q))
    ]
    return torch.stack(rows)


@lesson.says(
    "Linear attention keeps a state of fixed size: it finds a mark at any distance, and finds one book worse the more there are.",
    "It finds the mark as well as softmax does, near and far: a running sum does not fade with distance.",
    "Its line falls as the shelf grows: about 0.9 of 8 books, about 0.4 of 32.",
    long=True,
)
def linear_attention_finds_marks_and_loses_books(seed: int) -> None:
    near, far, *shelves, _ = here.TASKS
    for task in (near, far):
        assert trained(task, here.linear_attention, seed)[1] > 0.98
    two, eight, many = (trained(task, here.linear_attention, seed)[1] for task in shelves)
    assert two > 0.97
    assert 0.85 < eight < 0.96
    assert 0.33 < many < 0.47


@lesson.says(
    "a running sum does not fade with distance",
    "No score is ever formed, and the work is N · d_k · d_v.",
)
def a_running_sum_minds_no_order_and_its_work_grows_as_n(seed: int) -> None:
    q, k, v = qkv(seed)
    out = here.linear_attention(q, k, v)[-1]
    order = torch.randperm(59)
    mixed = (torch.cat([part[:-1][order], part[-1:]]) for part in (q, k, v))
    assert torch.allclose(here.linear_attention(*mixed)[-1], out, rtol=0, atol=1e-12)
    short, long = (flops_of(here.linear_attention, *qkv(seed, n)) for n in (60, 120))
    assert long == 2 * short


@lesson.says(
    "Linear attention is blurred, not blind: with 2,000 steps it finds about 0.8 of 32 books.",
    "Softmax needed 600 for all.",
    long=True,
)
def three_times_the_steps_bring_linear_attention_to_four_in_five(seed: int) -> None:
    longer = replace(tasks.books(32), steps=2000)
    assert 0.7 < trained(longer, here.linear_attention, seed)[1] < 0.88
    assert trained(tasks.books(32), here.full, seed)[1] > 0.98


# Random features ----------------------------------------------------------------------------------


def _error(seed: int, size: float, r: int) -> float:
    """Of random features, as a share of the output: the mean of three draws."""
    q, k, v = qkv(seed, n=50)
    q, k = size * q, size * k
    exact = here.attend(q, k, v)[0]
    found = []
    for _ in range(3):
        omega = torch.randn(16, r, dtype=torch.float64)
        pq, pk = ((x @ omega - (x**2).sum(-1, keepdim=True) / 2).exp() for x in (q / 2, k / 2))
        out = (pq @ (pk.mT @ v)) / (pq @ pk.sum(dim=0)[:, None])
        found.append(((out - exact).abs().mean() / exact.abs().mean()).item())
    return sum(found) / 3


@lesson.says(
    "Random features give the softmax back on average, and need about e^|x + y|² of them before they do so closely.",
    "With queries and keys half as large it is 7, and 256 features do better than 65,536 did before.",
)
def random_features_need_thousands_unless_queries_and_keys_are_small(seed: int) -> None:
    assert _error(seed, 1.0, 16) > 0.9
    assert _error(seed, 1.0, 4096) > 0.4
    last = _error(seed, 1.0, 65536)
    assert 0.15 < last < 0.5
    assert _error(seed, 0.5, 256) < last


@lesson.says(
    "One estimate of $e^{x \\cdot y}$ is right on average.",
    "Its variance, in units of what it estimates, squared, is (e^|x + y|² − 1)/r",
    "So you need about e^|x + y|² features before the error is no larger than the number that you estimate.",
    "For normal queries and keys |x + y|² is about 2√d: 8 here, and 16 for heads of 64, where e¹⁶ is 9 million.",
)
def the_variance_of_a_random_feature_is_what_the_lemma_says(seed: int) -> None:
    torch.manual_seed(seed)
    for length in (0.3, 0.8):
        x, y = torch.randn(2, 8, dtype=torch.float64)
        both = (x + y).norm()
        x, y = x * length / both, y * length / both
        omega = torch.randn(1_000_000, 8, dtype=torch.float64)
        products = (omega @ (x + y) - (x @ x + y @ y) / 2).exp() / (x @ y).exp()
        assert abs(products.mean() - 1) < 0.01
        assert abs(products.var() / torch.expm1(torch.tensor(length**2)) - 1) < 0.05
    for d in (16, 64):
        x, y = torch.randn(2, 4000, d) / d**0.25
        assert abs((x + y).square().sum(-1).mean() / (2 * d**0.5) - 1) < 0.05
    assert round(torch.tensor(16.0).exp().item() / 1e6) == 9


# Grouped queries ----------------------------------------------------------------------------------


@lesson.says(
    "Grouped queries make the cache H/G times smaller, and lose where one key has to answer many questions.",
    "Where there is *one* thing to find, one group is as good as four.",
    "It loses where four facts are asked for at once, and one key of 8 numbers has to answer to all: 0.66, and 0.94 with two groups.",
    "With keys four times as wide it is nearly right again: 0.98, and 0.82 to 0.98 by other seeds.",
    "So you give up room in keys and values, and see it only in a task that needs the room.",
    long=True,
)
def one_group_loses_with_four_questions_and_not_with_one(seed: int) -> None:
    way = here.grouped_query_attention
    *single, four = here.TASKS
    for task in single:
        assert trained(task, way, seed, groups=1)[1] > 0.98
    all_heads, two, one, wide = (
        trained(four, way, seed, groups=groups, width=width)[1]
        for groups, width in ((4, 8), (2, 8), (1, 8), (1, 32))
    )
    assert all_heads > 0.98
    assert 0.55 < one < 0.72
    assert one + 0.08 < two < all_heads
    assert one + 0.1 < wide

    for groups in (4, 2, 1):
        _, k, v = here.Reader(four, way, groups=groups).heads(
            four.draw(3, torch.Generator().manual_seed(seed))[0]
        )
        assert k.numel() + v.numel() == 2 * groups * 8 * 9 * 3


@lesson.says("(Trained three times as long, one group gets to 0.8.)", long=True)
def one_group_learns_longer_and_still_less(seed: int) -> None:
    longer = replace(here.TASKS[-1], steps=3000)
    share = trained(longer, here.grouped_query_attention, seed, groups=1)[1]
    assert 0.72 < share < 0.88


@lesson.says(
    "Test a shortcut on a task that needs what it leaves out.",
    "Heads 0 and 3 still read what they learned.",
    "That is enough to be mostly right. So accuracy alone does not show this mistake: compare the numbers.",
    long=True,
)
def heads_that_take_turns_are_mostly_right(seed: int) -> None:
    task = here.TASKS[4]
    reader, share = trained(task, here.grouped_query_attention, seed, groups=2)
    texts, _ = task.draw(50, torch.Generator().manual_seed(seed))
    q, k, v = (part.detach() for part in reader.heads(texts))
    same = here.grouped_query_attention(q, k, v) == here.of_a_friend(q, k, v)
    assert same.flatten(2).all(-1).all(0).tolist() == [True, False, False, True]
    reader.way = here.of_a_friend
    theirs = tasks.share_right(reader, task, torch.Generator().manual_seed(seed))
    assert share > 0.98
    assert 0.5 < theirs < share


@lesson.says(
    "The 7B model keeps half a mebibyte for every token.",
    "The 70B model keeps *less*: groups save a factor of 8.",
    "It equals `F.scaled_dot_product_attention(…, enable_gqa=True)`, which is not allowed here; `attend` is.",
)
def eight_of_64_heads_keep_an_eighth(seed: int) -> None:
    small, large, whole = (
        2 * layers * heads * 128 * 2 for layers, heads in ((32, 32), (80, 8), (80, 64))
    )
    assert small == 2**19
    assert large < small
    assert whole == 8 * large

    torch.manual_seed(seed)
    q, k, v = torch.randn(2, 6, 5, 4), torch.randn(2, 2, 7, 4), torch.randn(2, 2, 7, 3)
    for causal in (False, True):
        wanted = F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=True)
        assert torch.allclose(here.grouped_query_attention(q, k, v, causal), wanted, atol=1e-6)
