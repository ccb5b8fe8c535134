"""A process that has loaded the libraries of one stage and waits, to be forked for each submission.

It is a program of its own, started by `autograder.sandbox.zygotes`, never a fork of a process that
knows an answer: whatever a child finds in its memory was here. A socket tells it what to do, one
JSON object a message.

    {plan}                                      once; it answers {"unshared": true}, and goes on
    mapped                                      when its user is; {"ready": true}, or an error
    {"do": "start"}, with a descriptor          fork a child that serves it; {"started": true}
                                                (the child's first word is CONFINED, or why not)
    {"do": "end", "patience": 0.2}              kill the child, reap it; {"ended": "exit 0"}

It is two processes, so that everything has one end. One makes the namespaces and waits for the
other, the zygote proper, which is the first process of its own PID namespace; a child is the first
of another one inside. When the zygote ends, for whatever reason, the kernel kills all that is in
there. And it ends when its worker does, which it holds a descriptor of.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

sys.path.insert(0, os.fspath(Path(__file__).parents[3]))
from autograder.sandbox.child import confine, kernel, memory, seccomp, view

MESSAGE = 1 << 18
BROKEN = 70  # exit status of a child that could not be confined
REAP_SECONDS = 5.0
NAMESPACES = (
    kernel.CLONE_NEWUSER
    | kernel.CLONE_NEWNS
    | kernel.CLONE_NEWNET
    | kernel.CLONE_NEWIPC
    | kernel.CLONE_NEWUTS
    | kernel.CLONE_NEWPID
)
THREADS_COUNTED_BY_NAMESPACE = (5, 14)  # since this version of Linux
Serve = Callable[[socket.socket, str], None]


class CannotLoad(Exception):
    """A library of the stage cannot be imported here, or leaves a thread or shared memory."""


class Zygote:
    """The loop that forks children, one at a time.

    Args:
        plan: what `autograder.sandbox.zygotes` sends: limits, stage, and a view.
        control: from the worker.
        worker: a pidfd of it.
    """

    def __init__(self, plan: dict[str, Any], control: socket.socket, worker: int) -> None:
        self._control, self._worker = control, worker
        self._stage: str = plan["stage"]
        self._limits: dict[str, float] = plan["limits"]
        # Worked out here once: a child is number 1 of its own namespace.
        self._filter = seccomp.program(1, kernel.machine())
        self._child = self._child_fd = 0

    def load(self, plan: dict[str, Any], proc: int) -> None:
        """Import what children need, and measure it.

        Args:
            proc: a descriptor of /proc.
        Raises:
            CannotLoad: what, and why not.
        """
        for name in [name for name in sys.modules if name.partition(".")[0] == "autograder"]:
            del sys.modules[name]  # a learner's `import autograder` finds nothing
        sys.dont_write_bytecode = True
        sys.argv = sys.orig_argv = [""]
        sys.path = [*plan["view"]["path"], view.ADAPTER, view.SITE]
        sys.prefix = sys.exec_prefix = sys.path[-1]  # where libraries are, for whoever asks
        sys.path_importer_cache.clear()
        gc.disable()  # what is being imported is no garbage
        try:
            self._serve = _load(self._stage, plan["imports"])
        except Exception as error:
            raise CannotLoad(f"{type(error).__name__}: {error}") from error
        task = os.open("self/task", os.O_RDONLY, dir_fd=proc)
        if len(os.listdir(task)) > 1:
            raise CannotLoad("a library has started a thread, which a child would lack")
        os.close(task)
        maps = _read("self/maps", proc)
        if memory.shared(maps):
            raise CannotLoad("a library shares memory that one child could write in for the next")
        memory.settle(maps)
        gc.enable()
        self._pids = os.open("self/ns/pid", os.O_RDONLY, dir_fd=proc)
        self._size = int(_read("self/statm", proc).split()[0]) * os.sysconf("SC_PAGESIZE")

    def rehearse(self) -> None:
        """Confine a child that does nothing, so that what fails does so now.

        Raises:
            RuntimeError: it could not be confined.
        """
        ours, theirs = socket.socketpair()
        with ours:
            self._start(theirs.detach(), _serve_nothing)
            said = ours.recv(1000)
        ended = self._end(REAP_SECONDS)
        if (said, ended) != (confine.CONFINED, "exit 0"):
            raise RuntimeError(f"{said.decode(errors='replace') or 'a child'} ({ended})")

    def run(self) -> None:
        """Do what the worker says, until it is gone."""
        waiting = select.poll()
        waiting.register(self._control, select.POLLIN)
        waiting.register(self._worker, select.POLLIN)
        while self._worker not in dict(waiting.poll()):
            message, descriptors, _, _ = socket.recv_fds(self._control, MESSAGE, 1)
            if not message:
                return
            order = json.loads(message)
            if order["do"] == "start":
                self._start(descriptors[0], self._serve)
                _answer(self._control, started=True)
            else:
                _answer(self._control, ended=self._end(order["patience"]))

    def _start(self, channel: int, serve: Serve) -> None:
        size, files = self._limits["scratch_bytes"], self._limits["scratch_files"]
        view.fresh_scratch(int(size), int(files))
        # The next fork goes into a new PID namespace; to make the one after that, come back.
        kernel.setns(self._pids, kernel.CLONE_NEWPID)
        kernel.unshare(kernel.CLONE_NEWPID)
        pid = os.fork()
        if pid == 0:
            self._be_child(channel, serve)
        os.close(channel)
        self._child, self._child_fd = pid, os.pidfd_open(pid)

    def _be_child(self, channel: int, serve: Serve) -> NoReturn:
        status = BROKEN
        try:
            self._control.detach()  # its number may soon be another file's
            confine.keep_only(channel)
            os.setsid()
            os.chdir(view.SCRATCH)
            with socket.socket(fileno=confine.CHANNEL) as answers:
                try:
                    confine.limit(self._limits, self._size, _counts_threads())
                    confine.give_up_rights(self._filter)
                except Exception as error:
                    answers.send(f"{type(error).__name__}: {error}".encode())
                    raise
                answers.send(confine.CONFINED)  # before anybody else's code can say so
                status = 1
                serve(answers, self._stage)
                status = 0
        finally:  # whatever happened: back in the loop it would be a second zygote
            os._exit(status)

    def _end(self, patience: float) -> str:
        """Kill the child and all its threads.

        Args:
            patience: seconds to let it die by itself, where it looks as if it is about to.
        Returns:
            'running' if it had to be killed, else 'exit N' or 'signal NAME'.
        Raises:
            TimeoutError: it cannot be reaped.
        """
        if not self._child:
            return "running"
        dying = select.poll()
        dying.register(self._child_fd, select.POLLIN)
        by_itself = bool(dying.poll(patience * 1000))
        signal.pidfd_send_signal(self._child_fd, signal.SIGKILL)
        if not by_itself and not dying.poll(REAP_SECONDS * 1000):
            raise TimeoutError("a killed child does not end")
        status = os.waitpid(self._child, 0)[1]
        os.close(self._child_fd)
        self._child = 0
        view.drop_scratch()
        if os.WIFEXITED(status):
            return f"exit {os.WEXITSTATUS(status)}"
        number = os.WTERMSIG(status)
        if number == signal.SIGKILL and not by_itself:
            return "running"
        try:
            return f"signal {signal.Signals(number).name}"
        except ValueError:  # a real-time signal
            return f"signal {number}"


def _load(stage: str, names: list[str]) -> Serve:
    for name in names:
        importlib.import_module(name)
    if stage == "torch":
        torch = sys.modules["torch"]
        torch.set_num_threads(1)
        torch.backends.cpu.get_cpu_capability()  # looked up once, where /proc is still there
    module = importlib.import_module("autograder.sandbox.child.serve")
    module.warm_up(stage)
    serve: Serve = module.serve
    return serve


def _serve_nothing(channel: socket.socket, stage: str) -> None:
    """For a child that is only to be confined."""


def _counts_threads() -> bool:
    release = os.uname().release.split(".")
    version = (int(release[0]), int("".join(c for c in release[1] if c.isdigit())))
    return version >= THREADS_COUNTED_BY_NAMESPACE


def _read(name: str, proc: int) -> str:
    with open(os.open(name, os.O_RDONLY, dir_fd=proc)) as file:
        return file.read()


def _answer(control: socket.socket, **answer: object) -> None:
    control.send(json.dumps(answer).encode())


def _enter_namespaces(control: socket.socket) -> None:
    """Returns in the zygote proper, a new process; this one stays in here until that ends.

    Args:
        control: the worker, who says who the one user of the new namespace is outside.
    """
    kernel.unshare(NAMESPACES)
    _answer(control, unshared=True)
    if control.recv(MESSAGE) == b"":
        os._exit(0)
    zygote = os.fork()
    if zygote:
        kernel.close_from(3)
        os.waitpid(zygote, 0)
        os._exit(0)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)


def _become_nobody() -> None:
    """Be the one user of the namespace; outside, one without rights where root runs the grader."""
    with contextlib.suppress(PermissionError):  # as for all but root
        os.setgroups([])
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)  # a change of user had cleared it


def main(control: socket.socket, worker: int) -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, [])  # whatever it was started with
    plan = json.loads(control.recv(MESSAGE))
    try:
        Path("/proc/self/oom_score_adj").write_text("1000")  # the first to go, with its children
        _enter_namespaces(control)
        proc = os.open("/proc", os.O_RDONLY)
        zygote = Zygote(plan, control, worker)
        root = view.Root(plan["view"])
        _become_nobody()
        root.enter()
        with contextlib.suppress(PermissionError):  # in some containers; a name keeps nobody in
            kernel.sethostname("sandbox")
        zygote.load(plan, proc)
        root.forget_machine()
        kernel.forbid_capabilities()
        os.close(proc)
        zygote.rehearse()
    except Exception as error:
        what = str(error) if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
        _answer(control, error=what, loading=isinstance(error, CannotLoad))
        raise
    os.dup2(0, 2)  # /dev/null: what it might have to say, it has said
    _answer(control, ready=True)
    del plan
    zygote.run()


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]))
    os._exit(0)
