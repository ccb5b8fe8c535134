"""What pages in a browser are made of and npm has: Pyodide, and an editor.

    python -m docs.npm

Set-up runs this once. package-lock.json beside it says which versions, and what each archive hashes
to; a change there is made by `npm install --package-lock-only --omit-lockfile-registry-resolved`.
Archives are unpacked whole into .venv/npm/, and nothing of them is run. npm itself is not needed.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / ".venv" / "npm"
REGISTRY = "https://registry.npmjs.org/"  # if nobody named another one
SECONDS = 60  # for a registry to answer


class NotFetched(Exception):
    """A part could not be had; the sentence says which, and why."""


def pinned() -> dict[str, dict[str, Any]]:
    """What is asked for by name: its version, and its integrity, as npm writes it."""
    folder = Path(__file__).parent
    wanted = json.loads((folder / "package.json").read_text("utf-8"))["dependencies"]
    lock = json.loads((folder / "package-lock.json").read_text("utf-8"))["packages"]
    return {name: lock[f"node_modules/{name}"] for name in wanted}


def part(name: str) -> Path | None:
    """The folder of a part, in the version that is asked for; None where it was not fetched."""
    path = HOME / name
    with suppress(OSError, ValueError):
        had = json.loads((path / "package.json").read_text("utf-8"))["version"]
        return path if had == pinned()[name]["version"] else None
    return None


def fetch(name: str) -> None:
    """Fetch a part, unless it is there.

    Raises:
        NotFetched: no registry has it, or what it has is another thing.
    """
    if part(name):
        return
    version, integrity = pinned()[name]["version"], pinned()[name]["integrity"]
    address = f"{_registry()}{name}/-/{name.rpartition('/')[2]}-{version}.tgz"
    try:
        with urllib.request.urlopen(address, timeout=SECONDS) as answer:
            data = answer.read()
    except (OSError, ValueError) as why:
        raise NotFetched(f"{name} {version} could not be had from {address}: {why}") from why
    kind, _, expected = integrity.partition("-")
    if base64.b64encode(hashlib.new(kind, data).digest()).decode() != expected:
        raise NotFetched(f"{address} is not the {name} {version} of docs/package-lock.json.")
    _unpack(data, HOME / name)


def _registry() -> str:
    """Where npm would look, with a slash at its end."""
    told = os.environ.get("NPM_CONFIG_REGISTRY", "")
    if not told and (npm := shutil.which("npm")):
        asked = subprocess.run([npm, "config", "get", "registry"], capture_output=True, text=True)
        told = asked.stdout.strip()
    return f"{told.rstrip('/')}/" if told.startswith(("https:", "http:")) else REGISTRY


def _unpack(data: bytes, target: Path) -> None:
    """Put what an archive of npm holds into a folder, whole or not at all."""
    fresh = target.with_name(f"{target.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        top = os.path.commonpath(archive.getnames())  # 'package', or the part's own name
        archive.extraction_filter = getattr(tarfile, "data_filter", lambda each, _: each)
        archive.extractall(fresh)
    shutil.rmtree(target, ignore_errors=True)
    (fresh / top).rename(target)
    shutil.rmtree(fresh)


def main() -> int:
    """Fetch all; 0 also where that fails, as the course does without, and says so."""
    for name in pinned():
        try:
            fetch(name)
        except NotFetched as why:
            print(f"{why} Lessons cannot be run in the site's pages without it.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
