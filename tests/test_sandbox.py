"""Learners' code is kept in: each test tries one way out, from inside a child."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder import doctor
from autograder.sandbox import isolation
from autograder.sandbox.child import confine, seccomp
from autograder.sandbox.isolation import IsolationError
from autograder.sandbox.limits import MIB, Limits
from autograder.sandbox.sandbox import Child, Sandbox
from autograder.sandbox.zygotes import is_mapped
from tests.as_another import NOBODY
from tests.processes import children, descendants, wait_until_gone

pytestmark = pytest.mark.slow

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent
ADAPTER: dict[str, str | Path] = {
    "autograder/__init__.py": os.devnull,
    "autograder/sandbox/child/__init__.py": os.devnull,
    "autograder/sandbox/child/serve.py": HERE / "scripted_child.py",
}
LIMITS = Limits(
    memory_bytes=512 * MIB, scratch_bytes=8 * MIB, scratch_files=100, threads=16, open_files=40
)
SECONDS = 60
EPERM, EAGAIN = 1, 11
DENIED = {"raised": "PermissionError", "errno": EPERM}


@pytest.fixture(scope="module")
def pure() -> Iterator[Sandbox]:
    with Sandbox("pure", LIMITS, adapter=ADAPTER) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def numpy() -> Iterator[Sandbox]:
    with Sandbox("numpy", LIMITS, adapter=ADAPTER) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def torch() -> Iterator[Sandbox]:
    with Sandbox("torch", LIMITS, adapter=ADAPTER) as sandbox:
        yield sandbox


def say(child: Child, code: str) -> None:
    child.channel.settimeout(SECONDS)
    child.channel.sendall(json.dumps(textwrap.dedent(code)).encode() + b"\n")


def ask(child: Child, code: str) -> Any:
    """What a child answers; None if it dies of the question."""
    say(child, code)
    try:
        line = child.channel.makefile("rb").readline()
    except ConnectionResetError:
        return None
    return json.loads(line) if line else None


def run(sandbox: Sandbox, code: str) -> Any:
    with sandbox.start() as child:
        return ask(child, code)


CALL = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *arguments):
    if libc.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), "refused")
"""
NUMBERS = {
    # x86_64, aarch64
    "fork": (57, 220), "vfork": (58, 220), "execve": (59, 221), "execveat": (322, 281),
    "socket": (41, 198), "connect": (42, 203), "bind": (49, 200), "ptrace": (101, 117),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "unshare": (272, 97), "setns": (308, 268), "bpf": (321, 280), "setuid": (105, 146),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "keyctl": (250, 219),
    "add_key": (248, 217), "memfd_create": (319, 279), "shmget": (29, 194),
    "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180),
    "process_vm_readv": (310, 270), "init_module": (175, 105), "kexec_load": (246, 104),
    "reboot": (169, 142), "sethostname": (170, 161), "open_by_handle_at": (304, 265),
    "capset": (126, 91), "seccomp": (317, 277), "mknodat": (259, 33), "sync": (162, 81),
    "personality": (135, 92), "tkill": (200, 130), "rt_sigqueueinfo": (129, 138),
    "kcmp": (312, 272), "fanotify_init": (300, 262), "setpriority": (141, 140),
    # These tell of the caches, the disk, memory or counts that all children share, or change them.
    "fadvise64": (221, 223), "readahead": (187, 213), "mincore": (27, 232), "preadv2": (327, 286),
    "pwritev2": (328, 287), "getrusage": (98, 165), "get_mempolicy": (239, 236),
    "sysinfo": (99, 179), "statfs": (137, 43), "fstatfs": (138, 44), "statx": (332, 291),
    "getsockopt": (55, 209), "setsockopt": (54, 208), "sendmsg": (46, 211), "recvmsg": (47, 212),
    "pipe2": (293, 59), "eventfd2": (290, 19), "timerfd_create": (283, 85), "flock": (73, 32),
    "sched_setaffinity": (203, 122),
}  # fmt: skip
NEW_NUMBERS = {
    "pidfd_send_signal": 424, "io_uring_setup": 425, "open_tree": 428, "move_mount": 429,
    "fsopen": 430, "pidfd_open": 434, "clone3": 435, "process_madvise": 440,
    "mount_setattr": 442, "landlock_create_ruleset": 444, "memfd_secret": 447, "unheard_of": 499,
    "openat2": 437, "cachestat": 451, "statmount": 457,
}  # fmt: skip
COLUMN = seccomp.COLUMN.get(os.uname().machine, 0)


# What works


def test_a_child_answers(pure: Sandbox) -> None:
    assert run(pure, "result = 6 * 7") == {"result": 42}


def test_each_child_is_new(pure: Sandbox) -> None:
    run(pure, "import math; math.pi = 3")
    assert run(pure, "import math; result = math.pi > 3") == {"result": True}


def test_pytorch_computes_with_the_code_that_it_has_outside(torch: Sandbox) -> None:
    import torch as outside

    code = """
        import torch
        x = torch.ones(3, 4, requires_grad=True)
        torch.softmax(x @ x.T, -1).sum().backward()
        result = [list(x.grad.shape), torch.backends.cpu.get_cpu_capability()]
    """
    assert run(torch, code)["result"] == [[3, 4], outside.backends.cpu.get_cpu_capability()]


def test_pytorch_may_use_threads(torch: Sandbox) -> None:
    code = """
        import torch
        torch.set_num_threads(2)
        result = torch.ones(600, 600).mm(torch.ones(600, 600)).sum().item()
    """
    assert run(torch, code) == {"result": 600.0**3}


def test_what_honest_code_needs_of_the_system_works(pure: Sandbox) -> None:
    code = """
        import asyncio, os, random, signal, tempfile, threading, time
        async def later():
            await asyncio.sleep(0.001)
            return 1
        seen = [asyncio.run(later())]
        thread = threading.Thread(target=seen.append, args=(2,))
        thread.start(); thread.join()
        with tempfile.NamedTemporaryFile("w+") as file:
            file.write("3"); file.flush(); file.seek(0)
            seen.append(int(file.read()))
        signal.signal(signal.SIGALRM, lambda *_: seen.append(4))
        signal.setitimer(signal.ITIMER_REAL, 0.001)
        signal.pause()
        signal.signal(signal.SIGUSR1, lambda *_: seen.append(5))
        signal.raise_signal(signal.SIGUSR1)
        os.kill(os.getpid(), signal.SIGUSR1)
        time.localtime(); random.random(); os.urandom(4)
        result = seen
    """
    assert run(pure, code) == {"result": [1, 2, 3, 4, 5, 5]}


# Stage by absence


@pytest.mark.parametrize(
    ("stage", "absent"), [("pure", "numpy"), ("pure", "torch"), ("numpy", "torch")]
)
def test_what_is_beyond_a_stage_is_nowhere(
    request: pytest.FixtureRequest, stage: str, absent: str
) -> None:
    code = f"""
        import importlib, os, sys
        folders, files = [], []
        for place, below, names in os.walk("/"):
            folders += [os.path.join(place, name) for name in below]
            files += [os.path.join(place, name) for name in names]
        found = [path for path in folders + files if os.path.basename(path).startswith("{absent}")]
        sys.path += folders
        importlib.invalidate_caches()
        try:
            import {absent}
        except ModuleNotFoundError:
            pass
        else:
            found.append("imported")
        result = [found, len(files) > 1000]
    """
    # The standard library has a folder of header files or tests of that name in no version.
    assert run(request.getfixturevalue(stage), code) == {"result": [[], True]}


def test_each_stage_has_its_own_library(numpy: Sandbox, torch: Sandbox) -> None:
    code = "import numpy; result = numpy.arange(4).sum().item()"
    assert run(numpy, code) == run(torch, code) == {"result": 6}


@pytest.mark.parametrize("module", ["nbgrader", "IPython", "attnlab", "pytest", "traitlets"])
def test_nothing_else_that_is_installed_can_be_imported(torch: Sandbox, module: str) -> None:
    __import__(module)
    assert run(torch, f"import {module}")["raised"] == "ModuleNotFoundError"


def test_only_the_adapter_is_there_of_the_grader(pure: Sandbox) -> None:
    code = "import autograder.sandbox.child.serve, os; result = os.listdir(autograder.__path__[0])"
    assert sorted(run(pure, code)["result"]) == ["__init__.py", "sandbox"]
    assert run(pure, "import autograder.sandbox.limits")["raised"] == "ModuleNotFoundError"


# Processes


@pytest.mark.parametrize(
    "code",
    [
        "import os; os.fork()",
        "import os; os.forkpty()",
        "import os; os.posix_spawn('/bin/true', ['true'], {})",
        "import os, sys; os.execv(sys.executable, ['python'])",
        "import subprocess; subprocess.run(['true'])",
        "import subprocess, sys; subprocess.run([sys.executable, '-c', ''], close_fds=False)",
        "import multiprocessing as m; m.get_context('fork').Process(target=print).start()",
    ],
)
def test_no_process_can_be_started(pure: Sandbox, code: str) -> None:
    assert run(pure, code)["raised"] in ("PermissionError", "OSError", "FileNotFoundError")


@pytest.mark.parametrize("name", NUMBERS)
def test_a_system_call_made_by_hand_is_refused(pure: Sandbox, name: str) -> None:
    code = CALL + f"call({NUMBERS[name][COLUMN]}, 0, 0, 0, 0, 0)"
    assert run(pure, code) == DENIED


@pytest.mark.parametrize("name", NEW_NUMBERS)
def test_a_new_system_call_seems_not_to_exist(pure: Sandbox, name: str) -> None:
    import errno

    code = CALL + f"call({NEW_NUMBERS[name]}, 0, 0, 0, 0, 0)"
    assert run(pure, code)["errno"] == errno.ENOSYS


def test_system_calls_made_by_hand_work_where_they_are_allowed(pure: Sandbox) -> None:
    assert run(pure, CALL + f"call({seccomp.ALLOWED['getpid'][COLUMN]})") == {"result": None}


@pytest.mark.parametrize("flags", ["0x11", "0x10000000 | 0x11", "0x20000000 | 0x10f00"])
def test_clone_makes_threads_only(pure: Sandbox, flags: str) -> None:
    assert run(pure, CALL + f"call({seccomp.CHECKED['clone'][COLUMN]}, {flags}, 0)") == DENIED


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="another table of calls is x86's alone")
def test_a_call_through_another_table_kills(pure: Sandbox) -> None:
    with pure.start() as child:
        assert ask(child, CALL + f"call({0x40000000 | 39})") is None
        assert child.end() == "signal SIGSYS"


@pytest.mark.parametrize("target", [-1, 0, 2, 12345])
def test_no_other_process_can_be_signalled(pure: Sandbox, target: object) -> None:
    assert run(pure, f"import os; os.kill({target}, 9)") == DENIED


def test_no_other_process_can_be_seen(pure: Sandbox) -> None:
    code = """
        import os
        result = [os.getpid(), os.getppid(), os.path.exists("/proc"), os.path.exists("/sys")]
    """
    assert run(pure, code) == {"result": [1, 0, False, False]}


def test_rights_cannot_be_had_back(pure: Sandbox) -> None:
    for code in ("os.setuid(1)", "os.setgroups([1])", "os.setresuid(1, 1, 1)", "os.nice(-1)"):
        assert run(pure, f"import os; {code}") == DENIED
    code = (
        CALL
        + """
header, rights = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
libc.capget(header, rights)
result = list(rights)
"""
    )
    assert run(pure, code) == {"result": [0] * 6}
    for option in (1, 4, 8, 22, 24, 28, 38, 47):  # those that set how a process is kept in
        assert run(pure, CALL + f"call({seccomp.CHECKED['prctl'][COLUMN]}, {option}, 1)") == DENIED


def test_no_signal_is_sent_by_way_of_a_file(pure: Sandbox) -> None:
    code = "import fcntl; fcntl.fcntl(3, {}, {})"
    for command, argument in ((8, 2), (10, 9), (15, "b'12345678'")):  # F_SETOWN, SETSIG, OWN_EX
        assert run(pure, code.format(command, argument)) == DENIED


def test_another_process_cannot_be_limited(pure: Sandbox) -> None:
    code = "import resource; resource.prlimit({}, resource.RLIMIT_CPU, (1, 1))"
    assert run(pure, code.format(2)) == DENIED
    assert run(pure, code.format(1)) == {"result": None}


# Network


@pytest.mark.parametrize(
    "code",
    [
        "socket.socket()",
        "socket.socket(socket.AF_UNIX)",
        "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
        "socket.create_connection(('127.0.0.1', 80), 1)",
        "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)",
        "import urllib.request; urllib.request.urlopen('http://127.0.0.1')",
    ],
)
def test_there_is_no_network(pure: Sandbox, code: str) -> None:
    assert run(pure, f"import socket; {code}")["raised"] in (
        "PermissionError",
        "URLError",
        "gaierror",
    )


def test_the_network_namespace_is_empty(pure: Sandbox) -> None:
    waiting, zygote = _zygotes(pure)
    mine = os.readlink("/proc/self/ns/net")
    assert os.readlink(f"/proc/{waiting}/ns/net") == os.readlink(f"/proc/{zygote}/ns/net") != mine
    lines = Path(f"/proc/{zygote}/net/dev").read_text().splitlines()[2:]
    assert [line.split(":")[0].strip() for line in lines] == ["lo"]


# Files


@pytest.mark.parametrize(
    "path",
    [
        CHECKOUT / "solutions",
        CHECKOUT / "src/attnlab/lessons",
        CHECKOUT / "src/attnlab/checks/pose.py",
        CHECKOUT / "autograder/run/grade.py",
        CHECKOUT,
        Path("/etc/passwd"),
        Path("/home"),
        Path("/var"),
        Path("/bin/sh"),
        Path("/usr/bin/env"),
        Path("/usr/share"),
        Path("/proc/self/status"),
        Path("/sys"),
        Path("/dev/shm"),
        Path("/dev/tty"),
    ],
    ids=str,
)
def test_a_file_that_is_none_of_a_childs_business_is_not_there(pure: Sandbox, path: Path) -> None:
    assert path.exists()
    assert run(pure, f"import os; result = os.path.lexists({str(path)!r})") == {"result": False}


def test_all_that_can_be_seen_is_the_library(torch: Sandbox) -> None:
    listed = run(torch, "import os; result = os.listdir('/')")["result"]
    first = Path(sys.base_prefix).parts[1]
    expected = {"adapter", "site", "tmp", "dev", "usr", "etc", "lib", "lib64", "lib32", first}
    assert set(listed) <= expected
    devices = run(torch, "import os; result = sorted(os.listdir('/dev'))")["result"]
    assert devices == ["null", "random", "urandom", "zero"]
    assert run(torch, "import os; result = os.listdir('/etc')")["result"] == ["ld.so.cache"]


def test_nothing_can_be_written_but_in_its_own_tmp(torch: Sandbox) -> None:
    code = """
        import os
        written = []
        for place, _, _ in os.walk("/"):
            try:
                open(os.path.join(place, "mark"), "w").close()
            except OSError:
                continue
            written.append(place)
        result = written
    """
    assert run(torch, code) == {"result": ["/tmp"]}
    for code in (
        "import os, sys; os.unlink(os.__file__)",
        "import os; os.chmod(os.__file__, 0o777)",
        "import os; os.rename('/adapter', '/tmp/adapter')",
        "import os; os.truncate('/adapter/autograder/sandbox/child/serve.py', 0)",
    ):
        assert run(torch, code)["raised"] in ("OSError", "PermissionError"), code


def test_a_programs_file_in_tmp_cannot_be_mapped_as_code(pure: Sandbox) -> None:
    code = """
        import mmap, os
        with open("code", "wb+") as file:
            file.write(bytes(4096)); file.flush()
            mmap.mmap(file.fileno(), 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)
    """
    assert run(pure, code) == DENIED


def test_a_link_in_tmp_leads_nowhere(pure: Sandbox) -> None:
    code = "import os; os.symlink('/etc/passwd', 'link'); open('link')"
    assert run(pure, code)["raised"] == "FileNotFoundError"
    assert run(pure, "open('/tmp/../../../../etc/passwd')")["raised"] == "FileNotFoundError"


def test_the_next_child_finds_nothing_of_the_last_one(pure: Sandbox) -> None:
    leave = """
        import os
        os.makedirs("a/b"); open("a/b/c", "w").write("answer"); open("/tmp/.hidden", "w").close()
        result = os.listdir("/tmp")
    """
    assert sorted(run(pure, leave)["result"]) == [".hidden", "a"]
    assert run(pure, "import os; result = os.listdir('/tmp')") == {"result": []}


NOTES = {
    # What one child does, and how the next would see it. NAME is one that nobody has looked up.
    "flag": (
        "import fcntl, os; fcntl.fcntl(0, fcntl.F_SETFL, os.O_APPEND)",
        "import fcntl; result = fcntl.fcntl(0, fcntl.F_GETFL)",
    ),
    "blocking": (
        "import os; os.set_blocking(1, False)",
        "import os; result = os.get_blocking(1)",
    ),
    "lock": (
        """
        import fcntl, struct
        lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 5, 1, 0)
        fcntl.fcntl(2, fcntl.F_OFD_SETLK, lock)
        """,
        """
        import fcntl, os, struct
        lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)
        null = os.open("/dev/null", os.O_RDWR)
        result = fcntl.fcntl(null, fcntl.F_OFD_GETLK, lock).hex()
        """,
    ),
    "lock of the whole file": (
        "import fcntl; fcntl.flock(0, fcntl.LOCK_EX)",
        """
        import fcntl, os
        fcntl.flock(os.open("/dev/null", os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB)
        """,
    ),
    "time": (
        "import os; os.utime(0)",
        "import os; result = os.stat('/dev/null').st_mtime_ns",
    ),
    "name looked up": (
        "import os; os.path.exists(os.__file__ + 'NAME')",
        """
        import ctypes, os, struct
        libc = ctypes.CDLL(None, use_errno=True)
        only_cached = struct.pack("QQQ", 0, 0, 0x20)
        libc.syscall(437, -100, (os.__file__ + 'NAME').encode(), only_cached, 24)
        result = ctypes.get_errno()
        """,
    ),
}


@pytest.mark.parametrize("kind", NOTES)
def test_a_child_leaves_no_note_for_the_next_one(pure: Sandbox, kind: str) -> None:
    name = secrets.token_hex()
    leave, look = (code.replace("NAME", name) for code in NOTES[kind])
    before = run(pure, look)
    run(pure, leave)
    assert run(pure, look) == before


@pytest.mark.parametrize("command", [4, 5, 6, 7, 36, 37, 38, 1024, 1026, 1031, 1036])
def test_a_file_cannot_be_locked_flagged_or_watched(pure: Sandbox, command: int) -> None:
    assert run(pure, CALL + f"call({seccomp.CHECKED['fcntl'][COLUMN]}, 0, {command}, 0)") == DENIED


@pytest.mark.parametrize("advice", [1, 2, 3, 20, 21, 22])  # read ahead or not, fetch, put away
def test_no_advice_acts_on_a_files_pages(pure: Sandbox, advice: int) -> None:
    code = f"""
        import mmap, os
        with open(os.__file__, "rb") as file:
            mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ).madvise({advice})
    """
    assert run(pure, code) == {"raised": "OSError", "errno": 22}


def test_advice_on_a_childs_own_memory_is_taken(pure: Sandbox) -> None:
    code = """
        import mmap
        own = mmap.mmap(-1, 1 << 22, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        own.write(b"1")
        for advice in (mmap.MADV_NORMAL, mmap.MADV_FREE, mmap.MADV_DONTNEED):
            own.madvise(advice)
        result = own[0]
    """
    assert run(pure, code) == {"result": 0}


def test_times_of_no_file_outside_tmp_can_be_set(pure: Sandbox) -> None:
    code = """
        import os
        seen = {}
        for place in ("/", "/dev", "/dev/null", "/dev/zero", "/adapter", os.__file__, 0, 1, 2):
            before = os.stat(place)
            if isinstance(place, str):
                os.listdir(place) if os.path.isdir(place) else open(place, "rb").read(1)
            try:
                os.utime(place)
            except OSError:
                pass
            after = os.stat(place)
            seen[place] = (after.st_atime_ns, after.st_mtime_ns) == (
                before.st_atime_ns, before.st_mtime_ns
            )
        result = [place for place, same in seen.items() if not same]
    """
    assert run(pure, code) == {"result": []}


def test_memory_that_children_would_share_is_refused(tmp_path: Path) -> None:
    (tmp_path / "serve.py").write_text("import mmap\nwarm_up = lambda stage: None\nserve = print\n")
    adapter = {**ADAPTER, "autograder/sandbox/child/serve.py": tmp_path / "serve.py"}
    Sandbox("pure", LIMITS, adapter=adapter).close()
    with (tmp_path / "serve.py").open("a") as file:
        file.write("kept = mmap.mmap(-1, 4096)\n")
    with pytest.raises(IsolationError, match="shares memory"):
        Sandbox("pure", LIMITS, adapter=adapter)


def test_two_lanes_do_not_see_each_other(pure: Sandbox) -> None:
    with Sandbox("pure", LIMITS, adapter=ADAPTER) as other:
        with pure.start() as one, other.start() as two:
            ask(one, "open('/tmp/mine', 'w').close()")
            found = ask(two, "import os; result = [os.listdir('/tmp'), os.getpid(), os.getuid()]")
            assert found == {"result": [[], 1, 0]}
            assert ask(two, "import os; os.kill(2, 9)") == DENIED
            assert ask(one, "result = 1") == {"result": 1}


def test_every_descriptor_but_the_channel_is_closed(pure: Sandbox) -> None:
    code = """
        import os, stat
        found = {}
        for number in range(5000):
            try:
                mode = os.fstat(number).st_mode
            except OSError:
                continue
            found[number] = "socket" if stat.S_ISSOCK(mode) else os.fstat(number).st_rdev
        null = os.stat("/dev/null").st_rdev
        result = [sorted(found), found[3], found[0] == found[1] == found[2] == null]
    """
    assert run(pure, code) == {"result": [[0, 1, 2, 3], "socket", True]}


def test_no_secret_is_in_the_environment(pure: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTNLAB_SECRET", "seed")
    with Sandbox("pure", LIMITS, adapter=ADAPTER) as sandbox:
        found = run(sandbox, "import os, sys; result = [dict(os.environ), sys.argv, sys.orig_argv]")
    environment, *arguments = found["result"]
    assert "ATTNLAB_SECRET" not in environment
    assert "PATH" not in environment
    assert arguments == [[""], [""]]


def test_a_child_starts_where_every_disk_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/no/such/folder")
    with Sandbox("pure", LIMITS, adapter=ADAPTER) as sandbox:
        assert run(sandbox, "result = 1") == {"result": 1}


# Limits


def test_memory_beyond_the_limit_is_a_memory_error(pure: Sandbox) -> None:
    assert run(pure, "x = bytearray(400 * 2**20); result = 1") == {"result": 1}
    assert run(pure, "x = bytearray(600 * 2**20)")["raised"] == "MemoryError"
    assert run(pure, "x = []\nwhile True: x.append(bytearray(2**20))")["raised"] == "MemoryError"


def test_memory_that_is_shared_counts_too(pure: Sandbox) -> None:
    answer = run(pure, "import mmap; mmap.mmap(-1, 600 * 2**20)")
    assert answer == {"raised": "OSError", "errno": 12}


def test_pytorch_has_the_same_memory(torch: Sandbox) -> None:
    code = "import torch; result = torch.ones({} * 2**20, dtype=torch.uint8).numel() > 0"
    assert run(torch, code.format(300)) == {"result": True}
    assert run(torch, code.format(600))["raised"] == "RuntimeError"


def test_threads_are_limited_in_each_sandbox_for_itself(pure: Sandbox) -> None:
    code = """
        import threading, time
        started = 0
        try:
            while started < 1000:
                threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
                started += 1
        except RuntimeError:
            pass
        result = started
    """
    with Sandbox("pure", LIMITS, adapter=ADAPTER) as other:
        with pure.start() as child, other.start() as another:
            first = ask(child, code)
            assert 8 <= first["result"] <= LIMITS.threads
            assert ask(another, code) == first


def test_tmp_is_limited(pure: Sandbox) -> None:
    assert run(pure, "open('a', 'wb').write(bytes(7 * 2**20)); result = 1") == {"result": 1}
    fill = "for i in range(20): open(f'{i}', 'wb').write(bytes(2**20))"
    assert run(pure, fill) == {"raised": "OSError", "errno": 28}
    flood = "for i in range(1000): open(f'{i}', 'w').close()"
    assert run(pure, flood) == {"raised": "OSError", "errno": 28}


def test_descriptors_are_limited(pure: Sandbox) -> None:
    code = "import os\nkept = [os.open('/dev/null', 0) for _ in range(1000)]"
    assert run(pure, code) == {"raised": "OSError", "errno": 24}


def test_a_limit_cannot_be_raised(pure: Sandbox) -> None:
    code = """
        import resource
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        result = [soft == hard, resource.getrlimit(resource.RLIMIT_CORE)]
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard + 1))
    """
    assert run(pure, code)["raised"] in ("ValueError", "PermissionError")


# How children end


@pytest.mark.parametrize(
    ("code", "ended"),
    [
        ("import os; os._exit(7)", "exit 7"),
        ("import os; os.kill(os.getpid(), 9)", "signal SIGSYS"),
        (
            "import signal, threading; signal.pthread_kill(threading.get_ident(), 9)",
            "signal SIGSYS",
        ),
        ("import ctypes; ctypes.string_at(0)", "signal SIGSEGV"),
        ("import os; os.abort()", "signal SIGSEGV"),
        ("import os; os.close(3); os._exit(0)", "exit 0"),
    ],
)
def test_it_is_told_how_a_child_died(pure: Sandbox, code: str, ended: str) -> None:
    with pure.start() as child:
        assert ask(child, code) is None
        assert child.end() == ended
    assert run(pure, "result = 1") == {"result": 1}


STUBBORN = """
    import os, signal, threading
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    def spin():
        while True:
            pass
    for _ in range(10):
        threading.Thread(target=spin).start()
    os.write(3, b"!")
    spin()
"""


def test_a_child_that_ignores_everything_is_killed(pure: Sandbox) -> None:
    with pure.start() as child:
        say(child, STUBBORN)
        assert child.channel.recv(1) == b"!"
        assert child.end() == "running"
    assert run(pure, "result = 1") == {"result": 1}


def test_an_ended_child_may_be_ended_again(pure: Sandbox) -> None:
    child = pure.start()
    assert child.end() == child.end() == "running"


def test_starting_the_next_child_ends_the_last_one(pure: Sandbox) -> None:
    first = pure.start()
    with pure.start() as second:
        assert ask(second, "result = 1") == {"result": 1}
        assert first.channel.fileno() == -1


def test_a_hundred_children_leave_nothing_behind(pure: Sandbox) -> None:
    def state() -> list[object]:
        _, zygote = _zygotes(pure)
        mounts = Path(f"/proc/{zygote}/mounts").read_text().count("\n")
        descriptors = len(os.listdir("/proc/self/fd"))
        return [descendants(os.getpid()), mounts, descriptors]

    run(pure, "result = 1")
    before = state()
    for _ in range(100):
        run(pure, "import os; os.mkdir('x'); result = 1")
    assert state() == before


# How zygotes end


def _zygotes(sandbox: Sandbox) -> tuple[int, int]:
    """The process that made a sandbox's namespaces, and the zygote proper."""
    assert sandbox.zygote is not None
    return sandbox.zygote.pid, children(sandbox.zygote.pid)[0]


WORKER = f"""
import sys, time
sys.path.insert(0, {str(CHECKOUT)!r})
from tests import test_sandbox as t
sandbox = t.Sandbox("pure", t.LIMITS, adapter=t.ADAPTER)
child = sandbox.start()
t.say(child, t.STUBBORN)
child.channel.recv(1)
print("ready", flush=True)
time.sleep(600)
"""


def test_a_killed_worker_leaves_no_process() -> None:
    with subprocess.Popen([sys.executable, "-c", WORKER], stdout=subprocess.PIPE) as worker:
        assert worker.stdout
        assert worker.stdout.readline() == b"ready\n"
        family = descendants(worker.pid)
        assert len(family) == 3  # two of the zygote's, and the child
        worker.kill()
    assert wait_until_gone(family) == []


@pytest.mark.parametrize("which", [0, 1])
def test_a_killed_zygote_takes_its_child_along_and_is_replaced(which: int) -> None:
    with Sandbox("pure", LIMITS, adapter=ADAPTER) as sandbox:
        with sandbox.start() as child:
            say(child, STUBBORN)
            assert child.channel.recv(1) == b"!"
            both = _zygotes(sandbox)
            family = descendants(both[0])
            assert len(family) == 2
            os.kill(both[which], signal.SIGKILL)
            assert wait_until_gone(family) == []
            assert child.end() == "running"
        assert run(sandbox, "result = 1") == {"result": 1}


def test_closing_a_sandbox_ends_all_of_it() -> None:
    before = descendants(os.getpid())
    sandbox = Sandbox("pure", LIMITS, adapter=ADAPTER)
    sandbox.start()
    assert len(descendants(os.getpid())) == len(before) + 3
    sandbox.close()
    assert wait_until_gone([pid for pid in descendants(os.getpid()) if pid not in before]) == []


# Rights


def _status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return dict(line.split(":\t") for line in lines)


def test_a_child_has_no_rights(pure: Sandbox) -> None:
    with pure.start():
        (pid,) = descendants(_zygotes(pure)[1])
        status = _status(pid)
        held = {status[f"Cap{kind}"] for kind in ("Inh", "Prm", "Eff", "Bnd", "Amb")}
        assert held == {"0" * 16}
        assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
        user = Path(f"/proc/{pid}/status").stat().st_uid
        assert user == 0  # not to be traced, for it cannot be dumped
        mine = os.geteuid()
        assert status["Uid"].split()[0] == str(64999 if mine == 0 and is_mapped(64999) else mine)


def test_a_library_that_cannot_load_is_told(tmp_path: Path) -> None:
    broken = {**ADAPTER, "autograder/sandbox/child/serve.py": tmp_path / "serve.py"}
    (tmp_path / "serve.py").write_text("raise RuntimeError('broken')")
    with pytest.raises(IsolationError, match=r"cannot be loaded in a sandbox: .*broken"):
        Sandbox("pure", LIMITS, adapter=broken)


# Refusing


def _in_container(code: str, way: str = "confined") -> subprocess.CompletedProcess[str]:
    """Run Python where something is refused: see `as_another`."""
    return subprocess.run(
        [sys.executable, HERE / "as_another.py", way, sys.executable, "-c", code],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )


def test_without_namespaces_it_refuses_and_says_what_to_do() -> None:
    code = """
from autograder.sandbox.sandbox import Sandbox
from autograder.sandbox.limits import Limits
Sandbox("pure", Limits())
"""
    last = _in_container(code).stderr.strip().splitlines()[-1]
    assert "IsolationError: Learners' code cannot be kept in on this machine" in last
    assert "sudo sysctl user.max_user_namespaces=" in last


def test_another_system_is_told_how_to_grade(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(IsolationError, match=r"Linux container.*WSL2"):
        Sandbox("pure", LIMITS)


def test_doctor_finds_that_nothing_is_within_reach(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor.main() == 0
    report = capsys.readouterr().out
    assert report.startswith("Isolation: namespaces\n")
    assert "REACHED" not in report
    for stage in ("pure", "numpy", "torch"):
        assert f"  {stage}: 1" in report  # ten attempts or more


def test_doctor_tells_what_was_within_reach(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "STAGES", ["pure"])
    monkeypatch.setattr(doctor, "COVETED", [Path("/dev/null")])
    assert doctor.main() == 1
    assert "REACHED: the file /dev/null" in capsys.readouterr().out


def test_doctor_tells_what_is_missing_and_how_to_get_it() -> None:
    code = "import sys; from autograder import doctor; sys.exit(doctor.main())"
    done = _in_container(code)
    assert done.returncode == 1
    assert done.stdout.startswith("Isolation: none; this machine cannot grade\n")
    assert "sudo sysctl user.max_user_namespaces=" in done.stdout


DOCTOR = """
import sys
from autograder import doctor
from autograder.sandbox import isolation
isolation.IN_CONTAINERS = ("/dev/null",)
sys.exit(doctor.main())
"""


def test_the_level_is_whole_where_a_container_refuses_a_name_alone() -> None:
    done = _in_container(DOCTOR, "podman")
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("Isolation: namespaces\n")
    assert "REACHED" not in done.stdout


def test_doctor_names_the_one_setting_that_a_container_lacks() -> None:
    done = _in_container(DOCTOR, "docker")
    assert done.returncode == 1
    [missing] = [line for line in done.stdout.splitlines() if line.startswith("  missing:")]
    assert missing.count("--security-opt") == 1
    assert "seccomp=unconfined" in missing


@pytest.mark.parametrize(
    ("filters", "profile", "setting"),
    [
        ("2", "docker-default (enforce)", "seccomp=unconfined"),
        ("0", "docker-default (enforce)", "apparmor=unconfined"),
        ("0", "unconfined", "Ask who looks after this machine"),
    ],
)
def test_of_two_settings_the_first_that_is_in_the_way_is_named(
    filters: str, profile: str, setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "status").write_text(f"NoNewPrivs:\t0\nSeccomp:\t{filters}\n")
    (tmp_path / "profile").write_text(profile)
    monkeypatch.setattr(isolation, "IN_CONTAINERS", ("/dev/null",))
    monkeypatch.setattr(isolation, "SETTINGS", ())
    monkeypatch.setattr(isolation, "STATUS", tmp_path / "status")
    monkeypatch.setattr(isolation, "PROFILE", tmp_path / "profile")
    assert setting in isolation.advice("unshare(0x7c020000): Operation not permitted")


def test_a_child_that_is_not_confined_is_never_asked(
    pure: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confine, "CONFINED", b"said otherwise")
    with pytest.raises(IsolationError, match="a child was not confined: confined"):
        pure.start()


def test_doctor_tells_another_system_how_to_grade(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert doctor.main() == 1
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("Isolation: none. ")
    assert "WSL2" in first


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from autograder.sandbox import stages

    monkeypatch.setitem(stages.STAGES, "numpy", ("no-such-library",))
    with pytest.raises(IsolationError, match="no-such-library is not installed: pip install"):
        Sandbox("numpy", LIMITS, adapter=ADAPTER)


if os.geteuid() == 0 and is_mapped(NOBODY):  # truly root, not only of its own namespace

    def test_all_of_this_holds_for_an_ordinary_user(tmp_path: Path) -> None:
        command = [sys.executable, HERE / "as_another.py", "nobody", sys.executable, "-m", "pytest"]
        options = ["-q", "-p", "no:cacheprovider", "tests/test_sandbox.py"]
        done = subprocess.run(
            [*map(str, command), *options],
            cwd=CHECKOUT,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]

    def test_a_child_of_roots_is_nobody_outside(pure: Sandbox) -> None:
        with pure.start() as child:
            assert ask(child, "import os; result = os.getuid()") == {"result": 0}
            (pid,) = descendants(_zygotes(pure)[1])
            assert "0" not in _status(pid)["Uid"].split()
