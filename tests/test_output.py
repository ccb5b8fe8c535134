"""Where results are written that a person asks for."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from attnlab.ipynb.files import NotWritten
from autograder import Problem, Usage
from autograder.run.output import check_place, write_results

TEXT = '{"student": "s1"}\n'


def test_a_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text("earlier")
    write_results(str(path), TEXT)
    assert path.read_text() == TEXT
    assert os.listdir(tmp_path) == ["results.jsonl"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("earlier")
    link = tmp_path / "link"
    link.symlink_to("real")
    write_results(str(link), TEXT)
    assert link.is_symlink()
    assert (tmp_path / "real").read_text() == TEXT


def test_a_pipe_is_written_into(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_results(str(pipe), TEXT)
    reader.join()
    assert read == [TEXT]
    assert pipe.is_fifo()


def test_a_device_stays_a_device(capfd: pytest.CaptureFixture[str]) -> None:
    write_results("/dev/stdout", TEXT)
    assert capfd.readouterr().out == TEXT
    descriptor = os.open(os.devnull, os.O_WRONLY)
    try:
        write_results(f"/dev/fd/{descriptor}", TEXT)
    finally:
        os.close(descriptor)
    assert Path(os.devnull).is_char_device()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is full here")
def test_what_cannot_be_written_is_named() -> None:
    with pytest.raises(NotWritten, match=r"'/dev/full' could not be written.*disk is full"):
        write_results("/dev/full", TEXT)


@pytest.mark.parametrize("target", [".", "no/such/folder", "/dev/null/x"])
def test_no_place_is_refused_at_once(target: str) -> None:
    with pytest.raises(Usage, match=f"No results can be written to {target}"):
        check_place(target)


@pytest.mark.parametrize("target", ["", "-", "results.jsonl", "/dev/null"])
def test_a_place_is_accepted(target: str) -> None:
    check_place(target)


def test_a_closed_standard_output_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    read, write = os.pipe()
    os.close(read)
    with open(write, "w") as stream:
        monkeypatch.setattr("sys.stdout", stream)
        monkeypatch.setattr(os, "dup2", lambda *_: None)
        with pytest.raises(Problem, match="closed before all results"):
            write_results("-", TEXT)
        monkeypatch.undo()
        read, again = os.pipe()
        os.dup2(again, write)  # or its last words have nowhere to go
        os.close(again)
    os.close(read)
