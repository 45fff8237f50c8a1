"""A browser uses the page of the chat, an example of chapter 32."""

import contextlib
import json

import pytest
import serving
from test_browser import complaints, script, wait_for

LINES = "[...document.querySelectorAll('#lines li')].map(line => line.innerText)"
STATE = "document.querySelector('#state').innerText"


@contextlib.contextmanager
def chat(port=0):
    """A new room; for a `with`."""
    program = serving.BINARY.parent / "examples" / "web_chat"
    assert program.is_file(), f"{program} is not there: build all of final"
    with contextlib.closing(serving.Server(program, "--port", str(port), greeting="http://")) as server:
        yield server


def address(server):
    """The browser resolves no name."""
    return f"http://127.0.0.1:{server.port}/"


@pytest.fixture
def room(browser):
    """A new room, which must end well. The browser has one window after the test."""
    complaints(browser)
    first = browser.current_window_handle
    with chat() as server:
        yield server
        for window in set(browser.window_handles) - {first}:
            browser.switch_to.window(window)
            browser.close()
        browser.switch_to.window(first)
        browser.get("about:blank")
        assert complaints(browser) == []
        assert server.stop() == (0, "")


def enter(browser, server, name):
    """Opens the page in this window, and comes in."""
    browser.get(address(server))
    browser.find_element("css selector", "#name").send_keys(name + "\n")
    wait_for(browser, lambda: script(browser, STATE) == f"connected as {name}", f"{name} in the room")


def say(browser, line):
    browser.find_element("css selector", "#line").send_keys(line + "\n")


def wait_for_line(browser, line):
    wait_for(browser, lambda: line in script(browser, LINES), line)


def handshakes(browser):
    """The fields of the responses to WebSocket handshakes since the last call."""
    found = []
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.webSocketHandshakeResponseReceived":
            response = message["params"]["response"]
            found.append((response["status"], {name.lower(): value for name, value in response["headers"].items()}))
    return found


def test_two_pages_talk_to_each_other(browser, room):
    first = browser.current_window_handle
    enter(browser, room, "ada")
    browser.switch_to.new_window("window")
    enter(browser, room, "grace")
    second = browser.current_window_handle
    for speaker, listener, name in ((first, second, "ada"), (second, first, "grace")):
        for line in ("hello", "grüß dich", "again and " * 20):
            browser.switch_to.window(speaker)
            say(browser, line)
            browser.switch_to.window(listener)
            wait_for_line(browser, f"{name}: {line}".strip())
    browser.switch_to.window(second)
    browser.close()
    browser.switch_to.window(first)
    wait_for_line(browser, "grace has left")


def test_the_browser_agrees_on_compression(browser, room):
    handshakes(browser)
    enter(browser, room, "ada")
    (status, fields), = handshakes(browser)
    assert status == 101
    assert fields["sec-websocket-extensions"].startswith("permessage-deflate")
    say(browser, "again and " * 20)
    wait_for_line(browser, ("ada: " + "again and " * 20).strip())


def test_a_line_is_text_whatever_it_is(browser, room):
    enter(browser, room, "<b>eve</b>")
    say(browser, "<img src=x onerror=alert(1)>")
    wait_for_line(browser, "<b>eve</b>: <img src=x onerror=alert(1)>")
    assert script(browser, "document.querySelectorAll('#lines img, #lines b').length") == 0


def test_a_page_of_another_server_may_not_connect(browser, room):
    """To it, 127.0.0.1 and another port are another origin."""
    connect = (
        "const done = arguments[1]; const socket = new WebSocket(arguments[0]);"
        "socket.onopen = () => done('open'); socket.onclose = event => done(event.code);"
    )
    chat_of_room = f"ws://127.0.0.1:{room.port}/chat?name=eve"
    with chat() as elsewhere:
        browser.get(address(elsewhere))
        assert browser.execute_async_script(connect, chat_of_room) == 1006
        assert any("403" in complaint for complaint in complaints(browser))
        browser.get(address(room))
        assert browser.execute_async_script(connect, chat_of_room) == "open"
        browser.get("about:blank")
        assert elsewhere.stop() == (0, "")


def test_a_page_finds_its_server_again_and_says_so_meanwhile(browser):
    complaints(browser)
    with chat() as server:
        enter(browser, server, "ada")
        assert server.stop() == (0, ""), "an open page keeps nobody from stopping"
        wait_for(browser, lambda: script(browser, STATE).startswith("not connected"), "the server's end")
        assert script(browser, STATE) in ("not connected (1001: the server stops)", "not connected (1006)")
    with chat(server.port):
        wait_for(browser, lambda: script(browser, STATE) == "connected as ada", "the server")
        say(browser, "back again")
        wait_for_line(browser, "ada: back again")
        browser.get("about:blank")
    complaints(browser)  # of connections that were refused meanwhile
