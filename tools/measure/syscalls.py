#!/usr/bin/env python3
"""The system calls of one request, in each chapter's program from 01 to `final`: strace counts them.

  python3 tools/measure/syscalls.py [--json FILE] [--only 01,final] [BUILD]

BUILD holds the builds of the chapters, as BUILD/01, BUILD/02, …, BUILD/final (build).

Each program runs under strace, once for N requests and once for 2 N. The difference divided by N
is the cost of one: start and end are in both and cancel out. No clock is read. Where clients come
together the program is stopped meanwhile, so that it finds them all, as a busy server does.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from measure import process, run, table  # noqa: E402
from measure.process import Failed, Process  # noqa: E402

PATIENCE = 30.0  # seconds for a start, a reply or an end under strace
TOGETHER = 16  # clients at once; also how many requests are pipelined
COUNT = 320  # requests; a multiple of TOGETHER
WARM_UP = 32
NOISE = 0.03  # calls per request

MESSAGE = b"x" * 63 + b"\n"
REQUEST = f"GET {table.SMALL} HTTP/1.1\r\nHost: 127.0.0.1:20080\r\n".encode()
LAST_LINE = b"X-Last = end\n"  # what the program of chapter 09 prints at the end of a request


# --- the programs --------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Program:
    """One row. `path` is below the build of the chapter."""

    chapter: str
    path: str
    kind: str  # "echo", "printer" (answers on its standard output) or "web"
    arguments: tuple[str, ...]
    name: str = ""  # where a chapter has several rows
    modes: tuple[str, ...] = ("keep-alive", "close")


ECHO, WEB = ("0",), ("0", "{root}")
SERVE = ("serve", "{root}", "--port", "0", "--threads", "1")
EVERY = ("keep-alive", "close", "pipelined")
THERE = sorted(path.name[:2] for path in (run.ROOT / "chapters").glob("[0-9][0-9]-*"))

PROGRAMS = (
    *(Program(f"{number:02}", "examples/echo_server", "echo", ECHO) for number in range(1, 9)),
    Program("09", "examples/web_server", "printer", ECHO),
    Program("10", "examples/echo_server", "echo", ECHO),  # its pages are in memory, and none is SMALL
    *(Program(number, "examples/web_server", "web", WEB, modes=EVERY) for number in THERE if "11" <= number <= "15"),
    Program("final", "turtle", "web", SERVE, modes=(*EVERY, "apart")),
    Program("final", "turtle", "web", (*SERVE, "--deferred-accept", "1"), name="final-deferred",
            modes=("close", "apart")),
    Program("final", "turtle", "web", (*SERVE, "--cache-size", "0"), name="final-no-cache", modes=("keep-alive",)),
)  # fmt: skip


def row_name(program: Program) -> str:
    return program.name or program.chapter


# --- a program under strace ----------------------------------------------------------------------


class Traced:
    """A program under strace on one CPU; a context manager. `calls` are read after its end."""

    def __init__(self, command: list[str], log: pathlib.Path) -> None:
        self.log = log
        self.printed = b""
        cpus = sorted(os.sched_getaffinity(0))[:1]
        self.process = Process(
            ["strace", "-f", "-o", str(log), *command], cpus,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            self.await_output(b"\n")
            match = re.search(rb":(\d+)/?\n", self.printed)
            if not match:
                raise Failed(f"{command[0]} does not say where it listens: {self.printed!r}")
            self.port = int(match[1])
            # strace has the program for a child.
            self.pid = next(pid for pid in self.process.members() if pid != self.process.popen.pid)
        except BaseException:
            self.process.stop()
            raise

    def __enter__(self) -> Traced:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stop()

    def await_output(self, words: bytes, count: int = 1) -> None:
        """Until the program has printed these words so often."""
        deadline = time.monotonic() + PATIENCE
        while self.printed.count(words) < count:
            ready = select.select([self.process.popen.stdout], [], [], max(0.0, deadline - time.monotonic()))[0]
            piece = os.read(self.process.popen.stdout.fileno(), 65536) if ready else b""
            if not piece:
                raise Failed(f"{self.process.popen.args[4]} prints no {words!r}")
            self.printed += piece

    def pause(self) -> None:
        """Stops it as soon as it has nothing to do."""
        self.rest()
        os.kill(self.pid, signal.SIGSTOP)
        self._await_states("Tt")

    def resume(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def rest(self) -> None:
        """Waits until it waits."""
        self._await_states("S")

    def _await_states(self, states: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            threads = pathlib.Path(f"/proc/{self.pid}/task").glob("*/stat")
            if all(process.stat_fields(each.read_text(errors="replace"))[0] in states for each in threads):
                return
            os.sched_yield()
        raise Failed(f"process {self.pid} does not come to rest ({states})")


def read_calls(text: str) -> list[str]:
    """The names of the calls in the output of `strace -f -o`, in order.

    Without those that a signal broke off: it is the measurement that stops and continues the program.
    """
    names = []
    open_calls: dict[str, int] = {}  # of each thread: where in `names` its unfinished call is
    for line in text.splitlines():
        match = re.match(r"(\d+)\s+(?:<\.\.\. )?(\w+)(\(| resumed>)(.*)$", line)
        if not match:
            continue
        thread, name, kind, rest = match.groups()
        broken_off = re.search(r"= (\? ERESTART|-1 EINTR)", rest)
        if kind == "(":
            if broken_off:
                continue
            if rest.endswith("<unfinished ...>"):
                open_calls[thread] = len(names)
            names.append(name)
        else:
            at = open_calls.pop(thread, None)
            if broken_off and at is not None:
                names[at] = ""
    return [name for name in names if name]


def difference(once: list[str], twice: list[str], count: int) -> dict[str, float]:
    """Calls per request by name."""
    few, many = collections.Counter(once), collections.Counter(twice)
    each = {name: settled((many[name] - few[name]) / count) for name in sorted(many)}
    return {name: number for name, number in each.items() if number > 0}


def settled(number: float) -> float:
    """Without what differs from run to run: how threads start and end, a wake-up too many."""
    nearest = round(number)
    return nearest if abs(number - nearest) <= NOISE else round(number, 2)


# --- the clients ---------------------------------------------------------------------------------


class Client:
    """One connection."""

    def __init__(self, port: int) -> None:
        self.socket = socket.socket()
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(("127.0.0.1", port))
        self.rest = b""

    def take(self, size: int) -> bytes:
        while len(self.rest) < size:
            self._more()
        taken, self.rest = self.rest[:size], self.rest[size:]
        return taken

    def take_page(self) -> None:
        while b"\r\n\r\n" not in self.rest:
            self._more()
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        if not head.startswith(b"HTTP/1.1 200 "):
            raise Failed(f"200 was expected, and this came: {head[:60]!r}")
        self.take(table.PAGES[table.SMALL])

    def _more(self) -> None:
        piece = self.socket.recv(65536)
        if not piece:
            raise Failed("the server has closed the connection too early")
        self.rest += piece

    def must_end(self) -> None:
        if self.rest or self.socket.recv(1):
            raise Failed("something follows the last reply")


class Talk:
    """What one kind of program is asked, and what it answers."""

    def __init__(self, traced: Traced, kind: str) -> None:
        self.traced, self.kind = traced, kind
        self.answered = traced.printed.count(LAST_LINE)

    def ask(self, client: Client, times: int = 1, last: bool = False) -> None:
        request = MESSAGE
        if self.kind == "printer":
            request = REQUEST + b"X-Last: end\r\n\r\n"
        elif self.kind == "web":
            request = REQUEST + (b"Connection: close\r\n\r\n" if last else b"\r\n")
        client.socket.sendall(request * times)

    def await_answer(self, client: Client) -> None:
        if self.kind == "echo":
            if client.take(len(MESSAGE)) != MESSAGE:
                raise Failed("the echo is not what was sent")
        elif self.kind == "printer":
            self.answered += 1
            self.traced.await_output(LAST_LINE, self.answered)
        else:
            client.take_page()

    def end(self, client: Client) -> None:
        """After the last answer. A web server closes by itself."""
        if self.kind == "web":
            client.must_end()
        client.socket.close()


def keep_alive(traced: Traced, kind: str, count: int) -> None:
    talk, client = Talk(traced, kind), Client(traced.port)
    for _ in range(count):
        talk.ask(client)
        talk.await_answer(client)
        traced.rest()
    client.socket.close()
    traced.rest()


def pipelined(traced: Traced, kind: str, count: int) -> None:
    talk, client = Talk(traced, kind), Client(traced.port)
    for _ in range(count // TOGETHER):
        talk.ask(client, TOGETHER)
        for _ in range(TOGETHER):
            talk.await_answer(client)
        traced.rest()
    client.socket.close()
    traced.rest()


def close(traced: Traced, kind: str, count: int, apart: bool = False) -> None:
    """A connection for each request. `apart`: connected and accepted first, asked later."""
    talk = Talk(traced, kind)
    for _ in range(count // TOGETHER):
        traced.pause()
        clients = [Client(traced.port) for _ in range(TOGETHER)]
        if apart:
            traced.resume()
            traced.pause()
        for client in clients:
            talk.ask(client, last=True)
        traced.resume()
        # A program that serves one after the other needs each to end before the next.
        if kind == "web":
            for client in clients:
                talk.await_answer(client)
                talk.end(client)
        elif kind == "printer" or is_one_by_one(traced):
            for client in clients:
                talk.await_answer(client)
                talk.end(client)
        else:
            for client in clients:
                talk.await_answer(client)
            traced.pause()
            for client in clients:
                talk.end(client)
            traced.resume()
        traced.rest()


def is_one_by_one(traced: Traced) -> bool:
    """Chapter 01's program: no poller, and so no second client before the first has gone."""
    return "epoll_" not in traced.log.read_text(errors="replace")


def apart(traced: Traced, kind: str, count: int) -> None:
    close(traced, kind, count, apart=True)


MODES: dict[str, Callable[[Traced, str, int], None]] = {
    "keep-alive": keep_alive, "close": close, "pipelined": pipelined, "apart": apart,
}  # fmt: skip


# --- the measurement -----------------------------------------------------------------------------


def calls_of(program: Program, mode: str, build: pathlib.Path, root: pathlib.Path, count: int) -> list[str]:
    path = build / program.chapter / program.path
    command = [str(path), *(word.format(root=root) for word in program.arguments)]
    with tempfile.TemporaryDirectory(prefix="turtle-strace-") as folder:
        log = pathlib.Path(folder) / "log"
        with Traced(command, log) as traced:
            MODES[mode](traced, program.kind, WARM_UP)
            MODES[mode](traced, program.kind, count)
        return read_calls(log.read_text(errors="replace"))


def measure(program: Program, build: pathlib.Path, root: pathlib.Path, count: int = COUNT) -> dict:
    row: dict = {"name": row_name(program), "chapter": program.chapter, "program": program.path, "modes": {}}
    for mode in program.modes:
        once = calls_of(program, mode, build, root, count)
        twice = calls_of(program, mode, build, root, 2 * count)
        row["modes"][mode] = difference(once, twice, count)
    return row


@contextlib.contextmanager
def pages() -> Iterator[pathlib.Path]:
    with tempfile.TemporaryDirectory(prefix="turtle-pages-") as folder:
        run.make_pages(pathlib.Path(folder))
        yield pathlib.Path(folder)


def refuse(build: pathlib.Path, programs: list[Program]) -> None:
    if sys.platform != "linux":
        raise Failed("strace is a program of Linux")
    if not shutil.which("strace"):
        raise Failed("strace is missing; on Debian: apt install strace")
    for program in programs:
        path = build / program.chapter / program.path
        if not path.is_file():
            raise Failed(f"{path} is not built: cmake -S chapters/{program.chapter}-… -B build/{program.chapter}")


def measure_all(build: pathlib.Path, programs: list[Program]) -> dict:
    refuse(build, programs)
    rows = []
    with pages() as root:
        for program in programs:
            row = measure(program, build, root)
            rows.append(row)
            for mode, calls in row["modes"].items():
                said = ", ".join(f"{count:g} {name}" for name, count in calls.items())
                print(f"  {row['name']:<15} {mode:<11} {sum(calls.values()):5.2f}: {said}", file=sys.stderr, flush=True)
    return {"together": TOGETHER, "requests": COUNT, "rows": rows}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="tools/measure/syscalls.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("build", metavar="BUILD", nargs="?", type=pathlib.Path, default=run.ROOT / "build")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path)
    parser.add_argument("--only", metavar="01,final", default="")
    options = parser.parse_args(arguments)
    wanted = [name for name in options.only.split(",") if name]
    try:
        unknown = sorted(set(wanted) - {row_name(each) for each in PROGRAMS})
        if unknown:
            known = ", ".join(row_name(each) for each in PROGRAMS)
            raise Failed(f"no program {', '.join(unknown)}; there are: {known}")
        programs = [each for each in PROGRAMS if not wanted or row_name(each) in wanted]
        found = measure_all(options.build.resolve(), programs)
    except Failed as failure:
        print(f"syscalls: {failure}", file=sys.stderr)
        return 1
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
