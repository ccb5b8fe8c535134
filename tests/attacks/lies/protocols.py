"""Returns an object that turns into a new array each time that it is asked to be one.

lesson: 03-numpy
expect: project FAIL
"""

# %% project
class Chameleon:
    def __init__(self, shape):
        self.shape, self.dtype, self.ndim = shape, np.dtype("float64"), len(shape)

    def __array__(self, *things, **options):
        return np.random.random(self.shape)

    def __array_ufunc__(self, *things, **options):
        return np.zeros(self.shape)

    def __array_function__(self, *things, **options):
        return True

    @property
    def __array_interface__(self):
        return np.zeros(self.shape).__array_interface__

    def __torch_function__(self, *things, **options):
        return True


def project(X, W, b=None):
    return Chameleon((*X.shape[:-1], W.shape[1]))
