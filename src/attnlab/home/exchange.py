"""Handing in through nbgrader's exchange, where whoever runs the machine has set one up; and what
comes back through it.

It is set up where an `nbgrader_config` in one of Jupyter's configuration folders names a course,
and the exchange's folder is there. nbgrader is no part of a learner's package; where it is not
installed there is no exchange.
"""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbgrader.exchange.default import Exchange

_QUIET = logging.getLogger(__name__)  # what nbgrader says of it is said by us
_QUIET.addHandler(logging.NullHandler())
_QUIET.propagate = False


class NotTaken(Exception):
    """The exchange did not take it; the sentence says why."""


def submitted_to(slug: str, data: bytes) -> str:
    """Submit a lesson's notebook to the exchange.

    Returns:
        Where it is, for its learner; '' if there is no exchange.
    Raises:
        NotTaken: there is one, and it was not submitted.
    """
    if not any(_settings()):
        return ""
    try:
        from nbgrader.exchange import ExchangeError
    except ImportError:
        return ""
    try:
        exchange = _exchange("submit", slug)
        if exchange is None:
            return ""
        if not os.access(exchange.root, os.W_OK | os.X_OK):
            raise NotTaken(f"{exchange.root} may not be written to. Tell who runs this machine.")
        course = exchange.coursedir.course_id
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder, course) if exchange.path_includes_course else Path(folder)
            (home / slug).mkdir(parents=True)
            (home / slug / f"{slug}.ipynb").write_bytes(data)
            exchange.assignment_dir = folder
            exchange.start()
    except (ExchangeError, OSError, RuntimeError) as why:
        raise NotTaken(f"{str(why).rstrip('.')}.") from why
    return f"nbgrader's exchange, course {course}, at {exchange.timestamp}"


def returned() -> dict[str, Path]:
    """The instructor's page about the latest hand-in that has one, for each lesson.

    They lie in the exchange under names that only who handed in can tell.
    """
    if not any(_settings()):
        return {}
    try:
        exchange = _exchange("fetch_feedback", "")
        if exchange is None:
            return {}
        exchange.init_src()  # finds them; the next steps would copy them into work/
    except Exception:  # hand-ins of one's own that nbgrader cannot read: nothing came back
        return {}
    return {lesson: Path(path) for lesson, _, path in sorted(exchange.feedback_files)}


def _settings() -> Iterator[Path]:
    """nbgrader's settings in Jupyter's configuration folders."""
    from jupyter_core.paths import jupyter_config_path

    for folder in jupyter_config_path():
        for kind in ("py", "json"):
            if (path := Path(folder, f"nbgrader_config.{kind}")).is_file():
                yield path


def _exchange(step: str, slug: str) -> Exchange | None:
    """A step of nbgrader's exchange, as nbgrader's own pages make it; None if none is set up.

    Args:
        step: `submit` or `fetch_feedback`.
        slug: of the lesson, '' for all.

    Raises:
        NotTaken: the settings cannot be read.
    """
    from nbgrader.apps import NbGrader
    from nbgrader.auth import Authenticator
    from nbgrader.coursedir import CourseDirectory
    from nbgrader.exchange import ExchangeFactory
    from nbgrader.exchange.default import Exchange

    app = NbGrader(log_level=logging.ERROR, raise_config_file_errors=True)
    app.load_cwd_config = False  # an instructor's are in the course's folder
    try:
        app.load_config_file()
    except Exception as error:  # the settings are a program: any error is possible
        raise NotTaken(f"its settings stop with {type(error).__name__}: {error}.") from error
    config = app.config
    found = getattr(ExchangeFactory(config=config), step)(
        coursedir=CourseDirectory(config=config),
        authenticator=Authenticator(config=config),
        config=config,
        log=_QUIET,
    )
    if not isinstance(found, Exchange) or not found.coursedir.course_id:
        return None
    if not os.path.isdir(found.root):
        return None
    found.coursedir.assignment_id = slug
    return found
