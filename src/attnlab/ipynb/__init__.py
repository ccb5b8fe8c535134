"""Notebooks as files: read from whatever bytes they are, put right, written whole or not at all.

Three call it: the grader for what was handed in, `attnlab.home` for a learner's own copies and
hand-ins, and `checks` for what a cell is. In go bytes and names that a stranger chose; out come
`Cell`s, or an Unreadable with a sentence that says why. `files` opens and writes, `read` reads a
notebook, `rebuild` puts the released cells around a learner's own, `upgrade` does so for a newer
release, `which` says whose lesson it is, `handed_in` which file counts. Begin at `read`, then
`rebuild`.
"""
