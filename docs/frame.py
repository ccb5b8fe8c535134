"""What the site's pages say of themselves, and how tables are headed; Sphinx calls it."""

from __future__ import annotations

from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from attnlab.lessons import lesson, slugs

COVER = (
    "A course on attention in fourteen Jupyter notebooks, from pure Python to a GPU kernel. "
    "You write the code; a wrong answer is told which mistake it equals, and why."
)
PICTURE = "_static/lesson.png"  # what is shown where a link is shared
LONGEST = 160  # letters of a description that search engines show


def described(page: str, tree: nodes.document | None) -> str:
    """What a page is about, in a sentence or two."""
    slug = page.rpartition("/")[2]
    if page == "index":
        return COVER
    if slug in slugs():
        about = lesson(slug)
        what = f"Lesson {about.number:02} of a course on attention"
        return f"{what}, {about.minutes} minutes. {about.title}: {about.builds}."
    if tree is None:
        return ""
    said = [
        each for each in tree.findall(nodes.paragraph) if isinstance(each.parent, nodes.section)
    ]
    text = " ".join(said[0].astext().split()) if said else ""
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rpartition(' ')[0]} …"


def tell(
    app: Sphinx, page: str, template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    """Description, and where the site has an address, what a shared link shows."""
    told = [("name", "description", described(page, tree))]
    if site := app.config.html_baseurl:
        address = site if page == "index" else f"{site}{page}.html"
        told += [
            ("property", "og:type", "website"),
            ("property", "og:site_name", app.config.project),
            ("property", "og:title", context.get("title", "") or app.config.html_title),
            ("property", "og:description", told[0][2]),
            ("property", "og:url", address),
            ("property", "og:image", f"{site}{PICTURE}"),
            ("property", "og:image:alt", "A wrong answer, and the card that names its mistake"),
            ("name", "twitter:card", "summary_large_image"),
        ]
    context["metatags"] = context.get("metatags", "") + "".join(
        f'<meta {kind}="{name}" content="{escape(text)}">\n' for kind, name, text in told if text
    )


def headed(app: Sphinx, tree: nodes.document) -> None:
    """A table whose first row is empty, as Markdown demands one, is headed by its first column."""
    for group in tree.findall(nodes.tgroup):
        for head in [*group.findall(nodes.thead)]:
            if not head.astext().strip():
                group.remove(head)
                next(group.findall(nodes.colspec))["stub"] = 1


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", tell)
    app.connect("doctree-read", headed)
    return {"parallel_read_safe": True}
