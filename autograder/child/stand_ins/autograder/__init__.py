"""What children see of the grader: two modules that hold no secret."""
