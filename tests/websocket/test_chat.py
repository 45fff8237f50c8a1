"""The example web_chat, whose handlers publish while others come and go."""

import contextlib
import urllib.parse

import pytest
from serving import BINARY as TURTLE
from serving import ROOT, Server
from websocket_client import CLOSE, TEXT, Client, Raw, frame, upgrade

GUESTS = 90


@pytest.fixture
def chat():
    pages = ROOT / "final/examples/web_chat_page"
    with contextlib.closing(
        Server(TURTLE.parent / "examples/web_chat", "--port", "0", "--pages", pages, greeting="http://")
    ) as server:
        yield server


@pytest.fixture
def guests(chat):
    """They all know of each other."""
    with contextlib.ExitStack() as stack:
        guests = [stack.enter_context(Client(chat.port, f"/chat?name=guest{number}")) for number in range(GUESTS)]
        for guest in guests:
            assert guest.is_alive()
        yield guests


def test_everybody_leaves_while_the_server_stops(chat, guests):
    """on_close tells the others. Some answer the Close, some reset, and some are half-way through a frame."""
    guests[0].send_frame(TEXT, b"hello")
    chat.signal()
    for number, guest in enumerate(guests):
        if number % 3 == 0:
            guest.reset()
        elif number % 3 == 1:
            guest.send(frame(TEXT, b"half")[:4])
            guest.close()
        else:
            _, end = guest.until_close()
            assert end.code == 1001
            guest.send_frame(CLOSE, end.payload)
            guest.rest()
    assert (chat.wait(), chat.said()) == (0, "")


def test_most_of_them_leave_at_once(chat, guests):
    """The others are told of each."""
    stays, *leave = guests
    for number, guest in enumerate(leave):
        if number % 2:
            guest.reset()
        else:
            guest.send(frame(CLOSE, b"\x03\xe8"))
            guest.close()
    left = set()
    while len(left) < len(leave):
        line = stays.message()
        if line.endswith(b" has left"):
            left.add(line)
    stays.send_frame(TEXT, b"alone")
    assert stays.message() == b"guest0: alone"
    stays.close()
    chat.signal()
    assert (chat.wait(), chat.said()) == (0, "")


WRONG_NAMES = ["", "name=", "name=" + "x" * 81, "other=1", "name=%ff", "name=%ed%a0%80", "name=a%f0%9f%90"]


@pytest.mark.parametrize("name", WRONG_NAMES)
def test_a_guest_without_a_right_name_is_refused(chat, name):
    """One that isn't UTF-8 would make a text of which a browser must end the connection: everyone's."""
    with Raw(chat.port) as stranger:
        stranger.send(upgrade(f"/chat?{name}"))
        assert stranger.head().status == 400


def test_a_name_of_any_letters(chat):
    for name in ("Grüße", "🐢" * 20):
        with Client(chat.port, f"/chat?name={urllib.parse.quote(name)}") as guest:
            assert guest.message().decode() == f"{name} has come"
