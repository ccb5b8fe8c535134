"""What was handed in: found, and planned. A learner chose every byte of it."""
