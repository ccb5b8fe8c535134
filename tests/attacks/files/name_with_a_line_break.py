r"""Has a line break, an emoji, quotes and HTML in its name; its answers are right.

lesson: 01-soft-lookup
expect: INVALID
student: "zz\n{\"student\": \"forged\"} 🦊 <b>' --x"
unseen: <b>' --x
"""

# %% in the folder
assert folder.name.startswith("zz\n")
