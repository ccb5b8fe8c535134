"""A course's folders and gradebook, as nbgrader_config.py in the current folder names them."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from nbgrader.apps import NbGrader
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.plugins.base import BasePlugin
from nbgrader.preprocessors import AssignLatePenalties

from autograder import Told

CONFIG = "nbgrader_config.py"
LATEST, BEST = "latest", "best"  # which of a student's hand-ins counts


class CourseError(Told):
    """The settings cannot be used; the sentence says why and what to do."""


@dataclass(frozen=True, slots=True)
class Course:
    """Where things are.

    Attributes:
        directory: nbgrader's settings of folders and gradebook.
        penalties: nbgrader's plugin for late submissions, None where none is set up.
        keep: which hand-in of a student counts, 'latest' or 'best', by `c.Attnlab.keep`.
    """

    directory: CourseDirectory
    penalties: BasePlugin | None
    keep: str = LATEST

    @classmethod
    def here(cls) -> Course:
        """The course whose folder is the current one.

        Raises:
            CourseError: there are no settings here, or they are wrong.
        """
        path = Path.cwd() / CONFIG
        if not path.is_file():
            raise CourseError(f"There is no {path}. Run this in the course's folder.")
        app = NbGrader()
        app.log_level = logging.WARNING
        app.raise_config_file_errors = True  # nbgrader itself would go on without its settings
        try:
            app.initialize([])
            directory: CourseDirectory = app.coursedir
            penalties = _penalties(app)
            keep = app.config.Attnlab.get("keep", LATEST)
        except (
            Exception,
            SystemExit,
        ) as error:  # the settings are a program: any error is possible
            raise CourseError(f"{path} cannot be used: {type(error).__name__}: {error}") from error
        if keep not in (LATEST, BEST):
            raise CourseError(f"{path}: c.Attnlab.keep is {keep!r}. It is {LATEST!r} or {BEST!r}.")
        return cls(directory, penalties, keep)

    @property
    def file_mode(self) -> int:
        """Permissions of what learners' notebooks become: nbgrader's."""
        return 0o664 if self.directory.groupshared else 0o444

    @property
    def page_mode(self) -> int:
        """Permissions of feedback: nbgrader's."""
        return 0o664 if self.directory.groupshared else 0o644

    def released(self, lesson: str) -> Path:
        """The notebook that learners were given."""
        return self._folder(self.directory.release_directory, ".", lesson) / f"{lesson}.ipynb"

    def solution(self, lesson: str) -> Path:
        """The notebook that it is made from, with the course's answers."""
        return self._folder(self.directory.source_directory, ".", lesson) / f"{lesson}.ipynb"

    def submitted(self, student: str, lesson: str) -> Path:
        """Folder of what a student handed in."""
        return self._folder(self.directory.submitted_directory, student, lesson)

    def autograded(self, student: str, lesson: str) -> Path:
        """Folder of what formgrader opens."""
        return self._folder(self.directory.autograded_directory, student, lesson)

    def feedback(self, student: str, lesson: str) -> Path:
        """Folder of what a student gets back."""
        return self._folder(self.directory.feedback_directory, student, lesson)

    def reports(self, lesson: str) -> Path:
        """Folder of what is written about a whole class."""
        return self.submitted(".", ".").parent / "reports" / lesson

    def _folder(self, step: str, student: str, lesson: str) -> Path:
        return Path(self.directory.format_path(step, student, lesson))


def _penalties(app: NbGrader) -> BasePlugin | None:
    assign = AssignLatePenalties(parent=app)
    assign.init_plugin()
    plugin: BasePlugin = assign.plugin_inst
    unset = type(plugin) is LateSubmissionPlugin and plugin.penalty_method == "none"
    return None if unset else plugin
