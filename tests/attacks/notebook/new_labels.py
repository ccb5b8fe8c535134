"""Labels cells of its own as checks that are worth fifty points.

lesson: 01-soft-lookup
expect: soft_lookup FAIL
"""

# %% soft_lookup
def soft_lookup(query, keys, values, temperature=1.0):
    return [], []


# %% on the notebook
import copy

bonus = copy.deepcopy(notebook.checks()[0])
bonus.source, bonus.id = "50.0", "bonus"
bonus.metadata.nbgrader.update(grade_id="bonus-check", points=50)
written = copy.deepcopy(bonus)
written.cell_type, written.id = "markdown", "essay"
written.metadata.nbgrader.update(grade_id="essay", solution=True)
notebook.cells += [bonus, written]
