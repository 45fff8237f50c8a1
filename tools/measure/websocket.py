"""A WebSocket client that checks the echo of one message before a load is put on the server."""

from __future__ import annotations

import os
import socket
import struct

from measure.process import Failed

# The sample of RFC 6455, section 1.3, which turtle-bench sends as well. A floor has no other response.
KEY, ACCEPT = "dGhlIHNhbXBsZSBub25jZQ==", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
FIN, RESERVED, BINARY, MASKED = 0x80, 0x70, 2, 0x80
MOST_HEAD = 16_384


def check_echo(port: int, page: str, size: int, seconds: float = 5.0) -> None:
    """A message of `size` bytes has to come back as it is: binary, unmasked, not compressed. Else a Failed."""
    try:
        with socket.create_connection(("127.0.0.1", port), seconds) as client, client.makefile("rb") as stream:
            upgrade(client, stream, page)
            payload = os.urandom(size)
            client.sendall(masked_frame(payload, os.urandom(4)))
            if read_message(stream) != payload:
                raise Failed(f"WebSocket {page}: another message came back")
    except OSError as error:
        raise Failed(f"WebSocket {page}: {error}") from error


def upgrade(client: socket.socket, stream, page: str) -> None:
    client.sendall(
        f"GET {page} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {KEY}\r\n\r\n".encode()
    )
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line = stream.readline(MOST_HEAD)
        if not line.endswith(b"\n") or len(head) > MOST_HEAD:
            raise Failed(f"WebSocket {page}: no whole response to the handshake")
        head += line
    first, *lines = head.decode(errors="replace").rstrip().split("\r\n")
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if first.split()[1:2] != ["101"]:
        raise Failed(f"WebSocket {page}: {first} instead of a 101")
    if fields.get("sec-websocket-accept") != ACCEPT:
        raise Failed(f"WebSocket {page}: the response is to another key")


def masked_frame(payload: bytes, key: bytes) -> bytes:
    """A binary message in one frame, as a client sends it."""
    size = len(payload)
    if size < 126:
        head = struct.pack("!BB", FIN | BINARY, MASKED | size)
    elif size < 1 << 16:
        head = struct.pack("!BBH", FIN | BINARY, MASKED | 126, size)
    else:
        head = struct.pack("!BBQ", FIN | BINARY, MASKED | 127, size)
    return head + key + bytes(byte ^ key[at % 4] for at, byte in enumerate(payload))


def read_message(stream) -> bytes:
    """The next message of a server, which may be in fragments."""
    message, kind = b"", BINARY
    while True:
        first, second = exactly(stream, 2)
        if first & RESERVED or first & 0x0F != kind or second & MASKED:
            raise Failed(f"WebSocket: a frame that begins with {first:#04x} {second:#04x} is no part of the echo")
        size = second
        if size >= 126:
            size = int.from_bytes(exactly(stream, 2 if size == 126 else 8), "big")
        message += exactly(stream, size)
        if first & FIN:
            return message
        kind = 0  # the next fragment continues the message


def exactly(stream, size: int) -> bytes:
    got = stream.read(size)
    if len(got) < size:
        raise Failed("WebSocket: the connection ended instead of an echo")
    return got
