"""`python -m autograder.demo_class`: fill class/submitted/ with a synthetic class."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .folder import NotOurs, refuse_to_overwrite, write
from .learners import LESSONS, ROOT, names, the_class


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m autograder.demo_class", description=__doc__)
    parser.add_argument("--students", type=int, default=30, metavar="N")
    parser.add_argument("--lesson", choices=LESSONS, help="one lesson; all of them if left out")
    parser.add_argument("--seed", type=int, default=1, help="the same seed, the same class")
    parser.add_argument("--to", type=Path, default=ROOT / "class" / "submitted", metavar="FOLDER")
    arguments = parser.parse_args()
    if arguments.students < 1:
        parser.error("a class has at least one student: --students 1")
    lessons = [arguments.lesson] if arguments.lesson else LESSONS
    try:
        refuse_to_overwrite(arguments.to, names(arguments.students))
        written = [
            write(arguments.to, submission, arguments.seed)
            for submission in the_class(arguments.students, lessons, arguments.seed)
        ]
    except (NotOurs, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{len(written)} notebooks of {arguments.students} students are in {arguments.to}.")
    print("Grade a lesson with: make grade LESSON=" + lessons[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
