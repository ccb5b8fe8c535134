"""Fills the memory with arrays.

lesson: 03-numpy
expect: project OOM
"""

# %% project
def project(X, W, b=None):
    hoard = []
    while True:
        hoard.append(np.empty(10_000_000))
