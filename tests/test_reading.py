"""What lesson 10's writer reads."""

from __future__ import annotations

import sys

import pytest

from attnlab.lessons.training.reading import documentation

pytestmark = pytest.mark.lessons("10-training")


def test_no_paragraph_is_read_twice() -> None:
    paragraphs = documentation().split("\n\n")
    assert len(paragraphs) == len(set(paragraphs)) > 1000


def test_where_python_has_no_documentation_it_says_so_and_reads_that_of_pytorch(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pydoc_data.topics", None)
    text = documentation()
    assert "pydoc_data" in capsys.readouterr().out
    assert len(text) > 200_000
    assert set("The value ") <= set(text)  # the prompt can be written in its letters
