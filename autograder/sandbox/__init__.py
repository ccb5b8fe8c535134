"""Isolated processes for learners' code: started, talked to within limits, ended.

    with Sandbox("numpy", Limits()) as sandbox, sandbox.start() as child: …

`run.grade` calls it, and `doctor`. In go a stage, its limits, and requests: run this cell, call
this exercise with these inputs. Out come plain data, or how the child ended; never an object of a
learner's. A zygote has loaded a stage's libraries and nothing else; each submission's child is a
fork of it, shut in by all that `isolation` finds here. `link` is the trusted end of the line,
`child/` the other one, `limits` has every limit. Begin at `sandbox`, then `link`.
"""
