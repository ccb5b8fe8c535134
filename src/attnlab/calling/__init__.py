"""What stands beside a learner's function, in the notebook and in the grader's child alike.

Copied whole into the child, so it holds no secret and imports nothing of attnlab but itself.
`call` makes one call and writes down what came of it: `observe` values as plain data, `deadline`
its time limit, `torch_calls` modules and gradients, `banned` what PyTorch may not do for a learner.
"""
