"""Clients that never stop sending: each thing that could grow has an end."""

import select

import pytest
import victims

HEAD = b"GET /canary.txt HTTP/1.1\r\nHost: turtle\r\n"
CHUNKED = b"POST /cgi-bin/cat HTTP/1.1\r\nHost: turtle\r\nTransfer-Encoding: chunked\r\n\r\n"
MIB = 1 << 20

ENDLESS = {
    "target": (b"GET /", b"a" * 1000, 414),
    "method": (b"", b"A" * 1000, 501),
    "field": (HEAD + b"X: ", b"a" * 1000, 431),
    "field name": (HEAD, b"a" * 1000, 431),
    "fields": (HEAD, b"X: y\r\n" * 10, 431),
    "empty lines": (b"", b"\r\n" * 10, 400),
    "chunk size": (CHUNKED, b"0" * 100, 400),
    "chunk extension": (CHUNKED + b"5;", b"x" * 1000, 400),
    "chunk extensions": (CHUNKED, b"1;" + b"x" * 500 + b"\r\nx\r\n", 400),
    "trailer": (CHUNKED + b"0\r\nX: ", b"x" * 1000, 431),
    "trailers": (CHUNKED + b"0\r\n", b"X: y\r\n" * 10, 431),
    "body": (CHUNKED, b"400\r\n" + b"x" * 1024 + b"\r\n", 413),
}


@pytest.mark.parametrize("what", ENDLESS)
def test_what_has_no_end_is_refused(start, site, program, what):
    server = start(site, "--max-body", "64K", "--cgi-dir", program("cat", "cat > /dev/null\n"))
    begin, piece, status = ENDLESS[what]
    with server.connect() as client:
        client.sendall(begin)
        victims.send_until_answered(client, piece, 64 * MIB)
        client.shutdown(1)
        said = victims.read_all(client)
    assert said.startswith(f"HTTP/1.1 {status} ".encode()), said[:200]
    assert b"\r\nConnection: close\r\n" in said
    assert victims.is_served(server)


def test_requests_without_end_wait_in_their_client(start, site):
    """Who sends and never reads is not read either."""
    server = start(site, "--threads", "1")
    before = victims.resident_bytes(server.pid)
    with server.connect() as client:
        client.setblocking(False)
        sent, requests = 0, victims.get("/canary.txt") * 1000
        while select.select([], [client], [], 1)[1]:
            sent += client.send(requests)
            assert sent < 1024 * MIB
        assert victims.is_served(server)
        assert victims.resident_bytes(server.pid) - before < 32 * MIB
        victims.reset(client)
    assert victims.is_served(server)


@pytest.mark.parametrize("part", ["bytes=0-0", "bytes=0-0,9-9,-1", "bytes=1-40000", None])
def test_who_does_not_read_holds_few_descriptors(start, site, part):
    """Of one byte, or of the whole file: it is open as long as something of it is to be sent."""
    server = start(site, "--threads", "1")
    before = victims.descriptors(server.pid)
    with server.connect() as client:
        client.setblocking(False)
        sent, requests = 0, victims.get("/large.bin", *([f"Range: {part}"] if part else [])) * 1000
        while select.select([], [client], [], 1)[1]:
            sent += client.send(requests)
            assert sent < 1024 * MIB
        assert victims.is_served(server)
        assert victims.descriptors(server.pid) - before <= 16
        victims.reset(client)
    assert victims.is_served(server)


def test_a_thousand_names_of_one_file_fill_no_memory(start, site):
    """The cache is bounded in bytes, and what is not there is not kept."""
    server = start(site, "--threads", "1", "--cache-size", "1M")
    before = victims.resident_bytes(server.pid)
    for number in range(1000):
        (site / f"page{number}.html").write_text("x" * 8000)
    with server.connect() as client, client.makefile("rb") as stream:
        for first in range(0, 20_000, 500):
            client.sendall(b"".join(victims.get(f"/page{at % 1000}.html?{at}") for at in range(first, first + 250)))
            client.sendall(b"".join(victims.get(f"/none{at}") for at in range(first, first + 250)))
            for _ in range(500):
                length = 0
                while (line := stream.readline()) != b"\r\n":
                    name, _, value = line.partition(b":")
                    length = int(value) if name.lower() == b"content-length" else length
                stream.read(length)
    assert victims.resident_bytes(server.pid) - before < 32 * MIB
