"""What the clients of a measured server ask, request by request.

A scenario is driven in lock step: the next request is sent when the reply before it has come, so
that the server does the same work in each run. Where several clients come at once the server is
stopped meanwhile: it then finds them all. Each reply is checked: a server that has begun to answer
500 costs less, and that must not pass for a success.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import socket
from collections.abc import Callable
from typing import Protocol

PATIENCE = 30.0  # seconds that one reply may take, under a tool that slows the server down
SMALL = b"<h1>turtle</h1>\n" * 64  # 1 KiB
LARGE = bytes(range(256)) * 400  # 100 KiB, about

WRK_HEAD = "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:20080\r\n{more}\r\n"
BROWSER_HEAD = (
    "GET {path} HTTP/1.1\r\n"
    "Host: 127.0.0.1:20080\r\n"
    "Connection: keep-alive\r\n"
    'sec-ch-ua: "Chromium";v="128", "Not;A=Brand";v="24"\r\n'
    "sec-ch-ua-mobile: ?0\r\n"
    'sec-ch-ua-platform: "Linux"\r\n'
    "Upgrade-Insecure-Requests: 1\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/128.0.0.0"
    " Safari/537.36\r\n"
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n"
    "Sec-Fetch-Site: none\r\n"
    "Sec-Fetch-Mode: navigate\r\n"
    "Sec-Fetch-User: ?1\r\n"
    "Sec-Fetch-Dest: document\r\n"
    "Accept-Encoding: gzip, deflate\r\n"
    "Accept-Language: en-GB,en;q=0.9\r\n"
    "Cookie: theme=dark; seen=01%2C02%2C03\r\n"
    "{more}\r\n"
)


def make_site(folder: pathlib.Path) -> None:
    for name, content in (("small.html", SMALL), ("large.bin", LARGE)):
        (folder / name).write_bytes(content)
        os.utime(folder / name, (1_600_000_000, 1_600_000_000))  # a fresh one is read again soon


class Client:
    """One connection, and the end of each reply on it."""

    def __init__(self, port: int) -> None:
        self._socket = socket.socket()
        # Before connect(), so that a window is agreed on that holds a whole reply: how often the
        # server finds the socket full must not depend on how fast we read.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.settimeout(PATIENCE)
        self._socket.connect(("127.0.0.1", port))
        self._rest = b""

    def close(self) -> None:
        self._socket.close()

    def send(self, text: bytes) -> None:
        self._socket.sendall(text)

    def _more(self) -> None:
        piece = self._socket.recv(1 << 20)
        if not piece:
            raise AssertionError("the server closed the connection within a reply")
        self._rest += piece

    def reply(self, status: int, body: bytes | None) -> bytes:
        """Takes one reply, which has to be this one; returns its head."""
        while b"\r\n\r\n" not in self._rest:
            self._more()
        head, self._rest = self._rest.split(b"\r\n\r\n", 1)
        if not head.startswith(b"HTTP/1.1 %d " % status):
            raise AssertionError(f"{status} was expected, and this came: {head[:80]!r}")
        length = 0 if status == 304 else int(field(head, b"content-length"))
        while len(self._rest) < length:
            self._more()
        text, self._rest = self._rest[:length], self._rest[length:]
        if body is not None and text != body:
            raise AssertionError("the body is not the file")
        return head

    def must_end(self) -> None:
        if self._rest or self._socket.recv(1):
            raise AssertionError("something follows the last reply")


def field(head: bytes, name: bytes) -> bytes:
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.lower() == name:
            return value.strip()
    raise AssertionError(f"no {name.decode()} in {head!r}")


# --- the ways to ask: each takes the server and a number of requests -----------------------------


class Server(Protocol):
    """What a way to ask needs of a server."""

    port: int

    def pause(self) -> None:
        """Stops it as soon as it has nothing to do."""

    def resume(self) -> None:
        """Lets it go on."""


Drive = Callable[[Server, int], None]


def request(path: str, more: str = "", head: str = WRK_HEAD) -> bytes:
    return head.format(path=path, more=more).encode()


def kept_alive(text: bytes, status: int, body: bytes | None) -> Drive:
    def drive(server: Server, count: int) -> None:
        client = Client(server.port)
        for _ in range(count):
            client.send(text)
            client.reply(status, body)
        client.close()

    return drive


def pipelined(server: Server, count: int, depth: int = 16) -> None:
    client = Client(server.port)
    for _ in range(count // depth):
        client.send(request("/small.html") * depth)
        for _ in range(depth):
            client.reply(200, SMALL)
    client.close()


def connection_each(server: Server, count: int, together: int = 16) -> None:
    for _ in range(count // together):
        server.pause()
        clients = [Client(server.port) for _ in range(together)]
        for client in clients:
            client.send(request("/small.html", "Connection: close\r\n"))
        server.resume()
        for client in clients:
            client.reply(200, SMALL)
            client.must_end()
            client.close()


def not_modified(server: Server, count: int) -> None:
    client = Client(server.port)
    client.send(request("/small.html"))
    tag = field(client.reply(200, SMALL), b"etag").decode()
    for _ in range(count):
        client.send(request("/small.html", f"If-None-Match: {tag}\r\n"))
        client.reply(304, b"")
    client.close()


@dataclasses.dataclass(frozen=True)
class Scenario:
    """`count` requests are measured; a multiple of 16."""

    name: str
    what: str
    drive: Drive
    count: int = 480


SCENARIOS = {
    each.name: each
    for each in (
        Scenario("keep-alive", "a small file from the cache, one connection",
                 kept_alive(request("/small.html"), 200, SMALL)),
        Scenario("browser", "the same, with the head of a browser",
                 kept_alive(request("/small.html", head=BROWSER_HEAD), 200, SMALL)),
        Scenario("pipelined", "the same, sixteen requests at a time", pipelined, 960),
        Scenario("connection-each", "a small file, a connection for each request, 16 clients at once",
                 connection_each),
        Scenario("not-modified", "a small file that the client has already: 304", not_modified),
        Scenario("not-found", "a path that does not exist: 404",
                 kept_alive(request("/not/there.html"), 404, None)),
        Scenario("large", "a file of 100 KiB, one connection",
                 kept_alive(request("/large.bin"), 200, LARGE), 240),
    )
}
