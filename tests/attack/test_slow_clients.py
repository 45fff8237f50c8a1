"""Clients that take their time: each is cut by its own deadline, and by no other."""

import time

import channel
import pytest
import victims
from conftest import PATIENCE

LONG = 3600


class SlowHead:
    """A byte of a head now and then."""

    deadline = "--head-timeout"

    def __init__(self, server):
        self.socket = server.connect()
        self.socket.sendall(b"GET / HTTP/1.1\r\nX: ")

    def go_on(self):
        self.socket.send(b"x")

    def is_cut(self):
        return channel.has_input(self.socket) or victims.has_ended(self.socket)

    def was_told(self, said):
        return said.startswith(b"HTTP/1.1 408 ") and b"\r\nConnection: close\r\n" in said


class SlowBody(SlowHead):
    """A byte of a body now and then."""

    deadline = "--body-timeout"

    def __init__(self, server):
        self.socket = server.connect()
        self.socket.sendall(victims.post("/cgi-bin/cat", 100_000))


class NeverReading(SlowHead):
    """Asks for something large and leaves it in its socket."""

    deadline = "--write-timeout"

    def __init__(self, server):
        self.socket = server.connect()
        self.socket.sendall(victims.get("/large.bin"))

    def go_on(self):
        pass

    def is_cut(self):
        return victims.has_ended(self.socket)

    def was_told(self, said):
        return len(said) < 64 << 20


class Silent(SlowHead):
    """Has asked once, and says nothing more."""

    deadline = "--idle-timeout"

    def __init__(self, server):
        self.socket = server.connect()
        self.socket.sendall(victims.get("/canary.txt"))
        answer = b""
        while not answer.endswith(b"canary\n"):
            answer += self.socket.recv(4096)

    def go_on(self):
        pass

    def was_told(self, said):
        return said == b""


KINDS = (SlowHead, SlowBody, NeverReading, Silent)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_each_is_cut_by_its_own_deadline_only(start, site, program, kind):
    deadlines = {each.deadline: LONG for each in KINDS}
    deadlines[kind.deadline] = 1
    arguments = [str(word) for pair in deadlines.items() for word in pair]
    server = start(site, "--cgi-dir", program("cat", "printf 'Content-Type: text/plain\\n\\n'\nexec cat\n"), *arguments)
    clients = {each: each(server) for each in KINDS}
    chosen, others = clients[kind], [client for each, client in clients.items() if each is not kind]
    end = time.monotonic() + PATIENCE
    while not chosen.is_cut():
        assert time.monotonic() < end, "not cut"
        for client in clients.values():
            try:
                client.go_on()
            except ConnectionError:
                assert client is chosen
        time.sleep(0.05)
    assert chosen.was_told(victims.read_all(chosen.socket))
    for other in others:
        assert not other.is_cut(), type(other).__name__
        other.socket.close()
    assert victims.is_served(server)


@pytest.mark.parametrize("last", [False, True], ids=["one of many", "the last reply"])
def test_a_reader_below_the_least_rate_is_cut(start, site, program, last):
    """It reads all the time, but less than is asked for."""
    server = start(site, "--write-timeout", "1", "--min-send-rate", "1000000000")
    with server.connect() as client:
        asked = victims.get("/large.bin")
        client.sendall(asked.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n") if last else asked)
        read = 0
        end = time.monotonic() + PATIENCE
        try:
            while data := client.recv(4096):
                read += len(data)
                assert time.monotonic() < end, "not cut"
                time.sleep(0.01)
        except ConnectionResetError:
            pass
    assert read < 64 << 20
    assert victims.is_served(server)


def test_a_crowd_of_half_open_heads_keeps_nobody_out(start, site):
    server = start(site, "--head-timeout", "3", "--threads", "2")
    crowd = []
    for _ in range(400):
        client = server.connect()
        client.sendall(b"GET / HTTP/1.1\r\nHost: turtle\r\nX-Slow: ")
        crowd.append(client)
        if len(crowd) % 20 == 0:
            assert victims.is_served(server)
    for client in crowd:
        with client:
            client.settimeout(PATIENCE)
            assert victims.read_all(client).startswith(b"HTTP/1.1 408 ")
    assert victims.is_served(server)
