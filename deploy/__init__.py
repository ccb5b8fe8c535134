"""How others run the course: a container, Gradescope, GitHub Actions. docs/instructor.md says when.

`tried/` has what came of it where it was tried, written by `make deploy-test`.
"""
