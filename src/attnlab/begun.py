"""Which lesson was begun last: the one that `check`, `quiz` and `figures.opening()` are about."""

slug = ""  # '' if none was
