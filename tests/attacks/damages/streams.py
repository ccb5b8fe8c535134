"""Takes away standard streams, paths and finders of modules; its answers are right.

lesson: 01-soft-lookup
expect: nothing
"""

# %% after setup
import sys

sys.stdout = sys.stderr = sys.stdin = None
del sys.stdout
sys.path.clear()
sys.meta_path.clear()
sys.path_hooks.clear()
