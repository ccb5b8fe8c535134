"""What a class's results come to: `autograder.pages.summary`, on small results made by hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from attnlab.calling.call import Call, Outcome, Raised
from attnlab.checks.judge import judge
from attnlab.lessons import exercises_of
from autograder.pages.summary import Remarks, Texts, summarise
from autograder.run import verdicts
from tests.course import tells

LESSON = "06-causal-mask"
NOTEBOOK = f"{LESSON}/{LESSON}.ipynb"
Found = dict[str, Any]


def exercise(
    name: str, status: str = "PASS", slug: str | None = None, message: str = "", score: float = 0.0
) -> Found:
    """One exercise, worth 2 points."""
    return {
        "name": name,
        "status": status,
        "score": 2.0 if status == "PASS" else score,
        "max_score": 2.0,
        "diagnosis": slug,
        "message": message,
        "seconds": 0.1,
    }


def result(student: str, *exercises: Found, **said: Any) -> Found:
    """One submission, all right unless it is said otherwise."""
    exercises = exercises or (exercise("mask"), exercise("attention"))
    return {
        "student": student,
        "lesson": LESSON,
        "status": "GRADED",
        "message": "",
        "score": sum(item["score"] for item in exercises),
        "max_score": 4.0,
        "repaired": [],
        "flags": [],
        "exercises": list(exercises),
    } | said


def invalid(student: str, message: str = "The file is empty.") -> Found:
    return result(student, status="INVALID", message=message, score=0.0, exercises=[])


def summary(
    *results: Found,
    remarks: Remarks | None = None,
    left_out: Mapping[str, str] | None = None,
) -> Texts:
    folders = Path("class/submitted"), Path("class/autograded")
    return summarise(LESSON, results, remarks or Remarks(), left_out or {}, *folders)


def first_to_look_at(text: str) -> list[str]:
    """Students in their order, of whom the whole summary says what to open."""
    return [line.split("/")[2] for line in text.splitlines() if line.startswith("    class/")]


# Exercises


def test_each_exercise_has_its_passes_its_mean_and_what_points_were_lost_for() -> None:
    failed = [("no-scale", 3), ("wrong-type", 4), ("wrong-shape", 2), ("non-finite", 1), (None, 1)]
    results = [
        result(f"{slug}{number}", exercise("mask"), exercise("attention", "FAIL", slug, "", 0.5))
        for slug, count in failed
        for number in range(count)
    ]
    results += [result("m", exercise("mask"), exercise("attention", "MISSING"))]
    results += [result("e", exercise("mask"), exercise("attention", "ERROR", "raised"))] * 2
    results += [result("r")] * 6
    texts = summary(*results)
    assert tells(texts.printed.splitlines()[0], LESSON, "20 graded", "2.88 of 4")
    table = texts.printed.split("\n\n")[1].splitlines()
    assert [line.split() for line in table[:3]] == [
        ["exercise", "passed", "failed", "mean", "points"],
        ["mask", "20", "0", "2.00", "of", "2"],
        ["attention", "6", "14", "0.88", "of", "2"],
    ]
    assert " ".join(" ".join(table[3:]).split()) == (
        "FAIL 11 (wrong-type 4, no-scale 3, wrong-shape 2, other 2), ERROR 2 (raised 2), MISSING 1"
    )
    assert "wrong-shape 2, non-finite 1, other 1)" in texts.written


def test_who_handed_in_no_notebook_lowers_no_mean() -> None:
    wrong = result("b", exercise("mask"), exercise("attention", "FAIL"))
    texts = summary(result("a"), wrong, invalid("c"))
    assert tells(texts.printed.splitlines()[0], "2 graded", "3.00 of 4", "1 INVALID")
    assert "mask            2       0    2.00 of 2" in texts.printed
    assert "exercise" not in summary(invalid("c")).printed


def test_of_a_class_in_which_all_is_well_there_is_nothing_else_to_say() -> None:
    texts = summary(*[result(f"s{number}") for number in range(5)])
    assert texts.printed == texts.written
    assert len(texts.printed.splitlines()) == 5
    [line] = summary().printed.splitlines()
    assert tells(line, LESSON, "0 graded")
    assert "mean" not in line


# Whom to look at first


def stub_message(name: str) -> str:
    """What the check says of a stub that was left as it was."""
    found = exercises_of(LESSON)[name]

    def perform(calls: Sequence[Call]) -> Iterator[Outcome]:
        names = ("NotImplementedError", "RuntimeError", "Exception")
        return iter([Outcome(raised=Raised(names, "", "raise NotImplementedError", name))])

    verdict = judge(found, perform)
    assert verdict.status == "MISSING"
    return verdict.message


BAFFLED = verdicts.broken(exercises_of(LESSON)["attention"], ValueError()).message
REPAIRS = [f"mask-check-{number}: source restored" for number in range(5)]
ZERO = exercise("mask", "FAIL"), exercise("attention", "MISSING")
LOOKS = [  # in the order in which a person should look
    ("INVALID", invalid("s"), "The file is empty."),
    ("CRASH, OOM or TIMEOUT", result("s", exercise("mask", "CRASH")), "mask CRASH"),
    ("POLICY or flagged", result("s", exercise("mask", "POLICY", message="No")), "mask POLICY: No"),
    ("The grader's own trouble", result("s", exercise("mask", "ERROR", message=BAFFLED)), "mask"),
    ("Much repaired", result("s", repaired=REPAIRS), "mask-check-0: source restored; mask"),
    ("0 points, though something was written", result("s", *ZERO), "FAIL 1, MISSING 1"),
    ("Waiting in formgrader", result("s"), "the grader's own score is 4"),
]


@pytest.mark.parametrize(("reason", "of", "said"), LOOKS, ids=[reason for reason, *_ in LOOKS])
def test_who_needs_a_person_is_named_with_what_was_found_and_what_to_open(
    reason: str, of: Found, said: str
) -> None:
    remarks = Remarks(by_hand={"s"})
    texts = summary(result("fine"), of, remarks=remarks)
    folder = "submitted" if reason in ("INVALID", "Much repaired") else "autograded"
    [heading] = [line for line in texts.printed.splitlines() if line.startswith(reason)]
    assert heading.endswith(" (1)")
    assert f"\n  s  {said}" in texts.printed
    assert heading in texts.written
    path = f"{LESSON}/" if reason == "INVALID" else NOTEBOOK  # there may be no such file
    assert f"\n    class/{folder}/s/{path}\n" in texts.written
    assert f"To open: class/autograded/STUDENT/{NOTEBOOK}\n" in texts.printed
    assert ("class/submitted/" in texts.printed) == (folder == "submitted")
    assert first_to_look_at(texts.written) == ["s"]


@pytest.mark.parametrize("status", ["CRASH", "OOM", "TIMEOUT"])
def test_whatever_stopped_the_code_is_looked_at(status: str) -> None:
    assert f"mask {status}" in summary(result("s", exercise("mask", status))).printed


def test_the_most_urgent_come_first_whatever_the_order_of_the_class() -> None:
    results = [of | {"student": f"s{number}"} for number, (_, of, _) in enumerate(LOOKS)]
    texts = summary(*reversed(results), remarks=Remarks(by_hand={"s6"}))
    assert first_to_look_at(texts.written) == [f"s{number}" for number in range(7)]
    headings = [texts.printed.index(reason) for reason, *_ in LOOKS]
    assert headings == sorted(headings)
    assert "Look at first: 7\n" in texts.printed


def test_who_has_several_reasons_stands_under_the_first_with_all_of_them() -> None:
    stopped = exercise("mask", "TIMEOUT", None, "it was still running")
    flagged = result("s", stopped, exercise("attention", "POLICY"), flags=["mask: an odd name"])
    written = summary(flagged).written
    assert first_to_look_at(written) == ["s"]
    assert tells(written, "CRASH, OOM or TIMEOUT", "(1)\n  s\n")
    for said in ("mask TIMEOUT: it was still running", "attention POLICY", "mask: an odd name"):
        assert said in " ".join(written.split())


def test_a_flag_alone_is_a_reason_and_costs_nothing() -> None:
    texts = summary(result("s", flags=["attention-check: code that looks for its caller"]))
    assert tells(texts.printed, "POLICY or flagged", "(1)\n  s  attention-ch")
    assert "mean 4.00 of 4" in texts.printed


def test_no_points_are_looked_at_unless_every_stub_is_as_it_was() -> None:
    mask, attention = (
        exercise(name, "MISSING", None, stub_message(name)) for name in ("causal_mask", "attention")
    )
    results = {
        "untouched": attention,
        "renamed": exercise("attention", "MISSING", None, "There is no `attention` in the cells."),
        "wrong": exercise("attention", "FAIL", "no-scale"),
        "partly": exercise("attention", "FAIL", "no-scale", "", 0.5),
    }
    texts = summary(*(result(name, mask, found) for name, found in results.items()))
    assert first_to_look_at(texts.written) == ["renamed", "wrong"]


def test_a_few_repairs_are_told_and_no_reason_to_look() -> None:
    texts = summary(result("ann", repaired=REPAIRS[:4]), result("bob"))
    assert "Repaired: 1 (ann)\n" in texts.printed
    assert "Look at first" not in texts.written
    assert all(repair in texts.written for repair in REPAIRS[:4])


# Late


def test_who_is_late_and_by_how_much_the_latest_first() -> None:
    minute, hour, day = 60.0, 3600.0, 86400.0
    late = {"a": 1.0, "b": 0.0, "c": 3 * hour + 10 * minute, "d": 2 * day + 5 * hour + 1, "e": day}
    texts = summary(*map(result, "abcde"), remarks=Remarks({**late, "not in this run": day}))
    assert "\nLate: 4 (d by 2 d 5 h, e by 1 d, c by 3 h 10 min, a by 1 min)\n" in texts.printed
    assert "\nLate: 4\n  d by 2 d 5 h\n  e by 1 d\n" in texts.written


def test_without_a_due_date_nothing_is_said_of_it_and_with_one_that_nobody_was_late() -> None:
    assert "Late" not in summary(result("a")).written
    assert "Late: 0\n" in summary(result("a"), remarks=Remarks({"a": 0.0})).printed


def test_whose_time_is_not_known_is_not_called_in_time() -> None:
    texts = summary(result("a"), remarks=Remarks({"a": None}))
    assert tells(texts.printed, "unknown time", ": 1 (a)\n")
    assert "Late" not in texts.written


# Bounds


def large(names: Sequence[str]) -> Texts:
    """A class in which everybody has every reason, and learners wrote what they liked."""
    hostile = "\x1b[2J\u202e line\n" * 1000
    results = [
        of | {"student": f"{name}-{number}", "message": hostile * (number == 0)}
        for name in names
        for number, (_, of, _) in enumerate(LOOKS)
    ]
    for each in results:
        each["repaired"] = each["repaired"] and [f"{hostile}: put back"] * 1000
        each["exercises"] = [
            item | {"message": hostile + item["message"]} for item in each["exercises"]
        ]
    everyone = [each["student"] for each in results]
    return summary(*results, remarks=Remarks(dict.fromkeys(everyone, 90000.0), set(everyone)))


@pytest.mark.parametrize("name", ["n", "n" * 128, "\x1b[2J\n", "\u202e", "注意" * 60])
def test_a_large_class_fills_no_more_than_a_screen_or_two(name: str) -> None:
    texts = large([f"{name}{number}" for number in range(30)])
    lines = texts.printed.splitlines()
    assert len(lines) <= 80
    assert max(map(len, lines)) <= 80
    assert all(line.isprintable() for line in lines)
    assert "  and 25 more" in texts.printed
    assert "and 200 more)" in " ".join(texts.printed.split())


def test_the_whole_summary_names_everybody_and_is_bounded_for_each() -> None:
    texts = large([f"s{number}" for number in range(30)])
    assert all(line.isprintable() for line in texts.written.splitlines())
    named = first_to_look_at(texts.written)
    assert sorted(named) == sorted(f"s{who}-{why}" for who in range(30) for why in range(7))
    assert len(texts.written) < 210 * 1500


def test_a_word_on_somebodys_files_and_who_handed_in_nothing_are_told() -> None:
    noted = result("cara", message="Only `a.ipynb` is graded, and `b.ipynb` is not.")
    texts = summary(result("a"), noted, remarks=Remarks(known={"a", "cara", "zoe"}))
    assert tells(texts.printed, "their files", ": 1 (cara)\n")
    assert "\nNothing handed in: 1 (zoe)\n" in texts.printed
    assert "  cara: Only `a.ipynb` is graded, and `b.ipynb` is not.\n" in texts.written
    alone = summary(result("a"), remarks=Remarks(known={"a"}))
    assert "Nothing handed in" not in alone.printed


def test_what_was_left_out_is_told_with_the_reason_and_once() -> None:
    left = {"\x1bbob": "its folder is empty", "dan": "", "zoe": "move its a to b"}
    texts = summary(result("a"), remarks=Remarks(known={"a", "cid", "zoe"}), left_out=left)
    assert first_to_look_at(texts.written) == ["\\x1bbob", "zoe"]
    assert "\n  \\x1bbob  its folder is empty\n  zoe      move its a to b\n" in texts.printed
    assert "\n    class/submitted/zoe\n" in texts.written
    assert "\nNothing handed in: 2 (cid, dan)\n" in texts.printed
