"""The page and the table about a class: what they tell, whom they name, and what cannot act."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import shutil
import sqlite3
from pathlib import Path

import pytest

from attnlab.checks.verdict import Diagnosis
from attnlab.lessons import exercises_of
from autograder.gradebook.course import Course
from autograder.gradebook.gradebook import Gradebook
from autograder.run import classes
from autograder.run.journal import NAME, Journal
from autograder.submission.folder import Submission
from autograder.submission.results import Graded
from autograder.term.anonymous import BLOT, Anonymous
from autograder.term.class_results import ClassResults, Student
from autograder.term.mistakes import mistakes_of, taken_apart
from autograder.term.tables import harmless
from tests import graded
from tests.course import tells
from tests.graded import LESSON, MOST
from tests.small_class import hand_in
from tests.test_feedback import HOSTILE, Page
from tests.test_grade_command import command

ATTENTION = """\
def attention(x, Wq, Wk, Wv):
    # {note}
    {q}, {k}, {v} = x @ Wq, x @ Wk, x @ Wv
    scores = {q} @ {k}.mT / x.shape[-1] ** 0.5
    hidden = torch.ones(scores.shape[-2:]).tril() == 0
    weights = torch.softmax(scores.masked_fill(hidden, -1e9), dim=-1)
    return weights @ {v}, weights
"""
ODD = "<b onclick=alert(1)>odd</b>"
UNTOUCHED = "Write `{}` in the cell above, run that cell, and run this one again."
HOSTILE_ID = "'onload='x(1)'"


def answer(note: str = "mine", q: str = "q", k: str = "k", v: str = "v") -> str:
    return ATTENTION.format(note=note, q=q, k=k, v=v)


def honest(number: int) -> str:
    """One of many ways to write it."""
    lines = "\n".join(f"    step{n} = x @ Wq * {n} + {number}" for n in range(9))
    return f"def attention(x, Wq, Wk, Wv):\n{lines}\n    return step1, step2\n"


def recorded(course: Path, *batch: Graded, seed: int = 1, stands: bool = True) -> None:
    """Graded submissions in gradebook, folders and journal, as a run leaves them."""
    here = Course.here()
    path = course / "class" / "runs" / LESSON / NAME
    header = {"lesson": LESSON, "seed": seed, "begun": str(seed)}
    with Gradebook(here) as gradebook, Journal.begin(path, header) as log:
        gradebook.prepare(LESSON)
        for each in batch:
            student = each.result.student
            hand_in(course, student, f"{seed}".encode(), LESSON)
            told = gradebook.record([each])[0]
            sent = Submission(student, f"{student} {seed}".encode())
            log.add([classes._line(sent, each, told) | {"stands": stands}])


def untouched(student: str) -> Graded:
    """Who handed in the notebook as it was given out."""
    cards = {
        name: graded.verdict(name, "MISSING", 0.0, each.points, message=UNTOUCHED.format(name))
        for name, each in exercises_of(LESSON).items()
    }
    return graded.grade(student, dict.fromkeys(cards, "MISSING"), verdicts=cards)


def the_class() -> list[Graded]:
    """Ten students: two copies, two hostile ones, an empty notebook, and one that is none."""
    fails, partly = {"attention": "FAIL"}, {"attention": 2.5}
    code = {
        "ann": answer("by Ann Miller"),
        "bob": answer("all mine", "queries", "keys", "values"),
        "cem": honest(1),
    }
    found = [
        graded.grade(name, fails, partly, code={"attention": source})
        for name, source in code.items()
    ]
    odd = Diagnosis(ODD, *HOSTILE[:2])
    said = graded.verdict("attention", "FAIL", 2.5, 5.0, message=" ".join(HOSTILE), diagnosis=odd)
    told = f"\n# {' '.join(HOSTILE)}\nann_told = {[*HOSTILE, 'of cem-x']!r}\n"
    found += [
        graded.grade(name, fails, partly, LESSON, {"attention": said}, {"attention": source})
        for name, source in (("dan", honest(2) + told), (HOSTILE_ID, honest(2) + told + "# Cem"))
    ]
    found += [graded.grade(name) for name in ("eve", "fay", "gil")]
    found.append(untouched("hal"))
    return [*found, graded.invalid("ida", "The file is empty.")]


@pytest.fixture(scope="module")
def graded_course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course whose class is graded."""
    folder = graded.make_course(tmp_path_factory.mktemp("course"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        recorded(folder, *the_class())
    return folder


@pytest.fixture
def course(graded_course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it; the current folder."""
    folder = Path(shutil.copytree(graded_course, tmp_path / "course"))
    monkeypatch.chdir(folder)
    return folder


def report(course: Path, *options: str) -> str:
    """The page that the command writes."""
    assert command("report", LESSON, *options) == 0
    name = f"{LESSON}-names.html" if "--names" in options else f"{LESSON}.html"
    return (course / "class" / "reports" / LESSON / name).read_text(encoding="utf-8")


def table(course: Path) -> list[dict[str, str]]:
    path = course / "class" / "reports" / LESSON / f"{LESSON}.csv"
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))


def read_as_text(page: str) -> str:
    return " ".join(" ".join(data for tag, data in Page(page).text if tag != "style").split())


def journal(course: Path) -> Path:
    return course / "class" / "runs" / LESSON / NAME


# --- what it tells ---


def test_scores_exercises_mistakes_and_claims_are_told(course: Path) -> None:
    text = read_as_text(report(course))
    assert tells(text, "9 students graded", "1 handed in")
    assert "hardest attention," in text
    assert "entry [0, 1] is 0.5 too large" in text
    assert " 3 7.5 " in text
    assert "it agrees with PyTorch 5 0 0" in text
    assert "Who may need a person" not in text


def test_the_page_to_be_shown_names_nobody(course: Path) -> None:
    page = report(course)
    text = read_as_text(page)
    assert "Without names" in text
    for name in ("ann", "bob", "cem", "dan", "Miller", "hal", "ida", "onload"):
        assert not re.search(rf"(?<![a-z]){name}(?![a-z])", text, re.IGNORECASE), name
    assert f"{BLOT}-x" in text
    assert "hint to a person" not in page


def test_the_teacher_s_page_names_who_and_says_that_it_does(course: Path) -> None:
    text = read_as_text(report(course, "--names"))
    assert "With names" in text
    for name in ("ann", "bob", "cem", "dan"):
        assert name in text
    assert "hal" not in text[text.index("Who may need") :].split("Exercises")[0]
    assert tells(text, "1 Handed in", "not be graded ida")


def test_a_list_of_names_ends_after_twenty_and_the_table_has_them_all(course: Path) -> None:
    absent = [f"absent{number:02}" for number in range(25)]
    (course / "class" / "roster.csv").write_text("\n".join(["id", *absent]) + "\n")
    text = read_as_text(report(course, "--names"))
    assert sum(name in text for name in absent) == 20
    assert "and 5 more, in the table" in text
    assert {row["id"] for row in table(course)} >= set(absent)


def test_each_page_stays_when_the_other_is_written(course: Path) -> None:
    report(course, "--names")
    shown = report(course)
    report(course, "--names")
    assert "With names" not in shown
    assert (course / "class/reports" / LESSON / f"{LESSON}.html").read_text("utf-8") == shown


def test_who_does_not_get_on_is_told_after_three_hand_ins(course: Path) -> None:
    again = graded.grade("cem", {"attention": "FAIL"}, {"attention": 2.5})
    for seed in (2, 3):
        recorded(course, again, seed=seed)
    text = read_as_text(report(course, "--names"))
    assert tells(text, "cem (3 hand-ins", "last 2")
    assert {row["hand_ins"] for row in table(course) if row["id"] == "cem"} == {"3"}


def test_the_same_hand_in_graded_again_is_one_hand_in(course: Path) -> None:
    lines = [json.loads(line) for line in journal(course).read_text().splitlines()]
    with journal(course).open("a") as file:
        for line in lines:
            if line.get("folder") == "cem":
                file.writelines(json.dumps(line) + "\n" for _ in range(3))
    report(course)
    assert {row["hand_ins"] for row in table(course) if row["id"] == "cem"} == {"1"}


def test_whom_the_roster_names_and_who_handed_in_nothing(course: Path) -> None:
    (course / "class" / "roster.csv").write_text("id,name\nann,Ann Miller\nzoë,Zoë Q\n", "utf-8")
    hand_in(course, "yan", b"{}", LESSON)
    text = read_as_text(report(course, "--names"))
    assert tells(text, "1 Handed in nothing", "roster zoë")
    assert tells(text, "1 Handed in,", "not graded yet yan")
    rows = {row["id"]: row for row in table(course)}
    assert rows["zoë"]["status"] == "NOT HANDED IN"
    assert rows["zoë"]["score"] == ""
    assert rows["yan"]["status"] == "NOT GRADED"


def test_a_person_s_points_are_the_ones_that_count(course: Path) -> None:
    assert "attention 3 5 0 1" in read_as_text(report(course)), "right, part, none, not written"
    with sqlite3.connect(course / "class" / "gradebook.db") as book:
        book.execute("""update grade set manual_score = 5 where id in (select g.id from grade g
            join base_cell c on c.id = g.cell_id join submitted_notebook n on n.id = g.notebook_id
            join submitted_assignment s on s.id = n.assignment_id
            where s.student_id = 'cem' and c.name = 'attention-check')""")
    text = read_as_text(report(course))
    assert tells(text, "1 student", "a person", "own mean")
    assert "attention 4 4 0 1" in text
    found = {(row["id"], row["exercise"]): row["score"] for row in table(course)}
    assert found["cem", "attention"] == "5"
    assert found["ann", "attention"] == "2.5"


def test_what_a_journal_does_not_know_of_claims_is_said(course: Path) -> None:
    lines = [json.loads(line) for line in journal(course).read_text().splitlines()]
    for line in lines:
        line.pop("lost", None)
    journal(course).write_text("".join(json.dumps(line) + "\n" for line in lines))
    text = read_as_text(report(course))
    assert tells(text, "6 students", "not kept", "claims")


# --- what cannot act ---


@pytest.mark.parametrize("options", [(), ("--names",)])
def test_what_learners_wrote_is_text_and_nothing_else(course: Path, options: tuple[str]) -> None:
    page = report(course, *options)
    assert page.count(html.escape(HOSTILE[0])) >= 2, "it is shown, in a message and in code"
    found = Page(page)
    tags = {tag for tag, _ in found.elements}
    assert not tags & {"script", "img", "a", "b onclick", "iframe", "form", "link", "object"}
    names = {name for _, given in found.elements for name in given}
    assert not {name for name in names if name.startswith("on")}
    assert "href" not in names
    policy = [given["content"] for tag, given in found.elements if "http-equiv" in given]
    assert policy
    assert policy[0].startswith("default-src 'none'")
    assert not found.comments
    pictures = [given for tag, given in found.elements if tag == "svg"]
    assert pictures
    assert all(given["aria-label"] and given["role"] == "img" for given in pictures)


def test_no_cell_of_the_table_is_a_formula(course: Path) -> None:
    report(course)
    rows = table(course)
    assert len(rows) == 10 * len(exercises_of(LESSON))
    assert rows[0].keys() == {
        *("id", "exercise", "status", "score", "max_score", "diagnosis", "hand_ins")
    }
    for cell in ("=1+1", "+1", "-1", "@a", " =1", "\t=1", "＝1"):
        assert harmless(cell).startswith("'"), cell
    assert "\n" not in harmless("a\nb")
    assert sum(float(row["score"]) for row in rows if row["id"] == "eve") == MOST


# --- what is amiss ---


def said_by(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert command(*arguments) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1, said
    return said


def test_nothing_graded_or_handed_in_is_said_in_a_line_and_nothing_written(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal(course).unlink()
    assert tells(said_by(capsys, "report", LESSON), "Nobody", "graded", LESSON)
    shutil.rmtree(course / "class" / "submitted")
    assert tells(said_by(capsys, "report", LESSON), "Nobody", "handed in", LESSON)
    assert not (course / "class" / "reports").exists()


def test_a_class_in_which_nothing_could_be_graded_has_a_page_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(graded.make_course(tmp_path))
    recorded(tmp_path, graded.invalid("ida", "The file is empty."))
    text = read_as_text(report(tmp_path))
    assert tells(text, "0 students graded", "1 handed in")
    assert "Mistakes" not in text
    assert {row["status"] for row in table(tmp_path)} == {"INVALID"}


def test_without_a_gradebook_nothing_is_written(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (course / "class" / "gradebook.db").unlink()
    assert "no gradebook" in said_by(capsys, "report", LESSON)
    assert not (course / "class" / "reports").exists()


def test_a_page_that_cannot_take_its_place_leaves_what_was_there(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (course / "class" / "reports").write_text("in the way")
    assert "could not be written" in said_by(capsys, "report", LESSON)
    assert (course / "class" / "reports").read_text() == "in the way"


def test_a_journal_whose_last_line_was_cut_short_is_read_and_left(course: Path) -> None:
    whole = journal(course).read_bytes()
    journal(course).write_bytes(whole + b'{"folder": "zed", "finger')
    assert "9 students graded" in read_as_text(report(course))
    assert journal(course).read_bytes().endswith(b'"finger')


def test_a_hand_in_that_is_gone_since_is_counted_without_its_code(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("ann", "bob", "cem", "dan", HOSTILE_ID):
        shutil.rmtree(course / "class" / "autograded" / name)
    text = read_as_text(report(course))
    assert tells(capsys.readouterr().out, "5 of 9", "not in class/autograded")
    assert " 3 7.5 " in text
    assert "No answer with it" in text


def test_who_is_forgotten_is_in_no_page(course: Path) -> None:
    report(course, "--names")
    assert command("forget", "ann", "--yes") == 0
    assert not (course / "class" / "reports" / LESSON).exists()
    assert "ann" not in read_as_text(report(course, "--names")).split()


# --- without names ---


def test_names_go_wherever_they_stand_and_the_course_s_words_stay() -> None:
    people = ["ada-01", "Ada Lovelace", "max", "k", "Key", "ada@example.org", "注意", "Zoë"]
    given = 'def f(key):\n    """Given."""'
    blotted = Anonymous(people, [given])
    code = (
        'def f(key, ada_mask):  # by Ada\n    """Given."""\n    """To Bob."""\n'
        "    print('ADA-01', lovelaceMask, 'ada@example.org', '注意', 'zoë')\n"
        "    k = max(key)  # mine\n    return '#1', k\n"
    )
    shown = blotted.code(code)
    for name in ("ada", "lovelace", "bob", "注意", "zoë", "mine", "Given"):
        assert name.lower() not in shown.lower(), name
    assert "k = max(key)\n" in shown
    assert "'#1', k" in shown
    assert blotted.code("if a:\n    b\nelse:\n    'To Bob'\nlambda: 'x'").endswith(
        "pass\nlambda: 'x'"
    )
    assert shown.count(BLOT) == 6
    assert "Ada" not in blotted.code("def f(:  # Ada\n  'Ada")


def test_a_message_is_taken_apart_into_what_the_card_said() -> None:
    message = (
        "This calls `causal_mask`, which fails its own check: begin there. out is nan. "
        "The scores are not scaled, which is a factor of 1. Their spread grows like √d_k, and for "
        "wide keys softmax then puts almost all weight on one. Divide the scores by √d_k before "
        "softmax."
    )
    said = taken_apart(message, "no-scale", LESSON, "torch")
    assert (said.differed, said.key, said.follows) == ("out is nan.", "no-scale", "causal_mask")
    assert said.remedy == "Divide the scores by √d_k before softmax."
    crash = "it raised NameError: x. Nothing here has defined `x`."
    assert taken_apart(crash, "raised", LESSON, "torch").differed == crash


def test_an_answer_whose_mistake_is_an_earlier_exercise_s_is_no_example() -> None:
    """It may be right: what it calls is not."""
    begins = "This calls `causal_mask`, which fails its own check: begin there. "
    items = (
        ("ann", "mask-off-by-one", begins),
        ("bob", "wrong-shape", begins),
        ("cem", "wrong-shape", ""),
        ("dan", "mask-off-by-one", begins),
    )
    students = [
        Student(
            who,
            {
                "status": "GRADED",
                "exercises": [
                    {"name": name, "status": "FAIL", "score": 0.0, "max_score": 1.0}
                    | {"diagnosis": slug, "message": f"{start}out differs."}
                    for name, slug, start in (
                        ("causal_mask", "mask-off-by-one", ""),
                        ("attention", diagnosis, follows),
                    )
                ],
            },
            None,
            (0.0,),
            {},
        )
        for who, diagnosis, follows in items
    ]
    results = ClassResults(LESSON, {"causal_mask": 1.0, "attention": 1.0}, students)
    answers = {who: {"attention": honest(1), "causal_mask": honest(2)} for who, *_ in items}
    found = mistakes_of(results, answers, "torch")
    assert [each.whose for each in found["causal_mask"]] == ["ann"]
    inherited, own = found["attention"]
    assert (inherited.name, inherited.example) == ("mask-off-by-one", "")
    assert inherited.students == ["ann", "dan"]
    assert inherited.follows == {"causal_mask": 2}
    assert (own.name, own.whose) == ("wrong-shape", "cem")


def test_an_answer_that_one_student_alone_would_know_is_the_teacher_s_to_see(course: Path) -> None:
    rare = Diagnosis("rare-one", "It is rare.", "Try again.")
    said = graded.verdict("attention", "FAIL", 0.0, 5.0, diagnosis=rare)
    mine = {"attention": honest(77)}
    recorded(
        course, graded.grade("zed", {"attention": "FAIL"}, None, LESSON, {"attention": said}, mine)
    )
    shown, own = report(course), report(course, "--names")
    assert "rare-one" in shown
    assert "+ 77" not in shown
    assert "+ 77" in own
    assert own.index("Who may need a person") < own.index("Mistakes")
