"""What honest learners do to a notebook besides answering: each habit is one function.

A habit may cost points, as shadowing `sum` does; none is an attempt to get any.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable
from dataclasses import dataclass

from nbformat.v4 import new_markdown_cell, new_raw_cell

from .draft import Draft, is_demonstration, is_exercise, name_of

Do = Callable[[Draft], None]
EVERY = ("pure", "numpy", "torch")


@dataclass(frozen=True, slots=True)
class Habit:
    """Something that learners do, in the lessons of some stages.

    Attributes:
        breaks_nbgrader: whether `nbgrader autograde` (0.9.6) stops at such a notebook, and leaves
            the rest of the class ungraded.
    """

    name: str
    stages: tuple[str, ...]
    do: Do
    breaks_nbgrader: bool = False


HABITS: list[Habit] = []


def habit(*stages: str, breaks_nbgrader: bool = False) -> Callable[[Do], Do]:
    def file(do: Do) -> Do:
        name = do.__name__.replace("_", " ")
        HABITS.append(Habit(name, stages or EVERY, do, breaks_nbgrader))
        return do

    return file


def habits_for(stage: str) -> list[Habit]:
    return [each for each in HABITS if stage in each.stages]


# More cells ------------------------------------------------------------------------------------


@habit()
def extra_cells(draft: Draft) -> None:
    draft.anywhere("a = 3\nb = 4\n(a * a + b * b) ** 0.5", "scratch = [n**2 for n in range(10)]")
    draft.anywhere("scratch[-1] if 'scratch' in globals() else 'not yet'")
    draft.anywhere("", "   \n")


@habit()
def extra_prints(draft: Draft) -> None:
    name = draft.written()
    _at_the_top_of(draft, name, f'print("{name} is called")')
    draft.after(name, f'print("defined:", {name}.__name__)', f"print({name})")


@habit()
def prints_to_stderr(draft: Draft) -> None:
    draft.anywhere('import sys\n\nprint("to stderr", file=sys.stderr)')
    name = draft.written()
    _at_the_top_of(draft, name, 'import sys; print("called", file=sys.stderr)')


@habit()
def warns_inside(draft: Draft) -> None:
    _at_the_top_of(draft, draft.written(), 'import warnings; warnings.warn("called", stacklevel=2)')


@habit()
def plots(draft: Draft) -> None:
    draft.anywhere(
        "import matplotlib.pyplot as plt\n\n"
        "fig, ax = plt.subplots(figsize=(4, 2))\n"
        'ax.plot([1, 2, 3], [1, 4, 9], label="squares")\n'
        "ax.set_xlabel('n')\nax.legend()\nplt.show()"
    )
    draft.append("plt.imshow([[0, 1], [1, 0]], cmap='viridis')\nplt.colorbar()\nplt.title('mine');")


@habit("pure")
def plots_with_numpy(draft: Draft) -> None:
    draft.append(
        "import numpy as np\nimport matplotlib.pyplot as plt\n\n"
        "xs = np.linspace(-3, 3, 50)\nplt.plot(xs, np.exp(xs));"
    )


@habit()
def asserts_that_pass(draft: Draft) -> None:
    name = draft.choose()
    draft.after(f"{name}-check", f"assert callable({name})\nassert 1 + 1 == 2, 'maths'")


@habit()
def asserts_that_fail(draft: Draft) -> None:
    name = draft.choose()
    draft.before(f"{name}-check", f"assert {name} is None, 'I expected something else'")


@habit()
def assert_that_fails_in_the_exercise_cell(draft: Draft) -> None:
    _below(draft, draft.written(), 'assert 2 + 2 == 5, "my own test is wrong"')


@habit()
def cells_that_raise(draft: Draft) -> None:
    draft.anywhere("1 / 0")
    draft.anywhere("undefined_name + 1")
    draft.anywhere("def broken(:\n    pass")


@habit()
def asks_for_input(draft: Draft) -> None:
    draft.anywhere('name = input("Your name? ")\nprint("Hello", name)')


@habit()
def classes_of_their_own(draft: Draft) -> None:
    draft.anywhere(
        "from dataclasses import dataclass\n\n\n@dataclass(frozen=True)\nclass Book:\n"
        "    spine: str\n    pages: int = 0\n\n\nBook('seas', 12)"
    )


@habit()
def type_hints_and_generators(draft: Draft) -> None:
    draft.anywhere(
        "from __future__ import annotations\n\nfrom collections.abc import Iterator\n\n\n"
        "def countdown(n: int | None = 3) -> Iterator[int]:\n"
        "    while n:\n        yield n\n        n -= 1\n\n\nlist(countdown())"
    )


@habit()
def modern_syntax(draft: Draft) -> None:
    draft.anywhere(
        'match [1, 2]:\n    case [first, *_] if (n := first) > 0:\n        print(f"{n = }")\n'
        "    case _:\n        pass"
    )


@habit()
def awaits_at_the_top(draft: Draft) -> None:
    draft.anywhere(
        "import asyncio\n\nawait asyncio.sleep(0)\n\n\nasync def later(x):\n"
        "    await asyncio.sleep(0)\n    return x\n\n\nawait later(3)"
    )
    name = draft.written()
    _below(draft, name, "import asyncio\nawait asyncio.sleep(0)")


@habit()
def main_guard(draft: Draft) -> None:
    name = draft.written()
    _below(draft, name, f'if __name__ == "__main__":\n    print("testing {name}")')


@habit()
def uses_history(draft: Draft) -> None:
    draft.append("6 * 7", "_ + 1", "print(len(In) > 3, bool(Out))", "dir()[:3]")


@habit()
def asks_for_help(draft: Draft) -> None:
    name = draft.written()
    draft.after(
        name,
        f"?{name}",
        f"{name}??",
        f"help({name})",
        f"import inspect\n\ninspect.signature({name})",
    )


@habit()
def displays_things(draft: Draft) -> None:
    draft.anywhere(
        "from IPython.display import HTML, Markdown, display\n\n"
        'display(Markdown("**mine**"))\ndisplay(HTML("<b>mine</b>"), {"a": 1})'
    )


@habit()
def writes_and_reads_a_file(draft: Draft) -> None:
    draft.anywhere(
        'from pathlib import Path\n\nwith open("notes.txt", "w") as file:\n'
        '    file.write("softmax over keys")\nprint(Path("notes.txt").read_text())'
    )


@habit()
def imports_what_is_not_installed(draft: Draft) -> None:
    draft.anywhere("import seaborn as sns\nsns.set_theme()")


@habit()
def standard_library_tour(draft: Draft) -> None:
    draft.anywhere(
        "import collections, datetime, decimal, itertools, json, os, re, string, sys, time\n"
        "print(sys.version_info >= (3, 11), os.path.join('a', 'b'))\ntime.sleep(0.05)\n"
        "json.dumps({'counts': collections.Counter('attention')})"
    )


@habit()
def starts_a_thread(draft: Draft) -> None:
    draft.anywhere(
        "import threading\n\nthread = threading.Thread(target=print, args=('from a thread',))\n"
        "thread.start()\nthread.join()"
    )


# Helpers and names -----------------------------------------------------------------------------


@habit()
def constants_in_other_cells(draft: Draft) -> None:
    name = draft.written()
    draft.before(name, "DEBUG = True\nCALLS = 0")
    _at_the_top_of(draft, name, "global CALLS; CALLS += 1 if DEBUG else 0")
    draft.append("CALLS >= 0")


@habit()
def helper_after_the_exercise(draft: Draft) -> None:
    name = draft.written()
    _at_the_top_of(draft, name, "note_a_call()")
    draft.after(name, "calls = []\n\n\ndef note_a_call():\n    calls.append(len(calls))")


@habit()
def helper_after_the_check(draft: Draft) -> None:
    name = draft.written()
    _at_the_top_of(draft, name, "defined_too_late()")
    draft.after(f"{name}-check", "def defined_too_late():\n    pass")


@habit()
def shadows_a_builtin(draft: Draft) -> None:
    shadow = draft.rng.choice(
        ["sum = 0\nfor n in range(4):\n    sum += n\nsum", "max = 3", "list = [1, 2]"]
    )
    draft.anywhere(shadow)


@habit()
def redefines_it_below(draft: Draft) -> None:
    name = draft.choose()
    draft.after(
        f"{name}-check",
        f"# break it on purpose\ndef {name}(*args, **kwargs):\n    return None",
    )


@habit()
def defines_it_again_above_the_check(draft: Draft) -> None:
    name = draft.choose()
    draft.before(f"{name}-check", draft.cell(name).source)


@habit()
def writes_it_under_another_name(draft: Draft) -> None:
    name = draft.written()
    cell = draft.cell(name)
    cell.source = re.sub(rf"\b(def|class) {name}\b", rf"\1 my_{name}", cell.source)
    cell.source += f"\n\n\n{name} = my_{name}"


@habit()
def saves_a_lambda(draft: Draft) -> None:
    draft.anywhere("square = lambda x: x * x\nsorted([3, -1, 2], key=square)")


@habit()
def wraps_it_in_a_lambda(draft: Draft) -> None:
    name = draft.written()
    _below(draft, name, f"_inner_{name} = {name}\n{name} = lambda *a, **k: _inner_{name}(*a, **k)")


@habit()
def decorates_and_keeps_the_name(draft: Draft) -> None:
    name = draft.written()
    _decorate(draft, name, "@functools.wraps(function)")


@habit()
def decorates_and_loses_the_name(draft: Draft) -> None:
    _decorate(draft, draft.written(), "# looks like the function, but is called logged")


@habit()
def deletes_a_name(draft: Draft) -> None:
    draft.append("temporary = 1\ndel temporary", f"del {draft.choose()}")


@habit()
def resets_at_the_end(draft: Draft) -> None:
    draft.append("%reset -f")


@habit()
def seeds_the_random_numbers(draft: Draft) -> None:
    sources = {
        "pure": "import random\n\nrandom.seed(0)\nrandom.random()",
        "numpy": "np.random.seed(0)\nnp.set_printoptions(precision=2)\nnp.random.rand(2)",
        "torch": "torch.manual_seed(0)\ntorch.set_printoptions(precision=2)\ntorch.rand(2)",
    }
    draft.after("setup", sources[draft.stage])


@habit()
def silences_warnings(draft: Draft) -> None:
    draft.after("setup", 'import warnings\n\nwarnings.filterwarnings("ignore")')


@habit()
def turns_warnings_into_errors(draft: Draft) -> None:
    draft.after("setup", 'import warnings\n\nwarnings.simplefilter("error")')


@habit()
def logs(draft: Draft) -> None:
    draft.after("setup", "import logging\n\nlog = logging.getLogger('mine')")
    _at_the_top_of(draft, draft.written(), 'log.warning("called")')


# Imports ---------------------------------------------------------------------------------------


@habit("numpy")
def star_import_of_numpy(draft: Draft) -> None:
    draft.after("setup", "from numpy import *")


@habit("torch")
def star_import_of_torch(draft: Draft) -> None:
    draft.after("setup", "from torch import *")


@habit("pure")
def star_import_of_math(draft: Draft) -> None:
    draft.after("setup", "from math import *")


@habit()
def aliases(draft: Draft) -> None:
    libraries = {
        "pure": "",
        "numpy": "\nimport numpy\nimport numpy.linalg as la",
        "torch": "\nimport torch as t, torch.nn as nn\nimport torch.nn.functional as TF",
    }
    name = draft.written()
    draft.before(name, f"import math as m, random as r{libraries[draft.stage]}")
    cell = draft.cell(name)
    cell.source = f"import math\nimport time as clock\n{cell.source}"


@habit("torch")
def uses_numpy_in_a_torch_lesson(draft: Draft) -> None:
    draft.anywhere("import numpy as np\n\nnp.asarray(torch.arange(3)).sum()")


# Their own comparisons -------------------------------------------------------------------------

COMPARISON = """\
import torch
import torch.nn.functional as F

_q, _k, _v = (torch.randn(2, 3, 4) for _ in range(3))
_fused = F.scaled_dot_product_attention(_q, _k, _v, is_causal=True)
print("PyTorch's own:", _fused.shape, _fused.isnan().any().item())"""


@habit("torch")
def compares_with_sdpa_in_another_cell(draft: Draft) -> None:
    draft.anywhere(COMPARISON)


@habit("torch")
def compares_with_sdpa_below_the_function(draft: Draft) -> None:
    _below(draft, draft.written(), COMPARISON)


@habit("torch")
def compares_with_sdpa_in_a_test_function(draft: Draft) -> None:
    name = draft.written()
    test = "def test_mine():\n    " + COMPARISON.replace("\n", "\n    ")
    _below(draft, name, f"{test}\n\n\ntest_mine()")


@habit("torch")
def mentions_sdpa_in_a_comment(draft: Draft) -> None:
    _at_the_top_of(draft, draft.written(), "# like F.scaled_dot_product_attention, written out")


@habit("torch")
def float64_everywhere(draft: Draft) -> None:
    draft.after("setup", "torch.set_default_dtype(torch.float64)")


@habit("torch")
def modules_and_gradients(draft: Draft) -> None:
    draft.anywhere(
        "x = torch.randn(3, requires_grad=True)\nx.pow(2).sum().backward()\nx.grad",
        "layer = torch.nn.Linear(3, 2)\nlayer(torch.ones(1, 3))",
    )


@habit("numpy")
def strict_floating_point(draft: Draft) -> None:
    draft.after("setup", "old = np.seterr(all='raise')")


@habit("numpy")
def quiet_floating_point(draft: Draft) -> None:
    draft.after("setup", "np.seterr(all='ignore');")


# Magics ----------------------------------------------------------------------------------------


@habit()
def line_magics(draft: Draft) -> None:
    draft.before("setup", "%matplotlib inline", "%load_ext autoreload\n%autoreload 2")
    draft.append("%timeit -n 2 -r 2 sum(range(10))", "%who", "%pwd")
    draft.append("%config InlineBackend.figure_format = 'retina'\n%time total = sum(range(10))")


@habit()
def cell_magics(draft: Draft) -> None:
    draft.anywhere(
        "%%time\nn = sum(range(1000))", "%%capture said\nprint('hidden')", "n, said.stdout"
    )
    draft.anywhere("%%html\n<i>mine</i>", "%%timeit -n 2 -r 2\nsum(range(10))")


@habit()
def times_the_exercise_cell(draft: Draft) -> None:
    cell = draft.cell(draft.choose())
    cell.source = f"%%time\n{cell.source}"


@habit()
def captures_the_exercise_cell(draft: Draft) -> None:
    cell = draft.cell(draft.choose())
    cell.source = f"%%capture\n{cell.source}"


@habit()
def magic_inside_the_exercise_cell(draft: Draft) -> None:
    name = draft.choose()
    cell = draft.cell(name)
    cell.source = f"%matplotlib inline\nhelp(len)\n{cell.source}\n\n%time print('defined')"


@habit()
def shell_commands(draft: Draft) -> None:
    draft.anywhere("!ls", "files = !echo one two\nprint(files)", "!pwd && echo $HOME")
    draft.anywhere("%%bash\necho hello")


@habit()
def unknown_magic(draft: Draft) -> None:
    draft.anywhere("%no_such_magic 3", "%%no_such_cell_magic\nx = 1")


# How it is written -----------------------------------------------------------------------------


@habit()
def comments_in_many_scripts(draft: Draft) -> None:
    name = draft.written()
    _at_the_top_of(draft, name, "# £5 · naïve · 注意力 · שלום · مرحبا · 🙂🏳️‍🌈 · \u202eabc\u202c")
    draft.anywhere("größe, π, 值 = 1, 3.14, 'ключ'\nprint(größe, π, 值, '🙂')")


@habit()
def windows_line_ends(draft: Draft) -> None:
    for cell in draft.cells:
        if is_exercise(cell) or not name_of(cell):
            cell.source = cell.source.replace("\n", "\r\n")


@habit()
def tabs(draft: Draft) -> None:
    for name in draft.exercises:
        lines = draft.cell(name).source.splitlines()
        draft.cell(name).source = "\n".join(
            re.sub(r"^(?: {4})+", lambda spaces: "\t" * (len(spaces[0]) // 4), line)
            for line in lines
        )


@habit()
def very_long_cell(draft: Draft) -> None:
    cell = draft.cell(draft.choose())
    cell.source += "\n" + "\n".join(
        f"# thought {n}: is it the row or the column?" for n in range(2000)
    )


@habit()
def trailing_blanks(draft: Draft) -> None:
    for name in draft.exercises:
        cell = draft.cell(name)
        cell.source = "\n\n" + cell.source.replace("\n", "   \n") + "\n\n\n"


@habit()
def keeps_the_first_try_commented_out(draft: Draft) -> None:
    cell = draft.cell(draft.choose())
    first_try = "\n".join(f"# {line}" for line in cell.source.splitlines())
    cell.source = f"# first try, did not work\n{first_try}\n\n{cell.source}"


@habit()
def two_versions_in_one_cell(draft: Draft) -> None:
    name = draft.written()
    cell = draft.cell(name)
    cell.source = f"def {name}(*args):\n    return 'first try'\n\n\n{cell.source}"


@habit()
def semicolons_and_last_values(draft: Draft) -> None:
    name = draft.written()
    _below(draft, name, f"x = 1; y = 2;\n{name}.__doc__")


# What happens to cells -------------------------------------------------------------------------


@habit()
def moves_markdown(draft: Draft) -> None:
    prose = [i for i, cell in enumerate(draft.cells) if cell.cell_type == "markdown"]
    chosen = draft.rng.sample(prose, min(6, len(prose)))
    moved = [draft.cells[i] for i in chosen]
    draft.rng.shuffle(moved)
    for i, cell in zip(chosen, moved, strict=True):
        draft.cells[i] = cell


@habit()
def deletes_markdown(draft: Draft) -> None:
    draft.notebook.cells = [
        cell for cell in draft.cells if cell.cell_type != "markdown" or draft.rng.random() < 0.5
    ]


@habit()
def takes_notes(draft: Draft) -> None:
    place = draft.rng.randrange(1, len(draft.cells))
    note = new_markdown_cell("My notes: $softmax(QK^T)$\n\n- keys ask?\n- no, queries ask ☝️")
    draft.cells[place:place] = [note, new_raw_cell("raw text, not run")]
    for i, cell in enumerate((note, draft.cells[place + 1])):
        cell["id"] = f"note-{place}-{i}"


@habit(breaks_nbgrader=True)
def copies_an_answered_cell(draft: Draft) -> None:
    """Copy and paste keeps nbgrader's name, and two cells have it.

    nbgrader means the last one to count, and takes the others' settings for an old version's.
    """
    name = draft.choose()
    place = draft.place_of(name)
    twin = copy.deepcopy(draft.cells[place])
    twin["id"] = f"{draft.rng.getrandbits(32):08x}"
    draft.cells.insert(place + 1, twin)


@habit(breaks_nbgrader=True)
def copies_a_check(draft: Draft) -> None:
    name = draft.choose()
    place = draft.place_of(f"{name}-check")
    twin = copy.deepcopy(draft.cells[place])
    twin["id"] = f"{draft.rng.getrandbits(32):08x}"
    draft.cells.append(twin)


@habit()
def checks_again_in_cells_of_their_own(draft: Draft) -> None:
    name = draft.written()
    draft.after(name, f"check({name})", f"result = check({name})\nresult", "check.inputs")


@habit()
def edits_a_check(draft: Draft) -> None:
    name = draft.choose()
    draft.cell(f"{name}-check").source = f"# does it work now?\ncheck({name})\nprint('checked')"


@habit()
def deletes_demonstrations(draft: Draft) -> None:
    shown = [cell for cell in draft.cells if is_demonstration(cell)]
    for cell in draft.rng.sample(shown, min(3, len(shown))):
        draft.cells.remove(cell)


@habit()
def edits_demonstrations(draft: Draft) -> None:
    shown = [cell for cell in draft.cells if is_demonstration(cell)]
    for cell in draft.rng.sample(shown, min(2, len(shown))):
        cell.source = f"print('what if')\n{cell.source}"


@habit()
def splits_the_exercise_cell(draft: Draft) -> None:
    """The second half is a cell of its own, without nbgrader's name."""
    name = draft.written()
    draft.after(name, f"# continued\n{name}_again = {name}")


@habit()
def works_at_the_bottom(draft: Draft) -> None:
    """Written at the end of the notebook, below its check: too late to count."""
    name = draft.written()
    cell = draft.cell(name)
    draft.append(cell.source)
    cell.source = "# my answer is at the bottom"


@habit()
def moves_the_answer_below_the_check(draft: Draft) -> None:
    name = draft.choose()
    place, check = draft.place_of(name), draft.place_of(f"{name}-check")
    draft.cells.insert(check, draft.cells.pop(place))


# Changing a cell -------------------------------------------------------------------------------


def _at_the_top_of(draft: Draft, name: str, line: str) -> None:
    """Put a line first in a function's body, or nowhere if the cell does not parse."""
    cell = draft.cell(name)
    body = _body_of(cell.source, name)
    if body is None:
        return
    lines = cell.source.splitlines()
    indent = " " * body.col_offset
    lines.insert(body.lineno - 1, f"{indent}{line}")
    cell.source = "\n".join(lines)


def _body_of(source: str, name: str) -> ast.stmt | None:
    """The first statement after the docstring of a function on lines of its own."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return None
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            first = node.body[1 if ast.get_docstring(node) and len(node.body) > 1 else 0]
            decorated = getattr(first, "decorator_list", [])
            alone = first.lineno > node.lineno and not decorated
            return first if alone else None
    return None


def _below(draft: Draft, name: str, lines: str) -> None:
    cell = draft.cell(name)
    cell.source = f"{cell.source}\n\n\n{lines}"


def _decorate(draft: Draft, name: str, line: str) -> None:
    cell = draft.cell(name)
    if not cell.source.startswith(f"def {name}"):
        return
    draft.before(
        name,
        "import functools\n\n\ndef logged(function):\n"
        f"    {line}\n    def logged(*args, **kwargs):\n"
        "        return function(*args, **kwargs)\n\n    return logged",
    )
    cell.source = f"@logged\n{cell.source}"
