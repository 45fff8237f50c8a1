"""Work on other threads, with a bound."""

import contextlib

import pytest
from lineage import await_condition

ENDLESS = 1_000_000_000  # minutes of work: it ends because it is cancelled


@pytest.fixture
def heavy(start):
    return start("heavy_work", 1, 2)


def load(heavy):
    return heavy.ask("GET", "/load").json()


def begin(heavy, below=ENDLESS):
    client = heavy.connect()
    client.sendall(f"GET /primes/{below} HTTP/1.1\r\nHost: t\r\n\r\n".encode())
    return client


def full(heavy, stack):
    """One that works and two that wait, until they leave."""
    clients = []
    for running, waiting in ((1, 0), (1, 1), (1, 2)):
        clients.append(stack.enter_context(begin(heavy)))
        wanted = {"running": running, "waiting": waiting}
        await_condition(lambda wanted=wanted: wanted.items() <= load(heavy).items(), str(wanted))
    return clients


def test_it_counts(heavy):
    for below, count in ((0, 0), (2, 0), (3, 1), (100, 25), (10_000, 1229)):
        assert heavy.ask("GET", f"/primes/{below}").body == f"{count}\n".encode()


def test_who_comes_when_all_places_are_taken_is_told_at_once(heavy):
    with contextlib.ExitStack() as stack:
        full(heavy, stack)
        reply = heavy.ask("GET", "/primes/100")
        assert (reply.status, reply.headers["Retry-After"]) == (503, "5")
        assert load(heavy)["refused"] == 1
    await_condition(lambda: load(heavy)["running"] == 0, "the end of all that was for nobody")
    assert heavy.ask("GET", "/primes/100").body == b"25\n"


def test_the_work_of_who_goes_is_given_up(heavy):
    with contextlib.ExitStack() as stack:
        works, waits, waits_too = full(heavy, stack)
        waits.close()
        await_condition(lambda: load(heavy)["cancelled"] == 1, "one that is not begun")
        works.close()
        await_condition(lambda: {"running": 1, "waiting": 0}.items() <= load(heavy).items(), "the next one's turn")
        waits_too.close()


@pytest.mark.parametrize("below", [-1, ENDLESS + 1])
def test_too_much_is_refused_at_its_turn(heavy, below):
    reply = heavy.ask("GET", f"/primes/{below}")
    assert reply.status == 400
    assert b"thousand million" in reply.body


def test_what_is_no_number_has_no_route(heavy):
    assert heavy.ask("GET", "/primes/many").status == 404
    assert heavy.ask("GET", "/primes/99999999999999999999").status == 404
