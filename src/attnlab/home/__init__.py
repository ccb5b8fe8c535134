"""A learner's every day: own copies, progress, the course home, handing in, something to keep.

    attnlab lab            brings work/ up to date and opens the course home in JupyterLab
    attnlab progress       what is done, and what to do next

The notebooks touch one module of it, `progress`; nothing here is needed for a check.
"""
