"""The class's door: nothing that a learner can name decides whose, when, or how many.

Eve is in the class, and writes what she likes below the part of a path that is not hers to write.
"""

from __future__ import annotations

import io
import json
import os
import pwd
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from autograder.__main__ import main
from autograder.gradebook.course import Course
from autograder.submission import collected
from autograder.term import moodle
from autograder.term.canvas import page_in as canvas_page_in
from autograder.term.collect import Outcome, collect
from tests.lms import Handed, canvas_zip, gradescope_zip, moodle_zip
from tests.small_class import LESSON, notebook

FILE = f"{LESSON}.ipynb"
HERS, MINE = notebook({"number": "emmy"}), notebook({"number": "eve"})
ROSTER = (
    "id,name,email,canvas,moodle,gradescope\nemmy,Emmy Noether,,1018,999,418\neve,Eve,,66,,66\n"
)
METADATA = "submission_metadata.yml"
TABLE = yaml.safe_dump(
    {
        "submission_1": {
            ":submitters": [{":name": "Emmy Noether", ":sid": "418", ":email": ""}],
            ":created_at": datetime(2027, 1, 1),
        }
    }
).encode()


@pytest.fixture
def class_(course: Path) -> Path:
    (course / "class").mkdir(exist_ok=True)
    (course / "class" / "roster.csv").write_text(ROSTER)
    return course


def run(*files: Path) -> Outcome:
    return collect(Course.here(), LESSON, files)


def of(class_: Path, who: str) -> bytes | None:
    path = class_ / "class" / "submitted" / who / LESSON / FILE
    return path.read_bytes() if path.is_file() else None


def zip_bytes(files: Mapping[str, bytes]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return held.getvalue()


# Whose


INSIDE = [
    f"Emmy Noether_999_assignsubmission_file_/{FILE}",
    f"Emmy Noether_999_assignsubmission_file_{FILE}",
    f"noetheremmy_1018_9_{FILE}",
    "emmy.ipynb",
    f"emmy-{FILE}",
    f"emmy/{LESSON}/{FILE}",
    f"assignment_7_export/submission_1/{FILE}",
    f"submission_1/{FILE}",
]
Packs = dict[str, Callable[[Path, str, bytes], Path]]


def in_moodle(path: Path, name: str, data: bytes) -> Path:
    return moodle_zip(path, LESSON, [Handed("Eve", "66", {name: data, METADATA: TABLE})])


def in_moodle_flat(path: Path, name: str, data: bytes) -> Path:
    given = {name.replace("/", "_"): data, METADATA: TABLE}
    return moodle_zip(path, LESSON, [Handed("Eve", "66", given)], between="_")


def in_canvas(path: Path, name: str, data: bytes) -> Path:
    return canvas_zip(path, LESSON, [Handed("Eve", "66", {name.replace("/", "_"): data})])


def in_gradescope(path: Path, name: str, data: bytes) -> Path:
    return gradescope_zip(path, LESSON, [Handed("Eve", "66", {name: data, METADATA: TABLE})])


def in_her_folder(path: Path, name: str, data: bytes) -> Path:
    given = {f"eve/{name}": data, f"eve/{METADATA}": TABLE}
    path.write_bytes(zip_bytes(given))
    return path


def in_her_zip(path: Path, name: str, data: bytes) -> Path:
    folder = path.with_suffix("")
    folder.mkdir()
    (folder / "eve.zip").write_bytes(zip_bytes({name: data, METADATA: TABLE}))
    return folder


def in_her_zip_that_is_named(path: Path, name: str, data: bytes) -> Path:
    return in_her_zip(path, name, data) / "eve.zip"


PACKS: Packs = {
    each.__name__: each
    for each in (
        in_moodle,
        in_moodle_flat,
        in_canvas,
        in_gradescope,
        in_her_folder,
        in_her_zip,
        in_her_zip_that_is_named,
    )
}


@pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS)
@pytest.mark.parametrize("name", INSIDE)
def test_what_a_learner_calls_their_work_makes_it_nobody_elses(
    class_: Path, pack: Callable[[Path, str, bytes], Path], name: str
) -> None:
    told = run(pack(class_ / "given.zip", name, MINE))
    assert of(class_, "emmy") is None
    assert of(class_, "eve") == MINE
    assert (told.new, told.trouble) == (["eve"], [])


def test_a_table_of_a_learners_own_replaces_nobodys_work(class_: Path) -> None:
    """The same, with the time of next year in it, where Emmy has handed in already."""
    given = [
        Handed("Emmy Noether", "418", {FILE: HERS}),
        Handed("Eve", "66", {FILE: MINE, METADATA: TABLE, f"submission_1/{FILE}": MINE}),
    ]
    for number, pack in enumerate((gradescope_zip, moodle_zip)):
        run(pack(class_ / f"{number}.zip", LESSON, given))
        assert (of(class_, "emmy"), of(class_, "eve")) == (HERS, MINE)


def test_a_name_at_gradescope_that_looks_like_more_is_a_name(class_: Path) -> None:
    name = "Eve\n    :sid: '418'\n  - :name: Emmy Noether\nsubmission_1:\n  :submitters:\n"
    given = [Handed(name, "66", {FILE: MINE}), Handed("Emmy Noether", "418", {FILE: HERS})]
    assert run(gradescope_zip(class_ / "g.zip", LESSON, given)).trouble == []
    assert (of(class_, "emmy"), of(class_, "eve")) == (HERS, MINE)


@pytest.mark.parametrize("name", INSIDE)
@pytest.mark.parametrize("pack", [in_moodle, in_moodle_flat, in_canvas])
def test_a_page_goes_back_where_its_work_came_from(
    class_: Path, pack: Callable[[Path, str, bytes], Path], name: str
) -> None:
    path = pack(class_ / "given.zip", name, MINE)
    run(path)
    [record] = collected.read(class_ / "class" / "collected" / f"{LESSON}.json")
    page_in = canvas_page_in if record.lms == "canvas" else moodle.page_in
    found = page_in(record.name, LESSON, b"page")
    assert found
    back = class_ / "back.zip"
    back.write_bytes(zip_bytes({found[0].replace(".html", ".ipynb"): MINE}))
    assert run(back).same == ["eve"], found[0]


@pytest.mark.parametrize("first", [0, 2])
def test_one_name_does_not_decide_which_lms_it_is(class_: Path, first: int) -> None:
    """Of a class's archive, or of a folder with names of students: most names decide."""
    lms = [f"Emmy Noether_999_assignsubmission_file_/{FILE}", f"A_1_assignsubmission_file_/{FILE}"]
    plain = ["eve.ipynb", "emmy.ipynb"]
    names = [*lms, *plain, *lms][first : first + 3]
    given = class_ / "given.zip"
    given.write_bytes(zip_bytes(dict.fromkeys(names, HERS)))
    told = run(given)
    assert told.new == (["emmy"] if first == 0 else ["emmy", "eve"])
    wanted = names[2] if first else "eve.ipynb: It is not named as most in given.zip is"
    assert any(said.startswith(wanted) for said in told.trouble)


# One file, and everybody waits


BOMBS = {
    "not YAML": b"{{{",
    "a deep list": b"[" * 200_000,
    "deep texts": b"submission_1:\n  :submitters: " + b"{a: " * 100_000,
    "nested merges": b"a0: &a0 {k: v}\n"
    + b"".join(
        b"a%d: &a%d {<<: [%s]}\n" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 10))
        for n in range(1, 12)
    ),
    "a long line": b"submission_1:" + b" " * 4_000_000 + b"x",
    "many quotes": b"submission_1:\n  :created_at: '" + b"''" * 1_000_000,
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
@pytest.mark.parametrize("place", ["hers", "the class's"])
def test_a_table_that_is_a_bomb_costs_seconds_at_most(
    class_: Path, bomb: bytes, place: str
) -> None:
    path = gradescope_zip(
        class_ / "g.zip",
        LESSON,
        [Handed("Eve", "66", {FILE: MINE, METADATA: bomb}), Handed("Emmy", "418", {FILE: HERS})],
    )
    if place == "the class's":
        path.write_bytes(
            zip_bytes(
                {
                    f"assignment_7_export/{METADATA}": bomb,
                    f"assignment_7_export/submission_1/{FILE}": MINE,
                }
            )
        )
    before = time.monotonic()
    told = run(path)
    assert time.monotonic() - before < 10
    assert told.new == (["emmy", "eve"] if place == "hers" else [])


def test_long_names_in_an_archive_are_read_in_time(class_: Path) -> None:
    names = [
        "_1" * 30_000,
        "1_" * 30_000,
        "_" * 60_000,
        "a_1_assignsubmission_" * 2900,
        "_a1" * 20_000,
    ]
    given = class_ / "given.zip"
    given.write_bytes(zip_bytes({f"{name}/x.ipynb": b"" for name in names} | {"eve.ipynb": MINE}))
    before = time.monotonic()
    assert "eve" in run(given).new
    assert time.monotonic() - before < 10


@pytest.mark.parametrize("depth", [5000, 200_000])
def test_a_notebook_that_is_a_deep_list_is_one_students_trouble(class_: Path, depth: int) -> None:
    from attnlab.ipynb.read import Unreadable, read

    with pytest.raises(Unreadable):
        read(b"[" * depth)


# When


ME = pwd.getpwuid(os.getuid()).pw_name


@pytest.fixture
def inbound(class_: Path, tmp_path: Path) -> Path:
    (class_ / "class" / "roster.csv").write_text(f"id\n{ME}\nemmy\n")
    folder = tmp_path / "exchange" / "attnlab" / "inbound"
    folder.mkdir(parents=True)
    (folder.parent / "outbound").mkdir()
    return folder


def put(inbound: Path, when: datetime, who: str = ME, secret: str = "ab" * 64) -> Path:
    stamp = f"{when:%Y-%m-%d %H:%M:%S.%f} UTC"
    folder = inbound / f"{who}+{LESSON}+{stamp}+x"
    folder.mkdir()
    (folder / FILE).write_bytes(MINE)
    (folder / "timestamp.txt").write_text(stamp)
    (folder / "submission_secret.txt").write_text(secret)
    return folder


def now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


def later(monkeypatch: pytest.MonkeyPatch, changed: Iterator[Path] | list[Path], by: float) -> None:
    """Let files look as if they had been written that many seconds later."""
    entries = {os.fspath(path) for path in changed}
    scandir = os.scandir

    class Entry:
        def __init__(self, entry: os.DirEntry[str]) -> None:
            self._entry = entry

        def __getattr__(self, name: str) -> object:
            return getattr(self._entry, name)

        def stat(self, follow_symlinks: bool = True) -> object:
            found = self._entry.stat(follow_symlinks=follow_symlinks)
            ctime = found.st_ctime + by * (self._entry.path in entries)
            return os.stat_result((*found[:9], int(ctime)), {"st_ctime": ctime})

    class Scan:
        def __init__(self, path: object) -> None:
            with scandir(path) as found:  # type: ignore[call-overload]
                self._found = [Entry(entry) for entry in found]

        def __enter__(self) -> list[Entry]:
            return self._found

        def __exit__(self, *_: object) -> None:
            pass

        def __iter__(self) -> Iterator[Entry]:
            return iter(self._found)

    monkeypatch.setattr("autograder.term.exchange.os.scandir", Scan)


def test_a_notebook_rewritten_in_place_is_told(
    inbound: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = put(inbound, now())
    later(monkeypatch, [folder / FILE], 700)
    [said] = run(inbound).apart
    assert said.startswith(f"{ME} (says {now():%Y-%m-%d %H:%M}")


def test_a_file_that_was_written_with_the_hand_in_is_not_told(
    inbound: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = put(inbound, now())
    later(monkeypatch, [folder / FILE], 300)
    assert run(inbound).apart == []


def test_when_a_copied_exchange_was_written_is_unknown(
    inbound: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autograder.term import exchange

    monkeypatch.setattr(exchange, "_account", lambda entry: entry.name.partition("+")[0])
    put(inbound, now() - timedelta(days=3))
    put(inbound, now() - timedelta(days=4), "emmy")
    told = run(inbound)
    assert (sorted(told.new), told.apart) == (sorted([ME, "emmy"]), [])
    assert "is unknown" in told.odd[0]
    put(inbound, now(), "emmy")
    told = run(inbound)
    assert len(told.apart) == 1
    assert told.odd == []


# How many


def test_what_one_account_makes_fills_a_line_and_ends_no_command(
    class_: Path, inbound: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(inbound, now())
    for number in range(2000):
        (inbound / f"odd {number}").mkdir()
        (inbound / f"{ME}+{LESSON}+2026-11-01 10:00:00 UTC+{number}").mkdir()
    assert main(["collect", LESSON, str(inbound)]) == 0
    out = capsys.readouterr().out
    assert len(out.splitlines()) < 10
    assert f"Nor are 1,999 more that {ME} made" in out
    assert of(class_, ME) == MINE


def test_whose_files_are_too_many_for_a_class_is_told(
    class_: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attnlab.ipynb.handed_in.MEMBERS", 5)
    monkeypatch.setattr("autograder.term.sources._MANY", 5)
    given = in_her_folder(class_ / "given.zip", FILE, MINE)
    with zipfile.ZipFile(given, "a") as archive:
        archive.writestr("emmy.ipynb", HERS)
        for number in range(5):
            archive.writestr(f"eve/many/{number}", b"")
    zipfile.ZipFile(given).extractall(class_ / "mail")
    told = run(given, class_ / "mail").trouble
    assert [said.partition(": ")[2] for said in told] == [
        "It holds more than 5 files. Of these 5 lie in eve/many: take that out."
    ] * 2


def test_a_list_ends_after_twenty_and_stands_whole_in_a_file(
    class_: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    people = [f"s{number:02}" for number in range(60)]
    (class_ / "class" / "roster.csv").write_text("\n".join(["id", *people]))
    (class_ / "mail").mkdir()
    for number in range(50):
        (class_ / "mail" / f"nobody{number:02}.ipynb").write_bytes(MINE)
    assert main(["collect", LESSON, str(class_ / "mail")]) == 1
    out = capsys.readouterr().out
    assert len(out.splitlines()) < 30
    assert "  and 30 more" in out
    whole = class_ / "class" / "collected" / f"{LESSON}.txt"
    assert f"All names stand in {whole.relative_to(class_)}." in out
    text = whole.read_text()
    assert all(f"nobody{number:02}.ipynb" in text for number in range(50))
    assert all(who in text for who in people)


# A journal's line of another kind


ANOTHER_KIND = [
    {"folder": 7, "fingerprint": "", "result": {}},
    {"folder": "eve", "fingerprint": "", "result": 7},
    {"folder": "eve", "fingerprint": "", "result": {"student": "eve"}},
    {"folder": "eve", "fingerprint": [], "result": None},
    {"folder": "eve", "fingerprint": "", "result": {"student": "eve", "exercises": [7]}},
    {"seed": 1, "told": 3},
    7,
    [[]],
    {"seed": 1, "lesson": LESSON},  # a new run: she is graded again
]


@pytest.mark.slow
def test_a_line_of_a_journal_that_is_of_another_kind_is_passed_over(
    class_: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.small_class import grade, hand_in

    hand_in(class_, "emmy", HERS)
    grade(class_, seed=1)
    journal = class_ / "class" / "runs" / LESSON / "journal.jsonl"
    written = journal.read_text()
    for line in ANOTHER_KIND:
        journal.write_text(written + json.dumps(line) + "\n")
        assert main(["history", "emmy"]) == 0, line
        assert main(["report", LESSON]) == 0, line
        assert main(["grade", LESSON, "--resume"]) in (0, 1), line
        assert "Traceback" not in capsys.readouterr().err, line
