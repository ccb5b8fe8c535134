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
import time
import urllib.request
import venv
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.error import URLError

import nbformat
import pytest
from nbclient import NotebookClient

from attnlab.published import Places
from attnlab.version import version
from tests.course import ROOT, released_path
from tests.lab import HERE, free_port
from tests.readme import first_cell

pytestmark = pytest.mark.deploy
Note = Callable[[str], None]
INSTALL_SECONDS = 900
PUBLISHED = Places("attnlab", "https://example.org/attnlab/", "someone/attnlab")


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has what packs, checks and runs packages."""
    folder = tmp_path_factory.mktemp("tools")
    venv.create(folder, with_pip=True)
    run(folder / "bin" / "python", "-m", "pip", "install", "-q", "build", "twine", "uv", "pipx")
    return folder / "bin"


@pytest.fixture(scope="module")
def index(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what an index would be given."""
    folder = tmp_path_factory.mktemp("index")
    run(tools / "python", "-m", "build", "--outdir", folder, ROOT)
    return folder


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


def test_what_an_index_is_given_is_clean(tools: Path, index: Path, note: Note) -> None:
    made = sorted(index.iterdir())
    assert [path.suffix for path in made] == [".whl", ".gz"]
    assert all(f"attnlab-{version()}" in path.name for path in made)
    said = run(tools / "python", "-m", "twine", "check", "--strict", *made)
    assert said.count("PASSED") == 2
    for path in made:
        note(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB")


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
