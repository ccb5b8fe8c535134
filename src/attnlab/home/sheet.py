"""What the course's own pages share: their frame with its style sheet, and words as printed."""

from __future__ import annotations

import re
from html import escape
from importlib.resources import files


def ticked(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def worded(text: str) -> str:
    """A lesson's words, with its symbols as they are printed: d_k with its k below."""

    def printed(found: re.Match[str]) -> str:
        return found[1] or f"{found[2]}<sub>{found[3]}</sub>"

    symbol = r"\b([A-Za-z])_([A-Za-z])\b"
    return re.sub(rf"(<code>.*?</code>)|{symbol}", printed, ticked(text))


def whole(title: str, body: str, head: str = "") -> str:
    """A page of the course, with its style sheet in it."""
    style = (files(__package__) / "home.css").read_text(encoding="utf-8")
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">{head}'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{style}</style></head><body>{body}</body></html>"
    )
