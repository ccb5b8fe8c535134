"""How editors save a notebook: each front end turns one into the text of a file."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbformat.v4.rwbase import split_lines

Save = Callable[[NotebookNode, random.Random], str]
FRONT_ENDS: dict[str, Save] = {}

# One red pixel.
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJg"
    "gg=="
)


def front_end(save: Save) -> Save:
    FRONT_ENDS[save.__name__.replace("_", " ")] = save
    return save


@front_end
def jupyterlab(notebook: NotebookNode, rng: random.Random) -> str:
    """With the outputs of the last run."""
    _run(notebook, rng)
    notebook.metadata.language_info = _language("3.11.9")
    notebook.metadata.toc = {"base_numbering": 1, "nav_menu": {}}
    return nbformat.writes(notebook) + "\n"


@front_end
def jupyterlab_outputs_cleared(notebook: NotebookNode, rng: random.Random) -> str:
    return nbformat.writes(notebook) + "\n"


@front_end
def classic_notebook(notebook: NotebookNode, rng: random.Random) -> str:
    """Collapsed and scrolled cells, slides; saved without ids, in format 4.4."""
    _run(notebook, rng)
    for cell in notebook.cells:
        cell.metadata.slideshow = {"slide_type": rng.choice(["slide", "fragment", "-"])}
        if cell.cell_type == "code":
            cell.metadata.collapsed = rng.random() < 0.3
            cell.metadata.scrolled = rng.choice([True, False, "auto"])
    notebook.metadata.celltoolbar = "Create Assignment"
    return nbformat.writes(_older(notebook, 4)) + "\n"


@front_end
def vs_code(notebook: NotebookNode, rng: random.Random) -> str:
    """Another kernel's display name, no line end at the end of the file."""
    _run(notebook, rng)
    notebook.metadata.kernelspec.display_name = "Python 3.12"
    notebook.metadata.language_info = _language("3.12.4")
    notebook.metadata.vscode = {"interpreter": {"hash": f"{rng.getrandbits(256):064x}"}}
    for cell in notebook.cells:
        cell.metadata.vscode = {"languageId": "python"}
    return json.dumps(_by_lines(notebook), indent=1, ensure_ascii=False)


@front_end
def colab(notebook: NotebookNode, rng: random.Random) -> str:
    """Format 4.0, two spaces, ids in the metadata, all else escaped."""
    _run(notebook, rng)
    older = _older(notebook, 0)
    older.metadata.colab = {"provenance": [], "toc_visible": True}
    older.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    older.metadata.language_info = {"name": "python"}
    for cell in older.cells:
        cell.metadata.id = f"{rng.getrandbits(48):012x}"
        if cell.cell_type == "code" and cell.outputs:
            cell.metadata.colab = {"base_uri": "https://localhost:8080/"}
            cell.metadata.outputId = f"{rng.getrandbits(48):012x}"
    return json.dumps(_by_lines(older), indent=2)


@front_end
def pycharm(notebook: NotebookNode, rng: random.Random) -> str:
    """Time stamps in the cells, sources that end in a line end, keys in another order."""
    _run(notebook, rng)
    for cell in notebook.cells:
        cell.metadata.ExecuteTime = {"end_time": "2026-01-02T03:04:05Z", "start_time": None}
        cell.metadata.jupyter = {"outputs_hidden": False, "source_hidden": False}
        if cell.cell_type == "code":
            cell.metadata.pycharm = {"name": "#%%\n"}
            cell.source += "\n"
    plain = _by_lines(notebook)
    return json.dumps(dict(sorted(plain.items(), reverse=True)), indent=0)


@front_end
def converter(notebook: NotebookNode, rng: random.Random) -> str:
    """The whole file on one line, and each source as one string."""
    return json.dumps(notebook, ensure_ascii=False, separators=(",", ":"))


@front_end
def no_ids(notebook: NotebookNode, rng: random.Random) -> str:
    """Format 4.5 as written by a tool that forgets the cells' ids."""
    for cell in notebook.cells:
        del cell["id"]
    return json.dumps(_by_lines(notebook), indent=4)


@front_end
def windows_file(notebook: NotebookNode, rng: random.Random) -> str:
    _run(notebook, rng)
    return nbformat.writes(notebook).replace("\n", "\r\n")


@front_end
def format_3(notebook: NotebookNode, rng: random.Random) -> str:
    """As IPython 2 saved it: worksheets, `input` for `source`."""
    return nbformat.writes(nbformat.convert(_older(notebook, 4), 3), version=3)


@front_end
def format_4_1(notebook: NotebookNode, rng: random.Random) -> str:
    return nbformat.writes(_older(notebook, 1))


@front_end
def format_4_2(notebook: NotebookNode, rng: random.Random) -> str:
    _run(notebook, rng)
    return nbformat.writes(_older(notebook, 2))


def _language(version: str) -> dict[str, Any]:
    return {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
        "version": version,
    }


def _older(notebook: NotebookNode, minor: int) -> NotebookNode:
    older = copy.deepcopy(notebook)
    older.nbformat_minor = minor
    for cell in older.cells:
        cell.pop("id", None)
    return older


def _by_lines(notebook: NotebookNode) -> dict[str, Any]:
    """The notebook with each text as a list of lines, as most front ends save it."""
    by_lines: dict[str, Any] = split_lines(copy.deepcopy(notebook))
    return by_lines


def _run(notebook: NotebookNode, rng: random.Random) -> None:
    """Leave outputs behind, as a run by hand does: out of order, and not the grader's."""
    count = 0
    for cell in notebook.cells:
        if cell.cell_type != "code" or rng.random() < 0.2:
            continue
        count += rng.randint(1, 3)
        cell.execution_count = count
        cell.outputs = [copy.deepcopy(rng.choice(_OUTPUTS))] if rng.random() < 0.7 else []
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = count


_OUTPUTS = [
    new_output("stream", name="stdout", text="printed\nlast week\n"),
    new_output("stream", name="stderr", text="UserWarning: an old warning\n"),
    new_output("execute_result", {"text/plain": "5", "text/html": "<b>5 of 5</b>"}),
    new_output("display_data", {"text/plain": "<Figure size 640x480>", "image/png": PNG}),
    new_output(
        "error",
        ename="NameError",
        evalue="name 'x' is not defined",
        traceback=["\x1b[0;31mNameError\x1b[0m: name 'x' is not defined"],
    ),
    new_output(
        "display_data",
        {
            "application/vnd.jupyter.widget-view+json": {
                "model_id": "0a1b2c",
                "version_major": 2,
                "version_minor": 0,
            }
        },
    ),
]
