"""JupyterLab as the course opens it: jupyter lab --config=jupyter/lab_config.py

It shows notebooks/, opens lesson 01's folder, and asks nothing of the network. The extensions of
nbgrader and jupytext are for instructors and authors; a learner sees neither.
`page_config.json` beside this file switches off their halves in the browser.
"""

import os
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent

c = get_config()  # type: ignore[name-defined]

c.ServerApp.root_dir = str(HERE.parent / "notebooks")
c.LabApp.default_url = "/lab/tree/01-soft-lookup"
c.LabApp.app_settings_dir = str(HERE)

c.LabApp.news_url = None
c.LabApp.check_for_updates_class = "jupyterlab.NeverCheckForUpdate"
c.LabApp.extension_manager = "readonly"

c.ServerApp.jpserver_extensions = {
    "jupyterlab_jupytext": False,
    "nbgrader.server_extensions.assignment_list": False,
    "nbgrader.server_extensions.course_list": False,
    "nbgrader.server_extensions.formgrader": False,
    "nbgrader.server_extensions.validate_assignment": False,
}


def show_still_figures(model: dict[str, Any], **_: Any) -> None:
    """Save figures as still ones: opened tomorrow, without today's kernel, others are errors."""
    if model["type"] == "notebook" and model.get("content"):
        from attnlab.figures.live.stored import make_still

        make_still(model["content"])


c.ContentsManager.pre_save_hook = show_still_figures

# A container's only user is often root, and JupyterLab refuses to start for root unless told.
c.ServerApp.allow_root = hasattr(os, "geteuid") and os.geteuid() == 0
