"""Before and after a run: hand-ins that come in from an LMS, grades that go back, and reports."""
