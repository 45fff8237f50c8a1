"""Clients with TLS that can do all that a plain socket can: half of a connection may be ended, too.

The sockets of Python's ssl can't: their unwrap() waits for the server's end, and asyncio's streams
with TLS have no write_eof(). So each session here works on bytes in memory, and somebody else sends
and receives those.
"""

from __future__ import annotations

import asyncio
import select
import socket
import ssl


class Truncated(ConnectionError):
    """A connection has ended without close_notify. It may have been cut by somebody on the way."""


class Session:
    """The TLS of one connection, without a socket."""

    def __init__(self, context: ssl.SSLContext, host: str, before: ssl.SSLSession | None = None) -> None:
        """Resumes a session of `before`, if the server does so, too."""
        self._arrived, self._leaving = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._arrived, self._leaving, server_hostname=host, session=before)
        self.has_ended = False  # by a close_notify

    def shake(self, wire: bytes = b"") -> bool:
        """Goes on with the handshake. Returns whether it is complete."""
        self._arrived.write(wire)
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        return True

    @property
    def resumable(self) -> ssl.SSLSession:
        """For a later session. With TLS 1.3, the server sends it behind the handshake."""
        return self._tls.session

    @property
    def was_resumed(self) -> bool:
        return self._tls.session_reused

    def seal_hello(self) -> bytes:
        """Begins the handshake. Returns the bytes for the wire."""
        self.shake()
        return self.seal(b"")

    def open(self, wire: bytes) -> bytes:
        """Decrypts what has come; b"" on the wire is the connection's end. Returns the plain bytes, all of them."""
        if not wire and not self.has_ended:
            raise Truncated("the connection ended without close_notify")
        self._arrived.write(wire)
        plain = b""
        try:
            while data := self._tls.read(1 << 16):
                plain += data
            self.has_ended = True
        except ssl.SSLZeroReturnError:
            self.has_ended = True  # and ours was sent before
        except ssl.SSLWantReadError:
            pass
        return plain

    def seal(self, plain: bytes) -> bytes:
        """Encrypts. Returns the bytes for the wire, with those that TLS itself wants to send."""
        if plain:
            self._tls.write(plain)
        return self._leaving.read()

    def seal_end(self) -> bytes:
        """Ends our half, as a FIN does without TLS. Returns the bytes for the wire. More can be received."""
        try:
            self._tls.unwrap()
        except ssl.SSLWantReadError:
            pass  # the server's is still to come
        return self._leaving.read()


class TlsSocket(socket.socket):
    """A socket with TLS. shutdown(SHUT_WR) sends a close_notify, and close() sends nothing."""

    def begin(self, session: Session) -> None:
        """Makes the handshake."""
        self._session = session
        self._plain = bytearray()  # decrypted, and not read
        self._unsent = b""  # of the wire
        self._trouble: ConnectionError | None = None
        is_complete = self._session.shake()
        self._flush()
        while not is_complete:
            wire = super().recv(1 << 16)
            if not wire:
                raise Truncated("the connection ended during the handshake")
            is_complete = self._session.shake(wire)
            self._flush()

    def _flush(self) -> None:
        super().sendall(self._unsent + self._session.seal(b""))
        self._unsent = b""

    def _take(self) -> None:
        self._plain += self._session.open(super().recv(1 << 16))
        self._unsent += self._session.seal(b"")

    def has_input(self) -> bool:
        """Would recv() return at once? Records that are no data for it don't count."""
        while not (self._plain or self._session.has_ended or self._trouble) and select.select([self], [], [], 0)[0]:
            try:
                self._take()
            except ConnectionError as error:
                self._trouble = error
        return bool(self._plain or self._session.has_ended or self._trouble)

    def recv(self, size, flags=0):
        assert not flags
        while not self._plain and not self._session.has_ended:
            if self._trouble:
                raise self._trouble
            self._take()
        data = bytes(self._plain[:size])
        del self._plain[:size]
        return data

    def recv_into(self, buffer, nbytes=0, flags=0):
        view = memoryview(buffer).cast("B")
        data = self.recv(nbytes or len(view), flags)
        view[: len(data)] = data
        return len(data)

    def sendall(self, data, flags=0):
        assert not flags
        self._unsent += self._session.seal(bytes(data))
        self._flush()

    def send(self, data, flags=0):
        """Without blocking, it takes all or nothing: 0 while the bytes before are on their way."""
        if self.gettimeout() != 0:
            self.sendall(data, flags)
            return len(data)
        assert not flags
        if not self._unsent:
            self._unsent = self._session.seal(bytes(data))
            self._unsent = self._unsent[super().send(self._unsent) :]
            return len(data)
        self._unsent = self._unsent[super().send(self._unsent) :]
        return 0

    def shutdown(self, how):
        if how == socket.SHUT_RD:
            super().shutdown(how)
            return
        self._unsent += self._session.seal_end()
        self._flush()
        if how == socket.SHUT_RDWR:
            super().shutdown(how)

    def _refuse(self, *_arguments, **_options):
        raise NotImplementedError("a client with TLS sends and receives by send(), sendall() and recv()")

    sendmsg = sendto = sendfile = recvfrom = recvfrom_into = recvmsg = recvmsg_into = _refuse


class TlsStream:
    """Both the reader and the writer of a connection, for asyncio."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, session: Session) -> None:
        self._reader, self._writer, self._session = reader, writer, session
        self.get_extra_info = writer.get_extra_info
        self.drain = writer.drain
        self.close = writer.close

    async def shake(self) -> None:
        is_complete = self._session.shake()
        self.write(b"")
        while not is_complete:
            wire = await self._reader.read(1 << 16)
            if not wire:
                raise Truncated("the connection ended during the handshake")
            is_complete = self._session.shake(wire)
            self.write(b"")

    async def read(self, _size: int) -> bytes:
        """Returns some bytes, or b"" when the server has ended TLS and then the connection."""
        plain = b""
        while not plain:
            wire = await self._reader.read(1 << 16)
            if wire and self._session.has_ended:
                raise ConnectionError("more bytes after close_notify")
            if not wire and self._session.has_ended:
                break
            plain = self._session.open(wire)
            self.write(b"")
        return plain

    def write(self, data: bytes) -> None:
        if wire := self._session.seal(data):
            self._writer.write(wire)

    def write_eof(self) -> None:
        self._writer.write(self._session.seal_end())
