"""A JSON service that remembers, on SQLite."""

from concurrent.futures import ThreadPoolExecutor

import pytest

LONG = "https://example.org/a/long/way?round=1"


def post(links, body, **fields):
    return links.ask("POST", "/links", body, **fields)


def problem(status, title, detail):
    return {"status": status, "title": title, "detail": detail}


@pytest.fixture
def links(start, tmp_path):
    return start("short_links", tmp_path / "links.db")


def test_a_link_is_made_followed_and_counted(links):
    reply = post(links, f'{{"url": "{LONG}"}}')
    assert (reply.status, reply.json()) == (201, {"short": "/1"})
    assert links.ask("GET", "/links/1").json() == {"url": LONG, "visits": 0}
    for _ in range(3):
        reply = links.ask("GET", "/1")
        assert (reply.status, reply.headers["Location"]) == (307, LONG)
    assert links.ask("GET", "/links/1").json() == {"url": LONG, "visits": 3}


def test_what_it_was_told_it_knows_after_a_restart(start, tmp_path):
    first = start("short_links", tmp_path / "links.db")
    assert post(first, f'{{"url": "{LONG}"}}').status == 201
    assert first.stop() == (0, "")
    second = start("short_links", tmp_path / "links.db")
    assert second.ask("GET", "/1").headers["Location"] == LONG


def test_no_visit_is_lost_among_many_at_once(links):
    assert post(links, f'{{"url": "{LONG}"}}').status == 201
    with ThreadPoolExecutor(8) as clients:
        statuses = list(clients.map(lambda _: links.ask("GET", "/1").status, range(100)))
    assert statuses == [307] * 100
    assert links.ask("GET", "/links/1").json()["visits"] == 100


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('{"url": ', "1"),  # the place of the mistake
        ("[]", "the JSON: expected an object, not an array"),
        ('{"url": 7}', "url: expected a string, not a number"),
        ('{"url": "ftp://example.org/"}', "url must begin with"),
        ('{"url": "https://example.org/\\r\\nSet-Cookie: a=b"}', "url must begin with"),
        ('{"url": "https://"}', "url must begin with"),
        ('{"url": "http://[x/"}', "url must begin with"),
        ('{"url": "http://x/%zz"}', "url must begin with"),
        ('{"url": "http://x/#a#b"}', "url must begin with"),
        ("", ""),
    ],
)
def test_what_is_no_link_is_refused_in_json(links, body, told):
    reply = post(links, body)
    assert reply.status == 400
    assert told in reply.json()["detail"]


def test_the_same_link_twice_is_a_conflict(links):
    assert post(links, f'{{"url": "{LONG}"}}').status == 201
    reply = post(links, f'{{"url": "{LONG}"}}')
    assert (reply.status, reply.json()) == (409, problem(409, "Conflict", "this url has a link already"))


def test_what_is_not_there(links):
    assert links.ask("GET", "/7").status == 404
    reply = links.ask("GET", "/links/7")
    assert (reply.status, reply.json()) == (404, problem(404, "Not Found", "there is no such link"))
    assert links.ask("GET", "/seven").status == 404


def test_a_body_that_is_too_long_is_refused(links):
    assert post(links, b"x" * (1024 * 1024 + 1)).status == 413
