"""Serving cells and calls: see `serve`."""
