"""What lesson 01 says, and what would refute it."""

from __future__ import annotations

import math
import random
import warnings
from decimal import Decimal, localcontext
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from attnlab import small
from attnlab.figures.live.figure import short
from attnlab.figures.live.race import Entry
from attnlab.figures.live.soft_lookup import answer_and_slope
from attnlab.lessons.training import race
from attnlab.small import measure, train
from tests.claims import Lesson, taught

SENTENCE = ["the", "bank", "we", "passed", "on", "our", "long", "walk", "was", "muddy"]
BANK, MUDDY = SENTENCE.index("bank"), SENTENCE.index("muddy")
WORDS, WIDTH = len(SENTENCE), 6

lesson = Lesson("01-soft-lookup")
here = taught("01-soft-lookup")
KEYS, PAGES, QUERY = here.KEYS, here.PAGES, here.QUERY


def desk(rng: random.Random, m: int, d_k: int = 3, d_v: int = 4) -> tuple[Any, Any, Any]:
    """A query, keys and values, all drawn."""
    query, *keys = [[rng.gauss(0, 1) for _ in range(d_k)] for _ in range(m + 1)]
    return query, keys, [[rng.gauss(0, 1) for _ in range(d_v)] for _ in range(m)]


def text(seed: int) -> torch.Tensor:
    torch.manual_seed(seed)
    return torch.randn(1, WORDS, WIDTH, dtype=torch.float64)


def hearers(network: Any, words: torch.Tensor, changed: int = MUDDY) -> list[int]:
    """The words whose rows change when another word stands in one place."""
    other = words.clone()
    other[0, changed] = torch.randn(WIDTH, dtype=torch.float64)
    with torch.no_grad():
        moved = (network(words) != network(other)).any(-1)[0]
    return moved.nonzero().flatten().tolist()


def attending() -> Any:
    q, k, v = torch.randn(3, WIDTH, WIDTH, dtype=torch.float64) / WIDTH**0.5
    return lambda x: F.scaled_dot_product_attention(x @ q, x @ k, x @ v)


def convolving(layers: int) -> Any:
    convolutions = [nn.Conv1d(WIDTH, WIDTH, 3, padding=1).double() for _ in range(layers)]

    def network(x: torch.Tensor) -> torch.Tensor:
        x = x.transpose(1, 2)
        for convolution in convolutions:
            x = convolution(x).tanh()
        return x.transpose(1, 2)

    return network


def raced(make: Any, distance: int, seed: int) -> tuple[Any, float]:
    """A racer after its training, and the share of fresh texts that is right."""
    torch.manual_seed(seed)
    racer, draw = make(), torch.Generator().manual_seed(seed)
    race.learn(racer, distance, draw, [])
    return racer, race.share_right(racer, distance, draw)


@lesson.says(
    "As PyTorch starts it, it loses on average more than half of the slope at each hand-over, and from 11 on it guesses.",
    "A **GRU** can keep its summary, and learned every distance, from each of three starts.",
    "Four layers reach four tokens, and from 5 on they guess.",
    "It learned all distances alike: the shortest path between any two words is one look",
    "And a look does not wait, while RNN and GRU take 17 steps, each of which needs the one before.",
    "The last racer is told places, and may learn one.",
    "Where the slope is 0, training has nothing to go by.",
)
def the_recording_says_so() -> None:
    """And shares are of what it records: other seeds are run below."""
    entries = {
        name: {distance: Entry(name, distance) for distance in race.DISTANCES}
        for name in race.RECORDED
    }
    rnn, gru, convolution, attention, placed = entries.values()
    for name, each in entries.items():
        assert each[1].waits == race.WAITS[name]
    fading = [rnn[distance].at_the_mark("before") for distance in race.DISTANCES]
    assert all(after < before / 2 for before, after in pairwise([1.0, *fading]))
    assert (short(fading[7]), short(fading[15])) == ("1 · 10⁻³", "2 · 10⁻⁶")
    assert max(max(rnn[distance].seeds) for distance in range(11, 17)) < 0.2
    assert min(min(rnn[distance].seeds) for distance in range(1, 7)) > 0.99
    assert min(min(gru[distance].seeds) for distance in race.DISTANCES) > 0.99
    assert all(max(rnn[at].seeds) > 4 * min(rnn[at].seeds) for at in (9, 10))
    assert min(min(convolution[distance].seeds) for distance in range(1, 5)) > 0.99
    assert max(max(convolution[distance].seeds) for distance in range(5, 17)) < 0.2
    assert all(convolution[distance].at_the_mark("before") == 0 for distance in range(5, 17))
    assert min(min(each.seeds) for each in attention.values()) > 0.99
    steps = [each.steps for each in attention.values()]
    assert max(steps) < 1.3 * min(steps)
    off = [right for seed in placed[4].beside for right in seed]
    assert min(off) < 0.2
    assert max(off) > 0.99
    for entry in attention.values():
        others = [*entry.slopes["after"][0][:-1]]  # the last one asks
        marked = others.pop(entry.marked)
        assert marked > 10 * max(others)


@lesson.says("it loses on average more than half of the slope at each hand-over")
def an_rnn_by_pytorchs_start_keeps_less_than_half_of_the_slope_on_average(seed: int) -> None:
    """At some hand-overs it keeps a little more."""
    draw, kept = torch.Generator().manual_seed(seed), []
    for start in range(8):
        torch.manual_seed(seed + start)
        racer = race.Recurrent(nn.RNN)
        ids, marked = race.texts(64, 8, draw)
        states = racer.states(racer.embed(ids))
        loss = F.cross_entropy(racer.classes(states[-1][:, -1]), marked)
        slopes = [slope.norm() for slope in torch.autograd.grad(loss, states)]
        kept += [float(before / after) for before, after in pairwise(slopes)]
    assert sum(kept) / len(kept) < 0.5


@lesson.says(
    "trained at 4 alone, it is right at 3 and 5 as well, and in texts of 257 tokens.",
    "The RNN and the convolution fail: they learned a place.",
    long=True,
)
def trained_at_one_place_attention_finds_the_mark_at_all_others(seed: int) -> None:
    draw = torch.Generator().manual_seed(seed)
    for name, make in race.RACERS.items():
        racer, right = raced(make, 4, seed)
        assert right > 0.99
        beside = [race.share_right(racer, distance, draw) for distance in (3, 5)]
        if name == "attention":
            assert min(beside) > 0.99
            assert race.share_right(racer, 200, draw, length=257) > 0.99
        elif name != "GRU":
            assert max(beside) < 0.35, (name, beside)
    torch.manual_seed(seed)
    rnn = race.RACERS["RNN"]()
    optimizer = torch.optim.Adam(rnn.parameters(), lr=race.RATE)
    for step in range(race.STEPS):
        ids, marked = race.texts(race.BATCH, step % 4 + 1, draw)
        loss = F.cross_entropy(rnn(ids), marked)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert race.share_right(rnn, 5, draw) > 0.95


@lesson.says(
    "**attention can connect by content, not by place**",
    "**One set of them serves a text of any length**, in all racers but the last.",
)
def only_with_positions_can_the_answer_depend_on_a_place_and_only_there_the_length(
    seed: int,
) -> None:
    """Whatever the parameters are: rows that change places change no answer."""
    draw = torch.Generator().manual_seed(seed)
    ids, _ = race.texts(20, 4, draw)
    moved = torch.cat([ids[:, torch.randperm(16, generator=draw)], ids[:, 16:]], dim=1)
    longer, _ = race.texts(2, 200, draw, length=257)
    for name, make in race.RECORDED.items():
        torch.manual_seed(seed)
        racer = make().double()
        assert torch.allclose(racer(ids), racer(moved), atol=1e-9) == (name == "attention")
        if name == race.PLACED:
            with pytest.raises(RuntimeError):
                racer(longer)
        else:
            assert racer(longer).shape == (2, race.CLASSES)


def keeping() -> race.Racer:
    """An RNN whose summary keeps its length from step to step at the start, but for tanh."""
    racer = race.Recurrent(nn.RNN)
    nn.init.orthogonal_(racer.layer.all_weights[0][1])
    return racer


@lesson.says(
    "Attention rewrites each word in its context, by one look at all words.",
)
def attention_reaches_every_word_at_once_and_does_not_see_the_distance(seed: int) -> None:
    """A convolution beside it sees what stands near: moving the others changes its row."""
    words, attention, near = text(seed), attending(), convolving(2)
    for changed in range(WORDS):
        assert hearers(attention, words, changed) == list(range(WORDS))
    moved = words[:, [0, BANK, *reversed(range(BANK + 1, WORDS))]]
    with torch.no_grad():
        change = [(net(words) - net(moved))[0, BANK].abs().max() for net in (attention, near)]
    assert change[0] < 1e-12 < 1e-4 < change[1], change


@lesson.says(
    "A look is a lookup: the sum of all values, each times its key's weight.",
    "A dictionary's weights are 0 and 1.",
    "The answer is a weighted average of all values.",
    "The answer is a **weighted average**. Rounding aside, it is never saltier than the saltiest page or fresher than the freshest.",
)
def pytorchs_attention_is_this_lookup_row_by_row_and_a_dictionary_the_hard_one(seed: int) -> None:
    rng = random.Random(seed)
    _, keys, values = desk(rng, 7)
    queries = [desk(rng, 1)[0] for _ in range(5)]
    q, k, v = (torch.tensor(each, dtype=torch.float64) for each in (queries, keys, values))
    looked = F.scaled_dot_product_attention(q, k, v)
    for query, row in zip(queries, looked.tolist(), strict=True):
        output, weights = here.soft_lookup(query, keys, values, math.sqrt(3))
        assert row == pytest.approx(output, abs=1e-12)
        shares = here.soft_lookup(query, keys, np.eye(7).tolist(), math.sqrt(3))[0]
        assert shares == pytest.approx(weights, abs=1e-12)
        assert min(weights) > 0
        for number, column in zip(row, zip(*values, strict=True), strict=True):
            assert min(column) < number < max(column)
    table = {tuple(key): value for key, value in zip(keys, values, strict=True)}
    for place, key in enumerate(keys):
        assert here.hard_lookup(key, keys, values) == table[tuple(key)]
        assert here.hard_lookup(key, keys, np.eye(7).tolist()) == np.eye(7)[place].tolist()


@lesson.says(
    "A 0/1 weight has no useful gradient: its slope is 0 wherever it has one.",
    "A model that nudges its query a little sees no change, and stays where it is.",
)
def a_nudge_moves_the_soft_answer_and_no_hard_one(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(200):
        x, y = (rng.uniform(-2, 2) for _ in range(2))
        for nudged in ([x + here.NUDGE, y], [x, y + here.NUDGE]):
            moved = [salt(nudged) - salt([x, y]) for salt in (here.soft_salt, here.closest_salt)]
            top, second = sorted((x * k[0] + y * k[1] for k in KEYS), reverse=True)[:2]
            on_a_border = top - second < 10 * here.NUDGE
            assert on_a_border or moved[1] == 0
            assert moved[0] != 0
            with pytest.raises(KeyError):
                here.hard_lookup(nudged, KEYS, PAGES)


@lesson.says(
    "A soft weight has a slope everywhere, though floats may be too coarse to show it, and answers a question that no key was made for with a blend.",
    "a slope that exists can be too small to use",
)
def the_soft_slope_exists_even_where_hard_answers_jump_and_shrinks_in_the_cold(seed: int) -> None:
    rng = random.Random(seed)
    tie = [1.0, 3.0]  # as close to marshes as to seas
    for query in (tie, *([rng.uniform(-2, 2) for _ in range(2)] for _ in range(50))):
        for axis in np.eye(2):
            [left, right] = [
                (here.soft_salt(query + side * 1e-5 * axis) - here.soft_salt(query)) / side / 1e-5
                for side in (-1, 1)
            ]
            assert left == pytest.approx(right, abs=0.01)
        output, weights = here.soft_lookup(query, KEYS, PAGES)
        assert output not in PAGES
        assert max(weights) < 1
    near = [2 + rng.uniform(-0.3, 0.3), 1 + rng.uniform(-0.3, 0.3)]  # marshes is best
    warm, cold = (_slope(near, temperature) for temperature in (1, 0.05))
    assert 0 < cold < 1e-5 < 1e-1 < warm
    assert max(here.soft_lookup(near, KEYS, PAGES, 0.05)[1]) > 1 - 1e-6


def _slope(query: Any, temperature: float) -> float:
    """How steep the salt is at a query, by PyTorch's autograd."""
    q, k, v = (np.array(each, dtype=float) for each in (query, KEYS, PAGES))
    return float(np.linalg.norm(answer_and_slope(q, k, v, temperature)[1][0]))


@lesson.says(
    "On the way, the hard answer stayed 10 and then jumped to 35, with both slopes 0 on either side.",
    "From key to key the soft answer went from 9.1 to 34.6 without a jump, and the orange arrow "
    "was there at every step.",
    "At τ = 0.05 the soft column shows nearly what the hard one shows, and its slopes are nearly "
    "0 as well, except in a narrow strip between the two books",
)
def from_marshes_to_seas_one_jumps_and_one_does_not() -> None:
    line = [(1 - t) * np.array(KEYS[1]) + t * np.array(KEYS[2]) for t in np.linspace(0, 1, 1001)]
    soft = [here.soft_salt(query) for query in line]
    assert {here.closest_salt(query) for query in line} == {10, 35}
    assert (round(soft[0], 1), round(soft[-1], 1)) == (9.1, 34.6)
    assert max(abs(np.diff(soft))) < 0.1
    assert min(_slope(query, 1) for query in line[::20]) > 0.005  # below, no arrow is drawn
    steep = [_slope(query, 0.05) > 0.005 for query in line[::4]]
    assert 0 < sum(steep) / len(steep) < 0.15


@lesson.says("Guessing needs no slope: draw queries at random and keep the best.")
def guessing_gets_the_closest_key_desk_nearer_to_what_was_measured(seed: int) -> None:
    """So "without a gradient nothing is learned" would be false."""
    rng, error = random.Random(seed), (here.closest_salt(QUERY) - here.MEASURED) ** 2
    guesses = [[x + rng.gauss(0, 1) for x in QUERY] for _ in range(50)]
    assert min((here.closest_salt(guess) - here.MEASURED) ** 2 for guess in guesses) < error


@lesson.says(
    "The closest-key desk stands where it stood: both its slopes are 0.",
    "towards *seas*, and answers 25.0.",
)
def slopes_teach_the_soft_desk_and_not_the_other(seed: int) -> None:
    rng = random.Random(seed)
    for x, y in (QUERY, *([rng.gauss(1, 0.2), rng.gauss(2, 0.2)] for _ in range(5))):
        if abs(3 * x - y) < 0.01:
            continue  # on the border, where the closest key changes
        for salt, learns in ((here.soft_salt, True), (here.closest_salt, False)):
            now, before = [x, y], salt([x, y])
            for _ in range(40):
                error = (salt(now) - here.MEASURED) ** 2
                slopes = [
                    ((salt(nudged) - here.MEASURED) ** 2 - error) / here.NUDGE
                    for nudged in ([now[0] + here.NUDGE, now[1]], [now[0], now[1] + here.NUDGE])
                ]
                now = [entry - here.STEP * slope for entry, slope in zip(now, slopes, strict=True)]
            if learns:
                assert abs(salt(now) - here.MEASURED) < 0.1, (x, y)
                seas = KEYS[2]
                assert (_angle(now, seas) < _angle([x, y], seas)) == (before < here.MEASURED)
            else:
                assert now == [x, y]


def _angle(a: Any, b: Any) -> float:
    return math.acos(np.dot(a, b) / math.hypot(*a) / math.hypot(*b))


def score(query: Any, key: Any) -> float:
    """What the lookup scores a key with, beside a key of zeros, whose score is 0."""
    weights = here.soft_lookup(query, [[0.0] * len(query), list(key)], [[0.0], [0.0]])[1]
    return math.log(weights[1] / weights[0])


@lesson.says(
    "The dot product scores how well a key fits a query: it grows as their directions agree, and "
    "their lengths multiply it.",
    "beyond a right angle the cosine is negative, and a longer key scores lower.",
)
def a_score_grows_with_agreement_and_length_counts_for_and_against(seed: int) -> None:
    rng = np.random.default_rng(seed)
    query, other = rng.normal(size=(2, 4))
    along = query / np.linalg.norm(query)
    across = other - (other @ along) * along
    across /= np.linalg.norm(across)
    turned = [math.cos(a) * along + math.sin(a) * across for a in np.linspace(0, math.pi, 20)]
    scores = [score(query, key) for key in turned]
    assert scores == sorted(scores, reverse=True)
    for key, once in zip(turned, scores, strict=True):
        assert score(query, 3 * key) == pytest.approx(3 * once, abs=1e-9)
        assert score(2 * query, key) == pytest.approx(2 * once, abs=1e-9)
    assert score(query, 3 * turned[-1]) < score(query, turned[-1]) < 0


@lesson.says(
    "Softmax turns scores into a distribution.",
    "It depends on differences alone, so that subtracting the maximum is safe.",
    "a key that scores 1 more than another gets 2.718 times its weight, wherever on the scale the "
    "two are.",
)
def softmax_near_ten_thousand_is_the_formula_in_exact_arithmetic(seed: int) -> None:
    """Decimals hold e to the 10,000, so there the formula needs no shift."""
    rng = random.Random(seed)
    for offset in (-10_000, 0, 10_000):
        scores = [offset + rng.gauss(0, 3) for _ in range(6)]
        scores.append(scores[0] + 1)
        weights = here.softmax(scores)
        with localcontext() as context:
            context.prec = 50
            powers = [Decimal(each).exp() for each in scores]
            exact = [float(power / sum(powers)) for power in powers]
        assert weights == pytest.approx(exact, abs=1e-15, rel=1e-9)
        assert sum(weights) == pytest.approx(1, abs=1e-12)
        assert min(weights) > 0
        assert np.argsort(weights).tolist() == np.argsort(scores).tolist()
        assert weights == pytest.approx(here.softmax([each + 64 for each in scores]), abs=1e-10)
        assert weights[-1] / weights[0] == pytest.approx(math.e, rel=1e-9)


@lesson.says(
    "Temperature steers it: towards 0 the best score alone (equal ones share), towards ∞ the "
    "plain mean.",
    "**The best score alone is the cold limit of the soft lookup, and the plain mean is its hot "
    "limit.**",
)
def cold_is_the_best_score_and_hot_the_mean(seed: int) -> None:
    query, keys, values = desk(random.Random(seed), 6)
    for more in (0, 1, 2):  # so many keys that are equal to the best
        scores = [np.dot(query, key) for key in keys]
        best = int(np.argmax(scores))
        if more:
            keys, values = [*keys, keys[best]], [*values, [10.0 * more, 0.0, -more, 1.0]]
            scores.append(scores[best])
        winners = np.array(values)[np.array(scores) == max(scores)]
        assert len(winners) == 1 + more
        cold, hot = (here.soft_lookup(query, keys, values, at)[0] for at in (1e-6, 1e9))
        assert cold == pytest.approx(winners.mean(0).tolist(), abs=1e-9)
        assert hot == pytest.approx(np.mean(values, axis=0).tolist(), abs=1e-6)


@lesson.says(
    "On this shelf it is, for a query that equals a key, because the keys are all different and of one length.",
    "All keys on our shelf have the same length, √(2² + 1²) = √5, so the angle alone decides who "
    "scores best, and no key scores better for a query than the key that equals it.",
)
def the_cold_limit_is_the_exact_match_only_among_keys_of_one_length(seed: int) -> None:
    assert {math.hypot(*key) for key in KEYS} == {math.sqrt(5)}
    rng, missed = random.Random(seed), {True: 0, False: 0}
    for _ in range(200):
        _, drawn, values = desk(rng, 5)
        for one_length in missed:
            keys = [[x / math.hypot(*key) for x in key] if one_length else key for key in drawn]
            cold = here.soft_lookup(keys[0], keys, values, 1e-9)[0]
            exact = here.hard_lookup(keys[0], keys, values)
            missed[one_length] += max(abs(np.subtract(cold, exact))) > 1e-6
    assert missed[True] == 0
    assert missed[False] > 20, missed


@lesson.says(
    "It rises to nearly 18 first, as *seas*, with its 35, gains weight sooner than *rivers* and "
    "*deserts* do."
)
def without_the_salt_of_seas_the_answer_does_not_rise_on_its_way() -> None:
    def way(shelf: list[int], pages: list[int]) -> tuple[float, float]:
        """The largest answer, and the larger one of the two ends."""
        values = [[PAGES[page][0]] for page in pages]
        temperatures = [10 ** (step / 8) for step in range(-10, 40)]
        salt = [
            here.soft_lookup(QUERY, [KEYS[m] for m in shelf], values, at)[0][0]
            for at in temperatures
        ]
        return max(salt), max(salt[0], salt[-1])

    assert way([0, 1, 2, 3], [0, 1, 2, 3]) == pytest.approx((17.83, 12.0), abs=0.01)
    for shelf, pages in (
        ([0, 1, 3], [0, 1, 3]),  # seas away
        ([0, 1, 2, 3], [2, 1, 0, 3]),  # its page in rivers, which gains weight later
        ([0, 1, 2, 3], [0, 1, 3, 2]),  # or in deserts
    ):
        top, end = way(shelf, pages)
        assert top == pytest.approx(end, abs=1e-9)


@lesson.says(
    "NumPy and PyTorch give NaN",
)
def the_unshifted_formula_fails_in_three_ways() -> None:
    assert here.softmax_without_shift([709.5, 709.5]) == [0, 0]
    with np.errstate(over="ignore"):
        powers = np.exp(np.array([709.5, 709.5]))
        assert not (powers / powers.sum()).any()
    for score, precision in ((709.5, torch.float64), (88.5, torch.float32)):
        tensors = torch.tensor([score, score], dtype=precision).exp()
        assert tensors.isfinite().all()
        assert not (tensors / tensors.sum()).any()
    for scores, error in (([1000, 0], OverflowError), ([-1000, -1000], ZeroDivisionError)):
        with pytest.raises(error):
            here.softmax_without_shift(scores)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            powers = np.exp(np.array(scores, dtype=float))
            assert np.isnan(powers / powers.sum()).any()
        tensors = torch.tensor(scores, dtype=torch.float64).exp()
        assert (tensors / tensors.sum()).isnan().any()


@lesson.says(
    "*Sees* stands beside *boy*, and gives *boy* 0.01.",
    "*Dogs*, four words back, gets 0.83.",
    "That was tried on 400 sentences, and the number of the verb turned in every one. With any of the other seven "
    "heads it turned in none.",
    "At *sees* this head hands on a blend of what it read. Exchange it for the blend from *the dog that the boy sees*, and leave the rest as it is. The model now expects verbs like *runs* where it expected verbs like *run*.",
    "A small language model was made for this course, much like GPT-2. It read 192,000 short texts of 64 words, and learned to guess each next word.",
    "Nobody told it what a subject is.",
)
def one_row_of_one_head_decides_the_verb(seed: int) -> None:
    layer, head = small.head("subject")
    row = dict(zip(small.SAMPLE, small.weights(small.SAMPLE)[layer][head, -1], strict=True))
    assert (round(row["boy"], 2), round(row["dogs"], 2)) == (0.01, 0.83)
    rng, model = random.Random(seed), small.load()
    pairs = [measure.agreement(rng) for _ in range(400)]
    asked = [first for first, _ in pairs]
    assert measure.right_share(model, asked) == 1
    heads = product(range(model.sizes.layers), range(model.sizes.heads))
    assert measure.flipped(model, (layer, head), pairs) == 1
    others = [each for each in heads if each != (layer, head)]
    assert len(others) == 7
    assert not any(measure.flipped(model, other, pairs[:100]) for other in others)
    assert (train.STEPS * train.TEXTS, model.sizes.positions) == (192_000, 64)
