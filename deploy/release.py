"""`python -m deploy.release 0.2.0`: is this the next version, and is it said where it is published?

The first step of deploy/actions/release.yml; it needs nothing but Python, git and `packaging`.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

from packaging.version import Version

sys.path.append(str(Path(__file__).resolve().parents[1] / "src"))

from attnlab.published import PUBLISHED_AT, Places, wrong

FORM = re.compile(r"\d+\.\d+\.\d+")


def hindrance(version: str, tags: list[str], places: Places) -> str:
    """What keeps this version from being released, in a sentence; '' if nothing does."""
    if not FORM.fullmatch(version):
        return f"{version!r} is not the version of a release. Write it as 1.2.3."
    released = [tag[1:] for tag in tags if tag[:1] == "v" and FORM.fullmatch(tag[1:])]
    last = max(released, key=Version, default="0.1.0")
    if Version(version) <= Version(last):
        return f"{version} is not above {last}, which was released last."
    if not any(places):
        return "PUBLISHED_AT in src/attnlab/published.py is empty: say there where it will be."
    return wrong(places)


def main() -> int:
    parser = argparse.ArgumentParser("python -m deploy.release", description=__doc__)
    parser.add_argument("version", metavar="VERSION", help="such as 0.2.0")
    listed = subprocess.run(["git", "tag", "--list"], capture_output=True, text=True, check=False)
    if listed.returncode:
        print(f"git cannot list the versions. {listed.stderr.strip()}", file=sys.stderr)
        return 1
    said = hindrance(parser.parse_args().version, listed.stdout.split(), PUBLISHED_AT)
    print(said or "It can be released.", file=sys.stderr if said else sys.stdout)
    return bool(said)


if __name__ == "__main__":
    sys.exit(main())
