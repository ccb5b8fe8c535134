"""Every limit of the grader, in one place."""

from __future__ import annotations

from dataclasses import dataclass

from attnlab.ipynb.read import MIB as MIB
from attnlab.ipynb.read import Sizes


@dataclass(frozen=True, slots=True)
class Limits(Sizes):
    """What one submission may use, beside the sizes of its file: past those it is INVALID.

    Attributes:
        cell_bytes: source of one cell whose names are read; parsing may take its square.
        read_bytes: the same of all cells together.
        statements: the same, counted in statements.
        output_bytes: what all cells together print, show and raise, as it stands in a file.
        cell_seconds: wall clock for one of the learner's cells.
        our_cell_seconds: the same for a locked cell, which is ours.
        call_seconds: wall clock for all calls of one exercise, as in the notebook's check.
        grace_seconds: how much later the process is killed if it does not stop by itself.
        judge_seconds: for the trusted side to compare what an exercise's calls returned.
        submission_seconds: for the whole submission; what is not graded by then is a TIMEOUT.
        memory_bytes: beyond what the libraries take.
        scratch_bytes, scratch_files: of the child's own /tmp, which is held in memory.
        threads, open_files, file_bytes: per child.
    """

    cell_bytes: int = 20_000
    read_bytes: int = 100_000
    statements: int = 5000
    output_bytes: int = 2 * MIB
    cell_seconds: float = 10.0
    our_cell_seconds: float = 60.0
    call_seconds: float = 8.0
    grace_seconds: float = 2.0
    judge_seconds: float = 10.0
    submission_seconds: float = 120.0
    memory_bytes: int = 1024 * MIB
    scratch_bytes: int = 64 * MIB
    scratch_files: int = 2048
    threads: int = 64
    open_files: int = 64
    file_bytes: int = 64 * MIB
