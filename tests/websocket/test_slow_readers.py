"""A client stops reading while messages are published: nobody else waits, and the server's memory stays bounded."""

import os
import struct

import pytest
from serving import PATIENCE
from websocket_client import BINARY, CLOSE, PING, PONG, TEXT, Client, Ended, frame

SIZE = 64 << 10
MESSAGES = 400  # 25 MiB: more than the kernel keeps for a client that doesn't read, and than the memory below
SLOW = 12
MOST_MEMORY = 8 << 20
LITTLE = 4096  # what such a client's kernel keeps
HIGH_WATER = 256 << 10
NEVER = "3600000"


def numbered(number: int) -> bytes:
    return struct.pack("!Q", number) * (SIZE // 8)


def number_of(payload: bytes) -> int:
    assert len(payload) == SIZE and payload == payload[:8] * (SIZE // 8)
    return struct.unpack("!Q", payload[:8])[0]


def publish(readers: list[Client], first: int, count: int = 1) -> None:
    """The first reader sends messages. Each reader gets one before the next is sent, so nobody who reads waits long."""
    for number in range(first, first + count):
        message = numbered(number)
        readers[0].send_frame(BINARY, message)
        for reader in readers:
            assert reader.message() == message


@pytest.fixture
def room(start, connect):
    """Starts a room on two loops, with clients that read and others that don't."""

    def start_room(*arguments):
        server = start("--threads", "2", "--close-timeout", NEVER, "--write-timeout", NEVER, *arguments)
        readers = [connect(server, "/room") for _ in range(4)]
        slow = [connect(server, "/room", receive_buffer=LITTLE) for _ in range(SLOW)]
        publish(readers, 0)
        return server, readers, slow

    return start_room


def test_one_that_misses_messages_is_closed(room):
    server, readers, slow = room("--overflow", "close", "--high-water", str(HIGH_WATER))
    before = server.memory()
    publish(readers, 1, MESSAGES)
    assert server.memory() - before < MOST_MEMORY
    for each in slow:
        messages, end = each.until_close()
        numbers = list(map(number_of, messages))
        assert numbers == list(range(len(numbers))), "none is missing before the Close"
        assert HIGH_WATER / SIZE <= len(numbers) < MESSAGES
        assert (end.code, end.reason) == (1008, "messages are read too slowly")
        each.send_frame(CLOSE, end.payload)
        assert each.rest() == b""
    publish(readers, MESSAGES + 1)
    server.await_closed(1008, SLOW)
    assert server.counts()["open"] == len(readers)


def test_short_messages_take_no_more_than_their_bytes(start, connect):
    """Each has a byte, and two of its head. So very many of them are below the limit."""
    server = start("--threads", "1", "--overflow", "drop", "--high-water", str(HIGH_WATER), "--write-timeout", NEVER)
    for _ in range(4):
        connect(server, "/room", receive_buffer=LITTLE)
    speaker = connect(server, "/room")
    before = server.memory()
    count = 4000
    for _ in range(40 if "TURTLE_SANITIZED" in os.environ else 400):  # then the memory isn't judged
        speaker.send(frame(TEXT, b"x") * count)
        assert speaker.take(3 * count) == b"\x81\x01x" * count
    assert server.memory() - before < MOST_MEMORY


def test_one_that_does_not_read_its_close_is_dropped(start, connect):
    server = start("--high-water", str(HIGH_WATER), "--close-timeout", "100", "--write-timeout", "200")
    readers, slow = [connect(server, "/room")], connect(server, "/room", receive_buffer=LITTLE)
    publish(readers, 0, MESSAGES)
    server.await_closed(1006)
    with pytest.raises(Ended):
        slow.until_close()
    publish(readers, MESSAGES)


def test_one_that_reads_nothing_is_dropped_within_the_write_timeout(start, connect):
    server = start("--overflow", "drop", "--write-timeout", "200", "--high-water", str(HIGH_WATER))
    readers, slow = [connect(server, "/room")], connect(server, "/room", receive_buffer=LITTLE)
    publish(readers, 0, MESSAGES)
    server.await_closed(1006)
    with pytest.raises(Ended):
        slow.until_close()
    publish(readers, MESSAGES)
    assert server.counts()["open"] == 1


def test_or_messages_are_dropped_until_it_reads_on(room):
    server, readers, slow = room("--overflow", "drop", "--high-water", str(HIGH_WATER))
    before = server.memory()
    publish(readers, 1, MESSAGES)
    assert server.memory() - before < MOST_MEMORY
    assert server.counts() == {"open": len(readers) + SLOW, "room": 0, "closed": {}}
    for done, each in enumerate(slow, 1):
        each.send_frame(PING)  # the server reads it when there is room, after on_room
        numbers = []
        while (found := each.receive()).opcode != PONG:
            numbers.append(number_of(found.payload))
        assert server.counts()["room"] == done
        last = MESSAGES + done
        publish(readers, last)
        while not numbers or numbers[-1] != last:
            numbers.append(number_of(each.message()))
        assert numbers == sorted(set(numbers))
        assert HIGH_WATER / SIZE <= len(numbers) < MESSAGES, "some are missing"
    assert server.counts() == {"open": len(readers) + SLOW, "room": SLOW, "closed": {}}


def test_or_they_wait_up_to_a_limit(room):
    most = 2 << 20
    server, readers, slow = room("--overflow", "wait", "--high-water", str(HIGH_WATER), "--max-unsent", str(most))
    before = server.memory()
    publish(readers, 1, MESSAGES)
    assert server.memory() - before < MOST_MEMORY + most
    for each in slow:
        messages, end = each.until_close()
        numbers = list(map(number_of, messages))
        assert numbers == list(range(len(numbers)))
        assert most / SIZE - 1 <= len(numbers) < MESSAGES
        assert end.code == 1008
        each.send_frame(CLOSE, end.payload)
    server.await_closed(1008, SLOW)


def test_below_the_limit_no_message_is_lost(room):
    enough = str(2 * MESSAGES * SIZE)
    server, readers, slow = room("--overflow", "wait", "--high-water", str(HIGH_WATER), "--max-unsent", enough)
    publish(readers, 1, MESSAGES)
    for each in slow[:2]:
        assert [number_of(each.message()) for _ in range(MESSAGES + 1)] == list(range(MESSAGES + 1))
        assert each.is_alive()
    assert server.counts()["closed"] == {}


def test_a_client_that_sends_and_does_not_read_has_to_wait(start, connect):
    """It gets its echoes, which it doesn't read: then the server reads no more of it."""
    server = start("--overflow", "wait")
    other, busy = connect(server), connect(server, receive_buffer=LITTLE)
    before = server.memory()
    message = os.urandom(SIZE)
    busy.socket.settimeout(0.5)
    sent = 0
    with pytest.raises(TimeoutError):
        while sent < 1 << 30:
            busy.send_frame(BINARY, message)
            sent += SIZE
    assert sent < 64 << 20
    assert server.memory() - before < MOST_MEMORY
    other.send_frame(TEXT, b"and I?")
    assert other.message() == b"and I?"
    busy.socket.settimeout(PATIENCE)
    for _ in range(sent // SIZE):
        assert busy.message() == message
    assert server.counts() == {"open": 2, "room": 0, "closed": {}}
