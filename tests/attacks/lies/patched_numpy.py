"""Makes every comparison that NumPy has say yes.

lesson: 04-scaling
expect: best_scale FAIL
"""

# %% best_scale
for name in ("allclose", "isclose", "array_equal", "isfinite", "all", "testing"):
    setattr(np, name, lambda *things, **options: True)


def best_scale(Q, K):
    return 1.0
