"""A learner's words, made safe to be shown by programs that render Markdown, HTML and formulas.

A space of no width is put after each character with which one of these would begin. MathJax reads
the page, whoever wrote it: after every backslash, for what follows it is a command.
"""

from __future__ import annotations

import re

# Where a tag, a character by its name or a link's address begins; a bare address is a link too.
_MARKUP = re.compile(r"<(?=[A-Za-z/!?])|&(?=[A-Za-z#])|\](?=[(:\[])|:(?=//)|@(?=\w)|www(?=\.)")
_NO_WIDTH = "\u200b"


def inert(text: str) -> str:
    """Text that stays text where nbgrader renders it as Markdown, which lets all HTML through.

    What a database cannot hold is replaced.
    """
    stored = text.replace("\0", "\ufffd").encode(errors="replace").decode()
    return without_commands(_MARKUP.sub(f"\\g<0>{_NO_WIDTH}", stored))


def without_commands(html: str) -> str:
    """HTML in which no command of TeX begins: between dollars, MathJax would follow it."""
    return html.replace("\\", f"\\{_NO_WIDTH}")
