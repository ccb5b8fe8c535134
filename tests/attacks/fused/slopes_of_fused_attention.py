"""Has softmax's slopes from PyTorch's own attention, on its way back.

lesson: 05-pytorch
expect: softmax_backward POLICY
"""

# %% softmax_backward
def softmax_backward(weights, upstream):
    m = weights.shape[-1]
    four = lambda part: part.reshape(1, 1, -1, m)
    one = four(torch.eye(m, dtype=weights.dtype))
    q = four(weights.log().clamp(min=-1e4)).detach().requires_grad_()
    with torch.enable_grad():
        out = F.scaled_dot_product_attention(q, one, one, scale=1.0)
        [slopes] = torch.autograd.grad(out, q, four(upstream))
    return slopes.reshape(weights.shape)
