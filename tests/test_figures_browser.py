"""Every figure to touch, in a real JupyterLab: drawn, worked by keyboard, and true without it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from playwright.sync_api import Browser, Locator, Page, expect

from attnlab.figures import live
from attnlab.figures.live.fallback import MOVES
from attnlab.figures.live.stored import make_still
from tests.figure_lab import AGAIN, FIGURES, SHOW, THEMES, FigureLab, notebook, showing
from tests.figure_sources import SOURCES, WALKS
from tests.lab import chromium_path
from tests.until import until

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(not chromium_path(), reason="there is no Chromium here: install it"),
]

NARROW = "node => { node.parentElement.style.width = '320px'; }"
CELL_SECONDS = 120
STICKS_OUT = "node => node.scrollWidth > node.clientWidth"


def test_every_figure_is_tried_here() -> None:
    assert set(SOURCES) == set(live.__all__) == set(WALKS)


Shown = Callable[[str], FigureLab]


@pytest.fixture(scope="module")
def shown(figures: FigureLab) -> Shown:
    """Shows a figure."""

    def show(name: str) -> FigureLab:
        figures.show(SOURCES[name])
        return figures

    return show


@pytest.fixture(params=FIGURES.values(), scope="module")
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def lab(name: str, shown: Shown) -> FigureLab:
    """Each figure in turn."""
    return shown(name)


# Each figure ------------------------------------------------------------------------------------


@pytest.fixture(params=[FIGURES["MaskPainter"]])
def painter(request: pytest.FixtureRequest, shown: Shown) -> FigureLab:
    lab = shown(request.param)
    lab.ask("figure.preset = 'causal'")
    lab.figure.locator("details").first.evaluate("node => { node.open = true; }")
    return lab


def blocked(lab: FigureLab, cells: list[list[int]]) -> None:
    """Wait until these cells of each row are blocked in Python."""
    asked = "[[m for m in range(4) if cells[m]] for cells in figure.blocked.tolist()]"
    lab.answers(asked, str(cells))


def painted(lab: FigureLab, name: str) -> None:
    """Wait until a cell has this name."""
    expect(lab.figure.get_by_role("gridcell", name=name, exact=True)).to_have_count(1)


def test_a_mask_is_painted_by_keyboard_and_python_reads_it(painter: FigureLab) -> None:
    painter.figure.locator("[role=gridcell]").first.focus()
    for key in ("Control+Home", "ArrowRight", "Space", "Shift+ArrowRight", "ArrowDown", "Space"):
        painter.page.keyboard.press(key)
    painted(painter, "cat to sat: open, 0.67")
    painter.has_focus("cat to sat: open, 0.67")
    expect(painter.figure.locator(".told")).to_contain_text("“cat” listens most to “sat” (0.67)")
    expect(painter.figure.locator("th.read")).to_have_text(["sat"])
    blocked(painter, [[3], [3], [3], []])
    letters = painter.ask("print(*sum(figure.state['conventions'][0]['letters'], []))").split()
    grid = painter.figure.get_by_role("grid", name="attend, True = attend")
    expect(grid.get_by_label(re.compile(": true$"))).to_have_count(letters.count("T"))


def test_a_cell_is_marked_in_all_three_grids(painter: FigureLab) -> None:
    def linked(*names: str) -> None:
        marked = painter.figure.locator(".linked")
        for at, name in enumerate(names):
            expect(marked.nth(at)).to_have_attribute("aria-label", name)
        expect(marked).to_have_count(len(names))

    chosen = ("the to the: open, 1.00", "attend, the to the: true", "blocked, the to the: false")
    under = ("sat to cat: open, 0.67", "attend, sat to cat: true", "blocked, sat to cat: false")
    painter.figure.locator("[role=gridcell]").first.focus()
    linked(*chosen)
    painter.figure.get_by_role("gridcell", name=under[2], exact=True).hover()
    linked(*under)
    painter.figure.locator(".title").hover()
    linked(*chosen)
    painter.page.evaluate("document.activeElement.blur()")
    linked()


def test_a_cell_is_blocked_in_either_convention(painter: FigureLab) -> None:
    painter.figure.get_by_role("gridcell", name="attend, cat to the: true").click()
    painted(painter, "attend, cat to the: false")
    painted(painter, "blocked, cat to the: true")
    painted(painter, "cat to the: blocked, 0")


def test_a_mask_is_painted_by_dragging(painter: FigureLab) -> None:
    cells = painter.figure.locator("[role=gridcell]")
    cells.first.scroll_into_view_if_needed()
    places = [cells.nth(n).bounding_box() for n in (12, 14)]  # on to the, on to sat
    (x, y), (to_x, to_y) = (
        (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in places if box
    )
    mouse = painter.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(to_x, to_y)  # at one go: the cell between is painted too
    mouse.up()
    painted(painter, "on to on: open, 1.00")
    blocked(painter, [[1, 2, 3], [2, 3], [3], [0, 1, 2]])


def test_a_click_blocks_a_cell_once(painter: FigureLab) -> None:
    painter.figure.get_by_role("gridcell", name="the to the: open, 1.00", exact=True).click()
    painted(painter, "the to the: blocked, 0")
    expect(painter.figure.locator(".told")).to_contain_text("“the” listens to nothing")
    painter.answers("figure.weights[0].tolist()", "[0.0, 0.0, 0.0, 0.0]")


def test_presets_and_their_sliders_work_by_keyboard(painter: FigureLab) -> None:
    figure, page = painter.figure, painter.page
    window = figure.get_by_label("window", exact=False).and_(page.locator("input"))
    expect(window).to_be_hidden()
    figure.get_by_role("button", name="window").focus()
    page.keyboard.press("Enter")
    expect(window).to_be_visible()
    window.focus()
    page.keyboard.press("Home")
    painted(painter, "on to on: open, 1.00")
    painter.answers("figure.mask.sum().item()", "4")
    expect(figure.get_by_role("button", pressed=True)).to_have_text("window")


def test_both_conventions_are_named(painter: FigureLab) -> None:
    notes = painter.figure.locator(".convention p")
    expect(notes.first).to_contain_text("attend: True = attend")
    expect(notes.last).to_contain_text("blocked: True = blocked")


def test_a_mask_of_the_wrong_shape_is_said_and_the_picture_stays(painter: FigureLab) -> None:
    before = painter.figure.inner_text()
    raised = painter.ask(
        "try:\n    figure.mask = [[True]]\nexcept ValueError as error:\n    print(error)"
    )
    assert raised == "mask has shape (1, 1), and 4 × 4 is needed"
    assert painter.figure.inner_text() == before


@pytest.fixture(params=[FIGURES["Saturation"]])
def saturation(request: pytest.FixtureRequest, shown: Shown) -> FigureLab:
    return shown(request.param)


def test_the_width_is_set_by_keyboard_and_python_measures(saturation: FigureLab) -> None:
    saturation.ask("figure.change(d_k=16, reader=11)")
    width = saturation.figure.get_by_label("width")
    expect(width).to_have_attribute("aria-valuetext", "16")
    width.focus()
    saturation.page.keyboard.press("End")
    told = saturation.figure.locator(".told")
    expect(told).to_contain_text("d_k = 1024, reader 11.")
    saturation.answers("figure.d_k", "1024")
    expect(told).to_have_text(saturation.ask("print(figure.state['told'])"))
    pictures = saturation.figure.get_by_role("img")
    expect(pictures).to_have_count(4)
    expect(pictures.nth(1)).to_have_accessible_name(re.compile("no scale: .* largest 1.00"))
    table = saturation.ask("[shown for line in figure.state['table'] for shown in line[1:]]")
    measures = saturation.figure.locator(".lines td")
    until(lambda: measures.all_text_contents()[1:], ast.literal_eval(table))


def test_the_reader_is_chosen_by_keyboard(saturation: FigureLab) -> None:
    saturation.ask("figure.change(d_k=64, reader=11)")
    reader = saturation.figure.get_by_label("reader")
    expect(reader).to_have_attribute("aria-valuetext", "11 of 50")
    reader.focus()
    saturation.page.keyboard.press("ArrowLeft")
    expect(saturation.figure.locator(".told")).to_contain_text("reader 10.")
    saturation.answers("figure.reader", "10")


@pytest.fixture(params=[FIGURES["Slopes"]])
def slopes(request: pytest.FixtureRequest, shown: Shown) -> FigureLab:
    lab = shown(request.param)
    lab.ask("figure.entry = [0, 2, 0]")
    return lab


def test_an_output_is_chosen_by_keyboard_and_its_slopes_are_shown(slopes: FigureLab) -> None:
    chosen = slopes.figure.locator("[role=gridcell][aria-selected=true]")
    expect(chosen).to_have_count(1)
    chosen.click()
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown"):
        slopes.page.keyboard.press(key)
    expect(chosen).to_be_focused()
    told = slopes.figure.locator(".told")
    expect(told).to_contain_text("Entry 1 of “one” has slopes to 1 row of q")
    slopes.answers("figure.entry", "[1, 0, 1]")
    expect(told).to_have_text(slopes.ask("print(figure.state['told']['1 0 1'])"))
    shown = slopes.figure.locator("table:not([role=grid]) td:not([style=''])")
    coloured = slopes.ask(
        "[text for lines in figure.state['slopes']['1 0 1'].values() for line in lines "
        "for text, shade in line if shade >= 0]"
    )
    until(
        lambda: [
            cell.inner_text()
            for cell in shown.all()
            if "background" in (cell.get_attribute("style") or "")
        ],
        ast.literal_eval(coloured),
    )


def test_a_choice_is_not_undone_by_pythons_answer_to_the_last_one(slopes: FigureLab) -> None:
    slopes.figure.locator("[role=gridcell][aria-selected=true]").click()
    names = [slopes.focused()]
    for key in ("ArrowRight", "ArrowRight"):
        slopes.page.keyboard.press(key)
        names.append(slopes.focused())
    slopes.page.keyboard.press("Home")
    first, second, third = names
    press_among_echoes(slopes, ("ArrowRight", second), ("ArrowRight", third), ("Home", first))


@pytest.fixture(params=[FIGURES["Roofline"]])
def roofline(request: pytest.FixtureRequest, shown: Shown) -> FigureLab:
    return shown(request.param)


def test_the_batch_moves_what_its_readers_share(roofline: FigureLab) -> None:
    roofline.ask("figure.batch = 1")
    batch = roofline.figure.get_by_label("batch")
    expect(batch).to_have_attribute("aria-valuetext", "1")
    batch.focus()
    for _ in range(6):
        roofline.page.keyboard.press("ArrowRight")
    expect(roofline.figure.locator(".told")).to_contain_text("Batch 64.")
    expect(batch).to_have_attribute("aria-valuetext", "64")
    roofline.answers("figure.batch", "64")
    places = roofline.figure.locator("tbody td:nth-child(2)")
    expect(places).to_have_text(["1", "62.1", "512"])
    expect(roofline.figure.get_by_role("img").first).to_have_accessible_name(
        re.compile("decode, projections at 62.1")
    )


@pytest.fixture(params=[FIGURES["RotaryArrows"]])
def arrows(request: pytest.FixtureRequest, shown: Shown) -> FigureLab:
    return shown(request.param)


def test_both_are_moved_by_keyboard_and_the_score_stays(arrows: FigureLab) -> None:
    arrows.ask("figure.change(query_at=3, key_at=1, moved=0)")
    score = arrows.figure.locator(".lines tr").last.locator("td").last
    expect(score).to_have_text("2.54")
    moved = arrows.figure.get_by_label("both moved by")
    moved.focus()
    arrows.page.keyboard.press("End")
    arrows.answers("figure.moved", "12")
    expect(arrows.figure.locator(".told")).to_contain_text("The query stands at 15, the key at 13")
    expect(score).to_have_text("2.54")


def test_the_query_is_moved_by_keyboard_and_its_arrow_turns(arrows: FigureLab) -> None:
    arrows.ask("figure.change(query_at=3, key_at=1, moved=0)")
    first = arrows.figure.get_by_role("img").first
    expect(first).to_have_accessible_name(re.compile("query arrow turned by 90 degrees"))
    query = arrows.figure.get_by_label("query at")
    query.focus()
    arrows.page.keyboard.press("ArrowRight")
    expect(first).to_have_accessible_name(re.compile("query arrow turned by 120 degrees"))
    expect(query).to_have_attribute("aria-valuetext", "4")
    expect(arrows.figure.locator(".told")).to_have_text(arrows.ask("print(figure.state['told'])"))


def test_both_are_moved_to_the_end_by_play_and_the_arrows_turn(arrows: FigureLab) -> None:
    arrows.ask("figure.change(query_at=3, key_at=1, moved=10)")
    query = arrows.figure.locator("svg [data-key=q]").first
    expect(query).to_have_attribute("transform", "rotate(-390.00)")
    query.evaluate("node => { node.wasHere = true; }")
    arrows.figure.get_by_role("button", name="Play").press("Enter")
    arrows.answers("figure.moved", "12")
    expect(query).to_have_attribute("transform", "rotate(-450.00)")
    assert query.evaluate("node => node.wasHere"), "another arrow cannot turn"
    assert query.evaluate("node => getComputedStyle(node).transitionDuration") == "0.3s"
    play = arrows.figure.get_by_role("button", name="Play", exact=True)
    expect(play).to_be_visible()  # it has ended
    play.press("Enter")
    arrows.figure.get_by_role("button", name="Pause").press("Enter")
    arrows.answers("figure.moved", "0")
    expect(play).to_be_focused()


def test_nothing_moves_where_motion_is_reduced(arrows: FigureLab) -> None:
    arrows.page.emulate_media(reduced_motion="reduce")
    query = arrows.figure.locator("svg [data-key=q]").first
    assert query.evaluate("node => getComputedStyle(node).transitionDuration") == "0s"
    arrows.page.emulate_media(reduced_motion="no-preference")


@pytest.fixture(params=[FIGURES["Tiles"]])
def in_tiles(request: pytest.FixtureRequest, shown: Shown) -> FigureLab:
    lab = shown(request.param)
    lab.ask("figure.change(block=4, causal=False, step=1)")
    expect(lab.figure.get_by_label("tile", exact=False).first).to_have_attribute(
        "aria-valuetext", "1 of 4"
    )
    return lab


def test_buttons_and_arrow_keys_go_from_tile_to_tile(in_tiles: FigureLab) -> None:
    figure, keys = in_tiles.figure, in_tiles.page.keyboard
    following = figure.get_by_role("button", name="Next")
    following.focus()
    for key in ("Enter", "ArrowRight", "ArrowRight", "ArrowRight"):  # one more than there are
        keys.press(key)
    in_tiles.answers("figure.step", "4")
    expect(following).to_be_focused()
    expect(following).to_have_attribute("aria-disabled", "true")
    expect(figure.locator(".told")).to_contain_text("Tile 4 of 4: queries 4 to 7 with keys 4 to 7")
    expect(figure.locator(".compared")).to_contain_text("8 of 8 queries are done")
    keys.press("ArrowLeft")
    in_tiles.answers("figure.step", "3")
    memories = figure.get_by_role("img", name="slow memory, large: 8 rows of q")
    expect(memories).to_have_accessible_name(re.compile("keys 0 to 3, .* 2 tiles before"))
    figure.get_by_role("slider").focus()
    keys.press("Home")
    in_tiles.answers("figure.step", "1")
    expect(figure.get_by_role("button", name="Back")).to_have_attribute("aria-disabled", "true")


def test_other_blocks_and_the_mask_begin_at_the_first_tile(in_tiles: FigureLab) -> None:
    figure, keys = in_tiles.figure, in_tiles.page.keyboard
    in_tiles.ask("figure.step = 3")
    figure.get_by_label("block").focus()
    keys.press("ArrowUp")
    in_tiles.answers("figure.block, figure.step", "(3, 1)")
    expect(figure.get_by_role("slider")).to_have_attribute("aria-valuetext", "1 of 9")
    figure.get_by_label("causal").focus()
    keys.press("Space")
    in_tiles.answers("figure.causal, figure.state['steps']", "(True, 6)")
    expect(figure.locator(".compared")).to_contain_text("3 of 9 tiles are skipped")
    kept = in_tiles.ask("[shown for line in figure.state['queries'] for shown in line[1:]]")
    table = figure.get_by_role("table", name="kept of the queries in fast memory, and output")
    expect(table).to_be_hidden()
    request = figure.get_by_text("m, s and o in numbers")
    request.click()
    until(lambda: table.locator("td").all_inner_texts(), ast.literal_eval(kept))
    request.click()


def test_rows_come_into_fast_memory_from_where_they_lay_and_others_stay(
    in_tiles: FigureLab,
) -> None:
    arriving = in_tiles.figure.locator("[data-from].arrives")
    in_tiles.ask("figure.step = 2")  # the same queries, other keys
    until(
        lambda: sorted(node.get_attribute("data-key") or "" for node in arriving.all()),
        sorted(
            f"{name}-{n}"
            for name, ns in (("out", range(4)), ("k", range(4, 8)), ("v", range(4, 8)))
            for n in ns
        ),
    )


def test_the_tiles_play_to_the_last_and_stop_when_the_reader_does_something(
    in_tiles: FigureLab,
) -> None:
    figure = in_tiles.figure
    figure.get_by_role("button", name="Play").click()
    in_tiles.answers("figure.step", "3")
    figure.get_by_role("button", name="Back").click()
    expect(figure.get_by_role("button", name="Play")).to_be_visible()
    figure.get_by_role("slider").press("End")
    in_tiles.page.emulate_media(reduced_motion="reduce")
    figure.get_by_role("button", name="Play one step").press("Enter")  # from the last to the first
    in_tiles.answers("figure.step", "1")
    in_tiles.page.emulate_media(reduced_motion="no-preference")


@pytest.fixture(params=[FIGURES["TrainingScrubber"]])
def scrubber(request: pytest.FixtureRequest, shown: Shown) -> FigureLab:
    lab = shown(request.param)
    lab.ask("figure.step = 0")
    return lab


def test_arrow_keys_go_through_the_recorded_steps_alone(scrubber: FigureLab) -> None:
    step = scrubber.figure.get_by_role("slider", name="step")
    expect(step).to_have_attribute("aria-valuetext", "0")
    step.focus()
    for at in ("2", "5", "5"):
        scrubber.page.keyboard.press("ArrowRight")
        expect(step).to_have_attribute("aria-valuetext", at)
    scrubber.answers("figure.step", "5")
    expect(scrubber.figure.locator(".told")).to_have_text(
        "Step 5: loss 0.010. “it … tired” puts 1.00 on “cat”; “it … wide” puts 1.00 on “road”."
    )
    words = scrubber.figure.get_by_role("list", name="weights of it … tired").locator("li")
    expect(words).to_have_text(["the", "cat 1.00", "road"])
    expect(scrubber.figure.locator(".most .word")).to_have_text(["cat", "road"])
    expect(words.first.locator(".fill")).to_have_css("transform", "matrix(0, 0, 0, 1, 0, 0)")
    expect(words.nth(1).locator(".fill")).to_have_css("transform", "matrix(1, 0, 0, 1, 0, 0)")
    expect(scrubber.figure.get_by_role("img")).to_have_accessible_name(re.compile("0.01 at step 5"))


def test_the_recorded_steps_play_to_the_last_and_then_from_the_first(scrubber: FigureLab) -> None:
    play = scrubber.figure.get_by_role("button", name="Play", exact=True)
    play.press("Enter")
    scrubber.answers("figure.step", "5")
    expect(play).to_be_focused()
    play.press(" ")
    scrubber.figure.get_by_role("slider", name="step").press("End")
    expect(play).to_be_visible()
    scrubber.answers("figure.step", "5")


def test_python_goes_to_a_step_in_the_page(scrubber: FigureLab) -> None:
    scrubber.ask("figure.step = 2")
    step = scrubber.figure.get_by_role("slider", name="step")
    expect(step).to_have_attribute("aria-valuetext", "2")
    expect(scrubber.figure.locator(".told")).to_contain_text("0.50 on “cat” and 0.40 on “road”")


@pytest.fixture(params=[FIGURES["Cost"]])
def cost(request: pytest.FixtureRequest, shown: Shown) -> FigureLab:
    return shown(request.param)


def test_a_slider_sets_the_length_by_keyboard_and_python_counts(cost: FigureLab) -> None:
    cost.ask("figure.change(n=4096, heads=8)")
    cost.figure.get_by_label("tokens N").focus()
    cost.page.keyboard.press("ArrowRight")
    told = cost.figure.locator(".told")
    expect(cost.figure.locator(".finding")).to_contain_text("2\u00a0GiB\u00a0→\u00a08\u00a0GiB")
    cost.answers("figure.n", "8192")
    expect(told).to_have_text(cost.ask("print(figure.state['told'])"))


def test_the_type_of_number_is_chosen_by_keyboard(cost: FigureLab) -> None:
    cost.ask("figure.change(n=4096, heads=8, dtype='float32')")
    cost.figure.get_by_label("type of number").focus()
    cost.page.keyboard.press("ArrowUp")
    cost.answers("figure.dtype", "'float64'")
    expect(cost.figure.locator(".finding")).to_contain_text("1\u00a0GiB\u00a0→\u00a04\u00a0GiB")


def test_what_is_measured_on_request_stands_in_the_charts_and_in_a_table(cost: FigureLab) -> None:
    cost.ask("figure.change(d=64, heads=2, dtype='float32')")
    points = cost.figure.locator(".chart .point")
    expect(cost.figure.locator(".told-measured")).to_contain_text("Nothing is measured")
    expect(points).to_have_count(0)
    cost.figure.get_by_role("button").focus()
    cost.page.keyboard.press("Enter")
    expect(cost.figure.locator(".told-measured")).to_contain_text("Measured on one core")
    lengths = int(cost.ask("len(figure.measured.points)"))
    cost.figure.get_by_text("all counts in numbers").click()
    table = cost.figure.get_by_role("table", name="measured")
    expect(table.locator("tbody tr")).to_have_count(lengths)
    expect(points).to_have_count(2 * lengths)
    cost.ask("figure.heads = 4")
    expect(table).to_be_hidden()
    cost.figure.get_by_text("all counts in numbers").click()


def test_what_cannot_be_measured_is_said_and_nothing_goes_on_measuring(cost: FigureLab) -> None:
    cost.ask("figure.change(d=64, heads=2, dtype='float32')")
    cost.ask(
        "from attnlab.figures.live import cost as made\nmeasure = made.measure\n"
        "def fails(*_):\n    raise RuntimeError('too slow')\nmade.measure = fails"
    )
    cost.figure.get_by_role("button").click()
    problem = cost.figure.get_by_role("alert")
    expect(problem).to_have_text("nothing was measured: too slow")
    expect(cost.figure.locator(".told-measured")).to_contain_text("Nothing is measured")
    cost.ask("made.measure = measure\nfigure.n = 4096")
    expect(problem).to_have_text("")


def test_a_bad_number_is_said_in_the_page_and_the_counts_stay(cost: FigureLab) -> None:
    cost.ask("figure.n = 4096")
    before = cost.ask("print(figure.state['told'])")
    cost.ask("figure._receive(figure, {'change': {'n': 'many'}}, [])")
    problem = cost.figure.get_by_role("alert")
    expect(problem).to_have_text("“many” is not a number")
    expect(cost.figure.locator(".told")).to_have_text(before)
    cost.ask("figure.n = 4096")
    expect(problem).to_have_text("")


def test_a_slider_that_was_refused_shows_the_last_good_value_again(cost: FigureLab) -> None:
    cost.ask("figure.change(d=768, heads=12)")
    width = cost.figure.get_by_label("width d")
    expect(width).to_have_attribute("aria-valuetext", "768")
    told = cost.ask("print(figure.state['told'])")
    stop = width.input_value()
    width.focus()
    for key in ("ArrowRight", "End"):
        cost.page.keyboard.press(key)
        expect(cost.figure.get_by_role("alert")).to_contain_text("12 heads cannot share d = ")
        expect(width).to_have_attribute("aria-valuetext", "768")
        expect(width).to_have_value(stop)
    expect(cost.figure.locator(".told")).to_have_text(told)
    cost.answers("figure.d", "768")
    cost.ask("figure.change(d=512, heads=8)")
    expect(width).to_have_attribute("aria-valuetext", "512")


def test_keys_faster_than_python_move_a_slider_by_as_many_stops(cost: FigureLab) -> None:
    cost.ask("figure.change(n=64, d=512, heads=8)")
    length = cost.figure.get_by_label("tokens N")
    expect(length).to_have_attribute("aria-valuetext", "64")
    length.focus()
    for stop in range(1, 9):
        cost.page.keyboard.press("ArrowRight")
        expect(length).to_have_value(str(stop))
    expect(cost.figure.locator(".finding")).to_contain_text("8\u00a0GiB\u00a0→\u00a032\u00a0GiB")
    cost.answers("figure.n", "16384")
    cost.ask("figure.n = 128")  # what was kept until Python answered is kept no longer
    expect(length).to_have_attribute("aria-valuetext", "128")


@pytest.fixture(params=[FIGURES["Heads"]])
def heads(request: pytest.FixtureRequest, shown: Shown) -> FigureLab:
    return shown(request.param)


def framed(lab: FigureLab) -> list[int]:
    """The row that each map of the heads frames."""
    rows: list[int] = lab.figure.locator("svg").evaluate_all(
        """drawings => drawings.map(drawing => [...drawing.querySelector('.here').children]
            .findIndex(frame => !frame.hasAttribute('display')))"""
    )
    return rows


def test_arrow_keys_move_one_query_in_all_heads(heads: FigureLab) -> None:
    heads.ask("figure.row = 0")
    heads.figure.get_by_role("option", name="the").focus()
    for _ in range(2):
        heads.page.keyboard.press("ArrowDown")
    expect(heads.figure.locator(".told")).to_contain_text(
        "“sat”: head 1 listens most to “cat” (0.60); head 2 listens most to “sat” (0.60)."
    )
    until(lambda: framed(heads), [2, 2])
    expect(heads.figure.get_by_role("option", name="sat")).to_be_focused()
    cell = heads.figure.get_by_label("head 2: sat to cat: 0.30")
    expect(cell).to_be_hidden()
    heads.figure.get_by_text("in numbers").click()
    expect(cell).to_be_visible()
    assert heads.findings() == []
    expect(heads.figure.locator(".most")).to_have_text(["→ cat 0.60", "→ sat 0.60"])
    heads.answers("figure.row", "2")


def test_the_pointer_shows_a_row_of_a_map_and_a_click_chooses_it(heads: FigureLab) -> None:
    heads.ask("figure.row = 0")
    drawing = heads.figure.locator("svg").nth(1)
    box = drawing.bounding_box()
    assert box
    drawing.hover(position={"x": box["width"] / 2, "y": box["height"] / 2})
    until(lambda: framed(heads), [1, 1])
    expect(heads.figure.locator(".told")).to_contain_text("“cat”: head 1 listens")
    expect(heads.figure.locator("[aria-live]")).to_contain_text("“the”: all 2 heads")
    heads.figure.locator(".title").hover()
    until(lambda: framed(heads), [0, 0])
    expect(heads.figure.locator(".told")).to_contain_text("“the”: all 2 heads")
    drawing.click(position={"x": box["width"] / 2, "y": box["height"] / 2})
    expect(heads.figure.get_by_role("option", name="cat")).to_be_focused()
    heads.answers("figure.row", "1")


def test_python_gives_other_heads_and_the_page_has_them(heads: FigureLab) -> None:
    heads.ask("before = figure.weights; figure.weights = before[:1]")
    expect(heads.figure.locator("svg")).to_have_count(1)
    expect(heads.figure.locator(".told")).to_contain_text("there is nothing to compare")
    heads.ask("figure.weights = before")
    expect(heads.figure.locator("svg")).to_have_count(2)


@pytest.fixture(params=[FIGURES["ByHand"]])
def by_hand(request: pytest.FixtureRequest, shown: Shown) -> FigureLab:
    """With its first numbers, none of them marked as changed, at its first cell."""
    lab = shown(request.param)
    lab.ask(
        "tokens, X = ['the', 'cat', 'sat'], [[1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1]]\n"
        "for _ in range(2):\n"
        "    figure.change(tokens=tokens, X=X, causal=False)\n"
        "figure.stage = 1\nfigure.cell = ['X', 0, 0]"
    )
    return lab


def focus_on(lab: FigureLab, label: str) -> None:
    lab.figure.get_by_role("gridcell", name=label, exact=True).click()


def test_stages_are_turned_by_keyboard_and_the_focus_follows(by_hand: FigureLab) -> None:
    keys, sums = by_hand.page.keyboard, by_hand.figure.locator(".sum")
    focus_on(by_hand, "X cat, 1: 0")
    keys.press("n")
    by_hand.has_focus("Q cat, 1: 1")
    expect(sums).to_have_text("0·0 + 1·0 + 1·1 + 0·(−1) = 1")
    keys.press("n")
    expect(by_hand.figure.locator("[aria-live]")).to_contain_text("Stage 3 of 7, scores.")
    keys.press("ArrowRight")
    keys.press("ArrowRight")
    by_hand.has_focus("S cat, sat: 6")
    expect(sums).to_have_text("1·2 + 2·2 + 0·1 = 6")
    expect(by_hand.figure.locator("[aria-live]")).to_contain_text("2 times 2, plus 0 times 1, is 6")
    by_hand.answers("figure.stage, figure.cell", "(3, ['S', 1, 2])")
    focus_on(by_hand, "S cat, sat: 6")
    keys.press("p")
    by_hand.has_focus("Q cat, 3: 0")


def test_tab_from_grid_to_grid_selects_the_cell_that_it_reaches(by_hand: FigureLab) -> None:
    by_hand.ask("figure.stage = 2")
    sums, selected = by_hand.figure.locator(".sum"), by_hand.figure.locator("[aria-selected=true]")
    for cell in ("Q the, 1: −1", "X the, 1: 1"):  # each grid keeps the cell it was left at
        focus_on(by_hand, cell)
    for cell in ("W_q", "Q the, 1: −1", "W_k"):
        by_hand.page.keyboard.press("Tab")
        by_hand.has_focus(re.compile(f"^{cell}"))
        reached = by_hand.focused()
        expect(selected).to_have_attribute("aria-label", reached)
        if cell.startswith("Q"):
            expect(sums).to_have_text("1·0 + 0·0 + 0·1 + 1·(−1) = −1")
    by_hand.page.keyboard.press("Shift+Tab")
    expect(selected).to_have_attribute("aria-label", "Q the, 1: −1")
    by_hand.answers("figure.cell", "['Q', 0, 0]")


LOOKS = """node => {
    const { outline, boxShadow, backgroundColor } = getComputedStyle(node);
    return [outline, boxShadow, backgroundColor];
}"""


@pytest.mark.parametrize("theme", THEMES)
def test_a_selected_cell_looks_different_with_the_focus(by_hand: FigureLab, theme: str) -> None:
    by_hand.wear(theme)
    selected = by_hand.figure.locator("[aria-selected=true]")
    by_hand.figure.get_by_label("causal mask").focus()
    without = selected.evaluate(LOOKS)
    by_hand.page.keyboard.press("Tab")
    expect(selected).to_be_focused()
    outline, rings, _ = selected.evaluate(LOOKS)
    assert outline != without[0]
    assert rings != without[1]
    assert "rgb(0, 0, 0)" in rings  # black and white show on every colour
    assert "rgb(255, 255, 255)" in rings
    by_hand.wear(THEMES[0])


def test_stages_are_turned_by_buttons_that_keep_the_focus(by_hand: FigureLab) -> None:
    following = by_hand.figure.get_by_role("button", name="Next")
    following.focus()
    for _ in range(8):  # two more than there are stages to come
        by_hand.page.keyboard.press("Enter")
    expect(by_hand.figure.get_by_label("7 output")).to_be_checked()
    expect(following).to_be_focused()
    expect(following).to_have_attribute("aria-disabled", "true")
    by_hand.figure.get_by_label("7 output").focus()
    by_hand.page.keyboard.press("ArrowLeft")
    expect(by_hand.figure.get_by_label("A, the weights")).to_be_visible()
    by_hand.answers("figure.stage", "6")


def test_the_cells_that_enter_a_sum_are_marked(by_hand: FigureLab) -> None:
    by_hand.ask("figure.stage = 7\nfigure.cell = ['Z', 1, 0]")
    marked = by_hand.figure.locator("td.enters")
    expect(marked).to_have_text(["1", "0", "3", "0.048", "0.086", "0.866"])
    expect(by_hand.figure.locator("[aria-selected=true]")).to_have_text("2.645")


def test_all_matrices_are_in_sight_and_a_cell_turns_to_its_stage(by_hand: FigureLab) -> None:
    expect(by_hand.figure.get_by_role("grid")).to_have_count(12)
    focus_on(by_hand, "A cat, sat: 0.866")
    expect(by_hand.figure.get_by_label("6 weights")).to_be_checked()
    by_hand.answers("figure.stage, figure.cell", "(6, ['A', 1, 2])")


def test_python_turns_to_a_stage_in_the_page(by_hand: FigureLab) -> None:
    by_hand.ask("figure.stage = 4")
    expect(by_hand.figure.get_by_label("4 scaled")).to_be_checked()
    expect(by_hand.figure.locator(".sum")).to_have_text("−1 / √3 ≈ −1 / 1.732 ≈ −0.577")


CAT_ASKS = [
    f"{book}: {score}"
    for book, score in (
        ("the", "1·1 + 2·0 + 0·1 = 1"),
        ("cat", "1·0 + 2·1 + 0·0 = 2"),
        ("sat", "1·2 + 2·2 + 0·1 = 6"),
    )
]


def test_a_querys_label_lights_its_dot_product_with_every_key(by_hand: FigureLab) -> None:
    by_hand.ask("figure.stage = 3")
    focus_on(by_hand, "S cat, the: 1")
    by_hand.page.keyboard.press("ArrowLeft")
    label = by_hand.figure.get_by_role("grid", name="S = Q Kᵀ").get_by_role("rowheader", name="cat")
    expect(label).to_be_focused()
    expect(label).to_have_attribute("aria-selected", "true")
    expect(by_hand.figure.locator(".sum span")).to_have_text(CAT_ASKS)
    lit = ["1", "2", "0", "1", "0", "1", "0", "1", "0", "2", "2", "1"]  # its query, all keys
    expect(by_hand.figure.locator("td.enters")).to_have_text(lit)
    expect(by_hand.figure.locator(".trail li")).to_have_text(
        [
            *("query (1, 2, 0)", "scores (1, 2, 6)", "scaled (0.577, 1.155, 3.464)"),
            *("weights (0.048, 0.086, 0.866)", "output (2.645, 1.038)"),
        ]
    )
    by_hand.answers("figure.cell", "['S', 1, None]")
    for _ in range(4):
        by_hand.page.keyboard.press("n")
    expect(by_hand.figure.locator("[aria-current=step]")).to_have_text("output (2.645, 1.038)")
    by_hand.answers("figure.cell", "['Z', 1, None]")


def test_a_querys_label_can_be_clicked(by_hand: FigureLab) -> None:
    by_hand.ask("figure.stage = 3")
    by_hand.figure.get_by_role("grid", name="Q = X W_q").get_by_role(
        "rowheader", name="sat"
    ).click()
    by_hand.answers("figure.cell", "['Q', 2, None]")
    focus_on(by_hand, "S cat, the: 1")
    expect(by_hand.figure.locator("tr.shown")).to_have_count(0)


def test_the_stages_play_with_one_query_until_the_reader_does_something(
    by_hand: FigureLab,
) -> None:
    by_hand.ask("figure.stage = 2; figure.cell = ['Q', 1, None]")
    queries = by_hand.figure.get_by_role("grid", name="Q = X W_q")
    expect(queries.get_by_role("rowheader", name="cat")).to_have_class(re.compile("chosen"))
    by_hand.figure.get_by_role("button", name="Play").click()
    expect(by_hand.figure.get_by_role("button", name="Pause")).to_be_focused()
    by_hand.answers("figure.stage > 3 and figure.cell[1:]", "[1, None]")  # it plays on meanwhile
    by_hand.figure.get_by_label("3 scores").click()
    expect(by_hand.figure.get_by_role("button", name="Play")).to_be_visible()
    by_hand.answers("figure.cell", "['S', 1, None]")


def test_scores_are_seen_coming_from_the_keys(by_hand: FigureLab) -> None:
    by_hand.ask("figure.stage = 2; figure.cell = ['Q', 1, None]")
    by_hand.figure.get_by_label("3 scores").check()
    scores = by_hand.figure.get_by_role("grid", name="S = Q Kᵀ").locator("td.arrives")
    expect(scores).to_contain_text(["1", "2", "6"])
    expect(scores.last).to_have_css("animation-duration", "0.3s")
    by_hand.ask("figure.stage = 4; figure.cell = ['scaled', 1, None]")
    by_hand.figure.get_by_role("button", name="Next").click()
    by_hand.answers("figure.stage", "5")
    masked = by_hand.figure.get_by_role("grid", name="masked scores")
    expect(masked.locator("td.arrives").first).to_be_visible()


def test_where_motion_is_reduced_a_press_is_one_step(by_hand: FigureLab) -> None:
    by_hand.page.emulate_media(reduced_motion="reduce")
    step = by_hand.figure.get_by_role("button", name="Play one step")
    step.focus()
    for name in ("2 Q, K, V", "3 scores"):
        by_hand.page.keyboard.press("Enter")
        expect(by_hand.figure.get_by_label(name)).to_be_checked()
        expect(step).to_be_focused()
    by_hand.answers("figure.cell", "['S', 0, None]")
    by_hand.page.emulate_media(reduced_motion="no-preference")
    expect(by_hand.figure.get_by_role("button", name="Play", exact=True)).to_be_visible()


def test_the_switch_masks_what_comes_later(by_hand: FigureLab) -> None:
    by_hand.ask("figure.stage = 6")
    by_hand.figure.get_by_label("causal mask").focus()
    by_hand.page.keyboard.press("Space")
    blocked = by_hand.figure.get_by_role("grid", name="A, the weights").locator(".blocked")
    expect(blocked).to_have_text(["0"] * 3)
    expect(blocked.first).to_have_css("background-image", re.compile("repeating-linear-gradient"))
    expect(blocked.first).to_have_attribute("aria-label", "A the, cat: blocked, 0 changed")
    by_hand.answers("figure.causal", "True")


ECHOES = range(76, 124, 8)  # ms; a selection is sent after 100, and comes back soon after


def press_among_echoes(lab: FigureLab, *steps: tuple[str, str]) -> None:
    """Press keys again and again, and Python's answers come at any moment in between.

    Args:
        steps: a key, and the name of what it alone gives the focus to.
    """
    lab.leave_a_trail()
    for pause in ECHOES:
        for key, _ in steps:
            lab.page.keyboard.press(key)
            lab.page.wait_for_timeout(pause)
    until(lab.trail, [name for _, name in steps] * len(ECHOES))


def test_a_selection_is_not_undone_by_pythons_answer_to_the_last_one(by_hand: FigureLab) -> None:
    by_hand.ask("figure.stage = 3")
    focus_on(by_hand, "S cat, the: 1")
    press_among_echoes(
        by_hand,
        ("ArrowRight", "S cat, cat: 2"),
        ("ArrowRight", "S cat, sat: 6"),
        ("Home", "S cat, the: 1"),
    )


def test_a_longer_sentence_from_python_is_drawn(by_hand: FigureLab) -> None:
    by_hand.ask("figure.change(tokens=[*tokens, 'down'], X=[*X, [1, 1, 1, 1]])")
    expect(by_hand.figure.get_by_label("X down, 4: 1")).to_be_visible()
    assert by_hand.complaints == []
    by_hand.ask("figure.change(tokens=tokens, X=X)")
    expect(by_hand.figure.get_by_label("X down, 4: 1")).to_have_count(0)


# The grid that can be typed into, on the figure by hand


@pytest.mark.parametrize("opens", ["Enter", "F2"])
def test_a_typed_number_reaches_python_and_the_whole_chain(by_hand: FigureLab, opens: str) -> None:
    keys = by_hand.page.keyboard
    focus_on(by_hand, "X sat, 3: 0")
    keys.press(opens)
    keys.type("−2.5")
    keys.press("Enter")
    expect(by_hand.figure.locator(".sum")).to_have_text("−2.5")
    by_hand.has_focus("X sat, 3: −2.5 changed")
    by_hand.answers("figure.X[2].tolist()", "[0.0, 1.0, -2.5, 1.0]")
    by_hand.ask("figure.stage = 7")
    shown = by_hand.figure.get_by_role("grid", name="Z = A V").locator("[role=gridcell]")
    answer = by_hand.ask(
        "from attnlab.checks.reference import attend\n"
        "Q, K, V = (figure.X @ W for W in (figure.W_q, figure.W_k, figure.W_v))\n"
        "print(*(f'{entry:.3f}' for entry in attend(Q, K, V).ravel()))"
    )
    expect(shown).to_have_text(answer.replace("-", "−").split())


def test_a_double_click_opens_a_cell_and_going_elsewhere_sends(by_hand: FigureLab) -> None:
    by_hand.figure.get_by_role("gridcell", name="X the, 2: 0", exact=True).dblclick()
    expect(by_hand.figure.get_by_role("textbox")).to_be_focused()
    by_hand.page.keyboard.type("4")
    focus_on(by_hand, "X cat, 1: 0")
    expect(by_hand.figure.get_by_label("X the, 2: 4 changed")).to_have_text("4")
    by_hand.has_focus("X cat, 1: 0")
    by_hand.answers("figure.X[0, 1].item()", "4.0")


def test_escape_leaves_a_cell_as_it_was(by_hand: FigureLab) -> None:
    keys = by_hand.page.keyboard
    focus_on(by_hand, "X the, 1: 1")
    keys.press("Enter")
    keys.type("8")
    keys.press("Escape")
    by_hand.has_focus("X the, 1: 1")
    expect(by_hand.figure.get_by_role("textbox")).to_have_count(0)
    by_hand.answers("figure.X[0, 0].item()", "1.0")


def test_letters_typed_into_a_cell_turn_no_stage(by_hand: FigureLab) -> None:
    focus_on(by_hand, "X the, 1: 1")
    by_hand.page.keyboard.press("Enter")
    by_hand.page.keyboard.type("np")
    expect(by_hand.figure.get_by_role("textbox")).to_have_value("np")
    expect(by_hand.figure.get_by_label("1 X")).to_be_checked()
    by_hand.page.keyboard.press("Escape")


def test_text_that_is_no_number_is_told_and_the_last_number_stays(by_hand: FigureLab) -> None:
    keys, problem = by_hand.page.keyboard, by_hand.figure.get_by_role("alert")
    focus_on(by_hand, "X the, 1: 1")
    keys.press("Enter")
    keys.type("one")
    keys.press("Enter")
    expect(problem).to_have_text("“one” is not a number")
    by_hand.has_focus("X the, 1: 1")
    by_hand.answers("figure.X[0, 0].item()", "1.0")
    focus_on(by_hand, "X the, 1: 1")
    keys.press("Enter")
    keys.type("3")
    keys.press("Enter")
    expect(problem).to_have_text("")
    expect(by_hand.figure.get_by_label("X the, 1: 3 changed")).to_be_focused()


def test_a_computed_cell_cannot_be_typed_into(by_hand: FigureLab) -> None:
    by_hand.ask("figure.stage = 3")
    focus_on(by_hand, "S the, the: −1")
    by_hand.page.keyboard.press("Enter")
    by_hand.page.keyboard.press("F2")
    expect(by_hand.figure.get_by_role("textbox")).to_have_count(0)
    expect(by_hand.figure.get_by_role("grid", name="S = Q Kᵀ")).to_have_attribute(
        "aria-readonly", "true"
    )


@pytest.fixture(params=[FIGURES["SoftLookup"]])
def soft_lookup(request: pytest.FixtureRequest, shown: Shown) -> FigureLab:
    return shown(request.param)


def cell(lab: FigureLab, row: str, column: str) -> Locator:
    """What the table of answers has in a column, 'hard' or 'soft', of a row."""
    head = lab.page.get_by_role("rowheader", name=row, exact=True, include_hidden=True)
    line = lab.figure.locator("tr", has=head)  # some are folded away
    return line.locator("td").nth(["hard", "soft"].index(column))


def test_arrow_keys_move_the_query_and_python_answers(soft_lookup: FigureLab) -> None:
    soft_lookup.ask("figure.query = [1, 2]")
    handle = soft_lookup.figure.get_by_role("slider", name="query")
    handle.focus()
    for key in ("ArrowRight", "Shift+ArrowDown"):
        before = handle.get_attribute("aria-valuetext")
        soft_lookup.page.keyboard.press(key)
        expect(handle).not_to_have_attribute("aria-valuetext", before or "")
    expect(handle).to_have_attribute("aria-valuetext", "fresh water 1.1, salt water 1.5")
    soft_lookup.answers("figure.query.tolist()", "[1.1, 1.5]")
    answer = soft_lookup.ask("print(f\"{figure.state['soft']['answer'][0]:.2f}\")")
    expect(cell(soft_lookup, "salt", "soft")).to_have_text(answer)


def test_keys_faster_than_python_move_the_query_by_as_many_steps(soft_lookup: FigureLab) -> None:
    soft_lookup.ask("figure.query = [0, 0]")
    handle = soft_lookup.figure.get_by_role("slider", name="query")
    expect(handle).to_have_attribute("aria-valuetext", "fresh water 0.0, salt water 0.0")
    handle.focus()
    for _ in range(8):
        soft_lookup.page.keyboard.press("ArrowRight")
    expect(handle).to_have_attribute("aria-valuetext", "fresh water 0.8, salt water 0.0")
    soft_lookup.answers("figure.query.tolist()", "[0.8, 0.0]")
    soft_lookup.ask("figure.query = [1, 1]")  # from which the next key starts
    handle.focus()
    soft_lookup.page.keyboard.press("ArrowUp")
    expect(handle).to_have_attribute("aria-valuetext", "fresh water 1.0, salt water 1.1")


def test_the_query_is_dragged(soft_lookup: FigureLab) -> None:
    plane = soft_lookup.figure.locator(".plane")
    plane.scroll_into_view_if_needed()
    box = plane.bounding_box()
    assert box
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    mouse = soft_lookup.page.mouse
    mouse.move(*middle)
    mouse.down()
    mouse.move(middle[0] - box["width"] / 4, middle[1], steps=5)
    mouse.up()
    handle = soft_lookup.figure.get_by_role("slider", name="query")
    expect(handle).to_have_attribute(
        "aria-valuetext", re.compile("fresh water −1.[89], salt water 0.0")
    )
    expect(cell(soft_lookup, "weight of deserts", "hard")).to_have_text("1.00")


def test_the_temperature_is_set_by_keyboard(soft_lookup: FigureLab) -> None:
    soft_lookup.ask("figure.change(query=[1, 2], temperature=1)")
    soft_lookup.figure.get_by_label("temperature").focus()
    soft_lookup.page.keyboard.press("End")
    expect(cell(soft_lookup, "weight of deserts", "soft")).to_have_text("0.24")
    soft_lookup.answers("figure.temperature", "100.0")


def test_what_the_page_cannot_use_is_said_in_the_page(soft_lookup: FigureLab) -> None:
    soft_lookup.ask("figure._receive(figure, {'change': {'query': ['abc', 1]}}, [])")
    problem = soft_lookup.figure.get_by_role("alert")
    expect(problem).to_have_text("query has to hold numbers, in rows of the same length")
    soft_lookup.ask("figure.query = [1, 2]")
    expect(problem).to_have_text("")


@pytest.fixture(params=[FIGURES["WhoListens"]])
def who_listens(request: pytest.FixtureRequest, shown: Shown) -> FigureLab:
    return shown(request.param)


def test_arrow_keys_go_from_row_to_row_and_python_knows_where(who_listens: FigureLab) -> None:
    figure, page = who_listens.figure, who_listens.page
    figure.locator("[role=gridcell]").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    who_listens.has_focus("sat to cat: 0.60")
    expect(figure.locator(".told")).to_contain_text("“sat” listens most to “cat”")
    expect(figure.locator("tr.shown th")).to_have_text("sat")
    who_listens.answers("figure.row", "2")


def test_a_head_is_chosen_by_keyboard(who_listens: FigureLab) -> None:
    heads = "[[1, 0, 0], [1, 0, 0], [1, 0, 0]], [[1, 0, 0], [0, 1, 0], [0, 0.2, 0.8]]"
    who_listens.ask(f"figure.weights = [[{heads}], [{heads}]]")
    choice = who_listens.figure.get_by_label("layer and head")
    choice.focus()
    who_listens.page.keyboard.press("ArrowDown")
    expect(choice.locator("option:checked")).to_have_text("layer 1, head 2")
    painted(who_listens, "sat to sat: 0.80")
    who_listens.answers("figure.shown", "1")
    who_listens.ask("figure.weights = weights")
    expect(choice).to_have_count(0)


def test_arcs_are_worked_by_keyboard(who_listens: FigureLab) -> None:
    figure, page = who_listens.figure, who_listens.page
    who_listens.ask("figure.row = 0")
    figure.get_by_label("arcs", exact=True).check()
    expect(figure.get_by_role("grid")).to_be_hidden()
    height = figure.bounding_box()
    figure.get_by_role("option", name="the", exact=True).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    who_listens.has_focus("sat")
    expect(figure.locator(".arcs path:visible")).to_have_count(3)
    expect(figure.locator(".most")).to_have_text("0.60")
    expect(figure.locator(".own")).to_have_text("0.34")
    expect(figure.locator(".told")).to_contain_text("“sat” listens most to “cat”")
    who_listens.answers("figure.row, figure.view", "(2, 'arcs')")
    assert who_listens.findings() == []
    figure.get_by_label("table", exact=True).check()
    expect(figure.get_by_role("grid")).to_be_visible()
    assert figure.bounding_box() == height


READS = """from attnlab import small

words = "<s> the dogs run".split()
figure = figures.live.WhoListens(small.weights(words), words, reader=small.weights)"""


def test_a_sentence_of_ones_own_is_typed_and_read(who_listens: FigureLab) -> None:
    who_listens.show(READS)
    figure, page = who_listens.figure, who_listens.page
    field = figure.get_by_label("your own sentence")
    expect(field).to_have_value("the dogs run")
    field.fill("the quark runs")
    page.keyboard.press("Enter")
    expect(figure.get_by_role("alert")).to_contain_text("does not know “quark”")
    field.fill("the king runs today")
    page.keyboard.press("Enter")
    expect(figure.get_by_role("alert")).to_have_text("")
    expect(figure.locator("tr.shown th")).to_have_text("today")
    expect(field).to_be_focused()
    for theme in THEMES:
        who_listens.wear(theme)
        assert who_listens.findings() == []


def test_a_row_is_not_undone_by_pythons_answer_to_the_last_one(who_listens: FigureLab) -> None:
    who_listens.figure.locator("[role=gridcell]").first.click()
    press_among_echoes(
        who_listens,
        ("ArrowDown", "cat to the: 0.40"),
        ("ArrowDown", "sat to the: 0.06"),
        ("PageUp", "the to the: 1.00"),
    )


WITHOUT = """
def without(head):
    return {"runs": 0.9, "run": 0.1} if head is None else {"runs": 0.2, "run": 0.8}

weights = [[[1, 0], [0.5, 0.5]], [[1, 0], [0.2, 0.8]]]
figure = figures.live.Heads(weights, ["the", "cat"], without=without)"""


def test_a_head_is_switched_off_by_keyboard_and_the_next_word_flips(heads: FigureLab) -> None:
    heads.show(WITHOUT)
    following = heads.figure.locator(".next")
    expect(following).to_have_text("the cat runs")
    name = heads.figure.get_by_role("button", name="head 1")
    name.focus()
    heads.page.keyboard.press("Enter")
    expect(following).to_have_text("the cat run")
    expect(name).to_have_attribute("aria-pressed", "true")
    expect(heads.figure).to_contain_text("Without head 1 “run” comes next, 0.80.")
    heads.answers("figure.off", "0")
    for theme in THEMES:
        heads.wear(theme)
        assert heads.findings() == []
    heads.page.keyboard.press("Enter")
    expect(following).to_have_text("the cat runs")


def test_a_query_is_not_undone_by_pythons_answer_to_the_last_one(heads: FigureLab) -> None:
    heads.figure.get_by_role("option", name="the").click()
    press_among_echoes(heads, ("ArrowDown", "cat"), ("ArrowDown", "sat"), ("Home", "the"))
    expect(heads.figure.get_by_role("option", selected=True)).to_have_text("the")


def test_a_row_of_the_mask_is_not_undone_by_pythons_answer(painter: FigureLab) -> None:
    painter.ask("figure.row = 0")
    painter.figure.locator("[role=gridcell]").first.focus()
    painter.page.keyboard.press("Control+Home")
    press_among_echoes(
        painter,
        ("ArrowDown", "cat to the: open, 0.27"),
        ("ArrowDown", "sat to the: open, 0.24"),
        ("PageUp", "the to the: open, 1.00"),
    )
    expect(painter.figure.locator("tr.shown th")).to_have_text(["the"] * 3)  # in all three grids


def test_shift_paints_from_the_row_that_python_chose(painter: FigureLab) -> None:
    painter.ask("figure.row = 3")
    painter.figure.locator("[role=gridcell][tabindex='0']").first.focus()
    for key in ("Home", "Space", "Shift+ArrowRight"):
        painter.page.keyboard.press(key)
    painted(painter, "on to cat: blocked, 0")
    blocked(painter, [[1, 2, 3], [2, 3], [3], [0, 1]])


@pytest.mark.parametrize("name", [FIGURES["WhoListens"], FIGURES["MaskPainter"]])
def test_tab_leads_to_the_row_chosen_before_the_figure_was_shown(name: str, shown: Shown) -> None:
    lab = shown(name)
    lab.write(AGAIN, "figure.row = 2\nfigure")
    views = lab.page.locator(".attn-figure")
    expect(views).to_have_count(2)
    stop = views.last.locator("[role=gridcell][tabindex='0']").first
    expect(stop).to_have_attribute("aria-label", re.compile("^sat to the"))
    lab.write(AGAIN, "figure.row = 0")
    expect(views).to_have_count(1)


def test_python_moves_the_row_in_the_page(who_listens: FigureLab) -> None:
    who_listens.ask("figure.row = 1")
    expect(who_listens.figure.locator("tr.shown th")).to_have_text("cat")
    told = who_listens.ask("print(figure.state['found'][figure.row])")
    expect(who_listens.figure.locator(".told")).to_have_text(told)


def test_the_pointer_shows_a_row_and_leaves_it_again(who_listens: FigureLab) -> None:
    who_listens.ask("figure.row = 1")
    shown, told = (who_listens.figure.locator(each) for each in ("tr.shown th", ".told"))
    who_listens.figure.locator("[role=gridcell]").last.hover()
    expect(shown).to_have_text("sat")
    expect(told).to_contain_text("“sat” listens most")
    # What is read out stays with the chosen row.
    expect(who_listens.figure.locator("[aria-live]")).to_contain_text("“cat” listens most")
    who_listens.figure.locator(".title").hover()
    expect(shown).to_have_text("cat")
    expect(told).to_contain_text("“cat” listens most")


def test_blocked_cells_are_hatched_and_say_so(who_listens: FigureLab) -> None:
    cell = who_listens.figure.get_by_label("the to cat: blocked, 0")
    expect(cell).to_have_css("background-image", re.compile("repeating-linear-gradient"))


# All figures ------------------------------------------------------------------------------------


def test_tab_enters_and_leaves_and_keys_are_the_figures_own(lab: FigureLab) -> None:
    lab.page.keyboard.press("Escape")
    inside = "document.activeElement.closest('.attn-figure') !== null"
    count = "window.jupyterapp.shell.currentWidget.content.widgets.length"
    cells = lab.page.evaluate(count)
    lab.figure.evaluate("node => { node.tabIndex = -1; node.focus(); }")
    lab.page.keyboard.press("Tab")
    lab.page.wait_for_function(inside)
    most = lab.figure.locator("[tabindex], input, button, select, summary").count()
    while lab.page.evaluate(inside):
        most -= 1
        assert most >= 0, "the focus is caught"
        for key in ("b", "ArrowDown"):  # to JupyterLab: add a cell, go on to the next one
            lab.page.keyboard.press(key)
            assert lab.page.evaluate(inside), f"{key} leads away"
        lab.page.keyboard.press("Tab")
    lab.ask("None")  # by then a cell more would be there
    assert lab.page.evaluate(count) == cells
    lab.figure.evaluate("node => node.removeAttribute('tabindex')")


def test_python_that_cannot_be_drawn_leaves_the_picture_alone(lab: FigureLab) -> None:
    name = lab.ask("print(next(iter(figure._inputs), 'at'))")
    before = lab.figure.inner_text()
    raised = lab.ask(
        f"try:\n    figure.{name} = [[float('nan')]]\nexcept Exception as error:\n    print(error)"
    )
    assert raised
    assert lab.figure.inner_text() == before


def test_the_audit_finds_nothing_serious(lab: FigureLab) -> None:
    """In a light theme on a wide page; `test_figures_fit` asks in a dark one on a narrow page."""
    lab.wear(THEMES[0])
    assert lab.findings() == []


def test_it_fits_into_320_pixels(lab: FigureLab) -> None:
    lab.figure.evaluate(NARROW)
    until(lambda: lab.figure.bounding_box()["width"] <= 320, True)  # type: ignore[index]
    until(lambda: lab.figure.evaluate(STICKS_OUT), False)


def test_the_page_complains_of_nothing_and_stays_on_this_machine(lab: FigureLab) -> None:
    assert lab.complaints == []
    assert lab.elsewhere == []
    assert lab.warnings() == ""


@pytest.fixture(scope="module")
def export(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Page:
    """All figures in one notebook, each twice, as an HTML page where no script runs."""
    cells = {f"{name}-1": showing(source) for name, source in SOURCES.items()}
    again = {f"{name}-2": f"{name} = figure\n{name}" for name in SOURCES}
    lesson = notebook({key: (cells | again)[key] for key in sorted(cells | again)})
    NotebookClient(lesson, timeout=CELL_SECONDS, store_widget_state=False).execute()
    make_still(lesson)
    path = tmp_path_factory.mktemp("export") / "lesson.html"
    path.write_text(HTMLExporter().from_notebook_node(lesson)[0], encoding="utf-8")
    page = chromium.new_page(java_script_enabled=False)
    page.route(re.compile(r"^https?://"), lambda route: route.abort())
    page.goto(path.as_uri())
    return page


def still(export: Page, name: str, copy: int) -> tuple[Locator, Locator]:
    """One of a figure's two still pictures, and what of it is said."""
    figure = export.locator(f"[id='cell-id={name}-{copy}'] figure[class^=attn-]")
    return figure, figure.locator(".said > :visible")


# A quiz's still form is not stepped through: opening a choice is choosing it.
@pytest.mark.parametrize("name", [each for name, each in FIGURES.items() if name != "Quiz"])
def test_an_export_steps_by_keyboard_without_a_kernel_each_figure_for_itself(
    name: str, export: Page
) -> None:
    (one, said), (other, said_there) = (still(export, name, copy) for copy in (1, 2))
    for figure, each in ((one, said), (other, said_there)):
        expect(figure).to_have_attribute("aria-label", re.compile("."))
        expect(each).to_have_count(1)
    assert one.get_attribute("class") == other.get_attribute("class")
    before = said.inner_text()
    expect(said_there).to_have_text(before, use_inner_text=True)
    other.locator("input[type=radio]").first.focus()
    export.keyboard.press("ArrowDown")
    export.keyboard.press("Enter")  # which sends a form of another kind
    expect(said_there).not_to_have_text(before, use_inner_text=True)
    expect(said_there).to_have_count(1)
    expect(said).to_have_text(before, use_inner_text=True)
    assert export.url.endswith("lesson.html")


def test_a_notebook_opened_again_without_its_kernel_shows_a_still_figure(shown: Shown) -> None:
    lab = shown("WhoListens")
    lab.page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    lab.page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    expect(lab.figure).to_be_visible()
    lab.stop()
    lab.reload()
    still = lab.page.locator(".jp-OutputArea-output figure")
    expect(still).to_be_visible()
    expect(still).to_contain_text(MOVES)
    expect(lab.page.locator(".jp-OutputArea-output")).not_to_contain_text("Error")
    lab.answers("'figure' in globals()", "False")
    lab.run(SHOW)
    expect(lab.figure).to_be_visible()
