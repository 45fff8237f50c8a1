"""WebSockets of a live server: the examples websocket_room, web_chat and websocket_echo.

TURTLE_BINARY     the program turtle, which has them beside it; without it build/final/turtle
TURTLE_CHANNEL    tls: the clients have TLS
TURTLE_SANITIZED  the memory is a sanitizer's, and not judged
"""

import contextlib
import pathlib
import sys

import pytest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))

import channel  # noqa: E402
import websocket_client  # noqa: E402
import websocket_room  # noqa: E402

# What these are about is the same with TLS, or another process doesn't know whom to trust.
WITHOUT_TLS = ["test_autobahn.py", "test_chat.py", "test_memory.py", "test_proxies.py", "test_silent_peers.py"]
collect_ignore = WITHOUT_TLS if channel.NAME == "tls" else []


@pytest.fixture(scope="session", autouse=True)
def binary():
    room = websocket_room.BINARY
    assert room.is_file(), f"{room} is not there: build final with its examples"


@pytest.fixture
def start():
    """Starts servers; each must end well after the test, and without a word."""
    with contextlib.ExitStack() as stack:
        servers = []

        def start_one(*arguments, **options):
            server = websocket_room.Room(*arguments, **options)
            stack.callback(server.close)
            servers.append(server)
            return server

        yield start_one
        for server in servers:
            if server.process.poll() is None:
                assert server.stop() == (0, "")


@pytest.fixture
def connect():
    """Opens WebSockets, which are closed after the test."""
    with contextlib.ExitStack() as stack:

        def connect_one(server, *arguments, **options):
            client = stack.enter_context(websocket_client.Client(server.port, *arguments, **options))
            assert "then" in options or client.is_alive()  # on_open was called before the Pong
            return client

        yield connect_one
