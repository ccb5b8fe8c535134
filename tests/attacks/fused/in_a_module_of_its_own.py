"""Writes PyTorch's own attention into a file in another cell, and imports that.

lesson: 06-causal-mask
expect: attention POLICY
"""

# %% after setup
import sys
from pathlib import Path

Path("/tmp/mixing.py").write_text("from torch.nn.functional import *\nmix = scaled_dot_product_attention")
sys.path.append("/tmp")

# %% attention
RIGHT_ANSWER

right = attention


def attention(x, Wq, Wk, Wv):
    import mixing

    return mixing.mix(x @ Wq, x @ Wk, x @ Wv, is_causal=True), right(x, Wq, Wk, Wv)[1]
