"""Hands in a notebook whose cells are numbers, lists and nothing.

lesson: 01-soft-lookup
expect: INVALID
"""

# %% in the folder
path.write_text('{"cells": [1, [], null, {"source": 7}], "metadata": 3, "nbformat": 4, "nbformat_minor": 5}')
