"""Quizzes: what is asked, what a choice gives away and when, what is kept, what comes back."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from attnlab import begin, lessons, quiz, quizzes
from attnlab.asking import CHANGED, HELD, UNSAVED, Asking
from attnlab.figures.live.quiz import Quiz
from attnlab.quizzes import Question, due, missed, read
from attnlab.work import progress
from attnlab.work.progress import CHOSE, Record
from tests.course import QUIZ, SLUGS, code_cells, released_path, solution_path, tells
from tests.course import read as notebook

PLAIN = Question("02-pure-python", "recall/1", "Which?", ("this", "that"), ("No.", "Yes."), 1)
GUESS = Question("02-pure-python", "predict/1", "How many?", ("1", "2", "3"), (), 0)


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A learner's folder, where Python is."""
    (tmp_path / ".attnlab").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def record(question: Question, choice: int, lesson: str = "") -> Record:
    lesson = lesson or question.lesson
    right = float(choice == question.right)
    chosen = question.choices[choice]
    return Record("", lesson, question.named(lesson), CHOSE, right, 1.0, choice=chosen)


def wrong_in(question: Question) -> int:
    return 1 if question.right == 0 else 0


# What lessons ask -----------------------------------------------------------------------------


@pytest.mark.parametrize("slug", SLUGS)
def test_a_lesson_shows_each_of_its_quizzes_once(slug: str) -> None:
    sources = [cell.source for cell in code_cells(notebook(solution_path(slug)))]
    shown = [found[1] for found in map(QUIZ.fullmatch, sources) if found]
    assert shown == list(quizzes.of(slug))
    assert shown[0] == "recall"
    assert shown[-1] == "check yourself"
    assert len(quizzes.of(slug)["recall"]) == 2
    assert any(title.startswith(quizzes.PREDICTS) for title in shown)


@pytest.mark.parametrize("slug", SLUGS)
def test_no_cell_that_can_be_opened_holds_an_answer(slug: str) -> None:
    handed_out = "\n".join(cell.source for cell in notebook(released_path(slug)).cells)
    answers = [
        answer
        for asked in quizzes.of(slug).values()
        for question in asked
        for answer in question.answers
    ]
    assert [answer for answer in answers if answer in " ".join(handed_out.split())] == []
    assert "<summary>A" not in handed_out


@pytest.mark.parametrize("slug", SLUGS)
def test_the_place_that_answers_a_prediction_names_its_letter(slug: str) -> None:
    """After the quiz it says (Prediction: C.), or of several (Prediction 2: C.), each once."""
    cells = notebook(solution_path(slug)).cells
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    expected = [
        (str(number) if len(asked) > 1 else "", quizzes.LETTERS[question.right])
        for title, asked in quizzes.of(slug).items()
        if title.startswith(quizzes.PREDICTS)
        for number, question in enumerate(asked, start=1)
    ]
    named = re.findall(r"[Pp]rediction(?: (\d))?: ([A-E])\b", prose)
    assert sorted(named) == sorted(expected)


# A choice ---------------------------------------------------------------------------------------


def test_nothing_is_given_away_before_a_choice() -> None:
    figure = Quiz("02-pure-python", "recall", [PLAIN])
    assert "Yes." not in json.dumps(figure.get_state(), default=str)
    [shown] = figure.state["questions"]
    assert (shown["chosen"], shown["right"], shown["said"]) == (None, None, "")


def test_a_choice_is_answered_beside_the_right_one_and_stays() -> None:
    figure = Quiz("02-pure-python", "recall", [PLAIN])
    figure._receive(None, {"choose": [0, 0]}, [])
    [shown] = figure.state["questions"]
    assert (shown["chosen"], shown["right"]) == (0, 1)
    assert shown["marks"] == ["✗ your choice", "✓"]
    assert shown["said"] == "A. No. B. Yes."
    figure._receive(None, {"choose": [0, 0]}, [])  # a second press is nothing
    assert figure.problem == ""
    assert len(progress.here().records) == 1
    figure._receive(None, {"choose": [0, 1]}, [])
    assert "your first choice stays" in figure.problem
    assert figure.state["questions"] == [shown]


def test_what_answers_my_choice_comes_first_then_what_is_right_then_the_others() -> None:
    answers = ("Not A.", "Yes.", "Not C.", "Not D.")
    asked = Question("02-pure-python", "recall/1", "Which?", ("a", "b", "c", "d"), answers, 1)
    figure = Quiz("02-pure-python", "recall", [asked])
    figure.choose(0, 3)
    [shown] = figure.state["questions"]
    assert shown["told"] == ["D. Not D.", "B. Yes."]
    assert shown["others"] == ["A. Not A.", "C. Not C."]
    other = Quiz("02-pure-python", "recall", [asked], {asked: 1})
    [shown] = other.state["questions"]
    assert (shown["told"], len(shown["others"])) == (["B. Yes."], 3)


def test_a_guess_is_kept_and_what_is_right_stays_unsaid() -> None:
    figure = Quiz("02-pure-python", "predict", [GUESS])
    figure.choose(0, 0)
    [shown] = figure.state["questions"]
    assert (shown["chosen"], shown["right"], shown["told"]) == (0, None, [HELD])


@pytest.mark.parametrize(
    ("asked", "choice"), [(0, 2), (0, -1), (1, 0), (-1, 0), (0, "x"), (0, None), (None, 0)]
)
def test_what_was_not_offered_cannot_be_chosen(asked: object, choice: object) -> None:
    figure = Quiz("02-pure-python", "recall", [PLAIN])
    figure._receive(None, {"choose": [asked, choice]}, [])
    assert figure.problem
    assert figure.state["questions"][0]["chosen"] is None
    assert progress.here().records == ()


def test_the_still_form_says_what_was_chosen_as_the_live_one_does() -> None:
    figure = Quiz("02-pure-python", "recall", [PLAIN], {PLAIN: 0})
    [shown] = figure.state["questions"]
    still = figure.fallback()
    assert tells(still, "Which?", *shown["marks"], *shown["told"])
    assert "<details" not in still


def test_what_was_not_chosen_opens_where_nothing_is_kept_and_nowhere_else() -> None:
    asking = Asking("02-pure-python", "recall", [PLAIN], {})
    assert asking.still(asking.start).count("<details>") == 2
    assert "Yes." not in asking.still(asking.start, opens=False)


# What is kept -----------------------------------------------------------------------------------


def test_the_first_choice_is_there_again_after_a_restart(work: Path) -> None:
    begin("02-pure-python")
    quiz("recall").choose(1, 0)
    assert quiz("recall").state["questions"][1]["chosen"] == 0
    [line] = [
        line
        for line in map(json.loads, (work / ".attnlab/progress.jsonl").read_text().splitlines())
        if line["status"] == CHOSE
    ]
    assert line["exercise"] == "recall/2"
    assert line["choice"] == quizzes.of("02-pure-python")["recall"][1].choices[0]


def test_a_choice_of_another_version_is_said_and_not_lost(work: Path) -> None:
    begin("02-pure-python")
    progress.note("02-pure-python", "recall/1", CHOSE, 0.0, 1.0, choice="once a choice")
    figure = quiz("recall")
    assert figure.problem == CHANGED
    figure.choose(0, 0)
    assert quiz("recall").state["questions"][0]["chosen"] == 0
    assert quiz("recall").problem == ""
    assert "once a choice" in (work / ".attnlab/progress.jsonl").read_text()


def test_a_progress_file_cut_short_loses_no_answer(work: Path) -> None:
    begin("02-pure-python")
    quiz("recall").choose(0, 0)
    with (work / ".attnlab/progress.jsonl").open("a") as file:
        file.write('{"v": 1, "when": "2026-')
    quiz("recall").choose(1, 1)
    assert [each["chosen"] for each in quiz("recall").state["questions"]] == [0, 1]


def test_a_choice_that_cannot_be_written_is_said_and_kept_as_long_as_the_kernel(work: Path) -> None:
    begin("02-pure-python")
    file = work / ".attnlab/progress.jsonl"
    file.unlink(missing_ok=True)
    file.mkdir()
    figure = quiz("recall")
    figure.choose(0, 1)
    assert figure.problem == UNSAVED
    assert quiz("recall").state["questions"][0]["chosen"] == 1


# What comes back ----------------------------------------------------------------------------------


def test_what_was_missed_comes_back_two_and_four_lessons_later() -> None:
    question = quizzes.of("02-pure-python")["check yourself"][0]
    records = [record(question, wrong_in(question))]
    asking = [slug for slug in lessons.slugs() if question in due(slug, records)]
    assert asking == ["04-scaling", "06-causal-mask"]
    assert missed(records) == [question]
    records.append(record(question, question.right, "04-scaling"))
    assert missed(records) == []
    assert due("06-causal-mask", records) == (question,)  # once right is not yet known


def test_what_was_right_or_was_a_guess_does_not_come_back() -> None:
    asked = quizzes.of("02-pure-python")
    [guess] = asked["predict"]
    records = [record(asked["recall"][0], asked["recall"][0].right), record(guess, wrong_in(guess))]
    assert missed(records) == []
    assert not any(due(slug, records) for slug in lessons.slugs())


def test_no_more_than_two_come_back_at_once_and_say_where_from() -> None:
    asked = quizzes.of("02-pure-python")["check yourself"]
    for each in asked:
        progress.note("02-pure-python", each.name, CHOSE, 0, 1, choice=each.choices[wrong_in(each)])
    begin("04-scaling")
    figure = quiz("recall")
    back = [each["from"] for each in figure.state["questions"]]
    assert [tells(each, "lesson 02", "again") for each in back] == [True, True, False, False]
    assert back[2:] == ["", ""]
    figure.choose(0, asked[0].right)
    assert quiz("recall").state["questions"][0]["chosen"] == asked[0].right
    assert missed(progress.here().records) == list(asked[1:])


# Files that are wrong --------------------------------------------------------------------------

GOOD = "# recall\n\n## Which?\n\n- [ ] this\n\n  No.\n\n- [x] that\n\n  Yes.\n"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (GOOD.replace("[x]", "[ ]"), "has 0 choices that are right"),
        (GOOD.replace("[ ]", "[x]"), "has 2 choices that are right"),
        (GOOD.replace("  No.\n", ""), "answers 1 of its 2 choices"),
        (GOOD.replace("that", "this"), "all different"),
        (GOOD.replace("- [x] that\n\n  Yes.\n", ""), "needs 2 to 5 choices"),
        (GOOD.replace("Which?\n", "Which?\n\nOf these two.\n"), "words between the question"),
        (GOOD + "\n# empty\n", "# empty has no question"),
        (GOOD + "\n" + GOOD, "stands there twice"),
    ],
)
def test_a_file_of_another_form_says_what_and_where(wrong: str, said: str, work: Path) -> None:
    path = work / "quizzes.md"
    path.write_text(wrong, encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(said)) as error:
        read(path, "02-pure-python")
    assert str(path) in str(error.value)


def test_a_title_that_is_none_says_which_there_are() -> None:
    begin("02-pure-python")
    there = "'recall', 'predict', 'check yourself'"
    assert tells(str(quiz("recal")), "02-pure-python", "no quiz 'recal'", there)
