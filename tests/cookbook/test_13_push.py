"""Messages for all pages of a user."""

import contextlib
import subprocess

import pytest
from serving import PATIENCE
from websocket_client import TEXT, Client, Raw, upgrade


@pytest.fixture
def push(start):
    return start("push")


@pytest.fixture
def page(push):
    """Opens pages, which are gone after the test."""
    with contextlib.ExitStack() as stack:

        def open_one(user, *fields, **options):
            opened = Client(push.port, f"/messages?user={user}", *fields, **options)
            stack.callback(opened.close)
            return opened

        yield open_one


def refused(push, target, *fields):
    """The status of a request for a WebSocket."""
    with Raw(push.port) as client:
        client.send(upgrade(target, *fields))
        return client.head().status


def send(push, user, text, pages):
    """Sends a message when so many pages of the user are there."""
    for _ in range(int(PATIENCE * 1000)):
        reply = push.ask("POST", f"/users/{user}", text)
        if reply.status == 200 and reply.json() == {"pages": pages}:
            return
        assert reply.status in (200, 404)
    raise AssertionError(f"{user} never had {pages} pages")


def next_new(page):
    """The next message but the first one, which may have come several times."""
    text = page.message()
    while text == b"begin":
        text = page.message()
    return text


def test_a_message_reaches_each_page_of_the_user_and_no_other(push, page):
    ada = [page("ada") for _ in range(10)]
    grace = page("grace")
    send(push, "ada", "begin", 10)
    send(push, "ada", "hello", 10)
    send(push, "grace", "for you alone", 1)
    assert [next_new(each) for each in ada] == [b"hello"] * 10
    assert grace.message() == b"for you alone"


def test_the_messages_of_one_client_arrive_in_order(push, page):
    ada = page("ada")
    send(push, "ada", "begin", 1)
    with push.connect() as client, client.makefile("rb") as replies:
        for number in range(100):
            text = str(number)
            client.sendall(f"POST /users/ada HTTP/1.1\r\nHost: t\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode())
            assert replies.readline() == b"HTTP/1.1 200 OK\r\n"
            list(iter(replies.readline, b"\r\n"))
            assert replies.read(len('{"pages":1}')) == b'{"pages":1}'
    assert [next_new(ada) for _ in range(100)] == [str(number).encode() for number in range(100)]


def test_without_a_page_the_sender_is_told(push, page):
    assert push.ask("POST", "/users/ada", "hello").status == 404
    ada = page("ada")
    send(push, "ada", "hello", 1)
    ada.close()
    for _ in range(int(PATIENCE * 1000)):
        if push.ask("POST", "/users/ada", "hello").status == 404:
            return
    raise AssertionError("the page is not forgotten")


@pytest.mark.parametrize("text", [b"", b"x" * 1001, b"caf\xe9", b"half: \xc3"])
def test_a_text_that_no_browser_takes_is_refused(push, page, text):
    ada = page("ada")
    send(push, "ada", "begin", 1)
    assert push.ask("POST", "/users/ada", text).status == 400
    send(push, "ada", "h\u00e9llo".encode(), 1)
    assert next_new(ada) == "h\u00e9llo".encode()


@pytest.mark.parametrize("query", ["", "?user=", "?name=ada", f"?user={'x' * 101}"])
def test_a_page_without_a_user_is_refused(push, query):
    assert refused(push, f"/messages{query}") == 401


def test_the_page_of_another_site_is_refused(push, page):
    assert refused(push, "/messages?user=ada", "Origin: https://evil.example") == 403
    page("ada", "Origin: http://turtle")


def test_a_page_that_speaks_is_closed(page):
    ada = page("ada")
    ada.send_frame(TEXT, b"hello?")
    _, end = ada.until_close()
    assert (end.code, end.reason) == (1003, "this page only listens")


def test_a_page_that_reads_too_slowly_is_closed_and_the_others_get_all(push, page):
    slow, ada = page("ada", receive_buffer=4096), page("ada")
    send(push, "ada", "begin", 2)
    text = b"x" * 1000
    request = b"POST /users/ada HTTP/1.1\r\nHost: t\r\nContent-Length: 1000\r\n\r\n" + text
    with push.connect() as client, client.makefile("rb") as replies:
        for _ in range(500):  # more than the kernel and the server hold for one page; 16 at a time
            client.sendall(request * 16)
            for _ in range(16):
                assert replies.readline() == b"HTTP/1.1 200 OK\r\n"
                list(iter(replies.readline, b"\r\n"))
                replies.read(len('{"pages":2}'))
                assert next_new(ada) == text
    texts, end = slow.until_close()
    assert end.code == 1008
    assert texts.count(text) < 8000


def test_it_ends_while_somebody_listens(push, page):
    ada = page("ada")
    send(push, "ada", "hello", 1)
    assert ada.message() == b"hello"
    push.signal()
    _, end = ada.until_close()
    assert (end.code, end.reason) == (1001, "the server stops")
    ada.close()
    assert push.wait() == 0


def test_the_page_and_its_address(push):
    reply = push.ask("GET", "/?user=ada")
    assert reply.status == 200 and b"/messages${location.search}" in reply.body


def test_the_client_prints_each_message_and_the_end(push, recipes):
    command = [recipes / "websocket_client", str(push.port), "/messages?user=ada"]
    client = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert client.stdout.readline() == "connected\n"
        send(push, "ada", "hello", 1)
        assert client.stdout.readline() == "hello\n"
        push.signal()
        assert client.stdout.readline() == "closed: 1001 the server stops\n"
        assert client.wait(PATIENCE) == 0
        assert push.wait() == 0
    finally:
        client.kill()
        client.communicate()


def test_the_client_says_why_it_has_no_websocket(push, recipes):
    command = [recipes / "websocket_client", str(push.port), "/messages", "hello"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 1 and "401" in done.stderr
    assert subprocess.run(command[:2], capture_output=True, check=False, timeout=PATIENCE).returncode == 2
