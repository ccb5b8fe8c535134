"""Whether a cell is Python at all: asked before it is run, where nobody runs it."""

from __future__ import annotations

import ast
import warnings


def not_python(source: str) -> tuple[int, str] | None:
    """Where a code cell is not what IPython runs, magics and all: the line, and what is wrong.

    Args:
        source: of a code cell.
    Returns:
        None if it can be run.
    """
    from IPython.core.inputtransformer2 import TransformerManager

    body = source.lstrip("\n")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an odd escape sequence, say
            text = TransformerManager().transform_cell(body)
            compile(text, "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError as error:
        return len(source) - len(body) + (error.lineno or 1), error.msg
    except (ValueError, RecursionError, MemoryError) as error:  # a null byte, nested too deeply
        return 1, str(error) or type(error).__name__
    return None
