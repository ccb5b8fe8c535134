"""A learner's words, made safe to be shown by programs that render Markdown and HTML."""

from __future__ import annotations

import re

# Where a tag or a link's address begins, in Markdown or in MathJax.
_MARKUP = re.compile(r"<(?=[A-Za-z/!?])|\](?=[(:\[])|\\(?=href)")


def inert(text: str) -> str:
    """Text that stays text where nbgrader renders it as Markdown: no tag or link begins in it.

    nbgrader lets both through as they are. A space of no width is put where one would begin. What
    a database cannot hold is replaced.
    """
    stored = text.replace("\0", "\ufffd").encode(errors="replace").decode()
    return _MARKUP.sub("\\g<0>\u200b", stored)
