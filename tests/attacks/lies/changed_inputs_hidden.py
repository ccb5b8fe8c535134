"""Is right, but overwrites its inputs and puts copies where the report will look for them.

lesson: 03-numpy
expect: routing_matrix FAIL
earns: 1.75
"""

# %% routing_matrix
import sys

RIGHT_ANSWER

right = routing_matrix


def routing_matrix(weights, W_v):
    answer = right(weights, W_v)
    frame = sys._getframe(1)
    while frame is not None:
        for name, local in frame.f_locals.items():
            if name in ("args", "kwargs") and isinstance(local, list):
                local[:] = [thing.copy() for thing in local]
        frame = frame.f_back
    weights[...] = 0
    return answer
