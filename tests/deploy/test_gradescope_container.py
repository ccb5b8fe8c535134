"""The Gradescope autograder in a container of the published layout, and what it makes of hand-ins.

Not Gradescope itself: its image, limits and security settings are its own.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import pytest

from attnlab.lessons import exercises_of
from tests.course import ROOT
from tests.deploy import containers

pytestmark = pytest.mark.deploy
LESSON = "06-causal-mask"
MOST = sum(exercise.points for exercise in exercises_of(LESSON).values())
IMAGE = """\
ARG BASE
FROM ${BASE}
COPY source /autograder/source
RUN mkdir /autograder/submission /autograder/results \\
 && cp /autograder/source/run_autograder /autograder/ && chmod +x /autograder/run_autograder \\
 && cd /autograder && TORCH_INDEX= bash source/setup.sh
WORKDIR /autograder
ENV SECRET_OF_THE_HOST=hush-hush
CMD ["/autograder/run_autograder"]
"""
# What Docker's profile does to a container without CAP_SYS_ADMIN, as far as it matters here.
AS_DOCKER = {
    "defaultAction": "SCMP_ACT_ALLOW",
    "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64"],
    "syscalls": [
        {"names": ["unshare", "setns", "mount", "pivot_root"], "action": "SCMP_ACT_ERRNO"},
        {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38},
        {
            "names": ["clone"],
            "action": "SCMP_ACT_ERRNO",
            "args": [
                # A new user namespace.
                {
                    "index": 0,
                    "value": 0x10000000,
                    "valueTwo": 0x10000000,
                    "op": "SCMP_CMP_MASKED_EQ",
                }
            ],
        },
    ],
}
# Looks for all that a submission must not know, and says in an error how much it found: it is the
# one way out that a learner has.
SPY = """
import os, sys
def spied():
    found = []
    for name in PLACES:
        try:
            inside = os.listdir(name) if os.path.isdir(name) else [len(open(name, "rb").read())]
            found.append(f"{name} has {len(inside)}")
        except OSError:
            pass
    for place, folders, files in os.walk("/"):
        if place == "/":
            folders[:] = [name for name in folders if name not in ("proc", "sys")]
        found += [os.path.join(place, name) for name in files if name in NAMES]
    found += [f"{name} is {value}" for name, value in os.environ.items() if "hush" in value]
    found += [name for name in sys.modules if name.startswith(MODULES)]
    return f"FOUND {len(found)}: {found[:6]}"
"""
SPY += f"""
PLACES = "/autograder /course /opt/attnlab/lib /root /etc/passwd /proc/1/environ".split()
NAMES = "key LESSON results.json pose.py judge.py {LESSON}.ipynb run_autograder".split()
MODULES = ("attnlab.checks", "attnlab.lessons", "autograder.run", "autograder.submission", "deploy")
"""
Note = Callable[[str], None]


class Ran(NamedTuple):
    """What a run left: its exit status, what it printed, and results.json, None without one."""

    status: int
    printed: str
    results: dict[str, Any] | None


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> str:
    if lacking := containers.lacking():
        pytest.skip(f"needs {lacking}")
    containers.make_base()
    subprocess.run([sys.executable, "-m", "deploy.gradescope", LESSON], cwd=ROOT, check=True)
    context = tmp_path_factory.mktemp("gradescope")
    with zipfile.ZipFile(ROOT / "dist" / f"gradescope-{LESSON}.zip") as archive:
        archive.extractall(context / "source")
    (context / "Dockerfile").write_text(IMAGE)
    return containers.build("gradescope", context, str(context / "Dockerfile"))


def hand_in(folder: Path, **cells: str) -> Path:
    """The authors' notebook as a hand-in, with these cells in place of its own; the folder."""
    notebook = nbformat.read(ROOT / "solutions" / LESSON / f"{LESSON}.ipynb", as_version=4)
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell.source = cells.get(name, cell.source)
    folder.mkdir()
    nbformat.write(notebook, folder / f"{LESSON}.ipynb")
    return folder


def graded(image: str, submission: Path, *flags: str) -> Ran:
    """Run the autograder on a folder."""
    results = submission.parent / f"{submission.name}-results"
    results.mkdir()
    lent = (f"{submission}:/autograder/submission:ro", f"{results}:/autograder/results")
    volumes = [word for place in lent for word in ("--volume", place)]
    try:
        printed, status = containers.run(image, flags=[*volumes, *flags]), 0
    except AssertionError as failed:
        printed, status = str(failed), 1
    path = results / "results.json"
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    return Ran(status, printed, found)


def shown(results: dict[str, Any]) -> str:
    """results.json in a line."""
    return f"`{json.dumps(results, ensure_ascii=False)}`"


def test_setup_made_an_image(image: str, note: Note) -> None:
    names = containers.run(image, "ls", "/autograder").split()
    assert names == ["results", "run_autograder", "source", "submission"]
    modes = containers.run(image, "stat", "-c", "%a", "source", "source/key").split()
    assert modes == ["700", "600"]
    packed = (ROOT / "dist" / f"gradescope-{LESSON}.zip").stat().st_size
    note(f"zip {packed / 1e6:.2f} MB, image {containers.size(image)}")


def test_right(image: str, tmp_path: Path, note: Note) -> None:
    ran = graded(image, hand_in(tmp_path / "right"))
    assert ran.status == 0, ran.printed
    assert ran.results is not None
    assert ran.results["score"] == MOST
    assert {test["status"] for test in ran.results["tests"]} == {"passed"}
    note(shown(ran.results))


def test_wrong(image: str, tmp_path: Path, note: Note) -> None:
    source = (
        "def causal_mask(n, device=None):\n    return torch.ones(n, n, device=device).tril().bool()"
    )
    ran = graded(image, hand_in(tmp_path / "wrong", causal_mask=source))
    assert ran.results is not None
    first = ran.results["tests"][0]
    assert (first["name"], first["status"]) == ("causal_mask", "failed")
    assert first["output"]
    assert 0 <= ran.results["score"] < MOST
    note(shown(ran.results))


def test_unreadable(image: str, tmp_path: Path, note: Note) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / f"{LESSON}.ipynb").write_bytes(b"\x00 no notebook")
    ran = graded(image, tmp_path / "broken")
    assert ran.results is not None
    assert ran.results["score"] == 0
    assert "\n" not in ran.results["output"]
    note(shown(ran.results))


def test_hostile(image: str, tmp_path: Path, note: Note) -> None:
    source = (
        f"{SPY}\nSEEN = spied()\n\ndef causal_mask(n, device=None):\n    raise ValueError(SEEN)"
    )
    ran = graded(image, hand_in(tmp_path / "hostile", causal_mask=source))
    assert ran.results is not None
    [told] = [test["output"] for test in ran.results["tests"] if test["name"] == "causal_mask"]
    assert "FOUND 0: []" in told
    note(shown(ran.results))
    # The same code outside of the sandbox finds what is there.
    script = f"{SPY}\nimport attnlab.checks.pose\nprint(spied())"
    outside = containers.run(image, "/opt/attnlab/bin/python", "-c", script)
    assert "/autograder has 4" in outside
    assert "FOUND 0" not in outside
    note(f"the same code outside of the sandbox: {outside.strip()}")


def test_what_it_takes_of_memory(image: str, tmp_path: Path, note: Note) -> None:
    ran = graded(image, hand_in(tmp_path / "right"), "--memory", "768m")
    assert ran.results is not None, ran.printed
    note(f"with 768 MB, Gradescope's default: {ran.results['score']:g} of {MOST:g} points")


def test_where_isolation_cannot_be_had_there_is_no_score(
    image: str, tmp_path: Path, note: Note
) -> None:
    profile = tmp_path / "profile.json"
    profile.write_text(json.dumps(AS_DOCKER))
    safety = ("--security-opt", f"seccomp={profile}")
    ran = graded(image, hand_in(tmp_path / "right"), *safety)
    assert ran.status == 1
    assert ran.results is None
    [line] = [each for each in ran.printed.splitlines() if each.startswith("No score was given.")]
    assert "--security-opt seccomp=unconfined" in line
    note(f"printed, and no results.json: {line}")


@pytest.mark.parametrize("names", [[], ["a.ipynb", "b.ipynb"], ["01-soft-lookup.ipynb"]])
def test_other_things_handed_in_get_one_line(
    image: str, tmp_path: Path, note: Note, names: list[str]
) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    for name in names:
        shutil.copy(ROOT / "notebooks" / "01-soft-lookup" / "01-soft-lookup.ipynb", folder / name)
    ran = graded(image, folder)
    assert ran.results is not None, ran.printed
    assert ran.results["score"] == 0
    note(f"{names}: {ran.results['output']}")
