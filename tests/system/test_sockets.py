"""What no well-behaved client does, and what only a raw socket shows."""

import signal
import socket

import pytest


def request(path, *fields):
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: t", *fields, "", ""]).encode()


def read_reply(stream):
    """Status, fields and body of the next reply with a length."""
    status = int(stream.readline().split()[1])
    fields = {}
    while (line := stream.readline().strip()) != b"":
        name, value = line.split(b":", 1)
        fields[name.lower().decode()] = value.strip().decode()
    return status, fields, stream.read(int(fields.get("content-length", 0)))


def test_pipelined_requests_are_answered_in_order(turtle):
    paths = ["/style.css", "/none", "/docs/", "/", "/docs"] * 20
    with turtle.connect() as client, client.makefile("rb") as stream:
        client.sendall(b"".join(request(path) for path in paths))
        statuses = [read_reply(stream)[0] for _ in paths]
    assert statuses == [200, 404, 200, 200, 301] * 20


def test_a_file_and_a_program_in_one_pipeline(turtle):
    with turtle.connect() as client, client.makefile("rb") as stream:
        client.sendall(request("/cgi-bin/add&1&2") + request("/style.css", "Connection: close"))
        text = stream.read()
    assert text.index(b"1 + 2 = 3") < text.index(b"color: green")


def test_a_request_may_come_byte_by_byte(turtle):
    with turtle.connect() as client, client.makefile("rb") as stream:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in request("/style.css"):
            client.sendall(bytes([byte]))
        assert read_reply(stream)[2] == b"body { color: green }\n"


def test_who_half_closes_gets_the_reply(turtle):
    with turtle.connect() as client, client.makefile("rb") as stream:
        client.sendall(request("/large.bin"))
        client.shutdown(socket.SHUT_WR)
        status, fields, body = read_reply(stream)
        assert (status, len(body)) == (200, int(fields["content-length"]))
        assert stream.read() == b""


@pytest.mark.parametrize(
    "text, status",
    [
        (b"GET / HTTP/1.1\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"400"),
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET / HTTP/2.0\r\nHost: t\r\n\r\n", b"505"),
        (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: t\r\n\r\n", b"414"),
        (b"GET / HTTP/1.1\r\nHost: t\r\nX: " + b"a" * 70_000 + b"\r\n\r\n", b"431"),
        (b"BREW / HTTP/1.1\r\nHost: t\r\n\r\n", b"501"),
        (b"POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
         b"400"),
    ],
    ids=lambda value: value.decode()[:30] if isinstance(value, bytes) else "",
)
def test_a_bad_request_has_an_answer(turtle, text, status):
    with turtle.connect() as client, client.makefile("rb") as stream:
        client.sendall(text)
        assert stream.readline().split()[1] == status


def test_a_signal_lets_a_reply_finish(start, site):
    turtle = start(site)
    with turtle.connect() as client, client.makefile("rb") as stream:
        client.sendall(request("/large.bin"))
        assert stream.readline() == b"HTTP/1.1 200 OK\r\n"  # it is under way
        turtle.signal(signal.SIGTERM)
        while stream.readline() != b"\r\n":
            pass
        assert stream.read() == (site / "large.bin").read_bytes()
    assert turtle.wait() == 0
