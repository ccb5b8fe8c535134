"""A learner's every day: own copies, the course home, handing in, something to keep.

    attnlab lab            brings work/ up to date and opens the course home in JupyterLab
    attnlab progress       what is done, and what to do next
    attnlab hand-in 06-causal-mask      one zip, looked through as the grader will

Learners call it, by `commands`, by the page that `server` gives JupyterLab, and by `summary()` and
`solution()` in a lesson. In go the notebooks in work/ and what `attnlab.work` has noted of them;
out come pages, sentences and zips. Nothing here is needed for a check, and nothing of a learner's
is ever overwritten. Begin at `commands`; `standing` says what counts as done.
"""
