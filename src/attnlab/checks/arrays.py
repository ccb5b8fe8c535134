"""The arrays that answers are compared in: NumPy's, and where there is no NumPy, `plain` ones.

    from attnlab.checks.arrays import np

Only modules that judge lists come here; those that pose cases ask PyTorch, and need NumPy.
"""

__all__ = ["np"]

try:
    import numpy as np
except ModuleNotFoundError:  # Python in a browser
    from attnlab.checks import plain as np  # type: ignore[no-redef]
