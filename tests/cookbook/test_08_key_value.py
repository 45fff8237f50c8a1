"""A protocol of lines on plain TCP."""

import contextlib
import socket
import threading

import pytest


@pytest.fixture
def store(start):
    return start("key_value")


class Client:
    def __init__(self, store):
        self.socket = store.connect()
        self.file = self.socket.makefile("rb")

    def ask(self, *commands):
        """Sends all of them at once. @return the first line of each answer, and of a text itself"""
        self.socket.sendall("".join(command + "\r\n" for command in commands).encode())
        return [self.answer() for _ in commands]

    def answer(self):
        line = self.file.readline().decode()
        assert line.endswith("\r\n"), line
        if line[0] != "$" or line == "$-1\r\n":
            return line[:-2]
        text = self.file.read(int(line[1:]) + 2).decode()
        assert text.endswith("\r\n")
        return text[:-2]

    def close(self):
        self.file.close()
        self.socket.close()


@pytest.fixture
def client(store):
    with contextlib.closing(Client(store)) as one:
        yield one


def test_all_commands(client):
    assert client.ask("PING") == ["+PONG"]
    assert client.ask("GET a") == ["$-1"]
    assert client.ask("SET a one  two ", "GET a") == ["+OK", "one  two "]
    assert client.ask("SET a", "GET a") == ["+OK", ""]
    assert client.ask("DEL a", "DEL a", "GET a") == [":1", ":0", "$-1"]


def test_what_is_no_command_is_told_and_nothing_ends(client):
    for line in ("", "get a", "GET", "SET", "SET  x", "PINGS", "\x00"):
        assert client.ask(line)[0].startswith("-ERR PING, SET"), line
    assert client.ask("PING") == ["+PONG"]


def test_lines_come_in_pieces_and_in_heaps(store, client):
    for byte in b"SET a x\r\nGET a\r\n":
        client.socket.sendall(bytes([byte]))
    assert [client.answer(), client.answer()] == ["+OK", "x"]
    client.socket.sendall(b"PING\nPING\r\n")
    assert [client.answer(), client.answer()] == ["+PONG", "+PONG"]
    assert client.ask(*["PING"] * 10_000) == ["+PONG"] * 10_000


def test_all_clients_see_the_same(store, client):
    with contextlib.closing(Client(store)) as other:
        assert client.ask("SET a 1") == ["+OK"]
        assert other.ask("GET a") == ["1"]


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_line_that_is_too_long_ends_the_connection(client, end):
    client.socket.sendall(b"SET a " + b"x" * 4091 + end)
    assert client.file.read() == b"-ERR that line is too long\r\n"


def test_the_longest_line_is_none_too_long(client):
    assert client.ask("SET a " + "x" * 4089, "GET a") == ["+OK", "x" * 4089]


def test_who_half_closes_gets_all_answers(store):
    with contextlib.closing(Client(store)) as client:
        client.socket.sendall(b"SET a 1\r\nGET a\r\n")
        client.socket.shutdown(socket.SHUT_WR)
        assert client.file.read() == b"+OK\r\n$1\r\n1\r\n"


def test_who_asks_for_much_and_reads_late_gets_all_of_it(store, client):
    """64 MB of answers to 100 KB of questions: they are made as they are read."""
    text = "x" * 4000
    assert client.ask("SET a " + text) == ["+OK"]
    questions = 16_000

    def ask():
        client.socket.sendall(b"GET a\r\n" * questions)
        client.socket.shutdown(socket.SHUT_WR)

    asking = threading.Thread(target=ask)
    asking.start()
    with contextlib.closing(Client(store)) as other:
        assert other.ask("PING") == ["+PONG"], "nobody else waits"
    resident = int(next(l for l in open(f"/proc/{store.pid}/status") if l.startswith("VmRSS")).split()[1])
    assert resident < 40_000, f"{resident} kB"
    for _ in range(questions):
        assert client.answer() == text
    asking.join()
    assert client.file.read() == b""


def test_who_is_silent_is_let_go(start):
    store = start("key_value", 1)
    with contextlib.closing(Client(store)) as client:
        assert client.ask("PING") == ["+PONG"]
        assert client.file.read() == b""
