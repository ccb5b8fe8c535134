"""Mistakes that several lessons share: `bank` in lists and NumPy, `variants` in PyTorch."""
