"""Uploads that go to disk as they come."""

import os

import pytest
from lineage import await_condition

LIMIT = 1_000_000


@pytest.fixture
def folder(tmp_path):
    return tmp_path


@pytest.fixture
def uploads(start, folder):
    return start("upload_to_disk", folder, LIMIT)


def begin(uploads, name, size):
    """A client that has promised `size` bytes."""
    client = uploads.connect()
    client.sendall(f"PUT /files/{name} HTTP/1.1\r\nHost: t\r\nContent-Length: {size}\r\n\r\n".encode())
    return client


def progress(uploads):
    return uploads.ask("GET", "/progress").json()


def test_a_file_is_kept_byte_by_byte(uploads, folder):
    content = os.urandom(LIMIT)
    assert uploads.ask("PUT", "/files/film-1", content).status == 201
    assert (folder / "film-1").read_bytes() == content
    assert progress(uploads) == {}


def test_in_chunks_too_and_empty(uploads, folder):
    assert uploads.ask("PUT", "/files/chunks", iter([b"one", b"two"])).status == 201
    assert (folder / "chunks").read_bytes() == b"onetwo"
    assert uploads.ask("PUT", "/files/empty", b"").status == 201
    assert (folder / "empty").read_bytes() == b""


def test_how_far_it_is_can_be_seen_and_nothing_under_its_name(uploads, folder):
    with begin(uploads, "half", 100_000) as client:
        client.sendall(b"x" * 60_000)
        await_condition(lambda: progress(uploads) == {"half": 60_000}, "60,000 bytes")
        assert list(folder.iterdir()) == []
        client.sendall(b"y" * 40_000)
        assert client.recv(1000).startswith(b"HTTP/1.1 201 ")
    assert (folder / "half").read_bytes() == b"x" * 60_000 + b"y" * 40_000


def test_of_who_goes_away_nothing_is_left(uploads, folder):
    with begin(uploads, "gone", 100_000) as client:
        client.sendall(b"x" * 60_000)
        await_condition(lambda: progress(uploads) == {"gone": 60_000}, "60,000 bytes")
    await_condition(lambda: progress(uploads) == {}, "the end of the upload")
    assert list(folder.iterdir()) == []


def test_what_is_too_long_is_refused_before_it_is_sent(uploads, folder):
    with begin(uploads, "long", LIMIT + 1) as client:
        assert client.recv(1000).startswith(b"HTTP/1.1 413 ")
    assert list(folder.iterdir()) == []


def test_what_becomes_too_long_is_refused_too(uploads, folder):
    pieces = iter([b"x" * 100_000] * 11)
    try:
        assert uploads.ask("PUT", "/files/long", pieces).status == 413
    except ConnectionError:
        pass  # it was still sending when it was cut off
    await_condition(lambda: progress(uploads) == {}, "the end of the upload")
    assert list(folder.iterdir()) == []


def test_no_file_is_replaced(uploads, folder):
    assert uploads.ask("PUT", "/files/once", b"first").status == 201
    assert uploads.ask("PUT", "/files/once", b"second").status == 409
    assert (folder / "once").read_bytes() == b"first"


@pytest.mark.parametrize("name", ["..", "a.b", "%2e%2e%2fx", "a%2fb", "a%00b", "."])
def test_a_name_is_no_path(uploads, folder, name):
    assert uploads.ask("PUT", f"/files/{name}", b"x").status in (400, 404)
    assert list(folder.iterdir()) == []
    assert not (folder.parent / "x").exists()
