"""What the site's pages that run cost: bytes as a server sends them compressed, and seconds.

    python -m benchmarks.browser

From a server on this machine, in Chromium. A card's time runs from the press to the card in the
page. Beside each number stands the most that it may be; a busy machine takes longer.
"""

from __future__ import annotations

import gzip
import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Response

from attnlab.lessons import lesson, slugs
from docs import runs, site
from tests.lab import browser, chromium_path
from tests.running import FRONT, Running, Server, of, served
from tests.test_site_runs import answers

AGAIN = 5  # presses, of which the median counts
_PRESS = """name => new Promise((done) => {
    const cell = [...document.querySelectorAll('.run-cell')].find((each) => each.contains(
        each.querySelector(`[aria-label$=": ${name}"]`)));
    const start = performance.now();
    const output = cell.querySelector('.cell_output');
    output.replaceChildren();
    new MutationObserver((_, watch) => {
        if (!output.querySelector('section')) return;
        watch.disconnect();
        done((performance.now() - start) / 1000);
    }).observe(output, { childList: true });
    cell.querySelector('.run-button').click();
})"""


def packed(response: Response) -> int:
    return len(gzip.compress(response.body(), 6))


def row(what: str, found: float, most: float, unit: str) -> None:
    print(f"{what:<44} {found:8.2f} {unit:<3} of {most:g}{'' if found <= most else '  TOO MUCH'}")


def front(chromium: Browser, server: Server) -> None:
    """The front page: what comes before a press, what until the card, and how long that takes."""
    with chromium.new_context() as context:
        came: list[Response] = []
        context.on("response", lambda each: came.append(each))
        page = Running(context, server)
        page.page.wait_for_load_state("networkidle")
        before = sum(map(packed, came))
        first = page.page.evaluate(_PRESS, "softmax")
        again = [page.page.evaluate(_PRESS, "softmax") for _ in range(AGAIN)]
        row("front page before a press", before / 1e3, 300, "kB")
        row("all until the first card", sum(map(packed, came)) / 1e6, 7.5, "MB")
        row("first card", first, 5, "s")
        row("another card", statistics.median(again), 0.5, "s")


def exercises(chromium: Browser, server: Server, slug: str) -> None:
    """A lesson: what comes until a card, and how long each exercise's card takes, being right."""
    with chromium.new_context() as context:
        came: list[Response] = []
        context.on("response", lambda each: came.append(each))
        page = Running(context, server, of(slug))
        page.page.wait_for_load_state("networkidle")
        before = len(came)
        page.run("setup")
        row(f"{slug}, what the first press loads", sum(map(packed, came[before:])) / 1e6, 7.5, "MB")
        for name, answer in answers(slug).items():
            page.write(name, answer)
            page.run(name)
            times = [page.page.evaluate(_PRESS, f"{name}-check") for _ in range(AGAIN)]
            row(f"{slug}, {name}", statistics.median(times), 1, "s")


def main() -> None:
    if not chromium_path() or runs.missing():
        print(f"browser: there is no {'Chromium' if not chromium_path() else runs.missing()} here")
        return
    with tempfile.TemporaryDirectory() as scratch:
        pages = site.build(Path(scratch) / "site").parent
        with served(pages) as server, browser() as chromium:
            assert (pages / FRONT).is_file()
            front(chromium, server)
            for slug in slugs():
                if runs.runs(lesson(slug)):
                    exercises(chromium, server, slug)


if __name__ == "__main__":
    main()
