"""What is told of a cell that is not Python: its own line, the place, and the cause."""

from __future__ import annotations

from dataclasses import replace

import pytest

from attnlab.checks import unparsed as module
from attnlab.checks.unparsed import LONGEST, unparsed
from attnlab.checks.words import CHECKS, read
from attnlab.ipynb.python import stop_in

DEF = "def softmax(scores):\n"
LOOP = "def f(x):\n    for i in x:\n        y = i\n"
# The cell, the cause, the line's number, and the line with the place.
CELLS = {
    "a NUL": (f"{DEF}    return\0 scores", "null-character", 2, "return▸␀ scores"),
    "a NUL in a text": (f"{DEF}    return 'a\0'", "null-character", 2, "return 'a▸␀'"),
    "two versions": (
        f"{DEF}<<<<<<< HEAD\n    return scores\n=======\n    return 1\n>>>>>>> theirs",
        "conflict-markers",
        2,
        "▸<<<<<<< HEAD",
    ),
    "two versions of all": (
        f"<<<<<<< HEAD\n{DEF}    return 1\n||||||| base\n=======\n{DEF}    return 2\n>>>>>>> b",
        "conflict-markers",
        1,
        "▸<<<<<<< HEAD",
    ),
    "a blank that is none": (f"{DEF}    return\u00a0scores", "strange-blank", 2, "return▸␣scores"),
    "an indent that is none": (f"{DEF}\u00a0\u00a0  return 1", "strange-blank", 2, "▸␣␣  return 1"),
    "no width": (f"{DEF}    return \u200bscores", "strange-blank", 2, "return ▸␣scores"),
    "curly quotes": (f"{DEF}    raise ValueError(“no”)", "strange-character", 2, "(▸“no”)"),
    "curly apostrophes": (f"{DEF}    return {{‘a’: 1}}", "strange-character", 2, "{▸‘a’: 1}"),
    "a curly quote and a straight one": (f'{DEF}    x = “no"', "strange-character", 2, '▸“no"'),
    "a typeset minus": (f"{DEF}    return [s − 1 for s in x]", "strange-character", 2, "s ▸− 1"),
    "at most": (f"{DEF}    if scores ≤ 1:\n        return 1", "strange-character", 2, "▸≤ 1:"),
    "tabs and blanks": (f"{DEF}    top = 1\n\treturn top", "tabs-and-blanks", 3, "▸return top"),
    "a tab for four blanks": (
        f"{DEF}    if scores:\n\ttop = 1\n    return top",
        "tabs-and-blanks",
        3,
        "▸top = 1",
    ),
    "no second quote": (f"{DEF}    x = 'abc\n    return x", "text-not-closed", 2, "x = ▸'abc"),
    "an apostrophe in a text": (
        f"{DEF}    print('don't')",
        "text-not-closed",
        2,
        "print('don't▸')",
    ),
    "no end of a docstring": (f'{DEF}    """Weights.\n    return 1', "text-not-closed", 2, '▸"""'),
    "an f-string": (f"{DEF}    print(f'{{scores}})", "text-not-closed", 2, "print(f▸'{scores})"),
    "print x": (f"{DEF}    print scores", "print-without-brackets", 2, "▸print scores"),
    "print of a text": (f'{DEF}    print "a", scores', "print-without-brackets", 2, '▸print "a"'),
    "else if": (
        f"{DEF}    if scores:\n        return 1\n    else if 1:\n        return 2",
        "other-language",
        4,
        "▸else if 1:",
    ),
    "i++": (f"{DEF}    i = 0\n    i++\n    return i", "other-language", 3, "i▸++"),
    "&&": (f"{DEF}    if scores && 1:\n        return 1", "other-language", 2, "if scores ▸&& 1:"),
    "||": (f"{DEF}    return scores || 1", "other-language", 2, "return scores ▸|| 1"),
    "!": (f"{DEF}    if !scores:\n        return 1", "other-language", 2, "if ▸!scores:"),
    "if x = 0": (f"{DEF}    if scores = 0:\n        return 1", "one-equals", 2, "if scores ▸= 0:"),
    "if f(x) = 0": (f"{DEF}    if len(x) = 0:\n        return", "one-equals", 2, "if len(x) ▸= 0:"),
    "a default before it": (
        f"{DEF}    if max(x, default=1) = 0:\n        return",
        "one-equals",
        2,
        "if max(x, default=1) ▸= 0:",
    ),
    "= in a comprehension": (
        f"{DEF}    return [s for s in x if s = 0]",
        "one-equals",
        2,
        "s ▸= 0]",
    ),
    "def without a colon": (
        "def softmax(scores)\n    return 1",
        "no-colon",
        1,
        "def softmax(scores)▸",
    ),
    "if without a colon": (f"{DEF}    if x\n        return 1", "no-colon", 2, "if x▸"),
    "for and a comment": (
        f"{DEF}    for s in x  # each\n        return s",
        "no-colon",
        2,
        "in x▸  #",
    ),
    "else without a colon": (
        f"{DEF}    if x:\n        y = 1\n    else\n        y = 2",
        "no-colon",
        4,
        "else▸",
    ),
    "class without a colon": ("class A(object)\n    pass", "no-colon", 1, "class A(object)▸"),
    "a def of three lines": (
        "def softmax(\n    scores,\n)\n    return scores",
        "no-colon",
        3,
        ")▸",
    ),
    "if in one line": (f"{DEF}    if x return 1", "no-colon", 2, "if x ▸return 1"),
    "lambda for a name": (f"{DEF}    lambda = 0.5", "keyword-as-name", 2, "▸lambda = 0.5"),
    "None for a name": (f"{DEF}    None = 0.5", "keyword-as-name", 2, "▸None = 0.5"),
    "class for a name": ("def f(class):\n    return 1", "keyword-as-name", 1, "def f(▸class):"),
    "no comma": (f"{DEF}    return [1.0 2.0]", "nothing-between", 2, "return [1.0▸ 2.0]"),
    "no comma in a call": (f"{DEF}    return max(x key=f)", "nothing-between", 2, "max(x▸ key=f)"),
    "2x": (f"{DEF}    return 2x", "nothing-between", 2, "return 2▸x"),
    "another bracket": (
        f"{DEF}    return [max(x], 1)",
        "bracket-closed-by-another",
        2,
        "return [max(x▸], 1)",
    ),
    "a bracket too many": (f"{DEF}    return max(x))", "bracket-not-opened", 2, "max(x)▸)"),
    "a bracket too few": (
        f"{DEF}    top = max(x\n    return [s - top for s in x]",
        "bracket-not-closed",
        2,
        "top = max▸(x",
    ),
    "a bracket too few in def": ("def f(x:\n    return x", "bracket-not-closed", 1, "def f▸(x:"),
    "a bracket in a text and one too few": (
        f"{DEF}    # (\n    print(')'\n    return 1",
        "bracket-not-closed",
        3,
        "print▸(')'",
    ),
    "a list that is never closed": ("x = [1,\n2\ny = 3", "bracket-not-closed", 1, "x = ▸[1,"),
    "nothing under def": (f"{DEF}return scores", "nothing-indented", 2, "▸return scores"),
    "a comment under def": (f"{DEF}    # later\nx = 1", "nothing-indented", 3, "▸x = 1"),
    "nothing under for": (
        f"{DEF}    for s in x:\n    y = s\n    return y",
        "nothing-indented",
        3,
        "▸y = s",
    ),
    "indented too far": (
        f"{DEF}    top = 1\n      return top",
        "indented-too-far",
        3,
        "▸return top",
    ),
    "back to nowhere": (f"{DEF}        top = 1\n    return top", "indent-of-no-line", 3, "▸return"),
    "return outside": (f"{DEF}    top = 1\nreturn top", "return-outside", 3, "▸return top"),
    "yield outside": ("x = 1\nyield x", "return-outside", 2, "▸yield x"),
    "break outside": (f"{LOOP}    break", "loop-word-outside", 4, "▸break"),
    "continue outside": (f"{LOOP}    continue", "loop-word-outside", 4, "▸continue"),
    "a call that gets a value": (f"{DEF}    max(x) = 3", "no-name-to-assign-to", 2, "max(x) ▸= 3"),
    "a sum that gets a value": (f"{DEF}    a + b = c", "no-name-to-assign-to", 2, "a + b ▸= c"),
    "whatever else": (f"{DEF}    y = = 2", "not-python", 2, "y = ▸= 2"),
    "under a magic": ("%%time\ndef f(x)\n    return x", "no-colon", 2, "def f(x)▸"),
    "below empty lines": ("\n  \n\ndef f(x)\n    return x", "no-colon", 4, "def f(x)▸"),
    "beside a magic with an apostrophe": ("!echo it's\nx = (1", "bracket-not-closed", 2, "x = ▸(1"),
}


@pytest.mark.parametrize("name", CELLS)
def test_the_learners_line_is_told_with_the_place_and_the_cause(name: str) -> None:
    source, slug, number, line = CELLS[name]
    found = unparsed(source)
    assert found is not None
    assert (found.slug, found.number) == (slug, number)
    assert line in found.line
    assert str(found) == f"line {number}, at ▸: `{found.line}`"
    said = " ".join(found.words)
    assert "«" not in said
    assert "{" not in said.replace("`{`", "")


@pytest.mark.parametrize("name", CELLS)
def test_no_cause_hangs_on_the_words_of_one_version_of_python(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor on the column: versions mark the beginning, the end or the middle of what is wrong."""

    def otherwise(source: str) -> object:
        stop = stop_in(source)
        return stop and replace(stop, message="other words", column=0)

    monkeypatch.setattr(module, "stop_in", otherwise)
    found = unparsed(CELLS[name][0])
    assert found is not None
    assert found.slug == CELLS[name][1] or name == "if in one line"


def test_each_cause_has_words_and_a_cell_that_shows_it() -> None:
    assert {slug for _, slug, *_ in CELLS.values()} == set(read(CHECKS / "unparsed.md"))


@pytest.mark.parametrize(
    "source",
    [
        f"{DEF}    return scores",
        "%matplotlib inline\n!ls (\nfiles = !ls\nsoftmax?\nawait f()",
        "%%bash\nls (",
        "print('“ − \u00a0')  # ‘’",
        "s = '''\n<<<<<<< HEAD\n'''",
        "",
    ],
)
def test_of_a_cell_that_runs_nothing_is_told(source: str) -> None:
    assert unparsed(source) is None


def test_a_long_line_is_cut_around_the_place_and_a_long_cell_is_not_tried_for_long() -> None:
    found = unparsed(f"x = [{'1, ' * 100}2 3, {'4, ' * 100}]")
    assert found is not None
    assert len(found.line) < 100
    assert "2▸ 3" in found.line
    found = unparsed("#" * LONGEST + "\nif x = 0:\n    pass")
    assert found is not None
    assert (found.slug, found.number) == ("not-python", 2)
