"""The course home: what a learner sees first, whatever lies in their folder."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest

from attnlab import lessons, quizzes, small
from attnlab.home.arcs import in_words
from attnlab.home.cover import picture
from attnlab.home.page import Links, glossary, home
from attnlab.small.grammar import as_labels
from attnlab.work.places import Course
from attnlab.work.progress import CHOSE, note
from tests.course import tells
from tests.home import OTHER, SLUG, make_copies


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    course = make_copies(tmp_path, SLUG, OTHER)
    monkeypatch.chdir(course.work)
    return course


def text(page: str) -> str:
    """What is read, without tags and with single blanks."""
    body = page.partition("<body>")[2]
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


def test_a_new_learner_is_asked_to_begin_with_the_first_lesson(course: Course) -> None:
    page = home(course, Links())
    said = text(page)
    assert tells(said, "2 lessons", "9 exercises", "16 points")
    assert tells(said, "Lesson 01", "Soft lookup", "90 minutes")
    assert f'href="/lab/tree/{SLUG}/{SLUG}.ipynb" autofocus' in page
    assert f'href="/notebooks/{SLUG}/{SLUG}.ipynb" autofocus' in page


def test_each_lesson_says_what_it_is_about_how_long_and_how_far(course: Course) -> None:
    note(SLUG, "softmax", "PASS", 2, 2)
    note(SLUG, "hard_lookup", "FAIL", 0.5, 1, "off-by-one", "One `place` too far.")
    said = text(home(course, Links()))
    assert tells(said, "2.5 of 16 points", "1 of 9 exercises")
    assert "Continue" in said
    assert tells(said, "Lesson 01", "hard_lookup", "not right")
    assert tells(said, "2.5 of 6 points", "1 of 3 exercises", "90 minutes")
    assert "✓ softmax : right, 2 of 2" in said
    assert tells(said, "off-by-one", "once", "hard_lookup", "still there", "One place too far.")
    for planned in lessons.planned():
        assert planned.title in said


def chose(course: Course, slug: str, question: str, right: bool) -> None:
    title, number = question.split("/")
    asked = quizzes.of(slug)[title][int(number) - 1]
    choice = asked.choices[asked.right if right else asked.right - 1]
    line = {"v": 1, "when": "", "lesson": slug, "exercise": question, "status": CHOSE}
    line |= {"score": float(right), "points": 1.0, "mistake": "", "choice": choice}
    course.append(course.progress, f"{json.dumps(line)}\n".encode())


def test_of_a_quiz_the_first_answers_count_and_what_was_wrong_is_to_be_recalled(
    course: Course,
) -> None:
    chose(course, SLUG, "recall/1", True)
    chose(course, SLUG, "predict/1", False)  # a guess: nothing to be counted or recalled
    chose(course, SLUG, "check yourself/2", False)
    chose(course, OTHER, "recall/2", False)
    chose(course, SLUG, "recall/1", False)
    said = text(home(course, Links()))
    assert tells(said, "0 of 16 points", "0 of 9 exercises", "1 of 3 quiz questions")
    assert "0 of 3 exercises quiz: 1 of 2 right" in said
    assert tells(said, "To recall", "Lesson 01", "You double", "Lesson 02", "Two books")


def test_three_questions_are_recalled_a_day_the_longest_wrong_first(course: Course) -> None:
    for name in ("check yourself/2", "recall/2", "recall/1", "check yourself/1"):
        chose(course, SLUG, name, False)
    said = text(home(course, Links()))
    first, second, third = (said.index(words) for words in ("You double", "A shop", "record["))
    assert first < second < third
    assert "Why can a model that follows slopes" not in said


def test_a_question_of_no_lesson_of_ours_is_not_asked_for(course: Course) -> None:
    for slug, name in (("99-more", "recall/<b>"), (SLUG, "recall/<b>"), (SLUG, "recall/9")):
        line = {"v": 1, "when": "", "lesson": slug, "exercise": name, "status": CHOSE}
        line |= {"score": 0.0, "points": 1.0, "mistake": "", "choice": "<b>"}
        course.append(course.progress, f"{json.dumps(line)}\n".encode())
    assert "To recall today" not in home(course, Links())


def test_the_picture_on_the_cover_is_what_the_small_model_gives(course: Course) -> None:
    layer, head = small.head("subject")
    weights = small.weights(small.SAMPLE)[layer][head].tolist()
    assert in_words(as_labels(small.SAMPLE), weights) in html.unescape(picture())
    assert picture() in home(course, Links())


def test_when_all_is_done_it_says_so(course: Course) -> None:
    for slug in (SLUG, OTHER):
        for name, exercise in lessons.exercises_of(slug).items():
            note(slug, name, "PASS", exercise.points, exercise.points)
    said = text(home(course, Links()))
    assert "Every exercise is right." in said
    assert "✓ 6 of 6 points, 3 of 3 exercises" in said


def test_addresses_are_those_of_the_server(course: Course) -> None:
    page = home(course, Links("/user/ann/", phones=False))
    assert "/notebooks/" not in page
    addresses = re.findall(r'href="([^"]*)"', page)
    assert len(addresses) > 5
    assert all(address.startswith("/user/ann/") for address in addresses)


def test_nothing_is_asked_of_elsewhere_and_no_script_runs(course: Course) -> None:
    page = home(course, Links()) + glossary(course, Links())
    assert "://" not in page
    assert "<script" not in page


@pytest.mark.parametrize("data", [b"\xff\n[]\n", b'{"v": 9}\n'])
def test_a_progress_file_that_cannot_be_used_is_said_below(data: bytes, course: Course) -> None:
    course.progress.write_bytes(data)
    assert "Mend it with: " in text(home(course, Links()))


def test_symbols_are_printed_as_in_the_lessons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slug = "04-scaling"
    course = make_copies(tmp_path / "of-04", slug)
    monkeypatch.chdir(course.work)
    note(slug, "entropy", "FAIL", 0, 1, "no-scale", "Divide by √d_k, not by `d_k`.")
    page = home(course, Links(), said=["It is in work/d_k/."])
    assert "the scores are divided by √d<sub>k</sub></p>" in page
    assert "Divide by √d<sub>k</sub>, not by <code>d_k</code>." in page
    assert "work/d_k/" in page


def test_names_in_the_file_cannot_write_into_the_page(course: Course) -> None:
    note(SLUG, "softmax", "FAIL", 0, 2, "<script>alert(1)</script>")
    assert "<script" not in home(course, Links())


def test_a_lesson_without_a_copy_says_so(course: Course) -> None:
    course.notebook(OTHER).unlink()
    assert "Pure Python (no copy yet: start again)" in text(home(course, Links()))


@pytest.mark.parametrize("data", [b"", b"<<<<<<<"])
def test_no_lessons_at_all_is_a_page_too(data: bytes, course: Course) -> None:
    for slug in (SLUG, OTHER):
        (course.released / slug / f"{slug}.ipynb").write_bytes(data)
    assert "There are no lessons in notebooks/" in text(home(course, Links())).replace(" /", "/")


def test_the_glossary_is_rendered_with_a_place_for_each_entry(course: Course) -> None:
    page = glossary(course, Links())
    assert '<h2 id="Causal-mask">Causal mask</h2>' in page
    assert 'href="/attnlab"' in page
    (course.released / "glossary.md").unlink()
    assert "not among what was handed out" in glossary(course, Links())
