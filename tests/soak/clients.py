"""Clients, good and bad. Each act is one visit: it opens a connection, does its thing and leaves.

A good client compares every body with what it must be. A bad one only demands that the server comes
to an end with it. Wrong raises, with what was wrong.
"""

import http.client
import os
import pathlib
import random
import re
import socket
import struct
import threading
import time

import channel
import codings

PATIENCE = 60.0  # seconds that anything may take
SMALL = b"A small page, and the same for everybody.\n" * 16
BOOK = b"".join(b"<p>Line %d of a long text.</p>\n" % i for i in range(8000))
PAGE = b"<p>A page that a browser would show.</p>\n" * 512
LARGE = random.Random(1).randbytes(8 << 20)
CHANGING = 4096  # bytes of a file that is replaced all the time: one letter, again and again

PROGRAMS = {
    "echo": "printf 'Content-Type: application/octet-stream\\n\\n'\nexec cat\n",
    "book": "printf 'Content-Type: text/html\\n\\n'\nexec cat ../site/book.html\n",
    "endless": "printf 'Content-Type: text/plain\\n\\n'\nexec cat /dev/zero\n",
    "silent": "exec sleep 600\n",
}


class Wrong(Exception):
    """What no server may do."""


def make_site(folder: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path]:
    """The files and the programs."""
    site, programs = folder / "site", folder / "programs"
    site.mkdir()
    programs.mkdir()
    files = {"small.txt": SMALL, "page.html": PAGE, "large.bin": LARGE, "book.html": BOOK, "changing.txt": b"a" * CHANGING}
    for name, body in files.items():
        (site / name).write_bytes(body)
    for name, text in PROGRAMS.items():
        (programs / name).write_text("#!/bin/sh\n" + text, encoding="utf-8")
        (programs / name).chmod(0o755)
    return site, programs


def demand(condition: bool, text: str) -> None:
    if not condition:
        raise Wrong(text)


class Visitor:
    """One thread's clients."""

    def __init__(self, port: int, site: pathlib.Path, seed: int) -> None:
        self.port = port
        self.site = site
        self.random = random.Random(seed)

    # --- connections ---

    def connect(self, receive_buffer: int = 0) -> socket.socket:
        return channel.put_on(self.connect_plainly(receive_buffer))

    def connect_plainly(self, receive_buffer: int = 0) -> socket.socket:
        """Without a channel."""
        client = socket.socket()
        try:
            if receive_buffer:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            client.settimeout(PATIENCE)
            # From many addresses: the ports of one are used up while its old connections wait.
            client.bind((f"127.{self.random.randrange(1, 250)}.{self.random.randrange(250)}.1", 0))
            client.connect(("127.0.0.1", self.port))
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return client
        except OSError:
            client.close()
            raise

    def http(self) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.sock = self.connect()
        return connection

    @staticmethod
    def reset(client: socket.socket) -> None:
        """Leaves with a reset instead of a FIN."""
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()

    @staticmethod
    def drain(client: socket.socket) -> bytes:
        """All that comes until the server closes."""
        found = b""
        try:
            while data := client.recv(1 << 18):
                found += data
        except ConnectionResetError:
            pass  # of what a bad client sent, not all was wanted
        return found

    @staticmethod
    def get(path: str, *fields: str) -> bytes:
        return "\r\n".join([f"GET {path} HTTP/1.1", "Host: turtle", *fields, "", ""]).encode()

    def ask(self, connection, method: str, path: str, body=None, fields=None, chunked=False):
        connection.request(method, path, body, fields or {}, encode_chunked=chunked)
        reply = connection.getresponse()
        return reply, reply.read()

    # --- good ---

    def keep_alive(self) -> int:
        connection, count = self.http(), self.random.randrange(2, 20)
        for _ in range(count):
            path, body = self.random.choice([("/small.txt", SMALL), ("/page.html", PAGE)])
            method = self.random.choice(["GET", "GET", "HEAD"])
            reply, found = self.ask(connection, method, path)
            demand(reply.status == 200 and found == (body if method == "GET" else b""), f"{method} {path}: {reply.status}")
        connection.close()
        return count

    def conditional(self) -> int:
        connection = self.http()
        reply, found = self.ask(connection, "GET", "/page.html")
        demand(reply.status == 200 and found == PAGE, "GET /page.html")
        reply, found = self.ask(connection, "GET", "/page.html", fields={"If-None-Match": reply.getheader("ETag")})
        demand(reply.status == 304 and found == b"", f"a known tag: {reply.status}")
        reply, found = self.ask(connection, "GET", "/missing.html", fields={"Connection": "close"})
        demand(reply.status == 404, f"a file that is not there: {reply.status}")
        connection.close()
        return 3

    def pipelined(self) -> int:
        count = self.random.randrange(2, 30)
        paths = [self.random.choice(["/small.txt", "/page.html"]) for _ in range(count)]
        wanted = [SMALL if path == "/small.txt" else PAGE for path in paths]
        last = ["Connection: close"]
        with self.connect() as client:
            client.sendall(b"".join(self.get(path, *(last if i == count - 1 else [])) for i, path in enumerate(paths)))
            found = self.drain(client)
        at = 0
        for body in wanted:
            end = found.find(b"\r\n\r\n", at)
            length = re.search(rb"\r\nContent-Length: (\d+)", found[at:end])
            demand(end > 0 and found.startswith(b"HTTP/1.1 200 ", at) and length is not None, "a pipelined head")
            demand(int(length[1]) == len(body) and found[end + 4 : end + 4 + len(body)] == body, "a pipelined body")
            at = end + 4 + len(body)
        demand(at == len(found), "something behind the last reply")
        return count

    def ranges(self) -> int:
        connection = self.http()
        for _ in range(4):
            first = self.random.randrange(len(LARGE))
            last = min(first + self.random.randrange(1 << self.random.randrange(1, 20)), len(LARGE) - 1)
            reply, found = self.ask(connection, "GET", "/large.bin", fields={"Range": f"bytes={first}-{last}"})
            demand(reply.status == 206 and found == LARGE[first : last + 1], f"range {first}-{last}: {reply.status}")
        reply, found = self.ask(connection, "GET", "/large.bin", fields={"Range": f"bytes={len(LARGE)}-"})
        demand(reply.status == 416, f"a range behind the end: {reply.status}")
        connection.close()
        return 5

    def large(self) -> int:
        connection = self.http()
        reply, found = self.ask(connection, "GET", "/large.bin")
        demand(reply.status == 200 and found == LARGE, "GET /large.bin")
        connection.close()
        return 1

    def changing(self) -> int:
        """Replaces a file while others read it: a reply is one version or another, never half of each."""
        letter = bytes([self.random.randrange(97, 123)])
        fresh = self.site / f".{threading.get_ident()}"
        fresh.write_bytes(letter * CHANGING)
        os.replace(fresh, self.site / "changing.txt")
        connection = self.http()
        for _ in range(3):
            reply, found = self.ask(connection, "GET", "/changing.txt")
            demand(reply.status == 200 and found == found[:1] * CHANGING, "two versions of a file in one reply")
        connection.close()
        return 3

    def coded(self) -> int:
        """Two files and a program's stream, in whatever coding the server makes of a wish."""
        connection = self.http()
        fields = {"Accept-Encoding": self.random.choice(["gzip", "br", "zstd", "gzip, br", "*", "zstd;q=0.5, gzip;q=0.1"])}
        for path, body in (("/page.html", PAGE), ("/book.html", BOOK), ("/cgi-bin/book", BOOK)):
            reply, found = self.ask(connection, "GET", path, fields=fields)
            plain = codings.decode(reply.getheader("Content-Encoding", ""), found)
            demand(reply.status == 200 and plain == body, f"{path} with {fields}: {reply.status}")
        connection.close()
        return 3

    def program(self) -> int:
        connection, body = self.http(), self.random.randbytes(self.random.randrange(1 << self.random.randrange(1, 17)))
        pieces = (body[i : i + 5000] for i in range(0, len(body), 5000))
        if self.random.random() < 0.5:
            reply, found = self.ask(connection, "POST", "/cgi-bin/echo", body)
        else:
            fields = {"Transfer-Encoding": "chunked"}
            reply, found = self.ask(connection, "POST", "/cgi-bin/echo", pieces, fields, chunked=True)
        demand(reply.status == 200 and found == body, f"a program's reply: {reply.status}, {len(found)} bytes of {len(body)}")
        connection.close()
        return 1

    def slow_reader(self) -> int:
        first = self.random.randrange(len(LARGE) - (1 << 20))
        with self.connect(receive_buffer=4096) as client:
            client.sendall(self.get("/large.bin", f"Range: bytes={first}-{first + (1 << 20) - 1}", "Connection: close"))
            found = b""
            for _ in range(20):
                time.sleep(0.005)
                found += client.recv(2048)
            found += self.drain(client)
        demand(found.partition(b"\r\n\r\n")[2] == LARGE[first : first + (1 << 20)], "a slow reader's body")
        return 1

    # --- bad ---

    def reset_at_once(self) -> int:
        self.reset(self.connect())
        return 0

    def reset_in_the_request(self) -> int:
        client = self.connect()
        request = self.get("/small.txt") * 3 + b"POST /cgi-bin/echo HTTP/1.1\r\nHost: turtle\r\nContent-Length: 9000\r\n\r\nx"
        client.sendall(request[: self.random.randrange(1, len(request))])
        self.reset(client)
        return 0

    def reset_in_the_reply(self) -> int:
        client = self.connect(receive_buffer=self.random.choice([0, 4096]))
        path = self.random.choice(["/large.bin", "/page.html", "/small.txt", "/book.html"])
        client.sendall(self.get(path, *self.random.choice([[], ["Accept-Encoding: br"]])) * 2)
        if self.random.random() < 0.7:
            demand(client.recv(1000).startswith(b"HTTP/1.1 200 "), "the begin of a reply")
        self.reset(client)
        return 0

    def reset_program(self) -> int:
        client = self.connect()
        name = self.random.choice(["endless", "silent"])
        client.sendall(self.get(f"/cgi-bin/{name}", *self.random.choice([[], ["Accept-Encoding: zstd"]])))
        if name == "endless":
            demand(client.recv(1000).startswith(b"HTTP/1.1 200 "), "the begin of a program's reply")
        self.reset(client)
        return 0

    def leaver(self) -> int:
        with self.connect() as client:
            client.sendall(self.get("/large.bin"))
            for _ in range(self.random.randrange(1, 30)):
                demand(bool(client.recv(1 << 16)), "a large file ends early")
        return 0

    def garbage(self) -> int:
        with self.connect() as client:
            try:
                client.sendall(self.random.randbytes(self.random.randrange(1, 3000)))
                client.shutdown(socket.SHUT_WR)
            except (ConnectionError, OSError):
                pass  # it has heard enough
            found = self.drain(client)
        demand(not found or re.match(rb"HTTP/1\.1 [45]", found) is not None, f"garbage was answered: {found[:80]!r}")
        return 0

    def half_request(self) -> int:
        request = self.get("/small.txt", "X-Long: " + "x" * 500)
        with self.connect() as client:
            client.sendall(request[: self.random.randrange(1, len(request))])
            client.shutdown(socket.SHUT_WR)
            found = self.drain(client)
        demand(not found or re.match(rb"HTTP/1\.1 4", found) is not None, f"half a request was answered: {found[:80]!r}")
        return 0

    # --- bad at TLS ---

    def no_handshake(self) -> int:
        with self.connect_plainly() as client:
            client.sendall(self.random.randbytes(self.random.randrange(1, 3000)))
            client.shutdown(socket.SHUT_WR)
            demand(not self.drain(client).startswith(b"HTTP/"), "an answer without TLS")
        return 0

    def half_handshake(self) -> int:
        client = self.connect_plainly()
        hello = channel.new_session().seal_hello()
        client.sendall(hello[: self.random.randrange(1, len(hello) + 1)])
        if self.random.random() < 0.5:
            self.reset(client)
        else:
            client.close()
        return 0

    def cut(self) -> int:
        """A FIN without a close_notify."""
        client = self.connect()
        client.sendall(self.get("/page.html") + self.get("/small.txt")[: self.random.randrange(30)])
        client.close()
        return 0


RESETS = (Visitor.reset_at_once, Visitor.reset_in_the_request, Visitor.reset_in_the_reply, Visitor.reset_program)
# How often each is chosen, of the sum of all.
ACTS = {
    Visitor.keep_alive: 8,
    Visitor.conditional: 5,
    Visitor.pipelined: 5,
    Visitor.ranges: 5,
    Visitor.large: 1,
    Visitor.changing: 3,
    Visitor.coded: 3,
    Visitor.program: 3,
    Visitor.slow_reader: 1,
    Visitor.reset_at_once: 30,
    Visitor.reset_in_the_request: 30,
    Visitor.reset_in_the_reply: 30,
    Visitor.reset_program: 2,
    Visitor.leaver: 3,
    Visitor.garbage: 6,
    Visitor.half_request: 6,
}
if channel.NAME == "tls":
    ACTS |= {Visitor.no_handshake: 6, Visitor.half_handshake: 6, Visitor.cut: 6}
