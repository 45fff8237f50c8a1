"""How the server grew: one load on the program of every chapter, from 01 to `final`.

Up to chapter 10 the chapters serve an echo: 64 bytes to and fro, on connections that stay. From 11 on
they serve the web, and the same load generator asks for a small file. Both are turtle-bench on its own
CPU, and each program has the other CPU for itself. Chapter 01 serves one client at a time, so it gets
one; the others get 64.

How many clients a program holds is asked separately: HELD clients connect and speak, none goes away, and
those that are answered are counted.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import re
import select
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import typing
from collections.abc import Callable, Iterator, Sequence

from measure import process, run, table
from measure.process import Failed, Process

if typing.TYPE_CHECKING:
    import chapters  # imported late: `./learn setup` runs where the book is not

CONNECTIONS = 64
HELD = 1000  # clients that want to be held at once
SILENCE = 2.0  # seconds without an answer, after which nobody else will be answered
ROUNDS, SECONDS = 3, 2.0
QUICK_ROUNDS, QUICK_SECONDS = 1, 0.5
PATIENCE = 20.0  # seconds for a start

ECHO, WEB = ("0",), ("0", "{root}")
SERVE = ("serve", "{root}", "--port", "0", "--threads", "1")
MESSAGE = b"x" * 63 + b"\n"
REQUEST = f"GET {table.SMALL} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


@dataclasses.dataclass(frozen=True)
class Program:
    """A chapter's server. `path` is below its build."""

    chapter: str
    path: str
    kind: str  # "echo" or "web"
    arguments: tuple[str, ...]
    connections: int = CONNECTIONS


THERE = sorted(path.name[:2] for path in (run.ROOT / "chapters").glob("[0-9][0-9]-*"))
PROGRAMS = (
    Program("01", "examples/echo_server", "echo", ECHO, connections=1),
    *(Program(number, "examples/echo_server", "echo", ECHO) for number in THERE if "02" <= number <= "10"),
    *(Program(number, "examples/web_server", "web", WEB) for number in THERE if "11" <= number <= "15"),
    *(Program(number, "turtle", "web", SERVE) for number in THERE if number >= "16"),
    Program("final", "turtle", "web", SERVE),
)


def path_of(program: Program, build: pathlib.Path) -> pathlib.Path:
    """`build` is final's; those of the chapters lie beside it, for this purpose alone: all as Release."""
    folder = build if program.chapter == "final" else build.parent / "growth" / program.chapter
    return folder / program.path


def refuse(build: pathlib.Path, load: str, programs: Sequence[Program] = PROGRAMS) -> None:
    if not process.PROC.joinpath("self", "stat").exists():
        raise Failed("CPU time is read from /proc, as Linux has it; this system has none")
    for program in programs:
        if not path_of(program, build).is_file():
            raise Failed(f"{path_of(program, build)} is not built: ./learn bench builds it")
    if not load or not pathlib.Path(load).is_file():
        raise Failed(f"turtle-bench is not in {build}; build it: cmake --build {build}")
    if process.raise_descriptors() < HELD + 100:
        raise Failed(f"{HELD:,} clients need {HELD + 100:,} descriptors; raise `ulimit -Hn`")


# --- one program ---------------------------------------------------------------------------------


@contextlib.contextmanager
def started(command: list[str], cpus: Sequence[int]) -> Iterator[tuple[Process, int]]:
    """A program that says in its first line where it listens, as "…:PORT" or "…:PORT/"."""
    with Process(
        command, cpus, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as running:
        said, deadline = b"", time.monotonic() + PATIENCE
        while b"\n" not in said:
            ready = select.select([running.popen.stdout], [], [], max(0.0, deadline - time.monotonic()))[0]
            piece = os.read(running.popen.stdout.fileno(), 4096) if ready else b""
            if not piece:
                raise Failed(f"{command[0]} does not say where it listens")
            said += piece
        match = re.search(rb":(\d+)/?\s", said)
        if not match:
            raise Failed(f"{command[0]} does not say where it listens: {said!r}")
        yield running, int(match[1])


def load(program: Program, port: int, bench: str, cpus: Sequence[int], seconds: float, folder: pathlib.Path) -> dict:
    result = folder / "load.json"
    result.unlink(missing_ok=True)
    command = [bench, "-c", str(program.connections), "-t", f"{seconds:g}", "--quiet", "--json", str(result)]
    command += ["--echo", f"http://127.0.0.1:{port}/"] if program.kind == "echo" else [
        f"http://127.0.0.1:{port}{table.SMALL}"
    ]
    with Process(command, cpus, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as running:
        try:
            _, said = running.popen.communicate(timeout=seconds + 30)
        except subprocess.TimeoutExpired as error:
            raise Failed("the load generator did not end") from error
    if not result.is_file():
        raise Failed(f"no result from {' '.join(command)}: {said.decode(errors='replace').strip()[-200:]}")
    return run.read_load(result.read_text(encoding="utf-8"))


def timed(running: Process, make_load: Callable[[], dict]) -> dict:
    """The load with what it cost the server and others."""
    before, machine, own = process.cpu_seconds(running.members()), process.machine_seconds(), run.own_seconds()
    begin = time.monotonic()
    row = make_load()
    wall = time.monotonic() - begin
    server = process.cpu_seconds(running.members()) - before
    mine = run.own_seconds() - own
    row["threads"] = threads_of(running)
    row["cpu_us"] = server / row["requests"] * 1e6
    row["other_cpus"] = max(0.0, (process.machine_seconds() - machine - server - mine) / wall)
    return row


def threads_of(running: Process) -> int:
    return sum(len(list((process.PROC / str(pid) / "task").iterdir())) for pid in running.members())


def held(port: int, kind: str, count: int = HELD, silence: float = SILENCE) -> int:
    """How many of `count` clients are answered while all of them stay."""
    ask, answer = (MESSAGE, MESSAGE[:1]) if kind == "echo" else (REQUEST, b"HTTP/1.1 200 ")
    clients: dict[int, socket.socket] = {}
    answered = 0
    poller = select.epoll()
    try:
        for _ in range(count):
            client = socket.socket()
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", port))  # the poller says what became of it
            clients[client.fileno()] = client
            poller.register(client, select.EPOLLOUT)
        end = time.monotonic() + PATIENCE
        while answered < count and time.monotonic() < end:
            events = poller.poll(silence)
            if not events:
                break
            for fd, bits in events:
                try:
                    if bits & select.EPOLLOUT:
                        clients[fd].send(ask)
                        poller.modify(fd, select.EPOLLIN)
                    elif clients[fd].recv(4096).startswith(answer):
                        answered += 1
                        poller.unregister(fd)  # but it stays
                    else:
                        raise ConnectionError
                except OSError:
                    poller.unregister(fd)
        return answered
    finally:
        poller.close()
        for client in clients.values():
            client.close()


# --- all of them ---------------------------------------------------------------------------------


def lines_of(program: Program, book: chapters.Book) -> int:
    """Lines of code of the library as it is in this chapter, without tests and examples."""
    import linecount

    if program.chapter == "final":
        files = [path for path in (book.final / "src").rglob("*") if path.suffix in linecount.SUFFIXES]
    else:
        layout = book.layout(int(program.chapter))
        files = [
            owner.folder / path
            for path, owner in layout.items()
            if path.startswith("src/") and pathlib.Path(path).suffix in linecount.SUFFIXES
        ]
    return linecount.count(files)[1]


def medians(rows: Sequence[dict]) -> list[dict]:
    """Of each program, in order."""
    found = []
    for name in dict.fromkeys(row["chapter"] for row in rows):
        mine = [row for row in rows if row["chapter"] == name]
        entry = {key: mine[0][key] for key in ("chapter", "kind", "connections", "lines")}
        for key in ("cpu_us", "requests_per_second", "p99_us"):
            entry[key] = round(statistics.median(row[key] for row in mine), 3)
        entry["threads"] = max(row["threads"] for row in mine)
        entry["held"] = min(row["held"] for row in mine)
        entry["errors"] = sum(row["errors"] for row in mine)
        found.append(entry)
    return found


def measure_all(
    build: pathlib.Path, bench: str, quick: bool, note: Callable[[str], None],
    programs: Sequence[Program] = PROGRAMS, sizes: tuple[int, float] | None = None,
) -> dict:  # fmt: skip
    """Interleaved rounds over all programs. `sizes`: rounds, and seconds of load in each."""
    import chapters

    refuse(build, bench, programs)
    rounds, seconds = sizes or ((QUICK_ROUNDS, QUICK_SECONDS) if quick else (ROUNDS, SECONDS))
    every = sorted(os.sched_getaffinity(0))
    pinned = {table.SERVER_CPU, table.LOAD_CPU} <= set(every)
    server_cpus = [table.SERVER_CPU] if pinned else every
    load_cpus = [table.LOAD_CPU] if pinned else every
    book = chapters.Book(run.ROOT)
    rows: list[dict] = []
    with tempfile.TemporaryDirectory(prefix="turtle-growth-") as scratch:
        folder = pathlib.Path(scratch)
        run.make_pages(folder / "pages")
        for number in range(1, rounds + 1):
            for program in programs:
                words = [word.format(root=folder / "pages") for word in program.arguments]
                command = [str(path_of(program, build)), *words]
                with started(command, server_cpus) as (running, port):
                    row = timed(running, lambda: load(program, port, bench, load_cpus, seconds, folder))
                with started(command, server_cpus) as (_, port):
                    row["held"] = held(port, program.kind)
                row.update(chapter=program.chapter, kind=program.kind, connections=program.connections)
                row.update(round=number, lines=lines_of(program, book))
                rows.append(row)
                note(
                    f"  {program.chapter:<6} {number}/{rounds} {row['cpu_us']:7.2f} us of CPU,"
                    f" {row['requests_per_second']:9,.0f} requests/s, {row['held']} clients held"
                )
    return {
        "settings": {"rounds": rounds, "seconds": seconds, "pinned": pinned, "asked": HELD},
        "other_cpus": round(statistics.median(row["other_cpus"] for row in rows), 2),
        "rows": rows,
        "medians": medians(rows),
    }


if __name__ == "__main__":
    sys.exit("growth: ./learn bench --record docs/measured --parts growth")
