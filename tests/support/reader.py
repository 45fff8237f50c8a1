"""A reader of responses that forgives nothing.

It gets all bytes that came and the request of each response. It raises Fault at the first thing that
RFC 9110 or 9112 does not allow a server, whether or not the row is about it.
"""

import re
import time
from dataclasses import dataclass
from email.utils import formatdate, parsedate_to_datetime

STATUS_LINE = re.compile(rb"HTTP/1\.1 ([1-5][0-9][0-9]) [\t\x20-\x7e\x80-\xff]*\Z")
FIELD_LINE = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([\t\x20-\x7e\x80-\xff]*?)[ \t]*\Z")
ENTITY_TAG = re.compile(r'(W/)?"[\x21\x23-\x7e\x80-\xff]*"\Z')
CHUNK_LINE = re.compile(rb"([0-9A-Fa-f]{1,16})\Z")
MEDIA_TYPE = re.compile(r"[!#$%&'*+\-.^_`|~\w]+/[!#$%&'*+\-.^_`|~\w]+( *;.*)?\Z")

# Fields that are not lists: a second one has no meaning.
ONCE = """
    Accept-Ranges Age Connection Content-Length Content-Location Content-Range Content-Type Date ETag
    Expires Last-Modified Location Retry-After Server Transfer-Encoding
""".split()
# Fields that describe content; a 304 has none (RFC 9110, section 15.4.5).
OF_CONTENT = """
    Content-Encoding Content-Language Content-Length Content-Range Content-Type Transfer-Encoding
""".split()


class Fault(AssertionError):
    """A fault of a response."""


class Cut(Fault):
    """A body whose end is missing."""


def demand(condition, text, *values):
    if not condition:
        raise Fault(text.format(*values))


@dataclass
class Reply:
    status: int
    fields: list
    body: bytes

    def all(self, name: str) -> list:
        return [value for each, value in self.fields if each.lower() == name.lower()]

    def one(self, name: str):
        """Returns the value, or None."""
        values = self.all(name)
        return values[0] if values else None

    @property
    def says_close(self) -> bool:
        options = ",".join(self.all("Connection")).split(",")
        return "close" in (option.strip().lower() for option in options)


class Reader:
    def __init__(self, data: bytes):
        self.data = data
        self.at = 0
        self.status = None  # of the last response whose head was read

    @property
    def rest(self) -> bytes:
        return self.data[self.at :]

    def reply(self, method: str, minor: int) -> Reply:
        """Reads the next response, to `method` in HTTP/1.`minor`."""
        head, end, _ = self.rest.partition(b"\r\n\r\n")
        demand(end, "no complete head: {!r}", self.rest[:200])
        self.at += len(head) + len(end)
        demand(b"\n" not in head.replace(b"\r\n", b""), "bare LF in {!r}", head)
        status_line, *lines = head.split(b"\r\n")
        match = STATUS_LINE.match(status_line)
        demand(match, "status line {!r}", status_line)
        reply = Reply(int(match[1]), [field(line) for line in lines], b"")
        self.status = reply.status
        check_fields(reply, method)
        reply.body = self.content(reply, method, minor)
        check_content(reply, method)
        return reply

    def content(self, reply: Reply, method: str, minor: int) -> bytes:
        length, coding = reply.one("Content-Length"), reply.one("Transfer-Encoding")
        demand(length is None or coding is None, "both Content-Length and Transfer-Encoding")
        if coding is not None:
            demand(coding.lower() == "chunked", "Transfer-Encoding: {}", coding)
            demand(minor > 0, "Transfer-Encoding to a client of HTTP/1.0")
        if length is not None:
            demand(length.isdecimal() and length.isascii(), "Content-Length: {}", length)
        if reply.status < 200 or reply.status in (204, 304):
            demand(length is None and coding is None, "{} with a length", reply.status)
            return b""
        if method == "HEAD":
            return b""
        if length is not None:
            return self.take(int(length))
        if coding is not None:
            return self.chunks()
        demand(reply.says_close, "a body without an end")
        return self.take(len(self.rest))

    def take(self, count: int) -> bytes:
        bytes_ = self.data[self.at : self.at + count]
        if len(bytes_) != count:
            raise Cut(f"{len(bytes_)} bytes of a body instead of {count}")
        self.at += count
        return bytes_

    def line(self) -> bytes:
        line, end, _ = self.rest.partition(b"\r\n")
        if not end:
            raise Cut(f"no line end in a chunked body: {self.rest[:80]!r}")
        self.at += len(line) + 2
        return line

    def chunks(self) -> bytes:
        body = b""
        while True:
            match = CHUNK_LINE.match(self.line())
            demand(match, "chunk size")
            size = int(match[1], 16)
            if size == 0:
                demand(self.line() == b"", "a trailer that nobody asked for")
                return body
            body += self.take(size)
            demand(self.line() == b"", "a chunk is longer than its size")


def field(line: bytes) -> tuple:
    match = FIELD_LINE.match(line)
    demand(match, "field line {!r}", line)
    return match[1].decode(), match[2].decode("latin-1")


def check_fields(reply: Reply, method: str) -> None:
    status = reply.status
    for name in ONCE:
        demand(len(reply.all(name)) < 2, "{} is there {} times", name, len(reply.all(name)))
    if status >= 200:
        demand(reply.one("Date"), "{} without Date", status)
    for name in ("Date", "Last-Modified", "Expires"):
        if reply.one(name) is not None:
            check_date(name, reply.one(name))
    if status >= 200:
        age = time.time() - parsedate_to_datetime(reply.one("Date")).timestamp()
        demand(-2 < age < 30, "Date is {} seconds off", age)
    if reply.one("ETag") is not None:
        demand(ENTITY_TAG.match(reply.one("ETag")), "ETag: {}", reply.one("ETag"))
    if reply.one("Content-Type") is not None:
        demand(MEDIA_TYPE.match(reply.one("Content-Type")), "Content-Type: {}", reply.one("Content-Type"))
    if status == 405:
        allow = reply.one("Allow")
        demand(allow is not None, "405 without Allow")
        demand("GET" in allow and "HEAD" in allow, "Allow: {}", allow)
    if status == 416:
        demand(re.match(r"bytes \*/\d+\Z", reply.one("Content-Range") or ""), "416 without Content-Range")
    if status in (301, 302, 303, 307, 308):
        demand(reply.one("Location"), "{} without Location", status)
    if status == 206:
        parts = (reply.one("Content-Type") or "").startswith("multipart/byteranges")
        demand(parts != bool(reply.one("Content-Range")), "206 with Content-Range and parts, or neither")
    if status not in (206, 416):
        demand(not reply.one("Content-Range"), "{} with Content-Range", status)
    if status == 304:
        demand(not any(reply.all(name) for name in OF_CONTENT), "304 describes a body: {}", reply.fields)
    if status < 200:
        demand(not reply.all("Connection"), "an interim reply with Connection")


def check_date(name: str, value: str) -> None:
    """IMF-fixdate and no other form; the day of the week is that of the date."""
    try:
        same = formatdate(parsedate_to_datetime(value).timestamp(), usegmt=True)
    except ValueError:
        same = None
    demand(value == same, "{}: {}", name, value)


def check_content(reply: Reply, method: str) -> None:
    if reply.status == 205:
        demand(not reply.body, "205 with a body")
    if reply.body and reply.status != 200:
        demand(reply.one("Content-Type"), "{} with a body of no type", reply.status)
