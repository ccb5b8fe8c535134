"""The wheel is the course: what is handed out, and JupyterLab's settings, lie in attnlab/course/.

Everything else about the package stands in pyproject.toml. An index shows README.md on a page of
its own, where nothing lies beside it: its links and pictures lead to the repository where the
course is published; where it is not, a picture is its description, and a link its words.
"""

import re
import runpy
import shutil
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
HANDED_OUT = ("notebooks", "jupyter")
BESIDE = re.compile(r"(!?)\[([^\]]+)\]\((?!\w+:|#)([^)\s]+)\)")  # a link to what lies beside it


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
            shutil.copytree(HERE / name, place, ignore=left_out)


def description(text: str, repository: str) -> str:
    """README.md for a page of its own."""

    def address(found: re.Match[str]) -> str:
        kind = "raw" if found[1] else "blob"
        return f"{found[1]}[{found[2]}](https://github.com/{repository}/{kind}/main/{found[3]})"

    return BESIDE.sub(address if repository else r"\2", text)


if __name__ == "__main__":
    published = runpy.run_path(str(HERE / "src" / "attnlab" / "published.py"))
    places = published["PUBLISHED_AT"]
    if problem := published["wrong"](places):
        sys.exit(problem)
    readme = (HERE / "README.md").read_text(encoding="utf-8")
    setup(
        cmdclass={"build_py": WithCourse},
        long_description=description(readme, places.repository),
        long_description_content_type="text/markdown",
    )
