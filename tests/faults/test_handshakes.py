"""A call fails while a client has TLS: at most that client notices, and no later one.

Only over TLS, where this takes the place of test_faults.py: what the server does below and above TLS fails there.
Each system call of a visit fails in every way. Of the allocations, which OpenSSL makes by the hundred, every
thirteenth does (handshakes.EVERY), and every 29th of a server's first visit. The sample is the same at each run.
"""

import errno

import handshakes
import pytest
import session
from io_uring import needs_io_uring
from matrix import Fault


def must_be_well(wrong):
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)


@pytest.fixture(scope="module")
def on_epoll(tmp_path_factory):
    return handshakes.Handshakes(tmp_path_factory.mktemp("faults"), "epoll")


@pytest.fixture(scope="module")
def on_ring(tmp_path_factory):
    needs_io_uring()
    return handshakes.Handshakes(tmp_path_factory.mktemp("faults"), "io_uring")


def test_each_call_of_a_visit_fails_in_every_way(on_epoll):
    must_be_well(on_epoll.each_call_of_a_visit())


def test_each_call_of_a_visit_fails_in_every_way_on_the_ring(on_ring):
    wrong = on_ring.each_call_of_a_visit(handshakes.RING_EVERY, lambda name: "ring" in name or name == "malloc")
    must_be_well(wrong)


def test_memory_runs_out_in_the_first_visit_and_the_next_clients_are_served(on_epoll):
    must_be_well(on_epoll.each_of_the_first_visit())


# --- the machinery itself ------------------------------------------------------------------------


def test_a_fault_is_met_by_its_own_visit_alone(on_epoll):
    with on_epoll.server() as server:
        kind = handshakes.kinds()[0]
        kind.demand(server.turtle.port)
        server.remember()
        calls = server.count(kind)
        assert calls["malloc"] > 100 and calls["recv"] > 1
        assert server.suffer(kind, Fault("recv", "ECONNRESET", 1)) == (True, "TLS 1.3: in the handshake")
        assert server.suffer(kind, Fault("recv", "ECONNRESET", 1000)) == (False, "")
        kind.demand(server.turtle.port)
        server.end()


def test_a_client_that_is_cut_without_a_fault_is_told(on_epoll):
    with on_epoll.server() as server:
        kind = handshakes.kinds()[0]
        server.calls.fail("recv", errno.ECONNRESET, 1, times=1000)
        with pytest.raises(session.Wrong, match="was cut without a fault"):
            kind.demand(server.turtle.port)
