"""Takes no step, and returns a loss of a kind of its own, from a loss function that it replaced.

lesson: 10-training
expect: train_step FAIL or ERROR
because: its loss is no tensor of PyTorch's own
"""

# %% train_step
import torch.nn.functional as functional


class Loss(torch.Tensor):
    def item(self):
        return 0.0

    def backward(self, *args, **how):
        return None


functional.cross_entropy = lambda logits, targets, **how: logits.mean().as_subclass(Loss)


def train_step(model, inputs, targets, optimizer):
    optimizer.zero_grad()
    loss = functional.cross_entropy(model(inputs), targets)
    loss.backward()
    optimizer.step()
    return loss.item()
