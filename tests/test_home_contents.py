"""Notebooks as the course's pages get and save them; `test_reload_browser` has the pages."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from attnlab import quizzes
from attnlab.figures.live.stored import VIEW
from attnlab.home.contents import Notebooks
from attnlab.work import progress

SLUG = "02-pure-python"
HTML, STATE = "text/html", "application/vnd.jupyter.widget-state+json"
NAME = "lesson.ipynb"


def shown(model: str, html: str = "<p>still</p>", source: str = "") -> Any:
    """A cell with a figure's output."""
    data = {VIEW: {"model_id": model, "version_major": 2, "version_minor": 0}, HTML: html}
    return new_code_cell(source, outputs=[new_output("display_data", data)])


class Held(Notebooks):
    """With a kernel that has the model "here", and no other."""

    async def _held(self, path: str) -> set[str]:
        return {"here"} if path == NAME else set()


@pytest.fixture
def notebooks(tmp_path: Path) -> Held:
    return Held(root_dir=str(tmp_path))


def opened(notebooks: Held, name: str = NAME, kind: str | None = "notebook") -> list[Any]:
    """What the cells of a notebook show, as a page gets it."""
    cells = asyncio.run(notebooks.get(f"/{name}".lstrip("/"), type=kind))["content"]["cells"]
    return [output["data"] for cell in cells for output in cell["outputs"]]


def save(notebooks: Held, *cells: Any, **metadata: Any) -> Path:
    content = new_notebook(cells=[*cells], metadata=metadata)
    model = {"type": "notebook", "format": "json", "content": content}
    asyncio.run(notebooks.save(model, NAME))
    return Path(notebooks.root_dir, NAME)


def test_a_file_holds_stills_and_a_page_gets_what_its_kernel_has(notebooks: Held) -> None:
    path = save(notebooks, shown("here"), shown("gone"), widgets={STATE: {}})
    assert VIEW not in path.read_text(encoding="utf-8")
    assert STATE not in path.read_text(encoding="utf-8")
    (Path(notebooks.root_dir) / "copy.ipynb").write_bytes(path.read_bytes())
    assert [VIEW in each for each in opened(notebooks)] == [True, False]
    assert [VIEW in each for each in opened(notebooks, kind=None)] == [False, False]  # an export
    assert [VIEW in each for each in opened(notebooks, "copy.ipynb")] == [False, False]
    assert all(each[HTML] == "<p>still</p>" for each in opened(notebooks))


@pytest.mark.parametrize("view", [None, 1, [], {}, {"model_id": ["here"]}, {"model_id": "old"}])
def test_what_an_older_course_left_in_a_notebook_is_a_still(view: object, notebooks: Held) -> None:
    cell = shown("old")
    cell.outputs[0].data[VIEW] = view
    content = new_notebook(cells=[cell], metadata={"widgets": {STATE: {"state": {"old": {}}}}})
    Path(notebooks.root_dir, NAME).write_text(json.dumps(content), encoding="utf-8")
    [data] = opened(notebooks)
    assert (VIEW in data, data[HTML]) == (False, "<p>still</p>")


def test_a_still_quiz_says_what_was_chosen_and_hides_what_was_not(notebooks: Held) -> None:
    work = Path(notebooks.root_dir)
    (work / ".attnlab").mkdir()
    first, second = quizzes.of(SLUG)["recall"]
    told = {"v": 1, "when": "", "lesson": SLUG, "exercise": first.name, "status": progress.CHOSE}
    told |= {"score": 0, "points": 1, "mistake": "", "choice": first.choices[1]}
    (work / ".attnlab" / "progress.jsonl").write_text(json.dumps(told), encoding="utf-8")
    asks = shown("gone", "<p>of the beginning</p>", 'quiz("recall")')
    save(notebooks, new_code_cell(f'import attnlab\nbegin("{SLUG}")'), asks)
    [data] = opened(notebooks)
    assert "your choice" in data[HTML]
    assert "Yes." in data[HTML]
    assert second.answers[second.right] not in data[HTML]


def test_a_page_is_told_the_language_that_its_kernel_will_name(notebooks: Held) -> None:
    """Else it would hear of it, and have something to save before anybody did anything."""
    save(
        notebooks, kernelspec={"name": "python3", "display_name": "Python 3", "language": "python"}
    )
    model = asyncio.run(notebooks.get(NAME, type="notebook"))
    assert model["content"]["metadata"]["language_info"]["mimetype"] == "text/x-python"
    kept = nbformat.read(Path(notebooks.root_dir, NAME), nbformat.NO_CONVERT)
    assert "language_info" not in kept.metadata
