"""Each lesson opens with a picture that moves: short, whole on its sheet, and told in sentences."""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
import pytest
import torch

from attnlab import small
from attnlab.figures.live.film import LONGEST, Film
from attnlab.figures.live.parts import INK, SMALL, WIDE
from attnlab.figures.palette import BLUE, GREY, ORANGE
from attnlab.lessons import name_of, slugs
from attnlab.lessons.cost import opening as tiles_film
from attnlab.lessons.real_model import opening as model_film
from attnlab.lessons.real_model import writing, yours
from attnlab.small.grammar import PLURAL, SINGULAR
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
    if "transform" in look:  # it goes round, upright
        about, upright = str(look["transform"]).split(") ")
        turn, *at = map(float, upright.strip(")").removeprefix("rotate(").split())
        assert turn == -turn_of(look)
        [moved] = points({"d": f"M{at[0]} {at[1]}Z", "transform": about}) - at
        x, y = x + moved[0], y + moved[1]
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
    assert [
        each for each in told if len(each.split()) > WORDS or not each.endswith((".", "?"))
    ] == []


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
def test_lesson_06s_words_that_come_again_listen_to_what_followed_and_one_pass_is_as_six() -> None:
    from attnlab.lessons.causal_mask.opening import TEXT

    layer, head = small.head("repeat")
    rows = small.weights(TEXT)[layer][head]
    for n in (4, 5):
        followed = TEXT.index(TEXT[n]) + 1
        assert rows[n, followed] > 0.9
        assert TEXT[followed] == TEXT[n + 1] == next(iter(small.following(TEXT[: n + 1], 1)))
    model = small.load()
    in_one = model(small.numbered(TEXT))[0]
    in_six = [model(small.numbered(TEXT[: n + 1]))[0, -1] for n in range(len(TEXT))]
    torch.testing.assert_close(in_one, torch.stack(in_six))


@pytest.mark.lessons("06-causal-mask")
def test_lesson_06s_guesses_are_those_of_six_passes_and_of_one_and_right_if_the_word_came() -> None:
    from attnlab.lessons.causal_mask.opening import PASSES, SIGNS, TEXT

    model, frames = small.load(), shown("06-causal-mask")
    texts = [texts_of("06-causal-mask", n) for n in range(len(frames))]
    in_one, right = model(small.numbered(TEXT))[0], 0
    for n in range(1, len(TEXT)):
        alone = small.words[int(model(small.numbered(TEXT[:n]))[0, -1].argmax())]
        of_six = [each.get(f"six {n}") for each in texts]
        assert of_six == [*(alone if done >= n else None for done in PASSES), None, alone]
        of_one = [each.get(f"one {n}") for each in texts]
        guess = small.words[int(in_one[n - 1].argmax())]
        assert of_one == [*[None] * 4, TEXT[n], guess]
        assert guess == alone
        row, heads = (
            [frames[-1][f"{which} {of}"] for which in ("one", "six")] for of in (n, "count")
        )
        assert row[0]["y"] == row[1]["y"]
        assert [look["x"] for look in row] == [look["x"] for look in heads]
        colour, points_ = SIGNS[alone == TEXT[n]]
        judged = [f"sign {n}" in frame for frame in frames]  # as soon as the next word is there
        assert judged == [*(done > n or done == 6 for done in PASSES), False, True]
        for frame in (frame for frame in frames if f"sign {n}" in frame):
            assert frame[f"sign {n}"]["stroke"] == colour.drawn
            assert str(frame[f"sign {n}"]["d"]).count("L") == len(points_) - 1
        right += alone == TEXT[n]
    told = [frame["told"] for frame in opening_of("06-causal-mask").state["frames"]]
    assert right == 4
    assert "guesses that the next word is “fox”." in told[0]
    assert "was “owl”. So that was wrong" in told[1]
    assert told[3] == "Pass 6: “cat”. 6 guesses took 6 passes; 4 are right."
    assert told[5].endswith("a mask hides what follows: the same guesses, both wrong ones too.")
    assert [each["one count"] for each in texts] == [*map(str, PASSES), "1", "1"]
    assert [each.get("six count") for each in texts] == [None] * 5 + ["6"]
    assert [each.get("right") for each in texts] == [None, *["right?"] * 3, None, None]
    heads = [frames[-1][key] for key in ("one count", "equal 1", "six count")]
    assert [float(head["x"]) for head in heads] == sorted(float(head["x"]) for head in heads)
    assert [each.get("copy") for each in texts] == [None] * 4 + ["could copy", None]


@pytest.mark.lessons("06-causal-mask")
def test_lesson_06s_mask_hides_all_that_a_word_cannot_listen_to() -> None:
    from attnlab.lessons.causal_mask import opening as film
    from attnlab.lessons.causal_mask.opening import (
        AGAIN,
        DARK,
        LAST,
        LEFT,
        PASSES,
        PLACES,
        STEP,
        TEXT,
    )

    layer, head = small.head("repeat")
    weights = small.weights(TEXT)[layer][head]
    for at, frame in enumerate(shown("06-causal-mask")):
        texts, many = texts_of("06-causal-mask", at), [*PASSES, LAST, LAST][at]
        is_open, is_map = at == 4, at >= 4
        edge, *hem, end = points(frame["mask"])
        assert [edge[0], end[0]] == [film.EDGE] * 2
        for n in range(1, len(TEXT)):
            (edge, top), (_, low) = hem[2 * n - 2 : 2 * n]
            assert (low > top) == (n <= many)
            seen = len(TEXT) if is_open else n
            cell = frame[f"seen {n}"]
            assert (cell["x"], cell["width"]) == (LEFT, STEP * seen)
            if n <= many:
                assert edge == LEFT + STEP * seen
                assert top < cell["y"]
                assert float(cell["y"]) + float(cell["height"]) < low
                assert top < frame[f"asks {n}"]["y"] < low
            assert texts[f"asks {n}"] == (TEXT[n - 1] if is_map else str(n))
            keys = [key for key in texts if key.endswith(f" of {n}") and frame[key]["opacity"]]
            there = len(TEXT) * (n == LAST) if is_map else n if n <= many else 0
            assert [texts[key] for key in keys] == [*TEXT[:there]]
            assert [frame[key]["x"] for key in keys] == PLACES[:there]
            if not is_map:  # it asks, and stands in its row
                assert [frame[key]["fill"] for key in keys[-1:]] == [ORANGE.drawn] * (there > 0)
                assert all(top < frame[key]["y"] < low for key in keys)
            is_lit = at == 5 and n > AGAIN
            most = int(weights[n - 1].argmax())
            assert texts.get(f"was {n}") == (TEXT[most] if is_lit else None)
            assert not is_lit or frame[f"was {n}"]["x"] == PLACES[most]
            if is_open:  # the word that came is lit, and copied
                assert middle(frame[f"copied {n}"]) == PLACES[n]
                assert points(frame[f"copies {n}"])[0, 0] == LEFT + STEP * (n + 1)
                assert "stroke-dasharray" in frame[f"copies {n}"]
        listens = {key: look for key, look in frame.items() if key.startswith("listens ")}
        again = () if is_open else range(AGAIN + 1, many + 1)
        assert [*listens] == [f"listens {n}" for n in again]
        for n, cell in zip(again, listens.values(), strict=True):
            to = int(weights[n - 1].argmax())
            assert to == TEXT.index(TEXT[n - 1]) + 1 < n  # it followed the first; not ahead
            assert middle(cell) == PLACES[to]
            assert cell["fill-opacity"] == pytest.approx(DARK * weights[n - 1, to], abs=0.01)
    told = opening_of("06-causal-mask").state["frames"][2]["told"]
    assert f"second “fox” listens to “owl” ({weights[AGAIN].max():.2f}), which followed" in told
    assert (weights.round(6) == np.tril(weights).round(6)).all()


@pytest.mark.lessons("07-multi-head")
def test_lesson_07s_last_noun_decides_without_one_head_and_never_with_it() -> None:
    from attnlab.lessons.multi_head.opening import HEADS, SUBJECT, follows_last, singular

    texts = [texts_of("07-multi-head", n) for n in range(7)]
    verbs = [(each["word 4"], each["verb"]) for each in texts]
    assert verbs[:2] == [("dogs", "?")] * 2
    assert verbs[2:4] == [("dogs", "runs"), ("dog", "runs")]
    assert verbs[4:] == [("dogs", "run"), ("dog", "runs"), ("dogs", "run")]
    assert min(singular([], last) for last in ("dogs", "dog")) > 0.99
    assert singular([SUBJECT], "dogs") < 0.1 < 0.9 < singular([SUBJECT], "dog")
    tried = {f"{row} {last}" for row in ("on", "off") for last in ("dogs", "dog")}
    ends = {key: text for key, text in texts[5].items() if key in tried}
    assert ends == {
        **{f"on {last}": "runs" for last in ("dogs", "dog")},
        **{"off dogs": "run", "off dog": "runs"},
    }
    assert [len(tried & each.keys()) for each in texts] == [0, 0, 1, 2, 3, 4, 0]
    crossed = [[key for key in each if key[:6] == "cross "] for each in shown("07-multi-head")]
    assert crossed == [[]] * 4 + [["cross off dogs"]] * 2 + [[]]
    assert [n for n, each in enumerate(texts) if "luck" in each] == [5]  # right for the last noun
    rest = shown("07-multi-head")[-1]
    first, last, few = rest["bar on"], rest["bar off"], rest["few"]
    left = float(shown("07-multi-head")[5]["cell on dogs"]["x"])  # rows' names stay
    meet = left + (1 - follows_last([SUBJECT])) * (WIDE - left)
    spans = [float(each[side]) for each in (first, few, last) for side in ("x", "width")]
    sides = [left, WIDE - left, left, meet - left, meet, WIDE - meet]
    assert spans == pytest.approx(sides, abs=0.02)
    for n in ("on", "off"):
        assert texts[-1][f"row {n}"] == texts[5][f"row {n}"] == f"head 3 {n}"
        assert float(rest[f"row {n}"]["y"]) == float(rest[f"who {n}"]["y"])
    assert first["fill"] == few["fill"] == rest["word 1"]["fill"]
    assert last["fill"] == rest["word 4"]["fill"]
    says = [[texts[-1][f"{which} {n}"] for which in ("who", "most")] for n in ("on", "off")]
    assert says == [["first noun decides", "100%"], ["last noun decides", "89%"]]
    assert (texts[-1]["few first"], first["fill"]) == ("11%", rest["kept"]["fill"])
    assert left < float(rest["few first"]["x"]) < meet
    assert last["fill"] == rest["verb"]["fill"]
    assert len(PLURAL) == len(SINGULAR) == 16
    ways = [[texts[-1][key] for key in (f"{key}'s row", key)] for key in ("kept", "verb")]
    assert ways == [["head 3 on", texts[2]["verb"]], ["head 3 off", texts[4]["verb"]]]
    assert texts[-1]["of all"] == f"{2 * 16 * 16 * 3:,} sentences whose nouns disagree"
    with_king = [
        f"{small.weights(('the', 'king', 'near', 'the', n))[1][2, -1, 1]:.2f}"
        for n in ("dogs", "dog")
    ]
    assert [each.get("weight") for each in texts[2:]] == [*with_king, "off", "off", None]
    # In all sentences; and by the last word's own row, if no head of the layer adds to it.
    others = [head for head in HEADS if head != SUBJECT]
    assert [follows_last(off) for off in ([], others)] == [0, 0]
    assert round(100 * follows_last([SUBJECT])) == 89
    told = opening_of("07-multi-head").state["frames"][-1]["told"]
    assert "with it the first noun decides 100%." in told
    assert "last decides 89%" in told
    assert follows_last(HEADS) > 0.7


@pytest.mark.lessons("07-multi-head")
def test_lesson_07s_arcs_are_weights_lie_one_in_another_and_light_what_they_reach() -> None:
    from attnlab.lessons.multi_head.opening import LAYER, SUBJECT, TEXT

    begin, found, frame, rest = (shown("07-multi-head")[n] for n in (0, 2, 4, 6))
    inks = [[each[f"word {n}"]["fill"] for n in range(5)] for each in (begin, found, frame, rest)]
    grey, the, king, dogs = GREY.drawn, BLUE.drawn, ORANGE.drawn, frame["verb"]["fill"]
    assert inks[0] == [grey] * 4 + ["currentColor"]
    assert inks[1] == [grey, king, grey, grey, "currentColor"]
    assert inks[2] == [grey] * 4 + [dogs]
    named = shown("07-multi-head")[1]
    assert [named[f"word {n}"]["fill"] for n in range(5)] == [the, grey, grey, the, "currentColor"]
    for h, m in ((0, 0), (1, 3), (3, 0)):  # behind the one that finds it
        pale, before = (float(each[f"{h} to {m}"]["opacity"]) for each in (found, named))
        assert pale < 0.5 * before < 0.5 * float(found[f"{SUBJECT} to 1"]["opacity"])
        assert float(frame[f"{h} to {m}"]["opacity"]) < 0.5 * pale  # and behind a full table
    assert inks[3] == [grey, king, grey, grey, dogs]
    its_arc = f"{SUBJECT} to 1"
    for each, greys in ((begin, 4), (named, 1)):  # arcs of heads that are not spoken of
        grey_arcs = [key for key in each if key[1:-1] == " to " and each[key]["stroke"] == grey]
        assert (len(grey_arcs), its_arc in grey_arcs) == (greys, True)
        assert all(each[key]["d"] == named[key]["d"] for key in grey_arcs)
    left = {key for key in rest if key[:5] == "badge" or key[1:-1] == " to "}
    assert left == {f"badge {SUBJECT}", its_arc}
    start, end = ends(rest[its_arc])  # from the last word to the king, and from there to a verb
    assert start < points(rest["its way"])[0, 0]
    assert end == pytest.approx(float(rest["word 1"]["x"]), abs=0.06)
    assert rest[its_arc]["stroke-width"] == found[its_arc]["stroke-width"]
    for way, n, verb in (("its way", 1, "kept"), ("way", 4, "verb")):
        along, boxed = points(rest[way]), rest[f"{verb}'s box"]
        assert rest[way]["stroke"] == rest[f"word {n}"]["fill"] == rest[verb]["fill"]
        assert float(rest["word 4"]["x"]) < along[0, 0] < along[-1, 0] < float(boxed["x"])
        middle_of = float(boxed["y"]) + float(boxed["height"]) / 2
        assert along[-1, 1] == pytest.approx(middle_of, abs=1.5)
        assert (points(rest[f"{way}'s end"])[1] == along[-1]).all()
    assert frame["way"]["stroke"] == dogs != found["verb"]["fill"] == king
    assert found["way"]["stroke"] == frame[f"{SUBJECT} to 1"]["stroke"] == grey
    rows = small.weights(TEXT)[LAYER][:, -1]
    arcs = {tuple(map(int, key.split(" to "))): key for key in frame if key[1:-1] == " to "}
    most = {(h, int(rows[h].argmax())) for h in range(4)}
    assert {*arcs} == most
    for h, m in most:  # other words that are alike counted with it
        same = [n for n, text in enumerate(TEXT) if text == TEXT[m]]
        assert rows[h, same].sum() > 0.9
        assert float(found[f"{h} to {m}"]["stroke-width"]) == pytest.approx(
            1 + 7 * rows[h, m], abs=0.01
        )
    nested = sorted((ends(frame[key]) for key in arcs.values()), key=lambda x: -x[0])
    for (start, end), (other_start, other_end) in pairwise(nested):
        assert start > other_start
        assert end < other_end


@pytest.mark.lessons("09-position")
def test_lesson_09s_score_depends_on_how_far_apart_and_which_way_places_are() -> None:
    from attnlab.lessons.position.opening import score

    for apart in range(-11, 12):
        expected = 2 * np.sin(np.pi / 6 * apart)  # 0, 1 and 2 at 0, 1 and 3; −1 at −1
        assert [score(at, at + apart) for at in range(12)] == pytest.approx([expected] * 12)
    for n, frame in enumerate(shown("09-position")[1:], 1):
        said = texts_of("09-position", n)
        held = {
            look["fill"]: int(said[key])
            for key, look in frame.items()
            if look.get("font-weight") == 700 and "place" in key
        }
        apart = held[ORANGE.drawn] - held[BLUE.drawn]
        ends = [float(frame[f"place {at}"]["x"]) for at in (held[BLUE.drawn], held[ORANGE.drawn])]
        np.testing.assert_allclose(points(frame["bracket"])[[0, -1], 0], sorted(ends))
        order = "swapped " * (apart < 0)
        for end, key in zip(ends, ("asked", "asks"), strict=True):
            assert abs(float(frame[order + key]["x"]) - end) < 5  # over its place
        way = "after" if apart > 0 else "before"
        assert said["after"] == f"“bites” {abs(apart)} {way} “dog”"
        assert said["score"] == f"score {score(0, apart):.0f}".replace("-", "−")


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
        seen = np.diff(points(parts["shadow"][0]), axis=0)[0]  # beside the line, and as long
        np.testing.assert_allclose(seen, shadow, atol=0.15)
        np.testing.assert_allclose(points(parts["long"][0])[1], tip, atol=0.1)


@pytest.mark.lessons("09-position")
def test_lesson_09s_triangles_are_one_that_turns_once_around() -> None:
    from attnlab.lessons.position.opening import ON, ROUND, STEP

    last = shown("09-position")[-1]
    assert len({str(look["d"]) for key, look in last.items() if key.startswith("left")}) == 1
    turned = [turn_of(last[f"left {n}"]) for n in ROUND]
    assert turned == [-STEP * n for n in ROUND]
    assert len(turned) * ON * STEP == 360


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
    assert answers == ["4.00", "4.10", "3.90", *4 * ["4.00"]]
    assert [[each[f"slope {book}"] for book in "ABC"] for each in texts[4:-1]] == 2 * [
        ["+1", "0", "−1"]
    ]
    kinds = ("far", "wide", "product", "area")
    assert [[texts[-1].get(f"{it} {book}") for it in kinds] for book in "ABC"] == [
        ["+4", "share 0.25", "4 × 0.25", "+1"],
        [None, "share 0.25", "0 × 0.25", "0"],
        ["−2", "share 0.50", "−2 × 0.50", "−1"],
    ]
    assert [each["results"] for each in texts[1:-1]] == [*["moved"] * 3, *["slope"] * 2]
    assert texts[-1]["headline"] == "area = slope"
    assert [texts[3][f"moved {book}"] for book in "ABC"] == ["+0.10", "0", "−0.10"]
    assert texts[4]["division"] == "≈ 0.10 ÷ 0.1"
    looks = shown("05-pytorch")
    for n, book in ((1, "A"), (2, "C"), (3, "B")):  # its share grows, and its result stays in place
        assert float(texts[n][f"share {book}"]) > float(texts[0][f"share {book}"])
        moved, slope, still = (
            looks[at][key]
            for at, key in ((3, f"moved {book}"), *((at, f"slope {book}") for at in (4, 5)))
        )
        assert (moved["x"], moved["y"]) == (slope["x"], slope["y"]) == (still["x"], still["y"])
    high = [float(looks[n]["tip"]["cy"]) for n in range(4)]
    assert high[0] - high[1] == pytest.approx(
        high[2] - high[0], rel=0.03
    )  # of the dot on the scale
    assert high[3] == pytest.approx(high[0], abs=0.2)
    bars = [[looks[-1][f"pull {book}"][side] for side in ("height", "width")] for book in "ABC"]
    assert bars == [[124, 170], [4, 170], [62, 340]]  # 31 px for 1 of a value, 680 for all shares
    level = float(looks[-1]["pull A"]["y"]) + 124
    assert [float(looks[-1][f"pull {book}"]["y"]) for book in "BC"] == [level - 2, level]
    left = [float(looks[-1][f"pull {book}"]["x"]) for book in "ABC"]
    assert left == [left[0], left[0] + 170, left[0]]  # B's after A's, above C's
    assert [looks[0][f"ribbon {book}"]["stroke-width"] for book in "ABC"] == [22, 22, 44]
    assert [looks[0][f"chip {book}"]["height"] for book in "ABC"] == [22, 22, 44]
    moves, pulls = (
        {key for each in looks for key in each if key.startswith(to)} for to in ("move ", "pull")
    )
    assert not any({*each} & moves and {*each} & pulls for each in looks)  # movement is no distance


@pytest.mark.lessons("08-cross-attention")
def test_lesson_08s_film_has_the_weights_of_the_lessons_matrices() -> None:
    import torch

    from attnlab.lessons.cross_attention.opening import ASKED, ASKS, BACKWARDS, weights

    cells = code_cells(read(solution_path("08-cross-attention")))
    [by_hand] = [each for each in cells if each.source.startswith("english = ")]
    names: dict[str, Any] = {"torch": torch}
    exec(by_hand.source, names)
    assert (list(ASKS), list(ASKED)) == (names["english"], names["german"])
    expected = (names["W_q"] @ names["W_k"].T / 2).softmax(dim=-1)  # words are one-hot, √d_k is 2
    torch.testing.assert_close(torch.tensor(weights()), expected)
    torch.testing.assert_close(torch.tensor(weights(BACKWARDS)), expected[:, list(BACKWARDS)])


@pytest.mark.lessons("08-cross-attention")
def test_lesson_08s_lines_are_as_thick_as_weights_also_if_all_german_words_move() -> None:
    from attnlab.lessons.cross_attention.opening import (
        ABOVE,
        ASKED,
        BACKWARDS,
        COLOURS,
        CROSSING,
        EVERY,
        FULL,
        THICK,
        TO,
        weights,
    )

    frames, rows = shown("08-cross-attention"), weights()
    colours = [c if isinstance(c, str) else c.drawn for c in COLOURS]
    texts = [texts_of("08-cross-attention", n) for n in range(len(frames))]
    in_order = [points(frames[0][f"place {n}"])[:, 0] for n in range(len(TO))]
    assert in_order == pytest.approx(np.transpose([TO, TO]))
    best = {n: row.index(max(row)) for n, row in enumerate(rows)}
    lit = [{n for n, c in enumerate(colours) if each[f"asks {n}"]["fill"] == c} for each in frames]
    assert lit == [{0}, {1}, {1}, {1, 4}, *[{*best}] * 3]
    assert {n for n in best if best[n] == n} == lit[0]  # only "I" in its own place
    assert all(texts[0][f"means {m}"] == texts[0][f"asks {n}"] for n, m in best.items())
    assert {n for n in best if texts[0][f"means {n}"] == texts[0][f"asks {n}"]} == lit[0]
    assert best[CROSSING[0]] > best[CROSSING[1]]
    own, told = {*best.items()}, (1, ASKED.index("habe"))
    two = {told, (1, best[1])}
    expected = [{*()}, {(1, m) for m in EVERY}, two, two | {(4, best[4])}, *[own | two] * 3]
    for at, (frame, pairs) in enumerate(zip(frames, expected, strict=True)):
        room = FULL if at < 5 else ABOVE
        lines = {key: look for key, look in frame.items() if key[0].isdigit()}
        assert {(int(key[0]), int(key[5])) for key in lines} == pairs
        assert len(lines) == len(pairs) * (2 if at == 6 else 1)
        for key, look in lines.items():
            n, m = int(key[0]), int(key[5])
            order = BACKWARDS if key.endswith("below") else EVERY
            share = weights(order)[n][order.index(m)]
            assert share == pytest.approx(rows[n][m])  # the same, wherever its word is
            thick = THICK * (1 / 6 if at == 1 else share)
            assert look["stroke-width"] == pytest.approx(thick, abs=0.01)
            assert look["stroke"] == colours[n] == frame[f"asked {key[5:]}"]["fill"]
            leaves, arrives = ends(look)
            assert frame[f"asked {key[5:]}"]["x"] == pytest.approx(arrives, abs=0.05)
            assert arrives == pytest.approx(room.places[order.index(m)], abs=0.05)
            assert abs(leaves - room.to[n]) < (12 if n == 1 else 0.1)
            value = frame[f"value {key}"]
            assert (value["d"], value["stroke"]) == (look["d"], look["stroke"])
            assert value["stroke-dashoffset"] == (-99.9 if at == 1 else 0)  # of 100, from its key
        said = {key: text for key, text in texts[at].items() if key.startswith("weight")}
        weighed = {*()} if at < 2 or at > 4 else pairs if at < 4 else own
        assert said == {f"weight {n} {m}": f"{rows[n][m]:.2f}" for n, m in weighed}
        for n, m in weighed & own:
            assert frame[f"weight {n} {m}"]["x"] == pytest.approx(TO[n])
        if told in weighed:  # left of its own line, and smaller
            small, big = (frame[f"weight 1 {m}"] for m in (told[1], best[1]))
            assert float(small["x"]) < min(ends(frame[f"1 to {told[1]}"]))
            assert float(small["font-size"]) < float(big["font-size"])
    waiting = {key: look for key, look in frames[5].items() if key.startswith("value")}
    assert {look["stroke-dashoffset"] for key, look in waiting.items() if "below" in key} == {-99.9}
    for row, name in (("asked 0", "German"), ("asks 0", "English"), ("asked 0 below", "reversed")):
        assert texts[6][f"name at {frames[6][row]['y']:.0f}"] == name
    above, below = (np.ptp(sides(frames[6][key])[:, 1]) for key in ("2 to 3", "2 to 3 below"))
    assert above == below  # both halves are as high


def ends(look: dict[str, float | str]) -> tuple[float, float]:
    """Where a line begins and ends, from the left."""
    left, right = sides(look)[:, 0]
    return float(left), float(right)


def sides(look: dict[str, float | str]) -> np.ndarray:
    """The first and last point of a curve."""
    places = str(look["d"])[1:].replace("C", " ").split()
    return np.array([places[:2], places[-2:]], float)


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


def middle(look: dict[str, float | str]) -> float:
    """Of a box, from the left."""
    return float(look["x"]) + float(look["width"]) / 2


def texts_of(slug: str, n: int) -> dict[str, str]:
    """What is written in a frame, by the keys of its parts."""
    return {key: text for _, key, _, text in opening_of(slug).state["frames"][n]["parts"] if text}


@pytest.mark.lessons("02-pure-python")
def test_lesson_02s_numbers_are_attentions_and_its_bars_are_as_tall() -> None:
    from attnlab.lessons.pure_python import opening as film

    q, keys = np.array([1, 2, 0]), np.array([[1, 0, 1], [0, 1, 0], [2, 2, 1]])
    scores = keys @ q
    scaled = scores / 3**0.5
    shares, again = (np.exp(each) / np.exp(each).sum() for each in (scaled, scaled + 2))
    np.testing.assert_allclose(again, shares)
    frames = shown("02-pure-python")
    texts = [texts_of("02-pure-python", n) for n in range(len(frames))]
    assert texts[1]["query"] == "query (1, 2, 0)"
    for m, key in enumerate(keys):
        assert texts[1][f"key {m}"] == f"key {tuple(map(int, key))}"
        found = [texts[1].get(f"product {m} {c}", "0 · 0").split(" · ") for c in range(3)]
        assert sum(int(one) * int(other) for one, other in found) == scores[m]
        said = [each.get(f"score {m}") for each in texts[2:]]
        assert said == [str(scores[m]), *[f"{scaled[m]:.1f}"] * 2, f"{scaled[m] + 2:.1f}"]
        assert [each.get(f"share {m}") for each in texts[2:]] == [None] * 2 + [
            f"{shares[m]:.3f}"
        ] * 2
    tops = [[_top(frame, "score", m) for m in range(3)] for frame in frames[1:]]
    levels = [scores, scores, scaled, scaled, scaled + 2]
    np.testing.assert_allclose(tops, film.UNIT * np.array(levels), atol=0.01)
    for frame in frames[4:]:
        tall = [_top(frame, "share", m) for m in range(3)]
        np.testing.assert_allclose(tall, film.WHOLE * shares, atol=0.01)
    assert [_top(frames[-1], "foot", m) for m in range(3)] == [film.UNIT * 2] * 3
    assert scores[2] == 3 * scores[1]
    ratios = [f"×{each[2] / each[1]:.2g}" for each in levels[1:]]
    assert [each["score times"] for each in texts[2:]] == ratios == ["×3"] * 3 + ["×1.7"]
    assert [each.get("before") for each in texts[2:]] == [None] * 3 + ratios[:1]
    struck, before = points(frames[-1]["struck"]), frames[-1]["before"]
    np.testing.assert_allclose(struck[0], [float(before["x"]), float(before["y"]) - 8], atol=0.1)
    assert [each["share times"] for each in texts[2:]] == ["×3?"] * 2 + ["×10"] * 2
    assert {each["of"] for each in texts[2:]} == {"of cat"}
    assert (
        [each["lead"] for each in texts[3:]]
        == [f"+{scaled[2] - scaled[1]:.1f}"] * 3
        == ["+2.3"] * 3
    )
    np.testing.assert_allclose(shares[2] / shares[1], [np.exp(2.3), 10], rtol=0.02)


@pytest.mark.lessons("02-pure-python")
def test_lesson_02s_brackets_and_pieces_measure_the_bars_they_stand_at() -> None:
    from attnlab.lessons.pure_python import opening as film

    for n, frame in enumerate(shown("02-pure-python")[2:]):
        top, asks = (_top(frame, "score", m) for m in (2, 1))
        assert _span(frame, "score times") == pytest.approx((top, 0), abs=0.1)
        if n:
            assert _span(frame, "lead") == pytest.approx((top, asks), abs=0.1)
        if n > 1:
            assert _span(frame, "share times") == pytest.approx(
                (_top(frame, "share", 2), 0), abs=0.1
            )
        else:  # shares that go like scores
            guess = [_ys(frame[f"guess {m}"])[1] for m in range(3)]
            np.testing.assert_allclose(guess, film.WHOLE * np.array([1, 2, 6]) / 9, atol=0.1)
        pieces = [
            sum(key.startswith(f"{kind} cut") for key in frame) for kind in ("score", "share")
        ]
        assert pieces == [[3 - 1, 0], [3 - 1, 0], [3 - 1, 10 - 1], [0, 10 - 1]][n]


def _top(frame: dict[str, dict[str, float | str]], kind: str, m: int) -> float:
    """How high over the floor a bar reaches."""
    return 206 - float(frame[f"{kind} bar {m}"]["y"])


def _ys(look: dict[str, float | str]) -> list[float]:
    """How high over the floor a line's points are."""
    return [206 - float(each.split()[1]) for each in str(look["d"])[1:].split("L")]


def _span(frame: dict[str, dict[str, float | str]], kind: str) -> tuple[float, float]:
    ys = _ys(frame[f"bracket of {kind}"])
    return ys[0], ys[-1]


def spots(n: int, key: str, numbers: np.ndarray) -> np.ndarray:
    """The middles of an array's cells in lesson 03's film, which are as deep as its numbers say."""
    from attnlab.lessons.numpy.opening import DEEP, MOST, PALE

    looks = [shown("03-numpy")[n][named(key, *at)] for at in np.ndindex(numbers.shape)]
    depths = np.array([float(look["opacity"]) - PALE for look in looks]) / (DEEP - PALE)
    np.testing.assert_allclose(MOST * depths**2, np.abs(numbers).flat, atol=0.1 * MOST)
    return np.reshape([points(look).mean(axis=0) for look in looks], (*numbers.shape, 2))


def named(key: str, *at: int) -> str:
    return " ".join(map(str, (key, *at)))


def says(n: int, key: str, numbers: np.ndarray) -> dict[tuple[int, ...], str]:
    """Those of an array's numbers that are written, all of them right."""
    texts = texts_of("03-numpy", n)
    keys = {at: f"{named(key, *at)} says" for at in np.ndindex(numbers.shape)}
    found = {at: texts[key].replace("−", "-") for at, key in keys.items() if key in texts}
    for at, text in found.items():
        assert int(text) == numbers[at]
    return found


def multiplied() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Two arrays with rows and columns that share an axis, their products along it, and sums."""
    from attnlab.lessons.numpy.opening import K, Q

    return Q, K.T, np.einsum("nk,mk->knm", Q, K), np.einsum("nk,mk->nm", Q, K)


@pytest.mark.lessons("03-numpy")
def test_lesson_03s_sheets_are_einsums_products_in_line_with_what_is_multiplied() -> None:
    left, above, products, _ = multiplied()
    frames = opening_of("03-numpy").state["frames"]
    room, sheeted, *_ = shown("03-numpy")
    (x, y), (to, _) = points(room["axis k"])
    wall, ceiling = spots(0, "Q", left), spots(0, "K", above)
    assert len(says(0, "Q", left)) + len(says(0, "K", above)) == left.size + above.size
    assert ceiling[..., 1].max() < y < wall[..., 1].min()  # they meet there, place by place
    step = (to - x) / len(above)
    np.testing.assert_allclose(np.diff(wall[..., 0]), step, atol=0.2)
    np.testing.assert_allclose(np.diff(ceiling[..., 0], axis=0), step, atol=0.2)
    sheets = spots(1, "k", products)
    said = [says(1, *each) for each in (("Q", left), ("K", above), ("k", products))]
    assert [*map(len, said)] == [left.size, above.size, len(products)]
    [(row, column)] = {at[1:] for at in said[2]}  # of products only those of one sum
    assert (row, column) == (0, 0)
    assert frames[0]["told"].endswith("Framed: first rows.")
    framed = {"Q": (wall[row], row), "K": (ceiling[:, column], column)}
    for m, (key, (middles, at)) in enumerate(framed.items()):
        around = points(room[f"around {key}"])
        np.testing.assert_allclose(around.mean(axis=0), middles.mean(axis=0), atol=0.1)
        for place in said[m]:  # what is framed first is what is multiplied then
            assert (sheeted[f"{named(key, *place)} says"]["opacity"] == 1) == (place[m] == at)
    boxes = words_of(frames[1]["parts"])
    for s, i, j in np.ndindex(products.shape):  # in the row's line, and over the column
        start, high, end, low = boxes[f"{named('Q', i, s)} says"]
        assert (sheets[s - 1, i, -1, 0] if s else 0) < start < end < sheets[s, i, 0, 0]
        assert (high + low) / 2 == pytest.approx(sheets[s, i, j, 1], abs=2)
        start, _, end, low = boxes[f"{named('K', s, j)} says"]
        assert (start + end) / 2 == pytest.approx(sheets[s, i, j, 0])
        assert low < sheets[s, i, j, 1]
    assert f", {products.size} in all." in frames[1]["told"]


@pytest.mark.lessons("03-numpy")
def test_lesson_03s_formula_leaves_out_the_letter_that_is_added() -> None:
    codes = [texts_of("03-numpy", n) for n in range(4)]
    joined = [
        "".join(each[key] for key in each if key.startswith(("code", "kept"))) for each in codes
    ]
    assert joined == [f"nk,mk->{last}" for last in ("?", "nmk", "nm", "nm")]
    assert codes[3]["letter k beside"] + " " + codes[3]["added"] == "k is added"


@pytest.mark.lessons("03-numpy")
@pytest.mark.parametrize("n", [2, 3])
def test_lesson_03s_sums_lie_on_the_sheets_that_are_added(n: int) -> None:
    *_, products, sums = multiplied()
    looks, texts, written = shown("03-numpy")[n], texts_of("03-numpy", n), says(n, "S", sums)
    order = [*looks]
    assert f"into {sums.size} sums." in opening_of("03-numpy").state["frames"][2]["told"]
    assert len(written) == sums.size
    [place] = (at for at in written if looks[named("S", *at)]["d"] == looks["around S"]["d"])
    terms = says(n, "k", products)
    assert {at[1:] for at in terms} == {place}
    assert sum(map(int, terms.values())) == int(written[place])
    flat, behind = spots(n, "S", sums), spots(n, "k", products)
    whole = np.concatenate([behind, flat[None]])  # evenly, each before the last
    for axis in range(3):
        np.testing.assert_allclose(np.diff(whole, n=2, axis=axis), 0, atol=0.2)
    assert [key for key in order if key.startswith(("sheet", "under"))] == [
        *(f"sheet {s}" for s in range(len(products))),
        "under",
    ]
    for s in range(len(products)):
        cell = named("k", s, *place)
        assert looks[cell]["d"] == looks[f"around k {s}"]["d"]
        assert order.index(f"sheet {s}") < order.index(cell)
    step = whole[1, 0, 0] - whole[0, 0, 0]
    start, tip = points(looks["along k"])  # it goes where they go
    along = (tip - start) / np.hypot(*(tip - start))
    np.testing.assert_allclose(along, step / np.hypot(*step), atol=0.01)
    n_side, m_side = (points(looks[f"axis {axis}"]).mean(axis=0) for axis in "nm")
    assert flat[..., 0].max() < n_side[0] < float(looks["letter n beside"]["x"])
    assert flat[..., 1].max() < m_side[1] < float(looks["letter m beside"]["y"])
    if n == 3:  # what is framed is wholly seen, with signs between
        corners = [points(looks[f"around k {s}"]) for s in range(len(products))]
        for before, after in pairwise([*corners, points(looks["around S"])]):
            assert before[:, 0].max() < after[:, 0].min()
        signs = "".join(texts[f"sign {s} says"] for s in range(len(products)))
        assert signs == "+" * (len(products) - 1) + "="
        for s in range(len(products)):
            between = whole[s : s + 2, place[0], place[1]].mean(axis=0)
            at = [float(looks[f"sign {s}"][way]) for way in ("cx", "cy")]
            np.testing.assert_allclose(at, between, atol=0.1)


@pytest.mark.lessons("04-scaling")
def test_lesson_04s_walks_do_what_walks_do_as_a_rule() -> None:
    from attnlab.lessons.scaling import opening as film

    roots = np.sqrt(film.WIDTHS)
    many = np.concatenate([film.draws(seed)[..., film.WIDTHS] for seed in range(10, 13)])
    shown_one = film.walks()[None][..., film.WIDTHS]
    for ends, off in ((many, 0.02), (shown_one, 0.1)):
        spread = np.sqrt((ends**2).mean(axis=(0, 1)))
        np.testing.assert_allclose(spread, roots, rtol=off)  # and divided by √64 as after one
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
    texts = [texts_of("04-scaling", n) for n in range(6)]
    told = [frame["told"] for frame in opening_of("04-scaling").state["frames"]]
    closer = (film.CLOSE, film.CLOSE, 1, 1)
    drawn = [(n, 1, film.UNIT * by) for n, by in zip(film.WIDTHS, closer, strict=True)]
    drawn += [(64, 8, film.UNIT), (64, 8, film.UNIT * film.CLOSER)]
    for n, (width, by, unit) in enumerate(drawn):
        ends = film.walks()[:, width] / by
        shares = film._softmax(ends)
        for m, (end, share) in enumerate(zip(ends, shares, strict=True)):
            says = f"{share:.2f}".replace("0.00", "<0.01")
            assert texts[n][f"share {m}"] == says
            walked = film.ZERO + film.SHIFTS[m] - points(frames[n][f"walk {m}"])[:, 1]
            steps = abs(np.diff(walked)) * by / unit
            assert walked[-1] / unit == pytest.approx(end, abs=0.02)
            np.testing.assert_allclose(steps, [1] * width + [0] * (64 - width), atol=0.15)
            wide = float(frames[n][f"bar {m}"]["width"])
            assert wide == pytest.approx(film.LONG * share, abs=0.01)
        tips = sorted(points(frames[n][f"walk {m}"])[-1, 1] for m in range(6))
        assert n > 1 or np.diff(tips).min() >= 1  # none hides another
        for key, divisor in (("envelope", by), ("was edge", 1)):
            if key not in frames[n]:
                continue
            x, y = points(frames[n][key]).T
            along = (x - film.LEFT) / (film.RIGHT - film.LEFT) * width
            roots = abs(y - film.ZERO) * divisor / unit
            np.testing.assert_allclose(roots, np.sqrt(along), atol=0.12 * divisor)
            assert abs(y - film.ZERO).max() < film.LOW - film.ZERO
        for key, says in texts[n].items():
            look = frames[n][key]
            if key.startswith("height") and look["opacity"]:
                high = film.ZERO + 6 - float(look["y"])
                assert high / unit == pytest.approx(float(says.replace("−", "-")), abs=0.02)
        assert texts[n]["products"].split()[0] == str(width)
        assert texts[n]["within"] == f"typical ±{width**0.5 / by:.0f}"
        assert ("score ÷ 8" if by == 8 else "score") in texts[n]
    assert [n for n in range(6) if "was edge" in frames[n]] == [4]
    told_of = [frames[n][f"{it} {film.BEST}"]["fill"] for n in range(6) for it in ("book", "bar")]
    assert told_of == [GREY.drawn] * 6 + [ORANGE.drawn] * 6
    assert told[5].startswith(f"Seen {film.CLOSER} times closer")
    down = sorted(range(6), key=lambda m: float(frames[3][f"bar {m}"]["y"]))
    assert down == sorted(range(6), key=lambda m: -film.walks()[m, 64])  # as the walks end
    was, now = (film._softmax(film.walks()[:, 64] / by) for by in (1, 8))
    lead, second = film.walks()[down[0], 64] - film.walks()[down[1], 64], film.BOOKS[down[1]]
    assert f"“maps”, the luckiest, leads by {lead:g} and gets {was[film.BEST]:.2f}, " in told[3]
    assert f"“maps” leads “{second}” by {lead / 8:g}, not {lead:g}, " in told[5]
    assert told[5].endswith(f"gets {now[film.BEST]:.2f}, not {was[film.BEST]:.2f}.")
    assert down[0] == film.BEST
    assert [n for n in range(6) if "lead" in frames[n]] == [3, 5]
    for n, by in ((3, 1), (5, 8)):  # from end to end
        assert texts[n]["lead says"] == f"+{lead / by:g}"
        high, low = points(frames[n]["lead"])[:, 1]
        tips = [points(frames[n][f"walk {m}"])[-1, 1] for m in down[:2]]
        assert abs(high - tips[0]) < 1.5
        assert abs(low - tips[1]) < 1.5
    for n in (3, 4, 5):  # from each end to its book, and none crosses another
        lines = [points(frames[n][f"leader {m}"]) for m in down]
        assert (np.diff(lines, axis=0)[..., 1] > 0).all()
        for m, (start, end) in zip(down, lines, strict=True):
            assert abs(start[1] - points(frames[n][f"walk {m}"])[-1, 1]) < 1.5
            assert end[1] == float(frames[n][f"book {m}"]["y"]) - 6
    for m, n in product(range(6), (4, 5)):
        assert texts[n]["was"] == f"was {texts[3][f'share {film.BEST}']}"
        bar, ghost = frames[n][f"bar {m}"], frames[n][f"was long {m}"]
        assert ghost["width"] == frames[3][f"bar {m}"]["width"]
        assert [bar[side] for side in ("x", "y", "height")] == [
            ghost[side] for side in ("x", "y", "height")
        ]


@pytest.mark.lessons("01-soft-lookup")
def test_lesson_01s_hard_answer_is_flat_but_for_two_jumps_and_its_soft_one_always_rises() -> None:
    from attnlab.lessons.soft_lookup import opening as film
    from attnlab.lessons.soft_lookup.turning import SALT

    first, last = film.ENDS[0], film.ENDS[-1]
    ways = np.linspace(first, last, 2001)
    hard, soft = np.transpose([film.answers(way)[:2] for way in ways])
    assert np.diff(soft).min() > 0
    jumps = np.flatnonzero(np.diff(hard))
    assert ways[jumps] == pytest.approx(film.JUMPS, abs=0.1)
    assert hard[[0, *(jumps + 1)]].tolist() == [1, 10, 35]
    frames, names = shown("01-soft-lookup"), ("hard", "soft")
    texts = [texts_of("01-soft-lookup", n) for n in range(len(frames))]
    tops = [film.TOP] * (len(frames) - 1) + [film.LAST_TOP]
    for parts, stop, top in ((frames[-2], film.STOPS[-1], film.TOP), (frames[-1], last, tops[-1])):
        ways_drawn = np.linspace(first, stop, 91)
        stands = [(film._x(way), film._y(film.answers(way)[1], top)) for way in ways_drawn]
        np.testing.assert_allclose(points(parts["glides"]), stands, atol=0.06)
    for parts, stop, top in zip(frames, (*film.STOPS, film.STEP[1]), tops, strict=True):
        for m in range(3):
            if "stands 0" in parts:
                at = float(parts[f"stands {m}"]["cx"])
            else:
                at = middle(parts[f"book {m}"])
                thick = float(parts[f"pours {m}"]["stroke-width"]) / film.FULL
                assert thick == pytest.approx(film.answers(stop)[2][m], abs=0.02)
            assert at == pytest.approx(film._x(film.ENDS[m]), abs=0.01)
            level = points(parts[f"level {m}"])[0, 1]
            share = (SALT[m] - 1) / (35 - 1)
            assert (film.FLOOR - level) / (film.FLOOR - top) == pytest.approx(share, abs=1e-3)
        assert float(parts["asks"]["cx"]) == pytest.approx(film._x(stop), abs=0.01)
    for says, parts, stop in zip(texts[:-1], frames[:-1], film.STOPS, strict=True):
        hard, mixed = film.answers(stop)[:2]
        assert [says[f"{name} says"] for name in names] == [f"{hard}", f"{mixed:.0f}"]
        place = [float(parts["answers"][way]) for way in ("cx", "cy")]
        assert place == pytest.approx([film._x(stop), film._y(mixed)], abs=0.01)
        assert points(parts["glides"])[-1] == pytest.approx(place, abs=0.1)  # no further
        traced = [points(look)[:, 0].max() for key, look in parts.items() if key[:5] == "step "]
        assert max(traced, default=film.LEFT) == pytest.approx(place[0], abs=0.1)
        square = float(parts[f"hard {hard}"]["y"]) + 8
        assert square == pytest.approx(film._y(hard), abs=0.01)
    steps = [film.STEP, film.STOPS[1:3], film.STOPS[3:5]]
    assert {to - start for start, to in steps} == {14}  # degrees: all are the same step
    told = opening_of("01-soft-lookup").state["frames"][4]["told"]
    assert told == "The same small step: hard jumps to 35. Soft glides to 29."
    assert texts[0]["share 0"] == f"share {film.answers(film.STOPS[0])[2][0]:.2f}" == "share 0.88"
    sums = [texts[film.MIXED][key] for key in ("mix", "share 0", "share 1")]
    assert sums == ["0.37 × 1 + 0.63 × 10 ≈ 7", "0.37", "0.63"]
    np.testing.assert_allclose(film.answers(film.STOPS[film.MIXED])[2], [0.37, 0.63, 0], atol=0.005)
    before, after = np.transpose([film.answers(way)[:2] for way in film.STEP]).T
    assert (after - before).round().tolist() == [0, 7]
    assert [texts[-1][f"{name} adds"] for name in names] == ["hard +0", "soft +7"]
    end, edges = frames[-1], [film._x(way) for way in film.STEP]
    assert [float(end[key]["cx"]) for key in ("asked", "asks")] == pytest.approx(edges, abs=0.01)
    dots = np.array(
        [[float(end[f"soft {when}"][way]) for way in ("cx", "cy")] for when in ("before", "after")]
    )
    for drawn, *salt in zip((points(end["hard goes"]), dots), before, after, strict=True):
        stand = [[x, film._y(at, tops[-1])] for x, at in zip(edges, salt, strict=True)]
        np.testing.assert_allclose(drawn, stand, atol=0.1)
    rise = points(end["rise"])
    np.testing.assert_allclose(rise[[0, -1]], dots, atol=0.1)
    assert rise[:, 1] == pytest.approx(rise[[0, 0, -1, -1], 1])
    assert rise[1:3, 0].max() < edges[0]  # outside the step


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
    assert {"16.5 g/l salt", "37°"} <= {words for *_, words in last["parts"]}
    looks = {key: look for _, key, look, _ in last["parts"]}
    down = sorted(("rivers", "marshes", "seas"), key=lambda m: looks[f"share {m}"]["y"])
    assert down == ["seas", "marshes", "rivers"]  # as their keys lie, so that no flow is crossed
    for name in down:
        top, tall = (float(looks[f"share {name}"][side]) for side in ("y", "height"))
        flow = points(looks[f"pours {name}"])
        ends = flow[flow[:, 0] == flow[:, 0].max(), 1]
        np.testing.assert_allclose(sorted(ends), [top, top + tall], atol=0.1)
    tips = {name: points(looks[f"spine {name}"])[-1] for name in (*down, "deserts")}
    for name, (x, y) in tips.items():  # named where its key ends, or beside
        named = words_of(last["parts"])
        left, top, right, bottom = named.get(f"tip {name}", named[f"name {name}"])
        assert max(left - x, x - right, top - y, y - bottom) < 32
    hair = points(looks["pours deserts"])  # of 0.0002, and seen all the same
    assert np.ptp(hair[hair[:, 0] == hair[:, 0].max(), 1]) == pytest.approx(1, abs=0.1)
    assert float(looks["pours deserts"]["opacity"]) > 0
    much = {name: look["opacity"] for name, look in looks.items() if name.startswith("much ")}
    assert [name for name, seen in much.items() if seen] == ["much marshes", "much seas"]


@pytest.mark.lessons("11-cost")
def test_answers_out_of_tiles_are_those_of_softmax_over_all_scores_at_once() -> None:
    powers = np.exp(tiles_film.SCORES)
    weights = powers / powers.sum(axis=1, keepdims=True)
    answers = weights @ tiles_film.VALUES
    tiled = [tiles_film.after_each(row)[-1].answer for row in tiles_film.SCORES]
    np.testing.assert_allclose(tiled, answers, rtol=1e-14)
    last, s = shown("11-cost")[-1], 1 / weights[0].max()  # the sum of e^(score − max)
    wide, high = (
        np.array([float(last[f"once column {n}"][side]) for n in range(6)])
        for side in ("width", "height")
    )
    np.testing.assert_allclose(wide / tiles_film.ONE / s, weights[0], atol=1e-3)
    np.testing.assert_allclose(high / tiles_film.TALLER, tiles_film.VALUES)
    block, right = last["block"], 0.0
    assert float(block["width"]) == pytest.approx(wide.sum(), abs=0.05)
    assert float(block["x"]) + float(block["width"]) == pytest.approx(WIDE, abs=0.05)
    assert float(block["height"]) / tiles_film.TALLER == pytest.approx(answers[0], abs=1e-3)
    ends = points(last["same"])  # over all columns, and over the block
    np.testing.assert_allclose(ends, [[x, float(block["y"])] for x in (0, WIDE)], atol=0.1)
    for name, both in zip("ABC", wide.reshape(3, 2).sum(axis=1), strict=True):
        assert middle(last[f"side {name}"]) == pytest.approx(right + both / 2, abs=0.05)
        assert float(last[f"side {name}"]["width"]) == pytest.approx(both - 2, abs=0.05)
        poured = last[f"poured {'ABC'.index(name)}"]  # as wide, and level
        assert middle(poured) == pytest.approx(float(block["x"]) + right + both / 2, abs=0.05)
        assert poured["width"] == last[f"side {name}"]["width"]
        assert poured["height"] == block["height"]
        right += both
    texts, told = texts_of("11-cost", 7), opening_of("11-cost").state["frames"][7]["told"]
    assert texts["reached"] == f"{answers[0]:.1f}"
    for many, how in ((6, "scores at once"), (2, "at a time")):
        assert [texts[f"holds {how}"], texts[f"held {how}"]] == [f"{many}", how]
    assert f"last time: {answers[0]:.1f}, as from all 6 scores" in told


@pytest.mark.lessons("11-cost")
def test_a_block_is_as_wide_as_its_weights_and_as_large_as_weights_times_values() -> None:
    """It is so after each tile, and one factor that shrinks its width leaves its height."""
    frames, told = shown("11-cost"), opening_of("11-cost").state["frames"]
    scores, values = tiles_film.SCORES[0], tiles_film.VALUES
    after = {2: (2, 1), 3: (2, 2), 4: (2, 2), 5: (4, 2), 6: (4, 2)}
    for n, (many, most) in after.items():
        weights = np.exp(scores[:many] - most)
        wide, high = (float(frames[n]["block"][side]) for side in ("width", "height"))
        assert wide / tiles_film.UNIT == pytest.approx(weights.sum(), abs=1e-3)
        assert high / tiles_film.STEP == pytest.approx(
            values[:many] @ weights / weights.sum(), abs=1e-3
        )
        assert texts_of("11-cost", n)["level"] == f"{high / tiles_film.STEP:.1f}"
        assert texts_of("11-cost", n)["number largest"] == f"{most}"
    tick, column = points(frames[1]["height 0"])[:, 1], frames[1]["column 0"]
    assert np.ptp(tick) == pytest.approx(float(column["height"]) - 8)  # 4 less at both ends
    [at] = [n for n, parts in enumerate(frames) if "factor" in parts]
    before, after_it, trace = (
        frames[at - 1]["block"],
        frames[at]["block"],
        frames[at]["trace"],
    )
    share = float(after_it["width"]) / float(before["width"])
    assert share == pytest.approx(np.exp(1 - 2), abs=1e-3)
    assert before["height"] == after_it["height"]
    assert trace["width"] == before["width"]
    told_of = "B raises the max from 1 to 2: the block shrinks to e¹⁻² = 0.37 of its width"
    assert told_of in told[at]["told"]
    texts = texts_of("11-cost", at)
    assert (texts["e"], texts["power"], texts["factor"]) == ("e", "1−2", "×0.37")
    start, end = points(frames[at]["shaft"])[:, 0]  # from the old right edge to the new one
    assert start == pytest.approx(float(trace["x"]) + float(trace["width"]), abs=0.1)
    assert 0 < end - float(after_it["x"]) - float(after_it["width"]) < 5
    middle = float(after_it["x"]) + float(after_it["width"]) / 2  # of what remains
    assert float(frames[at]["factor"]["x"]) == pytest.approx(middle, abs=0.01)
    assert scores[4:].max() <= scores[:4].max()  # C has no larger score, and nothing shrinks
    assert [frames[n]["block"] for n in (3, 5)] == [frames[n]["block"] for n in (4, 6)]


@pytest.mark.lessons("11-cost")
def test_columns_stand_side_by_side_and_no_more_than_a_tile_of_scores_is_held() -> None:
    frames = shown("11-cost")
    sides = [(parts, tiles_film.SUMS, ("block", "column")) for parts in frames[:-1]]
    for parts, left_most, kinds in [*sides, (frames[-1], 0, ("once column",))]:
        right = float(left_most)
        for key in sorted(key for key in parts if key.startswith(kinds) and "width" in parts[key]):
            left, wide = (float(parts[key][name]) for name in ("x", "width"))
            if key.startswith("column") and left < right - 0.1:  # was levelled into the block
                assert left + wide < right + 0.1
            else:
                assert left == pytest.approx(right, abs=0.1)
                right = left + wide
        assert right <= tiles_film.EDGE
    for n, parts in enumerate(frames[1:-1], 1):
        faces = [int(key[4:]) for key in parts if key.startswith("box ") and "lar" not in key]
        tile = [0, 0, 1, 1, 1, 2][n - 1]
        is_poured = n in (2, 5)
        assert faces == ([] if is_poured else [2 * tile, 2 * tile + 1])
        assert texts_of("11-cost", n)["held"] == f"scores held: {len(faces)}"
        values = [text[-1] for key, text in texts_of("11-cost", n).items() if "high" in key]
        said = [text[-1] for key, text in texts_of("11-cost", n).items() if "says" in key]
        for shown_as, true in ((values, tiles_film.VALUES), (said, tiles_film.SCORES[0])):
            assert shown_as == [f"{true[face]:.0f}" for face in faces if n != 3]
        done = [f"done {n}" in parts for n in range(3)]
        assert done == [n < tile + is_poured for n in range(3)]
        keys, memory = parts[f"keys {'ABC'[tile]}"], points(parts["memory"])
        left = float(keys["x"])
        over = memory[memory[:, 1] == memory[:, 1].min(), 0]  # its frame goes round the tile too
        assert {*over} == {left - 4, left + float(keys["width"]) + 4}
    for parts in (frames[0], frames[-1]):
        assert [key for key in parts if key.startswith("box")] == []


@pytest.mark.lessons("11-cost")
def test_dark_are_all_scores_seen_that_are_their_rows_largest_so_far() -> None:
    for n, parts in enumerate(shown("11-cost")[1:-1], 1):
        texts = texts_of("11-cost", n)
        largest = tiles_film.SCORES[0, : 2 if n < 3 else 4 if n < 6 else 6].max()
        for key in (key[4:] for key in parts if key.startswith("box ")):
            dark = float(parts[f"box {key}"]["fill-opacity"]) > 0.5
            assert dark == (float(texts[f"number {key}"]) == largest), key
            if key != "largest":
                assert float(texts[f"number {key}"]) == tiles_film.SCORES[0, int(key)]


@pytest.mark.lessons("14-real-model")
def test_lesson_14s_mix_leads_from_the_models_own_attention_to_equal_slices() -> None:
    film, wrote, uneven = model_film, [], []
    own, equal = (writing.step(by, film.TEXT) for by in (writing.OWN, writing.EQUAL))
    with torch.no_grad():
        scores = small.load()(small.numbered([small.START, *film.TEXT]))[0, -1]
    torch.testing.assert_close(own.chances, scores.softmax(dim=-1), atol=1e-5, rtol=0)
    assert own.heads.mean(dim=0)[2] > 2 / 3
    other = writing.step(writing.OWN, film.TRADED).heads.mean(dim=0)
    torch.testing.assert_close(own.heads.mean(dim=0), other, atol=0.02, rtol=0)  # nearly the same
    assert equal.heads.amax() - equal.heads.amin() < 1e-6  # in each head
    for n, share in enumerate((0, 0, 0.5, 1), 1):
        parts, texts = shown("14-real-model")[n], texts_of("14-real-model", n)
        text = ("bird", *(("boy", "king") if n == 1 else ("king", "boy")), ";", "bird")
        step = writing.step(writing.mixed(share), text)
        wrote.append(step.word)
        assert texts["wrote"] == step.word
        boxes = words_of(opening_of("14-real-model").state["frames"][n]["parts"])
        middles = [sum(boxes[f"word {at}"][::2]) / 2 for at in (0, 1, 4, 5)]
        middles[2:2] = [sum(boxes[each][::2]) / 2 for each in text[1:3]]
        blue = {key for key, look in parts.items() if look.get("fill") == BLUE.drawn}
        assert blue - {"wrote"} == {text[1], "pours 2", "slice 2"}
        assert ("wrote" in blue) == (step.word == text[1])
        mix = step.heads.mean(dim=0).numpy()
        uneven.append(np.ptp(mix))
        slices = [parts[f"slice {at}"] for at in range(6)]
        drawn = [[middle(each), float(each["width"])] for each in slices]
        wide = mix * film.WIDTH  # side by side, but for a gap
        true = np.transpose([np.cumsum(wide) - wide / 2, np.maximum(wide - 2, 0.5)])
        np.testing.assert_allclose(drawn, true, atol=0.02)
        named = {int(key[-1]): text for key, text in texts.items() if "share" in key}
        assert named == {at: f"{mix[at]:.2f}" for at in named}
        ranked = [int(at) for at in mix.argsort()[::-1]]
        assert {*named} == set(ranked[: 6 if n == 4 else 2])
        if n < 4:  # “still the widest”
            assert ranked[0] == 2
            assert mix[2] > 2.5 * mix[ranked[1]]
        for at, each in enumerate(slices):
            left, size = (float(each[name]) for name in ("x", "width"))
            ribbon = points(parts[f"pours {at}"])
            mouth, slot = ribbon[[0, -1], 0], ribbon[[film.BENDS, film.BENDS + 1], 0]
            assert mouth == pytest.approx(middles[at] + np.array([-30, 30]), abs=0.1)
            assert slot == pytest.approx([left, left + size], abs=0.1)
    assert wrote == ["boy", "king", "king", "boy"]
    assert uneven[1] > uneven[2] > uneven[3] == pytest.approx(0, abs=1e-3)
    told = [frame["told"] for frame in opening_of("14-real-model").state["frames"]]
    assert len(small.load().transformer.h) == 2
    assert writing.LAST == 1
    assert "last layer half way to equal: 0.44, between 0.71 and 0.17, is still the wid" in told[3]
    assert equal.word == "boy"
    assert told[4] == (
        "All equal, 0.17 each: “boy” is written, not “king”, which followed. Traded back, “boy” is "
        "written too."
    )
    assert uneven[2] == pytest.approx(uneven[1] / 2, abs=1e-5)  # of this layer alone


@pytest.mark.lessons("14-real-model")
def test_lesson_14s_squares_are_texts_and_filled_if_continued_with_what_followed() -> None:
    film, counts = model_film, list[int]()
    others = film.OTHERS
    assert sorted(["bird", *others]) == sorted(SINGULAR)
    texts = [("bird", a, b, ";", "bird") for a in others for b in others if a != b]
    assert (len(texts), len(others)) == (210, 15)
    *_, trained, last = shown("14-real-model")
    for n, share in enumerate((0, 0.5, 1)):
        steps = writing.steps(writing.mixed(share), texts)
        right = {text[1:3] for text, at in zip(texts, steps, strict=True) if at.word == text[1]}
        counts.append(len(right))
        grids = [(last, n * film.NEAR, film.ALL, film.NARROW)]
        for parts, left, top, pitch in [*grids, (trained, *film.ONE, film.PITCH)][: 2 - (n > 0)]:
            for key, pairs in ((f"all {n}", {text[1:3] for text in texts}), (f"lit {n}", right)):
                squares = str(parts[key]["d"]).strip("MZ").split("ZM")
                at = [each.split("h")[0].split() for each in squares]
                places = (np.array(at, float) - [left, top]) / pitch
                np.testing.assert_allclose(places, places.round(), atol=0.02)
                drawn = [
                    (others[row], others[column]) for column, row in places.round().astype(int)
                ]
                assert (len(drawn), {*drawn}) == (len(pairs), pairs)
    assert counts == [210, 210, 45]
    said = texts_of("14-real-model", -1)
    assert [said[f"way {n}"] for n in range(3)] == ["as trained", "half blurred", "all equal"]
    assert [said[f"count {n}"] for n in range(3)] == ["210", "210", "45"]
    assert said["of"] == "of 210"
    assert texts_of("14-real-model", -2)["count"] == "210"
    row, column = others.index("king"), others.index("boy")
    here = [float(trained["here"][name]) + film.PITCH / 2 for name in ("x", "y")]
    spot = film.ONE + (np.array([column, row]) + 0.5) * film.PITCH
    assert here == pytest.approx(spot, abs=1)
    boxes = words_of(opening_of("14-real-model").state["frames"][-2]["parts"])
    names = [sum(boxes["boy"][::2]) / 2, sum(boxes["king"][1::2]) / 2]
    assert names == pytest.approx(spot, abs=3)
    down, across = (points(trained[key]) for key in ("to column", "to row"))
    assert down[:, 0] == pytest.approx([spot[0]] * 2, abs=0.1)
    assert across[:, 1] == pytest.approx([spot[1]] * 2, abs=0.1)
    told = [frame["told"] for frame in opening_of("14-real-model").state["frames"]]
    assert "210 texts" in told[-2]
    assert told[-2].endswith("As trained, all get the word that followed.")
    assert told[-1] == (
        "Half way to equal, all 210 texts still get the word that followed. All equal, 45 do."
    )
    for n, shape, name in ((0, "lit 0", "right: the word that followed"), (2, "all 2", "wrong")):
        square = last[f"square {n}"]
        assert said[f"means {n}"] == name
        assert square["fill"] == last[shape]["fill"]
        assert square["fill-opacity"] == last[shape]["opacity"]


@pytest.mark.lessons("14-real-model")
def test_a_learners_function_is_the_same_or_differs_at_a_word() -> None:
    text = "the queen that the dogs see"
    right = writing.OWN

    def unscaled(*given: Any, scaling: float) -> Any:
        return right(*given, scaling=1.0)

    film = model_film.opening(right, text)
    assert film.title == "Your function is in: the same three words come out"
    *_, last = film.state["frames"]
    signs = [key for _, key, *_ in last["parts"] if key.endswith("sign")]
    assert signs == ["same 0 sign", "same 1 sign", "same 2 sign"]
    assert last["told"] == "Your function writes “sailors”, as PyTorch’s function did."
    looks = {key: look for _, key, look, _ in last["parts"]}
    that = float(looks["new 0"]["x"])
    high = {key: float(look.get("y", look.get("cy", 0))) for key, look in looks.items()}
    for n in range(3):  # a word, whether it is the same, a word; given words beside the sign
        column = "own", f"own {n}", "given", f"same {n} badge", f"read {n}", f"new {n}", "yours"
        assert sorted(column, key=high.__getitem__) == [*column]
    assert len({high[f"new {n}"] for n in range(3)}) == 1
    assert len({high[f"read {n}"] for n in range(6)}) == 1
    assert {key: text for _, key, _, text in last["parts"]}["read 0"] == "the"  # not "…"
    assert float(looks["read 5"]["x"]) < points(looks["bar"])[0, 0] < that
    assert [looks[f"own {n}"]["x"] for n in range(3)] == [looks[f"new {n}"]["x"] for n in range(3)]
    assert len({looks[f"own {n}"]["y"] for n in range(3)}) == 1
    wrong = model_film.opening(unscaled, text)
    assert wrong.title == "Your function writes “farmers” where PyTorch’s function wrote “sailors”"
    *_, last = wrong.state["frames"]
    assert last["told"] == (
        "Your function writes “farmers”, where PyTorch’s function wrote “sailors”."
    )
    last = {key: (look, text) for _, key, look, text in last["parts"]}
    assert (last["new 2"][1], last["own 2"][1]) == ("farmers", "sailors")
    assert last["differs 2 badge"][0]["cx"] == last["new 2"][0]["x"] == last["own 2"][0]["x"]
    short = model_film.opening(right, "the dogs sleep")
    assert short.title == "Your function is in: the same word comes out"
    stopped = model_film.opening(right, f"the king behind the dogs and {text}")  # “falls”, “.”
    assert stopped.title == short.title
    assert [key for _, key, *_ in short.state["frames"][-1]["parts"] if key[:4] == "own "] == [
        "own 0"
    ]
    long = " ".join(4 * ["the king behind the dogs and"])
    for function in (right, unscaled, writing.EQUAL):
        for each in (text, " ".join(model_film.TEXT), long, "the"):
            for frame in model_film.opening(function, each).state["frames"]:
                assert _out_of_sheet(frame["parts"], yours.HIGH) == []
                boxes = words_of(frame["parts"])
                labels = {"given", "yours", "own"}
                for name in labels:
                    others = boxes.keys() - labels
                    assert [key for key in others if _meet(boxes[name], boxes[key])] == []
    with pytest.raises(ValueError, match="does not know “dragon”"):
        model_film.opening(right, "the dragon sleeps")
    with pytest.raises(ValueError, match="out is"):
        model_film.opening(lambda *args, scaling: right(*args, scaling)[::-1], text)


@pytest.mark.lessons("10-training")
def test_the_writer_gathers_its_arcs_on_the_letter_before_and_its_noise_becomes_words() -> None:
    from attnlab.lessons.training import opening as film
    from attnlab.lessons.training.reading import documentation

    parts = [texts_of("10-training", n) for n in range(len(film.STEPS))]
    shares = [int(each["share"].rstrip("%")) for each in parts]
    assert max(shares[:2]) < 10
    assert (np.diff(shares[1:]) > 0).all()
    assert min(shares[-2:]) > 80
    read, known = {*documentation().split()}, []
    states = json.loads(film.RECORDED.read_text("utf-8"))["states"]
    for each, look, state in zip(parts, shown("10-training"), states, strict=True):
        text, weights = state["text"][film.shown_of(state["text"])], state["weights"]
        assert [len(row) for row in weights] == [*range(1, len(text) + 1)]
        drawn = [text for key, text in each.items() if key.startswith("letter")]
        words = text.split()
        assert "".join(reversed(drawn)) == "".join(words)
        assert len(text) == film.SHOWN
        known.append(sum(word in read for word in words) / len(words))
        ends_of = {key: tuple(map(int, key.split()[1:])) for key in look if key[:3] == "arc"}
        for n, row in enumerate(reversed(weights)):  # letters, from the last one
            to = {m: (row[-1 - (m - n)], key) for key, (a, m) in ends_of.items() if a == n}
            for m, (weight, key) in to.items():
                assert (look[key]["stroke"] == BLUE.drawn) == (m - n == 1)
                assert look[key]["stroke-width"] == pytest.approx(1 + (film.THICK - 1) * weight)
            most = [each for each in sorted(row[:-1])[-2:] if each >= film.PALEST]
            assert sorted(weight for weight, _ in to.values()) == most  # to letters before it
    assert max(map(max, states[0]["weights"])) < 0.1  # it looks everywhere
    assert {len(state["text"]) for state in states} == {film.LETTERS}
    assert "here 17 of 64 letters" in opening_of("10-training").state["frames"][0]["told"]
    assert known[0] == 0
    assert 0 < max(known[:-1]) < known[-1] == 1  # some of them invented


@pytest.mark.lessons("10-training")
def test_its_loss_is_near_one_letters_level_and_reaches_twos_after_its_arcs_gathered() -> None:
    from attnlab.lessons.training import opening as film

    known = json.loads(film.RECORDED.read_text(encoding="utf-8"))
    one, two = known["by_counts"]
    loss = dict(zip(range(0, film.STEPS[-1] + 1, film.EVERY), known["losses"], strict=True))
    assert 0 < loss[50] - one < 0.15
    assert two + 0.3 < loss[100] < one
    assert two < loss[200] < two + 0.15
    assert abs(loss[300] - two) < 0.05
    frames, last = shown("10-training"), shown("10-training")[-1]
    levels = [points(last[f"level {by}"])[0, 1] for by in film.BY]
    px = (levels[1] - levels[0]) / (one - two)
    highs = {step: levels[0] + px * (one - each) for step, each in loss.items()}
    assert highs[0] < film.HEAD < highs[film.BEGINS]  # over the chart, so it has no dot
    assert not {"dot", "curve"} & frames[0].keys()
    for n, (step, parts) in enumerate(zip(film.STEPS, frames, strict=True)):
        says = texts_of("10-training", n)
        assert (says["loss"], says["now"]) == ("loss, lower is better", f"{loss[step]:.1f}")
        told = opening_of("10-training").state["frames"][n]["told"]
        assert step == 300 or f"{loss[step]:.1f}" in told
        assert step in (0, 300) or f"step {step}" in told
        if step:
            dot, now = parts["dot"], words_of([("text", "now", parts["now"], says["now"])])["now"]
            at = float(dot["cx"]), float(dot["cy"])
            assert at == pytest.approx((parts[f"tick {step}"]["x"], highs[step]), abs=0.1)
            assert not any(now[1] - 1 < y < now[3] + 1 for y in levels)  # none goes through
            assert points(parts["curve"])[-1] == pytest.approx(at, abs=0.1)
    ticks = [float(last[f"tick {step}"]["x"]) for step in (0, 100, 200, 300)]
    assert np.diff(ticks) == pytest.approx(ticks[1] - ticks[0])
    for key, ends in (("gathers", film.JUMP), ("curve", (film.BEGINS, film.STEPS[-1]))):
        x, y = points(last[key]).T
        assert [*y] == pytest.approx(
            [highs[step] for step in range(ends[0], ends[1] + 1, film.EVERY)], abs=0.1
        )
        for words in words_of(opening_of("10-training").state["frames"][-1]["parts"]).values():
            met = np.interp(np.arange(words[0], words[2]), x, y, np.nan, np.nan)
            assert not ((words[1] - 1 < met) & (met < words[3] + 1)).any()
    for n, parts in enumerate(frames):
        assert ("turn" in parts) == (n > 2)  # when all of it is blue
        seen = words_of(opening_of("10-training").state["frames"][n]["parts"])
        turn = seen.pop("turn", (0, 0, 0, 0))
        assert not any(_meet(turn, box) for box in seen.values())
    for by, level in zip(film.BY, levels, strict=True):
        assert float(last[by]["y"]) == pytest.approx(level - 7, abs=0.1)  # on their lines


@pytest.mark.lessons("12-shortcuts")
def test_arcs_end_over_what_is_read_and_ink_is_what_a_way_keeps() -> None:
    from attnlab.lessons.shortcuts import opening as film

    known, frames = json.loads(film.RECORDED.read_text("utf-8")), shown("12-shortcuts")
    turns = [(way, test) for way in film.WAYS for test in film.ASKS]
    scenes = [(*turn, "", film.SHELF, parts) for turn, parts in zip(turns, frames, strict=False)]
    for (way, test), at in film.ENDS.items():  # the last frame's: one glides there
        key = "" if (way, test) == turns[-1] else f"{way} {test} "
        scenes.append((way, test, key, at, frames[-1]))
    for way, test, key, at, all_parts in scenes:
        others = () if key else [f"{way} {test} " for way, test in film.ENDS]
        parts = {
            name.removeprefix(key): look
            for name, look in all_parts.items()
            if name.startswith(key) and not any(map(name.startswith, others))
        }
        assert _ink(parts) / at.side == pytest.approx(80 * film.share(way) * at.tall, rel=0.01)
        rows = 1 if way == "shared" else 4
        for part, books in (("far", range(15)), ("near", range(15, 20))):  # and the question
            held = [parts[name] for n in range(4) if (name := f"kept {part} {n}") in parts]
            assert len(held) == (0 if (way, part) == ("window", "far") else rows)
            for look in held:
                left, right = points(look)[:, 0]
                assert [n for n in range(20) if left < at.place(n)[0] < right] == [*books]
        far, *near = known[way]["reads"]
        reads = near if test == "near" else [far]
        drops = way == "window" and test == "far"  # nothing is kept of it
        rows_of: dict[int, set[float]] = {}  # by head: where what it reads is drawn
        kept = {points(parts[name])[0, 1] for name in parts if name.startswith("kept near")}
        for n, row, right in reads:
            read = parts[f"read {n}"]
            colour = BLUE.drawn if right else INK
            assert (read["fill"], read["fill-opacity"]) == (colour, right)  # else an outline
            assert [float(read["width"]), float(read["height"])] == pytest.approx(
                [at.side, at.tall], abs=0.1
            )
            x, y = middle(read), float(read["y"]) + at.tall / 2
            assert x == pytest.approx(at.place(n)[0], abs=0.06)
            rows_of.setdefault(row, set()).add(round(y, 1))
            assert drops or any(abs(y - each) < 0.1 for each in kept)
        assert len(rows_of) == len(set().union(*rows_of.values()))  # each head has its own
        looks = 1 if at == film.SHELF else 0  # no arcs at the end
        assert sum(name.split()[0] in ("look", "read") for name in parts) == len(reads) * (
            1 + looks
        )
        if not looks:
            continue
        asked = {(look["cx"], look["cy"]) for name, look in parts.items() if "asks" in name}
        answers = [parts[f"answer {n}"] for n, *_ in sorted(reads)]  # in the books' order
        spots_of = [float(each["cx"]) for each in answers]
        assert spots_of == sorted(spots_of)
        assert max(spots_of) + float(answers[0]["r"]) == pytest.approx(at.left + at.long, abs=0.02)
        assert len({each["cy"] for each in answers}) == 1
        begun = set()
        for n, _, right in reads:
            look, answer = parts[f"look {n}"], parts[f"answer {n}"]
            mark = points(parts[f"mark {n}"])
            assert look["stroke"] == answer["fill"] == (BLUE.drawn if right else INK)
            assert np.abs(mark.mean(axis=0) - [answer["cx"], answer["cy"]]).max() < 1
            assert float(answer["cy"]) - float(answer["r"]) > at.place(0, film.HEADS - 0.5)[1]
            assert (look["stroke-dasharray"] == "1 0") == right
            begin, end = points(look)[[0, -1]].tolist()
            begun.add(tuple(begin))
            assert begin[0] == pytest.approx(at.place(film.BOOKS)[0], abs=0.06)
            assert end[0] == pytest.approx(at.place(n)[0], abs=0.06)
            assert end[1] == pytest.approx(at.top - film.FLOOR, abs=0.06)
            assert len(mark) == (3 if right else 5)  # a tick or a cross
        assert np.array(sorted(begun)) == pytest.approx(np.array(sorted(asked)), abs=0.06)
        assert len(asked) == len(reads)  # a disc for each question
    for way, rows in zip(film.WAYS, (4, 4, 1), strict=True):  # of four
        far, *near = known[way]["reads"]
        assert (far[0], far[2]) == (film.ASKED, way != "window")
        assert sorted(n for n, *_ in near) == [*film.NEAR]
        assert len({row for _, row, _ in near}) == rows
        assert sum(right for *_, right in near) == (2 if way == "shared" else 4)


def _ink(parts: dict[str, dict[str, float | str]]) -> float:
    """How large what is kept is."""
    inked = 0.0
    for name, look in parts.items():
        if name.startswith("kept "):
            start, end = points(look)
            dash, gap = map(float, str(look["stroke-dasharray"]).split())
            length = abs(end - start).sum()
            inked += (length + gap) * dash / (dash + gap) * float(look["stroke-width"])
    return inked


@pytest.mark.lessons("12-shortcuts")
def test_lesson_12s_results_are_as_recorded_and_stand_under_what_is_kept() -> None:
    from attnlab.lessons.shortcuts import opening as film

    known = json.loads(film.RECORDED.read_text("utf-8"))
    last, places = texts_of("12-shortcuts", -1), shown("12-shortcuts")[-1]
    turns = [(way, test) for way in film.WAYS for test in film.ASKS]
    for n, (way, test) in enumerate(turns):
        texts, right = texts_of("12-shortcuts", n), known[way][test]
        found = way == "full" or (way, test) in (("window", "near"), ("shared", "far"))
        colour = BLUE.drawn if found else INK
        assert (right > 0.98) == found
        assert (texts["right"], texts["about"]) == (f"{right:.0%}", film.ASKS[test])
        assert shown("12-shortcuts")[n]["right"]["fill"] == colour
        assert texts.get("guess") == (None if found else "a guess: 12%")  # 1 in 8
        assert texts["name"] == film.WAYS[way][0]
        assert texts["keeps"] == f"{film.share(way):.0%} kept"
        if at := film.ENDS.get((way, test)):  # the last frame's: a row a way, a column a test
            key = "right" if (way, test) == turns[-1] else f"{way} {test} right"
            assert (last[key], places[key]["fill"]) == (f"{right:.0%}", colour)
            assert places[key]["x"] == places[f"{test} head"]["x"] == at.left
            assert float(places[key]["y"]) == pytest.approx(
                at.place(0, film.HEADS - 0.5)[1] + film.UNDER, abs=0.1
            )
            assert last[f"{test} head"] == film.ASKS[test]
            assert last[f"{way} name"] == film.WAYS[way][0]
            assert at.top < float(places[f"{way} name"]["y"]) < at.place(0, film.HEADS)[1]
    assert (last["quarter"], last["guessed"]) == ("25% kept", "a guess")
    assert places["guessed"]["y"] == places["window far right"]["y"]
    assert known["window"]["far"] == pytest.approx(1 / film.LETTERS, abs=0.03)  # it guesses
    assert 0.5 < known["shared"]["near"] < 0.85  # it misses some
    assert film.share("window") == film.share("shared") == 1 / 4
    assert [*film.NEAR] == [*range(film.BOOKS - 4, film.BOOKS)]  # the last four


@pytest.mark.lessons("12-shortcuts")
def test_lesson_12s_film_counts_what_is_kept_as_the_lesson_does() -> None:
    from attnlab.lessons.shortcuts.opening import kept

    cells = code_cells(read(solution_path("12-shortcuts")))
    [cost] = [each.source for each in cells if each.source.startswith("N, H, D = ")]
    names: dict[str, Any] = {}
    exec("\n".join(cost.splitlines()[:3]), names)
    expected = [names["kept"][name] for name in ("full", "window of 8", "1 group")]
    assert [*kept(names["N"], 8).values()] == expected


@pytest.mark.lessons("13-gpu-sdpa")
def test_bars_are_times_that_six_trips_and_computing_fill_mostly() -> None:
    from attnlab.lessons.gpu_sdpa import opening as film

    slow, fast = (film.longest()[way]["seconds"] for way in film.WAYS)
    assert film.scores_in_bytes() == 16384**2 * 16 * 2
    alone, moving, run = film.computing(), film.TRIPS * film.trip(), film._run()
    assert alone == 4 * 16384**2 * 128 * 16 / run["peak"]["flops"]
    assert slow < alone + moving < 1.05 * slow  # some of both at once; trips take the time
    assert alone < fast < 1.5 * alone  # most of it computes
    assert moving == pytest.approx(0.0175, abs=5e-5)
    assert 2 * moving > slow
    looks, last = shown("13-gpu-sdpa"), texts_of("13-gpu-sdpa", -1)
    assert (last["time naive"], last["time sdpa"]) == ("20 ms", "3.8 ms")
    assert last["total naive"] == "6 trips of scores"
    assert last["total sdpa"] == "0 trips of scores"
    told = opening_of("13-gpu-sdpa").state["frames"][-1]["told"]
    assert f"at least {1000 * alone:.1f} ms" in told
    assert f"at least {1000 * moving:.1f} ms" in told
    assert 0.04 * film.scores_in_bytes() > 4 * 16384 * 128 * 16 * 2  # Q, K, V and the output
    assert last["fast"] == f"{slow / fast:.0f}× as fast"
    assert not any("fast" in look for look in looks[:-1])  # which is its end
    times = {"bar naive": slow, "bar sdpa": fast}
    green = {"computes naive": alone, "computes sdpa": alone}
    for n, look in enumerate(looks):
        assert texts_of("13-gpu-sdpa", n)["time sdpa"] == "3.8 ms"
        drawn = times | green if n == 6 else times
        assert {key for key in look if key.split()[0] in ("bar", "computes")} == {*drawn}
        for name, seconds in drawn.items():
            assert look[name]["x"] == 0  # all begin at once
            assert look[name]["width"] == pytest.approx(film.LONG * seconds / slow, abs=0.01)
    for way in film.WAYS:  # computing has a lane of its own, under its bar
        lane, memory = (float(looks[-1][f"{key} {way}"]["y"]) for key in ("computes", "memory"))
        assert lane > memory + film.FOOT


@pytest.mark.lessons("13-gpu-sdpa")
def test_scores_go_to_memory_and_back_by_steps_and_a_tile_stays_on_the_chip() -> None:
    from attnlab.lessons.gpu_sdpa import opening as film

    looks, texts = shown("13-gpu-sdpa"), [texts_of("13-gpu-sdpa", n) for n in range(7)]
    wide = film.trip() / film.longest()["naive"]["seconds"] * film.LONG
    for n, (look, trips) in enumerate(zip(looks, (0, 1, 3, 5, 6, 6, 6), strict=True)):
        there = [look[f"trip {t}"]["opacity"] for t in range(1, 7)]
        assert there == [1] * trips + [0] * (6 - trips)
        for t in range(1, trips + 1):
            arrow = points(look[f"trip {t}"])
            y = arrow[2, 1]  # the tip
            ends = [arrow[:, 0].min(), arrow[:, 0].max() + 1.5]  # side by side, but for a line
            assert ends == pytest.approx([wide * (t - 1), wide * t], abs=0.11)
            assert y == (max if t % 2 else min)(arrow[:, 1])  # an odd one goes to memory
            high, low = (float(look[f"{place} naive"]["y"]) for place in ("chip", "memory"))
            assert arrow[:, 1].min() == high + film.FOOT  # all the way
            assert arrow[:, 1].max() == low
        places = {key.split()[1] for key in look if key.startswith("memory")}
        assert places == {*film.WAYS}
        assert (look["bar sdpa"]["opacity"] == 1) == (n in (0, 5, 6))  # attend's leads
        for way in places:
            chip, bar, memory = (look[f"{key} {way}"] for key in ("chip", "bar", "memory"))
            assert float(chip["y"]) + film.FOOT == float(bar["y"])
            assert float(bar["y"]) + float(bar["height"]) == float(memory["y"])
            assert bar["width"] == chip["width"] == memory["width"]  # which end as it does
        if 0 < n < 6:
            assert texts[n]["total naive"] == f"{trips} × 8.6 GB"
    assert texts[5]["total sdpa"] == "0 × 8.6 GB"
    tiles, bar = [look for key, look in looks[5].items() if "tile " in key], looks[5]["bar sdpa"]
    assert BLUE.drawn not in {tile["fill"] for tile in tiles}  # which is what travels
    assert len(tiles) == film.TILES
    for x, y, side in ([float(tile[name]) for name in ("x", "y", "width")] for tile in tiles):
        assert 0 < x < x + side < float(bar["width"])
        assert 0 < y - float(bar["y"]) < 5  # at the chip
    told = [frame["told"] for frame in opening_of("13-gpu-sdpa").state["frames"]]
    assert "16,384 tokens, 16 heads" in told[0]
    assert "8.6 GB of scores to memory" in told[1]
