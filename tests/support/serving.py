"""`turtle serve` and the examples for every suite: started on any free port, and ended.

TURTLE_BINARY   the program; without it build/final/turtle, a Release build
TURTLE_CHANNEL  what it has between its clients and their sockets (channel.py); with rot13, the
                program is turtle_rot13 by default
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import select
import signal
import socket
import subprocess
import tempfile
import time

import channel

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = "turtle_rot13" if channel.NAME == "rot13" else "turtle"
BINARY = pathlib.Path(os.environ.get("TURTLE_BINARY", ROOT / "build/final" / PROGRAM)).resolve()
PATIENCE = 20.0  # the most seconds that an expected event may take


class DidNotServe(Exception):
    """The program ended, or did not say that it serves; the text contains what it said."""

    def __init__(self, text: str, code: int | None, said: str) -> None:
        super().__init__(text)
        self.code = code  # None: it did not end by itself
        self.said = said  # on stderr


class Server:
    """A program that listens, until stop() or close().

    Its first line begins with `greeting` and ends with its address. `prefix` is a command that runs
    it (strace, valgrind), `environment` is added to ours, and descriptors in `pass_fds` are its own,
    too. What it says on stderr goes to a file, since nobody reads while it runs and a full pipe
    would stop it.
    """

    def __init__(
        self,
        binary,
        *arguments,
        greeting="listening on ",
        prefix=(),
        environment=None,
        pass_fds=(),
        patience=PATIENCE,
    ):
        self.binary = binary
        self.patience = patience
        self._said = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [*map(str, prefix), str(binary), *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=self._said,
            env={**os.environ, **(environment or {})},
            pass_fds=pass_fds,
        )
        self.line = self._line()
        if not self.line.startswith(greeting):
            code = None
            if not self.line:  # it has closed its output, so it is about to end
                with contextlib.suppress(subprocess.TimeoutExpired):
                    code = self.wait()
            self.close()
            raise DidNotServe(f"{binary} does not serve: {self.line!r} {self.said()}", code, self.said())
        self.url = self.line.split()[-1].rstrip("/")
        self.port = int(self.url.rsplit(":", 1)[1])

    def _line(self) -> str:
        line, deadline = b"", time.monotonic() + self.patience
        while not line.endswith(b"\n"):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                break
            byte = os.read(self.process.stdout.fileno(), 1)
            if not byte:
                break
            line += byte
        return line.decode()

    @property
    def pid(self) -> int:
        """Returns the server's own process id: strace has it as a child, valgrind is it."""
        pid = self.process.pid
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
        is_server = pathlib.Path(os.readlink(f"/proc/{pid}/exe")).name == self.binary.name
        return pid if is_server or not children else int(children[0])

    def connect(self, host="127.0.0.1") -> socket.socket:
        """Opens a socket to it."""
        return channel.connect(self.port, host, self.patience)

    def signal(self, number=signal.SIGTERM) -> None:
        os.kill(self.pid, number)

    def wait(self) -> int:
        """Returns its exit code."""
        return self.process.wait(timeout=self.patience)

    def said(self) -> str:
        """Returns everything that it has written to stderr so far."""
        self._said.flush()
        return os.pread(self._said.fileno(), 1 << 24, 0).decode(errors="replace")

    def stop(self) -> tuple[int, str]:
        """Ends it as an administrator does. Returns its exit code and its stderr."""
        self.signal()
        return self.wait(), self.said()

    def close(self) -> None:
        """Ends it at once, if it still runs."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


class Turtle(Server):
    """Runs `turtle serve` with some arguments, on any free port unless one is given. With the channel
    tls, that is the port for clients with TLS, and there is no other."""

    def __init__(self, *arguments, port=0, program=BINARY, **options):
        super().__init__(program, "serve", *channel.server_arguments(port), *arguments, greeting="Serving ", **options)
        self.operations = ""
        if "--operations" in arguments:  # its second line says where they are
            line = self._line()
            assert line.startswith("Operations at "), line
            self.operations = line.split()[-1].rstrip("/")
