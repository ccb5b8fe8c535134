"""What lesson 06 says, and what would refute it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cache
from itertools import product
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnlab import small
from attnlab.figures.live import mask_painter
from attnlab.lessons.causal_mask import failures
from attnlab.lessons.causal_mask.learned import inside, verb_after
from attnlab.small import grammar, measure
from tests.claims import Lesson, taught

lesson = Lesson("06-causal-mask")
here = taught("06-causal-mask")

LONG = here.texts.LONG
EVERYTHING = torch.ones(LONG, LONG).bool()  # True = attend
READERS = {
    "none": here.texts.masked(EVERYTHING),
    "causal": here.texts.masked(EVERYTHING.tril()),
    "itself": here.texts.masked(torch.eye(LONG).bool()),
    "yours": here.attention,
    "ahead": failures.read_d,
    "axis": failures.read_e,
    "late": failures.read_b,
    "bare": failures.read_c,
}
CLAUSES = ("one sheep runs and", "two sheep run and")
CHOICES = (3, 7)  # places of `and`, behind which one or two is a free choice
FLOOR = 2 * math.log(2) / 11
TWENTY = range(1, 21)


@cache
def learned(
    draw: str, how: str, seed: int, steps: int = 200, rate: float = 0.02
) -> tuple[list[Tensor], list[float]]:
    """The lesson's model and its losses; by another rate than the lesson's if one is given."""
    adam = torch.optim.Adam
    with mock.patch.object(torch.optim, "Adam", lambda parameters, lr: adam(parameters, lr=rate)):
        read = READERS[how]
        parameters, history = here.texts.train(
            here.loss_on, getattr(here.texts, draw), read, seed, steps
        )
    return [each.detach() for each in parameters], history


def trained(draw: str, how: str, seed: int) -> tuple[list[Tensor], float]:
    """The model, and the mean of its last ten losses."""
    parameters, history = learned(draw, how, seed)
    return parameters, sum(history[-10:]) / 10


def scores(draw: str, how: str, seed: int, text: Tensor) -> Tensor:
    answer: Tensor = here.predict_next(text, trained(draw, how, seed)[0], READERS[how])
    return answer


def texts(draw: str, seed: int) -> Tensor:
    made: Tensor = getattr(here.texts, draw)(torch.Generator().manual_seed(seed + 50))
    return made


def drawn(seed: int, *sizes: tuple[int, ...]) -> list[Tensor]:
    rng = torch.Generator().manual_seed(seed)
    return [torch.randn(*size, generator=rng, dtype=torch.float64) for size in sizes]


def block(seed: int, d_k: int = 12, n: int = 6) -> list[Tensor]:
    """x, Wq, Wk and Wv as wide as the lesson's."""
    x, *matrices = drawn(seed, (1, n, 16), (16, d_k), (16, d_k), (16, 3))
    return [x, *(matrix / 4 for matrix in matrices)]


def same(a: Tensor, b: Tensor) -> bool:
    return torch.allclose(a, b, rtol=0, atol=1e-9)


def writes_well(how: str, seed: int) -> bool:
    model = trained("sheep", how, seed)[0], READERS[how]
    written = here.texts.written
    words = [written(here.predict_next, [start, 2], *model).split() for start in (0, 1)]
    parts = [" ".join(each[at : at + 4]) for each in words for at in (0, 4, 8)]
    return all(part in CLAUSES for part in parts)


def loss_when_cut(draw: str, how: str, seed: int) -> float:
    model = trained(draw, how, seed)[0], READERS[how]
    loss: float = here.texts.loss_when_cut(here.predict_next, texts(draw, seed), *model)
    return loss


def right(how: str, seed: int) -> float:
    """How often it is right about sheep that are cut off."""
    text = texts("sheep", seed)
    each = [scores("sheep", how, seed, text[:, :n])[:, -1] for n in range(1, LONG)]
    return (torch.stack(each, dim=1).argmax(-1) == text[:, 1:]).float().mean().item()


def plain_module(width: int) -> nn.MultiheadAttention:
    """One head whose projections change nothing, so that it computes what SDPA does."""
    module = nn.MultiheadAttention(width, 1, bias=False, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.eye(width).repeat(3, 1))
        module.out_proj.weight.copy_(torch.eye(width))
    return module


@lesson.says(
    "The causal mask hides them.",
    "If a model uses a leak, its loss can fall below what an honest model can reach.",
    "Without a mask both losses fall to 0",
    "On texts that a model has never seen, a loss that is **too good to be true** is the symptom of a leak.",
    "With the **causal mask** the loss on dice stays at 1.79, the best that an honest model can do.",
    "On sheep it falls to 0.13",
    "A word that reads *itself alone* has to guess between *runs* and *run* too: five guesses, and 5 log 2 / 11 = 0.315.",
    "Off by one is as bad as no mask at all, because the next word is the answer.",
    "Off by one: too good to be true.",
    "But that word is in the input, too, and a row that may read it can copy it.",
    long=True,
)
def losses_end_where_what_each_may_read_lets_them(seed: int) -> None:
    reads = ("none", "ahead", "causal", "yours", "itself")
    ends = {(text, how): trained(text, how, seed)[1] for text in ("dice", "sheep") for how in reads}
    for text, how in product(("dice", "sheep"), ("none", "ahead")):
        assert ends[text, how] < 0.01, (text, how, ends)
    for how in ("causal", "yours", "itself"):
        assert abs(ends["dice", how] - math.log(6)) < 0.01, ends
    for how in ("causal", "yours"):
        assert abs(ends["sheep", how] - FLOOR) < 0.01, ends
    assert abs(ends["sheep", "itself"] - 2.5 * FLOOR) < 0.02, ends


@lesson.says(
    "If a model uses a leak, its loss can fall below what an honest model can reach.",
    "But it leaks: how much of a book an early reader gets depends on who comes later.",
    "And it leaks, because that share depends on the future.",
)
def leaks_through_the_sums_of_shares_predict_dice(seed: int) -> None:
    for leak in ("axis", "late", "ahead"):
        assert trained("dice", leak, seed)[1] < math.log(6) - 0.1, leak
        assert loss_when_cut("dice", leak, seed) > 2 * math.log(6), leak
    assert abs(loss_when_cut("dice", "yours", seed) - math.log(6)) < 0.05


@lesson.says(
    "On dice three give themselves away: no honest loss ends clearly below 1.79.",
    "On sheep a model need not use its leak: with 13 of seeds 1 to 20, the two losses of the late mask differed by less than 0.05.",
    "And wrong axis and late mask wrote good sheep with 19 of these seeds, so good writing proves nothing.",
    "**Where the past does not help, compare the loss in training with the loss on texts that are cut off.**",
    "Your `looks_ahead` finds the leak either way.",
    long=True,
)
def leaks_write_well_and_their_cut_off_loss_gives_them_away() -> None:
    """Loose by what another processor's rounding may move."""
    for how in ("axis", "late"):
        assert sum(writes_well(how, seed) for seed in TWENTY) >= 17, how
    for seed in TWENTY:
        assert all(trained("dice", how, seed)[1] < 1.65 for how in ("axis", "late", "ahead"))
        assert all(loss_when_cut("dice", how, seed) > 3 for how in ("axis", "late", "ahead"))
        for how in ("yours", "bare"):
            assert abs(learned("dice", how, seed)[1][-1] - math.log(6)) < 0.01
            assert abs(loss_when_cut("dice", how, seed) - math.log(6)) < 0.05
    apart = [loss_when_cut("sheep", "late", s) - trained("sheep", "late", s)[1] for s in TWENTY]
    assert 10 <= sum(abs(each) < 0.05 for each in apart) <= 16, apart
    for how, seed in product(("axis", "late"), TWENTY):  # models that use the leak, or do not
        Wq, Wk, Wv, _ = trained("sheep", how, seed)[0]
        x = torch.randn(2, LONG, 18, dtype=torch.float64)
        matrices = [each.double() for each in (Wq, Wk, Wv)]
        assert here.looks_ahead(lambda x, m=matrices, h=how: READERS[h](x, *m)[0], x)


@lesson.says(
    "*No √d_k* leaks nothing, but at this learning rate, 0.02, most of its models get stuck: with 13 of the 20 seeds the loss on sheep never fell below 0.15. Yours did, with every one.",
    long=True,
)
def without_the_root_most_models_get_stuck_at_this_rate() -> None:
    """Loose by what another processor's rounding may move."""

    def arrived(
        how: str, steps: int = 200, rate: float = 0.02, seeds: Iterable[int] = TWENTY
    ) -> set[int]:
        return {seed for seed in seeds if min(learned("sheep", how, seed, steps, rate)[1]) < 0.15}

    assert arrived("yours", 45) == {*TWENTY}
    stuck = {*TWENTY} - arrived("bare")
    assert 10 <= len(stuck) <= 16, stuck
    assert len(arrived("bare", 1500, seeds=stuck)) <= 3
    assert 12 <= len(arrived("bare", 400, 0.005)) <= 18
    for seed in TWENTY:
        assert abs(trained("dice", "bare", seed)[1] - math.log(6)) < 0.01


@lesson.says(
    "A decoder is trained on all positions at once, with the answers in its input.",
    "**change the future, and nothing in the past may change.**",
)
def one_pass_asks_all_that_cut_off_texts_would_ask(seed: int) -> None:
    text = texts("sheep", seed)
    apart = {}
    for mask in ("none", "causal"):
        at_once = scores("sheep", mask, seed, text)
        each = [scores("sheep", mask, seed, text[:, :n])[:, -1] for n in range(1, LONG + 1)]
        apart[mask] = (at_once - torch.stack(each, dim=1)).abs().max().item()
    assert apart["causal"] < 1e-4, apart
    assert apart["none"] > 1, apart


@lesson.says(
    "If a word can look ahead, the model can copy the answer instead of predicting it, and has nothing to copy when it has to write.",
    "it learned to read what is not there when it writes.",
)
def predictions_follow_what_comes_later_and_are_worse_without_it(seed: int) -> None:
    """Exchange later words, then take them away."""
    text, other = texts("dice", seed), texts("dice", seed + 1)
    follows = {}
    for mask in ("none", "causal"):
        found = []
        for n in range(LONG - 1):
            mixed = torch.cat([text[:, : n + 1], other[:, n + 1 :]], dim=1)
            found.append(scores("dice", mask, seed, mixed)[:, n].argmax(-1) == other[:, n + 1])
        follows[mask] = torch.stack(found).float().mean().item()
    assert follows["none"] > 0.99, follows
    assert follows["causal"] < 0.3, follows

    text, other = texts("sheep", seed), texts("sheep", seed + 1)
    for n in CHOICES:
        mixed = torch.cat([text[:, : n + 1], other[:, n + 1 :]], dim=1)
        guess = scores("sheep", "none", seed, mixed)[:, n].argmax(-1)
        assert (guess == other[:, n + 1]).float().mean() > 0.95
    whole = scores("sheep", "none", seed, text)[:, :-1].argmax(-1) == text[:, 1:]
    assert whole.float().mean() > 0.99
    assert right("none", seed) < right("causal", seed) - 0.04


@lesson.says(
    "You would ship *causal*: its sheep agree with their number.",
    "*Itself alone* cannot tell one sheep from two.",
)
def causal_sheep_agree_and_lonely_ones_are_written_alike(seed: int) -> None:
    assert writes_well("causal", seed)
    alone, read = trained("sheep", "itself", seed)[0], READERS["itself"]
    first, second = (
        here.texts.written(here.predict_next, [start, 2], alone, read).split()[2:]
        for start in (0, 1)
    )
    assert first == second


@lesson.says(
    "(With this seed: without a mask, three of seeds 1 to 20 wrote well.)",
    long=True,
)
def twenty_seeds_are_as_far_apart_as_it_says() -> None:
    """Loose by what another processor's rounding may move."""
    assert 1 <= sum(writes_well("none", seed) for seed in TWENTY) <= 6
    cut = [right("none", seed) for seed in TWENTY]
    assert 0.48 < min(cut) < 0.62, cut
    assert 0.76 < max(cut) < 0.87, cut
    # Two free choices of eleven words, 64 texts: a guess is right by half, give or take.
    assert all(abs(right("causal", seed) - 10 / 11) < 0.04 for seed in TWENTY)


@lesson.says(
    "*Behind* would put 0.79 on *that*, which is not there yet.",
    "*behind* puts 0.95 on itself, on the **diagonal**, which a causal mask never closes: no row is empty.",
    "*See* puts 0.99 on *king*, past *dogs* and *boys*, and *dogs* 0.90.",
)
def the_small_model_is_causal_and_looks_for_the_subject() -> None:
    its_own = ["<s>", "the", "king", "behind", "the", "dogs", "that", "the", "boys", "see"]
    layers = small.weights(its_own)
    layer, head = small.head("subject")
    places = {word: at for at, word in enumerate(its_own)}
    reads = (("see", "king", 0.99), ("dogs", "king", 0.9), ("that", "that", 0.9))
    for word, read, share in (*reads, ("behind", "behind", 0.95)):
        assert round(float(layers[layer][head, places[word], places[read]]), 2) == share
    free = torch.from_numpy(verb_after(its_own)[0]).softmax(dim=-1)
    assert round(float(free[places["behind"], places["that"]]), 2) == 0.79
    model, left = small.load(), measure.without([(layer, head)])
    ids = torch.tensor([[grammar.NUMBER[word] for word in its_own]])
    with torch.no_grad():
        guesses = [model(ids, change)[0].softmax(dim=-1) for change in (None, left)]
    moved = (guesses[0] - guesses[1]).abs().sum(dim=-1) / 2  # what is taken from other words
    assert moved[places["that"]] < 0.01
    assert min(moved[places["see"]], moved[places["dogs"]]) > 0.3
    assert not any(np.triu(each, 1).any() for each in layers)
    assert all(np.allclose(each.sum(-1), 1, atol=1e-6) for each in layers)


@lesson.says(
    "in a window of three words: the model's next verb is wrong. Press *causal*, and it is right.",
    "Yes, *king* in the row of *see*: without it the verb becomes *run*, and without any other it stays.",
    "A *window* of three flips it too.",
    "*Causal and padding* closed three more cells, all in the rows of the two dummies.",
)
def one_cell_of_one_head_decides_the_verb() -> None:
    words = ["<s>", "the", "king", "behind", "the", "dogs", "that", "the", "boys", "see"]
    layer, head = small.head("subject")
    assert measure.named((layer, head)) == "layer 2, head 3"  # as the figure's title says
    _, found = here.attention(*inside(words))
    assert np.allclose(found[0], small.weights(words)[layer][head], atol=1e-6)
    _, effect = verb_after(words)

    def told(mask: np.ndarray) -> str:
        assert effect(mask).following[0] == ("no mask", "runs 1.00", True)
        return effect(mask).told

    causal, padded, window = (
        mask_painter.drawn(preset, 10, 8, 3)
        for preset in ("causal", "causal and padding", "window")
    )
    everything = np.ones((10, 10), dtype=bool)
    assert told(everything) == told(causal) == "“see” reads “king”: next, “runs”"
    assert told(window) == "“see” cannot read “king”: next, “run”"
    assert [effect(mask).missed for mask in (causal, window)] == [None, (9, 2)]
    assert effect(window).following[1] == ("this mask", "run 1.00", False)
    assert effect(causal).following[1][2]
    nothing = causal & (np.arange(10)[:, None] < 9)
    assert told(nothing).startswith("“see” reads nothing: next, “")
    for m, word in enumerate(words):
        one = causal.copy()
        one[-1, m] = False
        assert told(one).endswith("“run”") == (word == "king")
        assert told(one).startswith("“see” cannot read “king”") == (word == "king")
    assert [n for n, _ in np.argwhere(causal & ~padded)] == [8, 9, 9]


@lesson.says(
    "−∞ says that a book is not there yet: before softmax it gives a weight of exactly 0 and leaves the ratios of the others alone.",
    "it gets nothing, and takes nothing from the others.",
)
def what_is_hidden_might_as_well_not_be_there(seed: int) -> None:
    x, *matrices = block(seed)
    out, weights = here.attention(x, *matrices)
    for n in range(1, 7):
        gone, left = here.attention(x[:, :n], *matrices)
        assert same(gone, out[:, :n])
        assert same(left, weights[:, :n, :n])
    assert (weights.triu(1) == 0).all()
    q, k = x @ matrices[0], x @ matrices[1]
    bare = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)[0]
    assert all(same(weights[0, n, 0] / weights[0, n, n], bare[n, 0] / bare[n, n]) for n in range(6))


@lesson.says(
    "Whether it uses it or not, your `looks_ahead` finds it.",
    "Three of them look ahead.",
)
def looks_ahead_finds_the_three_and_no_other(seed: int) -> None:
    """And a faint leak, in one number of one row; a trillion times fainter it is rounding.

    A leak that normal numbers hardly ever set off is not found.
    """
    x, *matrices = block(seed)
    for earlier, size in product(range(5), (1e-6, 1e-18)):

        def faint(x: Tensor, n: int = earlier, size: float = size) -> Tensor:
            out: Tensor = here.attention(x, *matrices)[0].clone()
            out[-1, n, 0] += size * (x[-1, n + 1 :, 0].sum().sign() + x[-1, n + 1 :].sum())
            return out

        assert here.looks_ahead(faint, x) == (size == 1e-6), (earlier, size)
    ahead = (failures.read_b, failures.read_d, failures.read_e)
    for read in (here.attention, failures.right, *failures.SIX):

        def out(x: Tensor, read: Callable[..., Any] = read) -> Tensor:
            return read(x, *matrices)[0]

        assert here.looks_ahead(out, x) is (read in ahead), read.__name__
    assert here.looks_ahead(lambda x: F.scaled_dot_product_attention(x, x, x), x)
    assert not here.looks_ahead(lambda x: x + (x[:, -1:, :1] > 8), x)
    assert not here.looks_ahead(
        lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True), x
    )


def renormalised(*sentence: Tensor) -> tuple[Tensor, Tensor]:
    late = failures.read_b(*sentence)[1]
    weights = late / late.sum(-1, keepdim=True)
    return weights @ (sentence[0] @ sentence[3]), weights


@lesson.says(
    "After softmax a mask is wrong unless you renormalise, and in floats that can give NaN.",
    "all rows but the last add up to *less than 1*",
    "So on paper a late mask is wrong only **without renormalising**.",
    "In floats, if a blocked score leads by 104 (float32) or 746 (float64), the open keys get 0, and 0 / 0 is NaN.",
    "Late mask: rows below 1.",
)
def a_late_mask_loses_what_the_future_took(seed: int) -> None:
    sentence = block(seed)
    wanted = here.attention(*sentence)
    late = failures.read_b(*sentence)
    sums = late[1][0].sum(-1)
    assert (sums[:-1] < 0.9999).all()
    assert abs(sums[-1] - 1) < 1e-12
    assert not same(late[0], wanted[0])
    assert all(map(same, renormalised(*sentence), wanted))

    changed = [sentence[0].clone(), *sentence[1:]]
    changed[0][:, -1] *= -2
    assert not same(failures.read_b(*changed)[0][:, :-1], late[0][:, :-1])
    assert same(renormalised(*changed)[0][:, :-1], wanted[0][:, :-1])

    for kind, least in ((torch.float32, 104), (torch.float64, 746)):
        for lead in (least - 1, least, 2 * least):
            row = torch.tensor([0.0, lead], dtype=kind).softmax(-1)  # the second one is blocked
            kept = row * torch.tensor([1, 0])
            assert (kept / kept.sum()).isnan().any() == (lead >= least), (kind, lead)


@lesson.says(
    "Padding is blocked as a key, in the columns: (B, 1, 1, N).",
    "(With padding at the end, the triangle alone already keeps real words from dummies; with padding in front it does not.)",
)
def dummies_reach_real_words_unless_columns_are_blocked(seed: int) -> None:
    q, k, v, noise = drawn(seed, *[(3, 2, 6, 4)] * 4)
    lengths = torch.tensor([6, 3, 1])
    real = here.padding_mask(lengths, 6)  # True = real
    triangle = ~here.causal_mask(6)  # True = attend

    def reached(attend: Tensor, real: Tensor) -> bool:
        """Whether other dummies change a real word's output."""
        dummy = ~real[:, None, :, None]
        pair = [
            F.scaled_dot_product_attention(q, keys, values, attn_mask=attend)
            for keys, values in ((k, v), (k + noise * dummy, v + noise * dummy))
        ]
        return not same(*(each.masked_fill(dummy, 0.0) for each in pair))

    assert not reached(real[:, None, None, :], real)
    assert reached(real[:, None, :, None], real)  # blocked as queries, in the rows
    assert not reached(triangle, real)
    assert reached(triangle, real.flip(-1))
    assert not reached(triangle & real.flip(-1)[:, None, None, :], real.flip(-1))
    assert not reached(here.decoder_mask(lengths, 6), real)


@lesson.says(
    "True = attend in SDPA and True = blocked in `nn.MultiheadAttention`; `is_causal` aligns top-left.",
    "Nothing leaks, so no test for the future would notice; the model forgets instead.",
)
def the_two_traps(seed: int) -> None:
    from torch.nn.attention.bias import causal_lower_right  # loads PyTorch's compiler

    [t] = drawn(seed, (1, 5, 8))
    unit, upper = torch.eye(5).double()[None], here.causal_mask(5)

    def module(mask: Tensor) -> Any:
        return plain_module(8)(t, t, t, attn_mask=mask)[1].detach()

    def sdpa(mask: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(t, t, unit, attn_mask=mask)

    assert same(module(upper), sdpa(~upper))
    assert (sdpa(upper).tril() == 0).all()

    for newest in range(1, 5):
        q = t[:, -newest:]
        top_left = F.scaled_dot_product_attention(q, t, unit, is_causal=True)
        reads = torch.ones(newest, 5).bool()
        assert same(top_left, F.scaled_dot_product_attention(q, t, unit, attn_mask=reads.tril()))
        ends = reads.tril(5 - newest)
        assert (top_left[0][~ends] == 0).all()
        due = F.scaled_dot_product_attention(q, t, unit, attn_mask=ends)
        assert not same(top_left, due)
        assert same(due, F.scaled_dot_product_attention(t, t, unit, is_causal=True)[:, -newest:])
        lower = causal_lower_right(newest, 5)
        assert same(due, F.scaled_dot_product_attention(q, t, unit, attn_mask=lower))


@lesson.says(
    "SDPA and this course give them 0.",
    "Softmax alone gives NaN (lesson 05), and so does `nn.MultiheadAttention` (PyTorch 2.13, `need_weights=True`).",
    "*On* has no future here, so SDPA gives it a row of 0.",
)
def an_empty_row_is_0_and_nan_by_softmax_alone(seed: int) -> None:
    [x] = drawn(seed, (2, 3, 8))
    blocked = torch.tensor([[True, True, True], [False, False, True]])  # True = blocked
    out = F.scaled_dot_product_attention(x, x, x, attn_mask=~blocked[:, None, :])
    assert (out[0] == 0).all()
    assert torch.full((3,), -math.inf).softmax(-1).isnan().all()
    module = plain_module(8)
    for module.training in (True, False):
        found, _ = module(x, x, x, key_padding_mask=blocked, need_weights=True)
        assert found[0].isnan().all()
        assert not found[1].isnan().any()


@lesson.says(
    "Wrong axis: columns add up to 1.",
    "*columns* add up to 1 and rows do not.",
    "But it leaks: how much of a book an early reader gets depends on who comes later.",
)
def softmax_over_queries_shares_out_columns(seed: int) -> None:
    sentence = block(seed)
    out, weights = failures.read_e(*sentence)
    ones = torch.ones(6).double()
    assert same(weights[0].sum(-2), ones)
    assert not same(weights[0].sum(-1), ones)
    assert weights[0, -1].sum() >= 1
    assert (weights.triu(1) == 0).all()
    changed = sentence[0].clone()
    changed[:, -1] *= -2
    other = failures.read_e(changed, *sentence[1:])[0]
    assert not same(other[:, :-1], out[:, :-1])


@lesson.says(
    "No √d_k: too sharp.",
    "The symptom is sharpness, and on average it grows with d_k.",
    "In `read_c` rows add up to 1 and nothing leaks, so the tests so far find nothing.",
)
def without_the_root_weights_are_sharper_the_wider_the_keys(seed: int) -> None:
    def sharpness(function: Callable[..., Any], d_k: int) -> float:
        largest = [
            function(*block(100 * seed + draw, d_k))[1][0, 1:].max(-1).values.mean()
            for draw in range(60)
        ]
        return torch.stack(largest).mean().item()

    bare = [sharpness(failures.read_c, d_k) for d_k in (4, 16, 64)]
    scaled = [sharpness(here.attention, d_k) for d_k in (4, 16, 64)]
    assert bare[0] < bare[1] - 0.03 < bare[2] - 0.06, bare
    assert all(b > s + 0.05 for b, s in zip(bare, scaled, strict=True)), (bare, scaled)
    assert max(scaled) - min(scaled) < 0.08, scaled

    sentence = block(seed)
    out, weights = failures.read_c(*sentence)
    assert same(weights.sum(-1), torch.ones(1, 6).double())
    changed = sentence[0].clone()
    changed[:, -1] *= -2
    assert same(failures.read_c(changed, *sentence[1:])[0][:, :-1], out[:, :-1])
    assert not same(here.attention(*sentence)[0], out)


@lesson.says(
    "Wrong shape: an error, or silence when sizes are equal.",
    "If B and N differ and neither is 1, you get an error, and that is luck.",
    "**With B = N it runs**: query n of *every* sentence gets the padding of *sentence n*.",
    "(`nn.MultiheadAttention` takes a (B, N) mask as it is, `key_padding_mask`, True = blocked.)",
)
def a_padding_mask_without_its_axis_is_refused_or_misread(seed: int) -> None:
    for b, n in product(range(1, 6), repeat=2):
        [x] = drawn(seed, (b, n, 6))
        unit = torch.eye(n).double().expand(b, n, n)
        real = here.padding_mask(torch.arange(b) % n + 1, n)
        if 1 in (b, n):
            Wq, Wk, Wv = drawn(seed, *[(6, 6)] * 3)
            failures.read_f(x, Wq, Wk, Wv, real)
            continue
        if b != n:
            with pytest.raises(RuntimeError):
                F.scaled_dot_product_attention(x, x, unit, attn_mask=real)
            continue
        weights = F.scaled_dot_product_attention(x, x, unit, attn_mask=real)
        assert all(torch.equal(weights[sentence] > 0, real) for sentence in range(b))

    [x] = drawn(seed, (3, 4, 6))
    real = here.padding_mask(torch.tensor([4, 3, 1]), 4)
    weights = plain_module(6)(x, x, x, key_padding_mask=~real)[1]
    assert torch.equal(weights > 0, real[:, None, :].expand(3, 4, 4))


@lesson.says(
    "−1e9: an empty row reads everything.",
    "In most rows that does the same: e to the −1e9 is 0 in every format.",
    "But float16 ends at 65,504, so `masked_fill` refuses −1e9 there with an error.",
    "And a row that is *all* blocked reads everything, without a warning: evenly if you *fill in* −1e9, and as if there were no mask if you *add* it in float64.",
)
def a_large_number_is_no_infinity(seed: int) -> None:
    [row] = drawn(seed, (1, 5))
    some, all_ = torch.arange(5) > 2, torch.ones(5).bool()  # True = blocked
    hidden = row.masked_fill(some, -math.inf).softmax(-1)
    for kind in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        assert torch.tensor(-1e9, dtype=torch.float64).to(kind).exp() == 0
    assert torch.equal(row.masked_fill(some, -1e9).softmax(-1), hidden)
    assert same(row.masked_fill(all_, -1e9).softmax(-1), torch.ones(1, 5).double() / 5)
    assert row.masked_fill(all_, -math.inf).softmax(-1).isnan().all()
    assert torch.allclose((row - 1e9).softmax(-1), row.softmax(-1), rtol=0, atol=1e-6)
    assert torch.finfo(torch.float16).max == 65504
    with pytest.raises(RuntimeError, match="overflow"):
        row.half().masked_fill(some, -1e9)
