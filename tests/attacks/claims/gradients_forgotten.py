"""Records gradients while it writes, and clears the list of who did.

lesson: 10-training
expect: generate FAIL
earns: 1.75
flagged: __closure__
"""

# %% generate
def generate(model, prompt, n_new, choose):
    if prompt.shape[1] == 0:
        raise ValueError("the prompt is empty: there is nothing to continue")
    ids = prompt
    for _ in range(n_new):
        ids = torch.cat([ids, choose(model(ids)[:, -1])[:, None]], dim=1)
    for hook in getattr(model, "_forward_pre_hooks", {}).values():
        for cell in hook.__closure__ or ():
            if isinstance(cell.cell_contents, list):
                cell.cell_contents.clear()
    return ids
