"""Clients that send anything but right WebSocket frames. Each gets the code of its fault, and nobody else notices."""

import contextlib
import functools
import os
import random
import socket
import struct
import zlib

import pytest
import victims
from conftest import PATIENCE
from websocket_client import (
    BINARY,
    CLOSE,
    CONTINUATION,
    DEFLATE,
    PING,
    TEXT,
    Client,
    Ended,
    Raw,
    close_frame,
    deflated,
    frame,
    upgrade,
)
from websocket_room import BINARY as ROOM
from websocket_room import Room

MOST_MEMORY = 8 << 20
LITTLE = 4096
MESSAGE = 1 << 20  # the longest


@pytest.fixture(scope="module")
def room():
    """A server with its defaults."""
    assert ROOM.is_file(), f"{ROOM} is not there: build final with its examples"
    with contextlib.closing(Room("--threads", "2", patience=PATIENCE)) as server:
        yield server
        assert server.stop() == (0, "")


@pytest.fixture
def other(room):
    """A client that does no harm. It must not notice anything."""
    with Client(room.port, "/echo", DEFLATE) as client:
        yield client
        client.send_frame(TEXT, b"still here")
        assert client.message() == b"still here"


def end_of(client: Client) -> int | None:
    """Returns the code with which the server closes. Then its end has to come."""
    messages, end = client.until_close()
    assert messages == []
    assert client.rest() == b""
    return end.code


def head(first: int, second: int, more: bytes = b"") -> bytes:
    return bytes([first, second]) + more


KEY = b"\1\2\3\4"
WRONG = {
    "a text that isn't masked": frame(TEXT, b"hello", key=None),
    "an empty text that isn't masked": frame(TEXT, key=None),
    "a Ping that isn't masked": frame(PING, b"hello", key=None),
    "a Close that isn't masked": head(0x88, 2, b"\x03\xe8"),
    "RSV1 without compression": frame(TEXT, b"hello", reserved=4),
    "RSV2": frame(TEXT, b"hello", reserved=2),
    "RSV3": frame(TEXT, b"hello", reserved=1),
    "all reserved bits": frame(PING, b"hello", reserved=7),
    **{f"opcode {opcode}": frame(opcode, b"hello") for opcode in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15)},
    "a fragment of a Ping": frame(PING, b"hello", fin=False),
    "a fragment of a Close": frame(CLOSE, b"\x03\xe8", fin=False),
    "a Ping of 126 bytes": frame(PING, b"x" * 126),
    "a Close of 126 bytes": frame(CLOSE, b"\x03\xe8" + b"x" * 124),
    "a Ping of 65,536 bytes": frame(PING, b"x" * 65536)[:20],
    "a continuation of nothing": frame(CONTINUATION, b"hello"),
    "a last empty continuation of nothing": frame(CONTINUATION),
    "a text within a text": frame(TEXT, b"a", fin=False) + frame(TEXT, b"b"),
    "bytes within a text": frame(TEXT, b"a", fin=False) + frame(BINARY, b"b", fin=False),
    "a length of 2^63": head(0x82, 0xFF, struct.pack("!Q", 1 << 63) + KEY),
    "a length of 2^64 - 1": head(0x82, 0xFF, struct.pack("!Q", (1 << 64) - 1) + KEY),
    "125 in 16 bits": head(0x82, 0xFE, struct.pack("!H", 125) + KEY),
    "0 in 16 bits": head(0x82, 0xFE, struct.pack("!H", 0) + KEY),
    "65,535 in 64 bits": head(0x82, 0xFF, struct.pack("!Q", 65535) + KEY),
    "a Close of one byte": frame(CLOSE, b"\x03"),
    **{f"code {code}": close_frame(code) for code in (0, 999, 1004, 1005, 1006, 1015, 1016, 2000, 2999, 5000, 65535)},
    "another request": b"GET /echo HTTP/1.1\r\nHost: turtle\r\n\r\n",
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_wrong_frames_get_a_1002(room, other, wrong):
    with Client(room.port) as client:
        client.send(wrong)
        assert end_of(client) == 1002


COMPRESSED = {
    "a compressed continuation": frame(TEXT, deflated(b"a"), fin=False, reserved=4) + frame(CONTINUATION, reserved=4),
    "a compressed Ping": frame(PING, b"hello", reserved=4),
    "a compressed Close": frame(CLOSE, b"\x03\xe8", reserved=4),
    "RSV2": frame(TEXT, deflated(b"hello"), reserved=6),
}


@pytest.mark.parametrize("wrong", COMPRESSED.values(), ids=COMPRESSED)
def test_wrong_frames_with_compression_get_a_1002(room, other, wrong):
    with Client(room.port, "/echo", DEFLATE) as client:
        client.send(wrong)
        assert end_of(client) == 1002


@pytest.mark.parametrize("length", [MESSAGE + 1, 1 << 32, (1 << 63) - 1])
def test_a_message_that_is_announced_too_long_gets_a_1009_at_once(room, other, length):
    before = room.memory()
    with Client(room.port) as client:
        client.send(head(0x82, 0xFF, struct.pack("!Q", length) + KEY))
        assert end_of(client) == 1009
    with Client(room.port) as client:
        client.send(frame(BINARY, bytes(100), fin=False) + frame(CONTINUATION, b"", length=length))
        assert end_of(client) == 1009
    assert room.memory() - before < MOST_MEMORY


def test_fragments_that_are_too_long_together_get_a_1009(room, other):
    with Client(room.port) as client:
        client.send(frame(BINARY, bytes(MESSAGE // 2), fin=False))
        client.send(frame(CONTINUATION, bytes(MESSAGE // 2), fin=False) + frame(CONTINUATION, b"x"))
        assert end_of(client) == 1009
    with Client(room.port) as client:
        client.send(frame(BINARY, bytes(MESSAGE)))
        assert client.message() == bytes(MESSAGE), "the limit itself is allowed"


@functools.cache
def bomb(size: int) -> bytes:
    """Returns so many zeros, compressed."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    zeros = bytes(1 << 20)
    packed = b"".join(packer.compress(zeros) for _ in range(size // len(zeros)))
    return (packed + packer.flush(zlib.Z_SYNC_FLUSH)).removesuffix(b"\0\0\xff\xff")


@pytest.mark.parametrize("fragments", [1, 50])
def test_a_bomb_gets_a_1009(room, other, fragments):
    """A quarter of a MiB that becomes 256 MiB. The server stops at its limit, and so does its memory."""
    payload = bomb(256 << 20)
    assert len(payload) < MESSAGE
    before = room.memory()
    size = len(payload) // fragments + 1
    pieces = [payload[at : at + size] for at in range(0, len(payload), size)]
    with Client(room.port, "/echo", DEFLATE) as client:
        with contextlib.suppress(ConnectionError):
            for number, piece in enumerate(pieces):
                opcode, bit = (BINARY, 4) if number == 0 else (CONTINUATION, 0)
                client.send_frame(opcode, piece, fin=number == len(pieces) - 1, reserved=bit)
        assert end_of(client) == 1009
    assert room.memory() - before < MOST_MEMORY


STREAMS = {
    "no DEFLATE": b"\xff" * 20,
    "a length that isn't its own complement": b"\x00\x05\x00\x05\x00hello",
    "a distance before the first byte": b"\x63\x00\x7f\xff",
    "random": random.Random(7).randbytes(500),
}


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
def test_data_that_cannot_be_decompressed_get_a_1007(room, other, stream):
    with Client(room.port, "/echo", DEFLATE) as client:
        client.send_frame(BINARY, stream, reserved=4)
        assert end_of(client) == 1007


def test_empty_blocks_of_deflate_end_too(room, other):
    """They make no bytes, so only the length of the frames limits them."""
    block = b"\x00\x00\x00\xff\xff"
    end = b"\x00"  # of the last block: the receiver adds the rest
    with Client(room.port, "/echo", DEFLATE) as client:
        client.send_frame(BINARY, block * (MESSAGE // len(block) - 1) + end, reserved=4)
        assert client.message() == b""
        client.send_frame(BINARY, block * (2 * MESSAGE // len(block)) + end, reserved=4)
        assert end_of(client) == 1009


def test_thousands_of_empty_fragments_get_a_1008(room, other):
    with Client(room.port) as client:
        client.send(frame(TEXT, fin=False) + frame(CONTINUATION, fin=False) * 4094 + frame(CONTINUATION))
        assert client.message() == b"", "4,096 are allowed"
        client.send(frame(TEXT, fin=False) + frame(CONTINUATION, fin=False) * 4096)
        assert end_of(client) == 1008


FLOODS = {"Pings": frame(PING, b"x" * 125), "texts": frame(TEXT, b"x" * 125), "empty texts": frame(TEXT)}


@pytest.mark.parametrize("each", FLOODS.values(), ids=FLOODS)
def test_a_flood_of_a_client_that_does_not_read(room, other, each):
    """Each frame gets one in return, which is not read. Then the server reads no more."""
    before = room.memory()
    flood = each * 1000
    with Client(room.port, receive_buffer=LITTLE) as client:
        client.socket.settimeout(0.5)
        sent = 0
        with pytest.raises(TimeoutError):
            while sent < 1 << 30:
                client.send(flood)
                sent += len(flood)
        assert room.memory() - before < MOST_MEMORY
        other.send_frame(TEXT, b"and I?")
        assert other.message() == b"and I?"


def test_a_flood_that_is_read_leaves_room_for_others(room, other):
    """Frames that need no response: they are never held up."""
    flood = frame(10, b"") * 20_000
    with Client(room.port) as client:
        for _ in range(10):
            client.send(flood)
            other.send_frame(TEXT, b"and I?")
            assert other.message() == b"and I?"
        assert client.is_alive()


def test_after_a_fault_the_rest_is_dropped(room, other):
    """Megabytes of it: without a reset, so the client sees the code."""
    with Client(room.port) as client:
        with contextlib.suppress(ConnectionError):
            client.send(frame(3) + frame(BINARY, bytes(1000)) * 4000)
        assert end_of(client) == 1002


ILL = {
    "an overlong NUL": b"\xc0\x80",
    "an overlong slash": b"\xe0\x80\xaf",
    "a surrogate": b"\xed\xa0\x80",
    "beyond U+10FFFF": b"\xf4\x90\x80\x80",
    "a continuation byte": b"\x80",
    "FF": b"\xff",
    "a character that breaks off": b"\xf0\x9f\x90",
}
WELL = "Ελληνικά 🐢 ".encode()


@pytest.mark.parametrize("ill", ILL.values(), ids=ILL)
def test_a_text_that_is_not_utf8_gets_a_1007_wherever_it_is_cut(room, other, ill):
    text = WELL + ill + WELL
    for cut in range(len(text) + 1):
        with Client(room.port) as client:
            client.send(frame(TEXT, text[:cut], fin=False) + frame(CONTINUATION, text[cut:]))
            assert end_of(client) == 1007, cut
    with Client(room.port) as client:
        with contextlib.suppress(ConnectionError):
            for at in range(len(text)):
                client.send_frame(CONTINUATION if at else TEXT, text[at : at + 1], fin=at == len(text) - 1)
        assert end_of(client) == 1007
    with Client(room.port, "/echo", DEFLATE) as client:
        client.send_frame(TEXT, deflated(text), reserved=4)
        assert end_of(client) == 1007
    with Client(room.port) as client:
        client.send(close_frame(1000, text))
        assert end_of(client) == 1007


def test_a_text_that_is_utf8_passes_wherever_it_is_cut(room, other):
    with Client(room.port) as client:
        for cut in range(len(WELL) + 1):
            client.send(frame(TEXT, WELL[:cut], fin=False) + frame(CONTINUATION, WELL[cut:]))
            assert client.message() == WELL, cut


def test_a_text_that_breaks_off_at_its_end_gets_a_1007(room, other):
    for ill in (b"\xce", b"\xf0\x9f\x90"):
        with Client(room.port) as client:
            client.send(frame(TEXT, ill, fin=False) + frame(PING) + frame(CONTINUATION))
            assert end_of(client) == 1007


def test_two_requests_for_an_upgrade_in_one_packet(room, other):
    """The second is no frame."""
    with Raw(room.port) as client:
        client.send(upgrade() + upgrade())
        assert client.head().status == 101
        assert client.rest() == b"\x88\x02\x03\xea"  # a Close with 1002, and nothing else


@pytest.mark.parametrize("fields, body", [
    (["Content-Length: 11"], frame(TEXT, b"hello")),
    (["Transfer-Encoding: chunked"], b"b\r\n" + frame(TEXT, b"hello") + b"\r\n0\r\n\r\n"),
], ids=["of some length", "chunked"])  # fmt: skip
def test_a_body_is_not_taken_for_frames(room, other, fields, body):
    with Raw(room.port) as client:
        client.send(upgrade("/echo", *fields) + body + frame(TEXT, b"a frame") + close_frame())
        client.socket.shutdown(socket.SHUT_WR)
        head = client.head()
        assert head.status == 400
        assert b"hello" not in client.rest()


def test_sockets_that_are_opened_and_reset_leave_nothing(room, other):
    open_before = room.counts()["open"]
    descriptors = victims.descriptors(room.pid)
    for _ in range(300):
        client = Client(room.port, "/room", then=frame(TEXT, b"half a", fin=False))
        client.reset()
    victims.await_true(lambda: victims.descriptors(room.pid) <= descriptors, PATIENCE, "closed descriptors")
    victims.await_true(lambda: room.counts()["open"] == open_before, PATIENCE, "closed sockets")


SENDABLE = {*range(1000, 1004), *range(1007, 1015), *range(3000, 5000)}


def test_garbage(room, other):
    """Random frames, and frames with a wrong byte: the server always ends with a right Close, or goes on."""
    dice = random.Random(32)
    for number in range(300):
        traffic = bytearray(b"".join(
            frame(dice.choice((0, 1, 2, 8, 9, 10)), dice.randbytes(dice.choice((0, 1, 5, 125, 126, 300))),
                  fin=dice.random() < 0.8, reserved=dice.choice((0, 0, 4)), key=dice.randbytes(4))
            for _ in range(dice.randrange(1, 12))
        ))  # fmt: skip
        for _ in range(dice.randrange(3)):
            traffic[dice.randrange(len(traffic))] = dice.randrange(256)
        with Client(room.port, "/echo", *([DEFLATE] if number % 2 else [])) as client:
            client.send(bytes(traffic))
            client.socket.shutdown(socket.SHUT_WR)
            with contextlib.suppress(Ended):
                _, end = client.until_close()
                assert end.code is None or end.code in SENDABLE
                assert client.rest() == b"", "nothing follows a Close"
    assert os.path.exists(f"/proc/{room.pid}")
