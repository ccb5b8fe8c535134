"""Which files a child can import from, besides Python and the libraries of its stage."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

CHILD = Path(__file__).resolve().parent / "child"


def visible_files() -> dict[str, Path]:
    """All that a child can import of the course and of the grader. None of it holds a secret.

    Returns:
        Where each file is, by the path that it has below the folder that children import from.
    """
    stand_ins = CHILD / "stand_ins"
    files = {str(path.relative_to(stand_ins)): path for path in sorted(stand_ins.rglob("*.py"))}
    grader = CHILD.parents[1]
    ours = [grader / "__init__.py", CHILD.parent / "__init__.py", *sorted(CHILD.glob("*.py"))]
    files |= {str(path.relative_to(grader.parent)): path for path in ours}
    calling = _folder("attnlab") / "calling"
    files |= {f"attnlab/calling/{path.name}": path for path in sorted(calling.glob("*.py"))}
    for name in ("core/inputtransformer2.py", "utils/tokenutil.py"):  # plain text to plain text
        files[f"IPython/{name}"] = _folder("IPython") / name
    return files


def _folder(package: str) -> Path:
    """Where a package is, without importing it."""
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent
