"""Clients that begin TLS and never go on: they are cheap, they keep nobody out, and they have an end.

Only over TLS. There are 10,000 of them, or as many as the limit of descriptors allows (`ulimit -Hn`),
and at least 2,000.
"""

import contextlib
import pathlib
import resource
import socket

import channel
import pytest
import victims
from conftest import PATIENCE

LARGEST_CROWD = 10_000
SMALLEST_CROWD = 2_000
SPARE = 200  # descriptors for everything else
ADDRESSES = 8  # of the crowd: the ports of one may be used up by old connections
SERVED_EVERY = 500  # of the crowd, other clients are served
LONG = 3600
# Bytes of memory for each of the crowd. With OpenSSL 3.0 it was 46,200, 45,000 to 47,000 for each of the beginnings. A
# client that has sent nothing took 9,300, and one whose handshake is complete takes 14,800.
MOST_MEMORY = 80_000


@pytest.fixture
def size():
    """How large the crowd is; this process and those it starts may open as many descriptors."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    crowd = LARGEST_CROWD if hard == resource.RLIM_INFINITY else min(LARGEST_CROWD, hard - SPARE)
    assert crowd >= SMALLEST_CROWD, f"only {hard} descriptors are allowed"
    resource.setrlimit(resource.RLIMIT_NOFILE, (crowd + SPARE, hard))
    yield crowd
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def beginnings():
    """Parts of a ClientHello, and the whole."""
    hello = channel.new_session().seal_hello()
    return [hello[:1], hello[: len(hello) // 2], hello[:-1], hello]


class Crowd:
    """Half-done handshakes, and a neighbour that keeps its connection. Each client is closed with the stack."""

    def __init__(self, server, stack):
        self.server = server
        self.stack = stack
        self.neighbour = stack.enter_context(server.connect())
        self.clients = []

    def join(self, size):
        begun = beginnings()
        for number in range(size):
            address = f"127.0.1.{1 + number % ADDRESSES}"
            client = self.stack.enter_context(
                socket.create_connection(("127.0.0.1", self.server.port), PATIENCE, source_address=(address, 0))
            )
            client.sendall(begun[number % len(begun)])
            self.clients.append(client)
            if number % SERVED_EVERY == 0:
                self.demand_service()
        self.demand_service()  # the clients before have been accepted by now

    def demand_service(self):
        assert victims.is_served(self.server), f"beside {len(self.clients)} half-done handshakes"
        self.neighbour.sendall(victims.get("/canary.txt"))
        said = b""
        while not said.endswith(b"\r\n\r\ncanary\n"):
            data = self.neighbour.recv(4096)
            assert data, "the neighbour was closed"
            said += data

    def has_whole_hello(self, number):
        return number % len(beginnings()) == len(beginnings()) - 1


def wakeups(pid):
    """How often the threads of a process have gone to sleep or were interrupted."""
    return [
        line
        for task in sorted(pathlib.Path(f"/proc/{pid}/task").iterdir())
        for line in (task / "status").read_text(encoding="utf-8").splitlines()
        if "ctxt_switches" in line
    ]


def await_idle(server, descriptors):
    """Waits until no client is left, and no thread runs between two looks."""
    victims.await_true(
        lambda: victims.descriptors(server.pid) <= descriptors, PATIENCE, f"not more than {descriptors} descriptors"
    )
    looks = [wakeups(server.pid)]

    def nothing_runs():
        looks.append(wakeups(server.pid))
        return looks[-1] == looks[-2]

    victims.await_true(nothing_runs, PATIENCE, "nothing to do")


def start_for(start, site, head, others):
    """Starts a server with these deadlines, in seconds. Returns it, and how many descriptors it has without clients."""
    deadlines = {"--head-timeout": head, "--body-timeout": others, "--idle-timeout": others, "--write-timeout": others}
    server = start(site, "--threads", "2", *[str(word) for pair in deadlines.items() for word in pair])
    descriptors = victims.descriptors(server.pid)
    assert victims.is_served(server)
    return server, descriptors


def test_a_crowd_of_half_done_handshakes_keeps_nobody_out_and_costs_little(start, site, size):
    server, descriptors = start_for(start, site, head=LONG, others=LONG)
    with contextlib.ExitStack() as stack:
        crowd = Crowd(server, stack)
        crowd.demand_service()
        before = victims.resident_bytes(server.pid)
        crowd.join(size)
        victims.await_true(lambda: victims.descriptors(server.pid) > size, PATIENCE, "all of the crowd are there")
        each = (victims.resident_bytes(server.pid) - before) / size
        print(f"{size} half-done handshakes, {each:.0f} bytes each")
        assert each < MOST_MEMORY
    await_idle(server, descriptors)
    assert victims.is_served(server)


def test_half_done_handshakes_are_closed_at_the_deadline_of_a_head(start, site, size):
    server, descriptors = start_for(start, site, head=2, others=LONG)
    with contextlib.ExitStack() as stack:
        crowd = Crowd(server, stack)
        crowd.demand_service()
        crowd.join(size)
        for number, client in enumerate(crowd.clients):
            said = victims.read_all(client)  # until it is closed
            assert bool(said) == crowd.has_whole_hello(number) and b"HTTP/" not in said
        crowd.demand_service()
        crowd.neighbour.close()
        await_idle(server, descriptors)  # although the crowd has not closed its side
    assert victims.is_served(server)
