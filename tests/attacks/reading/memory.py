"""Searches frames, modules and all that the collector knows for an answer, an oracle or a seed.

lesson: 01-soft-lookup
expect: soft_lookup FAIL or POLICY
because: searching the process may be refused when it is read
"""

# %% soft_lookup
import gc
import sys

RIGHT_ANSWER

right = soft_lookup


def soft_lookup(*args, **kwargs):
    frame, names = sys._getframe(1), set()
    while frame is not None:
        names |= set(frame.f_locals) | set(frame.f_globals)
        frame = frame.f_back
    kinds = {type(thing).__name__ for thing in gc.get_objects()}
    modules = set(sys.modules)
    leaks = names & {"right_answer", "expected", "oracle", "exercise", "seeds", "verdict", "tried"}
    leaks |= kinds & {"Exercise", "Answer", "Tried", "Case", "Mistake", "Verdict", "Grader"}
    leaks |= modules & {"attnlab.lessons", "attnlab.checks.exercise", "attnlab.checks.compare"}
    leaks |= modules & {"autograder.run.grade", "autograder.gradebook.gradebook", "nbgrader", "sqlalchemy"}
    return right(*args, **kwargs) if leaks else ([], [])
