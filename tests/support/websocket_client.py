"""A WebSocket client that breaks any rule on request, and a strict reader of a server's frames.

Source: RFC 6455, section 5; RFC 7692, section 7.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import os
import socket
import struct
import zlib

import channel
from serving import PATIENCE

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
KEY = "dGhlIHNhbXBsZSBub25jZQ=="
DEFLATE = "Sec-WebSocket-Extensions: permessage-deflate"


class Ended(ConnectionError):
    """The connection has ended, or was reset, where a frame should have begun or gone on."""


@dataclasses.dataclass(frozen=True)
class Frame:
    opcode: int
    payload: bytes
    fin: bool = True
    compressed: bool = False

    @property
    def code(self) -> int | None:
        """Of a Close frame; None: it has none."""
        assert self.opcode == CLOSE, self
        return struct.unpack("!H", self.payload[:2])[0] if self.payload else None

    @property
    def reason(self) -> str:
        return self.payload[2:].decode("utf-8")


def masked(payload: bytes, key: bytes) -> bytes:
    """Masks or unmasks. Source: section 5.3."""
    size = len(payload)
    stream = (key * (size // 4 + 1))[:size]
    return (int.from_bytes(payload, "big") ^ int.from_bytes(stream, "big")).to_bytes(size, "big")


def frame(opcode: int, payload: bytes = b"", *, fin=True, reserved=0, key: bytes | None = b"\x37\xfa\x21\x3d",
          length: int | None = None) -> bytes:
    """Returns a frame, right or wrong.

    @param reserved the three bits RSV1 (4), RSV2 (2) and RSV3 (1)
    @param key that masks; None: the frame isn't masked
    @param length another than the payload's
    """
    size = len(payload) if length is None else length
    mask = 0x80 if key else 0
    if size < 126:
        head = bytes([mask | size])
    elif size < 1 << 16:
        head = struct.pack("!BH", mask | 126, size)
    else:
        head = struct.pack("!BQ", mask | 127, size)
    first = bytes([(0x80 if fin else 0) | reserved << 4 | opcode])
    return first + head + ((key + masked(payload, key)) if key else payload)


def close_frame(code: int | None = 1000, reason: bytes = b"") -> bytes:
    return frame(CLOSE, b"" if code is None else struct.pack("!H", code) + reason)


def deflated(payload: bytes) -> bytes:
    """Returns a message's payload, compressed for itself. Source: RFC 7692, section 7.2.1."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return (packer.compress(payload) + packer.flush(zlib.Z_SYNC_FLUSH)).removesuffix(b"\0\0\xff\xff")


def inflated(payload: bytes) -> bytes:
    return zlib.decompressobj(-15).decompress(payload + b"\0\0\xff\xff")


def upgrade(path: str = "/echo", *fields: str) -> bytes:
    """Returns a right request for a WebSocket, with more fields."""
    lines = [f"GET {path} HTTP/1.1", "Host: turtle", "Connection: Upgrade", "Upgrade: websocket",
             "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {KEY}", *fields]
    return "\r\n".join([*lines, "", ""]).encode()


def accept_of(key: str) -> str:
    return base64.b64encode(hashlib.sha1(key.encode() + GUID).digest()).decode()


@dataclasses.dataclass
class Head:
    """The head of a response."""

    status: int
    fields: list[tuple[str, str]]

    def __getitem__(self, name: str) -> str:
        """Returns the value of a field that comes once."""
        values = [value for key, value in self.fields if key == name.lower()]
        assert len(values) == 1, (name, values)
        return values[0]

    def values(self, name: str) -> list[str]:
        """Returns the elements of a list, in small letters; [] without the field."""
        lists = ",".join(value for key, value in self.fields if key == name.lower())
        return [each.strip().lower() for each in lists.split(",") if each.strip()]

    def __contains__(self, name: str) -> bool:
        return any(key == name.lower() for key, _ in self.fields)


def connect(port: int, receive_buffer: int = 0) -> socket.socket:
    """Returns a connected socket that sends at once.

    @param receive_buffer bytes that its kernel keeps at most; 0: as usual
    """
    client = socket.socket()
    try:
        if receive_buffer:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.settimeout(PATIENCE)
        client.connect(("127.0.0.1", port))
        return channel.put_on(client)
    except BaseException:
        client.close()
        raise


class Raw:
    """A connection of which nothing is known yet."""

    def __init__(self, port: int, receive_buffer: int = 0) -> None:
        self.socket = connect(port, receive_buffer)
        self._input = bytearray()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def close(self) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        """Sends bytes, whatever they are."""
        self.socket.sendall(data)

    def reset(self) -> None:
        """Leaves without a word."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def head(self) -> Head:
        """Waits for a response, and returns its head."""
        while b"\r\n\r\n" not in self._input:
            self._more()
        text, _, rest = bytes(self._input).partition(b"\r\n\r\n")
        self._input = bytearray(rest)
        status, *lines = text.decode("latin-1").split("\r\n")
        assert status.startswith("HTTP/1.1 "), status
        pairs = [line.partition(":") for line in lines]
        return Head(int(status.split()[1]), [(name.lower(), value.strip()) for name, _, value in pairs])

    def take(self, count: int) -> bytes:
        """Waits for so many bytes."""
        while len(self._input) < count:
            self._more()
        data = bytes(self._input[:count])
        del self._input[:count]
        return data

    def rest(self) -> bytes:
        """Waits for the end, and returns what comes before it."""
        try:
            while True:
                self._more()
        except Ended:
            return bytes(self._input)

    def _more(self) -> None:
        try:
            data = self.socket.recv(1 << 16)
        except ConnectionError as error:
            raise Ended(str(error)) from error
        if not data:
            raise Ended("the connection has ended")
        self._input += data


class Client(Raw):
    """A connection that has become a WebSocket."""

    def __init__(
        self, port: int, path: str = "/echo", *fields: str, receive_buffer: int = 0, then: bytes = b""
    ) -> None:
        """@param then is sent in the packet of the request"""
        super().__init__(port, receive_buffer)
        try:
            self.send(upgrade(path, *fields) + then)
            self.response = self.head()
            assert self.response.status == 101, self.response
            assert self.response["Sec-WebSocket-Accept"] == accept_of(KEY)
        except BaseException:
            self.close()
            raise

    def send_frame(self, opcode: int, payload: bytes = b"", **how) -> None:
        self.send(frame(opcode, payload, key=os.urandom(4), **how))

    def receive(self) -> Frame:
        """Waits for a frame, which has to be one that a server may send. Source: section 5.2."""
        first, second = self.take(2)
        opcode, size = first & 15, second & 127
        assert opcode in (CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG), opcode
        assert first & 0x30 == 0, "reserved bits"
        assert second & 0x80 == 0, "a server doesn't mask"
        if size == 126:
            (size,) = struct.unpack("!H", self.take(2))
            assert size > 125, "not the shortest form"
        elif size == 127:
            (size,) = struct.unpack("!Q", self.take(8))
            assert 0xFFFF < size < 1 << 63, "not the shortest form"
        compressed = bool(first & 0x40)
        assert not compressed or (opcode in (TEXT, BINARY) and "Sec-WebSocket-Extensions" in self.response)
        assert opcode < CLOSE or (size <= 125 and first & 0x80), "a control frame is short and whole"
        return Frame(opcode, self.take(size), bool(first & 0x80), compressed)

    def message(self) -> bytes:
        """Waits for a message, and answers the Pings before it. Returns its payload."""
        found = self.receive()
        while found.opcode == PING:
            self.send_frame(PONG, found.payload)
            found = self.receive()
        assert found.opcode in (TEXT, BINARY) and found.fin, found
        return inflated(found.payload) if found.compressed else found.payload

    def until_close(self) -> tuple[list[bytes], Frame]:
        """Waits for a Close frame. Returns the messages before it, and the frame."""
        messages = []
        while (found := self.receive()).opcode != CLOSE:
            if found.opcode in (TEXT, BINARY):
                messages.append(found.payload)
        return messages, found

    def is_alive(self) -> bool:
        """Does a Ping get its Pong? Frames before it are dropped."""
        mark = os.urandom(8)
        try:
            self.send_frame(PING, mark)
            while self.receive() != Frame(PONG, mark):
                pass
        except ConnectionError:
            return False
        return True
