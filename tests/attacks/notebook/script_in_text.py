"""Puts scripts into its text, its code, its attachments and its labels; its answers are right.

lesson: 01-soft-lookup
expect: nothing
unseen: <script>alert(
"""

# %% after setup
from IPython.display import HTML, display

display(HTML("<script>alert('shown')</script>"))
print("<script>alert('printed')</script>")
"<script>alert('value')</script>"
