"""Has metadata of every wrong type and of great size; its answers are right.

lesson: 01-soft-lookup
expect: nothing
"""

# %% on the notebook
wrong = [None, [], "text", 7, {"grade_id": []}, {"grade_id": None, "points": "x"}, {"points": -1}]
wrong += [{"grade_id": "x" * 100_000, "grade": True, "points": 1e308}, {"schema_version": 99}]
loose = [cell for cell in notebook.cells if "nbgrader" not in cell.metadata]
for number, cell in enumerate(loose):
    cell.metadata["nbgrader"] = wrong[number % len(wrong)]
    cell.metadata["tags"] = [["nested"], 7, "raises-exception"]
notebook.metadata["kernelspec"] = {"name": "../../bash", "language": "R", "display_name": "x"}
notebook.metadata["language_info"] = {"name": "haskell"}
notebook.metadata["widgets"] = {"x": "y" * 1_000_000}
