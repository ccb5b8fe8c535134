"""The base of the figures to touch: one state out of checked inputs, and all of it or nothing."""

from __future__ import annotations

import contextlib
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from typing import Any

import numpy as np
import pytest
import torch

from attnlab.figures import picture
from attnlab.figures.live import fallback
from attnlab.figures.live.figure import MOST, Figure, Input, array, names, number
from attnlab.figures.live.ramp import FACES, PALETTE, contrast, ink, luminance, shade, style
from attnlab.figures.palette import GREY

FOLDER = Path(fallback.__file__).parent


class Doubles(Figure):
    """The smallest figure: twice its numbers, which may not be above 100."""

    _esm = "export default {}"
    numbers, offset = Input(), Input()

    def checked(self, inputs: dict[str, Any]) -> dict[str, Any]:
        numbers = array("numbers", inputs["numbers"], (None, 2))
        if numbers.max() > 100:
            raise ValueError("100 is the most")
        return {"numbers": numbers, "offset": float(inputs["offset"])}

    def computed(self, inputs: dict[str, Any]) -> dict[str, Any]:
        return {"doubled": (2 * inputs["numbers"] + inputs["offset"]).tolist()}

    def summary(self) -> str:
        return f"{self.state['doubled']}"

    def fallback(self) -> str:
        return f"<p>{self.state['doubled']}</p>"


@pytest.fixture
def doubles() -> Doubles:
    return Doubles(numbers=[[1, 2], [3, 4]], offset=0)


def classes_in(sheet: str) -> list[set[str]]:
    """The classes that each rule of a style sheet names."""
    rules = re.sub(r"(?s)/\*.*?\*/", "", sheet)
    heads = (head for head in re.findall(r"([^{}]+)\{", rules) if ".attn-figure" in head)
    selectors = (each for head in heads for each in re.split(r",(?![^()]*\))", head))
    return [set(re.findall(r"\.([\w-]+)", each)) for each in selectors]


def classes_made(module: str) -> set[str]:
    """The classes that a module gives to what it makes, as far as they are written out."""
    made = re.findall(r"class(?:Name)?\s*[:=]\s*[`\"]([^`\"]*)", module)
    return {each for classes in made for each in classes.split()}


def test_a_figures_style_reaches_no_other_figure() -> None:
    """A page has the sheets of all its figures: each rule names a class of its figure alone."""
    rules = {path.stem: classes_in(path.read_text("utf-8")) for path in FOLDER.glob("*.css")}
    named: dict[str, set[str]] = {name: set().union(*each) for name, each in rules.items()}
    for path in FOLDER.glob("*.mjs"):
        named.setdefault(path.stem, set()).update(classes_made(path.read_text("utf-8")))
    for name in rules.keys() - {"figure"}:
        others = set[str]().union(*(named[other] for other in named.keys() - {name}))
        assert [each for each in rules[name] if each <= others] == [], name


def test_assigning_an_input_computes_the_state(doubles: Doubles) -> None:
    doubles.numbers = [[5, 6]]
    assert doubles.state == {"doubled": [[10, 12]]}
    assert doubles.numbers.tolist() == [[5, 6]]


def test_a_message_that_was_overtaken_undoes_nothing(doubles: Doubles) -> None:
    """A kernel that has a thread for messages and one for cells may take them in any order."""
    for at, change in (
        (1, {"offset": 1}),
        (4, {"offset": 4}),
        (3, {"offset": 3, "numbers": [[0, 0]]}),
    ):
        doubles._receive(None, {"change": change, "at": at}, [])
    assert doubles.offset == 4
    assert doubles.numbers.tolist() == [[0, 0]]  # which nobody set since
    doubles._receive(None, {"change": {"offset": 200}, "at": 5}, [])
    assert doubles.offset == 200


def test_messages_in_several_threads_lose_nothing_of_each_other(doubles: Doubles) -> None:
    both = Barrier(2)
    checked = doubles.checked

    def slowly(inputs: dict[str, Any]) -> dict[str, Any]:
        with contextlib.suppress(BrokenBarrierError):
            both.wait(0.2)  # until the other is here as well, if it is let in
        return checked(inputs)

    doubles.checked = slowly  # type: ignore[method-assign]
    changes: tuple[dict[str, Any], ...] = ({"offset": 7}, {"numbers": [[9, 9]]})
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda change: doubles._receive(None, {"change": change}, []), changes))
    assert (doubles.offset, doubles.numbers.tolist()) == (7, [[9, 9]])


@pytest.mark.parametrize(
    "bad", [[[1, 2, 3]], [1, 2], [[1, float("nan")]], [["a", 2]], [[1], [2, 3]]]
)
def test_what_cannot_be_used_raises_and_changes_nothing(doubles: Doubles, bad: Any) -> None:
    before = doubles.state
    with pytest.raises(ValueError, match="numbers"):
        doubles.numbers = bad
    assert doubles.state == before
    assert doubles.numbers.tolist() == [[1, 2], [3, 4]]


def test_inputs_change_together_or_not_at_all(doubles: Doubles) -> None:
    with pytest.raises(ValueError, match="100"):
        doubles.change(offset=7, numbers=[[101, 0]])
    assert doubles.offset == 0
    doubles.change(offset=7, numbers=[[1, 0]])
    assert doubles.state == {"doubled": [[9, 7]]}


def test_an_input_cannot_be_changed_in_place(doubles: Doubles) -> None:
    with pytest.raises(ValueError, match="read-only"):
        doubles.numbers[0, 0] = 9


def test_an_unknown_input_is_refused(doubles: Doubles) -> None:
    with pytest.raises(ValueError, match="no input colour"):
        doubles.change(colour=1)


def receive(figure: Figure, message: dict[str, Any]) -> None:
    """What happens when the page sends a message."""
    figure._handle_custom_msg(message, [])


def test_an_edit_in_the_page_reaches_python(doubles: Doubles) -> None:
    receive(doubles, {"edit": ["numbers", 1, 0, " −2.5 "]})
    assert doubles.numbers.tolist() == [[1, 2], [-2.5, 4]]
    assert doubles.state == {"doubled": [[2, 4], [-5, 8]]}


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("abc", "“abc” is not a number"),
        ("", "“” is not a number"),
        ("nan", "“nan” is not a finite number"),
        ("1e999", "“1e999” is not a finite number"),
        ("101", "100 is the most"),
    ],
)
def test_a_bad_edit_is_told_and_the_last_good_state_stays(
    doubles: Doubles, typed: str, said: str
) -> None:
    before = doubles.state
    receive(doubles, {"edit": ["numbers", 0, 0, typed]})
    assert doubles.problem == said
    assert doubles.state == before


def test_a_good_edit_ends_the_problem(doubles: Doubles) -> None:
    receive(doubles, {"change": {"numbers": [[1]]}})
    assert doubles.problem
    receive(doubles, {"change": {"offset": 1}})
    assert doubles.problem == ""
    assert doubles.state == {"doubled": [[3, 5], [7, 9]]}


def test_the_same_problem_met_twice_is_said_twice(doubles: Doubles) -> None:
    said: list[str] = []
    doubles.observe(lambda change: said.append(change["new"]), "problem")
    for _ in range(2):
        receive(doubles, {"edit": ["numbers", 0, 0, "abc"]})
    assert said == ["“abc” is not a number", "", "“abc” is not a number"]


def test_what_is_stored_stands_beside_what_can_be_touched(doubles: Doubles) -> None:
    data, _ = doubles._repr_mimebundle_()
    assert set(data) == {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"}
    assert data["text/html"] == "<p>[[2.0, 4.0], [6.0, 8.0]]</p>"
    assert data["text/plain"] == repr(doubles) == ": [[2.0, 4.0], [6.0, 8.0]]"


def test_tensors_with_gradients_are_read() -> None:
    given = torch.ones(1, 2, requires_grad=True)
    np.testing.assert_array_equal(array("numbers", given, (1, 2)), [[1, 1]])


@pytest.mark.parametrize("count", [0, 200])
def test_too_few_or_too_many_tokens_are_refused(count: int) -> None:
    with pytest.raises(ValueError, match=f"there are {count} tokens; 1 to {MOST}"):
        names("tokens", ["a"] * count)


def test_a_number_is_read_as_it_is_shown() -> None:
    assert number("−0.5") == -0.5


@pytest.mark.parametrize("theme", FACES)
def test_printed_weights_have_the_same_colours(theme: str) -> None:
    printed = {"light": picture.WEIGHT_COLOURS, "dark": picture._DARK_RAMPS["weights"]}[theme]
    parts = [[int(face[at : at + 2], 16) for at in (1, 3, 5)] for face in FACES[theme]]
    np.testing.assert_allclose(printed(np.linspace(0, 1, 21))[:, :3] * 255, parts, atol=3)


@pytest.mark.parametrize("theme", FACES)
def test_every_number_can_be_read_on_its_colour(theme: str) -> None:
    assert min(contrast(face, ink(face)) for face in FACES[theme]) >= 4.5
    # 0 is grey: there when one asks, never in the way.
    assert contrast(getattr(GREY, theme), FACES[theme][0]) >= 4.5


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", FACES)
def test_more_is_further_from_the_page(theme: str) -> None:
    lightness = [luminance(face) for face in FACES[theme]]
    assert lightness == sorted(lightness, reverse=theme == "light")
    assert contrast(FACES[theme][0], {"light": "#ffffff", "dark": "#111111"}[theme]) < 1.25


def test_a_page_and_what_has_no_style_sheet_have_the_same_colours() -> None:
    sheet = style(".figure")
    for step, (face, on_it) in enumerate(PALETTE):
        assert shade(step / 20) == (face, on_it)
        light, dark = re.findall(rf"--w{step}:(#\w+)", sheet)
        assert (light, dark) == (FACES["light"][step], FACES["dark"][step])
        assert (face, on_it) == (
            f"var(--w{step},{light})",
            f"var(--i{step},{ink(light)[:4]})",
        )


def test_a_still_figure_has_no_id_and_a_group_of_radio_buttons_of_its_own() -> None:
    mark = fallback.mark("two")
    content = (
        fallback.stepper(mark, 2) + fallback.radio(mark, 0, "a") + fallback.radio(mark, 1, "b")
    )
    still = fallback.framed(content, "two", mark)
    assert " id=" not in still
    assert f"#{mark}" not in still
    assert still.startswith(f'<figure class="{mark}" ')
    form = still[still.index("<form ") : still.index("</form>")]
    assert form.startswith('<form method="dialog"')  # Enter must not load the page anew
    assert form.count('type="radio"') == 2
    assert f".{mark}:not(:has(.step :checked,.step:hover)) .said>:first-child" in still
