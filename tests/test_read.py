"""A learner's file is a notebook, or there is a sentence that says why it is none."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlab.ipynb.read import CELLS, Cell, Unreadable, read
from autograder.sandbox.limits import MIB, Limits
from tests.course import SLUGS, released_path, tells

LIMITS = Limits()
CODE = {"cell_type": "code", "metadata": {}, "source": "x = 1", "outputs": [], "id": "a"}


def notebook(*cells: Any, **changed: Any) -> bytes:
    whole: dict[str, Any] = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}}
    whole["cells"] = list(cells)
    return json.dumps(whole | changed).encode()


def only(data: bytes) -> Cell:
    (cell,) = read(data, LIMITS)
    return cell


def reason(data: bytes, limits: Limits = LIMITS) -> str:
    with pytest.raises(Unreadable) as caught:
        read(data, limits)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    return sentence


# no notebook ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty"),
        (b" \r\n\t ", "empty"),
        (b"\xff\xfe{\x00}\x00", "no `nbformat`"),
        (b"\xff\xfe\x00\xd8", "not UTF-8 text (byte 0)"),
        (bytes(range(256)), "not UTF-8 text (byte 128)"),
        (b'{"a": "\xe9"}', "not UTF-8 text (byte 7). It has `é` there as Windows writes it"),
        ('{"source": "caf\xe9-\u201eX\u201d"}'.encode("cp1252"), "It has `café` there as Windows"),
        (b"PK\x03\x04", "The file is a zip, called a notebook. Hand in what"),
        (b"%PDF-1.5\n\xe2\xe3", "The file is a PDF"),
        (b"%PDF-1.4", "The file is a PDF"),
        (b"<!DOCTYPE html>\n<html>", "a web page, saved under a notebook's name. Hand in what"),
        (b"\n <HTML lang=en>", "a web page"),
        (b'<?xml version="1.0"?>', "a web page"),
        (b"<3", "not JSON"),
        (
            b'{\n<<<<<<< HEAD\n"a": 1\n=======\n"a": 2\n>>>>>>> b\n}',
            "Git wrote two versions into the file, from line 2 on, `<<<<<<<`. Keep one",
        ),
        (b'{"a": "<<<<<<< b", }', "not JSON"),
        (notebook(CODE)[:-40], "not JSON"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"cells": ' + b"9" * 5000 + b"}", "not JSON"),
        (b"[]", "not a notebook"),
        (b"null", "not a notebook"),
        (b'"cells"', "not a notebook"),
        (b"{}", "no `nbformat`"),
        (notebook(nbformat="4"), "no `nbformat`"),
        (notebook(nbformat=True), "no `nbformat`"),
        (notebook(nbformat=[4]), "no `nbformat`"),
        (notebook(nbformat=5), "nbformat 5"),
        (notebook(nbformat=0), "nbformat 0"),
        (notebook(nbformat=-(10**30)), "nbformat -1"),
        (notebook(cells=None), "no list of cells"),
        (notebook(cells={"0": CODE}), "no list of cells"),
        (notebook(cells="code"), "no list of cells"),
        (notebook(*[CODE] * (CELLS + 1)), "2,001 cells"),
        (notebook(1, None, "x", [], {}), "none of its cells"),
    ],
)
def test_what_is_no_notebook_is_called_what_it_is(data: bytes, said: str) -> None:
    assert said in reason(data)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_notebook_in_another_encoding_of_unicode_is_read(encoding: str) -> None:
    written = CODE | {"source": "x = 'für Ω'", "outputs": [PICTURE]}
    text = json.dumps(json.loads(notebook(written)), ensure_ascii=False)
    assert only(text.encode(encoding)).source == "x = 'für Ω'"
    assert only(b"\xfe\xff" + text.encode("utf-16-be")).source == "x = 'für Ω'"


def test_file_over_the_limit_says_its_size_and_what_to_do() -> None:
    said = reason(b" " * 2**21 + b"{}", Limits(notebook_bytes=2**20))
    assert tells(said, "2.0 MB", "1 MB", "outputs")


def test_a_number_for_a_version_is_not_written_out() -> None:
    assert len(reason(notebook(nbformat=10**4000))) < 200
    assert len(reason(notebook(nbformat=-(10**4000)))) < 200


# outputs ------------------------------------------------------------------------------------------

PICTURE = {"output_type": "display_data", "data": {"image/png": "A" * 11 * MIB}, "metadata": {}}
PRINTED = {
    "output_type": "stream",
    "name": "stdout",
    "text": ['[["\\{1, 2], "outputs": [\n'] * 500_000,
}
ENTRY = {"output_type": "execute_result", "data": {"application/json": [[{}]] * 120_000}}


@pytest.mark.parametrize("output", [PICTURE, PRINTED, ENTRY], ids=["picture", "printed", "json"])
def test_megabytes_of_outputs_are_not_looked_at(output: dict[str, Any]) -> None:
    heavy = CODE | {"outputs": [output], "source": '["outputs": [{"'}
    plain = CODE | {"source": '["outputs": [{"'}
    assert read(notebook(heavy, CODE), LIMITS) == read(notebook(plain, CODE), LIMITS)
    assert only(old(3, V3 | {"outputs": [output]})) == only(old(3, V3))


def test_megabytes_of_pasted_pictures_are_not_looked_at() -> None:
    pasted = {"a.png": {"image/png": "A" * 11 * MIB}}
    prose = {"cell_type": "markdown", "source": "![](attachment:a.png)", "metadata": {}}
    assert only(notebook(prose | {"attachments": pasted})) == only(notebook(prose))


def test_what_is_left_without_outputs_has_a_limit() -> None:
    prose = CODE | {"cell_type": "markdown", "source": "a" * 11 * MIB, "outputs": [PICTURE]}
    said = reason(notebook(prose))
    assert tells(said, "outputs", "11.0 MB", "10 MB")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"{" * (10 * MIB + 1), "more than 500,000 lists and objects. Clear its outputs"),
        (notebook(CODE | {"metadata": {"x": [{}] * 500_000}}), "more than 500,000 lists"),
        (b'{"cells": [{"outputs": [' + b"1," * 6 * MIB, "a part of it is missing"),
        (notebook(CODE | {"outputs": [PICTURE]})[:-1], "a part of it is missing"),
        (b" " * 11 * MIB + b'{"cells": ["', "a part of it is missing"),
        (b'"' + b"a" * 11 * MIB, "Without its outputs the file has 11.0 MB"),
    ],
)
def test_a_heavy_file_that_is_no_notebook_says_so(data: bytes, said: str) -> None:
    assert said in reason(data)


DISTINCT = b",".join(b'"%x": 0' % number for number in range(700_000))
HEAD = b'{"nbformat": 4, "cells": [{"cell_type": "markdown", "source": ['
WIDE = '"\N{SLIGHTLY SMILING FACE}",'.encode()  # makes every character of the text four bytes long


@pytest.mark.skipif(sys.platform != "linux", reason="it looks at memory as Linux tells it")
@pytest.mark.parametrize(
    "data",
    [
        HEAD + WIDE + b'"ab",' * (2 * MIB - 100) + b'""]}]}',
        HEAD + WIDE + b'""], "metadata": {' + DISTINCT + b"}}]}",
        HEAD + WIDE + b'""], "metadata": {"x": [' + b'{"a": 1},' * 499_000 + b"0]}}]}",
        HEAD + WIDE + b'""], "outputs": [{"text": [' + b'"ab",' * (12 * MIB) + b'""]}]}]}',
    ],
    ids=["texts", "names", "objects", "outputs"],
)
def test_no_file_takes_more_memory_than_a_worker_should_spend(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "heavy.ipynb"
    path.write_bytes(data)
    program = (
        "import pathlib, re, sys; from autograder.sandbox.limits import Limits; "
        "from attnlab.ipynb.read import read; "
        "print(len(read(pathlib.Path(sys.argv[1]).read_bytes(), Limits()))); "
        r"print(re.search(r'VmHWM:\s*(\d+)', open('/proc/self/status').read())[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    cells, kilobytes = map(int, done.stdout.split())
    assert cells == 1
    assert kilobytes < 400 * 1024


def test_more_code_than_is_graded_says_how_much() -> None:
    cells = [CODE | {"source": "#" * 600_000}] * 2
    assert "1,200,000" in reason(notebook(*cells))


def test_long_prose_is_no_code() -> None:
    prose = CODE | {"cell_type": "markdown", "source": "a" * 1_200_000}
    assert len(read(notebook(prose), LIMITS)) == 1


# odd, but a notebook ----------------------------------------------------------------------------


def test_byte_order_mark_and_windows_line_ends_are_nothing() -> None:
    data = b"\xef\xbb\xbf" + notebook(CODE | {"source": "a\r\nb\rc"}).replace(b", ", b",\r\n")
    assert only(data).source == "a\nb\nc"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (["a\n", "b"], "a\nb"),
        (["a\n", 5, None, ["x"], "b"], "a\nb"),
        (["a\r", "\nb"], "a\nb"),
        (5, ""),
        (None, ""),
        ({"a": 1}, ""),
        ("\ud800x", "?x"),
        ("\0", "\0"),
    ],
)
def test_source_is_text_or_lines(source: Any, text: str) -> None:
    assert only(notebook(CODE | {"source": source})).source == text


def test_source_that_is_missing_is_empty() -> None:
    assert only(notebook({"cell_type": "code"})) == Cell("code", "")


@pytest.mark.parametrize("item", [1, None, "code", [], {}, {"cell_type": ["code"]}])
def test_what_is_no_cell_is_left_out(item: Any) -> None:
    assert only(notebook(item, CODE)).source == "x = 1"


@pytest.mark.parametrize("metadata", [None, 5, "x", [], {"nbgrader": 5}, {"nbgrader": {}}])
def test_odd_metadata_gives_no_name(metadata: Any) -> None:
    assert only(notebook(CODE | {"metadata": metadata})).grade_id == ""


@pytest.mark.parametrize("name", [5, None, ["softmax"], {}])
def test_odd_grade_id_is_none(name: Any) -> None:
    assert only(notebook(CODE | {"metadata": {"nbgrader": {"grade_id": name}}})).grade_id == ""


@pytest.mark.parametrize("found", ["", "x" * 65, 5, None, ["a"]])
def test_odd_cell_id_is_none(found: Any) -> None:
    assert only(notebook(CODE | {"id": found})).id == ""


def test_notebook_without_cells_is_one() -> None:
    assert read(notebook(), LIMITS) == []


# older formats ----------------------------------------------------------------------------------


@pytest.mark.parametrize("minor", range(6))
def test_every_minor_version_of_4_is_read(minor: int) -> None:
    cell = {key: value for key, value in CODE.items() if minor == 5 or key != "id"}
    assert only(notebook(cell, nbformat_minor=minor)).source == "x = 1"


def old(version: int, *cells: dict[str, Any]) -> bytes:
    whole: dict[str, Any] = {"nbformat": version, "nbformat_minor": 0, "metadata": {"name": "x"}}
    sheet = {"metadata": {}, "cells": list(cells)}
    return json.dumps(
        whole | ({"cells": list(cells)} if version == 1 else {"worksheets": [sheet]})
    ).encode()


V3: dict[str, Any] = {
    "cell_type": "code",
    "input": "x = 1",
    "outputs": [],
    "language": "python",
    "metadata": {},
}
V3 |= {"collapsed": False}


@pytest.mark.parametrize(
    "data",
    [
        old(3, V3),
        old(2, {"cell_type": "code", "input": "x = 1", "language": "python", "collapsed": False}),
        old(1, {"cell_type": "code", "code": "x = 1", "prompt_number": 1}),
    ],
    ids=["3", "2", "1"],
)
def test_older_formats_are_converted_the_same_each_time(data: bytes) -> None:
    cell = only(data)
    assert (cell.kind, cell.source, cell.id) == ("code", "x = 1", "")
    assert only(data) == cell


def test_nbgrader_metadata_of_an_older_format_is_kept() -> None:
    cell = V3 | {"metadata": {"nbgrader": {"grade_id": "softmax"}}}
    assert only(old(3, cell)).grade_id == "softmax"


def test_headings_of_an_older_format_are_prose_however_deep_they_say_they_are() -> None:
    for level in (2, 10**12, -1, None, "x"):
        heading: dict[str, Any] = {
            "cell_type": "heading",
            "source": "Softmax",
            "level": level,
            "metadata": {},
        }
        cell = only(old(3, heading))
        assert (cell.kind, cell.source.strip("# ")) == ("markdown", "Softmax")
        assert len(cell.source) < 20


@pytest.mark.parametrize(
    "cell",
    [
        V3,
        V3 | {"input": ["x = 1\n", "y = 2"]},
        V3 | {"input": ["x = 1", "y = 2"]},
        V3 | {"input": []},
        V3 | {"metadata": {"nbgrader": {"grade_id": "softmax"}}},
        {"cell_type": "markdown", "source": ["a\n", "b"], "metadata": {}},
        {"cell_type": "html", "source": "<b>a</b>", "metadata": {}},
        {"cell_type": "raw", "source": "a", "metadata": {}},
        {"cell_type": "heading", "source": "Soft\nmax", "level": 3, "metadata": {}},
    ],
)
def test_older_formats_are_converted_as_nbformat_does(cell: dict[str, Any]) -> None:
    [wanted] = nbformat.reads(old(3, cell).decode(), as_version=4).cells
    found = only(old(3, cell))
    assert (found.kind, found.source) == (wanted.cell_type, wanted.source)
    assert found.nbgrader == wanted.metadata.get("nbgrader", {})


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "no list of cells"),
        ({"worksheets": 5}, "no list of cells"),
        ({"worksheets": [5]}, "no list of cells"),
        ({"worksheets": [{"cells": 5}]}, "no list of cells"),
        ({"worksheets": [{"cells": [5]}]}, "none of its cells is a cell"),
    ],
)
@pytest.mark.parametrize("version", [2, 3])
def test_broken_notebook_of_an_older_format_says_so(version: int, changed: Any, said: str) -> None:
    assert said in reason(json.dumps({"nbformat": version} | changed).encode())


def test_cells_of_all_worksheets_are_read() -> None:
    whole = {"nbformat": 3, "worksheets": [{"cells": [V3]}, {"cells": [V3, V3]}]}
    assert len(read(json.dumps(whole).encode(), LIMITS)) == 3


def test_too_many_cells_of_an_older_format_are_not_converted() -> None:
    assert "2,001 cells" in reason(old(3, *[V3] * (CELLS + 1)))


# whatever comes ---------------------------------------------------------------------------------

atoms = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 5),
    st.floats(),
    st.sampled_from(["code", "markdown", "raw", "heading", "x", "\ud800"]),
)
junk = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["nbgrader", "a"]), inner)
    ),
    max_leaves=5,
)
KEYS = ["cell_type", "source", "metadata", "id", "input", "level", "outputs", "language"]
cells = st.one_of(junk, st.dictionaries(st.sampled_from(KEYS), junk))


@given(
    st.integers(0, 5),
    st.one_of(junk, st.lists(cells, max_size=3)),
    st.one_of(junk, st.lists(st.fixed_dictionaries({"cells": st.lists(cells, max_size=3)}))),
)
def test_any_json_is_read_or_refused(version: int, found: Any, sheets: Any) -> None:
    try:
        result = read(notebook(nbformat=version, cells=found, worksheets=sheets), LIMITS)
    except Unreadable:
        return
    assert all(isinstance(cell, Cell) and cell.source.encode() is not None for cell in result)


@given(st.lists(cells, max_size=3), junk, junk)
def test_a_heavy_file_is_read_as_without_its_outputs(found: Any, dropped: Any, texts: Any) -> None:
    def read_or_refused(data: bytes, limits: Limits) -> Any:
        try:
            return read(data, limits)
        except Unreadable as reason:
            return str(reason)

    dicts = [cell for cell in found if isinstance(cell, dict)]
    heavy = [cell | {"outputs": [dropped], "attachments": {"a": texts}} for cell in dicts]
    light = [cell | {"outputs": None, "attachments": None} for cell in dicts]
    left = notebook(*light)
    limits = Limits(kept_bytes=len(left))
    assert read_or_refused(notebook(*heavy), limits) == read_or_refused(left, limits)


@given(st.binary(max_size=100))
def test_bytes_that_are_no_notebook_are_refused(data: bytes) -> None:
    assert reason(data)


@pytest.mark.parametrize("slug", SLUGS)
def test_released_notebooks_are_read(slug: str) -> None:
    path = released_path(slug)
    stored = json.loads(path.read_text(encoding="utf-8"))["cells"]
    result = read(path.read_bytes(), LIMITS)
    assert [cell.source for cell in result] == ["".join(cell["source"]) for cell in stored]
    assert [cell.id for cell in result] == [cell["id"] for cell in stored]
