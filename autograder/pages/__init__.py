"""What people are shown: autograded notebooks, feedback, a class's summary."""
