"""`make site`: the web site, in build/site/html, which works from a file as from a server.

    python -m docs.site

Sphinx reads a copy of the repository's pages, laid out as here, so that their links hold. A lesson
is the notebook that is handed out, with the outputs of the solution's cells where no answer is
shown, and with figures that move by what was recorded of them.
"""

from __future__ import annotations

import json
import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attnlab.asking import KEPT
from attnlab.figures.live.exported import moved
from attnlab.figures.live.fallback import MOVES
from attnlab.figures.live.recording import moving, recorded
from attnlab.lessons import Lesson, lesson, slugs
from attnlab.lessons.soft_lookup.opening import opening
from attnlab.notebook import check_function
from attnlab.published import PUBLISHED_AT, Places, wrong
from docs import doors, runs

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("docs/guides.md", "notebooks/glossary.md")  # and what they link to
GUIDES = ("instructor", "operator", "../autograder/README", "../CONTRIBUTING", "release")
RECORDINGS = ROOT / "docs" / "recordings"
COLAB = "https://colab.research.google.com/github/{repository}/blob/main/{path}"
TRIED = ("01-soft-lookup", "softmax")  # on the first page
SUMMARY = "summary"  # the grade_id of a lesson's last cell
READ = (
    "Here you read, and the figures move. Your answers are written and checked in the notebook: "
    "[set the course up](../../index.md#set-it-up)."
)
RUN = "Run the cells from top to bottom with Shift+Enter. "
HERE = {  # what can be done where no kernel runs
    MOVES: "A still picture: in the notebook it moves.",
    KEPT: "Open a choice to read what follows from it.",
}
# Mathematics that needs no script.
ROOT_OF_D = "<math><msqrt><msub><mi>d</mi><mi>k</mi></msub></msqrt></math>"
_HREF = re.compile(r'href="#[^"]+"')
_MODULE = re.compile(r'(?s)<script type="module">.*?</script>\n')
_BESIDE = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)")
_ANCHOR = re.compile(r"\]\(([^)\s]*)#([^)\s]+)\)")


class NotBuilt(Exception):
    """The site cannot be built; the sentence says why, and what to do."""


def build(target: Path, places: Places = PUBLISHED_AT) -> Path:
    """Write the site.

    Args:
        target: a folder of its own, made anew.
        places: where the course is published; Colab opens what is in a repository.
    Returns:
        The page to begin at.
    Raises:
        NotBuilt: these are filled in wrong, a lesson has no stored outputs, a figure no recording,
            or Sphinx finds a fault.
    """
    source, pages = target / "source", target / "html"
    if problem := wrong(places):
        raise NotBuilt(problem)
    shutil.rmtree(target, ignore_errors=True)
    lay_out(source, places)
    sphinx = [sys.executable, *["-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going", "-n"]]
    sphinx += ["-D", f"html_baseurl={places.site}"]
    made = subprocess.run([*sphinx, "-d", target / "doctrees", source, pages], cwd=ROOT)
    if made.returncode:
        raise NotBuilt("Sphinx found what is wrong with the pages: see above.")
    return pages / "index.html"


def lay_out(source: Path, places: Places = PUBLISHED_AT) -> None:
    """Write what Sphinx reads."""
    for path in _pages():
        _copy(path, source / path.relative_to(ROOT))
    _copy(ROOT / "docs" / "conf.py", source / "conf.py")
    for name in ("_static", "_templates"):
        shutil.copytree(ROOT / "docs" / name, source / "docs" / name)
    _copy(ROOT / "docs" / "lesson.png", source / "docs" / "_static" / "lesson.png")
    guides = source / "docs" / "guides.md"
    _write(guides, guides.read_text(encoding="utf-8") + tree(*GUIDES))
    parts = None
    if lacking := runs.missing():
        print(f"No cell of the site will run, for want of {' and '.join(lacking)}. {runs.MEND}")
    else:
        parts = source / "docs" / "_static" / "run"
        runs.write(parts)
    lessons = [lesson(slug) for slug in slugs()]
    for each in lessons:
        path = Path("notebooks", each.slug, f"{each.slug}.ipynb")
        _copy(ROOT / path, source / "files" / "download" / path.name)
        _write(source / path, json.dumps(page(each, places, parts), ensure_ascii=False))
    _write(source / "notebooks" / "index.md", contents(lessons))
    _write(source / "index.md", cover(lessons, places, parts))


def _pages() -> list[Path]:
    """The pages, and what of the repository they link to."""
    found = [ROOT / name for name in PAGES]
    for path in found:
        if path.suffix == ".md":
            linked = _BESIDE.findall(path.read_text(encoding="utf-8"))
            beside = [(path.parent / each).resolve() for each in linked]
            found += [each for each in beside if each.is_file() and each not in found]
    return found


def page(about: Lesson, places: Places = PUBLISHED_AT, parts: Path | None = None) -> dict[str, Any]:
    """A lesson's notebook as its page.

    Args:
        parts: _static/run/, if cells run in their pages.
    Raises:
        NotBuilt: it has no stored outputs, or a figure in them no recording.
    """
    path = Path(about.slug, f"{about.slug}.ipynb")
    notebook = json.loads((ROOT / "notebooks" / path).read_text(encoding="utf-8"))
    solved = json.loads((ROOT / "solutions" / path).read_text(encoding="utf-8"))
    outputs = {each["id"]: each.get("outputs", []) for each in solved["cells"]}
    if not any(outputs.values()):
        raise NotBuilt(f"{about.slug} has no stored outputs. Run: make outputs LESSON={about.slug}")
    modules: set[str] = set()
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            stored = [] if _is_asked(cell) else outputs[cell["id"]]
            cell["outputs"] = [_shown(each, modules) for each in stored]
        else:
            cell["source"] = _linked("".join(cell["source"]))
    first = notebook["cells"][0]
    title, _, rest = first["source"].partition("\n")
    here = bool(parts and runs.runs(about))
    told = _raw(runs.told_lesson(parts, about.slug, notebook)) if parts and here else f"{READ}\n\n"
    rest = rest if here else rest.replace(RUN, "")
    doors_of = " · ".join(_doors(about, places.repository))
    first["source"] = f"{title}\n\n{doors_of}\n\n{told}{rest}"
    return dict(notebook)


def cover(lessons: list[Lesson], places: Places = PUBLISHED_AT, parts: Path | None = None) -> str:
    """The first page: docs/index.md with a card, what runs, a figure that moves and the lessons."""
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    text = _BESIDE.sub(lambda found: f"]({posixpath.normpath(f'docs/{found[1]}')}", text)
    text = re.sub(r"<!-- /?run -->" if parts else r"(?s)<!-- run -->.*?<!-- /run -->", "", text)
    ours = [f"{each.number:02}" for each in lessons if runs.runs(each)] if parts else []
    return _filled(
        text,
        bar=_raw(runs.told_front(parts, *TRIED)) if parts else "",
        card=_raw(card(text)),
        figure=_raw(moving(recorded(opening()))),
        running=f"; lessons {' and '.join(ours)} run here too" if ours else "",
        lessons=table(lessons, "notebooks/"),
        start=doors.tried(places) + doors.got(places),
    ) + tree("notebooks/index", "notebooks/glossary", "docs/guides")


def card(text: str) -> str:
    """What `check` says of the first page's exercise, as it stands there."""
    [code] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    slug, name = TRIED
    answer: dict[str, Any] = {}
    exec(code.replace(f"check({name})", ""), answer)
    shown = check_function(answer[name], name=name, lesson=slug)._repr_mimebundle_()["text/html"]
    shown = _HREF.sub(lambda found: anchor(found[0]), shown)
    shown = shown.replace('href="#', f'href="notebooks/{slug}/{slug}.html#')
    return f'<div class="cell_output docutils container">{shown}</div>\n'


def _filled(text: str, **parts: str) -> str:
    """A text with each `<!-- name -->` replaced."""
    for name, part in parts.items():
        text = text.replace(f"<!-- {name} -->", part)
    return text


def contents(lessons: list[Lesson]) -> str:
    """The page that holds the lessons together: what they are, and their order in the menu."""
    said = (
        "Each lesson is one level closer to the machine, and says what it needs from which other."
    )
    order = tree(*(f"{each.slug}/{each.slug}" for each in lessons))
    return f"# Lessons\n\n{said}\n\n{table(lessons, '')}\n{order}"


def table(lessons: list[Lesson], to: str) -> str:
    """The lessons as a table in Markdown.

    Args:
        to: the way to notebooks/, '' there.
    """
    rows = [
        f"| {each.number:02} | [{each.title}]({to}{each.slug}/{each.slug}.ipynb) "
        f"| {each.builds.replace('√d_k', ROOT_OF_D)} | {each.minutes} |"
        for each in lessons
    ]
    return "\n".join(
        ["| no. | lesson | what you build | minutes |", "|---|---|---|---|", *rows, ""]
    )


def tree(*pages: str) -> str:
    """What the menu has of these, and which follows which; not shown in the page."""
    return "\n```{toctree}\n:hidden:\n\n" + "\n".join(pages) + "\n```\n"


def _doors(about: Lesson, repository: str) -> Iterator[str]:
    yield f'<a href="../../download/{about.slug}.ipynb" download>Download this lesson</a>'
    if repository:
        path = f"notebooks/{about.slug}/{about.slug}.ipynb"
        yield f"[Open it in Colab]({COLAB.format(repository=repository, path=path)})"


def _raw(html: str) -> str:
    """HTML in a page of Markdown."""
    return f"```{{raw}} html\n{html}```\n"


def _is_asked(cell: dict[str, Any]) -> bool:
    """Whether a learner writes it, or it tells how far they are."""
    graded = cell["metadata"].get("nbgrader", {})
    tells = graded.get("grade") or graded.get("grade_id") == SUMMARY
    return bool(graded.get("solution") or tells)


def _shown(output: dict[str, Any], modules: set[str]) -> dict[str, Any]:
    """An output as its page shows it.

    Args:
        modules: of figures, that the page has; one plays all figures of its kind.
    """
    try:
        moved(output, RECORDINGS)
    except FileNotFoundError as error:
        why = f"a figure was not recorded: {error.filename} is not there. Run: make outputs"
        raise NotBuilt(why) from error
    if html := "".join(output.get("data", {}).get("text/html", "")):
        for stored, here in HERE.items():
            html = html.replace(stored, here)
        html = _HREF.sub(lambda found: anchor(found[0]), html)
        for module in _MODULE.findall(html):
            html = html.replace(module, "") if module in modules else html
            modules.add(module)
        output["data"]["text/html"] = html
    return output


def anchor(heading: str) -> str:
    """What a heading is linked by: as in JupyterLab, but in small letters."""
    return heading.replace(" ", "-").lower()


def _linked(text: str) -> str:
    """Links to headings as `anchor` makes them."""
    return _ANCHOR.sub(lambda found: f"]({found[1]}#{anchor(found[2])})", text)


def _copy(path: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, to)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def main() -> int:
    try:
        print(f"The site begins at {build(ROOT / 'build' / 'site')}")
    except NotBuilt as why:
        print(why, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
