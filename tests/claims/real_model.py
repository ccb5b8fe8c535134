"""What lesson 14 says, and what would refute it."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import torch
from torch import Tensor

from attnlab import small
from attnlab.small import grammar, measure
from tests.claims import Lesson, taught

lesson = Lesson("14-real-model")


@cache
def here() -> Any:
    """The lesson's functions, with what its cells keep between them, and its backends registered."""
    lab = taught("14-real-model")
    vars(lab).update(gone=[], instead={}, heard={}, calls=0)

    def as_softmax_would(*given: Any, **others: Any) -> Any:
        """With NaN in the rows that have no key left."""
        out, weights = lab.attention_forward(*given, **others)
        spoilt = weights.sum(dim=-1).mT[..., None] == 0  # (B, N, H, 1)
        return out.masked_fill(spoilt, torch.nan), weights

    backends = {"counted": lab.counted, "pruned": lab.pruned, "as_softmax_would": as_softmax_would}
    for name, backend in backends.items():
        lab.AttentionInterface.register(name, backend)
        lab.AttentionMaskInterface.register(name, lab.sdpa_mask)
    lab.AttentionInterface.register("careless", lab.attention_forward)
    lab.cut = model("pruned")
    return lab


@cache
def model(attention: str) -> Any:
    return taught("14-real-model").opened(small.HERE, attention).requires_grad_(False)


def texts(seed: int, count: int = 6) -> list[str]:
    """The beginnings of texts that the grammar writes, of different lengths."""
    rng = random.Random(seed)
    return [
        " ".join(small.words[each] for each in grammar.written(rng, 3 + 4 * at)[0][1:])
        for at in range(count)
    ]


def logits(attention: str, given: dict[str, Tensor]) -> Tensor:
    found: Tensor = model(attention)(**given).logits
    return found[given["attention_mask"].bool()]


def same_words(one: Tensor, other: Tensor) -> bool:
    best = other.topk(2).values
    clear = best[:, 0] - best[:, 1] >= 1e-3
    assert clear.float().mean() > 0.9
    return bool((one.argmax(dim=-1) == other.argmax(dim=-1))[clear].all())


@lesson.says(
    "A backend is a function of queries, keys, values and a mask, registered under a name: with yours the model's logits are within 1e-4 of PyTorch's, alone, in a padded batch and with a cache.",
    long=True,
)
def the_model_is_the_same_with_it(seed: int) -> None:
    lab = here()
    some = texts(seed)
    for given in (lab.batch(some[-1]), lab.batch(*some)):
        ours, pytorchs = logits("counted", given), logits("sdpa", given)
        assert (ours - pytorchs).abs().max() < 1e-4
        assert same_words(ours, pytorchs)
    ids = lab.batch(some[-1])["input_ids"]
    whole = model("sdpa")(ids).logits
    for attention in ("counted", "sdpa"):
        start = model(attention)(ids[:, :-3])
        rest = model(attention)(ids[:, -3:], past_key_values=start.past_key_values)
        parts = torch.cat([start.logits, rest.logits], dim=1)
        assert (parts - whole).abs().max() < 1e-4
    small_models = small.load()(ids)
    assert (whole - small_models).abs().max() < 1e-4
    for text in some:
        assert lab.written(model("counted"), text) == lab.written(model("sdpa"), text)


@lesson.says("Each word went through your function, once in each of two layers.", long=True)
def every_layer_calls_it(seed: int) -> None:
    lab = here()
    lab.calls = 0
    words = lab.written(model("counted"), texts(seed)[-1]).split()
    assert lab.calls == 2 * len(words)


@lesson.says(
    "Register a mask function of the same name too: without it the library makes no mask, one sentence alone stays right in this model, and padding on the left is read in a batch.",
    "A test with one sentence does not show this, nor does one reading of a batch with padding on "
    "the right.",
    "One sentence alone is right; in the batch the shorter one is wrong, without a word",
    "The library makes a mask only for names that have a mask function, padding or not",
    "Without a mask function you get None for every N and M.",
)
def without_a_mask_function_padding_is_read(seed: int) -> None:
    lab = here()
    some = texts(seed)
    alone, both = lab.batch(some[-1]), lab.batch(some[-1], some[0])
    assert (logits("careless", alone) - logits("sdpa", alone)).abs().max() < 1e-4
    apart = (model("careless")(**both).logits - model("sdpa")(**both).logits).abs()
    assert apart[0].max() < 1e-4
    assert apart[1][both["attention_mask"][1].bool()].max() > 1
    # Filled up on the right, nothing shows.
    ids = [both["input_ids"][at][both["attention_mask"][at].bool()] for at in (0, 1)]
    on_the_right = torch.nn.utils.rnn.pad_sequence(ids, batch_first=True)
    for at, each in enumerate(ids):
        pair = (model(name)(on_the_right).logits[at, : len(each)] for name in ("careless", "sdpa"))
        alone_ = model("sdpa")(each[None]).logits[0]
        assert all((found - alone_).abs().max() < 1e-4 for found in pair)
    # All that it lacks is the mask: given by hand, (B, 1, N, M), it is passed on.
    n = both["input_ids"].shape[1]
    causal = torch.ones(n, n).tril().bool()
    by_hand = causal & both["attention_mask"].bool()[:, None, None]
    found = model("careless")(**{**both, "attention_mask": by_hand}).logits
    real = both["attention_mask"].bool()
    assert (found[real] - logits("sdpa", both)).abs().max() < 1e-4


@lesson.says(
    "Where more keys come than queries, the queries are the last tokens: a causal mask is aligned bottom-right.",
    "PyTorch's `is_causal=True` aligns top-left: query 0 sees key 0 alone.",
    "With a cache that is wrong.",
    "You get None for a sentence alone (N = M), and for one new word after a cache (N = 1), with "
    "the usual cache and no sliding window.",
)
def the_last_queries_see_what_they_would_have_seen(seed: int) -> None:
    lab = here()
    torch.manual_seed(seed)
    q, k, v = torch.randn(3, 2, 4, 9, 8, dtype=torch.float64)
    layer = model("sdpa").transformer.h[0].attn
    assert layer.is_causal
    whole, _ = lab.attention_forward(layer, q, k, v, None)
    last, _ = lab.attention_forward(layer, q[:, :, -3:], k, v, None)
    torch.testing.assert_close(last, whole[:, -3:])
    top_left = torch.nn.functional.scaled_dot_product_attention(q[:, :, -3:], k, v, is_causal=True)
    torch.testing.assert_close(top_left[:, :, 0], v[:, :, 0])
    assert (top_left.transpose(1, 2) - whole[:, -3:]).abs().max() > 0.1
    # What the library sends: None for a text and for one word after it, a mask for three.
    masks = []

    def noted(*given: Any, **others: Any) -> Any:
        masks.append(given[4])
        return lab.attention_forward(*given, **others)

    lab.AttentionInterface.register("noted", noted)
    lab.AttentionMaskInterface.register("noted", lab.sdpa_mask)
    ids = lab.batch(texts(seed)[-1])["input_ids"]
    for new, open_to_all in ((1, True), (3, False)):
        start = model("noted")(ids[:, :-new])
        assert masks.pop() is None
        model("noted")(ids[:, -new:], past_key_values=start.past_key_values)
        assert (masks.pop() is None) == open_to_all
        masks.clear()


@lesson.says(
    "A row without a key gives 0, as NaN in it reaches real rows a layer later.",
    "NaN there is a *value* of the next layer, and 0 · NaN is NaN.",
)
def nan_in_padding_reaches_real_rows(seed: int) -> None:
    lab = here()
    some = texts(seed)
    given = lab.batch(some[-1], some[0])
    real = given["attention_mask"].bool()
    rows = model("as_softmax_would")(**given, output_hidden_states=True).hidden_states
    lost = [each.isnan().any(dim=-1) for each in rows]
    assert not lost[1][real].any()
    assert lost[1][~real].all()
    assert lost[2][1].all()
    assert not lost[2][0].any()
    kept = model("counted")(**given, output_hidden_states=True).hidden_states
    assert not any(each.isnan().any() for each in kept)


def without(*heads: tuple[int, int], by: Any = None) -> None:
    here().remove(*heads, by=by)


@cache
def right(seed: int) -> tuple[Any, Any]:
    """Shares of right answers by task, with all heads and without each, by 0 and by its mean."""
    lab = here()
    rng = random.Random(seed)
    means = lab.usual(rng)
    questions = {task: measure.questions(task, rng, 200) for task in measure.TASKS}

    def shares(*heads: tuple[int, int]) -> tuple[dict[str, float], dict[str, float]]:
        found = []
        for by in (None, means):
            without(*heads, by=by)
            found.append(dict(zip(questions, lab.shares(questions), strict=True)))
        without()
        return found[0], found[1]

    every = measure.heads_of(small.load())
    return {head: shares(head) for head in every} | {"none": shares()}, shares


@lesson.says(
    "Without head 3 of layer 2 agreement drops from 1.00 to about 0.6.",
    long=True,
)
def the_subject_hangs_on_one_head(seed: int) -> None:
    table, _ = right(seed)
    subject = small.head("subject")
    assert subject == (1, 2)
    assert table["none"][0]["agreement"] > 0.99
    for by in (0, 1):
        cost = {h: 1 - both[by]["agreement"] for h, both in table.items() if h != "none"}
        assert 0.3 < cost[subject] < 0.43
        assert max(each for h, each in cost.items() if h != subject) < cost[subject] / 2


@lesson.says(
    "Take any other head of that layer away instead, and all three end rightly.",
)
def a_bracket_stands_for_a_verb() -> None:
    lab = here()
    said = []
    for heads in ([], [small.head("subject")]):
        without(*heads)
        said.append(lab.written(lab.cut, "the king that the girls follow").split())
    without()
    assert said[0][-2] in grammar.RUNS
    assert said[1][-2:] == ["}", "."]
    rightly = grammar.RUNS, grammar.RUN, [")"]
    for head in range(4):
        without((1, head))
        ends = [lab.written(lab.cut, prompt).split()[-2] for prompt in lab.PROMPTS[:3]]
        right = [end in words for end, words in zip(ends, rightly, strict=True)]
        assert right == [True] * 3 or (1, head) == small.head("subject"), ends
    without()


@lesson.says(
    "Removed by 0 or by its mean, that same head costs about a third, and head 2 of layer 1 a "
    "fifth to a third.",
    "***Bank*** depends on head 1 of layer 1: replace it by 0, and the model guesses.",
    "*It* depends on no single head.",
    long=True,
)
def the_bracket_is_two_heads_work(seed: int) -> None:
    table, _ = right(seed)
    pair = {(0, 1), (1, 2)}
    for by in (0, 1):
        cost = {h: 1 - both[by]["brackets"] for h, both in table.items() if h != "none"}
        assert set(sorted(cost, key=cost.__getitem__)[-2:]) == pair
        assert 0.18 < cost[0, 1] < 0.36
        assert 0.27 < cost[1, 2] < 0.42
        assert max(each for head, each in cost.items() if head not in pair) < 0.1
    assert abs(table[0, 0][0]["bank"] - 0.5) < 0.1
    assert min(each["it"] for both in table.values() for each in both) > 0.95
    asked = measure.questions("brackets", random.Random(seed), 200)
    lasts = torch.tensor([len(each.text) - 1 for each in asked])
    others = torch.randperm(200, generator=torch.Generator().manual_seed(seed))

    def another(layer: int, out: Tensor) -> Tensor:
        """Where it answers, the head gives what it gives where another sentence is asked."""
        out = out.clone()
        if layer == 1:
            out[torch.arange(200), 2, lasts] = out[others, 2, lasts[others]]
        return out

    whole = small.load()
    assert 0.5 < 1 - measure.right_share(lambda ids, _: whole(ids, another), asked) < 0.7


@lesson.says(
    "Weights show where a head looks; what it is for shows in its removal: of two heads that look nearly alike one carries most answers, and on long runs the model is better without the other.",
    "Head 4 takes most of the answers with it, even in runs of three words.",
    "Head 2, which looks nearly as hard, costs less than a quarter.",
)
def a_look_is_not_a_cause(seed: int) -> None:
    table = right(seed)[0]
    for by in (0, 1):
        cost = [1 - table[1, head][by]["repeats"] for head in range(4)]
        assert cost[3] > 0.75
        assert 0.05 < cost[1] < 0.25
        assert max(cost[0], cost[2]) < 0.08
        assert all(table[0, head][by]["repeats"] < 0.5 for head in (0, 2))
        assert all(table[0, head][by]["repeats"] > 0.75 for head in (1, 3))


def runs(seed: int, length: int, before: str = "", between: str = "") -> Tensor:
    """As the lesson's, of other words, behind a text, perhaps with one between the copies."""
    rng = random.Random(seed)
    some = [rng.sample(grammar.CONTENT, length) for _ in range(50)]
    first, second = before.split(), between.split()
    return torch.cat([small.numbered(["<s>", *first, *run, *second, *run]) for run in some])


@lesson.says(
    "On runs of 4 head 2 *helps*, and on runs of 8 nothing changes without it.",
    "The share of right answers rises from about 0.5 to about 0.9.",
    "No other head comes near that.",
    "All the while it looks at the right word.",
    "Without head 4 most answers are lost at each of these lengths.",
    "with 61, 89, 57 and 96 % of their weight",
)
def what_a_head_does_depends_on_the_run(seed: int) -> None:
    lab = here()
    share: dict[tuple[str, int], float] = {}
    for length in (4, 8, 16):
        for name, heads in lab.FEWER.items():
            without(*heads)
            share[name, length] = lab.continued(runs(seed, length)).mean()
        without()
        looks = lab.scores_of(lab.cut, runs(seed, length))
        assert max(looks[0]) < 0.15
        assert looks[1][1] > 0.7
        assert looks[1][3] > looks[1][1] > max(looks[1][0], looks[1][2])
        if length == 8:
            for found, said in zip(looks[1], (0.61, 0.89, 0.57, 0.96), strict=True):
                assert abs(found - said) < 0.03
        assert share["no head 4", length] < share["all", length] / 2
    for head in ("no head 1", "no head 2", "no head 3"):
        assert share[head, 4] < share["all", 4] - 0.06
        without(*lab.FEWER[head])
        apart = lab.cut(runs(seed, 4, between=";")).logits[:, 6:-1].argmax(dim=-1)
        assert (apart == runs(seed, 4)[:, 6:]).float().mean() > 0.97, head
        assert abs(share[head, 8] - share["all", 8]) < 0.02
    assert abs(share["all", 16] - 0.5) < 0.08
    assert abs(share["no head 2", 16] - 0.9) < 0.06
    for head in ("no head 1", "no head 3", "no head 4"):
        assert share[head, 16] < share["all", 16] + 0.13


@lesson.says(
    "The model is mostly right up to word 8, and from word 9 on it says a full stop.",
    "Take head 2 away, and it reads on.",
)
def it_stops_after_as_many_words_as_its_longest_run(seed: int) -> None:
    """In runs of any length, behind another sentence too; by 0 and by the mean; not without 1 or 3."""
    lab = here()
    longest, stop = grammar.LONGEST_RUN, small.words.index(".")
    assert longest == 8

    without()
    some = runs(seed, 16, between=";")
    stops = (lab.cut(some).logits[:, 18:-1].argmax(dim=-1) == stop).float().mean(dim=0)
    assert max(stops[: 9 - 1]) < 0.3 < 0.7 < min(stops[12 - 2 :]), stops  # words 2 to 9, 12 to 16

    def said(length: int, before: str, *heads: tuple[int, int], by: Any = None) -> Any:
        """Shares of right words and of full stops, up to the eighth word and from the tenth on."""
        ids = runs(seed, length, before)
        without(*heads, by=by)
        start = ids.shape[1] - length
        best = lab.cut(ids).logits[:, start:-1].argmax(dim=-1)
        right, stops = best == ids[:, start + 1 :], best == stop
        parts = [slice(longest - 1), slice(longest, 16)]
        return [float(each[:, part].float().mean()) for part in parts for each in (right, stops)]

    means = lab.usual(random.Random(seed))
    for length, before in ((12, ""), (16, ""), (20, ""), (16, "the king waits .")):
        right, stops, later, stops_later = said(length, before)
        assert right > 0.85 > 0.05 > stops
        assert later < 0.15 < 0.8 < stops_later
        for by in (None, means):
            right, stops, later, stops_later = said(length, before, (1, 1), by=by)
            assert right > 0.8
            assert later > 0.7 > 0.05 > stops_later
        for head in ((1, 0), (1, 2)):
            assert said(length, before, head)[2] < 0.35
    without()


@lesson.says(
    "A head of the first layer reads words and places, and nothing of a word's neighbours.",
)
def induction_needs_the_two_heads_that_look_at_the_word_before(seed: int) -> None:
    lab = here()
    some = runs(seed, 8)
    without()
    kept = lab.scores_of(lab.cut, some)[1]
    looks = model("counted")(some, output_attentions=True).attentions[0]
    before = looks.diagonal(-1, dim1=-2, dim2=-1)[:, :, 3:].mean(dim=(0, 2)).tolist()
    assert small.head("previous") == (0, 2)
    assert before[2] > before[0] + 0.05 > before[0] > 0.2 > 0.15 > max(before[1], before[3])
    fewer: Any = {"all": []} | {f"without {h + 1}": [(0, h)] for h in range(4)}
    for name, heads in fewer.items():
        without(*heads)
        found = lab.scores_of(lab.cut, some)[1]
        if name == "without 3":
            assert max(found) < 0.34
        elif name == "without 1":
            assert all(0.34 < each < 0.57 for each in found)
        else:
            assert all(each > old - 0.1 for each, old in zip(found, kept, strict=True)), name
    without()
    # Exchanged at words 3 and 6 of the first copy: the second copy's word 2 looks for word 3.
    for heads in ([0, 2], [1, 3]):

        def exchanging(module: Any, *given: Any, heads: Any = heads, **others: Any) -> Any:
            out, weights = lab.attention_forward(module, *given, **others)
            if module.layer_idx == 0:
                rows = torch.arange(out.shape[1])
                rows[[3, 6]] = torch.tensor([6, 3])
                out[:, :, heads] = out[:, rows][:, :, heads]
            return out, weights

        lab.AttentionInterface.register("exchanging", exchanging)
        lab.AttentionMaskInterface.register("exchanging", lab.sdpa_mask)
        row = lab.opened(small.HERE, "exchanging").requires_grad_(False)
        row = row(some, output_attentions=True).attentions[1][:, :, 10].mean(dim=0)
        if heads == [0, 2]:
            assert (row[:, 3] < 0.13).all()
            assert (row[:, 6] > 1.5 * row[:, 3]).all()
        else:
            assert (row[:, 3] > 5 * row[:, 6]).all()
    # The score of a pair in the first layer stays when all words between them are others.
    ids = some[:1].clone()
    first = model("counted")(ids, output_attentions=True).attentions[0][0, :, -1, [1, -1]]
    ids[0, 2:-1] = ids[0, 2:-1].flip(0)
    again = model("counted")(ids, output_attentions=True).attentions[0][0, :, -1, [1, -1]]
    ratios = [each[:, 0] / each[:, 1] for each in (first, again)]
    torch.testing.assert_close(*ratios, rtol=1e-3, atol=1e-6)


@lesson.says(
    "Slopes pass through the other heads.",
    "Set the heads in the list to 0, and leave `out` itself as it was.",
)
def slopes_pass_through_the_other_heads(seed: int) -> None:
    torch.manual_seed(seed)
    out = torch.randn(2, 3, 4, 5, requires_grad=True)
    here().without_heads(out, [1, 3]).sum().backward()
    assert out.grad is not None
    torch.testing.assert_close(out.grad[:, :, [0, 2]], torch.ones(2, 3, 2, 5))
    assert not out.grad[:, :, [1, 3]].any()
