"""Clients that mean no good, and what can be seen of the server under them."""

import pathlib
import select
import socket
import struct
import time

import channel

GONE = select.POLLHUP | select.POLLERR | getattr(select, "POLLRDHUP", 0)


def get(path: str, *fields: str) -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: turtle", *fields, "", ""]).encode()


def post(path: str, length: int) -> bytes:
    return f"POST {path} HTTP/1.1\r\nHost: turtle\r\nContent-Length: {length}\r\n\r\n".encode()


def has_ended(client: socket.socket) -> bool:
    """Has the server ended or reset the connection? Reads nothing."""
    poll = select.poll()
    poll.register(client, GONE)
    return bool(poll.poll(0))


def read_all(client: socket.socket) -> bytes:
    """All that comes until the end, or a reset."""
    said = b""
    try:
        while data := client.recv(1 << 16):
            said += data
    except ConnectionError:
        pass
    return said


def send_until_answered(client: socket.socket, piece: bytes, most: int) -> int:
    """Sends `piece` again and again until the server says something; how many bytes it took."""
    sent = 0
    while not channel.has_input(client):
        assert sent < most, f"no answer after {sent} bytes"
        try:
            client.sendall(piece)
        except ConnectionError:
            break
        sent += len(piece)
    return sent


def reset(client: socket.socket) -> None:
    """Leaves without a word."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


def await_true(condition, patience: float, what: str) -> None:
    """Waits until `condition()` holds."""
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end, f"{what}: not within {patience} seconds"
        time.sleep(0.02)


def is_served(server) -> bool:
    """Does somebody else get an answer?"""
    with server.connect() as client:
        client.sendall(get("/canary.txt", "Connection: close"))
        said = read_all(client)
    return said.startswith(b"HTTP/1.1 200 ") and said.endswith(b"\r\n\r\ncanary\n")


def resident_bytes(pid: int) -> int:
    for line in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise LookupError("no VmRSS")


def descriptors(pid: int) -> int:
    return len(list(pathlib.Path(f"/proc/{pid}/fd").iterdir()))


def children(pid: int) -> list:
    """The processes that the server has started and not reaped."""
    return [
        int(child)
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
        for child in (task / "children").read_text(encoding="utf-8").split()
    ]


def runs(pid: int) -> bool:
    """Does the process run? A zombie doesn't."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"
