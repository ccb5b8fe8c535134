"""A submission graded, and a whole class: in parallel, resumable."""
