"""Where a test's gradebook is: in nbgrader's own file, or in a database of a PostgreSQL server.

`TESTS_POSTGRESQL=postgresql://…` names a server, as tests/deploy/test_postgres.py does. There each
course's folder has a database of its own, which is copied with the folder. What is about SQLite's
file alone has the marker `sqlite`.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nbgrader import api
from sqlalchemy import Connection, create_engine
from sqlalchemy.engine import make_url
from sqlalchemy.pool import NullPool

from autograder.gradebook.course import CONFIG

SERVER = os.environ.get("TESTS_POSTGRESQL", "")
api.get_alembic_version = functools.cache(api.get_alembic_version)  # a process for each gradebook
_ADDRESS = "\nc.CourseDirectory.db_url = {!r}  # of this test alone\n"


def address(course: Path) -> str:
    """SQLAlchemy's address of a course's gradebook."""
    if not SERVER:
        return f"sqlite:///{course / 'class' / 'gradebook.db'}"
    return make_url(SERVER).set(database=_name(course)).render_as_string(hide_password=False)


def open_book(course: Path) -> api.Gradebook:
    """nbgrader's own view of a course's gradebook."""
    return api.Gradebook(address(course), "attnlab")


@contextmanager
def connected(course: Path) -> Iterator[Connection]:
    """A connection to it, for statements of one's own."""
    engine = create_engine(address(course), poolclass=NullPool)
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def configure(course: Path) -> None:
    """Let a course's settings name its gradebook, which is made empty."""
    if SERVER:
        _create(course)
        with open(course / CONFIG, "a", encoding="utf-8") as settings:
            settings.write(_ADDRESS.format(address(course)))


def copy(course: Path, to: Path) -> Path:
    """Copy a course with its gradebook."""
    shutil.copytree(course, to)
    if SERVER:
        settings = to / CONFIG
        own, others = _ADDRESS.format(address(to)), _ADDRESS.format(address(course))
        settings.write_text(settings.read_text(encoding="utf-8").replace(others, own))
        _create(to, f" template {_name(course)}")
    return to


def _name(course: Path) -> str:
    return "of_" + hashlib.sha256(str(course.resolve()).encode()).hexdigest()[:24]


def _create(course: Path, template: str = "") -> None:
    engine = create_engine(SERVER, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with engine.connect() as connection:
        connection.exec_driver_sql(f"create database {_name(course)}{template}")
    engine.dispose()
