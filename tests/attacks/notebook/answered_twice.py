"""Has an early attempt, copied with its label, before the right answer.

lesson: 01-soft-lookup
expect: nothing
"""

# %% on the notebook
import copy

answer = notebook.solution("soft_lookup")
attempt = copy.deepcopy(answer)
attempt.source = "def soft_lookup(*things):\n    return 7\n"
attempt.id = "attempt"
notebook.cells.insert(notebook.cells.index(answer), attempt)
