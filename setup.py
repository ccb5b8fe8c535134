"""The wheel is the course: what is handed out, and JupyterLab's settings, lie in attnlab/course/.

Everything else about the package stands in pyproject.toml.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HANDED_OUT = ("notebooks", "jupyter")


class WithCourse(build_py):
    """Packages as ever, and the course beside them; an editable install reads it where it lies."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        for name in HANDED_OUT:
            place = Path(self.build_lib, "attnlab", "course", name)
            shutil.rmtree(place, ignore_errors=True)
            left_out = shutil.ignore_patterns(".*", "__pycache__")
            shutil.copytree(Path(__file__).parent / name, place, ignore=left_out)


setup(cmdclass={"build_py": WithCourse})
