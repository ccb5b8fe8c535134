"""Benchmarks: what is measured is shown as a ratio to something measured at its side."""
