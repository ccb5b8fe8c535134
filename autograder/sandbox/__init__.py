"""Isolated processes for learners' code: started, talked to within limits, ended."""
