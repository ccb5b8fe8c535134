"""A still picture can be read in both themes, and is one picture to whoever hears it."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

import matplotlib.image
import numpy as np
import pytest
import torch
from matplotlib.colors import Colormap, to_hex, to_rgb

from attnlab import figures
from attnlab.bench import Row, plot
from attnlab.figures import picture
from attnlab.figures.arrays import as_array
from attnlab.figures.live.ramp import ink
from attnlab.figures.palette import COLOURS
from attnlab.figures.picture import Picture, draw_heatmap, name_lines, new_figure
from attnlab.lessons.cross_attention import figures as cross_attention

SVG = "{http://www.w3.org/2000/svg}"


def parts(picture: Picture) -> tuple[list[Element], list[Element]]:
    """Its panels in the light theme, and in the dark one."""
    (light, dark) = ([fromstring(piece.svg) for piece in row] for row in picture.rows[0])
    return light, dark


def words(part: Element) -> dict[str, Element]:
    return {"".join(text.itertext()): text for text in part.iter(f"{SVG}text")}


def first_cell(part: Element) -> tuple[float, ...]:
    (image,) = part.iter(f"{SVG}image")
    data = base64.b64decode(image.attrib["{http://www.w3.org/1999/xlink}href"].partition(",")[2])
    return tuple(matplotlib.image.imread(io.BytesIO(data), format="png")[-5, 5, :3])


def luminance(colour: object) -> float:
    rgb = np.array(colour if isinstance(colour, tuple) else to_rgb(colour))  # type: ignore[arg-type]
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one: object, other: object) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def marked() -> Picture:
    """A line of markers that have no colour of their own, words, and a heatmap."""
    figure, axes = new_figure(columns=2)
    axes[0, 0].plot([0, 1], [0, 1], "x", color="black")
    axes[0, 0].text(0.5, 0.2, "a word")
    draw_heatmap(axes[0, 1], np.eye(2), ["a", "b"], ["a", "b"], "weights")
    return Picture(figure, "a line and a heatmap", "what is seen")


def test_a_picture_has_the_background_of_each_theme_and_the_same_size() -> None:
    light, dark = parts(marked())
    assert [part.attrib["viewBox"] for part in light] == [part.attrib["viewBox"] for part in dark]
    assert {part.attrib["style"] for part in light} == {"background:#ffffff"}
    assert {part.attrib["style"] for part in dark} == {"background:#111111"}


@pytest.mark.parametrize(
    ("width", "said"),
    [
        (6, ["0", "0.25", "1.00", "\u22120.50", "12.50", "False"]),
        (2.4, ["0", ".25", "1", "\u2212.50", "12.50", "False"]),
    ],
    ids=["roomy", "narrow"],
)
def test_numbers_keep_off_the_edges_of_their_cells(width: float, said: list[str]) -> None:
    numbers = np.array([[0, 0.25, 0.999], [-0.5, 12.5, 0]])
    figure, [[axes]] = new_figure(width=width)
    draw_heatmap(axes, numbers, "ab", "xyz", "", (-1, 1))
    axes.texts[-1].set_text("False")
    drawn = Picture(figure, "a heatmap")
    for part in (piece for row in drawn.rows[0] for piece in row):
        assert [each for each in words(fromstring(part.svg)) if each not in "abxyz"] == said
    cell = axes.get_window_extent().width / 3
    free = [cell - text.get_window_extent().width for text in axes.texts[:4]]
    assert min(free) >= 2 * picture.FREE


def test_nothing_is_drawn_in_the_dark_themes_own_colour() -> None:
    _, (dark, _) = parts(marked())
    assert luminance(words(dark)["a word"].attrib["fill"]) > 0.5
    (cross,) = re.findall(r'<path id="[^"]*" d="M -3[^/]*', marked().rows[0][1][0].svg)
    assert luminance(re.findall(r"stroke: (#\w{6})", cross)[0]) > 0.5


def test_words_are_words_in_the_pages_type_and_held_where_they_are_aligned() -> None:
    figure, [[axes]] = new_figure()
    axes.text(0.5, 0.5, "÷ √d_k, one\nW_q", ha="center")
    axes.text(1, 1, "right\nended", ha="right")
    axes.set(ylabel="turned", yscale="log", ylim=(0.1, 10))
    ((part,), _) = parts(Picture(figure, "words"))
    found = words(part)
    assert "sans-serif" in part.attrib["font-family"]
    assert [low.text for low in found["÷ √dk, one"]] == ["k", ", one"]
    middle, end = (found[name].attrib for name in ("Wq", "ended"))
    assert (middle["text-anchor"], end["text-anchor"]) == ("middle", "end")
    assert middle["x"] == found["÷ √dk, one"].attrib["x"]
    assert "rotate(-90" in found["turned"].attrib["transform"]
    assert {"10⁻¹", "10¹"} <= set(found)
    axes.set_title("$W_q$")
    with pytest.raises(ValueError, match="write plain words, and W_q for a subscript"):
        Picture(figure, "words", "a title")


def test_a_panel_is_in_one_part_alone() -> None:
    light, _ = parts(marked())
    assert ["a word" in words(part) for part in light] == [True, False]
    assert [len([*part.iter(f"{SVG}image")]) for part in light] == [0, 1]


@pytest.mark.parametrize("ramp", [picture.WEIGHT_COLOURS, picture.SIGNED], ids=lambda r: r.name)
def test_numbers_in_a_heatmap_can_be_read_in_both_themes(ramp: Colormap) -> None:
    for shown in (ramp, picture._DARK_RAMPS[ramp.name]):
        faces = [to_hex(shown(share)) for share in np.linspace(0, 1, 51)]
        assert min(contrast(face, ink(face)) for face in faces) >= 4.5


def test_a_heatmap_is_turned_round_in_the_dark_and_another_image_is_not() -> None:
    (_, light), (_, dark) = parts(marked())
    assert luminance(first_cell(light)) < 0.1 < 0.5 < luminance(first_cell(dark))
    figure, [[axes]] = new_figure()
    axes.imshow(np.eye(2), cmap="viridis")
    (light,), (dark,) = parts(Picture(figure, "two colours"))
    assert first_cell(light) == first_cell(dark)


def test_a_picture_breaks_between_its_panels_and_its_words_stay_large() -> None:
    html = marked()._repr_mimebundle_()["text/html"]
    least = [int(width) for width in re.findall(r"min-width:calc\(.*?\*(\d+)px\)", html)]
    own = [int(width) for width in re.findall(r'width="(\d+)" ', html) if width != "0"]
    assert (len(own), len(least)) == (2, 4)
    size = picture.SIZE * picture.LARGE
    assert all(size * low / wide >= 12.9 for low, wide in zip(least, own, strict=False))


def test_a_single_wide_panel_is_drawn_for_a_phone_too_with_the_same_words_and_margins() -> None:
    figure, [[axes]] = new_figure(width=7.6)
    axes.plot([0, 1], [0, 1], label="a name")
    name_lines(axes)
    drawn = Picture(figure, "a line", "a title")
    first, *others = re.findall(r"<img [^>]*>", drawn._repr_mimebundle_()["text/html"])
    assert 'alt="a line"' in first
    assert [' width="0" height="0"' in other for other in others] == [True] * 3
    [[[wide], _]], [[[[narrow], [dark]]]] = drawn.rows, drawn.narrow
    assert narrow.width == dark.width <= 72 * picture.PHONE < wide.width
    pieces = [fromstring(each.svg) for each in (wide, narrow)]
    ends = [
        each.width - float(words(piece)["a name"].attrib["x"])
        for each, piece in zip((wide, narrow), pieces, strict=True)
    ]
    assert ends[0] == pytest.approx(ends[1], abs=1)


@pytest.mark.parametrize("colour", ["black", "#444444", *(each.light for each in COLOURS)])
def test_words_in_house_colours_can_be_read_in_the_dark(colour: str) -> None:
    dark = (picture.DARK,) * 3
    assert contrast(picture._on_dark(colour)[:3], dark) >= 4.5


def test_one_picture_is_shown_and_said_whatever_a_page_makes_of_styles() -> None:
    html = marked()._repr_mimebundle_()["text/html"]
    first, *others = re.findall(r"<img [^>]*>", html)
    assert 'alt="a line and a heatmap"' in first
    assert all('alt="" aria-hidden="true"' in other for other in others)
    assert [' width="0" height="0"' in other for other in others] == [False, True, True]
    assert ">what is seen</p>" in html


def test_a_figure_takes_what_training_made() -> None:
    weights = torch.rand(2, 3, requires_grad=True).softmax(-1)
    losses = [weight.sum() for weight in weights]
    assert as_array(weights).tolist() == weights.tolist()
    assert as_array(weights.bfloat16()).dtype == float
    assert as_array(losses).tolist() == [loss.item() for loss in losses]
    assert as_array(weights > 0.5, bool).dtype == bool
    figures.training.losses({"a model": losses})
    words = ["the", "cat", "it"]
    figures.training.shown_and_needed({"seed 0": weights[0]}, {"seed 0": weights[1]}, words)


def test_a_map_misses_what_is_needed_where_it_gives_that_little() -> None:
    shown = {"one": [0.9, 0], "two": [0.04, 1], "three": [0, 1.0]}
    needed = {"one": [1, 0], "two": [0.88, 0], "three": [0, 0.9]}
    drawn = figures.training.shown_and_needed(shown, needed, ["it", "wide"])
    assert drawn.title.startswith("At weight 0.04 “it” still decides 88 % of the answers\n")
    assert "two, it: 0.04 and 0.88; one, it: 0.90 and 1.00; three, wide: 1.00" in drawn.alt
    [light], _ = parts(drawn)
    said = [each for each in words(light) if each in {*shown, "“it” itself", "wide"}]
    assert said == ["two", "“it” itself", "one", "three", "wide"]
    assert [each for each in words(light) if "." in each] == ["0.04", "0.90", "1.00"]
    assert [each for each in words(light) if "%" in each] == ["88 %", "100 %", "90 %"]
    found = figures.training.shown_and_needed(needed, needed, ["it", "wide"])
    assert found.title.startswith("In all trainings")
    several = {"one": [0.2, 1], "two": [1.0, 0]}, {"one": [0.9, 0], "two": [0, 1]}
    drawn = figures.training.shown_and_needed(*several, ["it", "wide"])
    assert drawn.title.startswith("At weight 0.00 to 0.20 a word still decides 90 to 100 % of")


def test_rows_whose_match_is_not_there_are_called_so() -> None:
    queries, keys = ["a", "b"], ["x", "y"]
    panels = {"all": (np.eye(2), queries, keys, None)}
    few = (np.full((2, 2), 0.5), queries, ["x", "z"], None)
    light, _ = parts(figures.cross_attention.maps({**panels, "few": few}, "all away"))
    said = ["".join(text.itertext()) for part in light for text in part.iter(f"{SVG}text")]
    assert [each for each in said if each.startswith("no ")] == ["no “y”"], "of b alone"
    assert said.count("is read") == said.count("reads") == 1
    assert not any("\n" in word or "ahead" in word for word in said)


def test_rows_that_follow_each_other_have_one_frame_where_the_same_is_open() -> None:
    hidden = np.zeros((5, 3), bool)
    hidden[4, 2] = True
    assert cross_attention._blocks(hidden, [0, 2, 3, 4]) == [(0, 1), (2, 2), (4, 1)]


def test_a_query_that_looks_ahead_in_one_map_is_framed_where_it_may_not() -> None:
    both, ahead = ["a", "b"], [[0.2, 0.8], [0, 1]]
    blocked = [[False, True], [False, False]]
    panels = {"free": (ahead, both, both, None), "masked": (np.eye(2), both, both, blocked)}
    light, _ = parts(figures.cross_attention.maps(panels, "ahead"))
    free, masked = (set(words(part)) for part in light)
    assert "“a” finds “b”" in free
    assert {"“a” finds nothing ahead", "blocked"} <= masked


def test_the_loss_held_out_turns_or_does_not() -> None:
    def kept(name: str, held_out: list[float]) -> figures.training.Diary:
        diary = figures.training.Diary(name, 40, str, float, {"read": "abc", "held out": "d"})
        diary.curves = {f"{name}, read": [3, 2, 1], f"{name}, held out": held_out}
        return diary

    many = kept("many", [3, 2, 1.5])
    turns = figures.training.overfitting([many, kept("few", [3, 2, 4])])
    assert turns.title.startswith(
        "Too little text: past step 20 held-out loss rises, training falls"
    )
    falls = figures.training.overfitting([many, kept("few", [3, 2, 1])])
    assert falls.title.startswith("With 3 letters the held-out loss is lowest at the end")


def test_a_title_says_what_the_numbers_say_or_nothing() -> None:
    weights, words = np.array([[0.9, 0.1], [0.4, 0.6]]), ["the", "cat"]
    draw = figures.numpy.two_orders
    shuffled = draw(weights, words, weights[::-1, ::-1], words[::-1])
    assert shuffled.title == "Shuffle the words: “cat” still puts 0.40 on “the”"
    assert draw(weights, words, weights, words[::-1]).title == ""


@pytest.mark.parametrize(
    ("losses", "title"),
    [
        ((1.0, 9.0), "On dice, each leak beats the honest best until texts are cut off"),
        ((1.9, 9.0), ""),
        ((1.0, 1.3), ""),
        ((1.8, 1.8), ""),
    ],
    ids=["seen", "not good", "not bad", "none"],
)
def test_leaks_are_said_to_be_too_good_where_each_is(
    losses: tuple[float, float], title: str
) -> None:
    models = {"yours": (1.8, 1.8), "late mask": losses}
    drawn = figures.causal_mask.given_away(models, 1.8, "dice")
    assert drawn.title.splitlines()[0] == title
    light, _ = parts(drawn)
    assert {f"{loss:.2f}" for loss in losses} <= {*words(light[0])}


def test_a_curve_at_the_honest_best_has_one_name_with_it() -> None:
    def said(causal: float) -> set[str]:
        models = {"causal": ((), [1.8, causal]), "no mask": ((), [1.8, 0.0])}
        light, _ = parts(figures.causal_mask.losses({"dice": models, "sheep": models}, named))
        return {*words(light[0])}

    named = {"dice": 1.0, "sheep": 1.0}
    assert "causal = honest best, 1.00" in said(1.004)
    assert "causal ≈ honest best, 1.00" in said(1.04)
    assert {"causal", "honest best, 1.00", "no mask"} <= said(1.3)


def test_a_jump_is_as_long_as_the_loss_rises_or_passes_a_break_in_the_axis() -> None:
    models = {"yours": (1.8, 1.8), "wrong axis": (1.0, 9.0), "stuck": (2.0, 1.9)}
    light, _ = parts(figures.causal_mask.given_away(models, 1.8, "dice"))
    assert "//" not in words(light[0])
    models["off by one"] = 0.0, 40.0
    light, _ = parts(figures.causal_mask.given_away(models, 1.8, "dice"))
    said = words(light[0])
    assert {"0.00", "1.00", "1.80", "2.00 → 1.90"} <= {*said}
    assert {"wrong axis: leaks", "off by one: leaks", "yours: honest", "stuck: honest"} <= {*said}
    at = {name: float(text.attrib["x"]) for name, text in said.items()}
    nat = (at["10"] - at["0"]) / 10
    beside = at["1.80"] - at["0"] - 1.8 * nat  # the middle of its ring
    assert at["honest best, 1.80"] - at["0"] == pytest.approx(1.8 * nat, abs=0.5)
    assert at["9.00"] - at["0"] - beside == pytest.approx(9 * nat, abs=0.5)
    assert at["0"] + 6 * 1.8 * nat < at["//"] < at["40.00"] - beside
    high = {name: float(text.attrib["y"]) for name, text in said.items()}
    assert high["honest best, 1.80"] < min(y for name, y in high.items() if "." not in name)


def test_a_heads_means_are_of_the_same_rows_and_say_what_lies_elsewhere() -> None:
    weights = np.zeros((1, 2, 4, 4))  # a b a b: nobody is in front of the first
    weights[0, :, 0, 2] = 1
    for n in range(1, 4):
        weights[0, 0, n, [n - 1, (n + 2) % 4]] += 0.8, 0.1
        weights[0, 1, n, [n - 1, (n + 2) % 4]] += 0.1, 0.6
        weights[0, :, n, n] = 0.1, 0.3
    light, _ = parts(figures.multi_head.patterns({"heads": weights}, ["a 1", "b 2", "a 3", "b 4"]))
    said = [{*words(part)} for part in light]
    assert {"front 0.80", "twin 0.10", "elsewhere 0.10"} <= said[0]
    assert {"front 0.10", "twin 0.60", "elsewhere 0.30"} <= said[1]


def test_no_verb_is_said_to_be_wrong_where_none_is() -> None:
    right = {"king … dog": 1.0, "kings … dog": 0.0, "king … dogs": 1.0, "kings … dogs": 0.0}
    wrong = {pair: float(pair.endswith("dog")) for pair in right}
    shares = {"with all heads": right, "without a": wrong, "without b": right, "without c": wrong}
    told = figures.multi_head.attraction(shares).title.splitlines()
    assert told[0] == "Without a, the nearer noun mostly decides the verb"
    assert told[1].endswith("subject. No verb is wrong with all heads, nor without b.")
    told = figures.multi_head.attraction({**shares, "with all heads": wrong, "without b": wrong})
    assert told.title.endswith("subject.")


def test_a_cut_that_gives_a_head_whole_tokens_is_crossed_and_named() -> None:
    def right(x: torch.Tensor, heads: int) -> torch.Tensor:
        return x.unflatten(-1, (heads, -1)).transpose(1, 2)

    def wrong(x: torch.Tensor, heads: int) -> torch.Tensor:
        return x.reshape(len(x), heads, *x.transpose(1, 2).unflatten(1, (heads, -1)).shape[:1:-1])

    def drawn(cuts: dict[str, Callable[[torch.Tensor, int], torch.Tensor]]) -> Picture:
        return figures.multi_head.owners(cuts, "abcd", 6, 2)

    both = drawn({"split": right, "shorter": wrong})
    assert both.title == "Shorter gives each head 2 whole tokens, not a part of each"
    light, _ = parts(both)
    assert "✓ split" in words(light[0])
    assert "✗ shorter" in words(light[1])
    assert drawn({"split": right, "again": right}).title == ""


def test_models_that_never_learn_are_told_from_those_that_fail_at_new_places() -> None:
    good, bad = np.ones(9), np.full(9, 0.2)
    curves = {"on": good, "falls": np.where(np.arange(9) < 5, 1, 0.2), "never": bad}
    draw = figures.position.beyond
    lines = draw(curves, 5, 0.1).title.splitlines()
    assert lines[0] == "At new places falls fail; on go on"
    assert lines[1].endswith("; never never learn it here.")
    assert "never" not in draw({"on": good, "falls": curves["falls"]}, 5, 0.1).title
    assert "new places" not in draw({"on": good, "never": bad}, 5, 0.1).title


def test_what_a_mask_leaves_is_said_of_the_row_that_gains_most_and_a_blocked_row_is_called_so() -> (
    None
):
    both, mask = ["the", "cat"], [[False, False], [False, True]]
    drawn = figures.numpy.masked_weights([[0.9, 0.1], [0.6, 0.4]], [[0, 0], [0, 1]], mask, both)
    assert drawn.title.splitlines() == [
        "Mask “the”: what “cat” has left grows ×2.50, to a sum of 1",
        "All keys are blocked for “the”: its sum is 0.",
    ]
    free, masked = (set(words(part)) for part in parts(drawn)[0])
    assert {"0.60", "0.40"} <= free
    assert "0.90" not in free
    assert "blocked" in masked - free


def test_two_matrices_are_said_to_disagree_only_where_they_do() -> None:
    draw, other = figures.pure_python.one_matrix_for_two, [[0, 1], [3, 0]]
    said = draw("ab", other, np.eye(2)).title
    assert said == "Two matrices let a pair differ (1 and 3); one does not (0 and 0)"
    assert draw("ab", np.eye(2), np.eye(2)).title == ""


@pytest.mark.parametrize("others", [0.02, 0.2])
def test_one_way_to_scale_is_said_to_be_level_where_no_other_is(others: float) -> None:
    fall = np.tile(np.geomspace(1, 0.1, 5)[:, None], 4)
    fall[:, 2] = np.linspace(0.5, 0.98, 5)
    level = np.full((5, 4), 0.2)
    other = np.tile(np.geomspace(0.2, others, 5)[:, None], 4)
    other[:, 3] = 0.2
    measured = {"none": fall, "root": level, "all": other}
    drawn = figures.scaling.four_measures([2, 4, 8, 16, 32], measured, 20)
    assert drawn.title.splitlines() == [
        "With none, one book takes 0.98 of a typical row by width 32",
        "From width 8 on, only root is level in all four charts.",
    ] * (others < 0.2)
    assert all(measured.keys() <= words(part).keys() for part in parts(drawn)[0])


def test_powers_of_ten_are_written_short() -> None:
    fall = np.tile(np.geomspace(0.3, 1e-5, 5)[:, None], 4)
    drawn = figures.scaling.four_measures([2, 4, 8, 16, 32], {"none": fall}, 20)
    assert {"1", "0.01", "10⁻⁴"} <= {*words(parts(drawn)[0][1])}


def test_who_misses_a_book_is_told_beside_all_factors_with_which_nobody_does() -> None:
    ends = {"raw": [0.99, 0.1, 0.2], "a": [0.95, 0.99, 0.91], "b, step × 9": [0.92, 0.93, 0.94]}
    paths = {way: np.linspace(0.01, end, 20) for way, end in ends.items()}
    drawn = figures.scaling.learning(paths)
    assert drawn.title.startswith("With raw, 2 of 3 miss their book; with a or b none\n")
    told = [{"raw", "plain step", "1 find it", "2 miss"}, {"a", "plain step", "3 find it"}]
    told += [{"b", "step × 9", "3 find it"}]
    panels = [{*words(part)} for part in parts(drawn)[0]]
    assert all(each <= panel for each, panel in zip(told, panels, strict=True))
    assert "0 miss" not in panels[1] | panels[2]
    del paths["raw"]
    assert figures.scaling.learning(paths).title == ""


def test_the_steepest_slope_stands_in_its_cell_and_rows_are_named_once() -> None:
    p = np.array([0.7, 0.2, 0.1])
    jacobian = np.diag(p) - np.outer(p, p)
    drawn = figures.scaling.jacobians({"one": (p, jacobian), "two": (p, jacobian)}, "abc")
    said = [
        ["".join(each.itertext()) for each in part.iter(f"{SVG}text")] for part in parts(drawn)[0]
    ]
    for panel, names in zip(said, (2, 1), strict=True):  # of a row and a column, or of a column
        assert [panel.count(each) for each in ("0.70", "0.21", "a")] == [1, 1, names]


def test_a_sure_row_is_told_by_the_most_that_a_nudge_moves_beside_the_steepest() -> None:
    rows = {name: np.array([1 - rest, rest]) for name, rest in (("even", 0.4), ("sure", 0.01))}
    panels = {way: (p, np.diag(p) - np.outer(p, p)) for way, p in rows.items()}
    surest = "At weight 0.99 all slopes are 0.01 at most"
    told = figures.scaling.jacobians(panels, "ab").title.splitlines()[0]
    assert told == f"{surest}, at 0.60 up to 0.24"
    alone = figures.scaling.jacobians({"sure": panels["sure"]}, "ab").title.splitlines()[0]
    assert alone == surest
    even = dict.fromkeys("xy", panels["even"])
    assert figures.scaling.jacobians(even, "ab").title == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    "draw",
    [
        lambda names: figures.position.clock(np.eye(9), range(len(names))),
        lambda names: figures.position.beyond(dict.fromkeys(names, np.ones(9)), 5, 0.1),
        lambda names: figures.scaling.four_measures([1], dict.fromkeys(names, np.ones((1, 4))), 3),
        lambda names: figures.training.losses({name: [1.0] for name in names}),
    ],
)
def test_a_figure_leaves_no_line_out(draw: Callable[[str], Picture]) -> None:
    draw("abc")
    with pytest.raises(ValueError, match="was given 8: leave some out"):
        draw("abcdefgh")


def test_a_figure_makes_arrays_in_one_way() -> None:
    package = Path(figures.__file__).parent
    made = [*package.rglob("*.py"), *(package.parent / "lessons").glob("*/figures.py")]
    other = [path for path in made if "np.asarray(" in path.read_text(encoding="utf-8")]
    assert [path.name for path in other] == ["arrays.py"]


def test_lines_are_named_at_the_height_of_their_ends_in_their_colour_and_no_two_names_meet() -> (
    None
):
    figure, [[axes]] = new_figure()
    ends = {"low": 1.0, "close": 1.02, "closer": 1.03, "high": 3.0, "short": 2.5}
    for (name, end), colour in zip(ends.items(), COLOURS, strict=False):
        axes.plot([0, 4 if name == "short" else 10], [2, end], color=colour.light, label=name)
    name_lines(axes)
    figure.draw_without_rendering()
    assert [text.get_color() for text in sorted(axes.texts, key=lambda text: text.get_text())] == [
        line.get_color() for line in sorted(axes.get_lines(), key=lambda line: line.get_label())
    ]
    boxes = {text.get_text(): text.get_window_extent() for text in axes.texts}
    in_order = [boxes[name] for name in ("low", "close", "closer", "short", "high")]
    assert all(one.y1 <= other.y0 + 1 for one, other in pairwise(in_order))
    for name in ("close", "high", "short"):
        (_, y) = axes.transData.transform((0, ends[name]))
        assert boxes[name].y0 < y < boxes[name].y1
        assert boxes[name].x0 > axes.bbox.x1


@pytest.mark.parametrize(
    ("focus", "title"),
    [
        (
            "tiles",
            "Tiles: 2 times slower than table, 8 times less memory\nAt 256 tokens. "
            "At 64: 2 times slower, 2 times less memory.",
        ),
        (
            "table",
            "Table: 2 times faster than tiles, 8 times more memory\nAt 256 tokens. "
            "At 64: 2 times faster, 2 times more memory.",
        ),
        ("fused", "With fused memory grows as N, time still as N²"),
        (
            "short",
            "Short: 2 times slower than table, 4 times less memory\nAt 128 tokens. "
            "At 64: 2 times slower, 2 times less memory.",
        ),
    ],
)
def test_a_plot_says_what_is_won_and_lost_at_the_greatest_length_or_how_memory_grows(
    focus: str, title: str
) -> None:
    costs = {"table": (2.0, 2, 2), "tiles": (4.0, 64, 1), "fused": (1.0, 64, 1)}
    costs |= {"short": (4.0, 64, 1)} if focus == "short" else {}
    rows = [
        Row(name, n, seconds * n * n, 0.0, size * n**power)
        for name, (seconds, size, power) in costs.items()
        for n in (64, 128, 256)[: 2 if name == "short" else 3]
    ]
    drawn = plot(rows, focus=focus)
    assert drawn.title == title
    assert drawn.alt.index("KiB") < drawn.alt.index(" s at")  # memory first, whatever was measured
    assert ("N = 256" in drawn.alt) == (focus != "short")  # all lines end where two are compared


def test_a_line_has_its_ways_colour_and_says_its_law_which_two_lengths_do_not_make() -> None:
    costs = {"fused": (64, 1, 3), "table": (4, 2, 3), "loops": (128, 1, 2)}
    rows = [
        Row(name, n, 1e-6 * n * n, 0.0, size * n**power)
        for name, (size, power, many) in costs.items()
        for n in (64, 128, 256)[:many]
    ]
    drawn, unfocused = plot(rows, focus="fused"), plot(rows)
    assert drawn.title.endswith("\nStopped, for want of time or memory: loops after 128 tokens.")
    memory, time = (
        {name: text.attrib["fill"] for name, text in words(part).items()}
        for part in parts(drawn)[0]
    )
    one, two, three = (each.lower() for each in (picture.BLUE, picture.ORANGE, picture.GREEN))
    assert memory.items() >= {"fused, as N": one, "table, as N²": two, "loops": three}.items()
    assert time.items() >= {"fused, as N²": one, "table, as N²": two, "loops": three}.items()
    guides = {"as N", "as N²"}
    assert not guides & {*memory, *time}, "names say the laws"
    assert all(guides <= {*words(part)} for part in parts(unfocused)[0])
