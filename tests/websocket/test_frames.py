"""Frames in any pieces, connections that are cut anywhere, and both ways to close."""

import os
import socket

import pytest
from websocket_client import (
    BINARY,
    CONTINUATION,
    DEFLATE,
    PING,
    PONG,
    TEXT,
    Ended,
    Frame,
    close_frame,
    deflated,
    frame,
)

# A text in three fragments, with a Ping between them; more bytes than 16 bits can count; and an empty text.
LONG = bytes(range(256)) * 300
TRAFFIC = (
    frame(TEXT, "Grü".encode(), fin=False) + frame(CONTINUATION, b"", fin=False) + frame(PING, b"between")
    + frame(CONTINUATION, "ße".encode()) + frame(BINARY, LONG) + frame(TEXT)
)  # fmt: skip
ECHOES = [Frame(PONG, b"between"), Frame(TEXT, "Grüße".encode()), Frame(BINARY, LONG), Frame(TEXT, b"")]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000, 1 << 20])
def test_frames_in_pieces_of_any_size(start, connect, size):
    server = start()
    client = connect(server)
    for at in range(0, len(TRAFFIC), size):
        client.send(TRAFFIC[at : at + size])
    assert [client.receive() for _ in ECHOES] == ECHOES
    assert client.is_alive()


def test_each_cut_into_two_packets(start, connect):
    server = start()
    client = connect(server)
    whole = frame(TEXT, b"abc", fin=False) + frame(CONTINUATION, b"x" * 130)
    for cut in range(1, len(whole)):
        client.send(whole[:cut])
        client.send(whole[cut:])
        assert client.message() == b"abc" + b"x" * 130, cut


def test_many_frames_in_one_packet(start, connect):
    """More than a turn of the session takes."""
    client = connect(start("--overflow", "wait"))
    texts = [str(number).encode() for number in range(2000)]
    client.send(b"".join(frame(TEXT, text) for text in texts))
    assert [client.message() for _ in texts] == texts


def test_frames_come_with_the_request(start, connect):
    """A client may not do that, since it doesn't know yet whether it is let in. But a proxy may join packets."""
    client = connect(start(), then=frame(TEXT, b"early") + frame(TEXT, b"and")[:5])
    assert client.message() == b"early"
    client.send(frame(TEXT, b"and")[5:])
    assert client.message() == b"and"


CUTS = {
    "nothing": b"",
    "half a head": frame(BINARY, LONG)[:3],
    "half a key": frame(TEXT, b"text")[:4],
    "half a payload": frame(BINARY, LONG)[:1000],
    "one fragment": frame(TEXT, b"to be continued", fin=False),
    "one and a half fragments": frame(TEXT, b"a", fin=False) + frame(CONTINUATION, b"bc")[:-1],
    "half a Ping between fragments": frame(TEXT, b"a", fin=False) + frame(PING, b"bc")[:-1],
    "half a compressed message": frame(BINARY, deflated(os.urandom(500)), reserved=4)[:-100],
    "half a Close": close_frame()[:-1],
}


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("how", ["by its end", "by a reset"])
def test_a_connection_that_is_cut(start, connect, cut, how):
    """The handler gets no half of a message, and one on_close; others go on."""
    server = start()
    other, client = connect(server, "/room"), connect(server, "/room", DEFLATE)
    assert client.is_alive(), "the handler has it"
    client.send(CUTS[cut])
    if how == "by a reset":
        client.reset()
    else:
        client.socket.shutdown(socket.SHUT_WR)
        assert client.rest() == b"", "neither an echo nor a Close"
    server.await_closed(1006)
    assert server.counts()["open"] == 1
    other.send_frame(TEXT, b"only this")
    assert other.message() == b"only this"


CLOSES = [(None, b""), (1000, b""), (1001, "tschüß".encode()), (1007, b""), (3000, b"x" * 123), (4999, b"")]


@pytest.mark.parametrize("code, reason", CLOSES, ids=lambda value: str(value)[:12])
def test_the_client_closes(start, connect, code, reason):
    """It gets its code back, once, and then the server ends the connection: section 7.1.1."""
    server = start()
    client = connect(server)
    client.send(frame(TEXT, b"last words") + close_frame(code, reason) + frame(TEXT, b"too late"))
    messages, end = client.until_close()
    assert messages == [b"last words"]
    assert end.code == code
    assert client.rest() == b""
    server.await_closed(code or 1005)


@pytest.mark.parametrize("code", [1000, 1001, 1003, 1013, 3000, 4321])
def test_the_server_closes(start, connect, code):
    """Messages of the client that are on their way are dropped, until its Close."""
    server = start()
    client = connect(server, "/close")
    client.send_frame(TEXT, str(code).encode())
    end = client.receive()
    assert (end.code, end.reason) == (code, "as you wish")
    client.send(frame(TEXT, b"4000") + frame(PING, b"?") + frame(TEXT, b"half", fin=False) + close_frame(code))
    assert client.rest() == b""
    server.await_closed(code)


def test_a_code_that_may_not_be_sent_is_a_fault_of_the_handler(start, connect):
    server = start()
    client = connect(server, "/close")
    client.send_frame(TEXT, b"1006")
    assert client.receive().code == 1011
    assert client.rest() == b""
    server.await_closed(1011)
    client.close()
    code, said = server.stop()
    assert code == 0 and "close code 1006: it can't be sent" in said


def test_compression_is_used_both_ways(start, connect):
    client = connect(start(), "/echo", DEFLATE)
    assert client.response["Sec-WebSocket-Extensions"].startswith("permessage-deflate")
    text = b"again and " * 100
    client.send_frame(TEXT, deflated(text), reserved=4)
    assert client.message() == text
    client.send(frame(TEXT, deflated(text)[:5], fin=False, reserved=4) + frame(CONTINUATION, deflated(text)[5:]))
    assert (found := client.receive()).compressed and len(found.payload) < 50


def test_a_client_without_compression_gets_none(start, connect):
    client = connect(start())
    client.send_frame(TEXT, b"again and " * 100)
    assert not client.receive().compressed


def test_closed_in_the_middle_of_a_fragmented_message(start, connect):
    """A Close may come between fragments. The message is lost, and the code is kept."""
    server = start()
    client = connect(server)
    client.send(frame(TEXT, b"never", fin=False) + close_frame(4000))
    assert client.receive().code == 4000
    with pytest.raises(Ended):
        client.receive()
    server.await_closed(4000)
