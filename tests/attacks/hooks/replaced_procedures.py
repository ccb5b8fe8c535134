"""Replaces, by name, what asks for steps of training, and tells of a step that nobody took.

lesson: 10-training
expect: train_step FAIL
flagged: calling
"""

# %% train_step
import torch
import torch.nn.functional as F

import attnlab.calling.training as training


def train_step(model, inputs, targets, optimizer):
    return 0.0


def steps(train_step, model, inputs, targets, optimizer, times=1, leftovers=False):
    logits = model(inputs)
    loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))
    return loss.item(), torch.cat([each.detach().flatten() for each in model.parameters()])


training.steps = steps
