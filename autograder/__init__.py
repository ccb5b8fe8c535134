"""The grader: a class's notebooks in, nbgrader's gradebook and feedback out.

    python -m autograder grade 06-causal-mask

An instructor calls it, by `__main__`. Data flows one way: `submission` (bytes → the released
notebook with a learner's cells in it, and a plan) → `sandbox` (cells and calls sent to a child;
`run.grade` has the answers judged by `attnlab.checks`) → `gradebook` and `pages`. `run.classes`
does it for everyone, in parallel; `term` is what comes before a run and after it.

The trust boundary is the folder `sandbox/child/`: it runs beside learners' code, and holds no
secret. Everything else is trusted, and never runs a line of theirs. README.md has the threat model.
Begin at `run.grade`, which is one submission from its bytes to its result.
"""


class Usage(Exception):
    """The command asks for something that is not there; the sentence says what to do."""


class Told(Exception):
    """What ends a command; the sentence says why, and what to do."""


class Problem(Told):
    """The machine, the course's files or the cluster cannot do it: what stops a whole run."""


class Disagree(Problem):
    """Points or exercises of a lesson are not the same everywhere: nothing was graded or written.

    Attributes:
        points: by exercise, where they are not the notebook's.
        of_gradebook: whether that is in the gradebook; else it is in the checks.
    """

    def __init__(self, what: str, points: dict[str, float], of_gradebook: bool) -> None:
        super().__init__(what, points, of_gradebook)  # what a worker sends of an exception
        self.points, self.of_gradebook = points, of_gradebook

    def __str__(self) -> str:
        return str(self.args[0])
