"""The parts of a check that stand next to a learner's code."""
