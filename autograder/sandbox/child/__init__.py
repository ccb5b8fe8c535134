"""What stands next to a learner's code. None of it holds a secret.

`zygote` starts first, as a program of its own: it builds the small world that a child sees
(`view`), loads the libraries of its stage, and forks a child for each submission. The child gives
up what it could do harm with (`confine`, with `seccomp`), then runs `serve`, which
answers the grader over `wire`.
"""
