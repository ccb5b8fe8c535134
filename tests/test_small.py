"""The small model: its grammar, its weights, and what is said of its heads."""

from __future__ import annotations

import json
import math
import random
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from attnlab import small
from attnlab.lessons.soft_lookup.figures import HEAD as ONE_HEAD
from attnlab.small import grammar, measure, train
from attnlab.small.model import Sizes, SmallModel

SENTENCE = small.SAMPLE


@pytest.fixture(scope="module")
def model() -> SmallModel:
    return small.load()


# The grammar --------------------------------------------------------------------------------------


def test_costs_are_those_of_the_words_that_were_drawn() -> None:
    """The same words so far give a word the same cost, and its share is what the cost says."""
    after: dict[tuple[str, ...], list[tuple[str, float]]] = {}
    for seed in range(8000):
        writer = grammar.Writer(random.Random(seed))
        writer.sentence()
        for at in range(min(5, len(writer.text))):
            after.setdefault(tuple(writer.text[:at]), []).append(
                (writer.text[at], writer.costs[at])
            )
    for begun, some in after.items():
        costs: dict[str, float] = {}
        for word, cost in some:
            assert costs.setdefault(word, cost) == pytest.approx(cost), (begun, word)
        assert sum(math.exp(-cost) for cost in costs.values()) <= 1 + 1e-9, begun
    common = {begun: [word for word, _ in some] for begun, some in after.items() if len(some) > 500}
    assert len(common) > 5
    for begun, drawn in common.items():
        for word, cost in after[begun][:50]:
            often, share = drawn.count(word) / len(drawn), math.exp(-cost)
            assert abs(often - share) < 5 * math.sqrt(share / len(drawn)), (begun, word)


def test_sentences_keep_what_the_grammar_says() -> None:
    rng = random.Random(3)
    for _ in range(300):
        asked, other = measure.agreement(rng)
        assert asked.right is other.wrong
        assert len(asked.text) == len(other.text)
        (inside,) = measure.questions("brackets", rng, 1)
        stack: list[str] = []
        for word in inside.text[1:]:
            if word in grammar.OPENING:
                stack.append(word)
            elif word in grammar.CLOSING:
                assert grammar.OPENING.index(stack.pop()) == grammar.CLOSING.index(word)
        assert grammar.CLOSING[grammar.OPENING.index(stack[-1])] == inside.right[0]


# The weights --------------------------------------------------------------------------------------


def test_weights_are_one_array_a_layer_heads_first() -> None:
    found = small.weights(SENTENCE)
    n = len(SENTENCE)
    assert [each.shape for each in found] == [(4, n, n)] * 2
    for each in found:
        assert not np.triu(each, 1).any()
        np.testing.assert_allclose(each.sum(-1), 1, atol=1e-6)


def test_shipped_numbers_are_the_same_on_any_machine() -> None:
    """Within 1e-4: sums of a few hundred float32 numbers, in whatever order a machine adds them."""
    written = json.loads((small.HERE / small.CONFIG).read_text(encoding="utf-8"))["sample"]
    found = small.following(written["text"], len(written["following"]))
    assert found == pytest.approx(written["following"], abs=1e-4)


def test_what_ships_is_small(model: SmallModel) -> None:
    assert sum(each.stat().st_size for each in small.HERE.iterdir() if each.is_file()) < 2_000_000
    assert 140 <= len(small.words) == len(set(small.words)) <= 160
    assert model.transformer.wte.weight.shape[0] == len(small.words)


def test_what_lesson_01_shows_is_what_the_shipped_model_gives() -> None:
    recording = json.loads(ONE_HEAD.read_text(encoding="utf-8"))
    maps = [head for layer in small.weights(SENTENCE) for head in layer]
    heads = [each["shown"] for each in recording["inputs"]]
    assert sorted(heads) == list(range(len(maps)))
    for head, drawn in zip(heads, recording["shown"], strict=True):
        np.testing.assert_allclose(drawn["state"]["weights"], maps[head], atol=1e-3)
    layer, head = small.head("subject")
    assert heads[0] == layer * 4 + head


def test_a_model_is_each_time_a_new_one(model: SmallModel) -> None:
    spoilt = small.load()
    torch.nn.init.zeros_(spoilt.transformer.wte.weight)
    assert small.load().transformer.wte.weight.any()


@pytest.mark.parametrize("spoil", ["missing", "cut short", "other words", "other sizes", "no JSON"])
def test_weights_that_cannot_be_used_say_how_to_make_them(tmp_path: Path, spoil: str) -> None:
    for name in (small.WEIGHTS, small.CONFIG):
        shutil.copy(small.HERE / name, tmp_path)
    config = tmp_path / small.CONFIG
    told = json.loads(config.read_text(encoding="utf-8"))
    if spoil == "missing":
        (tmp_path / small.WEIGHTS).unlink()
    elif spoil == "cut short":
        whole = (small.HERE / small.WEIGHTS).read_bytes()
        (tmp_path / small.WEIGHTS).write_bytes(whole[:-1000])
    elif spoil == "no JSON":
        config.write_text(config.read_text(encoding="utf-8")[:-30], encoding="utf-8")
    else:
        change = {"words": told["words"][::-1]} if spoil == "other words" else {"n_embd": 32}
        config.write_text(json.dumps({**told, **change}), encoding="utf-8")
    with pytest.raises(ValueError, match="make model") as error:
        small.load(tmp_path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (["the", "dgos"], "does not know “dgos”. The nearest that it knows: dogs, dog"),
        ([], "there are no words"),
        ("the dogs", "a list of words is needed"),
        (["the"] * 65, "the text has 65 words; this model has positions for 64"),
    ],
)
def test_texts_that_cannot_be_read_are_refused(text: list[str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        small.weights(text)


def test_a_role_that_no_head_has_is_refused() -> None:
    with pytest.raises(ValueError, match="there are subject, previous, repeat"):
        small.head("verb")


# What it can do -----------------------------------------------------------------------------------


@pytest.mark.parametrize("task", measure.TASKS)
def test_the_shipped_model_can_do_what_its_grammar_asks(model: SmallModel, task: str) -> None:
    asked = measure.questions(task, random.Random(81), 200)
    assert measure.right_share(model, asked) >= 0.97


def test_its_loss_is_near_the_best_possible(model: SmallModel) -> None:
    ids, costs = train.batch(random.Random(82), 200, 64)
    with torch.no_grad():
        loss = float(train.loss_of(model, ids))
    best = float(costs[:, 1:].mean())
    assert best - 0.01 < loss < best + 0.06


def test_one_row_of_the_subjects_head_decides_the_verb(model: SmallModel) -> None:
    pairs = [measure.agreement(random.Random(seed)) for seed in range(200)]
    head = small.head("subject")
    assert measure.flipped(model, head, pairs) >= 0.97
    others = [each for each in measure.heads_of(model) if each != head]
    assert max(measure.flipped(model, each, pairs) for each in others) <= 0.1


def test_a_head_removed_is_a_head_that_says_nothing(model: SmallModel) -> None:
    ids = small.numbered(SENTENCE)
    out = measure.heads_outputs(model, ids)
    changed = measure.without([(1, 2)])(1, out[1])
    assert not changed[:, 2].any()
    assert torch.equal(changed[:, :2], out[1][:, :2])
    assert torch.equal(measure.without([(1, 2)])(0, out[0]), out[0])


def test_facts_are_of_this_grammar_and_this_model(model: SmallModel) -> None:
    facts = small.facts()
    assert facts["made"]["words"] == len(small.words)
    shipped = facts["seeds"][str(facts["made"]["shipped seed"])]
    assert shipped["roles"]["subject"] == measure.named(small.head("subject"))
    asked = measure.questions("agreement", random.Random(83), 200)
    head = shipped["heads"][shipped["roles"]["subject"]]
    removed = measure.right_share(model, asked, measure.without([small.head("subject")]))
    assert abs(removed - head["removed"]["agreement"]) < 0.12


def test_a_tiny_model_learns_in_seconds() -> None:
    sizes = Sizes(len(small.words), positions=16, width=16, layers=1, heads=2)
    ids, _ = train.batch(random.Random(84), 50, 16)
    losses = []
    for steps in (1, 100):
        model = train.trained(84, steps, sizes)
        with torch.no_grad():
            losses.append(float(train.loss_of(model, ids)))
    assert losses[1] < losses[0] - 1
    assert losses[0] == pytest.approx(math.log(len(small.words)), abs=0.2)
