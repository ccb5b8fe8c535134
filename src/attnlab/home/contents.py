"""A learner's notebooks, as JupyterLab's pages open and save them.

    save   each live figure's view is laid aside: whoever reads the file finds a still figure
    open   where the notebook's kernel still has the figure, its view comes back, as it was left;
           elsewhere its still figure stands there, and a quiz says what was chosen

Named in jupyter/lab_config.py.
"""

from __future__ import annotations

import re
from pathlib import Path
from queue import Empty
from typing import Any

from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelspec import KERNEL_NAME
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

from attnlab import lesson, lessons
from attnlab.asking import Asking
from attnlab.figures.live.stored import VIEW, bring_back, lay_aside, shown
from attnlab.work import progress
from attnlab.work.places import Course

ANSWERS = ("idle", "busy")  # states of a kernel; one that starts has no figure yet
PATIENCE = 3.0  # seconds, for a kernel's answer; it has one also while a cell runs
_BEGINS, _ASKS = (re.compile(rf'^{name}\("([^"]+)"\)', re.MULTILINE) for name in ("begin", "quiz"))


class Notebooks(AsyncLargeFileManager):
    """JupyterLab's own manager of files, for pages that come back as they were left."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.register_pre_save_hook(_save)

    async def get(
        self,
        path: str,
        content: bool = True,
        type: str | None = None,
        format: str | None = None,
        require_hash: bool = False,
    ) -> Any:
        model = await super().get(path, content, type, format, require_hash)
        if content and type == "notebook":  # a page says so; an export and a copy do not
            notebook = model["content"]
            _name_language(notebook)
            lay_aside(notebook)  # those too that another program, or an older course, left in it
            bring_back(notebook, await self._held(path))
            _tell_choices(notebook, Path(self.root_dir))
        return model

    async def _held(self, path: str) -> set[str]:
        """The models of widgets that a notebook's kernel has."""
        server: Any = self.parent
        sessions = await server.session_manager.list_sessions()
        kernels = {
            each["kernel"]["id"]
            for each in sessions
            if each["path"].strip("/") == path.strip("/")
            and each["kernel"]["execution_state"] in ANSWERS
        }
        held: set[str] = set()
        for kernel in kernels:
            if kernel in server.kernel_manager:  # it may have ended meanwhile
                held |= await _models(server.kernel_manager.get_kernel(kernel))
        return held


async def _models(kernel: Any) -> set[str]:
    """The models that a kernel has, from its thread for what cannot wait for a cell."""
    client = kernel.client()
    client.start_channels(shell=False, iopub=False, stdin=False, hb=False)
    try:
        message = client.session.msg("comm_info_request", {"target_name": "jupyter.widget"})
        client.control_channel.send(message)
        answer = await client.control_channel.get_msg(timeout=PATIENCE)
        return set(answer["content"].get("comms", ()))
    except Empty:
        return set()
    finally:
        client.stop_channels()


def _save(model: dict[str, Any], **_: Any) -> None:
    if model["type"] == "notebook" and model.get("content"):
        lay_aside(model["content"])


def _name_language(notebook: dict[str, Any]) -> None:
    """Say what a kernel is about to say: a page that hears news of it has something to save."""
    kernel = notebook["metadata"].get("kernelspec")
    if isinstance(kernel, dict) and kernel.get("name") == KERNEL_NAME:
        notebook["metadata"]["language_info"] = dict(IPythonKernel.language_info)


def _tell_choices(notebook: dict[str, Any], work: Path) -> None:
    """Let still quizzes say what was chosen, which they could not when they were made."""
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    begun = [found[1] for cell in code if (found := _BEGINS.search(cell["source"]))]
    slug = lessons.today(begun[0]) if begun else ""
    if slug not in lessons.slugs():
        return
    records = progress.read(Course(work.parent, work)).records
    for cell in code:
        title = _ASKS.search(cell["source"])
        asked = title and lesson.asked_in(slug, title[1], records)
        if not asked:
            continue
        asking = Asking(*asked)
        for data in shown([cell]):
            if "text/html" in data and VIEW not in data:
                data["text/html"] = asking.still(asking.start, opens=False)
