"""Takes the kernel out of the dispatcher in a cell, where nothing is refused yet.

lesson: 06-causal-mask
expect: attention POLICY or ERROR
because: where no kernel was given, there is none to call
"""

# %% after setup
name = "aten::_scaled_dot_product_" + "attention_math"
kernel = torch.library.get_kernel(name, "CompositeImplicitAutograd")

# %% attention
key = torch._C.DispatchKey
keys = torch._C.DispatchKeySet(key.AutogradCPU) | torch._C.DispatchKeySet(key.CPU)


def attention(x, Wq, Wk, Wv):
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    return kernel.call_boxed(keys, q, k, v, None, 0.0, True)
