"""Has multi_head_attention_forward do it, under another name.

lesson: 06-causal-mask
expect: attention POLICY
"""

# %% after setup
from torch.nn.functional import multi_head_attention_forward as project_and_mix

# %% attention
RIGHT_ANSWER

right = attention


def attention(x, Wq, Wk, Wv):
    d = x.shape[-1]
    eye, none = torch.eye(d, dtype=x.dtype), torch.zeros(3 * d, dtype=x.dtype)
    project_and_mix(
        x, x, x, d, 1, torch.cat([eye] * 3), none, None, None, False, 0.0, eye, none[:d]
    )
    return right(x, Wq, Wk, Wv)
