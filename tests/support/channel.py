"""The connections of clients: every suite opens them here, so that they can have a channel.

TURTLE_CHANNEL  `rot13`: the letters of all bytes are rotated by 13 places on their way, as the
                program turtle_rot13 expects it. Without it, they are sent as they are.
"""

from __future__ import annotations

import asyncio
import http.client
import os
import socket
import string

NAME = os.environ.get("TURTLE_CHANNEL", "")
if NAME not in ("", "rot13"):
    raise ValueError(f"TURTLE_CHANNEL={NAME}: there is no such channel, only rot13")

LETTERS = string.ascii_letters.encode()
ROTATED = b"".join(case[13:] + case[:13] for case in (string.ascii_lowercase.encode(), string.ascii_uppercase.encode()))
ROT13 = bytes.maketrans(LETTERS, ROTATED)


def on_the_wire(data: bytes) -> bytes:
    """Rotates bytes as the network sees them, in either direction."""
    return bytes(data).translate(ROT13) if NAME else bytes(data)


class Rot13Socket(socket.socket):
    """A socket that rotates sent bytes, and rotates received bytes back."""

    def send(self, data, flags=0):
        return super().send(on_the_wire(data), flags)

    def sendall(self, data, flags=0):
        return super().sendall(on_the_wire(data), flags)

    def sendmsg(self, buffers, *more):
        return super().sendmsg([on_the_wire(data) for data in buffers], *more)

    def recv(self, size, flags=0):
        return on_the_wire(super().recv(size, flags))

    def recv_into(self, buffer, nbytes=0, flags=0):
        count = super().recv_into(buffer, nbytes, flags)
        view = memoryview(buffer).cast("B")
        view[:count] = on_the_wire(view[:count])
        return count

    def _refuse(self, *_arguments, **_options):
        raise NotImplementedError("a client of a channel sends and receives by send(), sendall() and recv()")

    sendto = sendfile = recvfrom = recvfrom_into = recvmsg = recvmsg_into = _refuse


def connect(port: int, host: str = "127.0.0.1", timeout: float | None = None) -> socket.socket:
    """A connected socket."""
    plain = socket.create_connection((host, port), timeout=timeout)
    if not NAME:
        return plain
    client = Rot13Socket(fileno=plain.detach())
    client.settimeout(timeout)
    return client


async def open_stream(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection, for asyncio."""
    client = (Rot13Socket if NAME else socket.socket)(socket.AF_INET, socket.SOCK_STREAM)
    try:
        client.setblocking(False)
        await asyncio.get_running_loop().sock_connect(client, ("127.0.0.1", port))
        return await asyncio.open_connection(sock=client)
    except BaseException:
        client.close()
        raise


class HttpConnection(http.client.HTTPConnection):
    """A connection, for HTTP."""

    def connect(self) -> None:
        self.sock = connect(self.port, self.host, self.timeout)
