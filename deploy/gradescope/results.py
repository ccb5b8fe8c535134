"""A result of the grader's, as Gradescope reads it: results.json."""

from __future__ import annotations

from typing import Any

from autograder.submission.results import Result

FOR_A_PERSON = "For a person to look at"


def results(result: Result, seconds: float) -> dict[str, Any]:
    """What results.json holds: a test for each exercise, and what a person should look at, hidden.

    Args:
        seconds: that grading took.
    """
    tests = [
        _test(exercise.name, exercise.score, exercise.max_score, exercise.message, exercise.status)
        for exercise in result.exercises
    ]
    if not tests:  # there was nothing to grade: why is the only thing to show
        name = f"{result.lesson}.ipynb"
        tests = [_test(name, 0.0, result.max_score, result.message, result.status)]
    if result.flags:  # never a score: a hidden test adds no points
        flags = "\n".join(result.flags)
        tests.append({"name": FOR_A_PERSON, "output": flags, "visibility": "hidden"})
    told = [result.message, *(f"Put right: {repair}" for repair in result.repaired)]
    return {
        "score": result.score,
        "output": "\n".join(filter(None, told)),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",  # the seed is printed
        "execution_time": round(seconds, 1),
        "tests": tests,
    }


def _test(name: str, score: float, most: float, message: str, status: str) -> dict[str, Any]:
    return {
        "name": name,
        "score": score,
        "max_score": most,
        "status": "passed" if status == "PASS" else "failed",
        "output": message,
        "output_format": "text",
        "visibility": "visible",
    }
