"""Returns tensors of every strange kind: sparse, meta, quantized, nested, conjugated, of 8 bits.

lesson: 06-causal-mask
expect: attention FAIL, decoder_mask FAIL
"""

# %% attention
def attention(x, Wq, Wk, Wv):
    out = torch.zeros(*x.shape[:2], Wv.shape[1], dtype=torch.complex128).conj()
    return out, torch.zeros(len(x), x.shape[1], x.shape[1], device="meta")


# %% decoder_mask
calls = 0


def decoder_mask(lengths, n):
    global calls
    calls += 1
    plain = torch.zeros(len(lengths), 1, n, n)
    kinds = [
        lambda: plain.to_sparse(),
        lambda: plain.to(torch.float8_e4m3fn),
        lambda: torch.quantize_per_tensor(plain, 1.0, 0, torch.qint8),
        lambda: torch.nested.nested_tensor([plain[0], plain[0]]),
        lambda: torch.nn.Parameter(plain),
        lambda: plain.bool().to("meta"),
        lambda: plain.to_mkldnn(),
        lambda: plain.to(torch.bfloat16),
        lambda: torch.empty(0).set_(plain.untyped_storage(), 0, plain.shape, plain.stride()),
    ]
    return kinds[calls % len(kinds)]()
