"""What lesson 07 says, and what would refute it."""

from __future__ import annotations

import copy
import itertools
import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from attnlab import small
from attnlab.small import grammar, measure
from tests.claims import Lesson, taught

lesson = Lesson("07-multi-head")
here = taught("07-multi-head")


@cache
def visitors() -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Queues, their answers, where each one's front and twin stand, and where the answers differ."""
    x, answers, _ = here.queues(1000, torch.Generator().manual_seed(99))
    subject = x[..., :4].argmax(dim=-1)
    same = (subject[:, :, None] == subject[:, None, :]) & ~torch.eye(8, dtype=torch.bool)
    twin = same.int().argmax(dim=-1)
    front = torch.arange(-1, 7).clamp(min=0).expand_as(twin)
    differ = answers[..., 0] != answers[..., 1]
    differ[:, 0] = False  # nobody is in front
    return x, answers, front, twin, differ


@cache
def trained(n_heads: int, hidden: int, seed: int) -> Any:
    return here.trained(n_heads, hidden, seed)


class Answering(nn.Module):
    """The lesson's own attention, with the guesses of a trained model."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.attention = here.MultiHeadAttention(16, model.attention.num_heads).double()
        self.attention.load_state_dict(here.unpacked(model.attention))
        self.guess = model.guess

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        out, weights = self.attention(x)
        return self.guess(out).unflatten(-1, (2, 4)), weights


def replies(model: Any, change: Callable[[Tensor], Tensor] = lambda weights: weights) -> Tensor:
    """What a model says to each visitor, (1000, 8, 2), if its weights are changed."""
    own = Answering(model).attention
    n_heads = model.attention.num_heads
    with torch.no_grad():
        q, k, v = (here.split_heads(W(visitors()[0]), n_heads) for W in (own.W_q, own.W_k, own.W_v))
        joined = here.merge_heads(change(here.attend(q, k, v)[1]) @ v)
        guesses: Tensor = model.guess(own.W_o(joined)).unflatten(-1, (2, 4))
    return guesses.argmax(dim=-1)


def right(said: Tensor) -> np.ndarray:
    """Shares of right answers to both questions, where the two differ."""
    _, answers, _, _, differ = visitors()
    return np.asarray((said == answers)[differ].double().mean(dim=0))


def exchanged(weights: Tensor) -> Tensor:
    """Each row's weights of the visitor in front and of the twin change places."""
    _, _, front, twin, _ = visitors()
    at_front, at_twin = (
        place[:, None, :, None].expand(-1, weights.shape[1], -1, -1) for place in (front, twin)
    )
    taken = weights.gather(-1, at_twin), weights.gather(-1, at_front)
    return weights.scatter(-1, at_front, taken[0]).scatter(-1, at_twin, taken[1])


@lesson.says(
    "The heavier card wins, and it wins for both questions.",
    "It brings back one average, in which a linear layer hears the same card louder for both "
    "questions",
    "Where values do not say which question they answer, a linear layer cannot tell from it who said what; a hidden layer may.",
)
def no_linear_layer_hears_each_card_for_its_own_question(seed: int) -> None:
    """A proof, for two cards, even if their weights depend on what is on them.

    Card i has a share `front[i]` where it is in front, `twin[i]` where it is the twin's. The layer
    adds a number of its own for each card, times the share, and says 0 above 0 (a bias is in these
    numbers, as shares add up to 1). What it needs, one row each: two cards of 0 are a 0; 0 before 1
    and 1 before 0 are what was asked for. For one of the questions the rows add up to 0, by factors
    that are not negative: so not all can be above 0.
    """
    for front, twin in np.random.default_rng(seed).uniform(0.05, 0.5, (50, 2, 2)):
        ahead = front.prod() - twin.prod()
        needs = np.array([[1, 0], [front[0], twin[1]], [-twin[0], -front[1]]])
        if ahead > 0:  # it fails at the twin's
            needs[1:] *= -1
        factors = np.array([abs(ahead), front[1], twin[1]])
        np.testing.assert_allclose(factors @ needs, 0, atol=1e-12)
    louder = np.array([[1, 0], [0.4, 0.2], [-0.2, -0.4]])
    assert (louder @ [1, -1] > 0).all()  # the louder one can be heard


@lesson.says(
    "One head with a linear layer answers one question almost always; the seed decides which. It answers the other some 40 % of the time. Say one number for both questions, and you get nearly as much: 36 %, the share of visitors whose two answers agree.",
    "Where the answers differ, it says the same number for both about nine times out of ten.",
    "Yes. One head sends a single average for two questions, and what reads it is linear.",
)
def a_linear_layer_follows_one_visitor_for_both_questions(seed: int) -> None:
    one = trained(1, 0, seed)
    other, answered = sorted(here.share_right(one))
    assert answered > 0.96
    _, answers, *_ = visitors()
    agree = (answers[:, 1:, 0] == answers[:, 1:, 1]).double().mean().item()
    assert abs(agree - 0.36) < 0.01
    assert agree - 0.02 < other < agree + 0.1
    said = replies(one)[visitors()[-1]]
    assert 0.85 < (said[:, 0] == said[:, 1]).double().mean() < 0.98


@lesson.says(
    "Two heads of half the width answer both.",
    "Heads give a token several averages, from the same width.",
)
def two_heads_answer_both(seed: int) -> None:
    one, two = trained(1, 0, seed), trained(2, 0, seed)
    assert min(here.share_right(two)) > 0.99
    sizes = [[p.shape for p in model.parameters()] for model in (one, two)]
    assert sizes[0] == sizes[1]


@lesson.says(
    "But so does one head with a hidden layer behind it.",
    "So the hidden layer has a puzzle to solve: a layer of 16 numbers (408 parameters) mostly solves it, and one of 4 does not.",
    "A linear layer with 136 parameters reads two heads.",
)
def one_head_with_a_hidden_layer_answers_both(seed: int) -> None:
    deep, two = trained(1, 16, seed), trained(2, 0, seed)
    assert min(here.share_right(deep)) > 0.85
    assert sum(each.numel() for each in deep.guess.parameters()) == 408
    assert sum(each.numel() for each in two.guess.parameters()) == 136
    attention = [sum(p.numel() for p in each.attention.parameters()) for each in (deep, two)]
    assert attention[0] == attention[1]


@lesson.says(
    "In its map, not drawn here, the twin has two to four times the weight of the one in front (with other seeds it is the other way round), and that tells who said what.",
    "Exchange these two weights in every row, and most of its answers change places.",
    "A hidden layer can listen to the softer card as well.",
)
def the_two_weights_tell_a_hidden_layer_who_said_what(seed: int) -> None:
    """Exchanged they turn its answers round; made equal they leave it a coin to toss."""
    deep = trained(1, 64, seed)
    x, _, front, twin, differ = visitors()
    with torch.no_grad():
        weights = deep(x)[1][:, 0]
    two = torch.cat([weights.gather(-1, place[..., None]) for place in (front, twin)], dim=-1)
    ratio = (two.amax(dim=-1) / two.amin(dim=-1))[differ].median()
    assert 1.7 < ratio < 4, ratio
    turned = replies(deep, exchanged)
    assert (right(replies(deep)) > 0.99).all()
    assert (right(turned) < 0.25).all()
    assert (right(turned.flip(-1)) > 0.75).all()
    equal = right(replies(deep, lambda weights: (weights + exchanged(weights)) / 2))
    assert (np.abs(equal - 0.5) < 0.1).all(), equal


@lesson.says(
    "(If it did, as a who-word and a where-word do, one head and a linear layer would read both.)",
    "The average has kept both words, but it no longer shows which word answers which question, because each word says the same in both halves.",
    long=True,
)
def values_that_say_which_question_they_answer_need_no_second_head(seed: int) -> None:
    """Four who-words, four where-words, six fillers of one kind: one of each asked for is there."""

    def phrases(count: int, rng: torch.Generator) -> tuple[Tensor, Tensor, list[str]]:
        answers = torch.randint(4, (count, 2), generator=rng)
        words = torch.full((count, 8), 15)
        places = torch.rand(count, 8, generator=rng).argsort(dim=1)[:, :2]
        words = words.scatter(1, places, answers + torch.tensor([0, 4]))
        return F.one_hot(words, 16).double(), answers[:, None].expand(-1, 8, 2), []

    with patch.multiple(here, queues=phrases):
        assert min(here.share_right(here.trained(1, 0, seed))) > 0.99


@lesson.says("A hidden layer can take the two apart; two heads do not mix them.")
def a_hidden_layer_takes_apart_what_a_finished_head_brings(seed: int) -> None:
    """Attention stays as it was trained with a linear layer: what that lost was in the average."""
    frozen = copy.deepcopy(trained(1, 0, seed))
    frozen.attention.requires_grad_(False)
    before = frozen.attention.in_proj_weight.clone()
    torch.manual_seed(seed)
    frozen.guess = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 8)).double()
    here.train(frozen, seed + 1)
    assert torch.equal(before, frozen.attention.in_proj_weight)
    assert min(here.share_right(frozen)) > 0.95


@lesson.says(
    "A head four times as wide does not get both either.",
    "mostly solves it, and one of 4 does not.",
    long=True,
)
def neither_width_nor_patience_helps_a_linear_layer(seed: int) -> None:
    """Ten times the steps, four times the width, a tiny hidden layer."""
    patient = copy.deepcopy(trained(1, 0, seed))
    for round_ in range(9):
        here.train(patient, seed + 10 + round_)
    assert min(here.share_right(patient)) < 0.65

    class Wide(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.widen = nn.Linear(16, 64)
            self.attention = nn.MultiheadAttention(64, 1, batch_first=True)
            self.guess = nn.Linear(64, 8)

        def forward(self, x: Tensor) -> tuple[Tensor, None]:
            wide = self.widen(x)
            return self.guess(self.attention(wide, wide, wide)[0]).unflatten(-1, (2, 4)), None

    torch.manual_seed(seed)
    wide = Wide().double()
    here.train(wide, seed)
    assert min(here.share_right(wide)) < 0.65
    narrow = copy.deepcopy(trained(1, 4, seed))
    for round_ in range(9):
        here.train(narrow, seed + 10 + round_)
    assert min(here.share_right(narrow)) < 0.9


@lesson.says(
    "With two heads each question has a softmax of its own, and most of a row goes to one place.",
    "Each head serves one question, and the other question loses nothing without it.",
)
def each_of_two_heads_serves_one_question(seed: int) -> None:
    two = trained(2, 0, seed)
    with torch.no_grad():
        rows = two(visitors()[0])[1][:, :, 1:].amax(dim=-1).mean(dim=(0, 2))
    assert (rows > 0.6).all(), rows
    each_serves_one(two)


def each_serves_one(two: Any) -> None:
    """Without one head one question is lost, and the other as good as it was."""
    left = []
    for head in range(2):
        muted = copy.deepcopy(two)
        with torch.no_grad():
            muted.attention.out_proj.weight[:, head * 8 : (head + 1) * 8] = 0.0
        left.append(here.share_right(muted))
    kept = np.array(left) > 0.99
    assert (kept.sum(axis=0) == 1).all()
    assert (kept.sum(axis=1) == 1).all()
    assert (np.array(left)[~kept] < 0.4).all()


@lesson.says("Two heads of half the width answer both.", "Each head serves one question", long=True)
def two_heads_share_out_the_questions_from_any_start() -> None:
    """PyTorch's own start, and linears', tiny, orthogonal and wide ones."""
    starts: list[Callable[[Tensor], Any]] = [
        lambda matrix: nn.init.uniform_(matrix, -0.25, 0.25),
        lambda matrix: nn.init.normal_(matrix, std=0.02),
        lambda matrix: nn.init.orthogonal_(matrix),
        lambda matrix: nn.init.normal_(matrix, std=0.5),
    ]
    for start in starts:
        torch.manual_seed(7001)
        two = here.TwoAnswers(2).double()
        for matrix in (*two.attention.in_proj_weight.chunk(3), two.attention.out_proj.weight):
            start(matrix.data)
        here.train(two, 7001)
        each_serves_one(two)


@lesson.says(
    "The model never computes with the mean of the two maps: each head mixes values of its own.",
    "The mean of the weights is in no formula.",
    "The output is a sum: each head's weights, values and part of W_o.",
)
def weights_belong_to_the_values_of_their_head(seed: int) -> None:
    """Each head's own share adds up to the output; the mean or another head's weights do not."""
    two = trained(2, 0, seed)
    assert (right(replies(two)) > 0.99).all()
    assert (right(replies(two, lambda w: w.mean(dim=1, keepdim=True).expand_as(w))) < 0.8).all()
    assert (right(replies(two, lambda w: w.roll(1, dims=1))) < 0.8).all()
    x = visitors()[0][:5]
    own = Answering(two).attention
    with torch.no_grad():
        out, weights = own(x)
        parts = [
            weights[:, h]
            @ own.W_v(x)[..., h * 8 : h * 8 + 8]
            @ own.W_o.weight.mT[h * 8 : h * 8 + 8]
            for h in range(2)
        ]
        torch.testing.assert_close(sum(parts) + own.W_o.bias, out)
        averaged, mean = two.attention(x, x, x)
        torch.testing.assert_close(mean, weights.mean(dim=1))
        torch.testing.assert_close(averaged, out)


@lesson.says(
    "The average has kept both words, but it no longer shows which word answers which question, because each word says the same in both halves.",
    "One softmax gives one pattern, and one average.",
)
def equal_weights_lose_who_said_what() -> None:
    """By hand: the cat is the where and the mat the who, and nothing of the output moves."""
    query = torch.tensor([2.0, 0, 0, 0, 0, 2, 0, 0])
    keys, pages = torch.zeros(3, 8), torch.eye(3, 4).repeat(1, 2)
    keys[0, 0] = keys[2, 5] = 2.0
    order = [2, 1, 0]
    before, after = (here.attend(query[None], k, pages)[0] for k in (keys, keys[order]))
    torch.testing.assert_close(before, after)
    halves = [here.attend(query[None, 4:], k[:, 4:], pages[:, 4:])[0] for k in (keys, keys[order])]
    assert not torch.allclose(*halves)


@lesson.says(
    "Cut the last axis, then move the head axis before the tokens; on the way back, the same in "
    "reverse.",
    "A reshape alone gives the right shape and the wrong numbers.",
    "`moved` is not, and `view` refuses to join its axes.",
)
def a_reshape_alone_gives_the_right_shape_and_the_wrong_numbers(seed: int) -> None:
    torch.manual_seed(seed)
    x = torch.randn(2, 6, 12)
    cut = here.split_heads(x, 3)
    wrong = here.reshaped_at_once(x, 3)
    assert wrong.shape == cut.shape
    assert torch.equal(cut[:, 1], x[..., 4:8])
    assert torch.equal(wrong[:, 1].flatten(1), x[:, 2:4].flatten(1))
    assert torch.equal(here.merge_heads(cut), x)
    assert not torch.equal(here.merge_heads(wrong), x)
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        cut.view(2, 18, 4)


@lesson.says(
    "No word attends to a word of another head.",
    "The future leaks, although the mask is right",
    "Two mistakes undo each other's leak, so that the test of lesson 06 passes.",
    "(Swap far apart: *the* and *cat*, of one head, would pass.)",
)
def two_wrong_layouts_pass_the_causal_test_and_fail_a_swap_from_afar(seed: int) -> None:
    torch.manual_seed(seed)
    x = torch.randn(1, 6, 12)
    other = x.clone()
    other[0, 5] = torch.randn(12)
    triangle = torch.ones(6, 6, dtype=torch.bool).tril()

    def out(x: Tensor, mask: Tensor | None, join: Callable[[Tensor], Tensor]) -> Tensor:
        q, k, v = (here.reshaped_at_once(x @ turned, 3) for turned in turns)
        return join(here.attend(q, k, v, mask)[0])[0]

    def at_once(found: Tensor) -> Tensor:
        return found.reshape(x.shape)

    def rows(join: Callable[[Tensor], Tensor], mask: Tensor | None) -> list[int]:
        moved = (out(x, mask, join) - out(other, mask, join)).abs().amax(dim=-1) > 1e-6
        return [n for n in range(6) if moved[n]]

    turns = torch.randn(3, 12, 12) / 12**0.5
    assert rows(here.merge_heads, triangle) == [3, 4, 5]
    assert rows(at_once, triangle) == [5]
    assert rows(at_once, None) == [4, 5]  # the words of its head, and no others

    follows = [
        torch.allclose(out(x[:, o], None, at_once), out(x, None, at_once)[o], atol=1e-5)
        for o in ([5, 1, 2, 3, 4, 0], [1, 0, 2, 3, 4, 5])
    ]
    assert follows == [False, True]


@lesson.says(
    "Divide a head's scores by √(d/H): its queries and keys are d/H wide.",
)
def the_width_of_a_head_keeps_the_spread_of_its_scores(seed: int) -> None:
    torch.manual_seed(seed)
    for n_heads in (1, 4, 16):
        q, k = here.split_heads(torch.randn(400, 16, 64), n_heads), torch.randn(400, 1, 16, 64)
        raw = q @ here.split_heads(k[:, 0], n_heads).mT
        assert abs((raw / (64 / n_heads) ** 0.5).std() - 1) < 0.03
        assert abs((raw / 64**0.5).std() * n_heads**0.5 - 1) < 0.03


class Products(TorchDispatchMode):
    """Counts the matrix products, and the powers of e, while it is switched on."""

    calls = powers = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.__name__.partition(".")[0]
        self.calls += name in ("mm", "addmm", "bmm", "baddbmm")
        self.powers += args[0].numel() if name in ("_softmax", "exp") else 0
        return func(*args, **(kwargs or {}))


@lesson.says(
    "Parameters, and multiplications in matrix products, do not depend on H.",
    "There are H · N² weights, and softmax takes as many powers of e.",
)
def powers_grow_with_the_heads_and_products_do_not() -> None:
    x, found = torch.randn(1, 7, 24), set()
    for n_heads in (1, 2, 6, 24):
        module = here.MultiHeadAttention(24, n_heads)
        with torch.no_grad(), FlopCounterMode(display=False) as counted:
            module(x)
        with torch.no_grad(), Products() as products:
            _, weights = module(x)
        assert weights.numel() == products.powers == n_heads * 7 * 7
        flops = counted.get_total_flops()
        found.add((sum(p.numel() for p in module.parameters()), flops, products.calls))
    assert found == {(4 * 24**2 + 4 * 24, 2 * (4 * 7 * 24**2 + 2 * 7**2 * 24), 6)}


# The small model ----------------------------------------------------------------------------------

SUBJECT = small.head("subject")


def removed(seed: int, task: str, *heads: measure.Head) -> float:
    """Right answers without these heads."""
    asked = measure.questions(task, random.Random(seed), 200)
    return measure.right_share(small.load(), asked, measure.without(heads))


def alone(seed: int, task: str) -> dict[measure.Head, float]:
    """Right answers without each head in turn."""
    return {head: removed(seed, task, head) for head in measure.heads_of(small.load())}


@lesson.says(
    "One head puts nearly all of that row on *king*.",
    "The model does get verbs wrong, but brackets too, which this map does not show.",
    "Without the head that looks at *king* about four verbs in ten are wrong, and a third of the brackets.",
)
def the_subjects_head_looks_at_the_subject_and_is_needed_for_brackets_too(seed: int) -> None:
    sentence = ["<s>", "the", "king", "behind", "the", "dogs", "that", "the", "boy", "sees"]
    layer, head = SUBJECT
    assert small.weights(sentence)[layer][head, -1, sentence.index("king")] > 0.85
    for task, left in (("agreement", 0.62), ("brackets", 0.68)):
        assert removed(seed, task) > 0.97
        assert abs(removed(seed, task, SUBJECT) - left) < 0.09, task


@cache
def averages() -> dict[int, Tensor]:
    """What each head gives on average, to be put in its place instead of 0."""
    return measure.means(small.load(), random.Random(1))


@lesson.says(
    "With all heads the subject decides, the first noun. Without the subject's head the *nearest* noun does, so the wrong verbs are mostly those whose nearest noun has another number. Where the sentence stands alone, the verb is singular after *dog* and mostly plural after *dogs*, whatever the first noun is.",
    "(After a sentence about *it* only about half are plural.)",
)
def without_its_head_the_nearest_noun_decides(seed: int) -> None:
    """By 0 and by the head's mean; without another head of its layer nothing changes."""
    asked = here.attraction.two_nouns(random.Random(seed), 100)
    first = [float(nouns.startswith("king ")) for nouns in asked]
    nearest = [float(nouns.endswith("dog")) for nouns in asked]

    def singular(change: Any) -> list[float]:
        return [measure.right_share(small.load(), some, change) for some in asked.values()]

    for other in (1, 3):
        np.testing.assert_allclose(singular(measure.without([(1, other)])), first, atol=0.03)
    for instead in (None, averages()):
        left = singular(measure.without([SUBJECT], instead))
        np.testing.assert_allclose(left, nearest, atol=0.35)
        assert abs(left[0] - left[2]) < 0.15, left  # the subject's number changes next to nothing
        assert abs(left[1] - left[3]) < 0.15, left

    rng, after_it = random.Random(seed), []
    for question in [each for name in asked if name.endswith("dogs") for each in asked[name]]:
        writer = grammar.Writer(rng)
        writer.say(grammar.START)
        writer.sentence("it")
        after_it.append(replace(question, text=[*writer.text, *question.text[1:]]))
    plural = 1 - measure.right_share(small.load(), after_it, measure.without([SUBJECT]))
    assert 0.35 < plural < 0.68


@lesson.says(
    "In longer sentences the verb then agrees with its subject by chance alone, and mostly with the nearest noun. (After one clause with *that*, and nothing else, it is nearly always plural.)",
    long=True,
)
def in_longer_sentences_the_subject_has_no_say_without_its_head(seed: int) -> None:
    rng = random.Random(seed)

    def asked(thats: tuple[bool, ...]) -> measure.Question:
        """A verb after these clauses: with *that*, or with a place."""
        writer = grammar.Writer(rng)
        many = rng.random() < 0.5
        nouns, verbs = (grammar.SINGULAR, grammar.PLURAL), (grammar.RUNS, grammar.RUN)
        writer.say(grammar.START, "the", rng.choice(nouns[many]))
        for that in thats:
            writer.clause(that=that)
        return measure.Question(writer.text, verbs[many], verbs[not many])

    def plurals(question: measure.Question) -> list[bool]:
        both = {*grammar.SINGULAR, *grammar.PLURAL}
        return [word in grammar.PLURAL for word in question.text if word in both]

    def agree(said: Tensor, place: int) -> float:
        nouns = torch.tensor([plurals(question)[place] for question in questions])
        return float((said == nouns).double().mean())

    for clauses in range(1, 4):
        for thats in itertools.product((False, True), repeat=clauses):
            questions = [asked(thats) for _ in range(300)]
            many = torch.tensor([plurals(question)[0] for question in questions])
            right = measure.answers(small.load(), questions, measure.without([SUBJECT]))
            said = torch.where(right, many, ~many)
            assert abs(agree(said, 0) - 0.5) < 0.12, thats
            if thats == (True,):
                assert said.double().mean() > 0.85
            else:
                assert agree(said, -1) > 0.58, thats


@lesson.says(
    "*Bank* depends on one head of the first layer.",
    "*It* depends on no single head.",
)
def a_bank_hangs_on_one_head_and_it_on_none(seed: int) -> None:
    needed = [head for head, share in alone(seed, "bank").items() if share < 0.9]
    assert [layer for layer, _ in needed] == [0]
    assert min(alone(seed, "it").values()) > 0.95


@lesson.says(
    "Runs that come again depend on several: two in the first layer, and above all one in the second. That one is an **induction head**: it looks at the word *after* an earlier copy of this one, and so finds what comes next (Olsson et al. 2022)."
)
def runs_that_come_again_hang_on_several_heads(seed: int) -> None:
    needed = {head for head, share in alone(seed, "repeats").items() if share < 0.5}
    assert {small.head("previous"), small.head("repeat")} <= needed
    assert sorted(layer for layer, _ in needed) == [0, 0, 1]
    seen = measure.looks(small.load(), random.Random(seed))
    assert seen[small.head("repeat")][1] > 0.8


@lesson.says(
    "It can, because each layer makes its queries, keys and values from rows that the layer before has rewritten. One head of the first layer gives a third of its look to the word before, and so writes into each row what stood before it.",
    "Without the head that wrote, the induction head loses most of its look.",
)
def an_induction_head_reads_what_the_first_layer_wrote(seed: int) -> None:
    """Without the head for the word before it is lost; without its neighbours it is not."""
    previous, repeat = small.head("previous"), small.head("repeat")
    assert (previous[0], repeat[0]) == (0, 1)
    assert 0.25 < measure.looks(small.load(), random.Random(seed))[previous][0] < 0.42
    left = {}
    for head in [(0, which) for which in range(4)]:
        rng = random.Random(seed)
        left[head] = measure.looks(small.load(), rng, measure.without([head]))[repeat][1]
    assert min(left, key=lambda head: left[head]) == previous
    assert left[previous] < 0.4
    assert max(left.values()) > 0.85


@lesson.says(
    "Exchange one row of the subject's head, and the verb takes the other sentence's number, every time. A row of any other head never does that, in sentences that stand alone as these do.",
    "A map alone could not say so.",
)
def one_row_of_one_head_carries_the_subjects_number(seed: int) -> None:
    rng, model = random.Random(seed), small.load()
    pairs = [measure.agreement(rng) for _ in range(200)]
    for head in measure.heads_of(model):
        assert measure.flipped(model, head, pairs) == (head == SUBJECT), head
