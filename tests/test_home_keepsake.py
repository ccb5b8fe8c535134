"""Something to keep: a page and a picture that can be shown, of what is a learner's own."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from attnlab import small
from attnlab.home.arcs import alone, arcs
from attnlab.home.check_mine import Stopped
from attnlab.home.commands import main
from attnlab.home.keepsake import keep
from attnlab.home.listening import SENTENCE, hear, in_words_of_the_model
from attnlab.home.own import OWN
from attnlab.ipynb.words import POLICY
from attnlab.lessons.gpu_sdpa import kept
from attnlab.work import progress
from attnlab.work.places import Course, Refused
from tests.course import ROOT, tells
from tests.home import (
    ANSWER,
    OTHER,
    SLUG,
    evenly,
    files_under,
    listening,
    make_copies,
    write,
)
from tests.test_feedback import HOSTILE, Page

DOGS = "The dogs run."  # four words, and the one that begins texts
MODEL = listening(evenly(5))


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    monkeypatch.setattr(kept, "RECORDED", tmp_path / "recorded")
    course = make_copies(tmp_path / "otter", SLUG, OTHER)
    monkeypatch.chdir(course.work)
    return course


def page_of(course: Course, name: str = "") -> str:
    keep(course, DOGS, name, MODEL)
    return course.keepsake.read_text(encoding="utf-8")


# what is on it ------------------------------------------------------------------------------------


def test_a_new_learner_has_a_picture_and_is_told_that_there_is_no_more(course: Course) -> None:
    where, whose, rest = keep(course, DOGS, run=MODEL)
    assert tells(where, "work/keepsake.html", "work/keepsake.svg")
    assert tells(whose, "None of your own", "the small model's")
    assert tells(rest, "No lesson", "no mistake")
    page = course.keepsake.read_text(encoding="utf-8")
    assert "“the dogs run .”" in page
    assert tells(page, "small language model", "head 3 of layer 2")
    assert "<h2>" not in page


def test_it_shows_what_is_done_and_mended_and_nothing_else(course: Course) -> None:
    progress.note(SLUG, "softmax", "FAIL", 1.75, 2, "unstable-softmax", "Subtract `max` <first>.")
    progress.note(OTHER, "matmul", "FAIL", 0.5, 2, "still-there", "This is wrong.")
    for name in ("hard_lookup", "softmax", "soft_lookup"):
        progress.note(SLUG, name, "PASS", 2, 2)
    page = page_of(course).partition("<body>")[2]
    assert tells(page, "unstable-softmax", "<code>max</code> &lt;first&gt;")
    assert '<span class="one">01 Soft lookup</span>' in page
    for hidden in ("still-there", "This is wrong", "Pure Python", "1.75", "points", "exercise"):
        assert hidden not in page, hidden
    assert "list." not in " ".join(keep(course, DOGS, run=MODEL))


def test_no_path_is_on_it_and_no_name_but_the_one_that_is_given(course: Course) -> None:
    assert str(course.work) not in page_of(course)
    assert "otter" not in page_of(course)
    assert '<p class="quiet">Ann &lt;b&gt;, 2' in page_of(course, " Ann <b> ")


def test_it_asks_nothing_of_elsewhere_and_runs_no_script(course: Course) -> None:
    page = page_of(course)
    assert "://" not in page
    assert "<script" not in page
    assert "href" not in page
    assert POLICY in page
    assert "://" not in course.keepsake.with_suffix(".svg").read_text().replace(
        'xmlns="http://www.w3.org/2000/svg"', ""
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_a_record_or_a_name_says_is_text(text: str, course: Course) -> None:
    line = {"v": 1, "when": "", "lesson": SLUG, "exercise": "softmax", "status": "FAIL"}
    line |= {"score": 1, "points": 2, "mistake": text, "why": text}
    passed = line | {"status": "PASS", "score": 2, "mistake": ""}
    course.progress.write_text(f"{json.dumps(line)}\n{json.dumps(passed)}\n")
    plain, read = Page(page_of(course)), Page(page_of(course, text))
    assert {tag for tag, _ in read.elements} == {tag for tag, _ in plain.elements}
    assert read.comments == []


# whose attention it is ----------------------------------------------------------------------------


def with_answers(course: Course, slug: str) -> None:
    """The course's own answers in place of a learner's."""
    shutil.copy(ROOT / "solutions" / slug / f"{slug}.ipynb", course.notebook(slug))


def test_a_function_of_ones_own_is_named(tmp_path: Path) -> None:
    course = make_copies(tmp_path / "ann", OTHER)
    write(course.notebook(OTHER), "attention_weights", "def attention_weights(Q, K): ...")
    said = keep(course, DOGS, run=listening(evenly(5), OTHER))
    assert tells(said[1], "own", "`attention_weights`", "02")
    page = course.keepsake.read_text(encoding="utf-8")
    assert tells(page, "own", "<code>attention_weights</code>", "02")


def test_what_is_not_written_is_not_run(course: Course) -> None:
    write(course.notebook(SLUG), "softmax", ANSWER)
    with pytest.raises(Stopped):  # nor does the model show anything in this run
        hear(course, in_words_of_the_model(DOGS), listening(evenly(5), OTHER))


def test_a_lesson_runs_up_to_the_function_without_checks_in_a_folder_of_its_own(
    tmp_path: Path,
) -> None:
    course = make_copies(tmp_path / "ann", OTHER)
    write(course.notebook(OTHER), "attention_weights", "def attention_weights(Q, K): ...")
    seen: list[tuple[Path, list[str]]] = []

    def run(folder: Path, data: bytes, tick: object) -> list[dict[str, Any]]:
        cells: list[dict[str, Any]] = json.loads(data)["cells"]
        seen.append((folder, [cell["source"] for cell in cells]))
        return listening(evenly(5), OTHER)(folder, data, lambda: None)

    hear(course, in_words_of_the_model(DOGS), run)
    [(folder, sources)] = seen
    assert not folder.is_relative_to(course.root)
    assert not any("check(" in source for source in sources)
    assert 'begin("02-pure-python")' in sources[0]
    assert sources[-2] == "def attention_weights(Q, K): ..."
    assert "self_attention" not in "".join(sources)


RIGHT: dict[str, Any] = evenly(5)
BAD: list[object] = [
    None,
    [],
    "weights",
    {},
    RIGHT | {"role": "<b>"},
    RIGHT | {"layer": "<b>"},
    RIGHT | {"weights": [[1.0]]},
    RIGHT | {"weights": [["<b>"] * 5] * 5},
    RIGHT | {"weights": [[0.2] * 5] * 5},
    RIGHT | {"weights": [[1.0, 0, 0, 0, 0], *[[0.5, 0, 0, 0, 0]] * 4]},
    RIGHT | {"weights": [[1.0, 0, 0, 0, 0], *[[2.0, -1.0, 0, 0, 0]] * 4]},
    RIGHT | {"weights": [[float("nan")] * 5] * 5},
]


@pytest.mark.parametrize("found", BAD, ids=range(len(BAD)))
def test_what_are_no_weights_is_not_drawn(found: object, course: Course) -> None:
    with pytest.raises(Refused, match="could not be asked"):
        keep(course, DOGS, run=listening(found))
    assert not course.keepsake.exists()


@pytest.mark.slow
@pytest.mark.parametrize("slug", OWN)
def test_each_lessons_own_function_gives_what_the_model_gives(slug: str, tmp_path: Path) -> None:
    course = make_copies(tmp_path / "ann", slug)
    with_answers(course, slug)
    before = files_under(course.work)
    words = in_words_of_the_model(SENTENCE)
    heard = hear(course, words)
    assert (heard.lesson, heard.role) == (slug, "subject")
    right = small.weights(words)[heard.layer - 1][heard.head - 1]
    assert abs(right - heard.weights).max() < 1e-4
    assert files_under(course.work) == before


@pytest.mark.slow
def test_a_wrong_function_leaves_it_to_the_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    course = make_copies(tmp_path / "ann", "03-numpy")
    name = "scaled_dot_product_attention"
    write(course.notebook("03-numpy"), name, f"def {name}(Q, K, V, mask=None):\n    return V, mask")
    asked = ["--course", str(course.root), "keepsake", "--sentence", DOGS, "--name", "Ann"]
    assert main(asked) == 0
    told = capsys.readouterr().out
    assert tells(told, "work/", "your rights", "None of your own")
    assert "Ann, 2" in course.keepsake.read_text(encoding="utf-8")


# timings ------------------------------------------------------------------------------------------


def measured(command: str, **took: float) -> dict[str, Any]:
    rows = [{"name": name, "n": 512, "seconds": took[name]} for name in took]
    rows += [{"name": "tiled", "n": 4096, "seconds": 9.0}, {"name": "sdpa", "n": 4096}]
    rows[-1]["seconds"] = None
    run = {"d": 64, "dtype": "float32", "rows": rows}
    return {"device": "<A CPU>", "date": "2026-11-25", "command": command, "runs": [run]}


MINE = "python -m attnlab.bench --tiled work/11-cost/11-cost.ipynb --record"


def record(found: object) -> None:
    kept.RECORDED.mkdir(exist_ok=True)
    (kept.RECORDED / "a.json").write_text(json.dumps(found))


def test_timings_of_ones_own_are_beside_pytorchs(course: Course) -> None:
    record(measured(MINE, tiled=0.012, sdpa=0.004))
    assert (
        "<h2>Beside PyTorch</h2><p>For 512 words, my own attention in tiles takes 12 ms, "
        "PyTorch’s 4 ms. Measured on 2026-11-25, &lt;A CPU&gt;, float32, d = 64.</p>"
    ) in page_of(course)


@pytest.mark.parametrize(
    "found",
    [
        measured("python -m attnlab.bench --record", tiled=0.012, sdpa=0.004),
        measured(MINE, tiled=0.012),
        {"command": MINE, "runs": [None]},
        {"command": 5},
        [],
    ],
)
def test_timings_that_are_not_ones_own_or_no_timings_are_left_out(
    found: object, course: Course
) -> None:
    record(found)
    assert "PyTorch" not in page_of(course)


# bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("the dgos run", r"small model does not know “dgos”\. The nearest that it knows: dogs"),
        ("<b> & </b>", "does not know “<”"),
        ("dogs", "has 1 words; 2 to 20 fit"),
        ("", "has 0 words"),
        ("the dogs " * 11, "has 22 words"),
    ],
)
def test_a_sentence_that_cannot_be_is_said_before_anything_is_run(
    sentence: str, said: str, course: Course
) -> None:
    with pytest.raises(Refused, match=said):
        keep(course, sentence, run=listening(None))
    assert not course.keepsake.exists()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", ""),
        (b'{"v": 1, "when": "", "less', "holds nothing that can be read"),
        (b'{"v": 9}\n', "1 line is from a newer attnlab"),
    ],
)
def test_a_progress_file_that_cannot_be_used_is_one_line_and_stays(
    data: bytes, said: str, course: Course
) -> None:
    course.progress.write_bytes(data)
    told = keep(course, DOGS, run=MODEL)
    assert len(told) == 3 + bool(said)
    assert said in told[-1]
    assert course.progress.read_bytes() == data
    assert "progress.jsonl" not in course.keepsake.read_text(encoding="utf-8")


def test_what_a_person_put_in_its_place_is_kept(course: Course) -> None:
    for path in (course.keepsake, course.keepsake.with_suffix(".svg")):
        path.write_text("a person's")
    page_of(course)
    page_of(course)
    assert [path.read_text() for path in course.backups.iterdir()] == ["a person's"] * 2


def test_the_server_loads_no_pytorch_and_draws_with_no_matplotlib() -> None:
    code = (
        "import sys, attnlab.home.server\nfrom attnlab.home.cover import picture\npicture()\n"
        "print(sorted({'torch', 'matplotlib', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# the picture --------------------------------------------------------------------------------------


def test_the_picture_has_an_arc_for_each_weight_and_says_what_it_shows() -> None:
    picture = alone(arcs(["<s>", "dogs", "run"], [[1, 0, 0], [0.96, 0.04, 0], [0.2, 0.7, 0.1]]))
    root = ElementTree.fromstring(picture)
    kinds = [each.tag.rpartition("}")[2] for each in root]
    assert kinds.count("path") == 3  # 0.04 is too little
    assert kinds.count("circle") == 2
    assert [each.text for each in root if each.tag.endswith("}text")] == [
        *("start", "dogs", "run"),
        "0.70",
    ]
    assert "“run” listens most to “dogs” (0.70)" in root.attrib["aria-label"]


def test_no_arc_leaves_the_picture() -> None:
    words = ["<s>", "we", "went", "past", "the", "river", "to", "the", "bank"]
    first = [[1.0, *[0.0] * (len(words) - 1)]] * len(words)
    root = ElementTree.fromstring(alone(arcs(words, first)))
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    for path in re.findall(r'd="M([\d. C-]+)"', arcs(words, first)):
        numbers = [float(each) for each in re.findall(r"-?[\d.]+", path)]
        start, top, floor = numbers[0], numbers[3], numbers[1]
        assert 0 < start < width
        assert 0 < floor - 0.75 * (floor - top) < height
