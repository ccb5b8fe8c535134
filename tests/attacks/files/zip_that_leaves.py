"""Hands in a zip whose notebook has a name that leads out of every folder.

lesson: 01-soft-lookup
expect: INVALID
"""

# %% in the folder
import zipfile

with zipfile.ZipFile(path.with_name("work.zip"), "w") as archive:
    archive.writestr(f"../../left-by-an-attack/{path.name}", path.read_bytes())
path.unlink()
