"""A hub on this machine, made by the commands of docs/operator.md and taken away again.

It needs root and makes accounts. Nothing is there that was there before: where an account or a
folder of the page's names exists, it is somebody's, and nothing is done.
"""

from __future__ import annotations

import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests.course import ROOT
from tests.lab import HERE
from tests.until import PATIENCE, until

PAGE = ROOT / "docs" / "operator.md"
LESSON = "01-soft-lookup"
INSTRUCTOR, RIGHT, WRONG = "instructor", "ada", "emmy"
PEOPLE = (INSTRUCTOR, RIGHT, WRONG)
ROOM = Path("/opt/attnlab-hub")
STATE = Path("/var/lib/attnlab-hub")
SHARED = Path("/srv/attnlab")
INBOUND = SHARED / "exchange" / "attnlab" / "inbound"
COURSE = Path("/home") / INSTRUCTOR / "attnlab"
GROUP = "attnlab"
RUNS = "JupyterHub is now running"  # the hub's own word


@cache
def blocks(heading: str) -> list[str]:
    """The commands under a heading of the operator's page, one text for each block."""
    [part] = re.findall(
        rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", PAGE.read_text(), re.DOTALL | re.MULTILINE
    )
    return re.findall(r"^```sh\n(.*?)^```", part, re.DOTALL | re.MULTILINE)


def why_not() -> str:
    """What keeps a hub from being made here, '' if nothing does."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "needs root, since it makes accounts"
    if missing := [name for name in ("apt-get", "npm", "useradd") if not shutil.which(name)]:
        return f"needs {', '.join(missing)}"
    known = {account.pw_name for account in pwd.getpwall()}
    theirs = [f"the account {name}" for name in PEOPLE if name in known]
    theirs += [str(path) for path in (ROOM, STATE, SHARED) if path.exists()]
    return f"{', '.join(theirs)}: there already, and somebody's" if theirs else ""


def shell(script: str, cwd: Path) -> None:
    """Run commands of the page as root; every one has to succeed."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=cwd,
        env=_environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{script}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"


def as_(who: str, script: str, code: int | None = 0) -> str:
    """Run a script as somebody who has logged in, and return all that it says.

    Args:
        code: that it has to end with, if that is asked.
    """
    done = subprocess.run(
        ["su", "-", who, "-c", f"set -eu\n{script}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    assert code is None or done.returncode == code, f"{script}\n{done.stdout}"
    return done.stdout


FIRST = blocks("The instructor")[0]
OPEN, COLLECT_AND_GRADE, PAGES = blocks("The instructor")[1:4]
THERE = "\n".join(FIRST.splitlines()[:2])  # the folder and the path
COLLECT, GRADE = COLLECT_AND_GRADE.splitlines()


def instructor(script: str, code: int | None = 0) -> str:
    """Run commands of the page as the instructor, where it says that they are run."""
    return as_(INSTRUCTOR, f"{THERE}\n{script}", code)


def scores() -> dict[str, float]:
    """Everyone's score, as `nbgrader export` has it."""
    instructor("nbgrader export --to=/tmp/attnlab-grades.csv 2>&1")
    path = Path("/tmp/attnlab-grades.csv")
    head, *rows = [line.split(",") for line in path.read_text().splitlines()]
    path.unlink()
    named = [dict(zip(head, row, strict=True)) for row in rows]
    return {
        each["student_id"]: float(each["score"]) for each in named if each["assignment"] == LESSON
    }


@dataclass
class Hub:
    """The hub's process, which can be killed and started again.

    Attributes:
        clone: what a stranger has of the course.
        passwords: by account.
    """

    clone: Path
    passwords: dict[str, str]
    log: Path
    ports: tuple[int, int, int] = field(default_factory=lambda: (_free(), _free(), _free()))
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"http://{HERE}:{self.ports[0]}"

    def start(self) -> float:
        """Start it by the page's command; how long it took until it said that it runs.

        Added are ports that are free here, and what lets the tests find a notebook's cells.
        """
        [command] = blocks("The hub")[1:]
        own = [
            f"--JupyterHub.bind_url={self.address}",
            f"--JupyterHub.hub_port={self.ports[1]}",
            f"--ConfigurableHTTPProxy.api_url=http://{HERE}:{self.ports[2]}",
            "--Spawner.args=--LabApp.expose_app_in_browser=True",
        ]
        began = time.monotonic()
        said = self.log.stat().st_size if self.log.exists() else 0
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [*command.split(), *own],
                cwd="/",
                env=_environment(),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        process = self.process

        def state() -> str:
            if process.poll() is not None:
                return f"ended: {self.log.read_text()[-2000:]}"
            return RUNS if RUNS.encode() in self.log.read_bytes()[said:] else "starting"

        until(lambda: state() != "starting", what=RUNS)
        assert state() == RUNS, state()
        return time.monotonic() - began

    def kill(self) -> None:
        """End the hub at once, as a machine without memory does, and nothing else with it."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """End the hub and its proxy."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(PATIENCE)
            return
        self.process.kill()
        self.process.wait()


@contextmanager
def made(scratch: Path) -> Iterator[Hub]:
    """A hub by the page, from its first line, with three people; gone at the end."""
    clone = _clone(scratch / "clone")
    passwords = {name: os.urandom(8).hex() for name in PEOPLE}
    lines = "".join(f"{name}:{word}\n" for name, word in passwords.items())
    (clone / "passwords.txt").write_text(lines)
    hub = Hub(clone, passwords, scratch / "hub.log")
    try:
        for heading in ("Install", "Accounts", "The exchange"):
            for script in blocks(heading):
                shell(script, clone)
        shell(blocks("The hub")[0], clone)
        hub.start()
        yield hub
    finally:
        hub.stop()
        _remove()


def processes_of(*names: str) -> dict[int, str]:
    """What runs as these accounts: numbers and command lines."""
    numbers = {account.pw_uid for account in pwd.getpwall() if account.pw_name in names}
    found = {}
    for path in Path("/proc").iterdir():
        with suppress(OSError):  # it has ended meanwhile
            if path.name.isdigit() and path.stat().st_uid in numbers:
                command = (path / "cmdline").read_bytes().replace(b"\0", b" ")
                found[int(path.name)] = command.decode(errors="replace")
    return {number: command for number, command in found.items() if command}


def _remove() -> None:
    """Take away what the page made: processes by their number, then accounts and folders."""
    proxy = STATE / "proxy.pid"
    if proxy.exists():
        with suppress(ProcessLookupError, ValueError):
            os.kill(int(proxy.read_text()), signal.SIGTERM)
    known = {account.pw_name for account in pwd.getpwall()}
    for name in PEOPLE:
        if name in known:
            until(lambda name=name: _left(name), what=f"{name} to have left")  # type: ignore[misc]
    subprocess.run(["groupdel", GROUP], check=False, capture_output=True)
    for path in (ROOM, STATE, SHARED):
        shutil.rmtree(path, ignore_errors=True)


def _left(name: str) -> bool:
    """End what somebody has started, and remove the account; not while anything runs as it."""
    for number in processes_of(name):
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    return not subprocess.run(["userdel", "--remove", name], capture_output=True).returncode


def _clone(folder: Path) -> Path:
    """The course as a stranger clones it: what git knows here, and what is about to be added."""

    def git(*arguments: str, cwd: Path = folder) -> str:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
        return subprocess.run(
            command, cwd=cwd, check=True, capture_output=True, text=True, env=_environment()
        ).stdout

    listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    git("init", "--quiet", "--initial-branch=main")
    git("add", "--all")
    git("commit", "--quiet", "--message=The course")
    return folder


def _environment() -> dict[str, str]:
    """That of a shell in which nothing of the course's own environment is."""
    ours = ("VIRTUAL_ENV", "PYTHON", "JUPYTER", "PYTEST")
    found = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**found, "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}


def _free() -> int:
    with socket.create_server((HERE, 0)) as taken:
        return int(taken.getsockname()[1])
