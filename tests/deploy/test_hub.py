"""A lesson goes from a hub's students to their instructor and back, as docs/operator.md says.

The tests share one hub and one class, and go on from each other in the order in which they stand.
Pictures of what was on the screen are in build/hub/.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import stat
import subprocess
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.course import ROOT, code_cells, grading, read, solution_path, split_solution
from tests.deploy.hub import (
    COLLECT,
    COLLECT_AND_GRADE,
    COURSE,
    FIRST,
    GRADE,
    INBOUND,
    INSTRUCTOR,
    LESSON,
    OPEN,
    PAGES,
    PEOPLE,
    RIGHT,
    SHARED,
    STATE,
    THERE,
    WRONG,
    Hub,
    as_,
    instructor,
    made,
    processes_of,
    scores,
    why_not,
)
from tests.home import cells_of, find, own, save, source
from tests.lab import Lesson, Server, browser, chromium_path
from tests.until import PATIENCE, until

Note = Callable[[str], None]
PICTURES = ROOT / "build" / "hub"
EXERCISES = ("hard_lookup", "softmax", "soft_lookup")
# Emmy's softmax has no exponential: a known mistake, which the card and her page name.
WITHOUT_EXP = "def softmax(scores):\n    return [score / sum(scores) for score in scores]"
COMMENT, SCORE = "The idea is right: look at the sign of a score.", "1.5"

pytestmark = [
    pytest.mark.deploy,
    pytest.mark.skipif(bool(why_not()), reason=why_not()),
    pytest.mark.skipif(not chromium_path(), reason="needs Chromium"),
]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    PICTURES.mkdir(parents=True, exist_ok=True)
    with made(tmp_path_factory.mktemp("hub")) as found:
        yield found


@pytest.fixture(scope="module")
def chromium(hub: Hub) -> Iterator[Browser]:
    with browser() as found:
        yield found


@dataclass(frozen=True)
class Account(Server):
    """Somebody's server on the hub."""

    base: str = ""

    def address(self, path: str) -> str:
        return f"{self.base}{path}"


@dataclass(frozen=True)
class Visit:
    """Somebody who has logged in to the hub, in a browser of their own."""

    who: str
    context: BrowserContext
    page: Page
    base: str

    def show(self, path: str, picture: str = "") -> Page:
        """Open a page of their server; keep a picture of it."""
        self.page.goto(f"{self.base}{path}")
        if picture:
            self.picture(picture)
        return self.page

    def picture(self, name: str) -> None:
        self.page.screenshot(path=PICTURES / f"{name}.png")

    def lesson(self) -> Lesson:
        """The lesson in their JupyterLab."""
        home = Path("/home") / self.who / "work"
        return Lesson(self.context, Account(0, "", home, self.base), LESSON)


@pytest.fixture(scope="module")
def visits(hub: Hub, chromium: Browser) -> Callable[[str], Visit]:
    """Logs in who has not yet."""
    found: dict[str, Visit] = {}

    def visit(who: str) -> Visit:
        if who not in found:
            context = chromium.new_context(viewport={"width": 1280, "height": 900})
            context.set_default_timeout(1000 * PATIENCE)
            page = context.new_page()
            log_in(page, hub, who, hub.passwords[who])
            page.wait_for_url(f"**/user/{who}/**")
            found[who] = Visit(who, context, page, f"{hub.address}/user/{who}")
        return found[who]

    return visit


def log_in(page: Page, hub: Hub, who: str, password: str) -> None:
    page.goto(f"{hub.address}/hub/login")
    page.fill("#username_input", who)
    page.fill("#password_input", password)
    page.click("#login_submit")


def work(who: str) -> Path:
    return Path("/home") / who / "work" / LESSON / f"{LESSON}.ipynb"


def answers() -> dict[str, str]:
    """The lesson's exercises, written right."""
    cells = code_cells(read(solution_path(LESSON)))
    written = {grading(cell).get("grade_id"): cell.source for cell in cells}
    return {name: "\n".join(split_solution(written[name])) for name in EXERCISES}


def do(visit: Visit, written: dict[str, str], checked: str, picture: str) -> str:
    """Write answers in JupyterLab, run one's check, save; what its card says."""
    lesson = visit.lesson()
    lesson.run_at(lesson.index("setup"))
    for name, text in written.items():
        lesson.write(name, text)
    for name in written:
        lesson.run(f"{name}-check")
    card = lesson.run(f"{checked}-check").inner_text()
    lesson.page.screenshot(path=PICTURES / f"{picture}.png")
    lesson.page.keyboard.press("Control+s")
    until(lambda: written_in(work(visit.who), written), written, "the notebook, saved")
    lesson.close()
    return card


def written_in(path: Path, names: Iterable[str]) -> dict[str, str]:
    """What cells hold in a notebook; nothing while it is being saved."""
    try:
        cells = cells_of(path)
    except ValueError:
        return {}
    return {name: source(find(cells, name)) for name in names}


def hand_in(visit: Visit, picture: str = "") -> str:
    """Press the button of the course home; what it says."""
    page = visit.show("/attnlab")
    page.get_by_role("button", name="Hand in lesson 01").click()
    said = page.locator(".said")
    expect(said).to_be_visible()
    if picture:
        visit.picture(picture)
    return said.inner_text()


def waiting(who: str = "") -> list[Path]:
    return sorted(INBOUND.glob(f"{who}*+{LESSON}+*"), key=lambda path: path.stat().st_mtime)


def test_the_page_makes_a_hub(hub: Hub, note: Note) -> None:
    instructor("\n".join(FIRST.splitlines()[2:]))
    assert (COURSE / "class" / "roster.csv").read_text().split() == ["id", RIGHT, WRONG]
    for who in PEOPLE:
        assert stat.S_IMODE((Path("/home") / who).stat().st_mode) == 0o700
    [wheel] = (hub.clone / "build" / "wheel").iterdir()
    names = zipfile.ZipFile(wheel).namelist()
    assert not [name for name in names if "solution" in name.lower() or "autograder" in name]
    packages = instructor("pip list 2>/dev/null")
    for name in ("jupyterhub", "jupyterlab", "nbgrader", "torch"):
        [version] = re.findall(rf"^{name} +(\S+)", packages, re.MULTILINE)
        note(f"{name} {version}")
    proxy = (Path("/opt/attnlab-hub/node_modules/configurable-http-proxy/package.json")).read_text()
    [version] = re.findall(r'"version": "(.+)"', proxy)
    note(f"configurable-http-proxy {version}, Node {said('node', '--version')}")
    note(f"hub's Python {instructor('python --version').split()[-1]}")


def said(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_who_is_no_one_of_the_class_does_not_get_in(hub: Hub, chromium: Browser) -> None:
    page = chromium.new_page()
    for who, password in ((RIGHT, "wrong"), ("ada+1", hub.passwords[RIGHT]), ("nobody", "x")):
        log_in(page, hub, who, password)
        expect(page.locator(".login_error")).to_contain_text("Invalid username or password")
    page.close()


def test_homes_and_hand_ins_are_closed_to_others(hub: Hub) -> None:
    for path in (f"/home/{WRONG}", str(COURSE), str(INBOUND), str(STATE)):
        assert "Permission denied" in as_(RIGHT, f"ls {path}", code=None)
    for folder in (SHARED / "exchange" / "attnlab", INBOUND):
        moved = as_(RIGHT, f"mv {folder} {folder}-mine", code=None)
        assert "Permission denied" in moved or "Operation not permitted" in moved


def test_a_lesson_is_done_in_the_browser_and_handed_in(
    visits: Callable[[str], Visit], note: Note
) -> None:
    instructor(OPEN)
    began = time.monotonic()
    right = visits(RIGHT)
    note(f"from the password to the course home: {time.monotonic() - began:.0f} s")
    expect(right.page.get_by_role("heading", name="Lessons")).to_be_visible()
    assert right.page.url == f"{right.base}/attnlab"
    right.picture("1-home")
    card = do(right, answers(), "soft_lookup", "2-right")
    assert "✓" in card
    assert "✗" not in card
    wrong = visits(WRONG)
    card = do(wrong, answers() | {"softmax": WITHOUT_EXP}, "softmax", "3-wrong")
    assert "no-exp" in card or "exp" in card
    for visit in (right, wrong):
        told = hand_in(visit, f"4-handed-in-{visit.who}")
        assert "Submitted to nbgrader's exchange, course attnlab, at 2" in told
        [folder] = waiting(visit.who)
        assert folder.owner() == visit.who
        assert (folder / f"{LESSON}.ipynb").read_bytes() == work(visit.who).read_bytes()
    copies = as_(RIGHT, f"find ~ -name {LESSON}.ipynb -not -path '*/.*'").split()
    assert copies == [str(work(RIGHT))]  # one of the lesson in a home


def test_the_instructor_grades_judges_and_gives_back(
    visits: Callable[[str], Visit], note: Note
) -> None:
    told = instructor(COLLECT_AND_GRADE)
    assert "2 new, 0 replaced" in told
    assert scores() == {RIGHT: 6.0, WRONG: 1.0}  # her soft_lookup calls her softmax
    page = judge(visits(INSTRUCTOR), "1 / 6")
    page.screenshot(path=PICTURES / "6-judged.png")
    instructor(PAGES)
    assert scores()[WRONG] == 1.0 + float(SCORE)
    note(f"scores: {scores()}")
    for who in (RIGHT, WRONG):
        visit = visits(who)
        home = visit.show("/attnlab", f"7-home-{who}")
        home.get_by_role("link", name="Your instructor’s page").click()
        home.wait_for_url(f"**/attnlab/returned/{LESSON}")
        expect(home.get_by_role("heading").first).to_be_visible()
        visit.picture(f"8-page-{who}")
        text = home.inner_text("body")
        assert (COMMENT in text) == (who == WRONG)
        assert f"{scores()[who]:g} of 6" in text


def judge(visit: Visit, score_there: str) -> Page:
    """Open in formgrader what has this score; comment on its softmax and set another one."""
    page = visit.show(f"/formgrader/gradebook/{LESSON}/{LESSON}")
    expect(page.locator("table")).to_contain_text("Submission #1")
    visit.picture("5-formgrader")
    page.get_by_role("row").filter(has_text=score_there).get_by_role("link").first.click()
    page.wait_for_url("**/formgrader/submissions/**")
    page.wait_for_load_state("networkidle")  # formgrader's fields ask for what they hold
    score = page.locator(".score").nth(1)
    comment = page.locator("textarea.comment").nth(1)
    expect(score).to_have_attribute("placeholder", "0")  # so it has been told
    comment.fill(COMMENT)
    with page.expect_response("**/formgrader/api/comment/**"):
        comment.blur()
    score.fill(SCORE)
    with page.expect_response("**/formgrader/api/grade/**"):
        score.blur()
    return page


def test_a_student_sees_nobody_else_s(visits: Callable[[str], Visit], hub: Hub) -> None:
    right = visits(RIGHT)
    for path in ("/attnlab", f"/attnlab/returned/{LESSON}", "/lab"):
        answer = right.page.goto(f"{hub.address}/user/{WRONG}{path}")
        assert answer is not None
        assert answer.status in (403, 404), path
    right.picture("9-another-s-home")
    assert "Permission denied" in as_(RIGHT, f"ls {INBOUND.parent}/feedback", code=None)
    assert right.page.goto(f"{hub.address}/user/{INSTRUCTOR}/formgrader").status in (403, 404)  # type: ignore[union-attr]
    assert right.show("/formgrader").title() != "nbgrader formgrade"


def test_a_second_and_a_late_hand_in(visits: Callable[[str], Visit]) -> None:
    instructor(OPEN.splitlines()[1].replace("2027-", "2026-"))  # the day was in March
    wrong = visits(WRONG)
    do(wrong, {"softmax": answers()["softmax"]}, "softmax", "10-mended")
    hand_in(wrong)
    assert len(waiting(WRONG)) == 2
    told = instructor(COLLECT)
    assert "0 new, 1 replaced" in told
    assert f"the newest was taken: {WRONG} (2)" in told
    told = instructor(GRADE)
    assert re.search(rf"^Late: .*{WRONG} by ", told, re.MULTILINE), told


def test_hand_ins_that_cannot_be_read_are_told_and_cost_nobody_else(hub: Hub) -> None:
    before = scores()
    put = f"""umask 022
    cd {INBOUND}
    put() {{ mkdir "$1"; printf '%0128d' 0 > "$1/submission_secret.txt"; }}
    now="$(date -u +'%F %T.000001 UTC')"
    """
    instructor_s = COURSE / "solutions" / LESSON / f"{LESSON}.ipynb"
    as_(RIGHT, put + f'put "{WRONG}+{LESSON}+$now+forged"')
    as_(
        RIGHT,
        put + f'put "{RIGHT}+{LESSON}+$now+linked"\n'
        f'ln -s {instructor_s} "{RIGHT}+{LESSON}+$now+linked/{LESSON}.ipynb"',
    )
    told = instructor(COLLECT, code=1)
    assert f"It says '{WRONG}', but {RIGHT} made it." in told
    assert "is a link that leads out of it" in told
    assert "Not placed: 2" in told
    for path in INBOUND.iterdir():
        if path.name.endswith(("+forged", "+linked")):
            shutil.rmtree(path)
    as_(
        RIGHT,
        put + f'put "{RIGHT}+{LESSON}+$now+noise"\n'
        f'echo "{{" > "{RIGHT}+{LESSON}+$now+noise/{LESSON}.ipynb"',
    )
    as_(WRONG, put + f'put "{WRONG}+{LESSON}+$now+shut"\nchmod 700 "{WRONG}+{LESSON}+$now+shut"')
    told = instructor(COLLECT, code=1)
    assert f"Let {WRONG} hand in again." in told
    told = instructor(GRADE)
    assert scores() == {RIGHT: 0.0, WRONG: before[WRONG]}
    assert "INVALID" in (COURSE / "class" / "runs" / LESSON / "summary.txt").read_text() or (
        "INVALID" in told
    )
    for path in INBOUND.iterdir():
        if path.name.endswith(("+noise", "+shut")):
            shutil.rmtree(path)


def test_an_exchange_with_wrong_permissions_says_so(
    visits: Callable[[str], Visit], hub: Hub
) -> None:
    right = visits(RIGHT)
    for folder, shut, mode in (
        (INBOUND, 0o700, 0o3733),
        (SHARED / "exchange", 0o755, 0o1777),
    ):
        folder.chmod(shut)
        told = hand_in(right, f"12-shut-{folder.name}")
        assert "It was not submitted to nbgrader's exchange" in told
        assert str(folder) in told
        assert f"Hand in the file work/hand-in/{LESSON}.zip" in told
        folder.chmod(mode)
    assert "Submitted to" in hand_in(right)
    assert "1 replaced" in instructor(COLLECT)
    instructor(GRADE)
    assert scores()[RIGHT] == 6.0


def test_two_at_once_and_a_double_click_lose_nothing(visits: Callable[[str], Visit]) -> None:
    before = {who: len(waiting(who)) for who in (RIGHT, WRONG)}
    button = "Hand in lesson 01"
    for who in (RIGHT, WRONG):
        visits(who).show("/attnlab")
    for who in (RIGHT, WRONG):
        visits(who).page.get_by_role("button", name=button).dblclick(no_wait_after=True)
    for who in (RIGHT, WRONG):
        expect(visits(who).page.locator(".said")).to_contain_text("Submitted to")
        assert len(waiting(who)) > before[who]
    told = instructor(COLLECT)
    assert "Of 2 in the roster, 2 have handed in." in told
    for who in (RIGHT, WRONG):
        data = (COURSE / "class" / "submitted" / who / LESSON / f"{LESSON}.ipynb").read_bytes()
        assert data == work(who).read_bytes()


def test_a_full_disk_at_collect_loses_nothing(hub: Hub) -> None:
    submitted = COURSE / "class" / "submitted"
    whole = scores()
    with small_disk(submitted):
        before = sorted(path.read_bytes() for path in submitted.rglob("*") if path.is_file())
        as_(WRONG, f"cd ~/work/{LESSON} && cp {LESSON}.ipynb ~/before.ipynb")
        cells = cells_of(work(WRONG))
        save(work(WRONG), [*cells, own("x = '" + "padding " * 100_000 + "'")])
        as_(WRONG, f"PATH=/opt/attnlab-hub/env/bin:$PATH; attnlab hand-in {LESSON}")
        told = instructor(COLLECT, code=1)
        assert "The disk is full. Free some space, then run this again." in told
        after = sorted(path.read_bytes() for path in submitted.rglob("*") if path.is_file())
        assert after == before
    told = instructor(COLLECT)
    assert "1 replaced" in told
    instructor(GRADE)
    assert scores() == whole
    as_(WRONG, f"mv ~/before.ipynb ~/work/{LESSON}/{LESSON}.ipynb")


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """A disk of 600 KB in a folder's place, with what the folder holds."""
    aside = folder.with_name("aside")
    folder.rename(aside)
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "none", folder], check=True)
    try:
        shutil.copytree(aside, folder, dirs_exist_ok=True)
        subprocess.run(["chown", "-R", f"{INSTRUCTOR}:", folder], check=True)
        yield
    finally:
        subprocess.run(["umount", folder], check=True)
        folder.rmdir()
        aside.rename(folder)


def test_the_hub_dies_while_grading_in_its_terminal(
    visits: Callable[[str], Visit], hub: Hub, note: Note
) -> None:
    whole = scores()
    slow = [own(f"import time; time.sleep(8)  # {turn}") for turn in range(3)]
    for who in (RIGHT, WRONG):
        cells = cells_of(work(who))
        save(work(who), [*slow, *cells])
        as_(who, f"PATH=/opt/attnlab-hub/env/bin:$PATH; attnlab hand-in {LESSON}")
    instructor(COLLECT)
    lesson = visits(RIGHT).lesson()
    lesson.run_at(lesson.index("setup"))
    page = visits(INSTRUCTOR).show("/lab")
    page.wait_for_function("window.jupyterapp?.restored")
    page.evaluate(
        "window.jupyterapp.restored.then(() => "
        "window.jupyterapp.commands.execute('terminal:create-new'))"
    )
    page.locator(".jp-Terminal .xterm-helper-textarea").wait_for(state="attached")
    page.locator(".jp-Terminal").click()
    page.keyboard.type(f"{THERE.replace(chr(10), ' && ')} && {GRADE}\n")
    until(lambda: bool(graders()), what="the grader")
    visits(INSTRUCTOR).picture("13-grading")
    servers = {n for n, line in processes_of(*PEOPLE).items() if "jupyterhub-singleuser" in line}
    hub.kill()
    assert graders()
    note(f"the hub was killed while grading, and ran again after {hub.start():.1f} s")
    until(lambda: bool(graders()), False, "the end of grading")
    assert servers <= set(processes_of(*PEOPLE))  # nobody's server was restarted
    assert scores() == whole
    lesson.reload()
    lesson.write("softmax", answers()["softmax"])
    assert "✓" in lesson.run("softmax-check").inner_text()
    lesson.page.screenshot(path=PICTURES / "14-after-the-hub-died.png")
    lesson.close()
    assert "Submitted to" in hand_in(visits(RIGHT))


def graders() -> list[int]:
    return [n for n, line in processes_of(INSTRUCTOR).items() if "autograder grade" in line]


def test_a_grading_that_dies_goes_on(hub: Hub) -> None:
    whole = scores()
    instructor("python -m autograder grade 01-soft-lookup >/dev/null 2>&1 &")
    until(lambda: bool(graders()), what="the grader")
    for number in graders():
        os.kill(number, signal.SIGKILL)
    until(lambda: bool(graders()), False, "the end of the grader")
    instructor(COLLECT)
    instructor(GRADE)
    assert scores() == whole
