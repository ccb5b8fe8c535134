"""JupyterLab as the course opens it: jupyter lab --config=jupyter/lab_config.py

It opens the course home, shows work/, a learner's own copies, and asks nothing of the network. The
extensions of nbgrader and jupytext are for instructors and authors; a learner sees neither, nor
their halves in the browser. `overrides.json` opens the glossary as a page to read, not as Markdown
to edit, and `custom/` keeps prose narrow enough to be read. The first time, the file browser is
closed: what lessons there are, the course home says.
"""

import json
import os
from pathlib import Path
from typing import Any

from jupyterlab_server.workspaces_handler import WorkspacesManager

HERE = Path(__file__).resolve().parent

c = get_config()  # type: ignore[name-defined]

COURSE = Path(os.environ.get("ATTNLAB_COURSE", HERE.parent))  # set by `attnlab lab`
WORK = COURSE / "work"
WORK.mkdir(exist_ok=True)
OFF = (  # in the browser
    "@jupyter/nbgrader",
    "@jupyterlab/apputils-extension:announcements",
    "@jupyterlab/extensionmanager-extension",
    "jupyterlab-jupytext",
)


def quiet(_: Any, page: dict[str, Any]) -> dict[str, Any]:
    """What JupyterLab's page and Notebook's are told, with extensions switched off."""
    return {**page, "disabledExtensions": [*page.get("disabledExtensions", ()), *OFF]}


c.ServerApp.root_dir = str(WORK)
c.ServerApp.tornado_settings = {
    "attnlab_course": str(COURSE),
    "static_custom_path": [str(HERE / "custom")],
    "page_config_hook": quiet,
}
c.LabApp.custom_css = True
c.LabApp.default_url = "/attnlab"
c.LabApp.app_settings_dir = str(HERE)

if "JUPYTERLAB_WORKSPACES_DIR" not in os.environ:
    c.LabApp.workspaces_dir = str(WORK / ".workspaces")
    if not (WORK / ".workspaces").exists():
        closed = {"layout-restorer:data": {"left": {"collapsed": True, "widgets": []}}}
        first = {"data": closed, "metadata": {"id": "default"}}
        WorkspacesManager(c.LabApp.workspaces_dir).save("default", json.dumps(first))

c.LabApp.news_url = None
c.LabApp.check_for_updates_class = "jupyterlab.NeverCheckForUpdate"
c.LabApp.extension_manager = "readonly"

c.ServerApp.jpserver_extensions = {
    "attnlab.home.server": True,
    "jupyterlab_jupytext": False,
    "nbgrader.server_extensions.assignment_list": False,
    "nbgrader.server_extensions.course_list": False,
    "nbgrader.server_extensions.formgrader": False,
    "nbgrader.server_extensions.validate_assignment": False,
}


# Named here and not its hooks: JupyterLab would set those twice, and warn of it at each start.
c.ServerApp.contents_manager_class = "attnlab.home.contents.Notebooks"

# A container's only user is often root, and JupyterLab refuses to start for root unless told.
c.ServerApp.allow_root = hasattr(os, "geteuid") and os.geteuid() == 0
