"""A row of the table: one requirement, or one fault, and what a correct server does with it.

A row is read like this:

    Row("te-twice", "9112 6.3", MUST, f"{POST}Transfer-Encoding: …", "400 close", "What is asked for.")

    id        the name of the test, which is unique
    section   the RFC and the section in it
    level     MUST, SHOULD or MAY: how strongly the RFC requires it. Where a MAY leaves a choice, the row
              names this server's choice
    sent      the bytes on the wire, as text in Latin-1. "<etag>" and "<tag>" become the entity tag of
              /file.txt, with and without its quotes
    accepted  the responses, see below
    sentence  the requirement in our own words

`accepted` is the status codes of all responses, in order, with a comma between responses and a slash
between codes that are equally good: "200", "400/501 close", "100, 200". A response to a HEAD or to
HTTP/1.0 after other responses is marked: "200, HEAD 200, 1.0 200". It ends with one of these words:

    close     the last response announces that the connection ends, and later bytes are not answered
    (nothing) the connection goes on: the canary after the bytes gets one more response
    gone      the same, announced or not: the response may have left before the fault was there
    eof       the client sends no canary but ends its side; the server does the same as for close,
              but need not announce it. "nothing eof": no response at all
    cut       the body breaks off before its end, which a client notices

Further checks are about the first final response: `has` (field: value, a list of
the values of several lines, or None for any), `lacks`
(fields), `body` (exactly), `contains` and `without` (pieces of the body). `program` is what a CGI
program with the row's id, /cgi-bin/ID, writes to its output. `later` is sent once the server has
sent anything.
"""

import re
from dataclasses import dataclass, field
from typing import Optional

MUST, SHOULD, MAY = "MUST", "SHOULD", "MAY"

# Heads to which a row adds its own lines; each lacks the empty line.
GET = "GET /file.txt HTTP/1.1\r\nHost: turtle\r\n"
HEAD = "HEAD /file.txt HTTP/1.1\r\nHost: turtle\r\n"
POST = "POST /cgi-bin/cat HTTP/1.1\r\nHost: turtle\r\n"
CHUNKED = f"{POST}Transfer-Encoding: chunked\r\n\r\n"
OLD = "GET /file.txt HTTP/1.0\r\n"
# A request that an attacker would like to have answered.
HIDDEN = "GET /hidden.txt HTTP/1.1\r\nHost: turtle\r\n\r\n"

LETTERS = "abcdefghijklmnopqrstuvwxyz"  # all of /file.txt
MTIME = "Thu, 02 Jan 2020 03:04:05 GMT"  # its Last-Modified
BEFORE = "Thu, 02 Jan 2020 03:04:04 GMT"
AFTER = "Thu, 02 Jan 2020 03:04:06 GMT"


def get(target: str, *fields: str, method: str = "GET") -> str:
    """Returns a complete request without a body."""
    lines = [f"{method} {target} HTTP/1.1", "Host: turtle", *fields]
    return "\r\n".join(lines) + "\r\n\r\n"


@dataclass(frozen=True)
class Expected:
    """One response that the row waits for."""

    statuses: frozenset
    method: str
    minor: int


@dataclass(frozen=True)
class Row:
    id: str
    section: str
    level: str
    sent: str
    accepted: str
    sentence: str
    has: dict = field(default_factory=dict)
    lacks: tuple = ()
    body: Optional[str] = None
    contains: tuple = ()
    without: tuple = ()
    program: Optional[str] = None
    later: Optional[str] = None
    unmet: str = ""  # why the server does not do it; then the test expects a failure

    def replies(self) -> list:
        """Returns `accepted` without its last word."""
        text = re.sub(r" (close|gone|eof|cut)$", "", self.accepted)
        if text == "nothing":
            return []
        first = self.sent.lstrip("\r\n").split("\r\n", 1)[0]
        replies = []
        for number, part in enumerate(text.split(", ")):
            *who, codes = part.split()
            # Of several responses only the first final one is to the request in the first line.
            own = number == 0 or all(each.statuses == {100} for each in replies)
            is_head = "HEAD" in who or (own and first.startswith("HEAD "))
            is_old = "1.0" in who or (own and first.endswith("HTTP/1.0"))
            statuses = frozenset(map(int, codes.split("/")))
            replies.append(Expected(statuses, "HEAD" if is_head else "GET", 0 if is_old else 1))
        return replies

    @property
    def cut(self) -> bool:
        """The response breaks off, since it can't be completed."""
        return self.accepted.endswith(" cut")

    @property
    def closes(self) -> bool:
        return self.accepted.endswith((" close", " gone", " eof"))

    @property
    def announces(self) -> bool:
        """The last response says that the connection ends."""
        return self.accepted.endswith(" close")

    @property
    def ends(self) -> bool:
        """The client ends its side instead of sending the canary."""
        return self.accepted.endswith(" eof")
