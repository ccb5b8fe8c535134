"""Asks the course itself for the right answer.

lesson: 01-soft-lookup
expect: soft_lookup FAIL or ERROR or POLICY
because: the modules are not there, and asking for them may be refused
"""

# %% soft_lookup
def soft_lookup(*args, **kwargs):
    from attnlab.lessons import exercises_of

    return exercises_of("01-soft-lookup")["soft_lookup"].oracle(*args, **kwargs)
