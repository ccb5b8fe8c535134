"""What is handed out: used from its README in an empty folder, upgraded over a learner's work."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import zipfile
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from attnlab.home.commands import main
from attnlab.lessons import exercises_of, slugs
from bundle.__main__ import public, zipped
from tests.course import GIVEN, ROOT, copy_to, solution_path, split_solution, tells
from tests.home import ANSWER, SLUG, cells_of, find, label, make_home, save, source, updated
from tests.test_release import given_away, telling_lines

pytestmark = pytest.mark.slow
NAME = "attnlab-course"
PACKAGE = rf"attnlab-{re.escape(public())}\+c[0-9a-f]{{8}}"


def build(root: Path, *flags: str) -> Path:
    command = [sys.executable, "-m", "bundle", "--root", str(root), *flags]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    told = re.search(r"(\S+\.zip): \d+ files", done.stdout)
    assert told, done.stdout
    return root / told[1]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what bundles are made of, so that none is made here."""
    import shutil

    root = copy_to(tmp_path_factory.mktemp("course"))
    for name in ("src", "jupyter", "notebooks", "bundle"):
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", ".ipynb_checkpoints")
        shutil.copytree(ROOT / name, root / name, ignore=ignored)
    for name in ("README.md", "LICENSE", "setup.py"):
        shutil.copy(ROOT / name, root)
    return root


@pytest.fixture(scope="module")
def handed_out(root: Path) -> Path:
    return build(root).rename(root / "plain.zip")


def unpack(bundle: Path, folder: Path) -> Path:
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(folder)
    return folder / NAME


def test_it_holds_what_learners_need_and_nothing_that_grades_or_tells(handed_out: Path) -> None:
    with zipfile.ZipFile(handed_out) as archive:
        names = {name.removeprefix(f"{NAME}/") for name in archive.namelist()}
    [package] = [name for name in names if name.endswith(".whl")]
    assert names == {"README.md", "LICENSE", "requirements.txt", "constraints.txt", package}
    lessons = {f"notebooks/{slug}/{slug}.ipynb" for slug in slugs()}
    jupyter = {path.relative_to(ROOT).as_posix() for path in (ROOT / "jupyter").rglob("*.*")}
    assert packaged(handed_out) == lessons | jupyter | {"notebooks/glossary.md"}


def packaged(bundle: Path) -> set[str]:
    """The course in the wheel in a bundle, by name."""
    with zipfile.ZipFile(bundle) as archive:
        [wheel] = [name for name in archive.namelist() if name.endswith(".whl")]
        with zipfile.ZipFile(io.BytesIO(archive.read(wheel))) as package:
            inside = (each.split("attnlab/course/", 1) for each in package.namelist())
            return {parts[1] for parts in inside if len(parts) == 2}


def test_no_solution_is_in_it(handed_out: Path, tmp_path: Path) -> None:
    folder = unpack(handed_out, tmp_path)
    telling = set().union(*map(telling_lines, slugs()))
    [package] = folder.glob("*.whl")
    with zipfile.ZipFile(package) as archive:
        archive.extractall(folder / "installed")
    for path in folder.rglob("*"):
        if path.suffix == ".ipynb":
            cells = [cell for cell in cells_of(path) if label(cell) not in GIVEN]
            own = telling_lines(path.stem)  # another lesson may show what this one asks for
            assert given_away(own, "\n".join(map(source, cells))) == set(), path
        elif path.is_file() and "installed" not in path.parts and path.suffix != ".whl":
            assert given_away(telling, path.read_text(encoding="utf-8")) == set(), path
    with zipfile.ZipFile(package) as archive:
        tops = {name.partition("/")[0] for name in archive.namelist()}
        [about] = tops - {"attnlab"}
        assert re.fullmatch(rf"{PACKAGE}\.dist-info", about)
        assert "attnlab/home/home.css" in archive.namelist()
        assert not any("solutions" in name for name in archive.namelist())


def test_some_lessons_alone_are_handed_out_and_others_later(
    root: Path, handed_out: Path, tmp_path: Path
) -> None:
    some = build(root, "--lessons", "03", "01-soft-lookup")
    assert some.name == f"{NAME}-{public()}-2-lessons.zip"
    others = [slug for slug in slugs() if slug not in ("01-soft-lookup", "03-numpy")]
    missing = {f"notebooks/{slug}/{slug}.ipynb" for slug in others}
    assert packaged(some) == packaged(handed_out) - missing
    folder = unpack(some, tmp_path)
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert {slug for slug in slugs() if slug in readme} == {"01-soft-lookup"}
    attnlab = partial(install(folder, tmp_path / "installed").attnlab, folder)
    attnlab("update")
    assert "ok  2 lessons were looked at" in attnlab("doctor")


def test_a_lesson_that_is_not_there_cannot_be_handed_out(root: Path) -> None:
    command = [sys.executable, "-m", "bundle", "--root", str(root), "--lessons", "1", "no-such"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=180)
    assert done.returncode == 2
    assert tells(done.stderr, "'1'", "01-soft-lookup")


def test_the_same_files_give_the_same_bytes(root: Path, handed_out: Path) -> None:
    again = build(root)
    assert again.read_bytes() == handed_out.read_bytes()
    assert zipped("a", {"b": b"", "c": b"x"}) == zipped("a", {"c": b"x", "b": b""})


def test_a_package_that_changed_has_another_version(
    root: Path, handed_out: Path, tmp_path: Path
) -> None:
    [before] = unpack(handed_out, tmp_path).glob("*.whl")
    module = root / "src" / "attnlab" / "work" / "places.py"
    was = module.read_bytes()
    module.write_bytes(was + b"# newer\n")
    try:
        newer = build(root)
    finally:
        module.write_bytes(was)
    both = [path.name for path in unpack(newer, tmp_path).glob("*.whl")]  # over the older one
    assert len(both) == 2
    assert all(re.match(PACKAGE, name) for name in both)
    requirements = (tmp_path / NAME / "requirements.txt").read_text(encoding="utf-8")
    assert before.name not in requirements


def test_it_is_used_from_its_readme(handed_out: Path, tmp_path: Path) -> None:
    folder = unpack(handed_out, tmp_path)
    readme = (folder / "README.md").read_text(encoding="utf-8")
    pinned = re.search(r"^torch==.*$", (folder / "constraints.txt").read_text(), re.MULTILINE)
    assert pinned
    small = f"{pinned[0]} --index-url https://download.pytorch.org/whl/cpu"
    assert re.findall(r"^(?:python3|\.venv/bin/\w+) (.*)$", readme, re.MULTILINE) == [
        "-m venv .venv",
        f"-m pip install {small}",  # before what would bring the large one
        "-m pip install -r requirements.txt",
        "lab",
    ]
    assert "attnlab.solution" not in readme
    requirements = (folder / "requirements.txt").read_text(encoding="utf-8").splitlines()[1:]
    assert requirements[0] == "-c constraints.txt"
    assert (folder / requirements[1].removesuffix("[learn]")).is_file()
    with pytest.raises(SystemExit):
        main(["--help"])


class Installed(NamedTuple):
    """The package from a bundle, and the command, with nothing of this repository on its way.

    Attributes:
        package: the folder in which it lies.
    """

    package: Path

    def run(self, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *command],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(self.package)},
            capture_output=True,
            text=True,
            timeout=300,
        )

    def attnlab(self, folder: Path, *arguments: str) -> str:
        done = self.run(folder, "-m", "attnlab", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout


def install(folder: Path, place: Path) -> Installed:
    """Install the wheel of an unpacked bundle."""
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place)
    installed = Installed(place)
    where = installed.run(folder, "-c", "import attnlab; print(attnlab.__file__)")
    assert str(place) in where.stdout
    return installed


def test_any_folder_becomes_a_course_and_is_found_again(handed_out: Path, tmp_path: Path) -> None:
    installed = install(unpack(handed_out, tmp_path), tmp_path / "installed")
    mine = tmp_path / "any" / "where"
    mine.mkdir(parents=True)
    assert installed.attnlab(mine, "update") == ""
    assert {path.parent.name for path in mine.glob("work/*/*.ipynb")} == {*slugs()}
    assert "0 of 6 points" in installed.attnlab(mine / "work" / SLUG, "progress")
    assert [*(mine / "work" / SLUG).iterdir()] == [mine / "work" / SLUG / f"{SLUG}.ipynb"]


def test_in_an_older_bundles_folder_its_work_is_taken_over(
    handed_out: Path, tmp_path: Path
) -> None:
    folder = unpack(handed_out, tmp_path)
    installed = install(folder, tmp_path / "installed")
    older = make_home(folder)  # with notebooks/ and jupyter/ in the folder itself
    released = older.released / SLUG / f"{SLUG}.ipynb"
    cells = cells_of(released)
    cells[0]["source"] = "# Older"
    save(released, cells)
    updated(older)
    find(cells, "softmax")["source"] = ANSWER
    save(older.notebook(SLUG), cells)
    assert f"{SLUG} is upgraded around what you wrote" in installed.attnlab(folder, "update")
    assert source(find(cells_of(older.notebook(SLUG)), "softmax")) == ANSWER
    assert source(cells_of(older.notebook(SLUG))[0]) != "# Older"


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc here")
def test_a_folder_that_cannot_be_written_is_refused(handed_out: Path, tmp_path: Path) -> None:
    installed = install(unpack(handed_out, tmp_path), tmp_path / "installed")
    done = installed.run(Path("/proc"), "-m", "attnlab", "lab")
    assert done.returncode == 1
    assert tells(done.stderr, "/proc/work", "No such file or directory", "folder of your own")
    assert done.stderr.count("\n") == 1


def test_lesson_01_is_finished_from_it_and_upgraded_over(handed_out: Path, tmp_path: Path) -> None:
    folder = unpack(handed_out, tmp_path)
    installed = install(folder, tmp_path / "installed")
    attnlab = partial(installed.attnlab, folder)

    assert attnlab("update") == ""
    mine = folder / "work" / SLUG / f"{SLUG}.ipynb"
    answers = {label(cell): source(cell) for cell in cells_of(solution_path(SLUG))}
    cells = cells_of(mine)
    for name in exercises_of(SLUG):
        find(cells, name)["source"] = "\n".join(split_solution(answers[name]))
    save(mine, cells)
    assert f"{SLUG}: 6 of 6 points" in attnlab("check-mine", SLUG)
    assert "6 of 6 points, 3 of 3 exercises" in attnlab("progress")

    released = tmp_path / "installed" / "attnlab" / "course" / "notebooks" / SLUG / f"{SLUG}.ipynb"
    newer = cells_of(released)
    newer[0]["source"] = "# Newer"
    save(released, newer)
    assert f"{SLUG} is upgraded around what you wrote" in attnlab("update")
    now = cells_of(mine)
    assert source(now[0]) == "# Newer"
    assert source(find(now, "softmax")) == "\n".join(split_solution(answers["softmax"]))
    assert "6 of 6 points, 3 of 3 exercises" in attnlab("progress")


def test_solutions_are_in_it_where_asked_for(root: Path, tmp_path: Path) -> None:
    plain = root / "dist" / f"{NAME}-{public()}.zip"
    before = plain.exists() and plain.read_bytes()
    folder = unpack(build(root, "--solutions"), tmp_path)
    assert (plain.exists() and plain.read_bytes()) == before
    assert "attnlab.solution" in (folder / "README.md").read_text(encoding="utf-8")
    found = json.loads((folder / "solutions.json").read_text(encoding="utf-8"))["solutions"]
    assert {slug: list(told) for slug, told in found.items()} == {
        slug: list(exercises_of(slug)) for slug in slugs()
    }
    for told in found.values():
        for name, one in told.items():
            assert re.search(rf"^(def|class) {name}\b", one["code"], re.MULTILINE)
            assert "SOLUTION" not in one["code"]
            assert one["why"], name
