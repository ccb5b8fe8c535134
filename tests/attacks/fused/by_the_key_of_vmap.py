"""Calls the kernel by a dispatch key that only vmap uses; it gives both results.

lesson: 06-causal-mask
expect: attention POLICY
"""

# %% attention
def attention(x, Wq, Wk, Wv):
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    math = getattr(torch.ops.aten, "_scaled_dot_product_" + "attention_math").default
    return math._op_dk(torch._C.DispatchKey.FuncTorchVmapMode, q, k, v, None, 0.0, True)
