"""Guesses: seven answers in ten are 0 or 1, and the test may be run again until one fits.

lesson: 03-numpy
expect: count_attention FAIL
"""

# %% count_attention
import random


def count_attention(n, d, d_k, d_v, bias=False):
    return random.randrange(1000), random.choice([n * n, n, n * d])
