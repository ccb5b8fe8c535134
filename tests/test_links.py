"""Links between the repository's pages lead somewhere there, as they do on the site."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

from tests.course import ROOT

PAGES = sorted(
    path
    for top in ("*.md", "*/*.md", "*/*/*.md", "docs/**/*.md", "src/**/*.md")
    for path in ROOT.glob(top)
    if not {"build", "work", "class", "dist", "node_modules"} & {*path.relative_to(ROOT).parts}
    and not path.relative_to(ROOT).parts[0].startswith(".")
)
_CODE = re.compile(r"^```.*?^```|`[^`]*`", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)|(?:href|src)=\"([^\"]+)\"")
_HEADING = re.compile(r"^#+ +(.*?) *$", re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """What its headings are linked by: small letters, a dash for a space, no other marks."""
    headings = _HEADING.findall(_CODE.sub("", page.read_text(encoding="utf-8")))
    plain = (re.sub(r"[^\w\s-]", "", heading.replace("`", "").lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


def lost(page: Path) -> list[str]:
    """Its links that lead nowhere."""
    text = _CODE.sub("", page.read_text(encoding="utf-8"))
    found = []
    for link in (one or other for one, other in _LINK.findall(text)):
        if re.match(r"\w+:", link):
            continue
        place, _, name = unquote(link).partition("#")
        to = (page.parent / place).resolve() if place else page
        if not to.exists() or (name and to.suffix == ".md" and name not in anchors(to)):
            found.append(link)
    return found


def test_pages_link_to_what_is_there() -> None:
    assert len(PAGES) > 20
    assert {str(page.relative_to(ROOT)): found for page in PAGES if (found := lost(page))} == {}
