"""The gradebook on PostgreSQL: its own tests, run again on Debian's server, and what goes wrong."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.course import ROOT
from tests.lab import HERE
from tests.small_class import environment

SERVERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
FILES = ("gradebook", "again", "history", "resume", "collect", "return", "grade_command")

pytestmark = [
    pytest.mark.deploy,
    pytest.mark.skipif(not SERVERS, reason="needs Debian's package postgresql"),
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be PostgreSQL's own account"),
]


@dataclass(frozen=True)
class Server:
    """A PostgreSQL server on loopback, with nothing in it."""

    folder: Path
    port: int

    @property
    def address(self) -> str:
        return f"postgresql+psycopg2://attnlab@{HERE}:{self.port}/postgres"

    def control(self, *arguments: str) -> None:
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-w", *arguments)

    def run(self, *command: str) -> None:
        """Run one of the server's programs as the account that the package has made."""
        program = str(SERVERS[-1] / command[0])
        subprocess.run(
            ["runuser", "-u", "postgres", "--", program, *command[1:]],
            cwd="/",
            check=True,
            stdout=subprocess.DEVNULL,
        )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = Path(subprocess.check_output(["mktemp", "-d"], text=True).strip())
    shutil.chown(folder, "postgres")
    with socket.create_server((HERE, 0)) as free:
        made = Server(folder, free.getsockname()[1])
    made.run("initdb", "-D", str(folder / "data"), "-A", "trust", "-U", "attnlab", "--no-sync")
    said = f"-p {made.port} -k {folder} -c listen_addresses={HERE} -c fsync=off"
    made.control("-o", said, "-l", str(folder / "log"), "start")
    yield made
    made.control("-m", "immediate", "stop")
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The hub's pinned driver, in a folder of its own: the course does not need it."""
    folder = tmp_path_factory.mktemp("driver")
    pins = (ROOT / "deploy" / "jupyterhub" / "requirements.txt").read_text()
    [pin] = re.findall(r"^psycopg2.*$", pins, re.MULTILINE)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), pin]
    subprocess.run(pip, check=True)
    return folder


@pytest.fixture
def on_postgres(server: Server, driver: Path) -> dict[str, str]:
    """The environment of a process that finds server and driver."""
    found = environment()
    path = os.pathsep.join([found["PYTHONPATH"], str(driver)])
    return {**found, "PYTHONPATH": path, "TESTS_POSTGRESQL": server.address}


@pytest.mark.parametrize("file", FILES)
def test_what_holds_on_sqlite_holds_here(
    file: str, on_postgres: dict[str, str], note: Callable[[str], None]
) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
            *("-m", "not sqlite and not deploy", f"tests/test_{file}.py"),
        ],
        cwd=ROOT,
        env=on_postgres,
        capture_output=True,
        text=True,
    )
    last = done.stdout.splitlines()[-1]
    note(last.strip("= "))
    assert done.returncode == 0, done.stdout[-5000:]
    assert re.search(r"[0-9]+ passed", last)


def test_its_version_is_written_down(
    server: Server, on_postgres: dict[str, str], note: Callable[[str], None]
) -> None:
    program = (
        "import sqlalchemy as s, psycopg2, sys; server = s.create_engine(sys.argv[1]).connect();"
        "print(server.exec_driver_sql('select version()').scalar());"
        "print('psycopg2', psycopg2.__version__, 'SQLAlchemy', s.__version__)"
    )
    said = subprocess.check_output(
        [sys.executable, "-c", program, server.address], env=on_postgres, text=True
    )
    assert "PostgreSQL" in said
    for line in said.splitlines():
        note(line)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("/postgres", "/nowhere"), 'database "nowhere" does not exist. Put that right'),
        (("attnlab@", "nobody@"), 'role "nobody" does not exist. Put that right'),
        ((f"@{HERE}:", "@127.0.0.2:"), "Connection refused"),
    ],
    ids=["no database", "no account", "no server"],
)
def test_what_keeps_it_from_being_used_is_one_line(
    change: tuple[str, str], said: str, on_postgres: dict[str, str], server: Server, tmp_path: Path
) -> None:
    settings = (ROOT / "nbgrader_config.py").read_text()
    address = server.address.replace(*change)
    (tmp_path / "nbgrader_config.py").write_text(
        f"{settings}\nc.CourseDirectory.db_url = {address!r}\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "autograder", "feedback", "01-soft-lookup"],
        cwd=tmp_path,
        env=on_postgres,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
