"""Reading code by its names: what an exercise is made of, and which cells others rely on."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder import lookups

CELL = 50_000
ATTENTION = "def attention(Q, K, V):\n    return softmax(Q @ K.mT) @ V\n"


def program(*cells: str) -> list[lookups.Statement]:
    return [part for index, cell in enumerate(cells) for part in read(cell, index)]


def read(cell: str, index: int = 0) -> list[lookups.Statement]:
    """A cell's statements, none if it is not Python."""
    try:
        return lookups.statements(index, cell)
    except lookups.Unparsed:
        return []


def needed(name: str, *cells: str) -> list[str]:
    return [part.source for part in lookups.needed(name, program(*cells))]


# what a function is made of ---------------------------------------------------------------------


def test_function_needs_its_helpers_from_other_cells_and_no_others() -> None:
    cells = ["import math\nimport random", "def g(x): return math.exp(x)", "def f(x): return g(x)"]
    cells += ["def h(x): return f(x)", "print(f(1))"]
    assert needed("f", *cells) == ["import math", cells[1], cells[2]]


def test_helper_defined_after_the_function_is_needed() -> None:
    cells = ["def f(x): return g(x)", "def g(x): return x"]
    assert needed("f", *cells) == cells


def test_last_definition_counts_and_earlier_ones_do_not() -> None:
    cells = ["def g(x): return 1", "def f(x): return 2", "def f(x): return g(x)", "def g(x): pass"]
    assert needed("f", *cells) == [cells[0], cells[2], cells[3]]


def test_value_at_definition_and_value_at_call_are_both_needed() -> None:
    cells = ["scale = 2", "def f(x, s=scale): return x", "scale = 3"]
    assert needed("f", *cells) == cells


def test_definition_under_a_condition_leaves_the_one_before_needed() -> None:
    cells = ["def f(x): return 1", "if True:\n    def f(x): return 2"]
    assert needed("f", *cells) == cells


@pytest.mark.parametrize(
    "change", ["g.scale = 2", "g[0] = 1", "g += 1", "for g in (1, 2): pass", "del g"]
)
def test_what_changes_a_helper_is_needed(change: str) -> None:
    found = needed("f", "g = make()", change, "def f(x): return g(x)")
    assert found == ["g = make()", change, "def f(x): return g(x)"]


@pytest.mark.parametrize("note", ["g: object", "f: object", "x: int"])
def test_an_annotation_alone_changes_nothing(note: str) -> None:
    cells = ["def g(x): return x", "def f(x): return g(x)"]
    assert needed("f", *cells, note) == cells


def test_global_statement_in_another_function_is_needed() -> None:
    cells = ["def f(x): return g(x)", "def put():\n    global g\n    g = len"]
    assert needed("f", *cells) == cells


def test_local_variables_need_nothing() -> None:
    cells = ["scores = secret", "def f(x):\n    scores = [y for y in x]\n    return scores"]
    assert needed("f", *cells) == [cells[1]]


def test_decorators_and_their_own_helpers_are_needed() -> None:
    cells = ["def twice(g): return g", "@twice\n@(lambda g: g)\ndef f(x):\n    return x"]
    assert needed("f", *cells) == cells


def test_source_of_each_statement_is_exact() -> None:
    cell = 'a = "é"; b = 2; c = """\nx\n"""\n@d\nclass e:\n    pass  # é\n'
    found = [part.source for part in lookups.statements(0, cell)]
    assert found == ['a = "é"', "b = 2", 'c = """\nx\n"""', "@d\nclass e:\n    pass"]


def test_function_that_is_nowhere_needs_nothing() -> None:
    assert needed("f", "def g(x): return x", "this is not Python") == []


# magics -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "magic",
    [
        "%matplotlib inline",
        "%%time",
        "!ls -l",
        "?len",
        "len?",
        "  %load_ext autoreload",
        "%%capture x",
    ],
)
def test_cell_with_a_magic_is_read_all_the_same(magic: str) -> None:
    cell = f"{magic}\ndef f(x):\n    return g(x)  # is it?\n"
    assert needed("f", "g = abs", cell) == ["g = abs", "def f(x):\n    return g(x)"]


@pytest.mark.parametrize("magic", ["%time", "%%time", "%prun -l 5", "%timeit -n 10 -r3"])
def test_code_that_a_magic_times_is_read(magic: str) -> None:
    assert needed("f", "g = abs", f"{magic} f = g") == ["g = abs", "f = g"]


def test_question_in_a_comment_is_no_magic() -> None:
    cell = "%matplotlib inline\nx = g(1)  # is it right?"
    assert lookups.free_names(cell, lookups.statements(0, cell)) == {"g"}


@pytest.mark.parametrize("source", ["files = !ls BOOKS", "/print BOOKS", "  x = 1\n y = BOOKS"])
def test_every_word_of_what_only_ipython_may_read_counts_as_looked_up(source: str) -> None:
    with pytest.raises(lookups.Unparsed):
        lookups.statements(0, source)
    assert "BOOKS" in lookups.free_names(source, [])


@pytest.mark.parametrize(
    "source",
    ["# Is BOOKS 100% right?", "I lost my BOOKS :(", "%%capture\nmy BOOKS", "%pip install BOOKS"],
)
def test_what_cannot_be_run_looks_nothing_up(source: str) -> None:
    assert read(source) == []
    assert lookups.free_names(source, []) == frozenset()


# PyTorch's own attention ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        "def attention(q, k, v): return F.scaled_dot_product_attention(q, k, v)",
        "from torch.nn.functional import scaled_dot_product_attention as mine",
        "class A(nn.MultiheadAttention): pass",
        "%time torch.nn.attention.flex_attention.flex_attention(q, k, v)",
    ],
)
def test_a_name_of_pytorchs_own_attention_is_seen(source: str) -> None:
    assert lookups.fused_name(source)


@pytest.mark.parametrize(
    "source",
    [
        ATTENTION,
        "def scaled_dot_product_attention(q, k, v): return q",
        "class A:\n    def f(self): return self.scaled_dot_product_attention()",
        "title = {'scaled_dot_product_attention': 1}  # F.scaled_dot_product_attention",
        "mask = nn.Transformer.generate_square_subsequent_mask(3)",
        "this is no Python",
    ],
)
def test_names_of_ones_own_text_and_comments_are_not(source: str) -> None:
    assert lookups.fused_name(source) == ""


# reaching out -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        "torch.allclose = lambda *a: True",
        "import sys",
        "from os import path",
        "globals()['f'] = 1",
        "setattr(math, 'exp', abs)",
        "random.seed(1)",
        "torch.set_default_dtype(d)",
        "del math.exp",
        "def g():\n    global x\n    x = 1",
        "__builtins__",
        "this is no Python",
    ],
)
def test_code_that_may_change_what_others_use_reaches_out(code: str) -> None:
    assert lookups.reaches_out(code)


@pytest.mark.parametrize(
    "code",
    [
        "",
        "# what is this?",
        ATTENTION,
        "import math",
        "x = [1]\nx[0] = 2",
        "%matplotlib inline",
        "class A(nn.Module):\n    def __init__(self):\n        self.W = 1",
        "print(f(1)); f(2)",
    ],
)
def test_ordinary_code_does_not_reach_out(code: str) -> None:
    assert not lookups.reaches_out(code)


# whatever comes ---------------------------------------------------------------------------------

UNREADABLE = {
    "nothing": "",
    "not Python": "def f(:",
    "NUL": "def f(x): return x\0",
    "deep parentheses": "(" * 5000 + ")" * 5000,
    "deep minus": "-" * 100_000 + "1",
    "deep attributes": "x" + ".attention" * 15_000,
    "deep attributes in a decorator": f"@x{'.y' * 15_000}\ndef f(x): return x",
    "deep lambdas": "lambda:" * 20_000 + "0",
    "deep indentation": "\n".join(" " * depth + "if 1:" for depth in range(200)),
    "nonlocal": "nonlocal f",
    "huge number": "x = " + "9" * 10_000,
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_code_that_cannot_be_read_has_no_statements(what: str) -> None:
    assert read(UNREADABLE[what]) == []
    lookups.reaches_out(UNREADABLE[what])


@given(st.text(st.sampled_from("abf=()[]:., \n\t\\\"'#@%!?;*lambda{}0"), max_size=60))
def test_any_text_is_read_without_an_error(text: str) -> None:
    parts = read(text)
    lookups.needed("f", parts)
    lookups.fused_name(text)
    lookups.free_names(text, parts)
    lookups.reaches_out(text)


SLOW = {
    "statements": ("a\n" * (CELL // 2), True),
    "methods": ("class f:\n" + "".join(f" def a{i}():0\n" for i in range(CELL // 16)), True),
    "functions": ("def f():\n" + "".join(f" def a{i}():0\n" for i in range(CELL // 16)), True),
    "lambdas": ("f=[" + ",".join(f"lambda a{i}:b{i}" for i in range(CELL // 20)) + "]", True),
    "blank lines": ("\n" * CELL, False),
    "question marks": ("?" * CELL, False),
    "percent signs": ("%" * CELL, False),
    "options": ("%time" + " -a" * (CELL // 3) + "\n(", False),
    "calls": (("f=x" + "(1)" * 800 + "\n") * 20, False),
    "attributes": (("f=x" + ".attention" * 800 + "\n") * 20, False),
    "targets": (",".join("x" + ".a" * 100 for _ in range(300)) + "=1", False),
}


@pytest.mark.parametrize("what", SLOW)
def test_code_that_would_take_long_to_read_is_read_quickly_or_given_up(what: str) -> None:
    """Each of these took minutes when reading grew with a square; this test then does."""
    source, given_up = SLOW[what]
    lookups.reaches_out(source)
    if given_up:
        with pytest.raises(lookups.TooLong):
            lookups.statements(0, source)
    else:
        lookups.needed("f", read(source) * 10)
        lookups.fused_name(source)


def test_a_long_chain_of_names_is_followed() -> None:
    lines = [f"x{i + 1} = x{i}" for i in range(4000)]
    cells = ["\n".join(lines[start : start + 800]) for start in range(0, 4000, 800)]
    assert needed("x4000", *cells) == lines


def test_a_name_that_is_changed_again_and_again_is_given_up() -> None:
    parts = program(*["\n".join(f"x[{i}] = x" for i in range(800))] * 5)
    with pytest.raises(lookups.TooLong):
        lookups.needed("x", parts)
    with pytest.raises(lookups.TooLong):
        lookups.relied_on(parts, {4}, [])


# cells that other cells rely on ------------------------------------------------------------------


def relied_on(cells: list[str], theirs: set[int], *names: str) -> set[int]:
    return lookups.relied_on(program(*cells), theirs, names)


def test_a_cell_that_gives_a_name_its_value_is_relied_on_and_no_other() -> None:
    cells = ["import math", "BOOKS = {}", "LENGTH = math.pi", "print(BOOKS)"]
    assert relied_on(cells, {3}) == {1}


def test_all_of_a_cell_that_is_relied_on_is_run_and_so_needs_its_own_names() -> None:
    cells = ["import math", "x = 1\ny = math.pi", "print(x)"]
    assert relied_on(cells, {2}) == {0, 1}


def test_a_name_that_was_given_a_value_before_it_is_used_relies_on_nothing() -> None:
    cells = ["name = 'key'", "name = input()\nprint(name)", "name = 'value'"]
    assert relied_on(cells, {1}) == set()
    assert relied_on([cells[0], "if today:\n    name = 1\nprint(name)"], {1}) == {0}


def test_a_function_relies_on_what_it_finds_when_it_is_called() -> None:
    cells = ["d = 1", "def f(x): return x / d", "d = 2"]
    assert relied_on(cells, {1}) == {0, 2}
    assert relied_on(["d = 1", "f = [x / d for x in range(3)]", "d = 2"], {1}) == {0}


def test_names_that_are_asked_for_at_the_end_are_looked_up_there() -> None:
    assert relied_on(["def f(x): return x", "y = 1"], {1}, "f") == {0}


def test_statements_add_up_to_their_cell() -> None:
    source = Path(__file__).read_text(encoding="utf-8")
    read = lookups.statements(0, source)
    assert all(part.source in source for part in read)
    gaps = source
    for part in read:
        gaps = gaps.replace(part.source, "", 1)
    assert {line[:1] for line in gaps.splitlines()} <= {"", "#"}
