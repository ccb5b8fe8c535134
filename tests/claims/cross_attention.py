"""What lesson 08 says, and what would refute it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import cache
from typing import Any
from unittest.mock import patch

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.claims import Lesson, taught

lesson = Lesson("08-cross-attention")
here = taught("08-cross-attention")

WAYS = list(itertools.product("xc", range(3)))  # a sequence and a matrix


def inputs(
    seed: int, n: int = 5, m: int = 6, d: int = 5, d_context: int = 7, d_k: int = 4, d_v: int = 3
) -> list[Tensor]:
    """x, context and the three matrices."""
    rng = torch.Generator().manual_seed(seed)
    shapes = [(2, n, d), (2, m, d_context), (d, d_k), (d_context, d_k), (d_context, d_v)]
    return [torch.randn(*shape, generator=rng, dtype=torch.float64) for shape in shapes]


def close(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and torch.allclose(one, other, rtol=0, atol=1e-10)


def attended(given: list[Tensor], ways: tuple[tuple[str, int], ...]) -> Tensor | None:
    """Attention's output if queries, keys and values are made in these ways; None if it raises."""
    x, context, *matrices = given
    try:
        q, k, v = ((x if of == "x" else context) @ matrices[which] for of, which in ways)
        out: Tensor = here.attend(q, k, v)[0]
    except RuntimeError:
        return None
    return out


@lesson.says(
    "That is 216 ways.",
    "Where all sizes differ, 8 of them run, and only the right one gives (N, d_v).",
    "Where N = M and all widths are equal, all 216 run, and no shape protects you.",
    "Queries come from x, keys and values from the context.",
    "Weights are (N, M), and there is an answer for each reader.",
)
def shapes_catch_a_wrong_sequence_or_matrix_if_all_sizes_differ(seed: int) -> None:
    """Where all run, each of the others gives other numbers."""
    assert len(WAYS) ** 3 == 216
    for given, run, fit in (
        (inputs(seed, n=8, d=9), 8, 1),
        (inputs(seed, 4, 4, *[6] * 4), 216, 216),
    ):
        found = {ways: attended(given, ways) for ways in itertools.product(WAYS, repeat=3)}
        ran = {ways: out for ways, out in found.items() if out is not None}
        (n, m), d_v = (part.shape[1] for part in given[:2]), given[-1].shape[1]
        assert len(ran) == run
        assert sum(out.shape == (2, n, d_v) for out in ran.values()) == fit
        right, weights = here.cross_attention(*given)
        assert weights.shape == (2, n, m)
        same = [ways for ways, out in ran.items() if close(out, right)]
        assert same == [(("x", 0), ("c", 1), ("c", 2))]


def module(seed: int, d_context: int = 6, **how: Any) -> nn.MultiheadAttention:
    """PyTorch's, 8 wide, with biases that are not 0, as they are at first."""
    torch.manual_seed(seed)
    made = nn.MultiheadAttention(8, 2, kdim=d_context, vdim=d_context, batch_first=True, **how)
    for bias in (made.in_proj_bias, made.out_proj.bias):
        nn.init.normal_(bias)
    return made.double()


def copied(theirs: nn.MultiheadAttention) -> Any:
    """The lesson's module with the weights of PyTorch's; d_context = d, so its three are one."""
    made = here.CrossAttention(8, 8, theirs.num_heads).double()
    state = {"W_o.weight": theirs.out_proj.weight, "W_o.bias": theirs.out_proj.bias}
    packed = {"weight": theirs.in_proj_weight, "bias": theirs.in_proj_bias}
    for kind, all_three in packed.items():
        parts = zip("qkv", all_three.chunk(3), strict=True)
        state |= {f"W_{letter}.{kind}": part for letter, part in parts}
    made.load_state_dict(state)
    back = here.as_pytorchs(made)
    assert all(
        torch.equal(part, back.state_dict()[name]) for name, part in theirs.named_parameters()
    )
    return made


@lesson.says("Self-attention is the case context = x.")
def a_module_that_reads_its_own_x_is_pytorchs_self_attention(seed: int) -> None:
    theirs = module(seed, 8)
    x = torch.randn(3, 5, 8, dtype=torch.float64)
    out, weights = copied(theirs)(x, x)
    expected, their_weights = theirs(x, x, x, average_attn_weights=False)
    assert close(out, expected)
    assert close(weights, their_weights)
    assert not close(copied(theirs)(x, x.roll(1, 0))[0], expected)


@lesson.says("No gradient is NaN either: −∞ is *filled in* before softmax and 0 after it.")
def either_fill_left_out_brings_nan(seed: int) -> None:
    x, context, W_q, W_k, W_v = inputs(seed)
    real = torch.tensor([[True, True, False, True, True, True], [False] * 6])
    q, k, v = (part.requires_grad_() for part in (x @ W_q, context @ W_k, context @ W_v))
    mask = real[:, None]
    scores = q @ k.mT / 2
    added = (scores + torch.zeros_like(scores).masked_fill(~mask, -torch.inf)).softmax(-1)
    unfilled = scores.masked_fill(~mask, -torch.inf).softmax(-1)
    outs = {
        "both": here.attend(q, k, v, mask)[0],
        "-inf added": added.masked_fill(~mask.any(-1, keepdim=True), 0.0) @ v,
        "no 0": unfilled @ v,
    }
    ill = []
    for name, out in outs.items():
        slopes = torch.autograd.grad(out.square().sum(), (q, k, v), retain_graph=True)
        if any(bool(slope.isnan().any()) for slope in slopes):
            ill.append(name)
    assert ill == ["-inf added", "no 0"]


LOST = torch.arange(6) < torch.tensor([[6], [3], [0]])  # True = attend


@lesson.says(
    "The context's padding is hidden in columns: (B, 1, M), and (B, 1, 1, M) with heads.",
    "Where nothing is left, weights are 0 and W_o's bias comes out; `nn.MultiheadAttention` gives "
    "NaN there, in PyTorch 2.13, if it returns weights.",
    "With `need_weights=True` the module takes the softmax itself, over scores that are all −∞, "
    "fills in no 0, and gives NaN.",
)
@pytest.mark.filterwarnings("ignore")
def an_empty_context_gives_a_bias_or_nan(seed: int) -> None:
    """Every path: trained or evaluated, with slopes and without, of one width and of two."""
    for width, training, slopes in itertools.product((6, 8), (True, False), (True, False)):
        theirs = module(seed, width).train(training).requires_grad_(slopes)
        x = torch.randn(3, 5, 8, dtype=torch.float64)
        context = torch.randn(3, 6, width, dtype=torch.float64)
        given = {"key": context, "value": context, "key_padding_mask": ~LOST}
        with torch.set_grad_enabled(slopes):
            weighed, weights = theirs(x, **given)
            unweighed, _ = theirs(x, **given, need_weights=False)
        assert weighed[2].isnan().all()
        assert weights[2].isnan().all()
        assert close(weighed[:2], unweighed[:2])
        assert close(unweighed[2], theirs.out_proj.bias.expand(5, -1))
        if width == 8:
            out, mine = copied(theirs)(x, context, LOST)
            assert close(out, unweighed)
            assert not mine.masked_select(~LOST[:, None, None]).any()
            changed = context.masked_fill(~LOST[..., None], 9.0)
            assert close(copied(theirs)(x, changed, LOST)[0], out)


@lesson.says(
    "With `need_weights=False` it hands cross-attention to `F.scaled_dot_product_attention`, which "
    "gives 0, and W_o's bias comes out, as it does from ours.",
)
def only_without_weights_is_the_function_called() -> None:
    theirs, x, context = module(1), torch.randn(3, 5, 8).double(), torch.randn(3, 6, 6).double()
    real = F.scaled_dot_product_attention
    for need_weights in (True, False):
        with patch.object(F, "scaled_dot_product_attention", side_effect=real) as called:
            theirs(x, context, context, key_padding_mask=~LOST, need_weights=need_weights)
        assert called.call_count == (not need_weights)
    heads = torch.randn(3, 2, 6, 4)
    assert not real(heads, heads, heads, attn_mask=LOST[:, None, None])[2].any()


@lesson.says(
    "If the call asks for weights, one empty context in a batch makes the loss NaN. One step "
    "later the four linears, which all sentences share, are NaN too.",
    "NaN comes back through everything that the example went through. One step with such gradients "
    "ruins every number there: in the linears from the attention on, and in its own words' rows of an embedding.",
    "If the example is left out of the mean (`ignore_index`), the loss is a number, and the "
    "gradients are NaN all the same.",
    "If gradients are clipped by their norm, which is NaN too, the step ruins all parameters.",
)
def one_step_turns_to_nan_all_that_a_lost_example_touches(seed: int) -> None:
    ways = itertools.product((True, False), (True, False), (True, False))
    for need_weights, left_out, clipped in ways:
        torch.manual_seed(seed)
        desk = here.Desk(here.Ready(need_weights))
        asked, cards, real, rooms = here.questions(3, torch.Generator().manual_seed(seed))
        real[2] = False
        if left_out:
            rooms[2] = -100  # which ignore_index leaves out, if nothing else is said
        loss = F.cross_entropy(desk(asked, cards, real)[0].flatten(0, 1), rooms.flatten())
        loss.backward()
        if clipped:
            norm = nn.utils.clip_grad_norm_(desk.parameters(), 1.0)
            assert norm.isnan() == need_weights
        torch.optim.Adam(desk.parameters()).step()
        assert loss.isnan() == (need_weights and not left_out)
        rows = desk.embed.weight.isnan().all(1).nonzero().flatten().tolist()
        touched = list(range(here.AUTHORS)) if clipped else sorted(asked[2].tolist())
        assert rows == (touched if need_weights else [])
        for name, parameter in desk.named_parameters():
            if not name.startswith("embed"):
                assert parameter.isnan().all() == need_weights, name


@lesson.says(
    "To cross-attention a context is a *bag* of words. It does not matter where a word stands. It does matter how large its share of the bag is.",
    "Repeating one word changes the output; repeating the whole context does not.",
)
def a_place_does_not_count_and_a_share_does(seed: int) -> None:
    x, context, *matrices = inputs(seed)
    out = here.cross_attention(x, context, *matrices)[0]
    assert close(here.cross_attention(x, context[:, [4, 0, 5, 3, 1, 2]], *matrices)[0], out)
    again = torch.cat([context, context[:, :1]], 1)
    assert not close(here.cross_attention(x, again, *matrices)[0], out)
    assert close(here.cross_attention(x, context.repeat(1, 3, 1), *matrices)[0], out)


@lesson.says(
    "*a* finds no article and takes *ich*, 0.83, since a score of 0 beats two that are below 0.",
    "softmax has no way to say *nothing suits*, unless a key stands for that.",
)
def where_nothing_suits_the_least_bad_is_taken() -> None:
    """Of the words that a reader may read, the scores alone, by the lesson's tables."""
    about = {"ich": [1.0, 0], "habe": [0, 0.7], "gelesen": [0, 1.0]}  # who, doing
    scores = 8 * torch.tensor([0, -0.7]) @ torch.tensor(list(about.values())).T / 2
    assert [score > -1e-9 for score in scores.tolist()] == [True, False, False]
    assert abs(scores.softmax(-1)[0] - 0.83) < 0.005
    rows = torch.randn(50, 3, generator=torch.Generator().manual_seed(1)) - 50  # all are far below
    assert torch.allclose(rows.softmax(-1).sum(-1), torch.ones(50))


def right(desk: Any, given: Any) -> Tensor:
    asked, cards, real, rooms = given
    with torch.no_grad():
        scores = desk(asked, cards, real)[0]
    return torch.as_tensor(scores.argmax(-1) == rooms)


def own_module(n_heads: int = 2, kind: Any = here.CrossAttention) -> Any:
    return kind(16, here.AUTHORS + here.ROOMS, n_heads)


def one_head() -> Any:
    return own_module(1)


def deaf() -> Any:
    return own_module(kind=here.Deaf)


@cache
def trained(
    make: Callable[[], Any], seed: int, fixed: tuple[str, ...] = (), steps: int = 150
) -> tuple[Any, list[float]]:
    """A desk after some steps, and its losses. What is fixed stays as it began."""
    torch.manual_seed(seed)
    desk = here.Desk(make())
    for name, parameter in desk.named_parameters():
        parameter.requires_grad_(not name.startswith(fixed) if fixed else True)
    return desk, here.learn(desk, seed, steps)


def unseen(seed: int) -> Any:
    return here.questions(1000, torch.Generator().manual_seed(10_000 + seed), new_pairs=True)


@lesson.says(
    "With the context the desk is right on catalogues that it has never seen, even for pairs that "
    "are new to it.",
    "Trained to look things up, cross-attention is a dictionary whose keys are learned, and it "
    "works for pairs never seen together.",
    "Each author finds the one card with the same name, whatever its place",
    "Both heads do the same, and one head alone learns the task as well.",
    "in training, author a is *never* in room a; in the test, about half of the cards put them "
    "there.",
)
def a_desk_follows_the_name_and_nothing_else(seed: int) -> None:
    """Exchanging the names on two pairs of cards has to exchange the answers; moving cards not."""
    asked, cards, real, rooms = given = unseen(seed)
    barred = asked == rooms
    assert 0.45 < barred.float().mean() < 0.55
    names, places = (part.argmax(-1) for part in cards.split((here.AUTHORS, here.ROOMS), -1))
    assert 0.45 < (names == places).float().mean() < 0.55
    old = here.questions(1000, torch.Generator().manual_seed(seed))
    assert not (
        old[1][..., : here.AUTHORS].argmax(-1) == old[1][..., here.AUTHORS :].argmax(-1)
    ).any()
    same = names[:, None] == asked[..., None]
    for make in (here.Ready, own_module, one_head):
        desk = trained(make, seed)[0]
        assert right(desk, given)[barred].float().mean() > 0.99
        assert right(desk, given)[~barred].float().mean() > 0.99
        with torch.no_grad():
            weights = desk(asked, cards, real)[1]
        found = weights.argmax(-1, keepdim=True) == same.float().argmax(-1)[:, None, :, None]
        assert found.float().mean((0, 2, 3)).min() > 0.99  # each head
        assert (weights * same[:, None]).sum(-1).mean((0, 2)).min() > 0.8
    desk = trained(here.Ready, seed)[0]
    place = [4, 0, 5, 3, 1, 2]
    assert right(desk, (asked, cards[:, place], real[:, place], rooms)).float().mean() > 0.99
    renamed = cards.clone()
    renamed[:, :4, : here.AUTHORS] = cards[:, [1, 0, 3, 2], : here.AUTHORS]
    of = (renamed[..., : here.AUTHORS].argmax(-1)[:, None] == asked[..., None]).float().argmax(-1)
    moved = renamed[..., here.AUTHORS :].argmax(-1).gather(1, of)
    assert right(desk, (asked, renamed, real, moved)).float().mean() > 0.99
    assert right(desk, (asked, renamed, real, rooms)).float().mean() < 0.2


@lesson.says(
    "Without it, the loss stays around log 10.",
    "This desk cannot even tell who was asked for: x has a say in the *weights* alone, and those are 0.",
    "What comes out is W_o's bias, the same scores for everyone.",
    "Its likeliest room is right one time in ten.",
    "A guess that knows nothing of the question costs log 10 = 2.30.",
)
def a_desk_without_a_context_guesses(seed: int) -> None:
    """One that is told who was asked for gets to log 9, as one room of ten is never that author's."""
    desk, losses = trained(deaf, seed)
    late = losses[50:]
    assert abs(sum(late) / len(late) - math.log(10)) < 0.01
    given = unseen(seed)
    assert abs(right(desk, given).float().mean() - 0.1) < 0.03
    with torch.no_grad():
        scores = desk(*given[:3])[0]
        bias = desk.to_scores(desk.cross.W_o.bias).expand_as(scores)
    assert torch.allclose(scores, bias, atol=1e-5)
    old = here.questions(5000, torch.Generator().manual_seed(seed))
    assert (old[1][..., here.AUTHORS :].mean((0, 1)) - 0.1).abs().max() < 0.007  # none is better
    told = torch.full((here.AUTHORS, here.ROOMS), -math.log(9)).fill_diagonal_(-torch.inf)
    loss = F.cross_entropy(told[old[0]].flatten(0, 1), old[3].flatten())
    assert torch.isclose(loss, torch.tensor(9.0).log())


@lesson.says(
    "The first desk *learned* to match the name in a question with the name on a card. Leave the "
    "embedding, W_q and W_k as they began, and train the rest: with two heads it gets a third of "
    "the answers right, even after 600 steps.",
    long=True,
)
def names_that_do_not_learn_to_meet_are_not_found(seed: int) -> None:
    """The rest is trained and learns what it can: what it may change is not the reason."""
    makes_weights = ("embed", "cross.W_q", "cross.W_k")
    for steps in (150, 600):
        desk, losses = trained(own_module, seed, makes_weights, steps)
        assert 0.28 < right(desk, unseen(seed)).float().mean() < 0.38
        assert losses[0] - losses[-1] > 0.2
    for free in ("embed", "cross.W_q"):  # where one of them learns as well, more are found
        fixed = tuple(name for name in makes_weights if name != free)
        assert right(trained(own_module, seed, fixed)[0], unseen(seed)).float().mean() > 0.4
    assert right(trained(own_module, seed)[0], unseen(seed)).float().mean() > 0.99


@lesson.says("An encoder–decoder has three attentions: self, causal self, cross.")
def pytorchs_transformer_has_these_three() -> None:
    model = nn.Transformer(8, 2, 1, 1, 20, dropout=0.0, batch_first=True)
    attentions = [each for each in model.modules() if isinstance(each, nn.MultiheadAttention)]
    calls: list[tuple[int, int, bool]] = []

    def note(_: nn.Module, args: tuple[Tensor, ...], how: dict[str, Any]) -> None:
        assert args[1] is args[2]
        calls.append((args[0].shape[1], args[1].shape[1], how["attn_mask"] is not None))

    for each in attentions:
        each.register_forward_pre_hook(note, with_kwargs=True)
    model(torch.randn(3, 6, 8), torch.randn(3, 5, 8), tgt_mask=torch.ones(5, 5).triu(1).bool())
    assert calls == [(6, 6, False), (5, 5, True), (5, 6, False)]


def of_pytorch(layer: Any, norm_first: bool) -> nn.TransformerDecoderLayer:
    """PyTorch's decoder layer, 8 wide, with the weights of the lesson's."""
    theirs = nn.TransformerDecoderLayer(
        8, 2, 20, 0.0, batch_first=True, norm_first=norm_first, dtype=torch.float64
    )
    attentions = ("self_attn", "self_attention"), ("multihead_attn", "cross_attention")
    own, state = layer.state_dict(), {}
    for kind in ("weight", "bias"):
        for their, our in attentions:
            state[f"{their}.in_proj_{kind}"] = torch.cat(
                [own[f"{our}.W_{c}.{kind}"] for c in "qkv"]
            )
            state[f"{their}.out_proj.{kind}"] = own[f"{our}.W_o.{kind}"]
        state |= {f"norm{n}.{kind}": own[f"norm_{n}.{kind}"] for n in (1, 2, 3)}
        state[f"linear1.{kind}"] = own[f"hidden.{kind}"]
        state[f"linear2.{kind}"] = own[f"out.{kind}"]
    theirs.load_state_dict(state)
    return theirs


def random_layer(seed: int) -> Any:
    """The lesson's layer, with norms that have learned something."""
    torch.manual_seed(seed)
    layer = here.DecoderLayer(8, 2, 20).double()
    for norm in (layer.norm_1, layer.norm_2, layer.norm_3):
        nn.init.normal_(norm.weight)
        nn.init.normal_(norm.bias)
    return layer


@lesson.says(
    "A decoder layer is the last two, a feed-forward network, residuals and norms.",
    "The lost original adds W_o's bias and no NaN, as in PyTorch's layer, which calls its attentions "
    "with `need_weights=False`.",
    "A norm before the part (**pre-norm**) lets it grow, but slowly: no part reads numbers that "
    "have grown.",
    "The last word changes its own row alone.",
)
def the_parts_make_pytorchs_layer_and_none_is_idle(seed: int) -> None:
    """Pre-norm is PyTorch's `norm_first=True`, and post-norm its other layer."""
    layer = random_layer(seed)
    x, context = (torch.randn(3, n, 8, dtype=torch.float64) for n in (5, 6))
    masks = {"tgt_mask": torch.ones(5, 5).triu(1).bool(), "memory_key_padding_mask": ~LOST}
    asked: list[bool] = []
    for training, norm_first in itertools.product((True, False), repeat=2):
        theirs = of_pytorch(layer, norm_first).train(training)
        for attention in (theirs.self_attn, theirs.multihead_attn):
            attention.register_forward_pre_hook(
                lambda _, args, how: asked.append(how["need_weights"]), with_kwargs=True
            )
        found = theirs(x, context, **masks)
        assert not found.isnan().any()
        assert close(found, in_steps(layer, norm_first, x, context))
        assert close(found, layer(x, context, LOST)) == norm_first
    assert asked == [False] * 8
    before = layer(x, context, LOST)
    again = torch.cat([x[:, :-1], x[:, :1]], 1)
    moved = (layer(again, context, LOST) - before).abs().amax((0, 2)) > 1e-9
    assert moved.tolist() == [False] * 4 + [True]
    for linear in (layer.self_attention.W_o, layer.cross_attention.W_o, layer.out):
        with torch.no_grad():
            kept = linear.weight.clone()
            linear.weight.zero_()
            assert not close(layer(x, context, LOST), before)
            linear.weight.copy_(kept)


def in_steps(layer: Any, norm_first: bool, x: Tensor, context: Tensor) -> Tensor:
    """The two lines that the lesson shows, each three times."""
    for norm, part in (
        (layer.norm_1, lambda x: layer.self_attention(x, causal=True)[0]),
        (layer.norm_2, lambda x: layer.cross_attention(x, context, LOST)[0]),
        (layer.norm_3, lambda x: layer.out(F.relu(layer.hidden(x)))),
    ):
        x = x + part(norm(x)) if norm_first else norm(x + part(x))
    return x


def started(fill: Callable[[Tensor], Tensor], depth: int, n_heads: int = 4) -> nn.ModuleList:
    """Self-attentions, 32 wide, from one of the lesson's starts."""
    parts = nn.ModuleList(here.MultiHeadAttention(32, n_heads) for _ in range(depth))
    for numbers in parts.parameters():
        if numbers.dim() == 2:
            fill(numbers)
    return parts


def as_it_is(x: Tensor) -> Tensor:
    return x


STARTS: dict[str, Callable[[Tensor], Tensor]] = {
    "default": as_it_is,
    "Xavier": nn.init.xavier_uniform_,
    "orthogonal": nn.init.orthogonal_,
}


Step = Callable[[Any, Tensor], Tensor]


def ways(then: Callable[[Tensor], Tensor]) -> dict[str, Step]:
    """The lesson's five, with something after each attention."""
    norm = nn.LayerNorm(32)
    return {
        "bare": lambda part, x: then(part(x)[0]),
        "normed": lambda part, x: then(part(norm(x))[0]),
        "added": lambda part, x: x + then(part(x)[0]),
        "pre-norm": lambda part, x: x + then(part(norm(x))[0]),
        "post-norm": lambda part, x: norm(x + then(part(x)[0])),
    }


def through(parts: nn.ModuleList, first: Tensor, step: Step) -> tuple[float, float, float]:
    """How widely numbers are spread after all parts, how far tokens are apart, and the slope."""
    y = first
    for part in parts:
        y = step(part, y)
    [slope] = torch.autograd.grad(y[0, 0, 0], first)
    apart = (y - y.mean(1, keepdim=True)).norm() / y.norm()
    return y.std().item(), apart.item(), slope.norm().item()


@lesson.says(
    "Without sum and norm, the start decides how much gradient comes back: from `nn.Linear`'s, almost none. With the sum it comes back from each of these starts.",
    "Each attention hands on an average of all tokens and loses the token's own row. After eight averages all six tokens are alike, from each of these starts.",
    "**With the sum, tokens stay apart over these eight layers.** Over 24 from Xavier's start only pre-norm keeps them apart.",
    "Without residuals, eight self-attentions made all tokens alike, from three starts.",
    "With the sum the numbers grow, too.",
    "A norm after the sum (**post-norm**) holds the spread at 1.",
    "it shifts and scales the numbers of each token to mean 0 and a variance close to 1 (less if "
    "they are tiny). Then learned numbers multiply and shift them.",
)
def sums_keep_tokens_apart_from_any_start_and_norms_hold_the_size(seed: int) -> None:
    """With one head and with eight, and with another layer after each attention, too."""
    then: Callable[[Tensor], Tensor]
    for (name, fill), n_heads, relu in itertools.product(STARTS.items(), (1, 8), (False, True)):
        then = F.relu if relu else as_it_is
        torch.manual_seed(seed)
        parts, first = started(fill, 8, n_heads), torch.randn(1, 6, 32, requires_grad=True)
        spread, apart, slope = zip(
            *(through(parts, first, way) for way in ways(then).values()), strict=True
        )
        if not relu:
            assert (slope[0] < 1e-3) == (name == "default")
            assert apart[0] < 0.005
        assert apart[1] < 0.05
        assert min(apart[2:]) > 0.05
        assert spread[2] > first.std()
        assert spread[3] < max(1.05 * spread[2], 4)
        assert 0.9 < spread[4] < 1.1

    torch.manual_seed(seed)
    parts, first = started(STARTS["Xavier"], 24), torch.randn(1, 6, 32, requires_grad=True)
    deep = {name: through(parts, first, way)[1] for name, way in ways(as_it_is).items()}
    assert deep["pre-norm"] > 0.1
    assert max(deep["added"], deep["post-norm"]) < 0.05

    norm = nn.LayerNorm(32)
    for size, least, most in ((1000.0, 0.999, 1.001), (1.0, 0.999, 1.001), (1e-3, 0.0, 0.5)):
        made = norm(size * torch.randn(50, 32) + 3 * size)
        assert made.mean(-1).abs().max() < 1e-4
        variance = made.var(-1, correction=0)
        assert least < variance.min()
        assert variance.max() < most


@lesson.says(
    "Train eight layers to say each token's own word, one of eight, by 200 steps of Adam at 0.003. With norms and without sums the loss is 1.6 or more from all three starts (guessing: 2.08). With sums and norms it is 0.02 or less.",
    long=True,
)
def eight_layers_learn_to_hand_on_a_word_with_sums_alone(seed: int) -> None:
    def loss_after(name: str, depth: int, add: bool) -> float:
        torch.manual_seed(seed)
        embed, answer = nn.Embedding(8, 32), nn.Linear(32, 8)
        parts = started(STARTS[name], depth)
        learned = [p for module in (embed, answer, parts) for p in module.parameters()]
        optimizer = torch.optim.Adam(learned, lr=0.003)
        late = []
        for _ in range(200):
            words = torch.randint(8, (16, 10))
            x = embed(words)
            for part in parts:
                found = part(F.layer_norm(x, (32,)))[0]
                x = x + found if add else found
            loss = F.cross_entropy(answer(F.layer_norm(x, (32,))).flatten(0, 1), words.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            late.append(loss.item())
        return sum(late[-10:]) / 10

    for name in STARTS:
        assert loss_after(name, 8, add=False) > 1.6
        assert loss_after(name, 8, add=True) < 0.02
    assert loss_after("default", 1, add=False) < 0.5


@lesson.says(
    "**with a single book on the shelf, every reader takes home that book's value.**",
    "A model with *this* mistake mixes its own words. The context sets their shares, and none of "
    "its own values gets through.",
    "That finds 180 of the 215 wrong ways.",
    "In the other 35 only queries or keys are wrong, and the test says nothing about these: with one "
    "book the weight is 1, whatever the score is.",
)
def one_book_tells_values_from_the_wrong_side(seed: int) -> None:
    """If the words of x are alike, whatever the context says must make no difference."""
    x, context, *matrices = inputs(seed, 4, 4, 6, 6, 6, 6)
    alike = x[:, :1].expand(-1, 4, -1)
    for function, slip in ((here.cross_attention, False), (here.hears_itself, True)):
        one = function(x[:, :1], context[:, :1], *matrices)[0]
        assert close(one, context[:, :1] @ matrices[2]) != slip
        other = function(alike, context.roll(1, 0), *matrices)[0]
        assert close(function(alike, context, *matrices)[0], other) == slip
    single = [x[:, :1], context[:, :1], *matrices]
    passes = [
        ways
        for ways in itertools.product(WAYS, repeat=3)
        if close(attended(single, ways), single[1] @ matrices[2])  # type: ignore[arg-type]
    ]
    assert len(passes) == 36  # the right one among them
    assert all(ways[2] == ("c", 2) for ways in passes)


@lesson.says(
    "The symptom here is an output that does not depend on the real words at all.",
    "And a full sentence, which has no dummy, gets 0.",
)
def an_inverted_mask_reads_the_dummies_alone(seed: int) -> None:
    x, context, *matrices = inputs(seed)
    mask = torch.arange(6) < torch.tensor([[6], [3]])
    changed = torch.where(mask[..., None], context + 1, context)
    out = here.reads_dummies(x, context, *matrices, mask)[0]
    assert close(here.reads_dummies(x, changed, *matrices, mask)[0], out)
    assert not close(here.cross_attention(x, changed, *matrices, mask)[0], out)
    assert not out[0].any()
    assert out[1].any()
