"""What a grader needs that takes a second to load: PyTorch, and all that compares with it.

The process that workers are forked from imports this while the main one opens the gradebook.
"""

from __future__ import annotations

import gc
import os
from importlib import import_module

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one worker, one core; read as PyTorch loads
# As it loads PyTorch makes a folder for what it compiles, which here is nothing: one that exists.
os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", "/")

from attnlab.lessons import exercises_of, slugs
from autograder.run.grade import Grader as Grader
from autograder.sandbox.isolation import IsolationError as IsolationError

gc.disable()  # what is being imported is no garbage: PyTorch takes a tenth less time
import_module("numpy.random")  # which NumPy, and the checks, leave to their first use
import_module("attnlab.calling.torch_calls")
for _lesson in slugs():
    exercises_of(_lesson)
gc.freeze()  # or a worker's first collection would write to, and so copy, all of it
gc.enable()
