"""Reading code by its names: what an exercise is made of, and which cells others rely on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlab.calling import banned
from autograder.submission import lookups

CELL = 50_000
NAMES = lookups.HINTS | banned.NAMES["attention"]
ATTENTION = "def attention(Q, K, V):\n    return softmax(Q @ K.mT) @ V\n"


def program(*cells: str) -> list[lookups.Statement]:
    return [part for index, cell in enumerate(cells) for part in read(cell, index)]


def read(cell: str, index: int = 0) -> list[lookups.Statement]:
    """A cell's statements, none if it is not Python."""
    try:
        return lookups.statements(index, cell)
    except lookups.Unparsed:
        return []


def made_of(name: str, *cells: str) -> set[str]:
    return set(lookups.made_of(name, program(*cells))[0])


# what a function is made of ---------------------------------------------------------------------


def test_a_function_is_made_of_its_helpers_from_other_cells_and_no_others() -> None:
    cells = ["import math\nimport random", "def g(x): return math.exp(x)", "def f(x): return g(x)"]
    cells += ["def h(x): return f(x)", "print(f(1))"]
    assert made_of("f", *cells) == {"f", "g", "math"}


def test_a_helper_defined_after_the_function_is_one() -> None:
    assert made_of("f", "def f(x): return g(x)", "def g(x): return h(x)") == {"f", "g", "h"}


def test_the_last_definition_counts_and_earlier_ones_do_not() -> None:
    assert made_of("f", "def f(x): return h(x)", "def f(x): return g(x)") == {"f", "g"}


def test_a_value_at_definition_is_part_of_it() -> None:
    assert made_of("f", "scale = a", "def f(x, s=scale): return x", "scale = b") == {
        "f",
        "scale",
        "a",
        "b",
    }


def test_a_definition_under_a_condition_leaves_the_one_before() -> None:
    cells = ["def f(x): return g(x)", "if True:\n    def f(x): return h(x)"]
    assert made_of("f", *cells) == {"f", "g", "h"}


@pytest.mark.parametrize(
    "change", ["g.scale = h", "g[0] = h", "g += h", "for g in (1, h): pass", "@h\ndef g(): pass"]
)
def test_what_changes_a_helper_is_part_of_it(change: str) -> None:
    assert "h" in made_of("f", "g = make()", change, "def f(x): return g(x)")


def test_a_global_statement_in_another_function_is_part_of_it() -> None:
    assert "h" in made_of("f", "def f(x): return g(x)", "def put():\n    global g\n    g = h")


def test_local_variables_are_no_part_of_it() -> None:
    cells = ["scores = secret", "def f(x):\n    scores = [y for y in x]\n    return scores"]
    assert made_of("f", *cells) == {"f"}


# magics -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "magic",
    [
        "%matplotlib inline",
        "%%time",
        "!ls -l",
        "files = !ls -l",
        "where = %pwd",
        "?len",
        "len?",
        "  %load_ext autoreload",
        "%%capture x",
    ],
)
def test_cell_with_a_magic_is_read_all_the_same(magic: str) -> None:
    assert made_of("f", f"{magic}\ndef f(x):\n    return g(x)  # is it?\n") == {"f", "g"}


@pytest.mark.parametrize("magic", ["%time", "%%time", "%prun -l 5", "%timeit -n 10 -r3"])
def test_code_that_a_magic_times_is_read(magic: str) -> None:
    assert made_of("f", f"{magic} f = g") == {"f", "g"}


def test_question_in_a_comment_is_no_magic() -> None:
    cell = "%matplotlib inline\nx = g(1)  # is it right?"
    assert lookups.free_names(cell, lookups.statements(0, cell)) == {"g"}


@pytest.mark.parametrize("source", ["/print BOOKS", ";print BOOKS", "  x = 1\n y = BOOKS"])
def test_every_word_of_what_only_ipython_may_read_counts_as_looked_up(source: str) -> None:
    with pytest.raises(lookups.Unparsed):
        lookups.statements(0, source)
    assert "BOOKS" in lookups.free_names(source, [])


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("books[-1] if 'books' in globals() else 0", {"books"}),
        ('assert "BOOKS" not in dir()', {"BOOKS"}),
        ("'x' in globals() and globals()['x']", {"x", "globals"}),
        ("'x' in globals()['y']", {"globals"}),
        ("print('it''x' in vars())", {"x", "print"}),
    ],
)
def test_who_asks_whether_a_name_is_there_looks_up_that_name(source: str, names: set[str]) -> None:
    assert lookups.free_names(source, lookups.statements(0, source)) == names


@pytest.mark.parametrize(
    "source",
    ["# Is BOOKS 100% right?", "I lost my BOOKS :(", "%%capture\nmy BOOKS", "%pip install BOOKS"],
)
def test_what_cannot_be_run_looks_nothing_up(source: str) -> None:
    assert read(source) == []
    assert lookups.free_names(source, []) == frozenset()


# What a person might look at ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        "def attention(q, k, v): return F.scaled_dot_product_attention(q, k, v)",
        "from torch.nn.functional import scaled_dot_product_attention as mine",
        "class A(nn.MultiheadAttention): pass",
        "%time torch.nn.attention.flex_attention.flex_attention(q, k, v)",
        "import sys\nframe = sys._getframe()",
        "import ctypes as c",
        "from inspect import currentframe",
    ],
)
def test_a_name_of_the_short_list_is_seen(source: str) -> None:
    assert lookups.hint(source, NAMES)


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
    assert lookups.hint(source, NAMES) == ""


@pytest.mark.parametrize(
    "source", ["%%bash\necho 'hi", "\n%%html\n<p>", "%%javascript\nalert(1", "%%latex\n\\frac{"]
)
def test_a_cell_in_another_language_holds_no_code(source: str) -> None:
    assert lookups.statements(0, source) == []
    assert lookups.free_names(source, []) == frozenset()


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


@given(st.text(st.sampled_from("abf=()[]:., \n\t\\\"'#@%!?;*lambda{}0"), max_size=60))
def test_any_text_is_read_without_an_error(text: str) -> None:
    parts = read(text)
    lookups.made_of("f", parts)
    lookups.hint(text, NAMES)
    lookups.free_names(text, parts)


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
    if given_up:
        with pytest.raises(lookups.TooLong):
            lookups.statements(0, source)
    else:
        lookups.made_of("f", read(source) * 10)
        lookups.hint(source, NAMES)


def test_a_long_chain_of_names_is_followed() -> None:
    lines = [f"x{i + 1} = x{i}" for i in range(4000)]
    cells = ["\n".join(lines[start : start + 800]) for start in range(0, 4000, 800)]
    assert len(made_of("x4000", *cells)) == 4001


def test_a_name_that_is_changed_again_and_again_is_given_up() -> None:
    parts = program(*["\n".join(f"x[{i}] = x" for i in range(800))] * 5)
    with pytest.raises(lookups.TooLong):
        lookups.made_of("x", parts)
    with pytest.raises(lookups.TooLong):
        lookups.relied_on(parts, {4}, [])


# cells that other cells rely on ------------------------------------------------------------------


def relied_on(cells: list[str], theirs: set[int], **checks: int) -> set[int]:
    """`checks`: names, and before which cell each is looked up."""
    asked = [(name, len(program(*cells[:before]))) for name, before in checks.items()]
    return lookups.relied_on(program(*cells), theirs, asked)


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


def test_names_are_looked_up_where_they_are_checked() -> None:
    cells = ["def f(x): return x", "y = 1"]
    assert relied_on(cells, {1}, f=2) == {0}
    assert relied_on([*cells, "f = None"], {1}, f=2) == {0}


def test_what_another_check_calls_counts_there_too() -> None:
    cells = ["d = 1", "def f(x): return x / d", "d = 2", "def g(x): return x"]
    assert relied_on(cells, {1, 3}, f=2, g=4) == {0}  # nothing calls f after its check
    cells[3] = "def g(x): return f(x)"
    assert relied_on(cells, {1, 3}, f=2, g=4) == {0, 2}
    cells[3] = "h = [f]\ndef g(x): return h[0](x)"
    assert relied_on(cells, {1, 3}, f=2, g=4) == {0, 2}


def test_a_name_without_a_value_where_its_function_is_checked_is_looked_for_later() -> None:
    cells = ["KEPT = []", "@KEPT.append\ndef f(x): return x / d", "d = 2", "def g(x): return x"]
    assert relied_on(cells, {1, 3}, f=2, g=4) == {0, 2}
