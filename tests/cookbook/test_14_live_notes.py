"""Notes, and a message for each change."""

import contextlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from websocket_client import TEXT, Client


@pytest.fixture
def notes(start):
    return start("live_notes")


@pytest.fixture
def watch(notes):
    """Opens clients that watch notes."""
    with contextlib.ExitStack() as stack:

        def open_one(*ids):
            client = Client(notes.port, "/changes")
            stack.callback(client.close)
            for each in ids:
                client.send_frame(TEXT, f"+{each}".encode())
                assert client.message() == each.encode(), "at once, so that it reads the note"
            return client

        yield open_one


def put(notes, name, text):
    assert notes.ask("PUT", f"/notes/{name}", text).status == 204


def test_a_note_is_read_as_it_was_written(notes):
    put(notes, "one", "first")
    put(notes, "one", "second")
    reply = notes.ask("GET", "/notes/one")
    assert (reply.status, reply.body, reply.headers["Cache-Control"]) == (200, b"second", "no-cache")
    assert notes.ask("GET", "/notes/two").status == 404


def test_those_who_watch_a_note_learn_of_its_changes_alone(notes, watch):
    both, one = watch("one", "two"), watch("one")
    put(notes, "two", "text")
    put(notes, "three", "text")
    put(notes, "one", "text")
    assert {both.message(), both.message()} == {b"one", b"two"}
    assert one.message() == b"one"


def test_who_no_longer_watches_hears_nothing(notes, watch):
    client = watch("one", "two")
    client.send_frame(TEXT, b"-one")
    client.send_frame(TEXT, b"+three")
    assert client.message() == b"three"
    put(notes, "one", "text")
    put(notes, "two", "text")
    assert client.message() == b"two"


def test_no_change_is_missed(notes, watch):
    """Clients that read the note after each message end up with the newest one, whichever write came first."""

    def follow(client):
        while notes.ask("GET", "/notes/one").body != b"199":
            client.message()

    put(notes, "one", "begin")
    with ThreadPoolExecutor() as threads:
        following = [threads.submit(follow, watch("one")) for _ in range(8)]
        for number in range(200):
            put(notes, "one", str(number))
        for each in following:
            each.result()


@pytest.mark.parametrize("text", [b"", b"+", b"one", b"+a/b", b"*one", b"+" + b"x" * 40 + b"/"])
def test_a_message_that_is_none_closes(watch, text):
    client = watch("one")
    client.send_frame(TEXT, text)
    assert client.until_close()[1].code in (1003, 1009)


def test_a_client_watches_a_hundred_notes_at_most(watch):
    client = watch(*map(str, range(100)))
    client.send_frame(TEXT, b"+0")
    assert client.message() == b"0", "it counts once"
    client.send_frame(TEXT, b"-0")
    client.send_frame(TEXT, b"+another")
    assert client.message() == b"another"
    client.send_frame(TEXT, b"+one-more")
    assert client.until_close()[1].code == 1008


@pytest.mark.parametrize("name", ["a.b", "x" * 41, "%2E"])
def test_an_id_that_is_none_is_not_found(notes, name):
    assert notes.ask("PUT", f"/notes/{name}", "text").status == 404
    assert notes.ask("GET", f"/notes/{name}").status == 404


def test_a_long_note_is_refused(notes):
    assert notes.ask("PUT", "/notes/one", "x" * 10_001).status == 413
    put(notes, "one", "x" * 10_000)
