"""Lesson 12's exercises: PyTorch's call, its backends, and what they cost and may err."""

from attnlab.lessons.gpu_sdpa.backends import BACKEND
from attnlab.lessons.gpu_sdpa.counting import ROOFLINE, TFLOPS
from attnlab.lessons.gpu_sdpa.fairness import FAIR
from attnlab.lessons.gpu_sdpa.one_call import SDPA
from attnlab.lessons.gpu_sdpa.timing import BENCHMARK

EXERCISES = (SDPA, BACKEND, FAIR, BENCHMARK, TFLOPS, ROOFLINE)
