"""Returns an array's subclass whose every operation says yes.

lesson: 03-numpy
expect: routing_matrix FAIL
"""

# %% routing_matrix
class Right(np.ndarray):
    def __array_ufunc__(self, *things, **options):
        return np.array(True)

    def __array_function__(self, *things, **options):
        return True

    def tobytes(self, order="C"):
        return b"\0"


def routing_matrix(weights, W_v):
    (n, m), (d, d_v) = weights.shape, W_v.shape
    return np.zeros((n * d_v, m * d)).view(Right)
