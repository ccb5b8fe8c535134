"""Sphinx's settings for the web site. `make site` lays out what they read, see docs/site.py."""

from attnlab.version import version as version_of

project = "attnlab"
author = "attnlab contributors"
project_copyright = "attnlab contributors, MIT License"
version = release = version_of()

extensions = ["myst_nb", "docs.frame"]
exclude_patterns = ["files"]
nb_execution_mode = "off"  # outputs are those that the tests compare with
nb_merge_streams = True
nb_render_markdown_format = "myst"
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
myst_heading_anchors = 3
myst_update_mathjax = False
myst_heading_slug_func = "docs.site.anchor"
suppress_warnings = ["mystnb.unknown_mime_type", "toc.not_included"]

html_title = "attnlab"
html_favicon = "docs/_static/icon.svg"
html_theme = "pydata_sphinx_theme"
html_extra_path = ["files"]  # as they are, to be downloaded
html_static_path = ["docs/_static"]
templates_path = ["docs/_templates"]
html_css_files = ["site.css", "run/run.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_use_index = False
html_show_search_summary = False  # it would be fetched, which pages that are files may not
html_show_sphinx = False
html_context = {"default_mode": "auto"}
html_sidebars: dict[str, list[str]] = {"**": []}  # figures need the width
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "secondary_sidebar_items": ["page-toc"],
    "article_header_end": ["prev-next"],
    "back_to_top_button": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
# The component that draws letters as paths: it asks nothing of the network, and works from a file.
mathjax_path = "mathjax/tex-svg.js"
mathjax3_config = {"tex": {"inlineMath": [["\\(", "\\)"]]}, "options": {"enableMenu": False}}
