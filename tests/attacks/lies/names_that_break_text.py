"""Returns and raises things with names that no text may hold: lone surrogates, NUL, escapes, HTML.

lesson: 01-soft-lookup
expect: soft_lookup ERROR, hard_lookup FAIL
unseen: <script>alert(
"""

# %% hard_lookup
name = "\x1b[2J<script>alert(1)</script>"
text = "\ud800\x00\u202e" + name


def hard_lookup(query, keys, values):
    print(text)
    return type(name, (list,), {"__module__": name})()


# %% soft_lookup
def soft_lookup(query, keys, values, temperature=1.0):
    print(text)
    raise type(name, (Exception,), {"__module__": text})(text)


# %% after setup
print("<script>alert(2)</script>")
raise Exception("<script>alert(3)</script>")
