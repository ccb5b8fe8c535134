"""The command `attnlab`: a learner's, in the folder of their course."""

from __future__ import annotations

import argparse
import difflib
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from attnlab.ipynb.files import NotWritten
from attnlab.lessons import known, slugs
from attnlab.work.places import Course, Refused, course_at, lesson_path, with_copies

Do = Callable[[Course, argparse.Namespace], int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what is asked; 0 if it was done, 1 if it could not be, 2 if it cannot be understood."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal of other letters than ours
    parser = _parser()
    asked, flags = parser.parse_known_args(arguments)
    asked.flags = flags
    if asked.flags and asked.do is not _lab:
        parser.error(f"unrecognized arguments: {' '.join(asked.flags)}")
    try:
        course = course_at((asked.course or Path.cwd()).absolute())
        done = int(asked.do(course, asked))
        sys.stdout.flush()
        return done
    except BrokenPipeError:  # whoever reads has enough: attnlab progress | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (Refused, NotWritten, LookupError) as why:
        print(why.args[0], file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("attnlab", description="A course on attention.")
    parser.add_argument("--course", type=Path, metavar="FOLDER", help="if not this one")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, do: Do, help: str, epilog: str = "") -> argparse.ArgumentParser:
        found = commands.add_parser(name, help=help, epilog=epilog)
        found.set_defaults(do=do)
        return found

    flags = "What else you say goes to JupyterLab: attnlab lab --no-browser --port 8899"
    command("lab", _lab, "bring work/ up to date, open the course in JupyterLab", flags)
    command("update", _update, "bring work/ up to date with notebooks/")
    command("progress", _progress, "what is done, and what to do next")
    mine = command("check-mine", _check_mine, "run your own lessons, all cards on one page")
    mine.add_argument("lesson", nargs="*", help="'06-causal-mask'; all if left out")
    mine.add_argument(
        "--summary", type=Path, metavar="FILE", help="add the cards there, as Markdown"
    )
    hand = command("hand-in", _hand_in, "make what you hand in of a lesson, looked through")
    hand.add_argument("lesson", help="'06-causal-mask'")
    keep = command("keepsake", _keepsake, "a page to show: your attention on a sentence of yours")
    keep.add_argument("--sentence", help="in words of the small model")
    keep.add_argument("--name", default="", help="to put on it; none if left out")
    command("doctor", _doctor, "what is wrong here, and what mends it")
    return parser


def _update(course: Course, asked: argparse.Namespace) -> int:
    from attnlab.home.copies import update
    from attnlab.home.doctor import package

    for found in package(course):
        print(f"{found.what}. Mend it with: {found.mend}", flush=True)
    try:
        for line in update(course):
            print(line, flush=True)
    except BrokenPipeError:
        raise
    except (NotWritten, OSError) as why:
        print(f"Not all of your copies are up to date. {why}", file=sys.stderr, flush=True)
        return 1
    return 0


def _progress(course: Course, asked: argparse.Namespace) -> int:
    from attnlab.home.report import report

    for line in report(course):
        print(line)
    return 0


def _check_mine(course: Course, asked: argparse.Namespace) -> int:
    from attnlab.home.check_mine import (
        UNWRITTEN,
        check_all,
        summary,
        told_first,
        write_page,
    )

    handed_out = (slug for slug in slugs() if (course.released / lesson_path(slug)).exists())
    wanted = [known(slug) for slug in asked.lesson or handed_out]
    for line in told_first(with_copies(course), wanted):
        print(line, flush=True)
    found = []
    try:
        for each in check_all(course, wanted):
            found.append(each)
            if each.problem != UNWRITTEN:
                print(f"{each.slug}: {each.said}", flush=True)
    except KeyboardInterrupt:
        print("Stopped. The page holds the lessons before.", file=sys.stderr)
    if unwritten := [each.slug for each in found if each.problem == UNWRITTEN]:
        print(f"Nothing is written yet in {', '.join(unwritten)}.")
    if asked.summary:
        _add(asked.summary, summary(found))
    print(f"All cards are in {write_page(course, found)}")
    return 0


def _add(path: Path, text: str) -> None:
    try:
        with open(path, "a", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except OSError as why:
        raise NotWritten(path, why) from why


def _hand_in(course: Course, asked: argparse.Namespace) -> int:
    from attnlab.home.hand_in import hand_in

    print(*hand_in(with_copies(course), asked.lesson), sep="\n")
    return 0


def _keepsake(course: Course, asked: argparse.Namespace) -> int:
    from attnlab.home.check_mine import WARNING
    from attnlab.home.keepsake import keep
    from attnlab.home.listening import SENTENCE

    print(WARNING, flush=True)
    sentence = SENTENCE if asked.sentence is None else asked.sentence
    print(*keep(with_copies(course), sentence, asked.name), sep="\n")
    return 0


def _doctor(course: Course, asked: argparse.Namespace) -> int:
    from attnlab.home.doctor import findings

    problems = 0
    for found in findings(course):
        print(f"{'!!' if found.mend else 'ok'}  {found.what}", flush=True)
        if found.mend:
            problems += 1
            print(f"    Mend it with: {found.mend}", flush=True)
    print("Nothing to mend." if not problems else f"{problems} to mend, from the top.")
    return bool(problems)


def _lab(course: Course, asked: argparse.Namespace) -> int:
    if unknown := _no_option(asked.flags):
        print(unknown, file=sys.stderr)
        return 2
    course.make_work()
    _update(course, asked)  # whatever it meets: what is there can be opened
    print(f"Your course is in {course.work}", flush=True)
    print(
        "JupyterLab prints its address below. It opens the course home; stop it with Ctrl+C, twice."
    )
    told = {**os.environ, "ATTNLAB_COURSE": str(course.root)}  # which lab_config.py reads
    command = [sys.executable, "-m", "jupyterlab", f"--config={course.settings}", *asked.flags]
    sys.stdout.flush()
    if os.name != "nt":
        os.execve(sys.executable, command, told)
    import subprocess  # there a program that gives its place to another frees the terminal

    return subprocess.call(command, env=told)


def _no_option(flags: Sequence[str]) -> str:
    """What to say of the first option that JupyterLab has none of: it would start without it."""
    if not flags:
        return ""
    from jupyter_server.serverapp import ServerApp
    from jupyterlab.labapp import LabApp  # type: ignore[import-untyped]

    apps = LabApp(), ServerApp()
    known = {"help", "help-all", "version"}.union(*(app.aliases | app.flags for app in apps))
    for flag in flags:
        name = flag.lstrip("-").partition("=")[0]
        if flag.startswith("--") and name and "." not in name and name not in known:
            [meant] = difflib.get_close_matches(name, known, 1) or [""]
            close = f" Do you mean --{meant}?" if meant else ""
            return f"JupyterLab has no option --{name}.{close}"
    return ""
