"""pyproject.toml, constraints.txt, environment.yml and what is installed say the same."""

from __future__ import annotations

import importlib.metadata
import re
import runpy
import tomllib
from itertools import chain

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.course import ROOT


def direct() -> dict[str, Requirement]:
    """The packages that pyproject.toml names, in all its extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    lines = [*project["dependencies"], *chain.from_iterable(extras)]
    return {canonicalize_name(Requirement(line).name): Requirement(line) for line in lines}


def pins() -> dict[str, Version]:
    """The versions in constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    found: dict[str, Version] = {}
    for line in lines:
        if line and not line.startswith("#"):
            name, version = re.fullmatch(r"([\w.-]+)==([\w.]+)", line).groups()  # type: ignore[union-attr]
            found[canonicalize_name(name)] = Version(version)
    return found


def conda() -> tuple[list[str], dict[str, Version]]:
    """Options and pins of the pip part of environment.yml."""
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    [pip] = [part["pip"] for part in environment["dependencies"] if isinstance(part, dict)]
    options = [line for line in pip if line.startswith("-")]
    pairs = [line.partition(";")[0].split("==") for line in pip if not line.startswith("-")]
    return options, {canonicalize_name(name): Version(version) for name, version in pairs}


def needed() -> set[str]:
    """What attnlab needs here with all its extras, dependencies of dependencies included."""
    reached: set[tuple[str, str]] = set()
    waiting = [("attnlab", extra) for extra in ("", "course", "site", "tests")]
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in reached:
            continue
        reached.add((name, extra))
        for line in importlib.metadata.requires(name) or []:
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                wanted = canonicalize_name(requirement.name)
                waiting += [(wanted, more) for more in ("", *requirement.extras)]
    return {name for name, _ in reached} - {"attnlab"}


def test_every_direct_dependency_is_pinned_within_its_bounds() -> None:
    pinned = pins()
    for name, requirement in direct().items():
        assert name in pinned, f"{name} is not in constraints.txt"
        assert requirement.specifier.contains(pinned[name]), f"{requirement} excludes its pin"


@pytest.mark.slow
def test_every_dependency_of_a_dependency_is_pinned() -> None:
    assert needed() - set(pins()) == set()


@pytest.mark.slow
def test_installed_versions_are_the_pinned_ones() -> None:
    pinned = pins()
    for name in needed():
        installed = Version(importlib.metadata.version(name))
        assert installed.public == pinned[name].public, f"{name}: {installed} is installed"


def test_conda_users_get_the_same_packages_and_pins() -> None:
    options, listed = conda()
    assert options == ["--constraint constraints.txt", "--editable ."]
    assert listed == {name: pins()[name] for name in direct()}


def test_no_pin_names_a_local_build_or_a_place() -> None:
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert not re.search(r"\+|://| @ |^/", text, flags=re.MULTILINE)


def test_the_page_that_an_index_shows_leads_to_nothing_beside_it() -> None:
    describe = runpy.run_path(str(ROOT / "setup.py"), run_name="setup")["description"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    beside = r"\]\((?!https://|#)[^)]*\)"
    assert re.findall(beside, readme)
    for repository in ("", "owner/name"):
        assert re.findall(beside, describe(readme, repository)) == []
    picture = "https://github.com/owner/name/raw/main/docs/lesson.png"
    assert f"]({picture})" in describe(readme, "owner/name")
    assert "![" not in describe(readme, "")
