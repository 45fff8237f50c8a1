#!/usr/bin/env python3
"""Prints what an attack costs: a crowd of half-open heads, and how long each slow client stays.

    python3 tests/attack/figures.py [--crowd 10000] [--no-times]

TURTLE_BINARY says which program; without it build/final/turtle. The times are those of the defaults,
so they take a bit more than a minute.
"""

import argparse
import contextlib
import os
import pathlib
import resource
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1] / "support")]

import channel  # noqa: E402
import serving  # noqa: E402
import victims  # noqa: E402

ASKED = 3000  # requests whose time is taken
IDLE = 5.0  # seconds over which the idle server is watched


def cpu_seconds(pid: int) -> float:
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def read_reply(client) -> None:
    said = b""
    while not said.endswith(b"canary\n"):
        data = client.recv(4096)
        assert data, "closed"
        said += data


def percentile(times: list, share: float) -> float:
    return sorted(times)[int(len(times) * share)] * 1e3


def ask(server) -> list:
    times = []
    with server.connect() as client:
        for _ in range(ASKED):
            begin = time.perf_counter()
            client.sendall(victims.get("/canary.txt"))
            read_reply(client)
            times.append(time.perf_counter() - begin)
    return times


def show_crowd(site: str, size: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if size + 100 > hard:
        raise SystemExit(f"this shell may open {hard} files, and the crowd needs {size + 100}: see ulimit -n")
    with contextlib.ExitStack() as stack:
        server = serving.Turtle("--threads", "2", "--head-timeout", "3600", site)
        stack.callback(server.close)
        alone, before = ask(server), victims.resident_bytes(server.pid)
        for _ in range(size):
            client = stack.enter_context(server.connect())
            client.sendall(b"GET / HTTP/1.1\r\nHost: turtle\r\nX-Slow: ")
        beside, after = ask(server), victims.resident_bytes(server.pid)
        begun, used = time.monotonic(), cpu_seconds(server.pid)
        time.sleep(IDLE)
        busy = (cpu_seconds(server.pid) - used) / (time.monotonic() - begun)
        print(f"half-open heads held       {size:>10}")
        print(f"others, median and p99     {percentile(beside, 0.5):10.2f} ms {percentile(beside, 0.99):8.2f} ms")
        print(f"  without the crowd        {percentile(alone, 0.5):10.2f} ms {percentile(alone, 0.99):8.2f} ms")
        print(f"resident                   {after / 2**20:10.1f} MiB, {before / 2**20:.1f} before")
        print(f"each of them               {(after - before) / size:10.0f} bytes")
        print(f"CPU while nothing happens  {busy * 100:10.2f} %")


def show_times(site: str, programs: str) -> None:
    server = serving.Turtle("--threads", "2", "--cgi-dir", programs, site)
    large = victims.get("/large.bin")
    openings = {
        "a head, byte by byte": (b"GET / HTTP/1.1\r\nX: ", b"x"),
        "a body, byte by byte": (victims.post("/cgi-bin/cat", 1 << 19), b"x"),
        "a body that doesn't come": (victims.post("/cgi-bin/cat", 1 << 19), b""),
        "a reply that nobody reads": (large, b""),
        "the last reply, not read": (large.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"), b""),
        "silence": (b"", b""),
    }
    with contextlib.closing(server):
        clients, begun = {}, time.monotonic()
        for name, (opening, more) in openings.items():
            clients[name] = server.connect()
            clients[name].sendall(opening)
        print("cut after, with the defaults")
        while clients:
            for name, client in list(clients.items()):
                is_read = "read" not in name
                if victims.has_ended(client) or (is_read and channel.has_input(client)):
                    print(f"  {name:<25}{time.monotonic() - begun:10.1f} s", flush=True)
                    clients.pop(name).close()
                elif openings[name][1]:
                    with contextlib.suppress(ConnectionError):
                        client.sendall(openings[name][1])
            time.sleep(0.1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--crowd", type=int, default=10_000, help="half-open heads (default: %(default)s)")
    parser.add_argument("--no-times", action="store_true", help="without the times to cut")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        site, programs = pathlib.Path(folder, "site"), pathlib.Path(folder, "programs")
        site.mkdir()
        programs.mkdir()
        (site / "canary.txt").write_text("canary\n")
        with open(site / "large.bin", "wb") as large:
            large.truncate(64 << 20)
        (programs / "cat").write_text("#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\nexec cat\n")
        (programs / "cat").chmod(0o755)
        show_crowd(str(site), arguments.crowd)
        if not arguments.no_times:
            show_times(str(site), str(programs))


if __name__ == "__main__":
    main()
