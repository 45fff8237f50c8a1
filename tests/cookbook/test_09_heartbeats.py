"""Datagrams in, metrics out."""

import re
import socket

import pytest
from lineage import await_condition

SAMPLE = re.compile(r"^(\w+)(?:\{name=\"([^\"]*)\"\})? (\S+)$", re.MULTILINE)


class Program:
    """What sends heartbeats."""

    def __init__(self, recipe):
        line = recipe.next_line()
        assert re.fullmatch(r"heartbeats to 127\.0\.0\.1:\d+, UDP", line)
        self.socket = socket.socket(type=socket.SOCK_DGRAM)
        self.socket.connect(("127.0.0.1", int(line.split(":")[1].split(",")[0])))

    def send(self, payload):
        self.socket.send(payload)


@pytest.fixture
def heartbeats(start):
    return start("heartbeats", 0)


@pytest.fixture
def program(heartbeats):
    one = Program(heartbeats)
    yield one
    one.socket.close()


def metrics(heartbeats):
    """{("name", "label"): value}"""
    reply = heartbeats.ask("GET", "/metrics")
    assert reply.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    return {(name, label): float(value) for name, label, value in SAMPLE.findall(reply.body.decode())}


def received(heartbeats, count):
    """The metrics, once so many datagrams have come."""
    await_condition(lambda: metrics(heartbeats)["heartbeats_total", ""] == count, f"{count} datagrams")
    return metrics(heartbeats)


def test_a_name_grows_older_until_it_is_heard_again(heartbeats, program):
    program.send(b"backup\n")
    received(heartbeats, 1)
    age = ("heartbeat_age_seconds", "backup")
    await_condition(lambda: metrics(heartbeats)[age] > 0.05, "some age")
    program.send(b"backup")
    program.send(b"mailer")
    now = received(heartbeats, 3)
    assert set(now) >= {age, ("heartbeat_age_seconds", "mailer")}
    older = metrics(heartbeats)
    assert older[age] >= now[age] >= 0


@pytest.mark.parametrize("payload", [b"", b"\n", b'a"b', b"a b", b"\xff\x00", b"x" * 65, b"x" * 1400])
def test_what_is_no_name_is_counted_and_never_shown(heartbeats, program, payload):
    program.send(payload)
    now = received(heartbeats, 1)
    assert now["heartbeats_refused_total", ""] == 1
    assert [label for name, label in now if name == "heartbeat_age_seconds"] == []


def test_names_have_an_end(heartbeats, program):
    for number in range(1001):
        program.send(f"name-{number}".encode())
        if number % 100 == 0:
            received(heartbeats, number + 1)  # so that none finds the kernel's buffer full
    program.send(b"name-7")
    now = received(heartbeats, 1002)
    assert now["heartbeats_refused_total", ""] == 1
    assert len([label for name, label in now if name == "heartbeat_age_seconds"]) == 1000
