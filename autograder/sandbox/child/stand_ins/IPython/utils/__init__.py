"""Of IPython, what turns its syntax into Python."""
