"""A learner's own copies: notebooks/ is what was handed out, work/ is theirs.

`update` brings work/ up to a release. What it knows is in work/.attnlab/released/: each file as it
was when it was copied. A copy that still has those cells was not touched, and is replaced; any
other is upgraded around its learner's own cells, after a backup. It can be stopped anywhere: every
file is written beside its place and renamed into it, the backup first and what was released last,
and doing it again finds what is done already.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from attnlab.home.places import Course
from attnlab.ipynb.files import write_whole
from attnlab.ipynb.read import Cell, Unreadable, read
from attnlab.ipynb.upgrade import same, upgraded
from attnlab.ipynb.which import plainly_another
from attnlab.lessons import slugs

_HIDDEN = ".ipynb_checkpoints"


def update(course: Course) -> Iterator[str]:
    """Bring a learner's copies up to what lies in notebooks/; a line for each that is worth one.

    Raises:
        NotWritten: a file could not be; all others are as they were, or as they shall be.
    """
    (course.state / "released").mkdir(parents=True, exist_ok=True)
    changed = False
    for path in sorted(course.released.rglob("*")):
        place = path.relative_to(course.released)
        if path.is_file() and not any(part.startswith(".") for part in place.parts):
            said, wrote = _one(course, place)
            changed = changed or wrote
            yield from said
    if changed and (others := _elsewhere(course)):
        yield f"Left as they are, since they have other names or places: {', '.join(others)}."


def _one(course: Course, place: Path) -> tuple[list[str], bool]:
    """Bring one file up to date: what to say, and whether a copy was written."""
    mine, known = course.work / place, course.state / "released" / place
    new, base = (course.released / place).read_bytes(), _bytes(known)
    if place.suffix == ".ipynb":
        try:
            cells = read(new)
        except Unreadable as why:
            return [f"notebooks/{place} cannot be read, and was not copied. {why}"], False
        if any(cell.is_solution and cell.is_written for cell in cells):
            return _answered(course, place, new)
    if mine.is_symlink() or (mine.exists() and not mine.is_file()):
        return [f"work/{place} is a link or a folder, and is left as it is."], False
    if not mine.exists():
        write_whole(mine, new)
        write_whole(known, new)
        return [], True
    if place.suffix != ".ipynb":
        return _plain_file(course, place, base, new)
    return _notebook(course, place, base, new)


def _answered(course: Course, place: Path, new: bytes) -> tuple[list[str], bool]:
    """A notebook that was worked on where it was handed out: no release to measure others by."""
    if (course.work / place).exists():
        said = "Your copy in work/ counts; the other is left as it is, and gets no upgrades."
        return [f"There are answers in notebooks/{place}. {said}"], False
    write_whole(course.work / place, new)
    return [f"Your answers in notebooks/{place} were copied to work/: go on there."], True


def _plain_file(
    course: Course, place: Path, base: bytes | None, new: bytes
) -> tuple[list[str], bool]:
    """The glossary, or what else lies beside the notebooks."""
    mine = course.work / place
    was = mine.read_bytes()
    said = []
    if was != new:
        if was != base:
            kept = back_up(course, mine, was)
            said = [f"{place} was replaced. What was there is in {kept}."]
        write_whole(mine, new)
    if base != new:
        write_whole(course.state / "released" / place, new)
    return said, was != new


def _notebook(
    course: Course, place: Path, base: bytes | None, new: bytes
) -> tuple[list[str], bool]:
    """A lesson that there is a copy of."""
    mine, known = course.work / place, course.state / "released" / place
    was = mine.read_bytes()
    left = f"work/{place} is left as it is. "
    again = "Move it away, and the next start gives you a fresh copy."
    try:
        cells = read(was)
    except Unreadable as why:
        return [f"{left}It cannot be read: {why} {again}"], False
    fresh = read(new)
    slug = place.stem
    if slug in slugs():
        if other := plainly_another(slug, cells, fresh, labels_of(course)):
            return [f"{left}It holds lesson {other}. {again}"], False
    if base == new:
        return [], False
    try:
        old = read(base) if base is not None else fresh
    except Unreadable:  # somebody was in .attnlab/: what is not in the new release is theirs
        old = fresh
    merged = upgraded(cells, old, fresh)
    said: list[str] = []
    wrote = was not in (base, new) and not same(cells, merged, labels=True)
    if was == base:  # nobody touched it
        write_whole(mine, new)
        wrote = True
    elif wrote:
        kept = back_up(course, mine, was)
        own = "" if same(cells, old) else " around what you wrote"
        said = [f"{slug} was upgraded{own}. What it was before is in {kept}."]
        if _bytes(mine) != was:
            return [f"{left}It was saved this very moment: start again to have it upgraded."], False
        write_whole(mine, document(merged, new, was))
    write_whole(known, new)
    return said, wrote


def back_up(course: Course, path: Path, data: bytes) -> str:
    """Keep a copy of a file under a name that was never used; which, from work/ on."""
    stamp = time.strftime("%Y-%m-%d-%H%M%S")
    number, kept = 1, course.backups / f"{path.stem}-{stamp}{path.suffix}"
    while kept.exists():
        number += 1
        kept = course.backups / f"{path.stem}-{stamp}-{number}{path.suffix}"
    write_whole(kept, data)
    return f"work/{kept.relative_to(course.work).as_posix()}"


def document(cells: list[Cell], new: bytes, was: bytes) -> bytes:
    """A notebook's file: these cells, with the outputs and pictures that they had before."""
    shell, before = json.loads(new), json.loads(was.decode("utf-8-sig"))
    had: dict[str, dict[str, Any]] = {}
    for item in before.get("cells") or []:
        if isinstance(item, dict) and isinstance(item.get("id"), str):
            had[item["id"]] = item
    if isinstance(before.get("metadata"), dict):
        shell["metadata"] = before["metadata"]
    shell["cells"] = [_item(cell, had.get(cell.id, {})) for cell in cells]
    text = json.dumps(shell, ensure_ascii=False, indent=1)
    return f"{text}\n".encode("utf-8", "replace")


def _item(cell: Cell, had: dict[str, Any]) -> dict[str, Any]:
    item: dict[str, Any] = {
        "cell_type": cell.kind,
        "id": cell.id,
        "metadata": cell.metadata,
        "source": cell.source.splitlines(keepends=True),
    }
    source = had.get("source")
    text = "".join(map(str, source)) if isinstance(source, list) else source
    unchanged = had.get("cell_type") == cell.kind and text == cell.source
    if cell.kind == "code":
        kept = had.get("outputs") if unchanged else None
        item["outputs"] = kept if isinstance(kept, list) else []
        count = had.get("execution_count") if unchanged else None
        item["execution_count"] = count if type(count) is int else None
    elif unchanged and isinstance(had.get("attachments"), dict):
        item["attachments"] = had["attachments"]
    return item


def _elsewhere(course: Course) -> list[str]:
    """Notebooks in work/ at no lesson's place: renamed, copied, moved or somebody's own."""
    found = []
    for path in sorted(course.work.rglob("*.ipynb")):
        place = path.relative_to(course.work)
        ours = place.parts[0] in ("backups", "hand-in")
        hidden = any(part.startswith(".") for part in place.parts)
        if not ours and not hidden and not (course.released / place).exists():
            found.append(place.as_posix())
    return found


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def labels_of(course: Course) -> dict[str, set[str]]:
    """The names of each lesson's cells, to tell which one a notebook is of."""
    return _labels_in(course.released)


@cache
def _labels_in(released: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for slug in slugs():
        try:
            cells = read((released / slug / f"{slug}.ipynb").read_bytes())
        except (OSError, Unreadable):
            cells = []
        found[slug] = {cell.grade_id for cell in cells} - {""}
    return found
