"""nbgrader's settings and gradebook, through its API."""
