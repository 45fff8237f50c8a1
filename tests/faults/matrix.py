#!/usr/bin/env python3
"""Fails one call of the C library after another, each in a run of `turtle serve` of its own.

    matrix.py --list             the faults, and how often each function is called
    matrix.py --sample 4         of every fault, 4 calls that are spread over the run; as in CI: 1
    matrix.py --all              every call
    matrix.py --only malloc      one function

Whatever fails: no client gets a wrong byte or waits in vain, at most one client per fault is cut
off or told 5xx, the server loses no descriptor and no program, does not spin, and ends by SIGTERM
with 0. Or it refuses to start, with a text and 1.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import dataclasses
import errno
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

import channel  # noqa: E402
import session  # noqa: E402
from calls import Calls  # noqa: E402
from serving import BINARY, DidNotServe, Turtle  # noqa: E402

RESOURCES = "EMFILE ENFILE ENOMEM"
# What each function may fail with: names of <errno.h>, `short` for one byte, `nothing` for 0, and
# for those that return them, numbers. What is not here can't fail as it is called.
# recvmmsg and sendmmsg: `turtle serve` has no UDP, they fail in final/tests/udp_faults_test.cpp.
FAULTS = {
    "accept4": f"{RESOURCES} ENOBUFS EINTR EAGAIN ECONNABORTED EPROTO EPERM",
    "bind": "EADDRINUSE EACCES ENOMEM",
    "close_range": "ENOSYS EMFILE ENOMEM",
    "dup2": "EINTR EMFILE",
    "epoll_create1": RESOURCES,
    "epoll_ctl": "ENOMEM ENOSPC",
    "epoll_wait": "EINTR short",
    "eventfd": RESOURCES,
    "execve": "ENOMEM EIO EMFILE ETXTBSY",
    "fchdir": "EIO EACCES",
    "fstat": "ENOMEM EIO EOVERFLOW",
    "fstatat": "ENOMEM EIO EOVERFLOW",
    "getaddrinfo": "-3 -10",  # EAI_AGAIN, EAI_MEMORY
    "getnameinfo": "-10",
    "getpeername": "ENOTCONN ENOBUFS",
    "getsockname": "ENOBUFS",
    "inotify_add_watch": "ENOMEM ENOSPC EACCES",
    "inotify_init1": RESOURCES,
    "io_uring_enter": "EINTR EAGAIN EBUSY ENOMEM",
    "io_uring_register": "ENOMEM EINVAL EPERM",
    "io_uring_setup": f"{RESOURCES} EPERM ENOSYS EINVAL",
    "listen": "EADDRINUSE",
    "malloc": "ENOMEM",
    "mkostemp": f"{RESOURCES} ENOSPC EACCES EROFS",
    "open": f"{RESOURCES} EACCES EINTR",
    "openat2": f"{RESOURCES} EINTR EAGAIN ENOSYS EPERM EIO",
    "pidfd_open": f"{RESOURCES} ENOSYS",
    "pipe2": RESOURCES,
    "pread": "EIO EINTR short nothing",
    "pthread_create": "EAGAIN",
    "read": "EINTR EAGAIN EIO short",
    "rename": "EACCES EIO ENOSPC",
    "ring_accept": f"{RESOURCES} ENOBUFS EINTR ECONNABORTED EPROTO EPERM",
    "ring_poll": "ENOMEM",
    "ring_receive": "ECONNRESET ETIMEDOUT ENOMEM ENOBUFS EINTR",
    "ring_send": "EINTR EAGAIN EPIPE ECONNRESET ENOBUFS ENOMEM",
    "recv": "EINTR ECONNRESET ETIMEDOUT ENOMEM",
    "send": "EINTR EPIPE ECONNRESET ENOBUFS ENOMEM short",
    "sendfile": "EINTR EINVAL ENOSYS EIO ENOMEM EPIPE short nothing",
    "sendmsg": "EINTR EPIPE ECONNRESET ENOBUFS ENOMEM short",
    "setrlimit": "EPERM",
    "setsockopt": "ENOBUFS ENOPROTOOPT",
    "shutdown": "ENOTCONN",
    "socket": f"{RESOURCES} ENOBUFS EACCES EAFNOSUPPORT",
    "stat": "EIO EACCES ENOMEM",
    "unlink": "EIO",
    "vfork": "EAGAIN ENOMEM",
    "waitpid": "nothing",
    "write": "EINTR ENOSPC EIO EFBIG short",
}
# TLS encrypts a file, so the kernel can't send it by itself.
NOT_CALLED = {"sendfile"} if channel.NAME == "tls" else set()
SETTINGS = '{"worker_connections": 1000, "blocks_ip": ["192.0.2.7", "198.51.100.0/24"], "log": {"level": "INFO"}}\n'
# Signals, what a hand-over starts, and what the log says of it in the end.
COMMANDS = (
    (signal.SIGHUP, "", ("the settings were reloaded", "the settings are unchanged", "the settings were not reloaded")),
    (signal.SIGUSR2, "exit 3", ("this process continues to serve", "hand-over threw", "hand-over: the log threw")),
)
LEAST_MET = 0.8  # of all runs: a call that is not made in one of them can't fail there
OUTCOMES = {"short": -1, "nothing": 0}
LOOPS = 2


@dataclasses.dataclass(frozen=True)
class Fault:
    """The calls number `first` and the `times - 1` after it."""

    function: str
    what: str
    first: int = 1
    times: int = 1

    def __str__(self) -> str:
        return f"{self.function} {self.what} {self.first}" + (f"+{self.times - 1}" if self.times > 1 else "")

    @property
    def outcome(self) -> int:
        """As the shim wants it."""
        number = OUTCOMES.get(self.what, getattr(errno, self.what, None))
        return int(self.what) if number is None else number

    def environment(self) -> str:
        return f"{self.function} {self.outcome} {self.first} {self.times}"


@dataclasses.dataclass
class Run:
    """What came of one run."""

    fault: Fault | None
    trouble: str = ""  # "": all is well
    calls: dict[str, int] = dataclasses.field(default_factory=dict)
    fired: int = 0
    refused: bool = False
    cuts: list[str] = dataclasses.field(default_factory=list)
    descriptors: int = 0
    said: str = ""


def build_shim(folder: pathlib.Path) -> pathlib.Path:
    shim = folder / "shim.so"
    compiler = os.environ.get("CXX", "c++")
    command = [compiler, "-std=c++17", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", HERE / "shim.cpp", "-o", shim]
    subprocess.run([*command, "-ldl"], check=True)
    return shim


def wait_for(condition, text: str) -> str:
    """Waits until `condition` is true. Returns "", or `text` if that takes too long."""
    deadline = time.monotonic() + session.PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            return text
        time.sleep(0.005)
    return ""


def descriptors(pid: int, site: pathlib.Path) -> int:
    """How many are open; without what each loop's cache holds, which depends on whom the loop has served."""
    others, cached = 0, collections.Counter()
    for link in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            name = os.readlink(link)
        except OSError:
            continue  # it was closed meanwhile
        if name.startswith(str(site)):
            cached[name] += 1
        else:
            others += 1
    return others + sum(max(0, count - LOOPS) for count in cached.values())


def living_programs(pid: int) -> list[str]:
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            try:
                state = pathlib.Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue  # it has ended meanwhile
            if state not in "ZX":
                found.append(child)
    return found


class Matrix:
    """One server after another, each with a fault. Works in `folder`."""

    def __init__(self, folder: pathlib.Path, poller: str = "auto") -> None:
        self._folder = folder
        self._poller = poller
        self._shim = build_shim(folder)
        self._control: Run | None = None
        self._control = self.run(None)
        if self._control.trouble or self._control.cuts:
            raise RuntimeError(f"without any fault: {self._control}")

    @property
    def calls(self) -> dict[str, int]:
        """How often each function is called when nothing fails."""
        return self._control.calls

    def run(self, fault: Fault | None) -> Run:
        run = Run(fault)
        with tempfile.TemporaryDirectory(dir=self._folder) as name:
            folder = pathlib.Path(name)
            session.make_site(folder)
            calls = Calls(folder / "calls")
            (folder / "tmp").mkdir()
            environment = {
                "LD_PRELOAD": str(self._shim),
                "TURTLE_FAULT": fault.environment() if fault else "",
                "TURTLE_FAULT_CALLS": str(folder / "calls"),
                "TMPDIR": str(folder / "tmp"),
            }
            # By a name of ours, since that is what a hand-over starts.
            (folder / "turtle").symlink_to(BINARY)
            (folder / "turtle.json").write_text(SETTINGS)
            arguments = ["-f", folder / "turtle.json", "--operations", "127.0.0.1:0", "--task-threads", "1"]
            arguments += [folder / "site", "--cgi-dir", folder / "programs", "--threads", LOOPS]
            # Small, and flushed each second, so that all that a log file does is done.
            arguments += ["--poller", self._poller, "--compression", "on"]
            arguments += ["--access-log", folder / "access.log", "--log-roll-size", "2K", "--log-flush", "1"]
            try:
                server = Turtle(
                    *arguments, program=folder / "turtle", environment=environment, patience=session.PATIENCE
                )
            except DidNotServe as refusal:
                run.refused, run.said = True, refusal.said
                if refusal.code not in (1, 2) or not refusal.said.rstrip().rpartition("\n")[2].startswith("turtle: "):
                    run.trouble = f"refused with {refusal.code}: {refusal.said!r}"
            else:
                try:
                    run.trouble = self._serve(server, folder, run)
                finally:
                    server.close()
                    run.said = server.said()
            run.fired, run.calls = calls.fired, calls.count()
        if not run.trouble and self._control:
            run.trouble = self.judge(run)
        return run

    def _serve(self, server: Turtle, folder: pathlib.Path, run: Run) -> str:
        try:
            run.cuts = session.run(server.port, folder / "site")
            run.cuts += session.look_on(int(server.operations.rsplit(":", 1)[1]))
            trouble = self._command(server, folder) or self._look_behind(server.process.pid, folder, run)
        except (session.Wrong, OSError) as error:
            trouble = str(error)
        ended = server.process.poll()
        if ended is not None:
            return f"it ended with {ended}; {trouble}"
        return self._end(server, trouble)

    def _end(self, server: Turtle, trouble: str) -> str:
        server.process.terminate()
        try:
            code = server.wait()
        except subprocess.TimeoutExpired:
            return trouble or "SIGTERM does not end it"
        return trouble or ("" if code == 0 else f"exit code {code}")

    def _command(self, server: Turtle, folder: pathlib.Path) -> str:
        """What an administrator asks for while it serves: each signal has its answer in the log."""
        for number, program, answers in COMMANDS:
            if program:
                (folder / "next").write_text(f"#!/bin/sh\n{program}\n")
                (folder / "next").chmod(0o755)
                (folder / "next").rename(folder / "turtle")
            before = len(server.said())
            server.process.send_signal(number)
            trouble = wait_for(
                lambda before=before, answers=answers: any(text in server.said()[before:] for text in answers),
                f"{number.name} has no answer",
            )
            if trouble:
                return trouble
        return ""

    def _look_behind(self, pid: int, folder: pathlib.Path, run: Run) -> str:
        """What is left when the clients have gone, which the server needs a moment to see."""
        site = folder / "site"
        if self._control:
            limit = self._control.descriptors
            trouble = wait_for(lambda: descriptors(pid, site) <= limit, f"more than {limit} descriptors stay open")
        else:
            # The usual number: while a log file is rolled, it is one less.
            counts = [descriptors(pid, site) for _ in range(100) if not time.sleep(0.01)]
            run.descriptors, trouble = statistics.mode(counts), ""
        return trouble or wait_for(lambda: not living_programs(pid), "programs live on")

    def judge(self, run: Run) -> str:
        control, fault = self._control, run.fault
        if not run.refused and len(run.cuts) > fault.times:
            return f"{len(run.cuts)} clients were cut: {run.cuts}"
        total, usual = sum(run.calls.values()), sum(control.calls.values())
        if total > 2 * usual + 5_000:
            return f"{total} calls where {usual} are usual: {run.calls}"
        return ""


def faults(calls: dict[str, int], sample: int | None, only: str | None = None) -> list[Fault]:
    """All faults (sample=None), or `sample` calls of each kind, spread over the run."""
    found = []
    for function, kinds in FAULTS.items():
        if only and function != only:
            continue
        count = calls.get(function, 0)
        for turn, what in enumerate(kinds.split()):
            some = count if sample is None else min(count, sample)
            # Each kind begins elsewhere, so that a small sample too reaches many calls.
            offset = 0 if some == 0 else (turn * count // len(kinds.split())) % max(1, count // some)
            found += [Fault(function, what, 1 + offset + i * count // some) for i in range(some)]
    return found


def memory_faults(calls: dict[str, int], sample: int) -> list[Fault]:
    """Memory is asked for everywhere: so more of these, and some where three in a row fail."""
    count = calls["malloc"]
    ones = [Fault("malloc", "ENOMEM", 1 + i * count // sample) for i in range(sample)]
    return ones + [Fault("malloc", "ENOMEM", 1 + i * count * 3 // sample, 3) for i in range(sample // 3)]


def run_all(matrix: Matrix, chosen: list[Fault], tell=print) -> list[Run]:
    """The runs that went wrong, two at a time."""
    bad, fired, refused, cut = [], 0, 0, 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for run in pool.map(matrix.run, chosen):
            fired += run.fired > 0
            refused += run.refused
            cut += bool(run.cuts)
            if run.trouble:
                bad.append(run)
                tell(f"{run.fault}: {run.trouble}\n    {run.said.strip()[-300:]}")
    if fired < LEAST_MET * len(chosen):
        bad.append(Run(None, "too few of the faults were met: the session has become another one"))
        tell(bad[-1].trouble)
    tell(
        f"{len(chosen)} runs, {fired} of them met their fault: {refused} refused to start, in {cut} a client"
        f" noticed, {len(bad)} went wrong"
    )
    return bad


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--sample", type=int, default=1, metavar="N")
    parser.add_argument("--only", choices=sorted(FAULTS), metavar="FUNCTION")
    parser.add_argument("--call", type=int, metavar="N", help="with --only: this call alone, with each fault")
    parser.add_argument("--poller", default="auto", help="of the server")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="turtle-faults-") as folder:
        matrix = Matrix(pathlib.Path(folder), options.poller)
        if options.list:
            for function, kinds in FAULTS.items():
                print(f"{function:18} {matrix.calls.get(function, 0):6}  {kinds}")
            print("not in the list:", *sorted(set(matrix.calls) - set(FAULTS)))
            return 0
        if options.call:
            chosen = [Fault(options.only, what, options.call) for what in FAULTS[options.only].split()]
        else:
            chosen = faults(matrix.calls, None if options.all else options.sample, options.only)
        return 1 if run_all(matrix, chosen) else 0


if __name__ == "__main__":
    sys.exit(main())
