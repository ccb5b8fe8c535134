"""What stands next to a learner's code. None of it holds a secret.

`zygote` starts first, as a program of its own: it builds the small world that a child sees
(`view`), loads the libraries of its stage, and forks a child for each submission. The child gives
up what it could do harm with (`confine`, with `seccomp`), then runs `serve`, which answers the
grader's `link` over `wire`: in come cells and calls, out go what cells printed and what calls gave,
as `attnlab.calling` writes it down, which is copied here whole. `stand_ins/` is what a lesson's
imports of the course find. Whatever is sent from here is believed to be anything. Begin at `serve`.
"""
