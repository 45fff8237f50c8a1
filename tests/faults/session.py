"""What the clients of a server with a fault do, and what each of them may see of it.

A client sees one of three things: the right reply, byte for byte; a whole reply that says 5xx; or a
connection that ends before the reply is complete, which it can tell. Anything else is Wrong.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import re
import socket
import ssl
import struct
import time
import zlib

import channel
import codings
import tls_sockets

PATIENCE = 60.0  # seconds for one reply, on a machine with other work
SMALL = b"<h1>turtle</h1>\n" * 40
CHANGED = b"<h1>changed</h1>\n" * 41
MIDDLE = bytes(range(256)) * 160  # copied, pinned in the cache
LARGE = bytes(range(256)) * 12_000  # 3 MB, by sendfile
BODY = b"0123456789abcde\n" * 8_000
FLOOD = b"x" * 400_000
SHEET = b"".join(b"p.c%d { color: green }\n" % i for i in range(800))  # encoded at once, as it is asked for
BOOK = SHEET * 10  # encoded in steps: it is served as it is until then
DATE = re.compile(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT")

PROGRAMS = {
    "echo": "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\nexec cat\n",
    "flood": "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\nexec cat flood.txt\n",
    "sleeper": "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\nsleeps\\n'\nexec sleep 1000\n",
    "elsewhere": "#!/bin/sh\nprintf 'Location: /small.html\\n\\n'\n",
}


class Wrong(Exception):
    """A reply that must not be, or none within PATIENCE."""


class Cut(Exception):
    """The connection ended before the reply was complete."""


def make_site(folder: pathlib.Path) -> None:
    """The folders site/ and programs/. The files are old, so their tags are strong."""
    site, programs = folder / "site", folder / "programs"
    (site / "docs").mkdir(parents=True)
    programs.mkdir()
    for name, content in {
        "small.html": SMALL,
        "middle.bin": MIDDLE,
        "large.bin": LARGE,
        "changing.html": SMALL,
        "docs/index.html": SMALL,
        "sheet.css": SHEET,
        "book.css": BOOK,
        "early.css": SHEET,
    }.items():
        (site / name).write_bytes(content)
        os.utime(site / name, (1_700_000_000, 1_700_000_000))
    (site / "early.css.gz").write_bytes(codings.encode("gzip", SHEET))
    for name, text in PROGRAMS.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    (programs / "flood.txt").write_bytes(FLOOD)


@dataclasses.dataclass
class Reply:
    status: int
    fields: dict[str, str]
    body: bytes


def require_alert(error: ssl.SSLError) -> None:
    """A server may end TLS with an alert. Bytes that nobody can decrypt are Wrong."""
    if "ALERT" not in (error.reason or ""):
        raise Wrong(f"TLS: {error}") from error


class Client:
    """One connection."""

    def __init__(
        self,
        port: int,
        small_window: bool = False,
        is_plain: bool = False,
        tls: tls_sockets.Session | None = None,
    ) -> None:
        """Over TLS, `tls` is the session; without it, it is a new one."""
        self._socket = socket.socket()
        if small_window:  # before connect(), when the window is agreed on
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._socket.settimeout(PATIENCE)
        self._rest = b""
        try:
            self._socket.connect(("127.0.0.1", port))
        except TimeoutError as error:
            raise Wrong("nobody accepts") from error
        except ConnectionError as error:
            raise Cut("while connecting") from error
        self._lacks_channel = not is_plain
        self._tls = tls
        self._has_read = False

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def reset(self) -> None:
        """Goes away at once, as by a crash."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._socket.close()

    def leave(self) -> None:
        """Ends its side, too."""
        with contextlib.suppress(OSError):  # the server is free to be gone already
            self._socket.shutdown(socket.SHUT_WR)

    def _put_on_channel(self) -> None:
        """Not before there is something to send, for a client in the backlog has nobody for a handshake."""
        self._lacks_channel = False
        try:
            self._socket = channel.put_on(self._socket, session=self._tls)
        except TimeoutError as error:
            raise Wrong("nobody makes the handshake") from error
        except (ConnectionError, ssl.SSLError) as error:  # a client that finds a fault has no reply yet
            raise Cut("in the handshake") from error

    def send(self, text: bytes) -> None:
        if self._lacks_channel:
            self._put_on_channel()
        with contextlib.suppress(ConnectionError):  # what comes back says why
            self._socket.sendall(text)

    def _more(self) -> bytes:
        try:
            more = self._socket.recv(1 << 18)
            self._has_read = True
            return more
        except TimeoutError as error:
            raise Wrong(f"no byte in {PATIENCE:.0f} s after {self._rest[-80:]!r}") from error
        except ConnectionError:
            return b""
        except ssl.SSLError as error:
            if self._has_read:  # else an alert of a server that failed between two keys: OpenSSL seals it wrongly
                require_alert(error)
            return b""

    def _take(self, count: int) -> bytes:
        while len(self._rest) < count:
            more = self._more()
            if not more:
                raise Cut(f"{len(self._rest)} of {count} bytes of a body")
            self._rest += more
        taken, self._rest = self._rest[:count], self._rest[count:]
        return taken

    def _take_to(self, end: bytes) -> bytes:
        while end not in self._rest:
            more = self._more()
            if not more:
                raise Cut(f"{self._rest[:60]!r} instead of a line")
            self._rest += more
        taken, self._rest = self._rest.split(end, 1)
        return taken

    def reply(self, head_only: bool = False) -> Reply:
        start, *lines = self._take_to(b"\r\n\r\n").decode("latin-1").split("\r\n")
        if not re.fullmatch(r"HTTP/1\.1 \d{3} [ -~]*", start):
            raise Wrong(f"{start!r} is no status line")
        fields = {}
        for line in lines:
            name, colon, value = line.partition(": ")
            if not colon or name.lower() in fields:
                raise Wrong(f"{line!r} is no field, or there twice")
            fields[name.lower()] = value
        if not DATE.fullmatch(fields.get("date", "")):
            raise Wrong(f"{fields.get('date')!r} is no date")
        status = int(start[9:12])
        if head_only or status == 304:
            body = b""
        elif fields.get("transfer-encoding") == "chunked":
            body = b""
            while size := int(self._take_to(b"\r\n"), 16):
                body += self._take(size)
                if self._take(2) != b"\r\n":
                    raise Wrong("a chunk without its end")
            if self._take(2) != b"\r\n":
                raise Wrong("trailers that nobody has sent")
        elif "content-length" in fields:
            body = self._take(int(fields["content-length"]))
        else:
            raise Wrong("a reply whose end nobody can tell")
        return Reply(status, fields, body)

    def head(self, status: int) -> None:
        """The head of a reply whose body is not waited for; an error page is a Cut."""
        head = self._take_to(b"\r\n\r\n")
        if f" {status} ".encode() not in head:
            raise Cut(f"{head[:40]!r}")

    def end(self) -> None:
        """Nothing but the end follows."""
        if self._rest or self._more():
            raise Wrong("more bytes than were asked for")

    def expect(self, status: int, body: bytes | None = None, head_only: bool = False) -> Reply:
        """The next reply, decoded. A 5xx is a Cut: what came of the request is known, and it is not done."""
        reply = self.reply(head_only)
        if reply.status >= 500:
            raise Cut(f"{reply.status}")
        coding = reply.fields.get("content-encoding", "") if reply.body else ""
        try:
            reply.body = codings.decode(coding, reply.body)
        except (AssertionError, zlib.error) as error:
            raise Wrong(f"{len(reply.body)} bytes that are no {coding}: {error}") from error
        if reply.status != status or (body is not None and reply.body != body):
            raise Wrong(f"{reply.status} with {len(reply.body)} bytes, {reply.body[:40]!r} …, instead of {status}")
        return reply

    def ask(self, path: str, status: int = 200, body: bytes | None = None, method="GET", more="") -> Reply:
        self.send(f"{method} {path} HTTP/1.1\r\nHost: turtle\r\n{more}\r\n".encode())
        return self.expect(status, body, method == "HEAD")


def browse(port: int, _: pathlib.Path) -> None:
    with Client(port) as client:
        tag = client.ask("/small.html", body=SMALL).fields["etag"]
        client.ask("/small.html", body=SMALL)
        client.ask("/small.html", method="HEAD")
        client.ask("/small.html", 304, more=f"If-None-Match: {tag}\r\n")
        client.ask("/nowhere", 404)
        client.ask("/docs", 301)
        client.ask("/docs/", body=SMALL)
        client.ask("/middle.bin", body=MIDDLE)
        client.ask("/middle.bin", body=MIDDLE)
        client.ask("/large.bin", body=LARGE)


def ask_once(port: int, _: pathlib.Path) -> None:
    for path, body in (("/small.html", SMALL), ("/middle.bin", MIDDLE), ("/small.html", SMALL)):
        with Client(port) as client:
            client.ask(path, body=body, more="Connection: close\r\n")
            client.end()


def take_ranges(port: int, _: pathlib.Path) -> None:
    with Client(port) as client:
        client.ask("/middle.bin", 206, MIDDLE[100:20_000], more="Range: bytes=100-19999\r\n")
        client.ask("/middle.bin", 416, more="Range: bytes=900000-\r\n")
        parts = client.ask("/middle.bin", 206, more="Range: bytes=0-9,1000-1009\r\n").body
        if MIDDLE[:10] not in parts or MIDDLE[1000:1010] not in parts:
            raise Wrong(f"two parts in {parts!r}")


def pipeline(port: int, _: pathlib.Path) -> None:
    paths = ["/small.html", "/middle.bin"] * 6
    with Client(port) as client:
        client.send(b"".join(f"GET {path} HTTP/1.1\r\nHost: turtle\r\n\r\n".encode() for path in paths))
        for path in paths:
            client.expect(200, SMALL if path == "/small.html" else MIDDLE)


def change_a_file(port: int, site: pathlib.Path) -> None:
    with Client(port) as client:
        client.ask("/changing.html", body=SMALL)
        (site / "next.html").write_bytes(CHANGED)
        (site / "next.html").rename(site / "changing.html")
        client.ask("/changing.html", body=CHANGED)


def read_slowly(port: int, _: pathlib.Path) -> None:
    with Client(port, small_window=True) as client:
        client.send(b"GET /large.bin HTTP/1.1\r\nHost: turtle\r\n\r\n")
        time.sleep(0.02)  # so that the server finds the socket full; nothing depends on it
        client.expect(200, LARGE)


def run_programs(port: int, _: pathlib.Path) -> None:
    with Client(port) as client:
        client.send(b"POST /cgi-bin/echo HTTP/1.1\r\nHost: turtle\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY)
        client.expect(200, BODY)
        client.ask("/cgi-bin/flood", body=FLOOD)
        client.ask("/cgi-bin/elsewhere", body=SMALL)
        client.ask("/cgi-bin/nobody", 404)


def send_chunks(port: int, _: pathlib.Path) -> None:
    with Client(port) as client:
        client.send(b"POST /cgi-bin/echo HTTP/1.1\r\nHost: turtle\r\nTransfer-Encoding: chunked\r\n\r\n")
        client.send(b"".join(b"1\r\n%c\r\n" % byte for byte in BODY[:500]) + b"0\r\n\r\n")
        client.expect(200, BODY[:500])


def take_coded(port: int, _: pathlib.Path) -> None:
    """A coding is an offer: the plain bytes are right, too."""
    for coding in ("gzip", "br", "zstd"):
        with Client(port) as client:
            for path, body in (("/book.css", BOOK), ("/sheet.css", SHEET), ("/early.css", SHEET), ("/cgi-bin/flood", FLOOD)):
                client.ask(path, body=body, more=f"Accept-Encoding: {coding}\r\n")
            client.ask("/sheet.css", method="HEAD", more=f"Accept-Encoding: {coding}\r\n")


def talk_nonsense(port: int, _: pathlib.Path) -> None:
    with Client(port) as client:
        client.send(b"THIS IS NOT HTTP\r\n\r\n" + BODY)
        client.expect(400)
        client.end()


def leave_early(port: int, _: pathlib.Path) -> None:
    with Client(port) as client:
        client.send(b"GET /large.bin HTTP/1.1\r\nHost: turtle\r\n\r\n")
        client.head(200)
        client._take(1000)
        client.reset()
    with Client(port) as client:
        client.send(b"GET /cgi-bin/sleeper HTTP/1.1\r\nHost: turtle\r\n\r\n")
        client.head(200)
        client._take_to(b"sleeps\n")
        client.reset()
    with Client(port) as client:
        client.send(b"GET /small.html HT")


def look_on(port: int) -> list[str]:
    """Whoever watches the server, with a new connection. Returns as run() does."""
    try:
        with Client(port, is_plain=True) as client:
            client.ask("/metrics", 200)
            client.ask("/livez", body=b"live\n")
            client.ask("/readyz", body=b"ready\n")
            client.ask("/", 200)
    except Cut as cut:
        return [f"look_on: {cut}"]
    return []


STEPS = (
    browse,
    ask_once,
    take_ranges,
    pipeline,
    change_a_file,
    read_slowly,
    run_programs,
    send_chunks,
    take_coded,
    talk_nonsense,
    leave_early,
)


def run(port: int, site: pathlib.Path) -> list[str]:
    """All clients, each with a new connection, and one who stays and asks in between.

    Returns who was cut, and where. Raises Wrong."""
    cuts = []

    def attempt(name, act):
        try:
            act()
        except Cut as cut:
            cuts.append(f"{name}: {cut}")
            return False
        except Wrong as wrong:
            raise Wrong(f"{name}: {wrong}") from wrong
        return True

    with contextlib.ExitStack() as stack:
        neighbour = None
        for step in STEPS:
            attempt(step.__name__, lambda step=step: step(port, site))

            def ask_neighbour():
                nonlocal neighbour
                neighbour = neighbour or stack.enter_context(Client(port))
                neighbour.ask("/docs/", body=SMALL)

            if not attempt("neighbour", ask_neighbour):
                neighbour = None
    return cuts
