"""Stopped under load, killed and started again, out of descriptors."""

import contextlib
import resource
import time

import pytest
import session
import stop
from serving import Turtle

FEW = 40  # descriptors


@pytest.fixture
def site(tmp_path):
    session.make_site(tmp_path)
    return tmp_path / "site"


def test_every_reply_that_was_begun_is_whole_when_it_is_stopped():
    replies, wrong = stop.stop_often(20)
    assert not wrong, "\n".join(wrong)
    assert replies > 0


def test_killed_and_started_again_it_serves(site):
    server = Turtle(site, patience=session.PATIENCE)
    with contextlib.closing(server):
        with session.Client(server.port) as client:
            client.ask("/small.html", body=session.SMALL)
            server.process.kill()
            server.wait()
    before = time.monotonic()
    # The same port, in which the old connections may still linger.
    again = Turtle(site, port=server.port, patience=session.PATIENCE)
    with contextlib.closing(again):
        with session.Client(again.port) as client:
            client.ask("/small.html", body=session.SMALL)
        print(f"serves {1000 * (time.monotonic() - before):.0f} ms after it was started again")
        assert again.port == server.port
        assert again.stop() == (0, "")


def ask_until_served(client):
    """Those who have waited take what has become free, so there may be none left for a file: 503."""
    deadline = time.monotonic() + session.PATIENCE
    while True:
        try:
            client.ask("/small.html", body=session.SMALL)
            return
        except session.Cut as cut:
            assert str(cut) == "503" and time.monotonic() < deadline, cut
            time.sleep(0.01)


def test_out_of_descriptors_it_rests_and_recovers(site):
    few = ["sh", "-c", f'ulimit -n {FEW} && exec "$0" "$@"']
    server = Turtle(site, "--threads", "2", prefix=few, patience=session.PATIENCE)
    with contextlib.closing(server), contextlib.ExitStack() as crowd:
        assert resource.prlimit(server.pid, resource.RLIMIT_NOFILE) == (FEW, FEW)
        neighbour = crowd.enter_context(session.Client(server.port))
        neighbour.ask("/middle.bin", body=session.MIDDLE)
        neighbour.ask("/large.bin", body=session.LARGE)
        clients = [crowd.enter_context(session.Client(server.port)) for _ in range(2 * FEW)]
        deadline = time.monotonic() + session.PATIENCE
        while ": Too many open files; again in" not in server.said():
            assert time.monotonic() < deadline, "it does not say that it is out of descriptors"
            time.sleep(0.01)
        neighbour.ask("/middle.bin", body=session.MIDDLE)  # it is in memory
        for client in clients[: 2 * FEW - 10]:
            client.__exit__()
        for client in clients[2 * FEW - 10 :]:  # they have waited in the backlog
            ask_until_served(client)
        assert server.stop()[0] == 0
