"""Server-sent events to many."""

import socket

import pytest
from serving import PATIENCE

HEAD = b"GET /news HTTP/1.1\r\nHost: t\r\n"


@pytest.fixture
def feed(start):
    return start("event_feed")


class Listener:
    """Reads a stream of events, as far as it wants to."""

    def __init__(self, feed, seen=None):
        self.socket = feed.connect()
        last = f"Last-Event-ID: {seen}\r\n".encode() if seen is not None else b""
        self.socket.sendall(HEAD + last + b"\r\n")
        self.file = self.socket.makefile("rb")
        assert self.file.readline() == b"HTTP/1.1 200 OK\r\n"
        fields = b"".join(iter(self.file.readline, b"\r\n"))
        assert b"Content-Type: text/event-stream\r\n" in fields
        self.chunks = b""

    def event(self):
        """The next one: its lines."""
        while b"\n\n" not in self.chunks:
            size = int(self.file.readline(), 16)
            assert size, "the stream has ended"
            self.chunks += self.file.read(size)
            assert self.file.readline() == b"\r\n"
        event, _, self.chunks = self.chunks.partition(b"\n\n")
        return event.decode().splitlines()

    def close(self):
        self.file.close()
        self.socket.close()


def numbered(event):
    """An event without the mark of the run in its id."""
    mark, dash, number = event[0].removeprefix("id: ").partition("-")
    assert mark.isdigit() and dash, event
    return [f"id: {number}", *event[1:]]


def publish(feed, text):
    assert feed.ask("POST", "/news", text).status == 204


def test_all_hear_all_in_order(feed):
    listeners = [Listener(feed) for _ in range(20)]
    for number in range(1, 6):
        publish(feed, f"news {number}")
    for listener in listeners:
        assert [numbered(listener.event()) for _ in range(5)] == [[f"id: {n}", f"data: news {n}"] for n in range(1, 6)]
        listener.close()


def test_who_comes_back_is_told_what_was_missed_and_no_more(feed):
    first = Listener(feed)
    publish(feed, "one")
    one = first.event()
    assert numbered(one) == ["id: 1", "data: one"]
    first.close()
    publish(feed, "two")
    publish(feed, "three")
    again = Listener(feed, seen=one[0].removeprefix("id: "))
    assert numbered(again.event()) == ["id: 2", "data: two"]
    assert numbered(again.event()) == ["id: 3", "data: three"]
    publish(feed, "four")
    assert numbered(again.event()) == ["id: 4", "data: four"]
    again.close()


def test_a_line_end_begins_no_event(feed):
    listener = Listener(feed)
    publish(feed, "a\n\nid: 99\nevent: forged")
    assert numbered(listener.event()) == ["id: 1", "data: a", "data: ", "data: id: 99", "data: event: forged"]
    listener.close()


@pytest.mark.parametrize("seen", ["x", "-1", "99999999999999999999999", ""])
def test_an_id_that_is_none_means_from_the_beginning(feed, seen):
    publish(feed, "one")
    listener = Listener(feed, seen)
    assert numbered(listener.event()) == ["id: 1", "data: one"]
    listener.close()


def test_an_id_of_another_run_or_with_a_tail_means_from_the_beginning(feed):
    publish(feed, "one")
    publish(feed, "two")
    first = Listener(feed)
    first.event()
    last = first.event()[0].removeprefix("id: ")
    first.close()
    for seen in ("2", "1-2", f"1{last}", f"{last}x", f"{last}0", last.replace("-", "-+"), last[:-1]):
        listener = Listener(feed, seen)
        assert numbered(listener.event()) == ["id: 1", "data: one"], seen
        listener.close()


def test_no_news_and_too_much_are_refused(feed):
    assert feed.ask("POST", "/news", b"").status == 400
    assert feed.ask("POST", "/news", b"x" * 1001).status == 400


def test_who_does_not_read_is_let_go_and_the_others_hear_all(feed):
    deaf = socket.socket()
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.settimeout(PATIENCE)
    deaf.connect(("127.0.0.1", feed.port))
    deaf.sendall(HEAD + b"\r\n")
    assert deaf.recv(9) == b"HTTP/1.1 "
    listener = Listener(feed)
    with feed.connect() as teller:
        replies = teller.makefile("rb")
        # More than the kernel and the server hold for one who does not read; 16 at a time.
        for number in range(500):
            text = f"{number:04}" + "x" * 996
            teller.sendall(f"POST /news HTTP/1.1\r\nHost: t\r\nContent-Length: 1000\r\n\r\n{text}".encode() * 16)
            for _ in range(16):
                assert replies.readline() == b"HTTP/1.1 204 No Content\r\n"
                list(iter(replies.readline, b"\r\n"))
                assert listener.event()[1] == f"data: {text}"
    listener.close()
    received = b"".join(iter(lambda: deaf.recv(1 << 20), b""))
    deaf.close()
    assert b"data: 0499" not in received
    assert not received.endswith(b"0\r\n\r\n"), "cut, and not ended: a browser comes back"


def test_it_ends_while_somebody_listens(feed):
    listener = Listener(feed)
    assert feed.stop() == (0, "")
    listener.close()
