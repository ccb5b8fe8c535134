"""Hands in a zip of some kilobytes that is a notebook of hundreds of megabytes.

lesson: 01-soft-lookup
expect: INVALID
"""

# %% in the folder
import zipfile

with zipfile.ZipFile(path.with_name("work.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
    with archive.open(path.name, "w") as file:
        for _ in range(300):
            file.write(b"0" * 2**20)
path.unlink()
