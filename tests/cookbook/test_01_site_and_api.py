"""Files, an API and a page of many addresses on one server."""

import socket

import pytest


@pytest.fixture
def site(start, tmp_path):
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "index.html").write_text("<h1>home</h1>\n")
    (folder / "style.css").write_text("body { color: green }\n")
    (tmp_path / "secret.txt").write_text("SECRET\n")
    return start("site_and_api", folder)


def test_the_files_are_served_and_validated(site):
    page = site.ask("GET", "/")
    assert (page.status, page.body) == (200, b"<h1>home</h1>\n")
    assert site.ask("GET", "/style.css").headers["Content-Type"].startswith("text/css")
    assert site.ask("GET", "/", If_None_Match=page.headers["ETag"]).status == 304
    assert site.ask("GET", "/none.html").status == 404


def test_the_api_counts(site):
    assert site.ask("GET", "/api/visits").json() == {"visits": 0}
    for number in (1, 2, 3):
        reply = site.ask("POST", "/api/visits")
        assert (reply.status, reply.json()) == (201, {"visits": number})
    assert site.ask("GET", "/api/visits").json() == {"visits": 3}


def test_the_api_has_errors_of_its_own(site):
    reply = site.ask("GET", "/api/visit")
    assert (reply.status, reply.json()) == (404, {"status": 404, "title": "Not Found"})
    reply = site.ask("DELETE", "/api/visits")
    assert (reply.status, reply.headers["Allow"]) == (405, "GET, HEAD, POST, OPTIONS")


def test_every_address_below_app_is_the_one_page(site):
    for path in ("/app", "/app/", "/app/users/7?tab=mail"):
        reply = site.ask("GET", path)
        assert (reply.status, reply.body) == (200, b"<h1>home</h1>\n"), path
    assert site.ask("POST", "/app/users", b"x").status == 405
    assert site.ask("GET", "/apple").status == 404


def test_a_body_that_nobody_asked_for_is_never_a_request(site):
    hidden = b"GET /style.css HTTP/1.1\r\nHost: t\r\n\r\n"
    asked = f"GET /app/x HTTP/1.1\r\nHost: t\r\nContent-Length: {len(hidden)}\r\n\r\n".encode()
    with site.connect() as client:
        client.sendall(asked + hidden)
        client.shutdown(socket.SHUT_WR)
        answer = client.makefile("rb").read()
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"home" in answer and b"green" not in answer


@pytest.mark.parametrize("path", ["/../secret.txt", "/%2e%2e/secret.txt", "/app/../../secret.txt", "/..%2fsecret.txt"])
def test_nothing_outside_of_the_folder_is_reached(site, path):
    reply = site.ask("GET", path)
    assert reply.status in (400, 404)
    assert b"SECRET" not in reply.body
