"""What must have come of each attack, and of the class as a whole."""

from __future__ import annotations

from tests.attacks import Attack
from tests.attacks.hostile_class import RESULT, Run


def problems(attack: Attack, done: Run) -> list[str]:
    """What is wrong with an attack's result; nothing, if the grader held."""
    result = done.attacks.get(attack.name)
    if result is None:
        return ["there is no result"]
    if attack.invalid:
        return _of_invalid(result)
    wrong = [] if result["status"] == "GRADED" else [f"{result['status']}: {result['message']}"]
    missing = set(attack.expected) - {exercise["name"] for exercise in result["exercises"]}
    wrong += [f"{name} is not in the result" for name in sorted(missing)]
    for exercise in result["exercises"]:
        if attack.spoils and exercise["name"] not in attack.expected:
            continue
        statuses = attack.expected.get(exercise["name"], ("PASS",))
        points = exercise["max_score"] if exercise["status"] == "PASS" else attack.earns
        if exercise["status"] not in statuses or exercise["score"] != points:
            wrong.append(
                f"{exercise['name']} {exercise['status']} {exercise['score']:g} of "
                f"{exercise['max_score']:g} ({exercise['message'][:90]!r})"
            )
    if result["score"] != sum(exercise["score"] for exercise in result["exercises"]):
        wrong.append("the score is not the sum of its parts")
    if attack.repaired and not any(attack.repaired in said for said in result["repaired"]):
        wrong.append(f"no repair of {attack.repaired}: {result['repaired']}")
    if attack.flagged and not any(attack.flagged in flag for flag in result["flags"]):
        wrong.append(f"no flag of {attack.flagged}: {result['flags']}")
    if attack.unseen and attack.unseen in done.pages.get(attack.name, ""):
        wrong.append(f"{attack.unseen!r} is shown")
    return wrong


def of_class(done: Run) -> list[str]:
    """What is wrong with the class as a whole."""
    return [
        *done.failed,
        *(
            f"an honest student lost points: {lost(result)}"
            for result in done.honest
            if lost(result)
        ),
        *(f"survived: {each}" for each in done.survivors),
        *(f"left behind: {each}" for each in done.left),
        *(f"changed: {each}" for each in done.changed),
        *([f"{done.callers} calls came through"] if done.callers else []),
    ]


def lost(result: RESULT) -> list[str]:
    """Exercises without all their points."""
    if not result["exercises"]:
        return [f"{result['status']}: {result['message']}"]
    return [
        f"{result['lesson']}: {exercise['name']} {exercise['status']} ({exercise['message']})"
        for exercise in result["exercises"]
        if exercise["score"] != exercise["max_score"] or exercise["status"] != "PASS"
    ]


def summary(attack: Attack, done: Run) -> str:
    """What came of the touched exercises, in short."""
    result = done.attacks.get(attack.name)
    if result is None or not result["exercises"]:
        return result["status"] if result else "-"
    touched = [e for e in result["exercises"] if e["name"] in attack.expected]
    statuses = sorted({exercise["status"] for exercise in touched})
    found = ", ".join(statuses) or ("all PASS" if result["score"] == result["max_score"] else "-")
    return found + (", flagged" if result["flags"] else "")


def _of_invalid(result: RESULT) -> list[str]:
    if result["status"] != "INVALID" or result["score"] or result["exercises"]:
        return [f"{result['status']} with {result['score']:g} points"]
    return [] if result["message"] else ["INVALID, and no word of why"]
