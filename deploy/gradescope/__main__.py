"""`make gradescope LESSON=…`: write dist/gradescope-<lesson>.zip."""

from __future__ import annotations

import argparse
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path

from attnlab.ipynb.files import NotWritten, write_whole
from attnlab.lessons import known, slugs
from bundle.__main__ import ROOT, wheel, zipped

HERE = Path(__file__).resolve().parent
PROGRAMS = ("setup.sh", "run_autograder")
OURS = (
    "deploy/__init__.py",
    *(f"deploy/gradescope/{n}.py" for n in ("__init__", "results", "run")),
)


def contents(root: Path, lesson: str, package: Path) -> dict[str, bytes]:
    """What is in the zip, by name: all that grading one lesson takes, and no solution."""
    notebooks = [f"notebooks/{slug}/{slug}.ipynb" for slug in slugs()]  # tells one from another
    grader = [path.relative_to(root).as_posix() for path in (root / "autograder").rglob("*.py")]
    names = [*OURS, *notebooks, *grader, "constraints.txt", "LICENSE"]
    return {
        **{name: (root / name).read_bytes() for name in names},
        **{name: (HERE / name).read_bytes() for name in PROGRAMS},
        package.name: package.read_bytes(),
        "LESSON": f"{lesson}\n".encode(),
        "key": secrets.token_hex(32).encode(),
    }


def main() -> int:
    parser = argparse.ArgumentParser("python -m deploy.gradescope", description=__doc__)
    parser.add_argument("lesson", metavar="LESSON", help="such as 06-causal-mask")
    parser.add_argument("--root", type=Path, default=ROOT, help="of the course")
    asked = parser.parse_args()
    try:
        lesson = known(asked.lesson)
    except LookupError as none:
        parser.error(str(none.args[0]))
    place = asked.root / "dist" / f"gradescope-{lesson}.zip"
    try:
        with tempfile.TemporaryDirectory() as scratch:
            files = contents(asked.root, lesson, wheel(asked.root, Path(scratch), [lesson]))
        write_whole(place, zipped("", files, PROGRAMS))
    except subprocess.CalledProcessError:
        print("The package could not be built. What pip said stands above.", file=sys.stderr)
        return 1
    except (NotWritten, OSError) as why:
        print(why, file=sys.stderr)
        return 1
    print(
        f"{place.relative_to(asked.root)}: {len(files)} files. It has the key to the hidden cases."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
