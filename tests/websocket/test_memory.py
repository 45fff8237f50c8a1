"""The memory that idle WebSockets take. No clock is read, so a failure means that each costs more than before."""

import contextlib
import resource
import statistics

import pytest
from websocket_client import DEFLATE, TEXT, Client

BATCHES = 5
SOCKETS = 1000  # of a batch; with fewer, a page more or less would decide
MOST = 400  # bytes of each


@pytest.fixture
def files():
    """We may open as many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = (BATCHES + 1) * SOCKETS + 200
    if soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))  # ValueError: see ulimit -n
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("fields", [(), (DEFLATE,)], ids=["plain", "compressed"])
def test_an_idle_socket_costs_little(start, fields):
    """Buffers that are used for the first time count in one batch or two, so the median is that of the sockets."""
    server = start("--threads", "1", "--ping-interval", "0")
    with contextlib.ExitStack() as stack:
        memory = []
        for _ in range(BATCHES + 1):
            for _ in range(SOCKETS):
                client = stack.enter_context(Client(server.port, "/echo", *fields))
                client.send_frame(TEXT, b"hello")
                assert client.message() == b"hello"
            memory.append(server.memory())
        each = statistics.median(after - before for before, after in zip(memory, memory[1:])) / SOCKETS
        print(f"{each:.0f} bytes of each idle WebSocket")
        assert each <= MOST
        assert server.counts()["open"] == (BATCHES + 1) * SOCKETS
