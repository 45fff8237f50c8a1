"""A browser looks at the page of `turtle serve --operations`, from chapter 20."""

import contextlib
import json
import pathlib
import re
import subprocess
import tempfile

import pytest
import serving
from test_browser import complaints, requests, script, wait_for

TEXT = "document.querySelector(arguments[0])?.innerText"


@contextlib.contextmanager
def watched(*arguments, operations="127.0.0.1:0"):
    """A new server with two loops, and the address of its operations; for a `with`."""
    with tempfile.TemporaryDirectory() as site:
        pathlib.Path(site, "index.html").write_text("hello\n", encoding="utf-8")
        server = serving.Turtle(site, "--threads", "2", "--operations", operations, *arguments)
        with contextlib.closing(server):
            yield server


def text(browser, selector):
    return script(browser, TEXT, selector)


def wait_for_state(browser, wanted):
    wait_for(browser, lambda: re.match(wanted, text(browser, "#state") or ""), f"the state {wanted}")


def totals(browser):
    return dict(script(browser, "[...document.querySelectorAll('#totals > div')].map("
                                "row => [...row.children].map(each => each.innerText))"))


def rows(browser, table):
    return script(browser, "[...document.querySelectorAll(`#${arguments[0]} tbody tr`)].map("
                           "row => [...row.children].map(each => each.innerText))", table)


@pytest.fixture
def page(browser):
    """A server whose page is open."""
    complaints(browser)
    requests(browser)
    with watched() as server:
        browser.get(server.operations)
        wait_for_state(browser, "Ready")
        yield server
        browser.get("about:blank")
        assert complaints(browser) == []
        assert server.stop() == (0, "")


def test_each_loop_has_its_picture_and_its_numbers(browser, page):
    wait_for(browser, lambda: script(browser, "document.querySelectorAll('#loops article').length") == 2, "two loops")
    for index in range(2):
        card = f"#loops article:nth-child({index + 1})"
        assert text(browser, f"{card} .name") == f"Loop {index}"
        assert re.fullmatch(r"[\d.]+ % busy", text(browser, f"{card} .share"))
        label = script(browser, "document.querySelector(arguments[0]).getAttribute('aria-label')", f"{card} svg")
        assert label.startswith(f"Loop {index} is ")
        wait_for(browser, lambda card=card: script(
            browser, "document.querySelector(arguments[0]).getAttribute('d').split('L').length", f"{card} .line") >= 2,
            "a line of the picture")
    assert totals(browser)["connections"] == "0"


def test_what_is_asked_shows_within_seconds(browser, page):
    subprocess.run(["curl", "-sS", "-o", "/dev/null", f"{page.url}/?[1-50]"], check=True, timeout=serving.PATIENCE)
    subprocess.run(["curl", "-sS", "-o", "/dev/null", f"{page.url}/nothing"], check=True, timeout=serving.PATIENCE)
    wait_for(browser, lambda: [[row[0], row[2]] for row in rows(browser, "codes")] == [["200", "50"], ["404", "1"]],
             "the replies")
    assert re.fullmatch(r"[\d.]+ (µs|ms|s)", totals(browser)["half within"])
    assert rows(browser, "caches")[0][0] == "files"


def test_a_page_finds_its_server_again_and_says_so_meanwhile(browser):
    complaints(browser)
    with watched() as first:
        browser.get(first.operations)
        wait_for_state(browser, "Ready")
        subprocess.run(["curl", "-sS", "-o", "/dev/null", f"{first.url}/?[1-5]"], check=True, timeout=serving.PATIENCE)
        wait_for(browser, lambda: rows(browser, "codes") != [], "the replies")
        assert first.stop() == (0, ""), "an open page keeps nobody from stopping"
    wait_for_state(browser, "No answer since .*; trying again")
    assert script(browser, "document.querySelector('main').classList.contains('stale')")
    place = first.operations.split("//")[1]
    with watched(operations=place):
        wait_for_state(browser, "Ready")
        assert rows(browser, "codes") == [], "another process begins anew"
        browser.get("about:blank")
    complaints(browser)  # of connections that were refused meanwhile


def test_it_asks_nobody_else(browser, page):
    wait_for(browser, lambda: totals(browser) != {}, "numbers")
    asked = [url for url in requests(browser) if url.startswith("http")]
    assert asked
    assert [url for url in asked if not url.startswith(page.operations)] == []


def test_a_script_in_the_page_would_not_run(browser, page):
    title = browser.execute_async_script(
        "const done = arguments[0];"
        "document.querySelector('#since').innerHTML = '<img src=lost onerror=\"document.title = 1\">';"
        "document.querySelector('#since img').addEventListener('error', () => done(document.title));"
    )
    assert title == "Turtle"
    assert any("Content Security Policy" in complaint for complaint in complaints(browser))


def test_it_fits_a_telephone_and_what_is_there_has_a_name(browser, page):
    wait_for(browser, lambda: totals(browser) != {}, "numbers")
    before = browser.get_window_size()
    try:
        for width in (360, 1400):
            browser.set_window_size(width, 900)
            assert script(browser, "document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    finally:
        browser.set_window_size(before["width"], before["height"])
    tree = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    images = [node for node in tree if node.get("role", {}).get("value") in ("image", "img") and not node["ignored"]]
    assert len(images) == 2
    assert all(json.dumps(node["name"]).count("busy") for node in images)
