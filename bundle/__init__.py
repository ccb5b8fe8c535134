"""What is handed out to learners: one zip with all they need, and nothing that grades or tells.

    python -m bundle [--lessons 01 02] [--solutions]

writes dist/attnlab-course-<version>.zip, or …-with-solutions.zip. The same files give the same
bytes.
"""
