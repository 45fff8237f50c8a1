"""Processes: started with limits and on a CPU, measured by /proc, and always ended."""

from __future__ import annotations

import contextlib
import ctypes
import os
import pathlib
import resource
import signal
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence

TICKS = os.sysconf("SC_CLK_TCK")
PROC = pathlib.Path("/proc")
PR_SET_PDEATHSIG = 1


class Failed(Exception):
    """Something did not start, answer or end as it should."""


# --- limits and ports ----------------------------------------------------------------------------


def raise_descriptors(wanted: int = 65536) -> int:
    """Raises the limit of descriptors for this process and its children as far as allowed; the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        with contextlib.suppress(ValueError, OSError):  # only root may
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, wanted))
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        soft = most
    return soft


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # old connections don't count
        try:
            probe.bind(("127.0.0.1", port))
            probe.listen(1)
        except OSError:
            return False
    return True


def free_ports(first: int = 20100, last: int = 29999) -> Iterator[int]:
    """Free ports, another one each time: what the last server's clients left behind is not met again.

    Below the ports that the kernel gives to clients.
    """
    while True:
        found = False
        for port in range(first, last + 1):
            if is_free(port):
                found = True
                yield port
        if not found:
            raise Failed(f"no port from {first} to {last} is free")


# --- start and stop ------------------------------------------------------------------------------


class Process:
    """A program in a session of its own, so that all it starts can be found; a context manager that ends them."""

    def __init__(self, command: Sequence[str], cpus: Iterable[int] | None = None, **streams: object) -> None:
        libc = ctypes.CDLL(None)
        chosen = set(cpus or ())

        def prepare() -> None:
            if hasattr(libc, "prctl"):
                libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)  # should this program be killed
            if chosen:
                os.sched_setaffinity(0, chosen)

        try:
            self.popen = subprocess.Popen(list(command), preexec_fn=prepare, start_new_session=True, **streams)
        except OSError as error:
            raise Failed(f"{command[0]}: {error.strerror}") from error

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def members(self) -> list[int]:
        """The living processes of the session; without /proc only the one that was started."""
        if not PROC.is_dir():
            return [] if self.popen.poll() is not None else [self.popen.pid]
        return session(self.popen.pid)

    def stop(self, patience: float = 3.0) -> None:
        """Ends them all, by their ids: asks, waits, and then no longer asks. Being interrupted, it doesn't wait."""
        try:
            if self._end(signal.SIGTERM, patience) or self._end(signal.SIGKILL, 10.0):
                return
        except KeyboardInterrupt:
            self._end(signal.SIGKILL, 10.0)
            raise
        raise Failed(f"process {self.popen.pid} did not end")

    def _end(self, number: int, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        asked: set[int] = set()
        while True:
            self.popen.poll()
            left = self.members()
            if not left:
                self.popen.wait()
                return True
            for pid in set(left) - asked:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
            asked.update(left)
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)


# --- what /proc says -----------------------------------------------------------------------------


def stat_fields(text: str) -> list[str]:
    """The fields of /proc/PID/stat from the third on; the name before them may hold anything."""
    return text[text.rindex(")") + 2 :].split()


def read_stat(pid: int) -> list[str] | None:
    try:
        return stat_fields((PROC / str(pid) / "stat").read_text(errors="replace"))
    except (OSError, ValueError):
        return None


def session(leader: int) -> list[int]:
    found = []
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            fields = read_stat(int(entry.name))
            if fields and fields[0] not in "ZX" and int(fields[3]) == leader:
                found.append(int(entry.name))
    return found


def cpu_seconds(pids: Iterable[int]) -> float:
    """User and system time of these processes and of those of their children that have ended."""
    total = 0
    for pid in pids:
        fields = read_stat(pid)
        if fields:
            total += sum(int(field) for field in fields[11:15])
    return total / TICKS


def anonymous_bytes(pids: Iterable[int]) -> int:
    """Memory that belongs to these processes alone: heaps and stacks, not files (RssAnon)."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            for line in (PROC / str(pid) / "status").read_text().splitlines():
                if line.startswith("RssAnon:"):
                    total += int(line.split()[1]) * 1024
    return total


def machine_seconds() -> float:
    """CPU time that anything at all has used since the start of the machine."""
    numbers = [int(word) for word in (PROC / "stat").read_text().split("\n", 1)[0].split()[1:]]
    return (sum(numbers[:3]) + sum(numbers[5:7])) / TICKS
