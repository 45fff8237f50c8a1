"""The server stops: each open socket gets a Close with 1001, and none keeps it from stopping."""

import signal
import socket
import threading

import pytest
from lineage import await_condition
from websocket_client import BINARY, CLOSE, DEFLATE, TEXT, Ended, Raw, deflated, frame, upgrade

QUICK = ("--close-timeout", "200")


def is_refused(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionError:
        return True
    return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_each_open_socket_gets_1001(start, connect, number):
    server = start("--threads", "3")
    clients = [connect(server, path) for path in ("/echo", "/room", "/close") for _ in range(20)]
    for client in clients:
        assert client.is_alive()
    server.signal(number)
    for client in clients:
        end = client.receive()
        assert (end.opcode, end.code, end.reason) == (CLOSE, 1001, "the server stops")
        client.send_frame(CLOSE, end.payload)
        assert client.rest() == b""
    assert server.wait() == 0
    assert server.said() == ""


STATES = {
    "silent": b"",
    "within a head": frame(BINARY, b"x" * 200)[:3],
    "within a payload": frame(BINARY, b"x" * 200)[:100],
    "between fragments": frame(TEXT, b"x", fin=False),
    "within a compressed message": frame(TEXT, deflated(b"x" * 999)[:3], fin=False, reserved=4),
}


@pytest.mark.parametrize("state", STATES)
def test_one_that_does_not_answer_keeps_nobody(start, connect, state):
    server = start(*QUICK)
    client = connect(server, "/echo", DEFLATE)
    assert client.is_alive()
    client.send(STATES[state])
    other = connect(server)
    assert other.is_alive(), "the bytes before were read, too"
    server.signal()
    for each in (client, other):
        assert each.receive().code == 1001
        with pytest.raises(Ended):
            each.receive()
    assert (server.wait(), server.said()) == (0, "")


def test_a_message_that_is_on_its_way_can_still_be_completed(start, connect):
    """It is dropped, and the closing goes on in good order."""
    server = start()
    client = connect(server)
    client.send(frame(TEXT, b"half", fin=False))
    assert client.is_alive()
    server.signal()
    end = client.receive()
    client.send(frame(0, b"and half") + frame(CLOSE, end.payload))
    assert client.rest() == b""
    assert (server.wait(), server.said()) == (0, "")


def test_one_that_does_not_read_keeps_nobody(start, connect):
    server = start("--overflow", "drop", *QUICK)
    slow, reader = connect(server, "/room", receive_buffer=4096), connect(server, "/room")
    for _ in range(100):
        reader.send_frame(BINARY, bytes(1 << 16))
        assert reader.message() == bytes(1 << 16)
    server.signal()
    assert reader.receive().code == 1001
    assert (server.wait(), server.said()) == (0, "")
    with pytest.raises(Ended):
        slow.until_close()


def test_a_slow_reader_that_reads_on_gets_its_close_last(start, connect):
    server = start("--overflow", "wait")
    slow, reader = connect(server, "/room", receive_buffer=4096), connect(server, "/room")
    for _ in range(20):
        reader.send_frame(BINARY, bytes(1 << 16))
        assert reader.message() == bytes(1 << 16)
    server.signal()
    messages, end = slow.until_close()
    assert messages == [bytes(1 << 16)] * 20
    assert end.code == 1001
    for each in (slow, reader):
        each.send_frame(CLOSE, end.payload)
    assert slow.rest() == b""
    assert (server.wait(), server.said()) == (0, "")


def test_no_new_socket_is_opened_meanwhile(start, connect):
    """A connection that was open before gets a refusal, or its end; and a new one is refused by the kernel. With more
    loops, one that doesn't know yet may still open a socket, which gets its 1001 soon after."""
    server = start("--threads", "1")
    open_one = connect(server)
    assert open_one.is_alive()
    with Raw(server.port) as late:
        late.send(b"GET /counts HTTP/1.1\r\nHost: turtle\r\n\r\n")
        assert late.head().status == 200
        server.signal()
        end = open_one.receive()
        await_condition(lambda: is_refused(server.port), "a listener that is closed")
        try:
            late.send(upgrade())
            assert b" 101 " not in late.rest()
        except ConnectionError:
            pass
    open_one.send_frame(CLOSE, end.payload)
    assert (server.wait(), server.said()) == (0, "")


def test_a_busy_server_stops(start, connect):
    """Messages come in all the time, and from several clients."""
    server = start("--threads", "2")
    clients = [connect(server, "/room") for _ in range(6)]

    def talk(client):
        try:
            while (found := client.receive()).opcode != CLOSE:
                client.send_frame(found.opcode, found.payload)
            assert found.code == 1001
            client.send_frame(CLOSE, found.payload)
            assert client.rest() == b""
            ended.append(client)
        except ConnectionError:
            pass

    ended = []
    clients[0].send_frame(TEXT, b"around")
    threads = [threading.Thread(target=talk, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    server.signal()
    for thread in threads:
        thread.join()
    assert len(ended) == len(clients)
    assert (server.wait(), server.said()) == (0, "")
