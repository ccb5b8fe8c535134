"""What the process that workers are forked from imports: all they need, and a quick way to end."""

import atexit
import os

from autograder.run import warm as warm
from autograder.run import worker as worker

atexit.register(os._exit, 0)  # to take PyTorch apart takes longer than to grade a notebook
