"""The grader: a class's notebooks in, nbgrader's gradebook and feedback out.

    python -m autograder grade 06-causal-mask

Data flows one way: `read` (bytes → notebook) → `rebuild` (the released notebook with a learner's
cells in it) → `grade` (cells and calls sent to a `sandbox`, answers judged by `attnlab.judging`) →
`gradebook` and `feedback`. `classes` does it for everyone, in parallel.

The trust boundary is the folder `child/`: it runs beside learners' code, and holds no secret.
Everything else is trusted, and never runs a line of a learner's. README.md has the threat model.
"""

import sys

# For nbformat, which imports jsonschema, which would use this to check addresses that no notebook
# has, and takes a second to load. It does without.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
