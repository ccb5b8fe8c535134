"""Handed in again, graded again, scored by a person in between: what stands, and what is said."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from nbgrader import api

from autograder import Usage
from autograder.gradebook.course import Course, CourseError
from autograder.gradebook.gradebook import Gradebook
from autograder.run import classes, journal
from tests import gradebooks, small_class
from tests.course import tells
from tests.small_class import LESSON, hand_in, notebook, recorded, written
from tests.test_grade_command import command

pytestmark = pytest.mark.slow

grade = partial(small_class.grade, jobs=1, seed=1)
MOST = 9.0
FOUR = "scaled_dot_product_attention"  # is worth 4 points, softmax 1
DUE, EARLY, LATE = (f"2026-03-{day} 12:00:00 UTC" for day in ("02", "01", "03"))


def submit(course: Path, student: str, at: str = "", **statuses: str) -> None:
    """Hand a notebook in, in which all is right but what is named."""
    path = hand_in(course, student, notebook({"statuses": statuses}))
    if at:
        path.with_name("timestamp.txt").write_text(at)


def worse(course: Path, student: str, at: str = "") -> None:
    submit(course, student, at, **{FOUR: "FAIL"})


def torn(course: Path, student: str, at: str = "") -> None:
    hand_in(course, student, b"{")


def gradebook(course: Path) -> api.Gradebook:
    """nbgrader's own view of what was recorded."""
    return gradebooks.open_book(course)


def score_by_hand(course: Path, student: str, name: str, score: float | None) -> None:
    """As formgrader saves a person's score, or that the autograder's is right."""
    with gradebook(course) as found:
        row = found.find_grade(f"{name}-check", LESSON, LESSON, student)
        row.manual_score, row.needs_manual_grade = score, False
        found.db.commit()


def total(course: Path, student: str) -> float:
    """What `nbgrader export` writes."""
    with gradebook(course) as found:
        submission = found.find_submission(LESSON, student)
        return max(0.0, submission.score - submission.late_submission_penalty)


def page(course: Path, student: str) -> str:
    """What is read on a student's page, from the score on."""
    path = course / "class" / "feedback" / student / LESSON / f"{LESSON}.html"
    text = re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", path.read_text(encoding="utf-8")))
    return text[text.index("Score:") :]


def rule(course: Path, penalty: str) -> None:
    """Give the course a due date, and a rule for what is late."""
    with open(course / "nbgrader_config.py", "a", encoding="utf-8") as file:
        file.write(
            "\nfrom nbgrader.plugins import BasePlugin\n"
            "class Rule(BasePlugin):\n"
            "    def late_submission_penalty(self, student_id, score, total_seconds_late):\n"
            f"        return {penalty}\n"
            "c.AssignLatePenalties.plugin_class = Rule\n"
        )
    with gradebook(course) as found:
        found.update_or_create_assignment(LESSON, duedate=DUE)


def killed(*_: Any) -> None:
    raise KeyboardInterrupt


# --- penalties ---


@pytest.mark.parametrize("penalty", ["score", "score / 2", "1.0", "None"])
def test_feedback_lets_the_penalty_follow_scores_set_since(course: Path, penalty: str) -> None:
    rule(course, penalty)
    for student in ("ann", "bob"):
        submit(course, student, LATE)
    grade(course)
    score_by_hand(course, "ann", FOUR, 1.0)
    assert command("feedback", LESSON) == 0
    taken = eval(penalty, {"score": MOST - 3}) or 0.0
    assert total(course, "ann") == MOST - 3 - taken
    assert page(course, "ann").startswith(f"Score: {MOST - 3 - taken:g} of 9 points")
    assert total(course, "bob") == MOST - (eval(penalty, {"score": MOST}) or 0.0)
    shown = recorded(course), written(course)
    grade(course)
    assert (recorded(course), written(course)) == shown, "as if all were graded again"


def test_feedback_lets_the_penalty_follow_due_dates_and_extensions(course: Path) -> None:
    rule(course, "score")
    for student in ("ann", "bob"):
        submit(course, student, LATE)
    grade(course)
    with gradebook(course) as found:
        found.grant_extension(LESSON, "ann", days=2)
    assert command("feedback", LESSON, "--student=ann") == 0
    assert page(course, "ann").startswith("Score: 9 of 9 points")
    assert total(course, "bob") == 0
    with gradebook(course) as found:
        found.update_or_create_assignment(LESSON, duedate=LATE)
    assert command("feedback", LESSON, "--student=ann") == 0
    assert total(course, "bob") == 0, "whose page was not written, and would be stale"
    assert command("feedback", LESSON) == 0
    assert page(course, "bob").startswith("Score: 9 of 9 points")


def test_a_rule_that_stops_leaves_pages_and_penalties(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rule(course, "score if score == 9 else 1 / 0")
    submit(course, "ann", LATE)
    grade(course)
    before = written(course)
    score_by_hand(course, "ann", FOUR, 1.0)
    assert command("feedback", LESSON) == 1
    assert tells(capsys.readouterr().err, "Rule", "'ann'", "ZeroDivisionError")
    assert written(course) == before


# --- whom to look at ---


def looks(said: str) -> str:
    """The part of a summary on whom to look at first."""
    return said.partition("Look at first")[2].partition("\n\n")[0]


def change_nothing(course: Path) -> None:
    pass


def hand_in_another(course: Path) -> None:
    submit(course, "ann", **{FOUR: "POLICY", "project": "FAIL"})


def hand_in_the_same_later(course: Path) -> None:
    submit(course, "ann", LATE, **{FOUR: "POLICY"})


@pytest.mark.parametrize("score", [None, 0.0, 4.0])
@pytest.mark.parametrize(
    ("change", "waits"),
    [(change_nothing, False), (hand_in_another, True), (hand_in_the_same_later, True)],
)
def test_what_a_person_has_judged_waits_again_only_where_it_changed(
    course: Path,
    capsys: pytest.CaptureFixture[str],
    change: Callable[[Path], None],
    waits: bool,
    score: float | None,
) -> None:
    submit(course, "ann", **{FOUR: "POLICY"})
    submit(course, "bob")
    grade(course)
    assert "ann" in looks(capsys.readouterr().err)
    score_by_hand(course, "ann", FOUR, score)
    score_by_hand(course, "bob", FOUR, 3.0)
    change(course)
    grade(course, seed=2)
    said = capsys.readouterr().err
    assert ("ann" in looks(said)) == waits
    assert "bob" not in looks(said)
    with Gradebook(Course.here()) as found:
        found.prepare(LESSON)
        assert set(found.remarks(LESSON).by_hand) == ({"ann"} if waits else set())


def test_the_summary_names_first_only_what_changed_since_the_last_and_keeps_the_rest(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    submit(course, "ann", **{FOUR: "POLICY"})
    torn(course, "bob")
    grade(course)
    said = capsys.readouterr().err
    assert "Look at first: 2" in said
    assert "last summary" not in said
    submit(course, "cid", **{"project": "TIMEOUT"})
    grade(course, seed=2)
    said = capsys.readouterr().err
    assert "Look at first: 1\nCRASH, OOM or TIMEOUT" in said
    assert tells(said, "last summary", ": 2 (bob, ann)")
    kept = (course / "class" / "runs" / LESSON / journal.SUMMARY).read_text()
    assert tells(kept, "last summary", ": 2\nINVALID")
    assert f"class/submitted/bob/{LESSON}/" in kept
    assert f"class/autograded/ann/{LESSON}/" in kept


def test_a_run_that_never_came_to_its_summary_has_told_nothing(
    course: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    torn(course, "bob")
    with monkeypatch.context() as patch:
        patch.setattr(classes, "summarise", killed)
        with pytest.raises(classes.Stopped):
            grade(course)
    for resume in (True, False):
        capsys.readouterr()
        grade(course, resume=resume)
        assert ("Look at first: 1" in capsys.readouterr().err) == resume


# --- a worse one ---

WORSE: dict[str, tuple[Callable[..., None], str]] = {
    "worse": (worse, "5 points, after 9"),
    "torn": (torn, "0 points, after 9"),
}


def keeps(course: Path, keep: str) -> None:
    """Let the course's settings say which hand-in counts."""
    with open(course / "nbgrader_config.py", "a", encoding="utf-8") as file:
        file.write(f"\nc.Attnlab.keep = {keep!r}\n")


def test_the_settings_say_which_hand_in_counts_unless_the_command_does(course: Path) -> None:
    keeps(course, "best")
    submit(course, "ann")
    grade(course)
    worse(course, "ann")
    grade(course)
    assert total(course, "ann") == 9
    grade(course, keep="latest")
    assert total(course, "ann") == 5
    keeps(course, "beste")
    with pytest.raises(CourseError, match=r"'beste'.*'latest'.*'best'"):
        grade(course)


@pytest.mark.parametrize("kind", WORSE)
@pytest.mark.parametrize("keep", ["latest", "best"])
def test_a_worse_hand_in_says_so_on_the_page_and_in_the_summary(
    course: Path, capsys: pytest.CaptureFixture[str], kind: str, keep: str
) -> None:
    spoil, said = WORSE[kind]
    score = said.split()[0]
    submit(course, "ann")
    submit(course, "bob")
    grade(course, keep=keep)
    assert "hand-in" not in page(course, "ann")
    before = written(course)
    spoil(course, "ann")
    capsys.readouterr()
    [result, _] = grade(course, keep=keep)
    printed = capsys.readouterr().err
    summary = (course / "class" / "runs" / LESSON / journal.SUMMARY).read_text()
    if keep == "latest":
        assert tells(printed, "Worse", f"before: 1 (ann {score} after 9)")
        assert f"ann: {said}" in summary
        assert tells(page(course, "ann"), "earlier hand-in", "9 of 9", "more")
        assert (total(course, "ann"), result["score"]) == (float(score), float(score))
    else:
        assert tells(printed, "Worse", f"kept: 1 (ann {score} after 9)")
        assert f"kept: 1\n  ann: {said}" in summary
        assert tells(page(course, "ann"), "later hand-in", f"{score} of 9", "less")
        assert page(course, "ann").startswith("Score: 9 of 9 points")
        assert (total(course, "ann"), result["score"]) == (9.0, 9.0)
        autograded = f"class/autograded/ann/{LESSON}/{LESSON}.ipynb"
        assert written(course)[autograded] == before[autograded]
    assert "hand-in" not in page(course, "bob")
    shown = recorded(course), written(course)
    for again in ({}, {"resume": True}, {"students": ("ann",)}):
        grade(course, keep=keep, **again)
        assert (recorded(course), written(course)) == shown
    command("feedback", LESSON)
    assert written(course) == shown[1]


@pytest.mark.parametrize("keep", ["latest", "best"])
def test_a_better_or_an_equal_one_replaces_the_first(course: Path, keep: str) -> None:
    worse(course, "ann", EARLY)
    grade(course, keep=keep)
    for number in range(2):
        submit(course, "ann", LATE, **({"softmax": "FAIL"} if number == 0 else {"project": "FAIL"}))
        [result] = grade(course, keep=keep)
        assert (result["score"], total(course, "ann")) == (8.0, 8.0)
        assert "hand-in" not in page(course, "ann")
    name = f"class/autograded/ann/{LESSON}/{LESSON}.ipynb"
    assert json.loads(written(course)[name])["metadata"]["fake"] == {
        "statuses": {"project": "FAIL"}
    }


def test_of_what_is_kept_notebook_scores_and_time_stay(course: Path) -> None:
    submit(course, "ann", EARLY)
    grade(course, keep="best")
    before = recorded(course), written(course)
    worse(course, "ann", LATE)
    grade(course, keep="best")
    books, files = recorded(course), written(course)
    assert books == before[0]
    changed = {name for name in files if files[name] != before[1].get(name)}
    assert changed == {f"class/feedback/ann/{LESSON}/{LESSON}.html"}
    with gradebook(course) as found:
        assert f"{found.find_submission(LESSON, 'ann').timestamp:%d}" == "01"


def test_what_is_better_counts_lateness_and_what_a_person_gave(course: Path) -> None:
    rule(course, "score")
    for student in ("late", "scored", "extended"):
        worse(course, student, EARLY)
    grade(course, keep="best")
    score_by_hand(course, "scored", FOUR, 4.0)
    submit(course, "late", LATE)  # more points, and a penalty of all of them
    submit(course, "scored", EARLY, **{FOUR: "PASS", "softmax": "FAIL"})
    submit(course, "extended", LATE)
    with gradebook(course) as found:
        found.grant_extension(LESSON, "extended", days=2)
    grade(course, keep="best")
    assert total(course, "late") == 5
    assert tells(page(course, "late"), "later hand-in", "9 of 9", "less")
    assert total(course, "scored") == 9, "8 with the person's 4, where the first has 9"
    assert total(course, "extended") == 9
    assert "hand-in" not in page(course, "extended")


def test_graded_again_a_hand_in_may_lose_points_also_where_the_best_is_kept(course: Path) -> None:
    hand_in(course, "ann", notebook({"number": 2}))
    scores = {grade(course, seed=seed, keep="best")[0]["score"] for seed in range(6)}
    assert len(scores) > 1
    [result] = grade(course, seed=0, keep="best")
    assert total(course, "ann") == result["score"]
    assert "hand-in" not in page(course, "ann")


@pytest.mark.sqlite
def test_nothing_is_kept_that_the_gradebook_has_lost(course: Path) -> None:
    backup = (course / "class" / "gradebook.db").read_bytes()
    submit(course, "ann")
    grade(course, keep="best")
    (course / "class" / "gradebook.db").write_bytes(backup)
    worse(course, "ann")
    grade(course, keep="best")
    assert total(course, "ann") == 5
    assert tells(page(course, "ann"), "earlier hand-in", "9 of 9")


def test_killed_between_gradebook_and_journal_the_page_says_the_same(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit(course, "ann")
    grade(course)
    worse(course, "ann")
    with monkeypatch.context() as patch:
        patch.setattr(journal.Journal, "add", killed)
        with pytest.raises(classes.Stopped):
            grade(course)
    assert tells(page(course, "ann"), "earlier hand-in", "9 of 9")
    grade(course, resume=True)
    assert tells(page(course, "ann"), "earlier hand-in", "9 of 9")


def test_a_run_goes_on_with_the_hand_ins_that_it_keeps(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    submit(course, "ann")
    grade(course, keep="best")
    worse(course, "ann")
    grade(course, resume=True)
    assert total(course, "ann") == 9
    with pytest.raises(Usage, match=r"best.*latest"):
        grade(course, resume=True, keep="latest")


@pytest.mark.parametrize("value", ["worst", "", "BEST", "1", "best,latest"])
def test_what_is_no_way_to_keep_is_a_wrong_command(
    value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        command("grade", LESSON, f"--keep={value}")
    assert stopped.value.code == 2
    assert "invalid choice" in capsys.readouterr().err
