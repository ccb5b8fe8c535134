"""The first screen of README and site: how the course is tried and got, where it is published."""

from __future__ import annotations

from attnlab.published import PUBLISHED_AT, Places

_PUBLISHED = """\
On your machine, with [uv](https://docs.astral.sh/uv/), two commands set it up and open it in the
folder where you are:

```
uv tool install --torch-backend cpu "{package}[learn]"
attnlab lab
```

With pip and Python 3.11 or newer:

```
python3 -m venv .venv
.venv/bin/python -m pip install "{package}[learn]"
.venv/bin/attnlab lab
```
"""
_CLONE = """\
On your machine, in a clone of the course's repository, with Python 3.11 or newer, two commands set
it up and open it:

```
python3 -m venv .venv && .venv/bin/python -m pip install -c constraints.txt -e ".[course]"
.venv/bin/attnlab lab
```

Where there is make, `make lab` does both. For whoever has no git, `make bundle` writes a zip: it
holds the course as a wheel, and its README says how that is set up.
"""


def tried(places: Places = PUBLISHED_AT) -> str:
    """A line that leads to what runs without an installation; '' where there is no such place."""
    if not places.site:
        return ""
    page = f"{places.site}notebooks/01-soft-lookup/01-soft-lookup.html"
    return f"**[Try it in the browser]({page})**: there is nothing to install.\n\n"


def got(places: Places = PUBLISHED_AT) -> str:
    """How one gets it, in Markdown."""
    return (_PUBLISHED if places.package else _CLONE).format(package=places.package)
