"""The real `turtle`, started on a port of the system's choice.

TURTLE_BINARY  the program; without it build/final/turtle. The example programs for CGI are beside
               it, in examples/cgi-bin.
"""

import contextlib
import os
import pathlib
import select
import signal
import socket
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("TURTLE_BINARY", ROOT / "build/final/turtle")).resolve()
PATIENCE = 20.0  # seconds that anything may take that has to happen

sys.dont_write_bytecode = True


class Turtle:
    """`turtle serve` with some arguments, until stop() or the end of the test."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [BINARY, "serve", "--port", "0", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.line = self._first_line()
        assert self.line.startswith("Serving "), self.line + self.process.stderr.read().decode()
        self.url = self.line.split()[-1].rstrip("/")
        self.port = int(self.url.rsplit(":", 1)[1])

    def _first_line(self):
        line, deadline = b"", time.monotonic() + PATIENCE
        while not line.endswith(b"\n"):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                break
            byte = os.read(self.process.stdout.fileno(), 1)
            if not byte:
                break
            line += byte
        return line.decode()

    def connect(self, host="127.0.0.1"):
        """A plain socket to it."""
        return socket.create_connection((host, self.port), timeout=PATIENCE)

    def signal(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def wait(self):
        """Its exit code."""
        return self.process.wait(timeout=PATIENCE)

    def stop(self):
        """Ends it as an administrator does; returns its exit code and what it said on stderr."""
        self.signal()
        code = self.wait()
        return code, self.process.stderr.read().decode()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


@pytest.fixture(scope="session")
def binary():
    assert BINARY.is_file(), f"{BINARY} is not there: build final, or set TURTLE_BINARY"
    return BINARY


@pytest.fixture(scope="session")
def programs(binary):
    """The folder of the example programs."""
    folder = binary.parent / "examples" / "cgi-bin"
    assert (folder / "add").is_file(), f"{folder}/add is not there: build all of final"
    return folder


@pytest.fixture
def start(binary):
    """Starts servers, and ends what is left of them after the test."""
    with contextlib.ExitStack() as stack:

        def start_one(*arguments):
            turtle = Turtle(*arguments)
            stack.callback(turtle.close)
            return turtle

        yield start_one


@pytest.fixture
def site(tmp_path):
    """A small site."""
    folder = tmp_path / "site"
    (folder / "docs").mkdir(parents=True)
    (folder / "index.html").write_text("<h1>home</h1>\n")
    (folder / "docs" / "index.html").write_text("<h1>docs</h1>\n")
    (folder / "style.css").write_text("body { color: green }\n")
    (folder / "large.bin").write_bytes(bytes(range(256)) * 40_000)  # 10 MB
    return folder


@pytest.fixture
def turtle(start, site, programs):
    """A server of that site and of the example programs, which must end well."""
    server = start(site, "--cgi-dir", programs, "--threads", "2")
    yield server
    assert server.stop() == (0, "")
