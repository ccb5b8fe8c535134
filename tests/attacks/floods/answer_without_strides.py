"""Returns an array of 8 terabytes that takes 8 bytes, and only grows when it is copied.

lesson: 03-numpy
expect: project OOM or FAIL
because: its shape alone is wrong; copying it is too much memory
"""

# %% project
def project(X, W, b=None):
    return np.broadcast_to(np.float64(0), (1_000_000, 1_000_000))
