"""Lets PyTorch do it in a NumPy lesson.

lesson: 03-numpy
expect: scaled_dot_product_attention ERROR or POLICY
because: PyTorch is not there, and asking for it may be refused when it is read
"""

# %% scaled_dot_product_attention
def scaled_dot_product_attention(Q, K, V, mask=None):
    torch = __import__("torch")
    q, k, v = map(torch.from_numpy, (Q, K, V))
    weights = torch.softmax(q @ k.mT / K.shape[-1] ** 0.5, -1)
    return (weights @ v).numpy(), weights.numpy()
