"""From an empty folder to the course: uvx, pipx, pip in a notebook, and what an index would take.

The index is a folder with the course's wheel, searched before the registry that pip and uv know;
`--find-links` that are already set for pip, with a CPU build of PyTorch for one, are searched too.
"""

from __future__ import annotations

import os
import re
import secrets
import signal
import subprocess
import sys
import tarfile
import time
import urllib.request
import venv
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.error import URLError

import nbformat
import pytest
import yaml
from nbclient import NotebookClient

from attnlab.published import Places
from tests.course import ROOT, released_path
from tests.lab import HERE, free_port
from tests.readme import first_cell

pytestmark = pytest.mark.deploy
Note = Callable[[str], None]
INSTALL_SECONDS = 900
VERSION = "99.0.0"
JOBS = yaml.safe_load((ROOT / "deploy" / "actions" / "release.yml").read_text("utf-8"))["jobs"]
STEPS = {
    step["name"]: step["run"]
    for job in JOBS.values()
    for step in job.get("steps", [])
    if "run" in step
}
PUBLISHED = Places("attnlab", "https://example.org/attnlab/", "someone/attnlab")


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has what packs, checks and runs packages."""
    folder = tmp_path_factory.mktemp("tools")
    venv.create(folder, with_pip=True)
    run(folder / "bin" / "python", "-m", "pip", "install", "-q", "uv", "pipx")
    return folder / "bin"


@pytest.fixture(scope="module")
def index(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what an index would be given, by the steps of the release, in a clone."""
    clone = tmp_path_factory.mktemp("release") / "clone"
    run("git", "clone", "--quiet", ROOT, clone)
    where = clone / "src" / "attnlab" / "published.py"
    text = where.read_text(encoding="utf-8")
    where.write_text(re.sub(r"(?m)^PUBLISHED_AT = .*", f"PUBLISHED_AT = {PUBLISHED}", text))
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    run("git", *who, "commit", "--quiet", "--allow-empty", "--all", "-m", "Published", cwd=clone)
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    for name in ("Look at the version", "Pack", "Pack the hand-out", "Write the checksums"):
        step = ("bash", "-e", "-c", STEPS[name])
        run(*step, cwd=clone, env={**os.environ, "PATH": path, "VERSION": VERSION})
    return clone / "release" / "index"


@pytest.fixture(scope="module")
def settings(index: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment in which packages come from the index too, in the pinned versions."""
    links = [*os.environ.get("PIP_FIND_LINKS", "").split(), str(index)]
    cache = tmp_path_factory.mktemp("cache")
    pins = str(ROOT / "constraints.txt")
    return {
        **os.environ,
        **{"PIP_FIND_LINKS": " ".join(links), "PIP_CONSTRAINT": pins, "PIPX_HOME": str(cache)},
        **{"UV_FIND_LINKS": ",".join(links), "UV_CONSTRAINT": pins, "UV_CACHE_DIR": str(cache)},
    }


def run(*command: str | Path, **options: Any) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_steps_of_a_release_pack_what_is_given_out(index: Path, note: Note) -> None:
    all_files = index.parent / "all"
    run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=all_files)
    names = {path.name for path in all_files.iterdir()} - {"SHA256SUMS"}
    wheel, packed = f"attnlab-{VERSION}-py3-none-any.whl", f"attnlab-{VERSION}.tar.gz"
    assert names == {wheel, packed, f"attnlab-course-{VERSION}.zip"}
    for name in sorted(names):
        note(f"{name}: {(all_files / name).stat().st_size / 1e6:.2f} MB")
    with tarfile.open(index / packed) as archive:
        inside = {name.split("/")[1] for name in archive.getnames() if name.count("/") == 1}
    plain = {"LICENSE", "MANIFEST.in", "PKG-INFO", "README.md", "pyproject.toml"}
    assert inside == plain | {"setup.cfg", "setup.py", "jupyter", "notebooks", "src"}
    with zipfile.ZipFile(index / wheel) as archive:
        about = archive.read(f"attnlab-{VERSION}.dist-info/METADATA").decode()
    assert f"https://github.com/{PUBLISHED.repository}/raw/main/docs/lesson.png" in about


@contextmanager
def opened(command: list[str | Path], folder: Path, settings: dict[str, str]) -> Iterator[float]:
    """The course home, asked for until it answers; how many seconds that took."""
    port, token = free_port(), secrets.token_hex(8)
    flags = ["--no-browser", f"--ServerApp.port={port}", f"--IdentityProvider.token={token}"]
    log, began = folder.parent / "log", time.monotonic()
    with open(log, "wb") as output:
        process = subprocess.Popen(
            [*command, "attnlab", "lab", *flags],
            cwd=folder,
            env=settings,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        page = b""
        while b"Soft lookup" not in page:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() - began < INSTALL_SECONDS, log.read_text()
            time.sleep(0.2)
            with suppress(URLError, ConnectionError, TimeoutError):
                address = f"http://{HERE}:{port}/attnlab?token={token}"
                page = urllib.request.urlopen(address, timeout=5).read()
        yield time.monotonic() - began
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=60)


@pytest.mark.parametrize(
    "runner",
    [
        ["uvx", "--python", sys.executable, "--from", "attnlab[learn]"],
        ["pipx", "run", "--python", sys.executable, "--spec", "attnlab[learn]"],
    ],
    ids=["uvx", "pipx"],
)
def test_one_command_in_an_empty_folder_opens_the_home(
    runner: list[str], tools: Path, settings: dict[str, str], tmp_path: Path, note: Note
) -> None:
    command: list[str | Path] = [tools / runner[0], *runner[1:]]
    folder = tmp_path / "course"
    folder.mkdir()
    with opened(command, folder, settings) as seconds:
        note(f"{seconds:.0f} s from an empty folder to the home, packages fetched and installed")
    assert (folder / "work" / "01-soft-lookup" / "01-soft-lookup.ipynb").is_file()
    with opened(command, folder, settings) as seconds:
        note(f"{seconds:.1f} s the second time, installed")


def test_a_notebook_alone_names_the_line_that_installs_the_course(
    settings: dict[str, str], tmp_path: Path, note: Note, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a hosted notebook that has Jupyter's kernel and nothing of the course."""
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    run(python, "-m", "pip", "install", "-q", "ipykernel", env=settings)
    for name in ("PIP_FIND_LINKS", "PIP_CONSTRAINT"):
        monkeypatch.setenv(name, settings[name])
    run(
        python, *["-m", "ipykernel", "install", "--name", "alone", "--prefix"], tmp_path / "kernels"
    )
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "kernels" / "share" / "jupyter"))

    notebook = nbformat.read(released_path("01-soft-lookup"), as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    client = NotebookClient(
        nbformat.v4.new_notebook(),
        kernel_name="alone",
        timeout=INSTALL_SECONDS,
        allow_errors=True,
        resources={"metadata": {"path": str(tmp_path)}},
    )
    with client.setup_kernel():

        def outputs(source: str) -> list[nbformat.NotebookNode]:
            cell = nbformat.v4.new_code_cell(source)
            client.nb.cells.append(cell)
            client.execute_cell(cell, len(client.nb.cells) - 1)
            return list(cell.outputs)

        [error] = outputs(first_cell(cells[0].source, PUBLISHED))
        assert error.ename == "ModuleNotFoundError"
        [line] = {
            found
            for text in error.traceback
            for found in re.findall(r"%pip install attnlab", re.sub(r"\x1b\[[0-9;]*m", "", text))
        }
        began = time.monotonic()
        outputs(line)
        took = time.monotonic() - began
        note(f"the line in its first cell, from an index that has the course: {took:.0f} s")
        failed = [
            (cell.source, each.evalue)
            for cell in cells
            for each in outputs(cell.source)
            if each.output_type == "error"
        ]
        assert failed == []
        note(f"{len(cells)} cells of lesson 01 run after it; not tried on Colab")
