"""Containers as these tests make them: a base of Debian's own, buildah, podman with runc.

It needs root, and the packages buildah, podman, runc and debootstrap. What pip and apt are told on
this machine, such as where packages come from, is read here and lent to a build; no image keeps it.
"""

from __future__ import annotations

import ast
import atexit
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from pathlib import Path

from tests.course import ROOT

BUILD = ROOT / "build" / "deploy"  # the base stays there: it takes a minute to make
DOCKERFILE = "deploy/container/Dockerfile"
NAME = "localhost/attnlab-deploy-test"
BASE = f"{NAME}-base"
PACKAGES = "python3,python3-venv,ca-certificates"
MINUTES = 20
# The limits of a process stay what they are: they cannot be raised where this runs.
SETTINGS = """\
[containers]
default_ulimits = []
netns = "none"
[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
"""


def lacking() -> str:
    """What this machine lacks for these tests, '' if nothing."""
    if os.geteuid() != 0:
        return "root"
    tools = ("buildah", "podman", "runc", "debootstrap")
    return ", ".join(tool for tool in tools if not shutil.which(tool))


def command(*words: str, minutes: float = MINUTES) -> str:
    """Run a command to its end; what it printed."""
    done = subprocess.run(
        words,
        cwd=ROOT,
        env={**os.environ, "CONTAINERS_CONF": str(_settings())},
        capture_output=True,
        text=True,
        timeout=60 * minutes,
    )
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@cache
def make_base() -> str:
    """Import the base image; its name. What is built on it is removed as this process ends."""
    atexit.register(tidy, _images().keys())
    packed = BUILD / "base.tar"
    if not packed.exists():
        root = BUILD / "root"
        shutil.rmtree(root, ignore_errors=True)
        root.parent.mkdir(parents=True, exist_ok=True)
        codename = platform.freedesktop_os_release()["VERSION_CODENAME"]
        told = (
            "--variant=minbase",
            f"--include={PACKAGES}",
            codename,
            str(root),
            _mirror(codename),
        )
        command("debootstrap", *told)
        command("tar", "-C", str(root), "-cf", f"{packed}.part", ".")
        os.rename(f"{packed}.part", packed)
        shutil.rmtree(root)
    command("podman", "import", "--quiet", str(packed), BASE)
    return BASE


def build(name: str, context: Path, dockerfile: str, *flags: str) -> str:
    """Build an image; its name."""
    image = f"{NAME}-{name}"
    lent = [word for place, inside in _pip() for word in ("--volume", f"{place}:{inside}:ro")]
    told = ("--isolation", "chroot", "--network", "host", "--layers", "--build-arg", f"BASE={BASE}")
    command("buildah", "bud", *told, *lent, *flags, "-f", dockerfile, "-t", image, str(context))
    return image


def target(name: str, *flags: str) -> str:
    """Build a target of the course's Dockerfile; the image's name."""
    told = ("--build-arg", "TORCH_INDEX=", "--target", name)
    return build(name, ROOT, DOCKERFILE, *told, *flags)


def run(image: str, *words: str, flags: Sequence[str] = (), minutes: float = MINUTES) -> str:
    """Run a command in a container without a network; what it printed."""
    return command("podman", "run", "--rm", *flags, image, *words, minutes=minutes)


def size(image: str) -> str:
    """An image's size, base and all: '1.7 GB'."""
    told = command("podman", "image", "inspect", "--format", "{{.Size}}", image)
    return f"{int(told) / 1e9:.2f} GB"


def tidy(before: Collection[str]) -> None:
    """Remove the images that these tests made, and their layers; the packed base stays.

    Args:
        before: what was there already.
    """
    names = (NAME, "<none>")
    made = [key for key, name in _images().items() if key not in before and name.startswith(names)]
    subprocess.run(["podman", "rmi", "--force", *made], capture_output=True)


def _images() -> dict[str, str]:
    """The name of each image here, layers included, by its id."""
    told = command("podman", "images", "--all", "--no-trunc", "--format", "{{.Id}} {{.Repository}}")
    return dict(line.split(maxsplit=1) for line in told.splitlines())


def _settings() -> Path:
    path = BUILD / "containers.conf"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SETTINGS, encoding="utf-8")
    return path


def _mirror(codename: str) -> str:
    """Where this machine's apt has Debian from."""
    places = [Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*")]
    text = "\n".join(place.read_text(encoding="utf-8") for place in places if place.is_file())
    for entry in re.split(r"\n\s*\n|\n(?=deb )", text):
        found = re.search(r"(?m)^(?:URIs:|deb(?: \[.*?\])?)\s+(\S+/debian)/?\s", entry)
        if found and re.search(rf"\b{codename}\s", entry):
            return found[1]
    return "http://deb.debian.org/debian"


def _pip() -> Iterator[tuple[Path, str]]:
    """What pip reads on this machine, its settings as one file and all that they name, and where
    that is to lie in a build.
    """
    told: dict[str, str] = {}
    for line in command(sys.executable, "-m", "pip", "config", "list").splitlines():
        name, _, value = line.partition("=")
        told.setdefault(name.rpartition(".")[2], ast.literal_eval(value))  # what counts is first
    settings = BUILD / "pip.conf"
    lines = [f"{name} = {value}" for name, value in sorted(told.items())]
    settings.write_text("\n".join(["[global]", *lines, ""]), encoding="utf-8")
    yield settings, "/etc/pip.conf"
    named = {
        Path(word.removeprefix("file://")).parent  # an index's links lead to beside it
        if word.startswith("file://")
        else Path(word)
        for value in told.values()
        for word in value.split()
        if word.startswith(("/", "file:///"))
    }
    yield from ((path, str(path)) for path in sorted(named) if path.exists())
