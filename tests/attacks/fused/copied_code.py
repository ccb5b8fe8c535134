"""Copies PyTorch's own function, in a cell of its own, before its code is exchanged.

lesson: 06-causal-mask
expect: attention PASS
because: nothing of PyTorch's is called that could refuse, so that a person is told of the name
flagged: attention: cell 3 names multi_head_attention_forward
"""

# %% after setup
import types

mix = F.multi_head_attention_forward
mix = types.FunctionType(mix.__code__, vars(F), "mix", mix.__defaults__)

# %% attention
ATTENTION_BY_MIX
