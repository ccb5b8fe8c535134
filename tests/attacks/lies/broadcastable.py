"""Returns arrays with no entries, or one, which broadcast to any shape.

lesson: 03-numpy
expect: project FAIL, routing_matrix FAIL
"""

# %% project
def project(X, W, b=None):
    return np.zeros((*X.shape[:-1], W.shape[1]))[..., :0]


# %% routing_matrix
def routing_matrix(weights, W_v):
    return np.zeros((1, 1))
