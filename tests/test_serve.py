"""A learner's cells while they are graded: as in a notebook, but that nothing is drawn."""

from __future__ import annotations

import ast
import math
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from attnlab.calling.call import Call, Outcome
from attnlab.calling.observe import Scalar, Value, observe
from autograder.sandbox.child import serve
from autograder.sandbox.child.serve import CUT
from autograder.sandbox.child.wire import Ran
from autograder.sandbox.limits import Limits
from autograder.sandbox.link import Ended, Link, Requests
from autograder.sandbox.sandbox import Sandbox
from tests.until import until

SECONDS = 1.0  # for a cell, and for the calls of an exercise
LIMITS = Limits(cell_seconds=SECONDS, call_seconds=SECONDS, grace_seconds=0.5)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox("pure", LIMITS) as sandbox:
        yield sandbox


@pytest.fixture
def link(sandbox: Sandbox) -> Iterator[Link]:
    with sandbox.start() as child:
        yield Link(child, LIMITS)


Run = Callable[..., Ran]


@pytest.fixture
def run(link: Link) -> Run:
    """Run cells one after the other; what the last one did."""

    def run(*sources: str) -> Ran:
        for index, source in enumerate(sources):
            ran = link.run(f"<cell {index + 1}>", source, SECONDS)
        return ran

    return run


def with_args(*args: object) -> Call:
    return Call(tuple(observe(arg) for arg in args))


def call(link: Link, name: str, *args: object) -> Value:
    assert link.bind(name, SECONDS) == ""
    [outcome] = link.calls([with_args(*args)])
    assert outcome.raised is None
    assert outcome.returned is not None
    return outcome.returned


# a cell -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("1 + 1", "2"),
        ("1 + 1;", ""),
        ("x = 1", ""),
        ("x = 1\nx", "1"),
        ("None", ""),
        ("", ""),
        ("# nothing", ""),
        ("'é\\ud800'", "'é\\ud800'"),
        ("[1][0] # last", "1"),
    ],
)
def test_last_expression_is_shown(run: Run, source: str, shown: str) -> None:
    assert run(source) == Ran(None, "", shown, "")


def test_last_value_is_kept_under_a_dash(run: Run) -> None:
    assert run("6 * 7", "x = 1", "_ + 1").shown == "43"


def test_names_live_on_in_later_cells(run: Run) -> None:
    assert run("import math\ndef f(x): return math.sqrt(x)", "y = f(16)", "y").shown == "4.0"


def test_error_ends_its_cell_and_keeps_what_came_before(run: Run) -> None:
    ran = run("x = 1\nprint('before')\n1 / 0\nx = 2")
    assert (ran.printed, ran.stopped) == ("before\n", "")
    assert ran.raised is not None
    assert (ran.raised.name, ran.raised.line) == ("ZeroDivisionError", "1 / 0")
    assert run("x").shown == "1"


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("def f(:", "SyntaxError"),
        ("return 1", "SyntaxError"),
        ("x = '\0'", "SyntaxError"),
        ("exit()", "SystemExit"),
        ("quit(3)", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("input('name? ')", "EOFError"),
        ("import numpy", "ModuleNotFoundError"),
        ("import attnlab.lessons", "ModuleNotFoundError"),
        ("def f(): f()\nf()", "RecursionError"),
        ("class E(BaseException): pass\nraise E", "E"),
    ],
)
def test_errors_are_written_down_and_the_next_cell_runs(run: Run, source: str, name: str) -> None:
    raised = run(source).raised
    assert raised is not None
    assert raised.name == name
    assert run("1").shown == "1"


@pytest.mark.parametrize(
    "source",
    [
        "def f(:",
        "return 1",
        "x = '\0'",
        "if x:\ny",
        "if 1:\n        x = 1\n    y = 2",
        "if 1:\n    x = 1\n\ty = 2",
        "%%time\ndef f(:",
        "%time f(",
        "%%timeit\nreturn = 1",
        "exec('def f(:')",
        "%frobnicate",
        "%%frobnicate\nx",
        "get_ipython().run_line_magic('frobnicate', '')",
        "input()",
    ],
)
def test_no_line_of_the_course_s_own_is_told_as_a_learner_s(run: Run, source: str) -> None:
    raised = run(source).raised
    assert raised is not None
    assert not raised.line or raised.line in source


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("%frobnicate 1", "Line magic function `%frobnicate` not found."),
        ("%%frobnicate\nx = 1", "Cell magic `%%frobnicate` not found."),
    ],
)
def test_an_unknown_magic_ends_its_cell_as_in_ipython(run: Run, source: str, said: str) -> None:
    raised = run(source).raised
    assert raised is not None
    assert (raised.name.rpartition(".")[2], raised.message) == ("UsageError", said)
    assert run("%load_ext frob\n%frobnicate 1\n1").shown == "1"  # that may be the extension's


def test_every_magic_of_ipython_s_is_known() -> None:
    from ipykernel.zmqshell import KernelMagics
    from IPython.core.interactiveshell import InteractiveShell

    own = InteractiveShell().magics_manager.lsmagic()
    text = (Path(serve.__file__).parent / "stand_ins/IPython/__init__.py").read_text("utf-8")
    known = set(re.findall(r'"(.+?)"', text[text.index("MAGICS = (") : text.index("RUN_ONCE = ")]))
    assert {*own["line"], *own["cell"], *KernelMagics.magics["line"]} <= known


def test_nobody_is_asked_to_type(run: Run) -> None:
    raised = run("def f(): return input('name? ')", "f()").raised
    assert raised is not None
    assert "input() waits for somebody to type" in raised.message


def test_printed_text_and_warnings_are_kept_up_to_a_limit(run: Run) -> None:
    assert run("import sys\nprint('a')\nprint('b', file=sys.stderr)").printed == "a\nb\n"
    ran = run("for _ in range(3000): print('x' * 1000)\ny = 1", "print('x' * 10_001)\ny")
    assert (ran.stopped, ran.raised, ran.shown) == ("", None, "1")
    assert ran.printed == "x" * 10_000 + CUT
    assert run("while True: print('x' * 1000)").stopped == "time"


def test_endless_cell_is_stopped_and_the_next_one_runs(run: Run) -> None:
    assert run("while True:\n    try: pass\n    except BaseException: pass").stopped == "time"
    assert run("1").shown == "1"


INTERRUPTED = """
from attnlab.calling import deadline

deadline.AGAIN = 0.0003  # as often as it comes on a busy machine, which is late with all of them
def stubborn():
    limit = deadline.Deadline(0.001)
    try:
        with limit:
            while True:
                try: pass
                except BaseException: pass
    except deadline.Overrun:
        limit.release()
for _ in range(300):
    stubborn()
    sum(range(100))
"""


def test_nothing_is_interrupted_once_a_cell_has_been_stopped() -> None:
    subprocess.run([sys.executable, "-c", INTERRUPTED], check=True)


def test_cell_that_cannot_be_stopped_ends_its_child(link: Link) -> None:
    with pytest.raises(Ended) as ended:
        link.run("<cell 1>", "import itertools\nsum(itertools.repeat(0))", 0.2)
    assert ended.value.status == "TIMEOUT"


@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), 9)", "os.close(3)"])
def test_cell_that_ends_its_process_is_a_crash(link: Link, end: str) -> None:
    with pytest.raises(Ended) as ended:
        link.run("<cell 1>", f"import os\n{end}\nwhile True: pass", 5)
    assert ended.value.status == "CRASH"


# Python as in a notebook --------------------------------------------------------------------------


def test_main_guard_runs(run: Run) -> None:
    assert run("if __name__ == '__main__':\n    print('main')").printed == "main\n"


def test_top_level_await_works(run: Run) -> None:
    ran = run(
        "import asyncio", "async def f():\n    await asyncio.sleep(0)\n    return 5", "await f()"
    )
    assert (ran.raised, ran.shown) == (None, "5")


def test_dataclass_pickle_and_source_know_their_module(run: Run) -> None:
    ran = run(
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int = 1\ndef f(): pass",
        "import inspect, pickle\npickle.loads(pickle.dumps(P())), inspect.getsource(f)",
    )
    assert ran.shown == "(P(x=1), 'def f(): pass')"


def test_annotations_are_evaluated_as_in_a_notebook(run: Run) -> None:
    raised = run("def f(x: np.ndarray): return x").raised
    assert raised is not None
    assert raised.name == "NameError"
    assert run("def g(x: int): return x\ng.__annotations__['x'] is int").shown == "True"


def test_future_annotations_hold_for_the_cells_that_follow(run: Run) -> None:
    ran = run("from __future__ import annotations", "def f(x: np.ndarray): return x", "f(1)")
    assert ran.shown == "1"


def test_random_numbers_are_the_same_each_time(sandbox: Sandbox) -> None:
    shown = set()
    for _ in range(2):
        with sandbox.start() as child:
            shown.add(
                Link(child, LIMITS).run("<cell 1>", "import random\nrandom.random()", 1).shown
            )
    assert len(shown) == 1


# IPython ----------------------------------------------------------------------------------------

NAMES = "import builtins\nsorted({*globals(), *vars(builtins)})"
NOT_GIVEN = {"execfile", "runfile"}  # a debugger's own: they run a file


@pytest.mark.slow
def test_a_cell_has_the_names_of_a_plain_kernel(run: Run) -> None:
    cells = [new_code_cell(source) for source in ("1", NAMES)]
    NotebookClient(new_notebook(cells=cells), kernel_name="python3").execute()
    [output] = cells[1].outputs
    kernels = set(ast.literal_eval(output["data"]["text/plain"]))
    childs = set(ast.literal_eval(run("1", NAMES).shown))
    assert {"help", "display", "_i1", "_oh"} < kernels
    assert kernels - childs == NOT_GIVEN
    assert childs <= kernels


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("import math\nhelp(math.exp)", "e raised to the power of x"),
        ("class A:\n    'Of mine.'\nhelp(A)", "Of mine."),
        ("help('for')", 'The "for" statement'),
        ("help()", "help utility"),
        ("print(help, license)", "Type license() to see"),
        ("copyright", ""),
        ("__builtin__.help(len)", "number of items in a container"),
    ],
)
def test_help_is_printed_and_costs_nothing(run: Run, asked: str, told: str) -> None:
    ran = run(f"{asked}\n")
    assert (ran.raised, ran.stopped) == (None, "")
    assert told in ran.printed
    assert run("y = 42", "y").shown == "42"


def test_names_of_a_kernel_reach_a_learners_own_module(run: Run) -> None:
    ran = run("%%writefile shows.py\ndef f(): display(1), help(len)", "import shows\nshows.f()")
    assert ran.raised is None
    assert ran.printed.startswith("1\nHelp on built-in function len")


def test_what_was_typed_is_kept_as_in_a_notebook(run: Run) -> None:
    assert run("1", "2", "3", "_i, _ii, _iii, _i2, In[1], _ih[-1][:2]").shown == (
        "('3', '2', '1', '2', '1', '_i')"
    )
    assert run("_oh is Out, _dh[0].samefile('.')").shown == "(True, True)"


MAGICS = {
    "cell magic that times": "%%time\ny = 41 + 1",
    "line magic that times": "%time y = 42",
    "magic after code": "x = 42\n%time y = x",
    "magic that captures": "%%capture out\ny = 42",
    "magic that draws": "%matplotlib inline\ny = 42",
    "magic without meaning": "%config InlineBackend.figure_format = 'retina'\ny = 42",
    "magic inside a block": "if True:\n    %time y = 42",
    "shell command": "!ls -l /\ny = 42",
    "shell command that is kept": "files = !ls\ny = 42 + len(files)",
    "help": "y = 42\n?print",
    "help after": "y = 42\nprint??",
    "call of a magic": "get_ipython().run_line_magic('matplotlib', 'inline')\ny = 42",
    "prompt copied along": ">>> y = 42",
}


@pytest.mark.parametrize("what", MAGICS)
def test_magics_leave_the_code_around_them_alone(run: Run, what: str) -> None:
    ran = run(MAGICS[what])
    assert ran.raised is None
    assert run("y").shown == "42"


@pytest.mark.parametrize(
    "magic",
    [
        "%timeit count()",
        "%timeit -n 10 -r 3 count()",
        "%timeit -n1 -r1 count()",
        "%%timeit\ncount()",
        "%%timeit -n 10\ncount()",
        "%%timeit -n1 -r1 x = 1\ncount()",
    ],
)
def test_timed_code_runs_once(run: Run, magic: str) -> None:
    ran = run("calls = []\ndef count(): calls.append(1)", magic, "len(calls)")
    assert (ran.raised, ran.shown) == (None, "1")


@pytest.mark.parametrize(
    ("source", "then", "shown"),
    [
        ("r = %timeit -o -n 1 -r 1 sum([1])", "f'{r.best * 1e3:.1f}', r.average > 1", None),
        ("%%timeit -qo\nsum([1])", "_.best < _.worst", None),
        ("%timeit sum([1])", "_", "''"),
        ("y = %time sum([1])", "y", "1"),
        ("%%time\nx = 3\nx + 1", "_", "4"),
        ("%%capture out\nprint('a'); y = 2", "out.stdout, y, str(out), out.stderr", None),
        ("%%capture --no-stderr out\nprint('a')", "out.stdout.split(), out.outputs", None),
    ],
)
def test_magics_give_what_later_cells_ask_for(
    run: Run, source: str, then: str, shown: str | None
) -> None:
    ran = run(source)
    assert (ran.raised, ran.printed) == (None, "")
    ran = run(then)
    assert ran.raised is None
    assert shown in (None, ran.shown)


def test_captured_text_is_kept_and_can_be_shown(run: Run) -> None:
    source = "%%capture out\nimport sys\nprint('a')\nprint('b', file=sys.stderr)"
    assert run(source, "out.stdout, out.stderr").shown == "('a\\n', 'b\\n')"
    assert run("out.show()").printed == "a\nb\n"
    assert run("%%capture\nprint('a')\ny = 42") == Ran(None, "", "", "")


def test_cell_of_another_language_is_left_out(run: Run) -> None:
    assert run("%%bash\necho hello\nexit 1") == Ran(None, "", "", "")


SHOWING = {
    "display": "from IPython.display import display\ndisplay(1, 'a')",
    "display without import": "display(1, 'a')",
    "rich display": "from IPython.display import display, HTML, Markdown\n"
    "display(HTML('<b>'), 1, Markdown('x'), 'a')",
    "module": "import IPython\nIPython.display.display(1, 'a')",
    "cleared": "from IPython.display import clear_output\nclear_output(wait=True)\ndisplay(1, 'a')",
    "older place": "from IPython.core.display import HTML\ndisplay(1, 'a')",
    "all expressions": "from IPython.core.interactiveshell import InteractiveShell\n"
    "InteractiveShell.ast_node_interactivity = 'all'\ndisplay(1, 'a')",
}


@pytest.mark.parametrize("what", SHOWING)
def test_display_prints_values_and_no_pictures(run: Run, what: str) -> None:
    ran = run(SHOWING[what])
    assert (ran.raised, ran.printed) == (None, "1\n'a'\n")


# plots ------------------------------------------------------------------------------------------

PLT = "import matplotlib.pyplot as plt\n"
PLOTS = {
    "lines": "plt.plot([1, 2], label='a'); plt.legend(); plt.show()",
    "subplots": "fig, ax = plt.subplots(figsize=(3, 2))\nax.set(title='x')\nfig.tight_layout()",
    "row": "fig, (a, b, c) = plt.subplots(1, 3)\na.plot([1])",
    "column": "fig, axes = plt.subplots(3)\nassert len(axes) == 3\nfor ax in axes: ax.grid()",
    "grid": "fig, ((a, b), (c, d)) = plt.subplots(2, 2)\na.bar([1], [2])",
    "grid by index": "fig, axes = plt.subplots(2, 3)\naxes[1, 2].plot([1])\naxes[0][1].plot([2])",
    "flat": "fig, axes = plt.subplots(2, 3)\n"
    "assert len(list(axes.flat)) == len(axes.ravel()) == len(axes.flatten()) == 6",
    "unsqueezed": "fig, axes = plt.subplots(1, 1, squeeze=False)\n[[ax]] = axes",
    "with zip": "fig, axes = plt.subplots(1, 2)\nn = 0\n"
    "for ax, x in zip(axes, [1, 2]):\n    n += 1\nassert n == 2",
    "handles": "line, = plt.plot([1])\n[line] = plt.plot([1])\nline.set_data([1], [2])",
    "histogram": "counts, edges, bars = plt.hist([1, 2])",
    "limits": "low, high = plt.gca().get_ylim()\nif high > 3: pass\nplt.ylim(low, high * 1.1)",
    "image": "image = plt.imshow([[1]], cmap='viridis')\nplt.colorbar(image, ax=plt.gca())",
    "style": "with plt.style.context('ggplot'):\n    plt.plot([1])",
    "parameters": "plt.rcParams['figure.dpi'] = 90\nplt.rcParams.update({'font.size': 9})",
    "package": "import matplotlib as mpl\nmpl.rcParams['x'] = 1\nmpl.colormaps['x'](1)",
    "parts": "from matplotlib import cm, pyplot\nfig, axes = pyplot.subplots(2)\nlist(axes)[1]",
    "class": "from matplotlib.colors import Normalize\nfrom matplotlib.dates import *\nNormalize()",
    "text": "print(f'{plt.gca().get_ylim()[0]:.2f}')",
    "saved": "plt.savefig('x.png'); plt.close('all')",
}


@pytest.mark.parametrize("what", PLOTS)
def test_plots_of_every_kind_can_be_made(run: Run, what: str) -> None:
    assert run(PLT + PLOTS[what] + "\ndone = 1", "done") == Ran(None, "", "1", "")


LIBRARIES = {
    "line among bars": "from tqdm import tqdm\nfor i in tqdm([1]): tqdm.write('a')",
    "bars of a notebook": "import tqdm.notebook\nfor i in tqdm.notebook.tqdm([1]): print('a')",
    "bars by old names": "from tqdm import tnrange, tqdm_notebook\n"
    "for i in tqdm_notebook(tnrange(1)): print('a')",
    "axes in space": "from mpl_toolkits.mplot3d import Axes3D\nAxes3D(None)\nprint('a')",
    "axes beside axes": "import mpl_toolkits.axes_grid1 as grid\n"
    "grid.make_axes_locatable(1).append_axes('right', size='5%')\nprint('a')",
    "widgets": "import ipywidgets as widgets\nwidgets.VBox([widgets.IntSlider(value=3)])\n"
    "print('a')",
    "interaction": "from ipywidgets import interact, fixed\n@interact(x=(1, 3))\n"
    "def f(x): return 'a'\n@interact\ndef g(): print(f(1))\ninteract(f, x=fixed(1))\ng()",
}


@pytest.mark.parametrize("what", LIBRARIES)
def test_libraries_that_show_things_let_the_code_around_them_run(run: Run, what: str) -> None:
    assert run(LIBRARIES[what]) == Ran(None, "a\n", "", "")


def test_the_course_has_a_version(run: Run) -> None:
    assert run("import attnlab", "attnlab.__version__").shown == "'0+graded'"


def test_figures_are_not_drawn_and_say_so(run: Run) -> None:
    ran = run("from attnlab import begin, check, figures", "figures.soft_lookup.shelf(1, [2])")
    assert ran.shown == "(not drawn while grading)"


def test_lesson_begins_and_own_checks_show_no_number(run: Run) -> None:
    ran = run("from attnlab import begin, check\nbegin('01-soft-lookup')", "check(len)")
    assert ran.shown == "(checked where its exercise stands)"


# calls ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        "def f(x): return x + 1",
        "f = lambda x: x + 1",
        "from functools import partial\nf = partial(int.__add__, 1)",
        "class F:\n    def __call__(self, x): return x + 1\nf = F()",
        "def twice(g): return lambda x: g(x)\n@twice\ndef f(x): return x + 1",
        "from functools import lru_cache\n@lru_cache\ndef f(x): return x + 1",
        "f = (1).__add__",
        "class f(int):\n    def __new__(cls, x): return x + 1",
    ],
)
def test_whatever_can_be_called_is_called(link: Link, run: Run, source: str) -> None:
    run(source)
    assert call(link, "f", 1) == Scalar("int", 2)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("", "nothing"),
        ("f = 5", "an int (5)"),
        ("f = [1]", "a list of 1 ints"),
        ("f = None", "None"),
    ],
)
def test_what_is_no_function_is_called_what_it_is(
    link: Link, run: Run, source: str, said: str
) -> None:
    run(source)
    assert link.bind("f", SECONDS) == said


def test_function_stays_as_it_was_when_it_was_bound(link: Link, run: Run) -> None:
    run("def f(): return 1")
    assert call(link, "f") == Scalar("int", 1)
    run("def f(): return 2")
    [outcome] = link.calls([with_args()])
    assert outcome.returned == Scalar("int", 1)


def returned(outcomes: Iterable[Outcome]) -> list[Value | None]:
    return [outcome.returned for outcome in outcomes]


def test_calls_that_travel_together_are_answered_one_by_one_in_order(link: Link, run: Run) -> None:
    run("seen = []\ndef f(x):\n    seen.append(x)\n    return len(seen), x")
    assert link.bind("f", SECONDS) == ""
    outcomes = returned(link.calls([with_args(x) for x in "abcd"]))
    assert outcomes == [observe(pair) for pair in zip(range(1, 5), "abcd", strict=True)]


def test_no_call_sees_what_another_did_to_the_same_input(link: Link, run: Run) -> None:
    run("def f(x):\n    x.append(0.0)\n    return len(x)")
    assert link.bind("f", SECONDS) == ""
    same = with_args([1.0, 2.0])
    outcomes = list(link.calls([same, same, same]))
    assert returned(outcomes) == [Scalar("int", 3)] * 3
    assert [outcome.after for outcome in outcomes] == [(observe([1.0, 2.0, 0.0]),)] * 3


def test_inputs_that_stay_are_given_back_as_they_were_sent(link: Link, run: Run) -> None:
    run("def f(*args):\n    args[-1][0] = -args[-1][0]")
    assert link.bind("f", SECONDS) == ""
    call = with_args([[1.5, -0.0], (2.5,)], math.nan, [3.0])
    [outcome] = link.calls([call])
    assert outcome.after[:-1] == call.args[:-1]
    assert outcome.after[-1] == observe([-3.0])


@pytest.mark.parametrize(
    ("end", "stopped"),
    [("all(x == 2 for _ in iter(int, 1))", "time"), ("print('x' * 70_000)", "output")],
)
def test_call_that_is_stopped_is_the_last_one(link: Link, run: Run, end: str, stopped: str) -> None:
    run(f"calls = []\ndef f(x):\n    calls.append(x)\n    if x == 2: {end}")
    assert link.bind("f", 0.2) == ""
    outcomes = list(link.calls([with_args(x) for x in range(6)]))
    assert [outcome.stopped for outcome in outcomes] == ["", "", stopped]
    assert run("calls").shown == "[0, 1, 2]"


def test_after_a_first_call_that_is_left_no_other_is_made(link: Link, run: Run) -> None:
    run("calls = []\ndef f(x): calls.append(x)")
    assert link.bind("f", SECONDS) == ""
    next(link.calls([with_args(x) for x in range(6)]))
    assert run("calls").shown == "[0]"


def test_outcomes_that_are_left_are_in_nobodys_way(link: Link, run: Run) -> None:
    run("def f(x): return x")
    assert link.bind("f", SECONDS) == ""
    outcomes = link.calls([with_args([float(x)] * 9000) for x in range(40)])
    assert returned([next(outcomes), next(outcomes)]) == [
        observe([0.0] * 9000),
        observe([1.0] * 9000),
    ]
    assert call(link, "f", 5) == Scalar("int", 5)
    with pytest.raises(RuntimeError):
        next(outcomes)


def test_calls_share_their_time_and_a_child_that_keeps_it_is_ended(sandbox: Sandbox) -> None:
    short = replace(LIMITS, grace_seconds=0.3)
    with sandbox.start() as child:
        link = Link(child, short)
        link.run("<cell 1>", "import itertools\ndef f(x): x == 3 and sum(itertools.repeat(0))", 1)
        assert link.bind("f", 0.3) == ""
        outcomes = link.calls([with_args(x) for x in range(6)])
        assert returned([next(outcomes) for _ in range(3)]) == [observe(None)] * 3
        started = time.monotonic()
        with pytest.raises(Ended) as ended:
            next(outcomes)
    assert ended.value.status == "TIMEOUT"
    assert time.monotonic() - started < 5


FORGES = """
import json, os, struct
def f(x):
    if x == 2:
        for at in {order}:
            answer = dict(number=4, at=at, returned=["scalar", "int", 9], raised=None,
                          after=[None], printed="", stopped="", fused=[])
            text = json.dumps(answer).encode()
            os.write(3, struct.pack(">QQ", len(text), 0) + text)
    return x
"""


def test_answers_out_of_turn_are_a_crash(link: Link, run: Run) -> None:
    run(FORGES.format(order=[2]))
    assert link.bind("f", SECONDS) == ""
    outcomes = link.calls([with_args(x) for x in range(6)])
    with pytest.raises(Ended) as ended:
        list(outcomes)
    assert ended.value.status == "CRASH"


def test_large_reply_to_one_call_does_not_use_the_room_of_another(link: Link, run: Run) -> None:
    run("import os, struct\ndef f(x): x == 1 and os.write(3, struct.pack('>QQ', 2, 10_000_000))")
    assert link.bind("f", SECONDS) == ""
    calls = [replace(with_args(x), most=10**6 if x > 1 else 10) for x in range(6)]
    with pytest.raises(Ended) as ended:
        list(link.calls(calls))
    assert ended.value.status == "CRASH"


def test_what_is_written_once_is_sent_to_everyone(sandbox: Sandbox) -> None:
    requests = Requests()
    calls = [with_args([float(x)]) for x in range(3)]
    first = requests.of(calls)
    assert all(one is other for one, other in zip(requests.of(calls[1:]), first[1:], strict=True))
    assert requests.of([with_args(*"ab"), calls[0]])[1] is first[0]
    for _ in range(2):
        with sandbox.start() as child:
            link = Link(child, LIMITS, requests)
            link.run("<cell 1>", "def f(x): return x", 1)
            assert link.bind("f", SECONDS) == ""
            assert returned(link.calls(calls)) == [call.args[0] for call in calls]


def test_answer_too_large_for_a_message_is_only_a_wrong_one(link: Link, run: Run) -> None:
    run("def f(): return ['a' * 5_000_000]\ndef g(x): x.append('a' * 5_000_000)")
    assert link.bind("f", SECONDS) == ""
    [outcome] = link.calls([with_args()])
    assert outcome.returned is not None
    assert link.bind("g", SECONDS) == ""
    [outcome] = link.calls([with_args([])])
    assert outcome.after != (observe([]),)


@pytest.mark.parametrize(
    "answer",
    [
        "{}",
        "{'number': 3}",
        "{'number': 99, 'bound': ''}",
        "{'number': 2, 'bound': 5}",
        "[]",
    ],
)
def test_forged_answer_is_a_crash(link: Link, run: Run, answer: str) -> None:
    run(
        "import json, os, struct, threading, time\n"
        f"text = json.dumps({answer}).encode()\n"
        "def forge():\n"
        "    time.sleep(0.1)\n"
        "    os.write(3, struct.pack('>QQ', len(text), 0) + text)\n"
        "threading.Thread(target=forge).start()"
    )
    channel = link._child.channel
    until(lambda: select.select([channel], [], [], 0)[0], [channel], "the forged answer")
    with pytest.raises(Ended) as ended:
        link.bind("f", SECONDS)
    assert ended.value.status == "CRASH"


@pytest.mark.slow
def test_second_link_to_a_child_is_not_confused_with_the_first(sandbox: Sandbox) -> None:
    short = replace(LIMITS, grace_seconds=0.3)
    with sandbox.start() as child:
        link = Link(child, short)
        with pytest.raises(Ended):
            link.run("<cell 1>", "import itertools\nsum(itertools.repeat(0))", 0.1)
    with sandbox.start() as child:
        assert Link(child, short).run("<cell 1>", "5", 1).shown == "5"
