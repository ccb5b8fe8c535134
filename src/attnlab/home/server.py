"""A Jupyter server's page `/attnlab`: the course home. Enabled in jupyter/lab_config.py."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.utils import url_path_join
from tornado import web

from attnlab.home import page
from attnlab.home.exchange import returned
from attnlab.home.hand_in import hand_in
from attnlab.home.keepsake import keep
from attnlab.home.summary import HOME_ADDRESS
from attnlab.ipynb.files import NotWritten
from attnlab.ipynb.read import Unreadable
from attnlab.lessons import slugs
from attnlab.work.places import Course, Refused


class _Page(JupyterHandler):
    """What the course's pages share."""

    auth_resource = "contents"

    @property
    def course(self) -> Course:
        return Course(Path(self.settings["attnlab_course"]), Path(self.settings["attnlab_work"]))

    @property
    def links(self) -> page.Links:
        return page.Links(self.base_url, self.settings["attnlab_phones"])

    @property
    def content_security_policy(self) -> str:
        own = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; form-action 'self'"
        return f"{super().content_security_policy}; {own}"


class Home(_Page):
    @web.authenticated
    @authorized
    def get(self) -> None:
        self.show()

    def show(
        self,
        *said: str,
        made: Sequence[str] = (),
        keeping: Sequence[str] = (),
        asked: Sequence[str] = (),
    ) -> None:
        self.set_header("Cache-Control", "no-store")
        field = self.xsrf_form_html()
        told: dict[str, Any] = {"said": said, "made": made, "keeping": keeping, "asked": asked}
        self.finish(page.home(self.course, self.links, xsrf=field, back=returned(), **told))


class HandIn(Home):
    @web.authenticated
    @authorized
    def post(self) -> None:
        slug = self.get_body_argument("lesson", "")
        try:
            said = hand_in(self.course, slug)
        except (Refused, NotWritten, LookupError) as why:
            self.show(str(why.args[0]))
        else:
            self.show(*said, made=[self.links.zip(slug)])


class Made(Home):
    """What was made to be handed in; a link in its place is not followed."""

    @web.authenticated
    @authorized
    def get(self, slug: str) -> None:
        if slug not in slugs():
            raise web.HTTPError(404)
        path = self.course.handed_in(slug)
        try:
            data = self.course.read(path)
        except Unreadable as why:
            self.set_status(404)
            self.show(f"{path.name} cannot be downloaded: {why}")
            return
        self.set_header("Cache-Control", "no-store")
        self.set_header("Content-Type", "application/zip")
        self.set_header("Content-Disposition", f'attachment; filename="{path.name}"')
        self.finish(data)


class Returned(Home):
    """What came back of a lesson that was handed in: the instructor's page, which runs nothing."""

    @property
    def content_security_policy(self) -> str:
        return (
            "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
            "frame-ancestors 'self'"
        )

    @web.authenticated
    @authorized
    def get(self, slug: str) -> None:
        try:
            data = self.course.read(returned()[slug])
        except KeyError:
            raise web.HTTPError(404) from None
        except Unreadable as why:
            self.set_status(404)
            self.show(f"Your instructor's page about {slug} cannot be shown: {why}")
            return
        self.set_header("Cache-Control", "no-store")
        self.finish(data)


class Keepsake(Home):
    @web.authenticated
    @authorized
    async def post(self) -> None:
        asked = self.get_body_argument("sentence", ""), self.get_body_argument("name", "")
        try:  # in a thread, as a kernel is waited for
            said = await asyncio.to_thread(keep, self.course, *asked)
        except (Refused, NotWritten) as why:
            said = [str(why.args[0])]
        self.show(keeping=said, asked=asked)


class Glossary(_Page):
    @web.authenticated
    @authorized
    def get(self) -> None:
        self.finish(page.glossary(self.course, self.links))


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "attnlab.home.server"}]


def _load_jupyter_server_extension(server: Any) -> None:
    work = Path(server.root_dir)
    settings = server.web_app.settings
    settings.setdefault("attnlab_course", str(work.parent))
    settings["attnlab_work"] = str(work)
    settings["attnlab_phones"] = "notebook" in server.extension_manager.extensions
    address = url_path_join(server.base_url, "attnlab")
    os.environ[HOME_ADDRESS] = address  # kernels inherit it, for the link in a lesson's last cell
    server.web_app.add_handlers(
        ".*$",
        [
            (f"{address}/?", Home),
            (f"{address}/hand-in", HandIn),
            (rf"{address}/hand-in/([^/]+)\.zip", Made),
            (rf"{address}/returned/([^/]+)", Returned),
            (f"{address}/keepsake", Keepsake),
            (f"{address}/glossary/?", Glossary),
        ],
    )
