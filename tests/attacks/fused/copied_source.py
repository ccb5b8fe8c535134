"""Runs the text of PyTorch's own function again, which binds no name that one could follow.

lesson: 06-causal-mask
expect: attention PASS
because: nothing of PyTorch's is called that could refuse, so that a person is told of the name
flagged: attention: cell 3 names multi_head_attention_forward
"""

# %% after setup
import inspect

names = dict(vars(F))
exec(inspect.getsource(F.multi_head_attention_forward), names)
[mix] = [each for name, each in names.items() if name.startswith("multi_head")]

# %% attention
ATTENTION_BY_MIX
