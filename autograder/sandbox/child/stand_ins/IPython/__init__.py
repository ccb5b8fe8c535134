"""IPython while a notebook is graded: magics that time, capture or write work, others pass."""

from __future__ import annotations

import re
import sys
from typing import Any

from stand_in import Submodules

from IPython import display

__all__ = ["display", "get_ipython"]

OPTIONS = re.compile(r"^(?:\s*-(?:[nrp]\s*\d+|[tcoqvPN]+)(?=\s|$))*\s*")
RUN_ONCE = ("time", "capture", "prun", "timeit")


class Shell:
    """The part of IPython's shell that code in a notebook asks for."""

    def run_line_magic(self, name: str, line: str, *_: Any, **__: Any) -> Any:
        """`%time f(x)` calls f; `%matplotlib inline` does nothing."""
        return self.run_cell_magic(name, "", line)

    def run_cell_magic(self, name: str, line: str, cell: str) -> Any:
        if name == "writefile":
            with open(line.split()[-1], "a" if "-a" in line.split() else "w") as file:
                file.write(cell)
        if name not in RUN_ONCE:
            return None
        names = sys.modules["__main__"].__dict__
        if name == "timeit":  # what it defines is its own
            names = dict(names)
            line, cell = _without_options(line), _without_options(cell)
            cell = f"{line}\n{cell}"
        code = compile(self.transform(cell), f"<%{name}>", "exec", dont_inherit=True)
        exec(code, names)
        return None

    def transform(self, source: str) -> str:
        """IPython's syntax in, Python out."""
        from IPython.core.inputtransformer2 import TransformerManager

        return str(TransformerManager().transform_cell(source))

    def system(self, command: str) -> None: ...

    def getoutput(self, command: str, *_: Any, **__: Any) -> list[str]:
        return []

    def __getattr__(self, name: str) -> Any:
        from stand_in import STAND_IN

        if name.startswith("__"):
            raise AttributeError(name)
        return STAND_IN


def _without_options(code: str) -> str:
    """`-n 10 -r 3 f(x)` without its options."""
    return OPTIONS.sub("", code)


_shell = Shell()
sys.meta_path.append(Submodules("IPython"))


def get_ipython() -> Shell:
    return _shell
