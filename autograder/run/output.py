"""Where results go that a person asks for: standard output, a file, a device or a pipe."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from attnlab.ipynb.files import NotWritten, write_whole
from autograder import Problem, Usage

STANDARD_OUTPUT = "-"


def check_place(target: str) -> None:
    """Refuse a place for results before anything is graded.

    Args:
        target: a path, '-' for standard output, '' for nowhere.
    Raises:
        Usage: nothing can be written there.
    """
    if target in ("", STANDARD_OUTPUT):
        return
    path = Path(target).absolute()
    if not path.parent.is_dir():
        raise Usage(f"No results can be written to {target}: there is no such folder.")
    if path.is_dir():
        raise Usage(f"No results can be written to {target}: it is a folder. Name a file in it.")


def write_results(target: str, text: str) -> None:
    """Write results: a file as a whole, anything else as it is.

    Raises:
        NotWritten, Problem: what could not be written, and what to do.
    """
    if target == STANDARD_OUTPUT:
        _print(text)
    elif _is_stream(target):
        try:
            with open(target, "w", encoding="utf-8") as stream:
                stream.write(text)
        except OSError as error:
            raise NotWritten(Path(target), error) from error
    else:
        write_whole(Path(os.path.realpath(target)), text.encode())


def _is_stream(target: str) -> bool:
    """Whether a path stands for something that is open already, or is no file."""
    if Path(target).is_relative_to("/dev"):
        return True
    try:
        return not stat.S_ISREG(os.stat(target).st_mode)
    except OSError:
        return False


def _print(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python complains again at its end
        raise Problem("Standard output was closed before all results were written.") from error
