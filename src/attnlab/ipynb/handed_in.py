"""What a hand-in is: which of some files is the notebook that counts, and how it is opened.

    files (in a folder, a zip, an LMS's archive) → the nearest level with a notebook → the one there

The learner's own hand-in, `collect`, the exchange, `grade` and Gradescope's runner ask here. What
comes in is a stranger's: no link is followed out of it, nothing in it is waited for, unpacked or
read past a limit, and no name in it is a place where something is written.
"""

from __future__ import annotations

import io
import os
import stat
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from attnlab.ipynb import zipped
from attnlab.ipynb.files import FILE, open_file, taken
from attnlab.ipynb.read import Sizes, Unreadable
from attnlab.ipynb.words import few, short, stem
from attnlab.lessons import slugs

TIMESTAMP = "timestamp.txt"
SECRET = "submission_secret.txt"
BESIDE = (TIMESTAMP, SECRET)  # what nbgrader puts beside a notebook
FOLDER = sum(getattr(os, f"O_{name}", 0) for name in ("DIRECTORY", "NOFOLLOW"))
DEEP, MANY = 3, 2000  # levels of a hand-in that are looked at, and names below the first
FILES = 1000  # in one zip; each costs memory, whatever its size
MEMBERS = 50_000  # the same in a class's
_ENTRY = b"PK\1\2"  # begins what a zip says of a file


@dataclass(frozen=True, slots=True)
class Member:
    """One file among those that were handed in, in an archive or a folder.

    Attributes:
        name: with its folders; it is shown, and nothing is ever written there.
        read: gives its bytes, of which there are no more than a notebook may have; or raises
            Unreadable.
        made: when it was put into the zip, in that machine's time; () where it is in none.
    """

    name: str
    read: Callable[[], bytes]
    made: tuple[int, ...] = ()

    @property
    def last(self) -> str:
        """Its name without the folders."""
        return PurePosixPath(self.name).name


# Names


def in_nfc(name: str) -> str:
    """A name as Unicode composes it: one person's name is one text, whatever system wrote it."""
    return unicodedata.normalize("NFC", name)


def is_notebook(name: str) -> bool:
    """Whether a file is named as one, whatever a browser has added to that."""
    return bool(stem(name))


def is_zip(name: str) -> bool:
    """Whether a file is named as a zip; hidden ones are archives' own."""
    return name.lower().endswith(".zip") and not name.startswith(".")


def is_named(name: str, lesson: str) -> bool:
    """Whether a notebook has the lesson in its name, as after a second download or from an LMS."""
    return is_notebook(name) and lesson in name.lower()


def is_hidden(name: str) -> bool:
    """Whether some part of a path is an editor's or an archive's own."""
    return any(part.startswith(".") or part == "__MACOSX" for part in name.split("/"))


# Which one counts


def notebook(files: Sequence[Member], lesson: str, sizes: Sizes) -> tuple[bytes, str]:
    """The notebook that counts among some files: there, or in the one zip that stands for it.

    Returns:
        Its bytes, and what the student should know of the choice.
    Raises:
        Unreadable: none is, or nothing says which.
    """
    near = _nearest(files, lambda name: is_notebook(name) or is_zip(name))
    zips = [each for each in near if is_zip(each.last)]
    if len(zips) == 1 and not any(is_notebook(each.last) for each in near):
        return in_zip(zips[0].read(), zips[0].last, lesson, sizes)
    found, note = _choice(files, lesson)
    return found.read(), note


def _nearest(files: Sequence[Member], wanted: Callable[[str], bool]) -> list[Member]:
    """Of the files that are wanted those nearest to the top."""
    found = [each for each in files if wanted(each.last)]
    level = min((each.name.count("/") for each in found), default=0)
    return [each for each in found if each.name.count("/") == level]


def _choice(files: Sequence[Member], lesson: str) -> tuple[Member, str]:
    """The notebook that counts, and what the student should know of that.

    Raises:
        Unreadable: none is.
    """
    wanted = f"{lesson}.ipynb"
    near = _nearest(files, is_notebook)
    named = [each for each in near if each.last == wanted]
    others = [each for each in near if each.last != wanted]
    listed = ", ".join(few([f"`{short(each.last)}`" for each in others]))
    are = "is" if len(others) == 1 else "are"
    if len(named) > 1:
        raise Unreadable(f"There are {len(named)} files `{wanted}`: leave one.")
    if named:
        told = f"Only `{wanted}` is graded, and {listed} {are} not." if others else ""
        return named[0], told
    if not others:
        there = [f"`{short(each.name)}`" for each in files if each.name not in BESIDE]
        found = f"What is there: {', '.join(few(there))}." if there else "Nothing is there."
        raise Unreadable(
            f"There is no `{wanted}`, nor any other notebook. {found} Hand in `{wanted}` itself."
        )
    if len(others) > 1:
        said = f"There is no `{wanted}`, but there are {listed}"
        raise Unreadable(f"{said}: rename the one that is to be graded.")
    [only] = others
    of_others = [slug for slug in slugs() if slug != lesson and is_named(only.last, slug)]
    if of_others and not is_named(only.last, lesson):
        raise Unreadable(f"There is no `{wanted}`; {listed} is named as the one of {of_others[0]}.")
    return only, f"{listed} was taken for `{wanted}`."


# In a folder


def in_folder(home: Path, folder: str, lesson: str, sizes: Sizes) -> tuple[bytes, str]:
    """The notebook that counts in one folder of a student's.

    Args:
        home: the student's; no link out of it is followed.
        folder: in there; '.' is `home` itself.
    Raises:
        Unreadable: there is none; or a link leads out.
        OSError: the folder cannot be opened.
    """
    try:
        os.close(open_beneath(home, Path(folder), FOLDER))
    except Leaves as leaves:
        raise _leads_out_of_it(leaves) from None
    files = [
        Member(name.rstrip("/"), partial(beneath, home, Path(folder, name), sizes))
        for name in below(home / folder)
        if not name.endswith("/") or is_notebook(PurePosixPath(name).name)
    ]
    return notebook(files, lesson, sizes)


def below(folder: Path) -> list[str]:
    """What is in a folder and in those inside it, the nearest first; a folder ends with '/'."""
    return list(_walked(folder))


def _walked(folder: Path) -> Iterator[str]:
    level, left = [""], MANY
    for _ in range(DEEP):
        deeper: list[str] = []
        for inside in level:
            try:
                with os.scandir(folder / inside) as entries:
                    names = sorted((e.name, e.is_dir(follow_symlinks=False)) for e in entries)
            except OSError:
                continue
            for name, is_folder in names:
                left -= bool(inside)
                if left < 0:
                    return
                if not is_hidden(name):
                    path = f"{inside}{name}/" if is_folder else f"{inside}{name}"
                    deeper += [path] * is_folder
                    yield path
        level = deeper


class Leaves(Exception):
    """A name that leads out of the student's folder."""


def beneath(home: Path, relative: Path, sizes: Sizes) -> bytes:
    """The bytes of a file in a student's folder.

    Raises:
        Unreadable: it is no regular file in there, or too large.
        OSError: it cannot be opened.
    """
    try:
        return taken(open_beneath(home, relative, FILE), relative.name, sizes.notebook_bytes)
    except Leaves as leaves:
        raise _leads_out_of_it(leaves) from None


def _leads_out_of_it(leaves: Leaves) -> Unreadable:
    where = short(str(leaves))
    return Unreadable(f"`{where}` is a link out of the student's folder. Hand in the file itself.")


def open_beneath(home: Path, relative: Path, flags: int) -> int:
    """Open what a name leads to, if that is inside `home`.

    Links inside the folder are followed by resolving them first, then opening step by step without
    following any: whoever swaps in a link meanwhile gets an error and not another's file.

    Raises:
        Leaves: it leads out.
        OSError: it cannot be opened.
    """
    base = Path(os.path.realpath(home.parent), home.name)
    real = Path(os.path.realpath(base / relative))
    if base.is_symlink() or not real.is_relative_to(base):
        raise Leaves(home.name if base.is_symlink() else relative.name)
    descriptor = os.open(base, FOLDER)
    try:
        *folders, last = real.relative_to(base).parts or (".",)
        for part in folders:
            inner = os.open(part, FOLDER, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        return os.open(last, flags, dir_fd=descriptor)
    finally:
        os.close(descriptor)


# In a zip


def in_zip(data: bytes, name: str, lesson: str, sizes: Sizes) -> tuple[bytes, str]:
    """The notebook that counts in a zip.

    Args:
        name: the zip's.
    Returns:
        Its bytes, and what the student should know.
    Raises:
        Unreadable: there is none, or more than one; or this is no zip.
    """
    called = f"`{short(name)}`"
    if data.count(_ENTRY) > FILES:
        raise Unreadable(f"{called} holds more than {FILES:,} files. Hand in the notebook itself.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = _members(archive, sizes)
            if not files and archive.infolist():
                raise Unreadable("All that is there is hidden, a link or a name that leads out.")
            found, note = _choice(files, lesson)
            content = found.read()
    except Unreadable as none:
        raise Unreadable(f"In {called}: {none}") from None
    except zipped.BROKEN as error:
        why = zipped.why(error)
        raise Unreadable(f"{called} cannot be opened ({why}). Hand in the notebook.") from error
    return content, f"{called} was opened for its `{short(found.name)}`. {note}".strip()


@contextmanager
def class_zip(path: Path, sizes: Sizes) -> Iterator[tuple[list[Member], list[str]]]:
    """The files in a zip of a whole class, which can be read as long as it is open.

    Yields:
        The files; and the names of those that are not taken: links, and what leads out.
    Raises:
        Unreadable: it is none, is cut short, needs a password, or holds too many files.
    """
    try:
        descriptor = open_file(path)
    except OSError as error:
        raise Unreadable(f"It cannot be opened: {error.strerror}.") from error
    with open(descriptor, "rb") as file:
        try:
            archive = zipfile.ZipFile(file)
        except zipped.BROKEN as error:
            raise Unreadable(f"It is no zip, or cut short: {zipped.why(error)}.") from error
        entries = archive.infolist()
        if len(entries) > MEMBERS:
            raise Unreadable(too_many(map(_name, entries), MEMBERS))
        if any(map(zipped.is_locked, entries)):
            raise Unreadable("It needs a password. Unpack it, and give the folder.")
        leads_out = [entry.filename for entry in entries if _leads_out(entry)]
        yield _members(archive, sizes), leads_out


def too_many(names: Iterable[str], most: int) -> str:
    """Why a class's files are not looked at, and by whose: one learner can make any number."""
    [(top, number)] = Counter("/".join(name.split("/")[:-1][:2]) for name in names).most_common(1)
    where = f" Of these {number:,} lie in {short(top)}: take that out." if top else ""
    return f"It holds more than {most:,} files.{where}"


def _members(archive: zipfile.ZipFile, sizes: Sizes) -> list[Member]:
    return [
        Member(str(path), partial(zipped.content, archive, entry, sizes), entry.date_time)
        for entry in archive.infolist()
        if (path := _path(entry))
    ]


def _path(entry: zipfile.ZipInfo) -> PurePosixPath | None:
    """Where a file lies in a zip; None for folders, links, what is hidden and what leads out."""
    path = PurePosixPath(_name(entry))
    is_folder = _name(entry).endswith("/") or not path.name
    return None if is_folder or _leads_out(entry) or is_hidden(str(path)) else path


def _leads_out(entry: zipfile.ZipInfo) -> bool:
    """Whether it is a link, or its name is that of another place than in the zip."""
    path = PurePosixPath(_name(entry))
    return path.is_absolute() or ".." in path.parts or stat.S_ISLNK(entry.external_attr >> 16)


def _name(entry: zipfile.ZipInfo) -> str:
    return entry.filename.replace("\\", "/")
