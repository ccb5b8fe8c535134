"""Where the course is published: from this one setting README, site and notebooks take their words.

Empty: a clone, and what `make bundle` writes, are the doors, and nothing tells anyone to install a
name that is not ours. After a change: `make readme sync release`; docs/release.md says what else.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Places(NamedTuple):
    """All three, or none.

    Attributes:
        package: its name on PyPI, which is pyproject.toml's.
        site: the address below which `make site`'s pages stand: https://…/
        repository: OWNER/NAME, at GitHub.
    """

    package: str = ""
    site: str = ""
    repository: str = ""


PUBLISHED_AT = Places(package="", site="", repository="")

_FORMS = {
    "package": (r"[a-z0-9]+(-[a-z0-9]+)*", "a package's name in small letters, attnlab"),
    "site": (r"https://[^\s\"'<>]+/", "an address, https://example.org/attnlab/"),
    "repository": (r"[\w.-]+/[\w.-]+", "OWNER/NAME at GitHub"),
}


def wrong(places: Places) -> str:
    """What keeps these from being used, in a sentence; '' if nothing does."""
    given = places._asdict()
    where = "PUBLISHED_AT in src/attnlab/published.py"
    if any(given.values()) and (missing := [name for name in given if not given[name]]):
        lacks = " and no ".join(missing)
        return f"{where} is half filled in: it has no {lacks}. Fill in all, or none."
    for name, (form, meant) in _FORMS.items():
        if given[name] and not re.fullmatch(form, given[name]):
            return f"{where} has {name}={given[name]!r}, which is not {meant}."
    return ""


def imported(places: Places = PUBLISHED_AT) -> str:
    """The line with which a lesson begins, and all that a notebook alone says to who lacks us."""
    missing = f"%pip install {places.package}" if places.package else "open it by: attnlab lab"
    return f"from attnlab import begin, check, figures, quiz  # is it missing? {missing}"


def upgrade(places: Places = PUBLISHED_AT) -> str:
    """How a package that is not a clone is brought up to date."""
    if places.package:
        return f'pip install --upgrade "{places.package}[learn]"'
    return "unpack the newer hand-out over the older one, and set up again as its README says"
