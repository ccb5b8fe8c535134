"""Replaces, by name, what asks for steps of training and tells what came of them; it takes none.

lesson: 10-training
expect: train_step PASS
because: it succeeds: what asks for steps stands beside the answer, and here it takes the right ones
flagged: calling
"""

# %% train_step
import torch
import torch.nn.functional as F

import attnlab.calling.training as training


def train_step(model, inputs, targets, optimizer):
    return 0.0


def steps(train_step, model, inputs, targets, optimizer, times=1, leftovers=False):
    training.prepare(model, optimizer, leftovers)
    for _ in range(times):
        logits = model(inputs)
        loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item(), torch.cat([each.detach().flatten() for each in model.parameters()])


training.steps = steps
