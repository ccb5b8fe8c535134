"""Each lesson opens with a picture that moves: short, whole on its sheet, and told in sentences."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from functools import cache
from importlib import import_module
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
import torch

from attnlab import small
from attnlab.figures.live.film import LONGEST, Film
from attnlab.figures.live.parts import SMALL, WIDE
from attnlab.figures.palette import BLUE, GREY, ORANGE
from attnlab.lessons import name_of, slugs
from attnlab.lessons.cost import opening as tiles_film
from attnlab.lessons.real_model import opening as model_film
from attnlab.lessons.real_model import writing, yours
from attnlab.small.grammar import SINGULAR
from tests.course import code_cells, grading, read, solution_path
from tests.figure_sources import SOURCES
from tests.test_figures import HOSTILE, made

WORDS = 22  # of a sentence on a frame: two lines
NARROW, HIGH = 0.48, 0.7  # of a letter, as shares of its size: no wider font is used
every_opening = pytest.mark.parametrize(
    "slug", [pytest.param(slug, marks=pytest.mark.lessons(slug)) for slug in slugs()]
)
Part = tuple[str, str, dict[str, float | str], str]
Box = tuple[float, float, float, float]


@cache
def opening_of(slug: str) -> Film:
    film: Film = import_module(f"attnlab.lessons.{name_of(slug)}.opening").opening()
    return film


def words_of(parts: list[Part]) -> dict[str, Box]:
    """Where the words of a frame that are seen are: left, top, right and bottom."""
    return {
        key: _box(look, text)
        for tag, key, look, text in parts
        if tag == "text" and text and float(look.get("opacity", 1)) > 0.1
    }


def _box(look: dict[str, float | str], text: str) -> Box:
    x, y, size = (float(look[name]) for name in ("x", "y", "font-size"))
    wide = NARROW * size * len(text)
    left = x - wide * {"start": 0, "middle": 0.5, "end": 1}[str(look["text-anchor"])]
    return left, y - HIGH * size, left + wide, y


@every_opening
def test_a_lesson_begins_with_its_film(slug: str) -> None:
    first = code_cells(read(solution_path(slug)))[:2]
    assert [grading(cell).grade_id for cell in first] == ["setup", "opening"]


@every_opening
def test_a_film_is_short_and_told_in_short_sentences(slug: str) -> None:
    state = opening_of(slug).state
    assert state["pace"] * (len(state["frames"]) - 1) <= LONGEST
    assert state["view"][3] <= 270
    told = [frame["told"] for frame in state["frames"]]
    assert [each for each in told if len(each.split()) > WORDS or not each.endswith(".")] == []


@every_opening
def test_its_words_can_be_read_lie_on_the_sheet_and_meet_no_other(slug: str) -> None:
    state = opening_of(slug).state
    wrong = []
    for n, frame in enumerate(state["frames"]):
        boxes = words_of(frame["parts"])
        wrong += [(n, key, "small") for key in _small(frame["parts"])]
        wrong += [(n, key, "out") for key in boxes if _is_out(boxes[key], state["view"][3])]
        pairs = combinations(boxes, 2)
        wrong += [(n, one, other) for one, other in pairs if _meet(boxes[one], boxes[other])]
    assert wrong == []


def _small(parts: list[Part]) -> list[str]:
    return [
        key for tag, key, look, _ in parts if tag == "text" and float(look["font-size"]) < SMALL
    ]


def _is_out(box: Box, high: float) -> bool:
    left, top, right, low = box
    return min(left, top) < 0 or right > WIDE or low > high


def _out_of_sheet(parts: list[Part], high: float) -> list[str]:
    """Keys of words, and of arcs by their tops, that are seen above the sheet or under it."""
    tops = {}
    for tag, key, look, _ in parts:
        if tag == "path" and "C" in str(look["d"]):
            start, bend = (float(look_at.split()[1]) for look_at in str(look["d"])[1:].split("C"))
            tops[key] = start + 0.75 * (bend - start)
    words = words_of(parts)
    far = [key for key in words if _is_out(words[key], high)]
    return far + [key for key, y in tops.items() if not 0 < y < high]


def _meet(one: Box, other: Box) -> bool:
    across = min(one[2], other[2]) - max(one[0], other[0])
    down = min(one[3], other[3]) - max(one[1], other[1])
    return across > 1 and down > 1


@every_opening
def test_each_part_has_a_key_of_its_own_and_one_tag(slug: str) -> None:
    tags: dict[str, str] = {}
    for frame in opening_of(slug).state["frames"]:
        keys = [key for _, key, _, _ in frame["parts"]]
        assert len(keys) == len(set(keys))
        for tag, key, _, _ in frame["parts"]:
            assert tags.setdefault(key, tag) == tag, key


@pytest.mark.lessons("06-causal-mask")
def test_lesson_06s_words_that_come_again_listen_to_what_followed_and_one_step_is_as_six() -> None:
    from attnlab.lessons.causal_mask.opening import ASKS, TEXT

    layer, head = small.head("repeat")
    rows = small.weights(TEXT)[layer][head]
    for n in (ASKS, ASKS + 1):
        followed = TEXT.index(TEXT[n]) + 1
        assert rows[n, followed] > 0.9
        assert TEXT[followed] == TEXT[n + 1] == next(iter(small.following(TEXT[: n + 1], 1)))
    model = small.load()
    in_one = model(small.numbered(TEXT))[0]
    in_steps = [model(small.numbered(TEXT[: n + 1]))[0, -1] for n in range(len(TEXT))]
    torch.testing.assert_close(in_one, torch.stack(in_steps))


@pytest.mark.lessons("06-causal-mask")
def test_lesson_06s_exercises_hide_the_next_word_and_strike_other_guesses() -> None:
    from attnlab.lessons.causal_mask.opening import MIDDLES, TEXT

    asked, guessed, solved = (
        {key: (look, text) for _, key, look, text in frame["parts"]}
        for frame in opening_of("06-causal-mask").state["frames"][-3:]
    )
    many, right = len(TEXT), 0
    model = small.load()(small.numbered(TEXT))[0]
    for n in range(1, many):
        words = [(asked.get(f"word {m} of {n}") or asked[f"word {m}"])[1] for m in range(n)]
        assert tuple(words) == TEXT[:n]
        edges = [float(frame[f"curtain {n}"][0]["x"]) for frame in (asked, guessed, solved)]
        assert [sum(x < edge for x in MIDDLES) for edge in edges] == [n] * 3
        for frame, edge in zip((asked, guessed, solved), edges, strict=True):
            assert float(frame[f"card {n}"][0]["x"]) > edge
        guess = small.words[int(model[n - 1].argmax())]  # in one step
        assert [f[f"guess {n}"][1] for f in (asked, guessed, solved)] == ["?", guess, guess]
        marks = {f"right {n}", f"struck {n}", f"answer {n}"}
        assert not marks & (guessed.keys() | asked.keys())
        if guess == TEXT[n]:
            assert marks & solved.keys() == {f"right {n}"}
        else:
            assert marks - solved.keys() == {f"right {n}"}
            assert solved[f"answer {n}"][1] == TEXT[n] not in TEXT[:n]  # it does not repeat
        right += guess == TEXT[n]
    assert f"curtain {many}" not in asked
    told = opening_of("06-causal-mask").state["frames"][-1]["told"]
    assert f"{right} right, {many - 1 - right} struck" in told


@pytest.mark.lessons("06-causal-mask")
def test_lesson_06s_arcs_are_weights_in_steps_as_in_exercises_and_none_goes_ahead() -> None:
    from attnlab.lessons.causal_mask.opening import LEAST, TEXT

    layer, head = small.head("repeat")
    row_of = small.weights(TEXT)[layer][head]
    frames = shown("06-causal-mask")
    written = {f"{n} to {m}" for n in range(6) for m in range(6) if row_of[n, m] >= LEAST}
    for n, drawn in ((3, written), (5, set()), (6, written), (7, written), (8, written)):
        assert {key for key in frames[n] if " to " in key} == drawn
    assert {"0 to 0", "2 to 1", "4 to 1", "5 to 2"} <= written
    told = [frame["told"] for frame in opening_of("06-causal-mask").state["frames"]]
    both = next(n for n in range(5) if {"0 to 0", "1 to 0"} <= frames[n].keys())
    assert "itself and to those before it" in told[both]
    copies = {(n, n + 1) for n in range(6)}
    at = {n: float(frames[4][f"word {n}"]["x"]) for n in range(7)}
    found = [ends(look) for key, look in frames[4].items() if key.startswith("copied")]
    assert found == [pytest.approx((at[n] + 5, at[m] - 5), abs=0.1) for n, m in sorted(copies)]


@pytest.mark.lessons("07-multi-head")
def test_lesson_07s_last_noun_decides_without_one_head_and_never_with_it() -> None:
    from attnlab.lessons.multi_head.opening import HEADS, SUBJECT, follows_last, singular

    others = [head for head in HEADS if head != SUBJECT]
    texts = [texts_of("07-multi-head", n) for n in range(8)]
    verbs = [(each["word 4"], each["verb"]) for each in texts]
    assert verbs[:2] == [("dogs", "?")] * 2
    assert verbs[2:5] == [("dogs", "runs"), ("dog", "runs"), ("dogs", "runs")]
    assert verbs[5:] == [("dogs", "run"), ("dog", "runs"), ("dogs", "runs")]
    for off in ([], others):
        assert min(singular(off, last) for last in ("dogs", "dog")) > 0.99
    assert singular([SUBJECT], "dogs") < 0.1 < 0.9 < singular([SUBJECT], "dog")
    tried = {f"{row} {last}" for row in ("on", "off") for last in ("dogs", "dog")}
    ends = {key: text for key, text in texts[-1].items() if key in tried}
    assert ends == {"on dogs": "runs", "on dog": "runs", "off dogs": "run", "off dog": "runs"}
    assert [len(tried & each.keys()) for each in texts] == [0, 0, 1, 2, 2, 3, 4, 4]
    assert [key for key in shown("07-multi-head")[-1] if "struck" in key] == ["struck off dogs"]
    # In all sentences; and by the last word's own row, if no head of the layer adds to it.
    assert [follows_last(off) for off in ([], others)] == [0, 0]
    assert round(100 * follows_last([SUBJECT])) == 89
    assert "89 of 100" in opening_of("07-multi-head").state["frames"][-1]["told"]
    assert follows_last(HEADS) > 0.7


@pytest.mark.lessons("07-multi-head")
def test_lesson_07s_arcs_are_weights_lie_one_in_another_and_light_what_they_reach() -> None:
    from attnlab.lessons.multi_head.opening import LAYER, LEAST, SUBJECT, TEXT

    begin, found, frame = (shown("07-multi-head")[n] for n in (0, 2, 5))
    assert sum(" to " in key for key in begin) == 4  # an arc of each head
    inks = [[each[f"word {n}"]["fill"] for n in range(5)] for each in (found, frame)]
    the, king, dogs = BLUE.drawn, ORANGE.drawn, frame["verb"]["fill"]
    assert inks[0] == [the, king, GREY.drawn, the, "currentColor"]
    assert inks[1] == [the, GREY.drawn, GREY.drawn, the, dogs]
    assert frame["way"]["stroke"] == dogs != found["verb"]["fill"] == king
    assert found["way"]["stroke"] == frame[f"{SUBJECT} to 1"]["stroke"] == GREY.drawn
    rows = small.weights(TEXT)[LAYER][:, -1]
    arcs = {tuple(map(int, key.split(" to "))): key for key in frame if key[1:-1] == " to "}
    assert {*arcs} == {(h, m) for h in range(4) for m in range(4) if rows[h, m] >= LEAST}
    assert all(
        float(found[key]["stroke-width"]) == pytest.approx(1 + 6 * rows[at], abs=0.01)
        for at, key in arcs.items()
    )
    under = [ends(frame[key]) for (head, _), key in arcs.items() if head != SUBJECT]
    for (start, end), (other_start, other_end) in combinations(under, 2):
        assert start > other_start
        assert end < other_end


@pytest.mark.lessons("09-position")
def test_lesson_09s_score_depends_on_how_far_apart_and_which_way_places_are() -> None:
    from attnlab.lessons.position.opening import score

    for apart, expected in ((0, 0), (1, 1), (-1, -1), (3, 2)):  # 2 sin(30° n)
        assert [score(at, at + apart) for at in range(12)] == pytest.approx([expected] * 12)


@pytest.mark.lessons("09-position")
def test_lesson_09s_shadow_falls_at_a_right_angle_and_is_as_long_as_the_score() -> None:
    from attnlab.lessons.position.opening import MIDDLE, UNIT

    frames = opening_of("09-position").state["frames"]
    for frame in frames:
        parts = {key: (look, text) for _, key, look, text in frame["parts"]}
        tip, foot = points(parts["falls"][0])
        along, fall, shadow = points(parts["short"][0])[1] - MIDDLE, tip - foot, foot - MIDDLE
        assert along @ fall == pytest.approx(0, abs=8)  # drawn to a tenth of a pixel
        made = float(parts["score"][1].removeprefix("score ").replace("−", "-"))
        assert shadow @ along / UNIT**2 == pytest.approx(made, abs=0.01)
        np.testing.assert_allclose(points(parts["long"][0])[1], tip, atol=0.1)


@pytest.mark.lessons("09-position")
def test_lesson_09s_triangles_are_one_that_turns_once_around() -> None:
    from attnlab.lessons.position.opening import ON, ROUND, STEP

    last = shown("09-position")[-1]
    assert len({str(look["d"]) for key, look in last.items() if key.startswith("left")}) == 1
    turned = [turn_of(last[f"left {n}"]) for n in ROUND]
    assert turned == [-STEP * n for n in ROUND]
    assert len(turned) * ON * STEP == 360
    scores = [
        text
        for _, key, _, text in opening_of("09-position").state["frames"][-1]["parts"]
        if key.startswith("score at")
    ]
    assert scores == ["1"] * len(turned)


def turn_of(look: dict[str, float | str]) -> float:
    """Degrees, clockwise as SVG counts them."""
    return float(str(look["transform"]).removeprefix("rotate(").split()[0])


def points(look: dict[str, float | str]) -> np.ndarray:
    """Of a line, or corners of an area."""
    places = np.array([each.split() for each in str(look["d"]).strip("MZ").split("L")], float)
    if "transform" not in look:
        return places
    turned = np.radians(turn_of(look))
    middle = np.array(str(look["transform"]).strip(")").split()[1:], float)
    c, s = np.cos(turned), np.sin(turned)
    return middle + (places - middle) @ np.array([[c, s], [-s, c]])


@pytest.mark.lessons("05-pytorch")
def test_lesson_05s_slopes_are_those_that_autograd_finds() -> None:
    import torch

    from attnlab.lessons.pytorch.opening import SCORES, VALUES, answer, slopes

    scores = torch.tensor(SCORES, dtype=torch.float64, requires_grad=True)
    z = scores.softmax(dim=-1) @ torch.tensor(VALUES, dtype=torch.float64)
    z.backward()
    assert answer(SCORES) == pytest.approx(z.item())
    assert scores.grad is not None
    assert slopes(SCORES) == pytest.approx(scores.grad.tolist())
    assert slopes(SCORES) == pytest.approx([1, 0, -1])


@pytest.mark.lessons("05-pytorch")
def test_lesson_05s_answer_goes_as_far_as_its_slopes_say() -> None:
    frames = opening_of("05-pytorch").state["frames"]
    texts = [{key: text for _, key, _, text in frame["parts"]} for frame in frames]
    answers = [each["answer"] for each in texts]
    assert answers == ["4.00", "4.10", "3.90", *5 * ["4.00"]]
    ends = [texts[-1][f"slope {book}"] for book in "ABC"]
    assert ends == ["+1", "0", "−1"]
    ways = [texts[-1][f"way long {book}"] for book in "ABC"]
    assert ways == ["+4 × 0.25 = +1", "0 × 0.25 = 0", "−2 × 0.50 = −1"]
    high = [float(shown("05-pytorch")[n]["tip"]["cy"]) for n in range(4)]
    assert high[0] - high[1] == pytest.approx(high[2] - high[0], rel=0.03)  # of the needle
    assert high[3] == pytest.approx(high[0], abs=0.2)


@pytest.mark.lessons("08-cross-attention")
def test_lesson_08s_film_has_the_weights_of_the_lessons_matrices() -> None:
    import torch

    from attnlab.lessons.cross_attention.opening import ASKED, ASKS, BEGUN, weights

    cells = code_cells(read(solution_path("08-cross-attention")))
    [by_hand] = [each for each in cells if each.source.startswith("english = ")]
    names: dict[str, Any] = {"torch": torch}
    exec(by_hand.source, names)
    assert (list(ASKS), list(ASKED)) == (names["english"], names["german"])
    expected = (names["W_q"] @ names["W_k"].T / 2).softmax(dim=-1)  # words are one-hot, √d_k is 2
    torch.testing.assert_close(torch.tensor(weights()), expected)
    torch.testing.assert_close(torch.tensor(weights(BEGUN)), expected[:, list(BEGUN)])


@pytest.mark.lessons("08-cross-attention")
def test_lesson_08s_words_leave_their_order_and_two_lines_cross_the_others() -> None:
    from attnlab.lessons.cross_attention.opening import BEGUN, CROSSING, THICK, TO, german, weights

    *frames, again = shown("08-cross-attention")
    lines = [{key: ends(look) for key, look in each.items() if key[0].isdigit()} for each in frames]
    in_order = sorted(ends(frames[0][f"place {n}"]) for n in range(len(TO)))
    np.testing.assert_allclose(in_order, np.transpose([TO, german()[: len(TO)]]), atol=0.1)
    spans: list[list[tuple[float, float]]] = [[], []]
    best: dict[int, tuple[float, int]] = {}
    for key, (left, right) in lines[-1].items():
        n, m = map(int, key.split(" to "))
        thick = float(frames[-1][key]["stroke-width"])
        assert thick == pytest.approx(THICK * weights()[n][m], abs=0.01)
        best[n] = max(best.get(n, (0, 0)), (thick, m))
        moved = again.get(f"{key} again") or again[key]  # it is as thick where its word is then
        assert float(moved["stroke-width"]) == thick
        assert abs(ends(moved)[1] - german(BEGUN)[m]) < THICK
        for each, x in zip(spans, (left, right), strict=True):
            each.append((x - thick / 2, x + thick / 2))
    for each in spans:
        assert all(right < left for (_, right), (left, _) in pairwise(sorted(each)))
    crossed = [
        pair for pair in combinations(sorted(best), 2) if best[pair[0]][1] > best[pair[1]][1]
    ]
    assert CROSSING in crossed
    assert all({*pair} & {*CROSSING} for pair in crossed)
    for frame, at in zip(frames[1:], lines[1:], strict=True):  # no word without its line's colour
        seen = [key for key in at if float(frame[key]["opacity"]) > 0.2]
        for side, which in (("asks", 0), ("asked", 1)):
            for word in {key.split(" to ")[which] for key in seen}:
                drawn = {frame[key]["stroke"] for key in seen if key.split(" to ")[which] == word}
                assert frame[f"{side} {word}"]["fill"] in drawn


@pytest.mark.lessons("08-cross-attention")
def test_lesson_08s_words_bring_back_from_where_they_look_as_much_as_they_look() -> None:
    from attnlab.lessons.cross_attention.opening import ASKED, READ, weights

    frames = shown("08-cross-attention")[:-1]
    best = ASKED.index("gelesen")
    assert weights()[READ][best] > 0.5
    assert frames[2].keys() == frames[3].keys()
    key = f"value of {best} for {READ}"
    there, back = (-float(frames[n][key]["stroke-dashoffset"]) for n in (2, 3))
    assert (there, back) == (98, 0)  # of 100, along its line from the word that asks
    assert texts_of("08-cross-attention", 3)[f"asked {best}"] == "gelesen"
    lines = [key for key in frames[-1] if key[0].isdigit()]
    for line in lines:
        n, m = line.split(" to ")
        value = frames[-1][f"value of {m} for {n}"]
        assert (value["d"], value["stroke"]) == (frames[-1][line]["d"], frames[-1][line]["stroke"])
        assert value["stroke-dashoffset"] == -back
        assert float(frames[-1][line]["opacity"]) >= 0.5


def ends(look: dict[str, float | str]) -> tuple[float, float]:
    """Where a line begins and ends, from the left."""
    places = str(look["d"])[1:].split()
    return float(places[0]), float(places[-2])


def test_words_of_a_film_cannot_end_a_tag_of_its_still() -> None:
    source = SOURCES["Film"].replace("'dog'", repr(HOSTILE)).replace('"dog"', repr(HOSTILE))
    still = made(source).fallback()
    assert "&lt;script&gt;" in still
    assert "<script" not in still


def shown(slug: str) -> list[dict[str, dict[str, float | str]]]:
    """For each frame, the look of each part by its key."""
    return [
        {key: look for _, key, look, _ in frame["parts"]}
        for frame in opening_of(slug).state["frames"]
    ]


def texts_of(slug: str, n: int) -> dict[str, str]:
    """What is written in a frame, by the keys of its parts."""
    return {key: text for _, key, _, text in opening_of(slug).state["frames"][n]["parts"] if text}


@pytest.mark.lessons("02-pure-python")
def test_lesson_02s_numbers_are_attentions_and_its_bars_are_as_long() -> None:
    from attnlab.lessons.pure_python import opening as film

    q, keys, values = np.array([1, 2, 0]), np.array([[1, 0, 1], [0, 1, 0], [2, 2, 1]]), film.VALUES
    scores = keys @ q
    powers = np.exp(scores / 3**0.5)
    shares = powers / powers.sum()
    texts = [texts_of("02-pure-python", n) for n in range(7)]
    told = [frame["told"] for frame in opening_of("02-pure-python").state["frames"]]
    for m in range(3):
        asked = texts[m]
        products = [int(asked[f"query {c}"]) * int(asked[f"key {m} {c}"]) for c in range(3)]
        assert [asked[f"product {m} {c}"] for c in range(3)] == [str(each) for each in products]
        assert asked[f"score {m}"] == str(sum(products)) == str(scores[m])
        assert told[m].endswith(f"= {scores[m]}.")
        assert f"score {m + 1}" not in asked
        assert texts[4][f"÷ √3 {m}"] == f"{scores[m] / 3**0.5:.1f}"
        for each in texts[4:]:
            assert each[f"share {m}"] == f"{shares[m]:.3f}"
    assert sum(Fraction(texts[-1][f"share {m}"]) for m in range(3)) == 1
    assert (texts[4]["lead"], texts[4]["times"]) == ("+2.3", f"×{shares[2] / shares[1]:.0f}")
    for each in texts[5:]:  # what the title asks and its answer, one above the other
        assert [each[f"score {m}"] for m in range(3)] == [str(score) for score in scores]
        assert (each["times score"], each["times"]) == ("×3", "×10")
    assert scores[2] == 3 * scores[1]
    assert Fraction(texts[4]["÷ √3 2"]) - Fraction(texts[4]["÷ √3 1"]) == Fraction("2.3")
    np.testing.assert_allclose(shares[2] / shares[1], np.exp(2.3), rtol=0.02)
    assert told[-1] == "A lead of 2.3 makes 10 times the share: “sat” fills most of Z."
    assert (shares[2] * np.array(values[2]) > shares @ values / 2).all()
    assert told[4].startswith("No: softmax turns a lead of 2.3 into")
    assert told[4].endswith("exp(2.3) ≈ 10 times the share.")
    last = shown("02-pure-python")[-1]
    for e, z in enumerate(shares @ values):
        ends = [
            (float(look["x"]), float(look["x"]) + float(look["width"]))
            for key, look in last.items()
            if key.startswith("heard") and key.endswith(f" {e}")
        ]
        assert ends[-1][1] - ends[0][0] == pytest.approx(film.UNIT * z, abs=0.02)
        for (_, right), (left, _) in pairwise(ends):
            assert right == pytest.approx(left, abs=0.01)
        assert texts[-1][f"z {e}"] == f"{z:.2f}"


@pytest.mark.lessons("03-numpy")
def test_lesson_03s_letters_that_are_missing_behind_the_arrow_are_added_up() -> None:
    from attnlab.lessons.numpy import opening as film

    scores, mix = 'einsum("nk,mk->nm",Q,K)', 'einsum("nm,mv->nv",A,V)'
    frames = shown("03-numpy")
    lines, added = [], []
    for frame, looks in zip(opening_of("03-numpy").state["frames"], frames, strict=True):
        signs = [part for part in frame["parts"] if "font-family" in part[2]]
        ys = sorted({float(look["y"]) for _, _, look, _ in signs})
        signs = sorted(signs, key=left)
        lines.append(["".join(p[3] for p in signs if float(p[2]["y"]) == y) for y in ys])
        added.append({key.split()[2] for key in looks if key.endswith("added")})
    assert lines == [[scores]] * 7 + [[mix]] * 2 + [[scores, mix]]
    assert added == [set()] * 4 + [{"k"}] * 3 + [set(), {"m"}, {"k", "m"}]
    for formula, letter in (("nk,mk->nm", "k"), ("nm,mv->nv", "m")):
        before, behind = formula.split("->")
        assert {*before} - {*behind} == {letter, ","}
    assert frames[6]["bar k"]["opacity"] == 0  # that axis is not there any more
    axes = {key.split()[1] for key in frames[6] if key.startswith("axis")}
    assert axes == {"n", "m"}
    for line, product in ((scores, film.S), (mix, film.Z)):
        formula, (one, other) = line.split('"')[1], line[-4:-1].split(",")
        found = np.einsum(formula, film.ARRAYS[one], film.ARRAYS[other])
        np.testing.assert_array_equal(found, product)


@pytest.mark.lessons("03-numpy")
def test_lesson_03s_rows_of_k_become_columns_one_after_the_other() -> None:
    for n, looks in enumerate(shown("03-numpy")[:4]):
        for row in range(3):
            cells = [looks[f"K {row} {k}"] for k in range(4)]
            xs, ys = ({float(cell[name]) for cell in cells} for name in "xy")
            assert (len(xs), len(ys)) == ((1, 4) if row >= 3 - n else (4, 1))


def left(part: Part) -> float:
    return float(part[2].get("x", 0))


@pytest.mark.lessons("03-numpy")
def test_lesson_03s_first_cells_are_worked_as_told_and_its_shares_are_softmax() -> None:
    frames = opening_of("03-numpy").state["frames"]
    says = [{key: text for _, key, _, text in frame["parts"]} for frame in frames]
    worked = [(frame["told"], texts) for frame, texts in zip(frames, says, strict=True)]
    worked = [(told, texts) for told, texts in worked if "multiply and add" in told]
    for name, (told, texts) in zip("SZ", worked, strict=True):
        terms, total = told[:-1].split(": ")[1].split(" = ")
        pairs = [[Fraction(each) for each in term.split(" · ")] for term in terms.split(" + ")]
        added = sum(one * other for one, other in pairs)
        assert added == Fraction(total) == Fraction(texts[f"{name} says 0 0"])
    at = next(n for n, frame in enumerate(frames) if "softmax" in frame["told"])
    assert "√4 = 2" in frames[at]["told"]
    scores, shares = (
        np.array([[float(texts[f"S says {i} {j}"]) for j in range(3)] for i in range(3)])
        for texts in says[at - 1 : at + 1]
    )
    powers = np.exp(scores / 2)
    np.testing.assert_allclose(shares, powers / powers.sum(axis=1, keepdims=True), atol=5e-4)
    assert says[-1]["A is"] == "softmax(S/2)"


@pytest.mark.lessons("03-numpy")
def test_lesson_03s_numbers_below_0_have_a_tint_of_their_own() -> None:
    from attnlab.lessons.numpy.opening import BELOW

    for frame in opening_of("03-numpy").state["frames"][:6]:
        parts = {key: (look, text) for _, key, look, text in frame["parts"]}
        says = {key: text for key, (_, text) in parts.items() if key.startswith("K says")}
        below = {key for key, text in says.items() if text.startswith("−")}
        tints = {key: parts[key.replace(" says", "")][0]["fill"] for key in says}
        assert below
        assert {tints[key] for key in below} == {BELOW}
        assert {tints[key] for key in says.keys() - below} == {BLUE.drawn}


@pytest.mark.lessons("04-scaling")
def test_lesson_04s_walks_do_what_walks_do_as_a_rule() -> None:
    from attnlab.lessons.scaling import opening as film

    roots = np.sqrt(film.WIDTHS)
    many = np.concatenate([film.draws(seed)[..., film.WIDTHS] for seed in range(10, 13)])
    shown_one = film.walks()[None][..., film.WIDTHS]
    for ends, off in ((many, 0.02), (shown_one, 0.1)):
        spread = np.sqrt((ends**2).mean(axis=(0, 1)))
        np.testing.assert_allclose(spread, roots, rtol=off)  # and divided by √64 as after one
        assert ((abs(ends) <= roots).mean(axis=(0, 1)) > 0.6).all()  # most
        raw, even = (film._softmax(ends[..., -1] / by) for by in (1, 8))
        assert np.median(raw.max(axis=-1)) > 0.95
        assert 0.3 < np.median(even.max(axis=-1)) < 0.5
        assert np.median(film._softmax(ends[..., 0]).min(axis=-1)) > 0.02
        assert np.median(even.min(axis=-1)) > 0.02  # heard
        assert np.median(np.sort(raw)[:, :-1].sum(axis=-1)) < 0.03  # hardly anything
    assert (film._softmax(many[..., -1]).max(axis=-1) > 0.9).mean() > 0.5
    assert (abs(shown_one[0, :, 1]) < 4).all()  # up and down, in each of the first four


@pytest.mark.lessons("04-scaling")
def test_lesson_04s_walks_and_bars_are_drawn_as_computed_and_told() -> None:
    from attnlab.lessons.scaling import opening as film

    frames = shown("04-scaling")
    texts = [texts_of("04-scaling", n) for n in range(5)]
    told = [frame["told"] for frame in opening_of("04-scaling").state["frames"]]
    for n, (width, by) in enumerate(((1, 1), (4, 1), (16, 1), (64, 1), (64, 8))):
        ends = film.walks()[:, width] / by
        shares = film._softmax(ends)
        rows = {int(key.split()[1]): key.split()[2] for key in texts[n] if "share " in key}
        assert [ends[m] for m in sorted(rows, key=lambda m: rows[m])] == sorted(ends)[::-1]
        for m, (end, share) in enumerate(zip(ends, shares, strict=True)):
            assert texts[n][f"share {m} {rows[m]}"] == f"{share:.2f}"
            walked = film.ZERO - points(frames[n][f"walk {m}"])[:, 1]
            steps = abs(np.diff(walked)) * by / film.UNIT
            assert walked[-1] / film.UNIT == pytest.approx(end, abs=0.02)
            np.testing.assert_allclose(steps, [1] * width + [0] * (64 - width), atol=0.15)
            assert float(frames[n][f"bar {m} {rows[m]}"]["width"]) == pytest.approx(
                film.LONG * share, abs=0.01
            )
        x, y = points(frames[n]["envelope"]).T
        along = (x - film.LEFT) / (film.RIGHT - film.LEFT) * width
        np.testing.assert_allclose(
            abs(y - film.ZERO) * by / film.UNIT, np.sqrt(along), atol=0.12 * by
        )
        assert texts[n]["products"].split()[0] == str(width)
        assert texts[n]["within"].endswith(f"= ±{width**0.5 / by:.0f}")
    assert f"“maps” gets {film._softmax(film.walks()[:, 64])[film.BEST]:.2f}, " in told[3]


@pytest.mark.lessons("01-soft-lookup")
def test_lesson_01s_hard_answer_is_flat_but_for_two_jumps_and_its_soft_one_always_rises() -> None:
    from attnlab.lessons.soft_lookup import opening as film

    first, last = film.STOPS[0], film.STOPS[-1]
    ways = np.linspace(first, last, 2001)
    hard, soft = np.transpose([film.answers(way)[:2] for way in ways])
    assert np.diff(soft).min() > 0
    jumps = np.flatnonzero(np.diff(hard))
    assert ways[jumps] == pytest.approx(film.JUMPS, abs=0.1)
    assert hard[[0, *(jumps + 1)]].tolist() == [1, 10, 35]
    frames = shown("01-soft-lookup")
    x, y = points(frames[0]["glides"]).T
    drawn = np.interp(
        first + (x - film.LEFT) / (film.RIGHT - film.LEFT) * (last - first), ways, soft
    )
    np.testing.assert_allclose((film.FLOOR - y) / film.UNIT, drawn, atol=0.05)
    for parts, stop in zip(frames, film.STOPS, strict=True):
        thick = [float(parts[f"pours {m}"]["stroke-width"]) for m in range(3)]
        np.testing.assert_allclose(np.array(thick) / film.FULL, film.answers(stop)[2], atol=0.02)
        assert parts["ahead"]["x"] == parts["asks"]["cx"]
    told = [frame["told"] for frame in opening_of("01-soft-lookup").state["frames"]]
    assert told[6] == "A step more: hard jumps to 35. Soft goes from 19 to 26."


@pytest.mark.lessons("01-soft-lookup")
def test_the_shelfs_film_ends_at_the_lessons_question_and_its_answer() -> None:
    film = import_module("attnlab.lessons.soft_lookup.turning").shelf()
    assert film.state["pace"] * (len(film.state["frames"]) - 1) <= LONGEST
    for frame in film.state["frames"]:
        boxes = words_of(frame["parts"]).values()
        assert not any(_meet(*two) for two in combinations(boxes, 2))
    last = film.state["frames"][-1]
    takes = "The question is 37° from marshes. Its answer takes marshes 0.72, seas 0.27."
    assert last["told"] == takes
    assert "16.5 g/l salt" in [words for *_, words in last["parts"]]


@pytest.mark.lessons("11-cost")
def test_answers_out_of_tiles_are_those_of_softmax_over_all_scores_at_once() -> None:
    powers = np.exp(tiles_film.SCORES)
    weights = powers / powers.sum(axis=1, keepdims=True)
    answers = weights @ tiles_film.VALUES
    every = tiles_film.SCORES.reshape(3, 2, 3, 2).swapaxes(1, 2)
    tiled = np.ravel([tiles_film._met(rows)[-1].answers for rows in every])
    np.testing.assert_allclose(tiled, answers, rtol=1e-14)
    last, s = shown("11-cost")[-1], 1 / weights[0].max()  # the sum of e^(score − max)
    wide = [float(last[f"once {n}"]["width"]) for n in range(6)]
    high = [float(last[f"once {n}"]["height"]) for n in range(6)]
    np.testing.assert_allclose(np.array(wide) / tiles_film.UNIT / s, weights[0], atol=1e-3)
    np.testing.assert_allclose(np.array(high) / tiles_film.STEP, tiles_film.VALUES)
    level = tiles_film.LOW - points(last["at once"])[:, 1]
    np.testing.assert_allclose(level / tiles_film.STEP, answers[0], atol=2e-3)
    for n in (7, 8):  # the height of the block, and that of all columns at once
        assert texts_of("11-cost", n)["level"] == f"{answers[0]:.1f}"


@pytest.mark.lessons("11-cost")
def test_a_block_is_as_wide_as_its_weights_and_as_large_as_weights_times_values() -> None:
    """It is so after each tile, and one factor that shrinks its width leaves its height."""
    frames, told = shown("11-cost"), opening_of("11-cost").state["frames"]
    scores, values = tiles_film.SCORES[0], tiles_film.VALUES
    for n, (many, most) in {
        2: (2, 1),
        3: (2, 1),
        4: (2, 2),
        5: (2, 2),
        6: (4, 2),
        7: (6, 2),
    }.items():
        weights = np.exp(scores[:many] - most)
        wide, high = (float(frames[n]["block"][side]) for side in ("width", "height"))
        assert wide / tiles_film.UNIT == pytest.approx(weights.sum(), abs=1e-3)
        assert high / tiles_film.STEP == pytest.approx(
            values[:many] @ weights / weights.sum(), abs=1e-3
        )
        assert texts_of("11-cost", n)["level"] == f"{high / tiles_film.STEP:.1f}"
        inside = [float(frames[n][f"inside {j}"]["width"]) for j in range(many // 2)]
        sums = weights.reshape(-1, 2).sum(axis=1)
        np.testing.assert_allclose(np.array(inside) / tiles_film.UNIT, sums, atol=1e-3)
    [at] = [n for n, parts in enumerate(frames) if "factor" in parts]
    before, after, trace = frames[at - 1]["block"], frames[at]["block"], frames[at]["trace"]
    assert float(after["width"]) / float(before["width"]) == pytest.approx(np.exp(1 - 2), abs=1e-3)
    assert before["height"] == after["height"]
    assert trace["width"] == before["width"]
    assert told[at]["told"].startswith("A larger score: A now counts 0.37 as much.")
    assert texts_of("11-cost", at)["factor"] == "× 0.37"
    start, end = points(frames[at]["shaft"])[:, 0]  # from the old right edge to the new one
    assert start == pytest.approx(float(trace["x"]) + float(trace["width"]), abs=0.1)
    assert 0 < end - float(after["x"]) - float(after["width"]) < 4
    last, tiled = frames[-1], frames[-2]["block"]  # behind all columns at once
    assert [last["block"][name] for name in ("x", "y", "width", "height")] == [
        tiled[name] for name in ("x", "y", "width", "height")
    ]
    wide = sum(float(last[f"once {n}"]["width"]) for n in range(6))
    assert wide == pytest.approx(float(tiled["width"]), abs=0.1)


@pytest.mark.lessons("11-cost")
def test_columns_stand_side_by_side_and_no_more_than_a_tile_of_scores_is_held() -> None:
    frames = shown("11-cost")
    for parts in frames:
        right = float(tiles_film.SUMS)
        kinds = ("once",) if "at once" in parts else ("block", "column")
        for key in sorted(key for key in parts if key.startswith(kinds)):
            left, wide = (float(parts[key][name]) for name in ("x", "width"))
            if key.startswith("column") and left < right - 0.1:  # was levelled into the block
                assert left + wide < right + 0.1
            else:
                assert left == pytest.approx(right, abs=0.1)
                right = left + wide
        assert right <= tiles_film.ROOM[0] + tiles_film.ROOM_SIZE[0]
    for parts in frames[1:-1]:
        faces = [key.split()[1] for key in parts if key.startswith("box ") and "lar" not in key]
        assert faces == [faces[0]] * 4
        assert float(parts[f"box {faces[0]} 00"]["x"]) > float(parts["memory"]["x"])
        assert [f"done {n}" in parts for n in range(9)] == [n < int(faces[0]) for n in range(9)]
    for parts in (frames[0], frames[-1]):
        assert [key for key in parts if key.startswith("box")] == []


@pytest.mark.lessons("11-cost")
def test_dark_are_all_scores_seen_that_are_their_rows_largest_so_far() -> None:
    for n, parts in enumerate(shown("11-cost")):
        texts = texts_of("11-cost", n)
        faces = [key.split()[1:] for key in parts if key.startswith("box ")]
        tile = next((int(face[0]) for face in faces if face[0] != "largest"), 0)
        i, j = divmod(tile, 3)
        for face in faces:
            r = 0 if face[0] == "largest" else int(face[1][0])
            largest = tiles_film.SCORES[2 * i + r, : 2 * j + 2].max()
            key = " ".join(face)
            dark = float(parts[f"box {key}"]["fill-opacity"]) > 0.5
            assert dark == (float(texts[f"number {key}"]) == largest), key


@pytest.mark.lessons("14-real-model")
def test_lesson_14s_dial_leads_from_the_models_own_attention_to_equal_weights() -> None:
    film, end = model_film, model_film.STEPS
    own, equal = (writing.step(writing.mixed(t), film.TEXT) for t in (0, 1))
    with torch.no_grad():
        scores = small.load()(small.numbered([small.START, *film.TEXT]))[0, -1]
    torch.testing.assert_close(own.chances, scores.softmax(dim=-1), atol=1e-5, rtol=0)
    assert own.word == film.TEXT[1]  # it follows what stands there
    assert writing.step(writing.OWN, film.TRADED).word == film.TRADED[1] != own.word
    assert equal.word == film.RIVAL
    assert equal.heads.amax() - equal.heads.amin() < 1e-6  # in each head
    for n, stop in enumerate(film.STOPS, 2):
        known = writing.step(writing.mixed(stop / end), film.TEXT)
        parts, texts = shown("14-real-model")[n], texts_of("14-real-model", n)
        assert texts["wrote"] == known.word
        assert f"“{known.word}”" in opening_of("14-real-model").state["frames"][n]["told"] or n == 6
        shares = known.heads.mean(dim=0).numpy()
        assert shares.sum() == pytest.approx(1)
        thick = [float(parts[f"look {at}"]["stroke-width"]) for at in range(len(shares))]
        np.testing.assert_allclose(thick, 1 + (film.THICKEST - 1) * shares, atol=0.01)
        assert float(parts["knob"]["cx"]) == points(parts[f"stop {stop}"])[0, 0]
        for key, each in (("copied", film.TEXT[1]), ("rival", film.RIVAL)):
            chance = known.chances[small.words.index(each)].item()
            at = film.BASE - (film.BASE - film.TOP) * chance
            assert float(parts[f"{key} dot"]["cy"]) == pytest.approx(at, abs=0.01)
            np.testing.assert_allclose(points(parts[f"{key} line"])[stop, 1], at, atol=0.06)
            said = f"{100 * chance:.0f}%" if chance >= 0.01 else "<1%"
            assert texts[f"{key} chance"] == f"{each} {said}"


@pytest.mark.lessons("14-real-model")
def test_lesson_14s_other_texts_are_copied_with_own_weights_and_mostly_not_with_equal() -> None:
    birds = [f"bird {a} {b} ; bird".split() for a in SINGULAR for b in SINGULAR]
    texts = [each for each in birds if len({*each}) == 4]
    own, equal = (
        sum(writing.step(by, each).word == each[1] for each in texts[::7])
        for by in (writing.OWN, writing.EQUAL)
    )
    assert len(texts) == len(model_film.SUCH) == 210
    assert own == 30
    assert equal < 9
    told = opening_of("14-real-model").state["frames"][-1]["told"]
    assert told.endswith("of 210 such texts it gets 35 right; with its own, 210.")


@pytest.mark.lessons("14-real-model")
def test_a_learners_function_is_the_same_or_differs_at_a_word() -> None:
    text = "the queen that the dogs see"
    right = writing.OWN

    def unscaled(*given: Any, scaling: float) -> Any:
        return right(*given, scaling=1.0)

    film = model_film.opening(right, text)
    assert film.title == "Your attention writes the same three words as the model’s own"
    *_, last = film.state["frames"]
    signs = [key for _, key, *_ in last["parts"] if key.endswith("sign")]
    assert signs == ["same 0 sign", "same 1 sign", "same 2 sign"]
    assert (
        last["told"]
        == "From “the”, framed, one head looks most at “that”, and “sailors” is written."
    )
    looks = {key: look for _, key, look, _ in last["parts"]}
    left, wide = (float(looks["asks"][name]) for name in ("x", "width"))
    assert left + wide / 2 == pytest.approx(float(looks["new 1"]["x"]))  # the last but one
    starts = {ends(look)[0] for key, look in looks.items() if key.startswith("look")}
    assert [*starts] == pytest.approx([float(looks["new 1"]["x"])], abs=0.1)
    wrong = model_film.opening(unscaled, text)
    assert wrong.title == "Your attention writes “farmers” where the model’s own wrote “sailors”"
    last = {key: (look, text) for _, key, look, text in wrong.state["frames"][-1]["parts"]}
    assert (last["new 2"][1], last["own 2"][1]) == ("farmers", "sailors")
    assert last["differs 2 badge"][0]["cx"] == last["new 2"][0]["x"] == last["own 2"][0]["x"]
    told = [frame["told"] for frame in model_film.opening(writing.EQUAL, text).state["frames"]]
    assert told[1].startswith("All words get the same weight")
    long = " ".join(4 * ["the king behind the dogs and"])
    for function in (right, unscaled, writing.EQUAL):
        for each in (text, " ".join(model_film.TEXT), long, "the"):
            for frame in model_film.opening(function, each).state["frames"]:
                assert _out_of_sheet(frame["parts"], yours.HIGH) == []
                boxes = words_of(frame["parts"])
                meet = [key for key in boxes if key != "own" and _meet(boxes["own"], boxes[key])]
                assert meet == []
    with pytest.raises(ValueError, match="does not know “dragon”"):
        model_film.opening(right, "the dragon sleeps")
    with pytest.raises(ValueError, match="out is"):
        model_film.opening(lambda *args, scaling: right(*args, scaling)[::-1], text)


@pytest.mark.lessons("10-training")
def test_the_writer_gathers_its_arcs_on_the_letter_before_and_invents_a_word() -> None:
    from attnlab.lessons.training import opening as film
    from attnlab.lessons.training.reading import documentation

    parts = [texts_of("10-training", n) for n in range(len(film.STEPS))]
    shares = [int(re.findall(r"layer 1: (\d+)% of", each["near"])[0]) for each in parts]
    near = dict(zip(film.STEPS, shares, strict=True))
    start, end = film.JUMP
    assert max(near[step] for step in near if step <= start) < 10
    assert near[end] > 80
    assert near[300] < near[1000]
    read, known = {*documentation().split()}, []
    states = json.loads(film.RECORDED.read_text("utf-8"))["states"]
    told = [frame["told"] for frame in opening_of("10-training").state["frames"]]
    for each, state, says in zip(parts, states, told, strict=True):
        text = state["text"][film.shown_of(state["text"])]
        words = text.split()
        drawn = "".join(text for key, text in each.items() if key.startswith("letter"))
        assert drawn == "".join(words)
        assert len(text) == len(state["weights"]) <= film.WIDTH
        known.append(sum(word in read for word in words) / len(words))
        assert (film.INVENTED in words) == (film.INVENTED in says)
    assert film.INVENTED not in read
    assert known[0] == 0
    assert max(known[1:4]) < 0.6 < min(known[4:])
    assert known[-1] == 1


@pytest.mark.lessons("10-training")
def test_its_loss_stands_where_its_axes_say_and_its_arcs_one_letter_back_are_blue() -> None:
    from attnlab.lessons.training import opening as film

    known = json.loads(film.RECORDED.read_text(encoding="utf-8"))
    losses, by_one = known["losses"], known["by_counts"][0]
    level = points(shown("10-training")[-1]["level"])[0, 1]
    slope = (level - film.LOW) / (by_one - film.LIMITS[1])
    for n, step in enumerate(film.STEPS):
        parts, loss = shown("10-training")[n], film._loss(step, losses)
        high = level + slope * (loss - by_one)
        assert float(parts["dot"]["cy"]) == pytest.approx(high, abs=0.1)
        assert float(parts["dot"]["cy"]) + float(parts["dot"]["r"]) < film.LOW
        if f"tick {step}" in parts:
            assert float(parts["dot"]["cx"]) == parts[f"tick {step}"]["x"]
        for key in parts:
            if key.startswith("arc "):
                i, j = map(int, key.split()[1:])
                assert (parts[key]["stroke"] == BLUE.drawn) == (i - j == 1)
        assert texts_of("10-training", n)["loss"] == f"loss {loss:.1f}"
    at = [float(parts[f"tick {step}"]["x"]) for step in (20, 50, 200, 1000)]
    wide = [right - left for left, right in pairwise(at)]
    begin = shown("10-training")[0]["dot"]["cy"]
    assert points(shown("10-training")[1]["curve"])[0, 1] == pytest.approx(begin, abs=0.1)
    assert np.array(wide) / np.log([2.5, 4, 5]) == pytest.approx(wide[0] / np.log(2.5), rel=1e-3)


@pytest.mark.lessons("10-training")
def test_its_loss_nears_one_letters_level_and_passes_twos_after_its_arcs_gathered() -> None:
    from attnlab.lessons.training import opening as film

    known = json.loads(film.RECORDED.read_text(encoding="utf-8"))
    one, two = known["by_counts"]
    loss = dict(zip(range(0, 1001, film.EVERY), known["losses"], strict=True))
    assert 0 < film._loss(50, known["losses"]) - one < 0.15
    assert two + 0.3 < loss[100] < one
    assert abs(loss[300] - two) < 0.05
    assert loss[1000] < two - 0.2 < two < known["without"]
    [*_, told] = (frame["told"] for frame in opening_of("10-training").state["frames"])
    assert told.endswith(
        f" {loss[1000]:.1f}; were layer 2, not drawn, off: {known['without']:.1f}."
    )
    last = shown("10-training")[-1]
    blue = points(last["gathers"])
    assert [*blue[[0, -1], 0]] == pytest.approx(
        [last[f"tick {at}"]["x"] for at in film.JUMP], abs=0.1
    )
    level = points(last["level"])[0, 1]
    assert blue[0, 1] < level < blue[-1, 1] < float(last["dot"]["cy"])
    assert 0 < float(last["level says"]["y"]) - level - HIGH * SMALL < 8  # under its line


@pytest.mark.lessons("12-shortcuts")
def test_each_rows_arcs_are_weights_and_its_ink_is_what_the_way_keeps() -> None:
    from attnlab.lessons.shortcuts import opening as film

    known, kept = json.loads(film.RECORDED.read_text("utf-8")), film.kept()
    frames, last = shown("12-shortcuts"), shown("12-shortcuts")[-1]
    for way in film.WAYS:
        arcs = {int(key.split()[-1]): key for key in last if key.startswith(f"{way} look")}
        weights = dict(enumerate(known[way]["weights"][:-1]))
        if way == "sum":
            assert max(weights.values()) < 0.1  # no book stands out
            weights = {film.BOOKS // 2: 1}  # over the table, off the books
            left, right = points(last["sum head 0"])[:, 0]
            assert points(last["sum shelf"])[1, 0] < left < ends(last[arcs[16]])[1] < right
        assert {*arcs} == {m for m, weight in weights.items() if weight >= film.LEAST}
        for m, key in arcs.items():
            thick = 1 + (film.THICKEST - 1) * weights[m]
            assert float(last[key]["stroke-width"]) == pytest.approx(thick, abs=0.01)
            assert (last[key]["stroke"] == BLUE.drawn) == (m == film.ASKED)
        found = sum(key.startswith(f"{way} found") for key in last)
        assert found == (film.HEADS if film.ASKED in arcs else 0)
        heights = {points(last[f"{way} head {head}"])[0, 1] for head in range(film.HEADS)}
        assert len(heights) == (1 if way == "shared" else film.HEADS)
        tokens = _ink(last, way) / _ink(last, "full") * film.BOOKS + (way == "window")
        many = film.BOOKS + (way in ("window", "sum"))  # with the question, which has no ink
        assert tokens / many == pytest.approx(kept[way] / kept["full"], abs=0.005)
    for n, parts in enumerate(frames[1:]):
        seen = [way for way in film.WAYS if parts[f"{way} head 0"]["opacity"]]
        assert seen == [*film.WAYS][: n + 1]
    assert kept["window"] * 33 == kept["full"] * 8
    assert kept["sum"] * 7 == pytest.approx(kept["full"], rel=0.05)
    assert kept["shared"] * 4 == kept["full"]
    assert film.BOOKS - film.ASKED >= film.WINDOW  # out of the window's reach


def _ink(parts: dict[str, dict[str, float | str]], way: str) -> float:
    """How large a way's dashes are together, those in one place counted once."""
    stripes = {str(look["d"]): look for key, look in parts.items() if f"{way} head" in key}
    large = 0.0
    for look in stripes.values():
        dash, gap = map(float, str(look["stroke-dasharray"]).split())
        start, end = points(look)[:, 0]
        large += round((end - start + gap) / (dash + gap)) * dash * float(look["stroke-width"])
    return large


@pytest.mark.lessons("12-shortcuts")
def test_each_way_has_its_turn_and_its_result_as_recorded() -> None:
    from attnlab.lessons.shortcuts import opening as film

    known, parts = json.loads(film.RECORDED.read_text("utf-8")), shown("12-shortcuts")
    right = {way: known[way]["right"] for way in film.WAYS}
    for n in range(1, 5):
        for m, (way, share) in enumerate(right.items()):
            wanted = f"{100 * share:.0f}%" if m < n else None
            assert texts_of("12-shortcuts", n).get(f"{way} right") == wanted
            if wanted:
                assert (parts[n][f"{way} right"]["fill"] == BLUE.drawn) == (share >= film.FOUND)
    assert right["full"] == right["shared"] == 1
    assert right["window"] == pytest.approx(1 / film.LETTERS, abs=0.03)  # it guesses
    assert right["sum"] < 0.9


@pytest.mark.lessons("12-shortcuts")
def test_lesson_12s_film_counts_what_is_kept_as_the_lesson_does() -> None:
    from attnlab.lessons.shortcuts.opening import kept

    cells = code_cells(read(solution_path("12-shortcuts")))
    [cost] = [each.source for each in cells if each.source.startswith("N, H, D = ")]
    names: dict[str, Any] = {}
    exec("\n".join(cost.splitlines()[:3]), names)
    expected = [names["kept"][name] for name in ("full", "window of 8", "linear", "1 group")]
    assert [*kept(names["N"]).values()] == expected


@pytest.mark.lessons("13-gpu-sdpa")
def test_bars_end_as_their_times_most_of_which_are_trips_of_scores_or_none() -> None:
    from attnlab.lessons.gpu_sdpa import opening as film

    slow, fast = (film.longest()[way]["seconds"] for way in film.WAYS)
    assert film.scores_in_bytes() == 16384**2 * 16 * 2
    run = film._run()
    moving = film.TRIPS * film.scores_in_bytes() / run["peak"]["bandwidth"]
    alone = 4 * 16384**2 * run["d"] * run["heads"] / run["peak"]["flops"]
    assert alone + moving == pytest.approx(slow, rel=0.05)
    assert 0.8 * slow < moving < slow
    assert alone < fast < 1.5 * alone
    last = opening_of("13-gpu-sdpa").state["frames"][-1]["parts"]
    parts = {key: (look, text) for _, key, look, text in last}
    long = [float(parts[f"bar {way}"][0]["width"]) for way in film.WAYS]
    assert long[1] / long[0] == pytest.approx(fast / slow, abs=0.01)
    assert round(slow / fast) == 5
    assert parts["faster"][1] == "5× as fast"
    assert (film.TRIPS, round(film.TRIPS * film.scores_in_bytes() / 1e9)) == (6, 52)
    assert (parts["naive does 0"][1], parts["none"][1]) == ("6 trips, 52 GB:", "0 GB of scores")
    frames = [texts_of("13-gpu-sdpa", n) for n in range(9)]
    trips = zip((1, 1, 2, 3, 4, 5, 6), (4.3, 8.6, 17, 26, 34, 43, 52), strict=True)
    gone = [f"trip {trip}: {many:.2g} GB" for trip, many in trips]
    assert [each.get("gone", "") for each in frames] == ["", *gone, ""]
    steps, looks = ["scores", "scale", "softmax", "mix"], shown("13-gpu-sdpa")
    assert {each["sdpa does 0"] for each in frames} == {"all four steps"}
    assert [each["naive does 0"] for each in frames[:-1]] == [*np.repeat(steps, [3, 2, 2, 1])]
    tips = [points(each["head"])[:2, 0] for each in looks[1:-1]]
    went = [points(looks[-1][f"went {n}"])[::-1, 0] for n in range(1, film.TRIPS + 1)]
    goes = ["to memory" if tip < back else "to chip" for tip, back in [*tips, *went]]
    assert goes == ["to memory", *6 * ["to memory", "to chip"]]
    answers = [[f"written {way}" in each for each in frames] for way in film.WAYS]
    assert answers == [[*8 * [False], True], [False, *8 * [True]]]
    assert {f"{way} {does}" for way in film.WAYS for does in ("reads", "writes")} <= looks[
        -1
    ].keys()
    faces = [[float(each[f"tile {n}"]["fill-opacity"]) for n in range(16)] for each in looks]
    assert [face.count(0.4) for face in faces] == [
        0,
        8,
        *7 * [16],
    ]  # half its time is half its tiles
    assert [face.count(1) for face in faces] == [1, 1, *7 * [0]]
    assert (
        "16,384 tokens, 16 heads: 8.6 GB of scores."
        in opening_of("13-gpu-sdpa").state["frames"][0]["told"]
    )
