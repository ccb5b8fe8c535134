"""What is wrong with an installation is found, and the command that mends it is named."""

from __future__ import annotations

import errno
import importlib.metadata
import os
import tempfile
from pathlib import Path

import pytest

from attnlab import lessons
from attnlab.home import doctor, report
from attnlab.home.commands import main
from attnlab.home.doctor import Finding
from attnlab.work import progress
from attnlab.work.places import Course
from tests.course import tells
from tests.home import SLUG, make_copies, make_home


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    monkeypatch.setattr(lessons, "REGISTRY", (SLUG,))
    return make_copies(tmp_path, SLUG)


def to_mend(look: list[Finding]) -> list[tuple[str, str]]:
    return [(found.what, found.mend) for found in look if found.mend]


@pytest.mark.slow
def test_a_sound_installation_has_nothing_to_mend(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--course", str(course.root), "doctor"]) == 0
    assert capsys.readouterr().out.endswith("Nothing to mend.\n")


@pytest.mark.slow
def test_what_is_wrong_is_told_with_its_command(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    course.notebook(SLUG).write_text("<<<<<<<")
    assert main(["--course", str(course.root), "doctor"]) == 1
    said = capsys.readouterr().out
    assert f"!!  work/{SLUG}/{SLUG}.ipynb cannot be read" in said
    assert f"    Mend it with: mv {course.notebook(SLUG)}" in said
    assert said.endswith("1 to mend, from the top.\n")


@pytest.mark.slow
def test_before_the_first_update_that_is_the_one_thing_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lessons, "REGISTRY", (SLUG, "02-pure-python"))
    course = make_home(tmp_path / "new", SLUG, "02-pure-python")
    assert main(["--course", str(course.root), "doctor"]) == 1
    said = capsys.readouterr().out
    assert tells(said, "!!", "no copies", "attnlab update\n")
    assert said.endswith("1 to mend, from the top.\n")


def test_a_package_of_another_folder_is_told_of_by_doctor_and_update(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    installed = importlib.metadata.version("attnlab")
    path = course.root / "requirements.txt"
    path.write_text(f"-c constraints.txt\n./attnlab-{installed}-py3-none-any.whl[learn]\n")
    assert list(doctor.package(course)) == []
    path.write_text("-c constraints.txt\n./attnlab-9.9+c12345678-py3-none-any.whl[learn]\n")
    [(what, mend)] = to_mend(list(doctor.package(course)))
    assert tells(what, installed, "9.9+c12345678")
    assert mend.startswith(f"cd {course.root}; ")
    assert mend.endswith(" -m pip install -r requirements.txt")
    assert main(["--course", str(course.root), "update"]) == 0
    assert capsys.readouterr().out == f"{what}. Mend it with: {mend}\n"


def test_a_package_that_is_missing(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    (course.root / "constraints.txt").write_text("torch==2.13.0\nnumpy==0.1\n")
    version = importlib.metadata.version

    def none_of_torch(name: str) -> str:
        if name == "torch":
            raise importlib.metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(importlib.metadata, "version", none_of_torch)
    found = list(doctor.packages(course))
    [(what, mend)] = to_mend(found)
    assert what == "torch is missing"
    assert mend.endswith('-m pip install "torch==2.13.0"')
    assert "tested with 0.1" in found[-1].what


def test_a_python_that_is_too_old(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "PYTHON", (9, 9))
    assert to_mend(list(doctor.python(course)))[0][1] == "install a newer Python"


def test_a_pytorch_that_does_not_load(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('libgomp.so.1')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    [(what, mend)] = to_mend(list(doctor.torch(course)))
    assert tells(what, "PyTorch", "libgomp.so.1")
    assert mend.endswith("-m pip install --force-reinstall torch")


def test_a_kernel_of_another_python(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "jupyter" / "kernels" / "python3"
    folder.mkdir(parents=True)
    spec = '{"argv": ["/elsewhere/bin/python", "-m", "ipykernel"], "display_name": "Python 3"}'
    (folder / "kernel.json").write_text(spec)
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    [(what, mend)] = to_mend(list(doctor.kernel(course)))
    assert tells(what, "another Python", "/elsewhere/bin/python")
    assert mend.endswith("-m ipykernel install --sys-prefix")


def test_lessons_that_are_gone(course: Course) -> None:
    course.notebook(SLUG).unlink()
    assert to_mend(list(doctor.lessons(course)))[0][1] == "attnlab update"
    (course.released / SLUG / f"{SLUG}.ipynb").unlink()
    assert "unpack the course again" in to_mend(list(doctor.lessons(course)))[0][1]


@pytest.mark.parametrize(
    ("number", "step"),
    [
        (errno.EACCES, "chmod u+rwx {}"),
        (errno.EROFS, "work on a disk that can be written"),
        (errno.ENOSPC, "free some space"),
    ],
    ids=errno.errorcode.get,
)
def test_a_folder_that_cannot_be_written(
    number: int, step: str, course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(dir: Path) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(tempfile, "TemporaryFile", refused)  # root may write anywhere
    (what, mend), _ = to_mend(list(doctor.writing(course)))
    assert tells(what, course.work, os.strerror(number))
    assert mend == step.format(course.work)
    log = progress.Log()
    [(_, mend)] = report.problems(course, log)
    assert mend == step.format(course.state)


@pytest.mark.parametrize("data", [b"\xff\xff\n", None])
def test_a_progress_file_that_is_broken(data: bytes | None, course: Course) -> None:
    path = course.state / "progress.jsonl"
    path.write_bytes(data) if data else path.mkdir()
    [(_, mend)] = to_mend(list(doctor.progress(course)))
    assert mend == f"mv {path} {path}.broken"
