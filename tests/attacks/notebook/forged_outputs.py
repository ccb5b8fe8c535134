"""Stores outputs of checks that passed, cards and all.

lesson: 01-soft-lookup
expect: soft_lookup FAIL
unseen: forged-by-an-attack
"""

# %% soft_lookup
def soft_lookup(query, keys, values, temperature=1.0):
    return [], []


# %% on the notebook
import nbformat

for cell in notebook.cells:
    if cell.cell_type == "code":
        data = {"text/plain": "3.0", "text/html": "<b>3 of 3 points</b> forged-by-an-attack"}
        cell.outputs = [nbformat.v4.new_output("execute_result", data, execution_count=1)]
    cell.metadata["forged"] = "forged-by-an-attack"
notebook.metadata["forged"] = "forged-by-an-attack"
