"""Has softmax's way back as PyTorch says it in Python, for its compiler.

lesson: 05-pytorch
expect: softmax_backward PASS
because: it is made of plain operators, so that a person is told of the table
flagged: decomposition_table
"""

# %% softmax_backward
def softmax_backward(weights, upstream):
    if weights.shape != upstream.shape:
        raise ValueError("shapes differ")
    table = torch._decomp.decomposition_table
    [back] = [way for name, way in table.items() if str(name) == "aten._softmax_backward_data.default"]
    return back(upstream, weights, -1, weights.dtype)
