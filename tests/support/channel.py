"""The connections of clients: every suite opens them here, so that they can have a channel.

TURTLE_CHANNEL  `rot13`: the letters of all bytes are rotated by 13 places on their way, as the
                program turtle_rot13 expects it. `tls`: they are encrypted, for the program turtle
                with a certificate that is made for this run. Without it, they are sent as they are.
"""

from __future__ import annotations

import asyncio
import atexit
import functools
import http.client
import os
import pathlib
import select
import socket
import ssl
import string
import tempfile

import certificates
import tls_sockets

NAME = os.environ.get("TURTLE_CHANNEL", "")
if NAME not in ("", "rot13", "tls"):
    raise ValueError(f"TURTLE_CHANNEL={NAME}: there is no such channel, only rot13 and tls")

LETTERS = string.ascii_letters.encode()
ROTATED = b"".join(case[13:] + case[:13] for case in (string.ascii_lowercase.encode(), string.ascii_uppercase.encode()))
ROT13 = bytes.maketrans(LETTERS, ROTATED)


def on_the_wire(data: bytes) -> bytes:
    """Rotates bytes as the network sees them, in either direction."""
    return bytes(data).translate(ROT13) if NAME == "rot13" else bytes(data)


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


@functools.cache
def authority() -> certificates.Authority:
    """The signer of the servers' certificates, for as long as this process runs."""
    folder = tempfile.TemporaryDirectory(prefix="turtle-tls-")
    atexit.register(folder.cleanup)
    return certificates.Authority(pathlib.Path(folder.name))


@functools.cache
def server_files() -> tuple[pathlib.Path, pathlib.Path]:
    """Certificate and key of a server that the clients below trust."""
    return authority().issue("server")


def new_context() -> ssl.SSLContext:
    """What clients have in common."""
    context = ssl.create_default_context(cafile=str(authority().certificate))
    context.set_alpn_protocols(["http/1.1"])
    return context


@functools.cache
def _context() -> ssl.SSLContext:
    return new_context()


def server_arguments(port: int) -> list[str]:
    """The arguments of a `turtle serve` that listens at this port for the clients below, and only there."""
    if NAME != "tls":
        return ["--port", str(port)]
    chain, key = map(str, server_files())
    return ["--https-port", str(port), "--http", "off", "--tls-certificate", chain, "--tls-key", key]


def bench_arguments() -> list[str]:
    """The arguments of a `turtle-bench` that sends its requests to such a server."""
    return ["--ca", str(authority().certificate)] if NAME == "tls" else []


def new_session(host: str = "127.0.0.1") -> tls_sockets.Session:
    """The TLS of one connection, without its socket."""
    return tls_sockets.Session(_context(), host)


def put_on(
    client: socket.socket, host: str = "127.0.0.1", session: tls_sockets.Session | None = None
) -> socket.socket:
    """Returns a connected socket with the channel; `client` itself must not be used any more. With
    TLS, it has this session, or a new one."""
    if not NAME:
        return client
    timeout = client.gettimeout()
    wrapped = (tls_sockets.TlsSocket if NAME == "tls" else Rot13Socket)(fileno=client.detach())
    wrapped.settimeout(timeout)
    if NAME == "tls":
        try:
            wrapped.begin(session or new_session(host))
        except BaseException:
            wrapped.close()
            raise
    return wrapped


def connect(port: int, host: str = "127.0.0.1", timeout: float | None = None) -> socket.socket:
    """A connected socket."""
    return put_on(socket.create_connection((host, port), timeout=timeout), host)


def has_input(client: socket.socket) -> bool:
    """Would recv() return at once?"""
    return client.has_input() if NAME == "tls" else bool(select.select([client], [], [], 0)[0])


async def open_stream(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection, for asyncio."""
    client = (Rot13Socket if NAME == "rot13" else socket.socket)(socket.AF_INET, socket.SOCK_STREAM)
    try:
        client.setblocking(False)
        await asyncio.get_running_loop().sock_connect(client, ("127.0.0.1", port))
        reader, writer = await asyncio.open_connection(sock=client)
        if NAME != "tls":
            return reader, writer
        stream = tls_sockets.TlsStream(reader, writer, new_session())
        await stream.shake()
        return stream, stream
    except BaseException:
        client.close()
        raise


class HttpConnection(http.client.HTTPConnection):
    """A connection, for HTTP."""

    def connect(self) -> None:
        self.sock = connect(self.port, self.host, self.timeout)
