"""Lesson 14 with a model that is not the small one: a folder with grouped heads, or no network."""

from __future__ import annotations

import contextlib
import io
import socket
from pathlib import Path
from typing import Any

import pytest
import torch

from attnlab.lessons import slugs
from tests.course import code_cells, read, solution_path

pytestmark = [pytest.mark.slow, pytest.mark.lessons("14-real-model")]
SLUG = "14-real-model"
CELLS = ("setup", "load", "spy", "attention_forward", "yours", "published")


@pytest.fixture(scope="module")
def grouped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny Llama that nobody trained: six heads in two groups, no tokenizer."""
    import transformers

    folder = tmp_path_factory.mktemp("llama")
    torch.manual_seed(14)
    config = transformers.LlamaConfig(
        hidden_size=48,
        intermediate_size=64,
        num_hidden_layers=2,
        vocab_size=97,
        num_attention_heads=6,
        num_key_value_heads=2,
        max_position_embeddings=64,
        initializer_range=0.2,  # so that words differ
    )
    with contextlib.redirect_stderr(io.StringIO()):
        transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def said_with(published: str) -> str:
    """What the lesson's cell says where PUBLISHED is that."""
    cells = {
        cell.metadata.get("nbgrader", {}).get("grade_id"): cell.source
        for cell in code_cells(read(solution_path(SLUG)))
    }
    space: dict[str, Any] = {"PUBLISHED": published}
    for name in CELLS:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(cells[name], space)
    return out.getvalue()


def test_a_folder_with_grouped_heads_writes_the_same_words(grouped: Path) -> None:
    assert SLUG in slugs()
    said = said_with(str(grouped))
    assert "LlamaForCausalLM: 6 heads, 2 groups a layer" in said
    assert "within 1e-4: True; same word: 9 of 9" in said
    yours, pytorchs = (line.partition("[")[2] for line in said.splitlines()[-2:])
    assert yours == pytorchs != ""


@pytest.mark.parametrize("name", ["/no/such/folder", "nobody/nothing-of-this-name"])
def test_what_cannot_be_loaded_is_said_in_a_line(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)  # not half a minute
    said = said_with(name).splitlines()
    assert "the small model" in said[1]
    assert said[2] == "GPT2LMHeadModel: 4 heads, 4 groups a layer"
    assert "the king behind the dogs" in said[-1]
    assert capsys.readouterr().err == ""


def test_nobody_is_asked_for_anything_where_nothing_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError(f"it looks for {args[0]}")

    monkeypatch.setattr(socket, "getaddrinfo", refused)
    monkeypatch.setattr(socket.socket, "connect", refused)
    assert "within 1e-4: True" in said_with("")
