"""Where the course is published is said once, and nothing tells of a place that is not ours."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from attnlab import lessons
from attnlab.published import PUBLISHED_AT, Places, imported, upgrade, wrong
from tests.course import ROOT
from tests.readme import README, first_cell, replaced, start

OURS = Places("attnlab", "https://example.org/attnlab/", "someone/attnlab")
# What takes a package by its name from an index; a path to a wheel begins with another word.
_NAMED = r"""["'\\]*attnlab(\[[\w,]*\])?["'\\]*([=<>~!]=?\S*)?(?![-\w./])"""
_TAKES = re.compile(
    rf"(?:uvx|pipx\s+run|uv\s+tool\s+run|--from|--spec|--with)[\s=]+{_NAMED}"
    rf"|\b(?:pip3?|uv|pipx|conda|mamba)\b[^\n`]*? (?:install|add|download|wheel)"
    rf" (?:[^\n`]* )?{_NAMED}"
)
TELLING = ("autograder", "bundle", "deploy", "docs", "notebooks", "solutions", "src")
KINDS = (".md", ".mjs", ".py", ".ipynb", ".toml", ".yml", ".txt", ".sh", "")


def told() -> dict[str, str]:
    """What is told to somebody, by the file in which it stands."""
    folders = [ROOT / name for name in TELLING]
    paths = [*ROOT.glob("*"), *(path for folder in folders for path in folder.rglob("*"))]
    return {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8").replace('\\"', '"')
        for path in paths
        if path.is_file() and path.suffix in KINDS
        if not re.search(r"__pycache__|\.egg-info", str(path))
    }


def takes(text: str) -> list[str]:
    """Each place that tells to take the name attnlab from an index."""
    folded = re.sub(r"`[^`\n]*\n[^`\n]*`", lambda found: found[0].replace("\n", " "), text)
    return [found[0] for found in _TAKES.finditer(folded)]


@pytest.mark.parametrize(
    "line",
    [
        "pip install attnlab",
        "%pip install attnlab  # again",
        ".venv/bin/pip install -c constraints.txt 'attnlab[learn]==0.2.0'",
        'uvx --from "attnlab[learn]" attnlab lab',
        "uvx attnlab lab",
        'so does `pipx run --spec\n"attnlab[learn]" attnlab lab`',
        "uv tool install --torch-backend cpu attnlab[learn]",
        "pip install --upgrade attnlab",
    ],
)
def test_a_line_that_takes_the_name_is_seen(line: str) -> None:
    assert takes(line)


@pytest.mark.parametrize(
    "line",
    [
        'uvx --from "./attnlab-0.2.0-py3-none-any.whl[learn]" attnlab lab',
        "pip install -r requirements.txt\nattnlab lab",
        'pip install -c constraints.txt -e ".[course]"\n.venv/bin/attnlab lab',
        "conda activate attnlab\nattnlab lab",
        'env/bin/pip install "$(ls build/wheel/attnlab-*.whl)[course]"',
    ],
)
def test_a_line_that_takes_a_path_is_not(line: str) -> None:
    assert not takes(line)


def test_nothing_takes_the_name_from_an_index_where_it_is_not_ours() -> None:
    found = {name: lines for name, text in told().items() if (lines := takes(text))}
    found.pop("src/attnlab/published.py", None)
    found.pop("docs/doors.py", None)  # which say it where it is ours
    assert PUBLISHED_AT.package or found == {}


def test_what_is_said_follows_the_setting_both_ways() -> None:
    for places in (Places(), OURS):
        ours = bool(places.package)
        assert bool(takes(imported(places))) == ours
        assert bool(takes(upgrade(places))) == ours
        assert bool(takes(start(places))) == ours
        assert ("Try it in the browser" in start(places)) == ours
        assert ".venv/bin/attnlab lab" in start(places)
        text = first_cell(f"# %%\n{imported(Places())}\n\nbegin('x')\n", places)
        assert text == f"# %%\n{imported(places)}\n\nbegin('x')\n"


@pytest.mark.lessons(*lessons.slugs())
def test_readme_and_first_cells_say_what_is_set() -> None:
    text = README.read_text(encoding="utf-8")
    assert replaced(text, "start", start(PUBLISHED_AT)) == text, "make readme"
    for slug in lessons.slugs():
        for folder in ("solutions", "notebooks"):
            notebook = (ROOT / folder / slug / f"{slug}.ipynb").read_text(encoding="utf-8")
            assert f'"{imported(PUBLISHED_AT)}\\n"' in notebook, f"make readme sync release: {slug}"


def test_it_is_whole_and_names_this_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert wrong(PUBLISHED_AT) == ""
    assert wrong(OURS) == ""
    assert PUBLISHED_AT.package in ("", project["name"])


@pytest.mark.parametrize(
    ("places", "said"),
    [
        (Places(package="attnlab"), "is half filled in: it has no site and no repository"),
        (OURS._replace(site=""), "is half filled in: it has no site. Fill in all, or none."),
        (OURS._replace(package="Attn Lab"), "package='Attn Lab', which is not a package's name"),
        (OURS._replace(site="example.org"), "site='example.org', which is not an address"),
        (OURS._replace(repository="attnlab"), "repository='attnlab', which is not OWNER/NAME"),
    ],
)
def test_what_is_filled_in_wrong_is_told_in_one_line(places: Places, said: str) -> None:
    assert said in wrong(places)
    assert "\n" not in wrong(places)


def test_no_package_is_built_of_it(tmp_path: Path) -> None:
    published = tmp_path / "src" / "attnlab" / "published.py"
    published.parent.mkdir(parents=True)
    text = (ROOT / "src" / "attnlab" / "published.py").read_text(encoding="utf-8")
    published.write_text(text.replace('package=""', 'package="attnlab"'), encoding="utf-8")
    (tmp_path / "setup.py").write_bytes((ROOT / "setup.py").read_bytes())
    done = subprocess.run(
        [sys.executable, "setup.py", "--version"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr.strip() == wrong(Places(package="attnlab"))
