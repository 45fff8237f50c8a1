"""Counts what a request costs the server: instructions, calls of malloc, system calls.

`turtle serve` runs under callgrind or strace, once for N requests and once for 2 N. The difference
divided by N is the cost of one: start-up, warm-up and shutdown are in both and cancel out. What
other processes do costs the server nothing that would be counted; no clock is read.
"""

from __future__ import annotations

import collections
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import session

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import serving  # noqa: E402

BINARY = serving.BINARY
PATIENCE = 60.0  # seconds for the start and the end of a server under a tool
WARM_UP = 32  # requests: the cache is filled, memory that is used again has been allocated
ALLOCATING = {"malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "memalign"}


class CannotMeasure(Exception):
    """A tool is missing or can't do its work here; the text says what to do."""


class Server(serving.Turtle):
    """`turtle serve` on one thread under `tool`, which writes its findings when it ends."""

    def __init__(self, tool: list[str], site: pathlib.Path, program: pathlib.Path = BINARY) -> None:
        try:
            super().__init__(site, "--threads", "1", program=program, prefix=tool, patience=PATIENCE)
        except FileNotFoundError as error:
            raise CannotMeasure(f"{error.filename} is not there") from error
        except serving.DidNotServe as error:
            raise CannotMeasure(f"{' '.join(tool)}: {error}") from error
        self._pid = self.pid

    def pause(self) -> None:
        self._wait_for("S")
        os.kill(self._pid, signal.SIGSTOP)
        self._wait_for("Tt")

    def resume(self) -> None:
        os.kill(self._pid, signal.SIGCONT)

    def _wait_for(self, states: str) -> None:
        """Until each of its threads is in one of these states: S is waiting, T and t are stopped."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            threads = pathlib.Path(f"/proc/{self._pid}/task").glob("*/stat")
            if all(each.read_text(encoding="utf-8").rsplit(") ", 1)[1][0] in states for each in threads):
                return
            os.sched_yield()
        raise CannotMeasure(f"the server did not come to rest ({states})")

    def end(self) -> None:
        """Ends the server in order, so that the tool tells what it has counted."""
        try:
            code, said = self.stop()
        except subprocess.TimeoutExpired as error:
            raise CannotMeasure("the server did not end after SIGTERM") from error
        if code != 0:
            raise CannotMeasure(f"the server ended with {code}:\n{said}")


def run(tool: list[str], scenario: session.Scenario, count: int, program: pathlib.Path = BINARY) -> None:
    with tempfile.TemporaryDirectory() as folder:
        session.make_site(pathlib.Path(folder))
        server = Server(tool, pathlib.Path(folder), program)
        try:
            scenario.drive(server, WARM_UP)
            scenario.drive(server, count)
            server.end()
        finally:
            server.close()


# --- callgrind -----------------------------------------------------------------------------------


def read_callgrind(text: str) -> tuple[dict[str, int], int]:
    """Instructions of each function without those it calls, and how often memory was asked for."""
    names: dict[str, str] = {}
    own: dict[str, int] = collections.Counter()
    allocations = 0
    function = callee = ""
    lines = iter(text.splitlines())
    for line in lines:
        named = re.match(r"(c?)fn=(\(\d+\))(?: (.*))?$", line)
        if named:
            name = names.setdefault(named[2], named[3] or "")
            if named[1]:
                callee = name
            else:
                function = name
        elif line.startswith("calls="):
            if re.sub(r"'\d+$", "", callee) in ALLOCATING:
                allocations += int(line[6:].split()[0])
            next(lines)  # the costs of the callee
        elif line and line[0] in "0123456789+-*":
            own[function] += int((line.split() + ["0"])[1])
    return dict(own), allocations


def callgrind(
    scenario: session.Scenario, program: pathlib.Path = BINARY
) -> tuple[float, float, dict[str, float]]:
    """Instructions, allocations, and instructions by function: all per request to `program`."""
    results = []
    for count in (scenario.count, 2 * scenario.count):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "callgrind.out"
            run(["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}"], scenario, count, program)
            results.append(read_callgrind(out.read_text(encoding="utf-8", errors="replace")))
    (once, few), (twice, more) = results
    functions = {name: (twice[name] - once.get(name, 0)) / scenario.count for name in twice}
    return sum(functions.values()), (more - few) / scenario.count, functions


# --- strace --------------------------------------------------------------------------------------


def read_strace(text: str) -> dict[str, int]:
    """The table of `strace -c`: how often each system call was made."""
    calls = {}
    for line in text.splitlines():
        row = re.match(r"\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$", line)
        if row and row[2] != "total":
            calls[row[2]] = int(row[1])
    return calls


def strace(scenario: session.Scenario) -> dict[str, float]:
    """System calls per request, by name; what comes once in a hundred requests counts as 0.01."""
    results = []
    for count in (scenario.count, 2 * scenario.count):
        with tempfile.NamedTemporaryFile("r") as out:
            run(["strace", "-f", "-c", "-o", out.name], scenario, count)
            results.append(read_strace(out.read()))
    if not results[0]:
        raise CannotMeasure("strace -c wrote no table")
    once, twice = results
    each = {name: round((twice[name] - once.get(name, 0)) / scenario.count, 2) for name in twice}
    return {name: calls for name, calls in sorted(each.items()) if calls}
