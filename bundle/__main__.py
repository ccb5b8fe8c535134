"""`make bundle`: write dist/attnlab-course-<version>[-N-lessons][-with-solutions].zip."""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Collection, Sequence
from pathlib import Path

from attnlab.ipynb.files import NotWritten, write_whole
from attnlab.lessons import known, slugs
from attnlab.version import version
from bundle.solutions import solutions

ROOT = Path(__file__).resolve().parent.parent
DAY = (1980, 1, 1, 0, 0, 0)  # of every file, the first that a zip can hold
SECONDS_OF_DAY = "315532800"
REQUIREMENTS = """\
# pip install -r requirements.txt, in this folder. The versions are those the course is tested with.
-c constraints.txt
./{wheel}[learn]
"""
EXAMPLE = "06-causal-mask"  # which the README names
FOLDER = "attnlab-course"  # the same for each version: a newer one is unpacked over an older
SOLUTIONS = """\
- Stuck? After a try of your own, `attnlab.solution("softmax")` in a cell shows one way to write it.
"""


def wheel(root: Path, scratch: Path, lessons: Sequence[str]) -> Path:
    """Build the package, with these lessons, from a copy, so that nothing lying about gets into it;
    without a network.

    Raises:
        CalledProcessError: pip could not.
    """
    source = scratch / "source"
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(root / "src", source / "src", ignore=ignored)
    shutil.copytree(root / "jupyter", source / "jupyter", ignore=ignored)
    for slug in lessons:
        (source / "notebooks" / slug).mkdir(parents=True)
        notebook = Path("notebooks", slug, f"{slug}.ipynb")
        shutil.copy(root / notebook, source / notebook)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE", "notebooks/glossary.md"):
        shutil.copy(root / name, source / name)
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"),
            *("--no-deps", "--no-index", "--no-build-isolation"),
            *("--wheel-dir", str(scratch / "wheel"), str(source)),
        ],
        check=True,
        env={
            **os.environ,
            "SOURCE_DATE_EPOCH": SECONDS_OF_DAY,
            "PYTHONPATH": "",
            "SETUPTOOLS_SCM_PRETEND_VERSION": _version(source),
        },
    )
    [built] = (scratch / "wheel").glob("*.whl")
    return built


def _version(source: Path) -> str:
    """The package's own, 0.2.0+c1f0a…: pip keeps one whose version it has."""
    digest = hashlib.sha256()
    for path in sorted(path for path in source.rglob("*") if path.is_file()):
        name, data = path.relative_to(source).as_posix().encode(), path.read_bytes()
        digest.update(b"%d %d " % (len(name), len(data)) + name + data)
    build = f"c{digest.hexdigest()[:8]}"  # a letter first: of digits alone, zeros would go
    return f"{public()}+{build}"


def public() -> str:
    """The course's version, whichever build it is."""
    return version().partition("+")[0]


def chosen(names: Sequence[str]) -> list[str]:
    """The lessons that are called so, '06' or '06-causal-mask'; all of them if none is named.

    Raises:
        LookupError: there is no such lesson.
    """
    numbers = {slug.partition("-")[0]: slug for slug in slugs()}
    return sorted({known(numbers.get(name, name)) for name in names}) or [*slugs()]


def contents(
    root: Path, package: Path, lessons: Sequence[str], with_solutions: bool
) -> dict[str, bytes]:
    """What is in the zip, by name."""
    readme = (root / "bundle" / "README.md").read_bytes()
    if EXAMPLE not in lessons:
        readme = readme.replace(EXAMPLE.encode(), lessons[0].encode())
    found = {
        "README.md": readme + SOLUTIONS.encode() if with_solutions else readme,
        "LICENSE": (root / "LICENSE").read_bytes(),
        "constraints.txt": (root / "constraints.txt").read_bytes(),
        "requirements.txt": REQUIREMENTS.format(wheel=package.name).encode(),
        package.name: package.read_bytes(),
    }
    if with_solutions:
        found["solutions.json"] = solutions(root / "solutions")
    return found


def zipped(folder: str, files: dict[str, bytes], programs: Collection[str] = ()) -> bytes:
    """A zip of these files: the same files give the same bytes.

    Args:
        folder: that they are in, '' for none.
        programs: those that may be run.
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(f"{folder}/{name}".removeprefix("/"), DAY)
            entry.compress_type = zipfile.ZIP_DEFLATED
            mode = 0o755 if name in programs else 0o644
            entry.create_system, entry.external_attr = 3, mode << 16
            archive.writestr(entry, data)
    return packed.getvalue()


def main() -> int:
    parser = argparse.ArgumentParser("python -m bundle", description=__doc__)
    parser.add_argument("--solutions", action="store_true", help="for people who learn alone")
    parser.add_argument(
        "--lessons", nargs="+", default=[], metavar="LESSON", help="01 06; all if it is not said"
    )
    parser.add_argument("--root", type=Path, default=ROOT, help="of the course")
    asked = parser.parse_args()
    try:
        lessons = chosen(asked.lessons)
    except LookupError as none:
        parser.error(str(none.args[0]))
    told = f"-{len(lessons)}-lessons" if asked.lessons else ""
    told += "-with-solutions" if asked.solutions else ""
    place = asked.root / "dist" / f"{FOLDER}-{public()}{told}.zip"
    try:
        with tempfile.TemporaryDirectory() as scratch:
            package = wheel(asked.root, Path(scratch), lessons)
            files = contents(asked.root, package, lessons, asked.solutions)
        write_whole(place, zipped(FOLDER, files))
    except subprocess.CalledProcessError:
        print("The package could not be built. What pip said stands above.", file=sys.stderr)
        return 1
    except (NotWritten, OSError) as why:
        print(why, file=sys.stderr)
        return 1
    more = " Solutions are in it." if asked.solutions else " There are no solutions in it."
    print(f"{place.relative_to(asked.root)}: {len(files)} files.{more}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
