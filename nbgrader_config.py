"""nbgrader's settings: its steps, under our folders' names.

    solutions/<lesson>/           what authors edit
    notebooks/<lesson>/           what learners open, made by `make release`
    class/submitted/<student>/<lesson>/     what comes back
    class/                        autograded/, feedback/, gradebook.db

`get_config` is handed to this file by nbgrader.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
(ROOT / "class").mkdir(exist_ok=True)  # SQLite makes its file, not the folder

# nbgrader runs `alembic` to make a gradebook, and that is on PATH in an activated environment only.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

# Plugins of this course are found here: the grader's, and rules of one's own.
sys.path.append(str(ROOT))

c = get_config()  # type: ignore[name-defined]

c.CourseDirectory.course_id = "attnlab"
c.CourseDirectory.root = str(ROOT)
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.source_with_tests_directory = "class/source_with_tests"
c.CourseDirectory.release_directory = "notebooks"
c.CourseDirectory.submitted_directory = "class/submitted"
c.CourseDirectory.autograded_directory = "class/autograded"
c.CourseDirectory.feedback_directory = "class/feedback"
c.CourseDirectory.solution_directory = "class/solution"
c.CourseDirectory.db_url = f"sqlite:///{(ROOT / 'class' / 'gradebook.db').as_posix()}"

# A lesson's .py pair holds the solutions, and nbgrader copies whatever it is not told to ignore.
c.CourseDirectory.ignore = [".ipynb_checkpoints", "__pycache__", "*.pyc", "*.py", "feedback"]

# Whatever uses an exercise before it is written fails with this sentence.
STUB = '# Your code here\nraise NotImplementedError("This exercise is not written yet.")'
c.ClearSolutions.code_stub = {"python": STUB}
c.ClearSolutions.text_stub = "Your answer here."

# Authors' pairing, and the version of their Python, are nothing to learners.
c.NotebookExporter.preprocessors = ["nbconvert.preprocessors.ClearMetadataPreprocessor"]
c.ClearMetadataPreprocessor.preserve_nb_metadata_mask = {"kernelspec", ("language_info", "name")}
c.ClearMetadataPreprocessor.preserve_cell_metadata_mask = {
    "deletable",
    "editable",
    "nbgrader",
    "tags",
}

c.Execute.timeout = 120
# Feedback shows a figure's still picture: there is no kernel to touch it with.
c.Execute.store_widget_state = False

if (ROOT / "autograder").is_dir():  # not where these settings were copied to alone
    c.ExportApp.plugin_class = "autograder.gradebook.export.Rounded"
