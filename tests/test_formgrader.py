"""`make formgrader` opens nbgrader's pages, for root as for anyone."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from tests.course import BIN, ROOT, SLUGS
from tests.small_class import environment

SECONDS = 60


@pytest.mark.slow
def test_formgrader_answers_in_the_folder_where_it_is_opened(tmp_path: Path) -> None:
    for name in ("Makefile", "nbgrader_config.py"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "solutions" / SLUGS[0], tmp_path / "solutions" / SLUGS[0])
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    flags = f"--no-browser --port={port} --ServerApp.port_retries=0 --IdentityProvider.token=x"
    log = tmp_path / "log"
    with open(log, "wb") as said:
        server = subprocess.Popen(
            ["make", "-o", ".venv/.ready", "formgrader", f"BIN={BIN}", f"ARGS={flags}"],
            cwd=tmp_path,
            env={**environment(), "JUPYTER_CONFIG_DIR": str(tmp_path / "settings")},
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
    try:
        there = f"http://127.0.0.1:{port}/formgrader"
        page = answer(f"{there}/manage_assignments?token=x", server)
        lessons = answer(f"{there}/api/assignments?token=x", server)
    finally:
        with suppress(ProcessLookupError):  # it has ended already
            os.killpg(server.pid, signal.SIGTERM)
        server.wait(timeout=SECONDS)
    assert "<title>nbgrader formgrade</title>" in page, log.read_text(encoding="utf-8")
    assert SLUGS[0] in lessons


def answer(address: str, server: subprocess.Popen[bytes]) -> str:
    """What a server says once it can be reached, '' if it ends before that."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until and server.poll() is None:
        try:
            with urlopen(address, timeout=SECONDS) as page:
                return str(page.read().decode())
        except (URLError, ConnectionError):
            time.sleep(0.2)
    return ""
