"""nbgrader's database: opened through nbgrader, written in transactions, its errors as sentences.

SQLite keeps nbgrader's journal mode. Write-ahead logging would be a little faster, but it stays
with the file: a copy of the gradebook alone would then lack the latest scores, and on a network
file system it does not work.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nbgrader import api
from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.engine.url import URL
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError
from sqlalchemy.orm import Session
from sqlalchemy.pool import ConnectionPoolEntry

from autograder import Told

_AGAIN = "then run this again."
# By SQLite's primary result code (sqlite3.h).
_SENTENCES = {
    5: f"is in use: another program kept writing to it. Wait for it or stop it, {_AGAIN}",
    6: f"is in use: another program kept writing to it. Wait for it or stop it, {_AGAIN}",
    8: f"is read-only. Make the file and its folder writable, {_AGAIN}",
    10: f"could not be read or written. Check the disk, and what `ulimit -f` allows, {_AGAIN}",
    11: f"is damaged. Put a backup in its place, {_AGAIN}",
    13: f"could not be written: the disk is full. Free some space, {_AGAIN}",
    14: f"could not be opened. Check that its folder is there and is writable, {_AGAIN}",
    26: f"is not a SQLite database. Put a backup in its place, or move it away, {_AGAIN}",
}
_OLD = re.compile(r"no such (column|table)|has no column|(column|relation) .* does not exist")


class GradebookError(Told):
    """Nothing was recorded; the sentence names the file and says what to do."""


class Database:
    """nbgrader's database.

    Args:
        url: SQLAlchemy's address of it.
        course_id: nbgrader's name of the course.
        wait_seconds: how long to wait while another program writes to a SQLite file.
        make: a SQLite file where there is none.
    Raises:
        GradebookError: it cannot be opened.
    """

    def __init__(self, url: str | URL, course_id: str, wait_seconds: float, make: bool) -> None:
        self._url = url
        with self._explained():
            address = make_url(url)
            sqlite = address.get_backend_name() == "sqlite"
            if sqlite and "timeout" not in address.query:
                address = address.update_query_dict({"timeout": str(wait_seconds)})
            if sqlite and address.database and not address.database.startswith((":", "file:")):
                if not make and not Path(address.database).exists():
                    raise GradebookError(f"There is no gradebook {self}. Grade a lesson first.")
                self._make(address, course_id)
            self._gradebook = api.Gradebook(address, course_id)
        if sqlite:
            _lock_first(self._gradebook.engine)

    def _make(self, address: URL, course_id: str) -> None:
        """Make a gradebook where there is none: whole, as nbgrader takes several steps to it."""
        assert address.database is not None
        path = Path(address.database)
        if os.path.lexists(path):  # SQLite itself follows a link to where nothing is yet
            return
        part = path.with_name(f".{path.name}.part")
        try:
            part.unlink(missing_ok=True)  # a killed run's
            api.Gradebook(address.set(database=str(part)), course_id).close()
            if path.exists():  # another program was quicker
                part.unlink()
            else:
                part.rename(path)
        except OSError as error:
            where = f" ({error.filename})" if error.filename else ""
            raise GradebookError(
                f"The gradebook {self} could not be made: {error.strerror or error}{where}. "
                f"Put that right, {_AGAIN}"
            ) from error

    def close(self) -> None:
        self._gradebook.close()

    def vacuum(self) -> None:
        """Let nothing stay in a SQLite file of what was removed from it.

        Raises:
            GradebookError: it may still be there.
        """
        engine = self._gradebook.engine
        if engine.dialect.name != "sqlite":
            return
        with self._explained(), engine.connect() as connection:
            connection.exec_driver_sql("COMMIT")  # it has begun, and SQLite does this outside
            connection.exec_driver_sql("VACUUM")

    def __str__(self) -> str:
        """The file, or the address without its password."""
        try:
            address = make_url(self._url)
        except ArgumentError:
            return repr(self._url)
        if address.get_backend_name() == "sqlite" and address.database:
            return repr(address.database)
        return repr(address.render_as_string(hide_password=True))

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """Everything in the block is written, or nothing.

        Raises:
            GradebookError: nothing was.
        """
        session: Session = self._gradebook.db()
        try:
            with self._explained(), session.begin():
                yield session
        finally:
            self._gradebook.db.remove()  # a session that is kept grows with the class

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (DBAPIError, ArgumentError, NoSuchModuleError, api.InvalidEntry) as error:
            raise GradebookError(f"The gradebook {self} {_sentence(error)}") from error


def _lock_first(engine: Engine) -> None:
    """Take SQLite's write lock as a transaction begins.

    Two graders that had both read before they write would stop each other; so one waits.
    """
    engine.dispose()  # connections that were opened without the listeners

    @event.listens_for(engine, "connect")
    def _begin_by_hand(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
        connection.isolation_level = None

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _sentence(error: Exception) -> str:
    """What is wrong with the gradebook, and what to do."""
    cause = error.__context__ if isinstance(error, api.InvalidEntry) else error
    if isinstance(cause, IntegrityError):
        return f"was changed by another program meanwhile. Wait for it or stop it, {_AGAIN}"
    if not isinstance(cause, DBAPIError):
        return f"cannot be opened: {error}. Mend `db_url` in nbgrader_config.py, {_AGAIN}"
    code = getattr(cause.orig, "sqlite_errorcode", None)
    if code is not None and code & 0xFF in _SENTENCES:
        return _SENTENCES[code & 0xFF]
    if _OLD.search(str(cause.orig)):
        return f"was made by an older nbgrader. Copy it, run `nbgrader db upgrade`, {_AGAIN}"
    said = " ".join(str(cause.orig).split()).rstrip(".")  # a server's, in several lines
    return f"could not be used: {said}. Put that right, {_AGAIN}"
