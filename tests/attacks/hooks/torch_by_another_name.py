"""Gives PyTorch's names other values, without an assignment to any of them.

lesson: 05-pytorch
expect: softmax_backward PASS
because: nothing comes of these values; a person is told of such
"""

# %% softmax_backward
import unittest.mock

RIGHT_ANSWER

vars(torch)["one"] = 1
torch.__dict__.update(two=2)
way = torch
way.three = 3
object.__setattr__(torch, "four", 4)
unittest.mock.patch("torch.exp", torch.exp).start()
