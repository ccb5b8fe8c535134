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
from collections.abc import Generator, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from attnlab.home.standing import points_in, standing
from attnlab.ipynb.files import NotWritten
from attnlab.ipynb.read import Cell, Unreadable, read
from attnlab.ipynb.rebuild import squeezed
from attnlab.ipynb.upgrade import moved, same, upgraded, with_helpers
from attnlab.ipynb.which import holds, is_answered, is_of, plainly_another
from attnlab.ipynb.words import few, printable, stem
from attnlab.ipynb.zipped import unzipped, zipped
from attnlab.lessons import lesson, slugs, today
from attnlab.published import upgrade
from attnlab.version import is_known, is_newer, version
from attnlab.work.places import PACKAGED, Course, NotThere, lesson_path
from attnlab.work.progress import read as read_log

# What a part of an update says, a line each; in the end, whether it wrote a copy.
Said = Generator[str, None, bool]


class Amiss(Exception):
    """A learner's copy is not what it should be; the sentence says what it is instead."""


class Copy(NamedTuple):
    """A learner's copy of a lesson: the file, its cells, and those that were handed out."""

    data: bytes
    cells: list[Cell]
    released: list[Cell]


def own_copy(course: Course, slug: str) -> Copy:
    """A learner's copy of a lesson, if it is there and holds that lesson.

    Raises:
        Amiss: it is not there, is no notebook, another lesson's, or has nothing of its own.
    """
    path = course.notebook(slug)
    name = from_work(course, path)
    try:
        released = course.handed_out(slug)
    except Unreadable as why:
        raise Amiss(f"notebooks/{slug} cannot be read: {why} `attnlab doctor` helps.") from None
    try:
        data = course.read(path)
        cells = read(data)
    except NotThere:
        said = f"{name} is not there.{in_others(course, slug)}"
        raise Amiss(f"{said} For a fresh copy: `attnlab update`.") from None
    except Unreadable as why:
        raise Amiss(f"{name} cannot be read: {why}{_way_back(course, slug)}") from None
    if other := plainly_another(slug, cells, released, labels_of(course)):
        raise Amiss(f"{name} holds lesson {other}.{_way_back(course, slug)}")
    if not is_of(cells, released):
        raise Amiss(f"{name} has none of its lesson's cells.{_way_back(course, slug)}")
    return Copy(data, cells, released)


def _way_back(course: Course, slug: str) -> str:
    """What to do with a copy that is no good, and where an older one is."""
    said = " Move it away, and `attnlab update` gives you a fresh copy."
    older = sorted(course.backups.glob(f"{slug}-*.ipynb"))
    kept = [from_work(course, path) for path in older[-1:]]
    handed = course.handed_in(slug)
    if handed.exists():
        kept.append(f"{from_work(course, handed)}, which you made to hand in")
    return f"{said} Older ones of yours: {'; '.join(kept)}." if kept else said


def from_work(course: Course, path: Path) -> str:
    return printable(f"work/{path.relative_to(course.work).as_posix()}")


def update(course: Course) -> Iterator[str]:
    """Bring a learner's copies up to what lies in notebooks/; a line for each that is worth one.

    A line comes before what it tells of is done: killed in between, there is nothing untold.

    Raises:
        NotWritten: a file could not be; all others are as they were, or as they shall be.
    """
    last, now = course.text(course.made_by).strip(), version()
    if is_newer(last, now):
        how = upgrade() if PACKAGED.is_dir() else "git pull"
        yield (
            f"Your copies are attnlab {last}'s, and this is {now}, which is older: they "
            f"are left as they are. Bring it up to date: {how}"
        )
        return
    yield from _follow(course)
    for slug in slugs():
        yield from _brought(course, slug)
    changed = False
    for path in sorted(course.released.rglob("*")):
        place = path.relative_to(course.released)
        if path.is_file() and not any(part.startswith(".") for part in place.parts):
            wrote = yield from _one(course, place)
            changed = changed or wrote
    if changed and (others := [printable(place.as_posix()) for place in _elsewhere(course)]):
        told = ", ".join(few(others))
        yield f"Left as they are, since they have other names or places: {told}."
    if last != now and is_known(now):
        course.write(course.made_by, f"{now}\n".encode())


def _follow(course: Course) -> Iterator[str]:
    """Let what is a learner's follow a lesson that has another name now, or went into two."""
    for slug in slugs():
        for former in lesson(slug).former:
            if former in slugs():
                yield from _answers_from(course, former, slug)
            else:
                yield from _renamed(course, former, slug)


def _renamed(course: Course, former: str, slug: str) -> Iterator[str]:
    """Rename what lies under a lesson's former name, and what was made to hand in."""
    mine, known = course.work / lesson_path(former), course.copied / lesson_path(former)
    if course.in_the_way(course.notebook(slug)) and _bytes(course, mine) == _bytes(course, known):
        for path in (mine, known):  # an older course put it there, and nobody has touched it
            path.unlink(missing_ok=True)
            with suppress(OSError):
                path.parent.rmdir()
    moves, left = [], []
    for folder in (course.work, course.copied, course.hand_ins):
        for old, new in _renames(course, folder / former, former, slug):
            way = course.in_the_way(new)
            moves += [(old, new)] if way is None else []
            left += [from_work(course, old)] if way and folder != course.copied else []
    made, anew = course.handed_in(former), course.handed_in(slug)
    again = _free(course, made, anew) and _zipped_anew(course, former, slug)
    if moves or again:
        yield f"{former} is called {slug} now, and what you have of it is moved there."
    if left:
        there = "something of that name is under the new one"
        yield f"{', '.join(few(left))}: left under the lesson's former name, as {there}."
    for old, new in moves:
        course.move(old, new)
        with suppress(OSError):  # something else is in it
            old.parent.rmdir()
    if again:
        course.write(anew, again)
        made.unlink()


def _renames(course: Course, folder: Path, former: str, slug: str) -> Iterator[tuple[Path, Path]]:
    """Whatever lies in a folder, through no link, and where it goes."""
    if not folder.is_dir() or course.in_the_way(folder) != folder or folder.is_symlink():
        return
    for old in sorted(folder.iterdir()):
        name = f"{slug}.ipynb" if old.name == f"{former}.ipynb" else old.name
        yield old, folder.with_name(slug) / name


def _free(course: Course, old: Path, new: Path) -> bool:
    """Whether a learner's file can be moved, over nothing and through no link."""
    return old.is_file() and course.in_the_way(old) == old and not course.in_the_way(new)


def _zipped_anew(course: Course, former: str, slug: str) -> bytes:
    """What was made to hand in, with the lesson's name of today in it; b'' if it is not ours."""
    with suppress(Unreadable):
        was = course.read(course.handed_in(former))
        notebook = unzipped(was, lesson_path(former).as_posix())
        return zipped({lesson_path(slug).as_posix(): notebook})
    return b""


def _answers_from(course: Course, former: str, slug: str) -> Iterator[str]:
    """Begin a copy of a lesson with what its learner has of it in an earlier one."""
    if course.in_the_way(course.notebook(slug)):
        return
    try:
        new = course.read(course.released / lesson_path(slug))
        was, cells, _ = own_copy(course, former)
        base = _bytes(course, course.copied / lesson_path(former))
        fresh, old = read(new), read(base) if base else []
        goes = moved(cells, old or cells, course.handed_out(former), fresh)
    except (Amiss, Unreadable):  # the update says what is amiss
        return
    texts = {squeezed(cell) for cell in old}
    theirs = [cell for cell in goes if squeezed(cell) not in texts]
    if not theirs:
        return
    names = [cell.grade_id for cell in theirs if cell.is_solution]
    if number := len(theirs) - len(names):
        names.append(f"{number} {'cell' if number == 1 else 'cells'} of your own")
    said = f"what you wrote there is moved to it ({', '.join(names)})"
    yield f"{slug} was a part of {former}: {said}."
    goes = with_helpers(goes, cells, fresh)
    files = _named_in([cell for cell in goes if squeezed(cell) not in texts], course, former, slug)
    if files:
        copied = printable(", ".join(few([new.name for new in files])))
        yield f"{slug} has copies of what these cells open in work/{former}: {copied}."
    for path, data in files.items():
        course.write(path, data)
    merged = upgraded(goes, old or fresh, fresh, ran=cells)
    course.write(course.notebook(slug), document(merged, new, was))
    course.write(course.copied / lesson_path(slug), new)


def _named_in(cells: list[Cell], course: Course, former: str, slug: str) -> dict[Path, bytes]:
    """Files beside a lesson that cells have the name of, and where these cells look for them."""
    code = "\n".join(cell.source for cell in cells if cell.kind == "code")
    folder, found = course.work / former, {}
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder)
        name = place.with_suffix("") if place.suffix == ".py" else place
        there = course.notebook(slug).parent / place
        if name.as_posix() in code and not course.in_the_way(there):
            with suppress(Unreadable):
                found[there] = course.read(path)
    return found


def _that_stay(
    course: Course, slug: str, cells: list[Cell], old: list[Cell], fresh: list[Cell]
) -> list[Cell]:
    """A lesson's cells without those that are in the copy of another one, which has them now."""
    for after in slugs():
        if slug in lesson(after).former:
            with suppress(Unreadable):
                there = [cell.source for cell in read(course.read(course.notebook(after)))]
                goes = moved(cells, old, fresh, course.handed_out(after))
                found = [cell for cell in goes if any(cell.source in text for text in there)]
                cells = [cell for cell in cells if not any(cell is each for each in found)]
    return cells


def _brought(course: Course, slug: str) -> Iterator[str]:
    """Go on with a lesson that was taken home from the site: its file in work/, or beside it."""
    mine, known = course.notebook(slug), course.copied / lesson_path(slug)
    name = f"{slug}*.ipynb"  # as a browser saves it a second time, too
    for path in sorted({*course.root.glob(name), *course.work.glob(name)}):
        try:
            data, released = course.read(path), course.handed_out(slug)
            cells = read(data)
        except Unreadable:
            continue
        if not (is_of(cells, released) and is_answered(cells, released)):
            continue
        there = course.in_the_way(mine) is not None
        was = _bytes(course, mine)
        if there and was not in (data, _bytes(course, known)):
            yield (
                f"{printable(path.name)} is left where it is, as there is work of yours in "
                f"{from_work(course, mine)}. To go on with it, move it there."
            )
            continue
        yield f"{printable(path.name)} is moved to {from_work(course, mine)}: go on there."
        course.write(mine, data)
        known.unlink(missing_ok=True)  # it may be of another release than the copy before it
        path.unlink()


def _one(course: Course, place: Path) -> Said:
    """Bring one file up to date."""
    mine, known = course.work / place, course.copied / place
    base, there = _bytes(course, known), course.in_the_way(mine) is not None
    now = today(place.parts[0])
    if now != place.parts[0] and (course.released / now).is_dir() and not there:
        return False  # left over from a release in which the lesson was called so
    try:
        new = course.read(course.released / place)
        cells = read(new) if place.suffix == ".ipynb" else []
    except Unreadable as why:
        yield f"notebooks/{place} cannot be read, and was not copied. {why}"
        return False
    if any(cell.is_solution and cell.is_written for cell in cells):
        return (yield from _answered(course, place, new, there))
    if not there:
        if base is not None and place in map(lesson_path, slugs()):
            others = in_others(course, place.stem)
            yield f"work/{place} was gone, and you have a fresh copy there.{others}"
        course.write(mine, new)
        course.write(known, new)
        return True
    upgrade = _notebook if place.suffix == ".ipynb" else _plain_file
    try:
        return (yield from upgrade(course, place, base, new))
    except Amiss as why:
        yield f"Left as it is: {why}"
    except Unreadable as why:
        yield f"Left as it is: work/{place} cannot be read: {why}"
    return False


def _answered(course: Course, place: Path, new: bytes, there: bool) -> Said:
    """A notebook that was worked on where it was handed out: no release to measure others by."""
    if there:
        said = "Your copy in work/ counts; the other is left as it is, and gets no upgrades."
        yield f"There are answers in notebooks/{place}. {said}"
        return False
    yield f"Your answers in notebooks/{place} are copied to work/: go on there."
    course.write(course.work / place, new)
    return True


def _plain_file(course: Course, place: Path, base: bytes | None, new: bytes) -> Said:
    """The glossary, or what else lies beside the notebooks."""
    mine = course.work / place
    was = course.read(mine)
    if was != new:
        if was != base:
            yield f"{place} is replaced. What was there is in {back_up(course, mine, was)}."
        course.write(mine, new)
    if base != new:
        course.write(course.copied / place, new)
    return was != new


def _notebook(course: Course, place: Path, base: bytes | None, new: bytes) -> Said:
    """A lesson that there is a copy of."""
    mine, known = course.work / place, course.copied / place
    slug = place.stem
    if place in map(lesson_path, slugs()):
        was, cells, _ = own_copy(course, slug)
    else:
        was = course.read(mine)
        cells = read(was)
    if base == new:
        return False
    fresh = read(new)
    try:
        old = read(base) if base is not None else fresh
    except Unreadable:  # somebody was in .attnlab/: what is not in the new release is theirs
        old = fresh
    removed = lesson(slug).removed if slug in slugs() else ()
    stay = _that_stay(course, slug, cells, old, fresh)
    merged = upgraded(stay, old, fresh, removed, cells)
    yield from _points_gone(course, slug, old, fresh)
    wrote = was not in (base, new) and not same(cells, merged, labels=True)
    if was == base:  # nobody touched it
        course.write(mine, new)
        wrote = True
    elif wrote:
        kept = back_up(course, mine, was)
        own = "" if same(cells, old) else " around what you wrote"
        yield f"{slug} is upgraded{own}. What it was before is in {kept}."
        if _bytes(course, mine) != was:
            yield f"work/{place} was saved this very moment: start again to have it upgraded."
            return False
        course.write(mine, document(merged, new, was))
    course.write(known, new)
    return wrote


def _points_gone(course: Course, slug: str, old: list[Cell], fresh: list[Cell]) -> Iterator[str]:
    """Which points of a learner's count no more, and what they were for."""
    if slug not in slugs():
        return
    asked = {cell.exercise for cell in old}
    now = standing(slug, points_in(fresh), read_log(course).records)
    if gone := [f"`{one.name}`, {one.said}" for one in now.lost if one.name in asked]:
        yield f"Points in {slug} that do not count any more: {'. '.join(gone)}."


def back_up(course: Course, path: Path, data: bytes) -> str:
    """Keep a copy of a file under a name that was never used; which, from work/ on."""
    stamp = time.strftime("%Y-%m-%d-%H%M%S")
    number, kept = 1, course.backups / f"{path.stem}-{stamp}{path.suffix}"
    while kept.exists():
        number += 1
        kept = course.backups / f"{path.stem}-{stamp}-{number}{path.suffix}"
    course.write(kept, data)
    return from_work(course, kept)


def put(course: Course, path: Path, page: str, ours: str) -> None:
    """Write a page into work/; what somebody else put there is kept.

    Args:
        ours: what each page of this kind has in it.
    Raises:
        NotWritten: it could not be.
    """
    try:
        before = course.read(path)
        if ours.encode() not in before:
            back_up(course, path, before)
    except NotThere:
        pass
    except Unreadable as why:
        raise NotWritten(path, OSError(0, str(why).rstrip("."))) from None
    course.write(path, page.encode("utf-8", "replace"))


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


def _elsewhere(course: Course) -> list[Path]:
    """Notebooks in work/ at no lesson's place: renamed, copied, moved or somebody's own."""
    found = []
    for path in sorted(path for path in course.work.rglob("*") if stem(path.name)):
        place = path.relative_to(course.work)
        ours = place.parts[0] in ("backups", "hand-in")
        hidden = any(part.startswith(".") for part in place.parts)
        if not ours and not hidden and not (course.released / place).exists():
            found.append(place)
    return found


def in_others(course: Course, slug: str) -> str:
    """Where else in work/ the lesson is written in, and how to go on there; '' if nowhere."""
    names = []
    for place in _elsewhere(course):
        with suppress(Unreadable):
            cells = read(course.read(course.work / place))
            if holds(cells, labels_of(course)) == slug:
                names.append(from_work(course, course.work / place))
    if not names:
        return ""
    own = from_work(course, course.notebook(slug))
    return f" Also of this lesson: {', '.join(few(names))}. To go on there, move it to {own}."


def _bytes(course: Course, path: Path) -> bytes | None:
    """What is in a file, None where there is none that can be read."""
    with suppress(Unreadable):
        return course.read(path)
    return None


@cache
def labels_of(course: Course) -> dict[str, set[str]]:
    """The names of each lesson's cells, to tell which one a notebook is of."""
    found: dict[str, set[str]] = {}
    for slug in slugs():
        with suppress(Unreadable):
            found[slug] = {cell.grade_id for cell in course.handed_out(slug)} - {""}
    return found
