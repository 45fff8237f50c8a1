#!/usr/bin/env python3
"""Stops a busy `turtle serve` by SIGTERM, again and again.

    stop.py [--rounds 1000]

Clients ask without a pause. When the signal comes, every request of which the server has taken a
byte gets its whole reply: a client may be refused, or closed before a reply, but it is never reset
and never left with a part.
"""

from __future__ import annotations

import argparse
import pathlib
import random
import socket
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import channel  # noqa: E402
from serving import Turtle  # noqa: E402

PATIENCE = 60.0
BODY = bytes(range(256)) * 100
CLIENTS = 8
REQUEST = b"GET /page.bin HTTP/1.1\r\nHost: turtle\r\n\r\n"


class Client(threading.Thread):
    """Asks until it is closed or refused; `trouble` says what must not be."""

    def __init__(self, port: int, keeps: bool) -> None:
        super().__init__()
        self._port, self._keeps = port, keeps
        self.replies, self.trouble = 0, ""

    def run(self) -> None:
        try:
            while self._visit():
                pass
        except TimeoutError:
            self.trouble = f"nothing in {PATIENCE:.0f} s"

    def _visit(self) -> bool:
        """One connection. Returns whether there may be another one."""
        try:
            link = channel.connect(self._port, timeout=PATIENCE)
        except ConnectionError:
            return False
        with link:
            while True:
                ended = self._ask(link)
                if ended or self.trouble:
                    return False
                if not self._keeps:
                    return True

    def _ask(self, link: socket.socket) -> bool:
        """One request. Returns whether the server has closed instead of answering."""
        got = b""
        try:
            link.sendall(REQUEST)
            while b"\r\n\r\n" not in got or len(got.split(b"\r\n\r\n", 1)[1]) < len(BODY):
                more = link.recv(1 << 16)
                if not more:
                    break
                got += more
        except ConnectionError as error:
            # Before the first byte: the request came when the server had closed already.
            self.trouble = f"{error} after {len(got)} bytes of a reply" if got else ""
            return True
        if not got:
            return True
        head, _, body = got.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200 ") or body != BODY:
            self.trouble = f"a part of a reply: {len(body)} of {len(BODY)} bytes, {head[:40]!r}"
        self.replies += 1
        return b"\r\nConnection: close" in head


def stop_once(folder: pathlib.Path, pause: float) -> tuple[int, list[str]]:
    """One server that is stopped after `pause` seconds; the replies, and what went wrong."""
    server = Turtle(folder, "--threads", "2", patience=PATIENCE)
    try:
        clients = [Client(server.port, keeps=number % 2 == 0) for number in range(CLIENTS)]
        for client in clients:
            client.start()
        threading.Event().wait(pause)  # any moment is as good as another
        code, said = server.stop()
        for client in clients:
            client.join()
    finally:
        server.close()
    wrong = [client.trouble for client in clients if client.trouble]
    if code != 0 or said:
        wrong.append(f"exit code {code}: {said}")
    return sum(client.replies for client in clients), wrong


def stop_often(rounds: int) -> tuple[int, list[str]]:
    """The replies of all rounds, and what went wrong."""
    chance = random.Random(rounds)
    replies, wrong = 0, []
    with tempfile.TemporaryDirectory(prefix="turtle-stop-") as name:
        folder = pathlib.Path(name)
        (folder / "page.bin").write_bytes(BODY)
        for number in range(rounds):
            got, trouble = stop_once(folder, chance.uniform(0, 0.1))
            replies += got
            wrong += [f"round {number}: {text}" for text in trouble]
    return replies, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1000, metavar="N")
    replies, wrong = stop_often(parser.parse_args().rounds)
    print(f"{replies} whole replies", *wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
