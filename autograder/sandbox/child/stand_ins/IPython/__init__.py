"""IPython while a notebook is graded: magics that time, capture or write work, others pass."""

from __future__ import annotations

import ast
import math
import re
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, NamedTuple

from stand_in import STAND_IN, Submodules

from attnlab.calling.call import Printed
from IPython import display

__all__ = ["display", "get_ipython"]

OPTIONS = re.compile(r"^(?:\s*-(?:[nrp]\s*\d+|[tcoqvPN]+)(?=\s|$))*\s*")
KEPT = 100_000  # characters of what is captured
# All that IPython and its kernel have, and the extensions that come with them.
MAGICS = (
    "!", "HTML", "SVG", "aimport", "alias", "alias_magic", "autoawait", "autocall", "automagic",
    "autoreload", "autosave", "averbose", "bash", "bookmark", "capture", "cat", "cd", "clear",
    "code_wrap", "colors", "conda", "config", "connect_info", "cp", "debug", "dhist", "dirs",
    "doctest_mode", "ed", "edit", "env", "file", "gui", "hist", "history", "html", "javascript",
    "js", "killbgscripts", "latex", "ldir", "less", "lf", "lk", "ll", "load", "load_ext",
    "loadpy", "logoff", "logon", "logstart", "logstate", "logstop", "ls", "lsmagic", "lx",
    "macro", "magic", "mamba", "man", "markdown", "matplotlib", "micromamba", "mkdir", "more",
    "mv", "notebook", "page", "pastebin", "pdb", "pdef", "pdoc", "perl", "pfile", "pinfo",
    "pinfo2", "pip", "popd", "pprint", "precision", "prun", "psearch", "psource", "pushd",
    "pwd", "pycat", "pylab", "pypy", "python", "python2", "python3", "qtconsole", "quickref",
    "recall", "rehashx", "reload_ext", "rep", "rerun", "reset", "reset_selective", "rm",
    "rmdir", "ruby", "run", "save", "sc", "script", "set_env", "sh", "store", "subshell", "svg",
    "sx", "system", "tb", "time", "timeit", "unalias", "unload_ext", "uv", "who", "who_ls",
    "whos", "writefile", "xdel", "xmode",
)  # fmt: skip
RUN_ONCE = ("time", "capture", "prun", "timeit")


class Captured(NamedTuple):
    """What `%%capture` keeps of a cell."""

    stdout: str
    stderr: str
    outputs: Sequence[Any] = ()

    def show(self) -> None:
        print(self.stdout, end="")
        print(self.stderr, end="", file=sys.stderr)

    __call__ = show

    def __str__(self) -> str:
        return self.stdout


class UsageError(Exception):
    """A magic that there is not."""


class Shell:
    """The part of IPython's shell that code in a notebook asks for."""

    _has_more = False  # magics: an extension's, or its own

    def run_line_magic(self, name: str, line: str, *_: Any, **__: Any) -> Any:
        """`%time f(x)` calls f; `%matplotlib inline` does nothing."""
        self._refuse_unknown(name, f"Line magic function `%{name}` not found.")
        return self._run_magic(name, "", line)

    def run_cell_magic(self, name: str, line: str, cell: str) -> Any:
        self._refuse_unknown(name, f"Cell magic `%%{name}` not found.")
        return self._run_magic(name, line, cell)

    def _refuse_unknown(self, name: str, as_ipython_says: str) -> None:
        self._has_more |= name == "load_ext" or "IPython.core.magic" in sys.modules
        if name not in MAGICS and not self._has_more:
            raise UsageError(as_ipython_says)

    def _run_magic(self, name: str, line: str, cell: str) -> Any:
        if name == "writefile":
            with open(line.split()[-1], "a" if "-a" in line.split() else "w") as file:
                file.write(cell)
        if name not in RUN_ONCE:
            return None
        names = sys.modules["__main__"].__dict__
        if name == "timeit":  # what it defines is its own
            gives = "o" in _options(line) + _options(cell)
            self._run(name, f"{_without_options(line)}\n{_without_options(cell)}", dict(names))
            return STAND_IN if gives else None
        if name == "capture":
            out, errors = Printed(math.inf, KEPT), Printed(math.inf, KEPT)
            with redirect_stdout(out), redirect_stderr(errors):
                self._run(name, cell, names)
            for kept in [word for word in line.split() if not word.startswith("-")]:
                names[kept] = Captured(out.kept, errors.kept)
            return None
        value = self._run(name, cell, names)
        return value if name == "time" else None

    def _run(self, name: str, source: str, names: dict[str, Any]) -> Any:
        """Run code, which may be IPython's; the value of its last expression."""
        code = ast.parse(self.transform(source))
        ends = code.body.pop() if code.body and isinstance(code.body[-1], ast.Expr) else None
        exec(compile(code, f"<%{name}>", "exec", dont_inherit=True), names)
        if not isinstance(ends, ast.Expr):
            return None
        value = compile(ast.Expression(ends.value), f"<%{name}>", "eval", dont_inherit=True)
        return eval(value, names)

    def transform(self, source: str) -> str:
        """IPython's syntax in, Python out."""
        from IPython.core.inputtransformer2 import TransformerManager

        return str(TransformerManager().transform_cell(source))

    def system(self, command: str) -> None: ...

    def getoutput(self, command: str, *_: Any, **__: Any) -> list[str]:
        return []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._has_more |= name.startswith("register")
        return STAND_IN


def _without_options(code: str) -> str:
    """`-n 10 -r 3 f(x)` without its options."""
    return OPTIONS.sub("", code)


def _options(code: str) -> str:
    found = OPTIONS.match(code)
    return found[0] if found else ""


_shell = Shell()
sys.meta_path.append(Submodules("IPython"))


def get_ipython() -> Shell:
    return _shell
