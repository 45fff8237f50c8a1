"""A site is replaced, copied and linked while it is served; what nobody meant to publish stays hidden."""

import os
import pathlib
import shutil
import tempfile
import time

import httpx
import pytest
from serving import PATIENCE

CACHES = [("--cache-size", "0"), ("--cache-check", "watch"), ("--cache-check", "always")]
OLD = 1_600_000_000


@pytest.fixture(params=CACHES, ids=lambda cache: "-".join(cache).lstrip("-"))
def cache(request):
    return request.param


def page(folder, text, name="page.txt"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def turn(link, target):
    new = link.with_name(link.name + ".new")
    new.symlink_to(target)
    new.rename(link)


def awaits(url, text):
    """Whether `url` has that text, at once or soon."""
    deadline = time.monotonic() + PATIENCE
    while httpx.get(url).text != text:
        if time.monotonic() > deadline:
            return False
    return True


def program(folder, text):
    page(folder, f"#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n{text}'\n", "show")
    (folder / "show").chmod(0o755)


def test_names_with_a_dot_are_hidden(start, site, cache):
    for name in (".env", ".git/config", "docs/.htpasswd", ".well-known/.env"):
        page((site / name).parent, "secret", (site / name).name)
    page(site / ".well-known", "contact", "security.txt")
    server = start(site, *cache)
    for path in ("/.env", "/%2eenv", "/.git/config", "/.git", "/docs/.htpasswd", "/.well-known/.env"):
        assert httpx.get(server.url + path).status_code == 404, path
    assert httpx.get(server.url + "/.well-known/security.txt").text == "contact"
    open_server = start(site, *cache, "--dot-files", "on")
    for path in ("/.env", "/.git/config", "/docs/.htpasswd", "/.well-known/.env"):
        assert httpx.get(open_server.url + path).text == "secret", path


def test_two_versions_of_one_second(start, site, cache):
    url = start(site, *cache).url + "/page.txt"
    for _ in range(20):  # until both are of one second
        page(site, "first")
        date = httpx.get(url).headers["last-modified"]
        first = os.stat(site / "page.txt").st_mtime
        page(site, "other")
        if int(os.stat(site / "page.txt").st_mtime) == int(first):
            break
    assert awaits(url, "other")
    deadline = time.monotonic() + PATIENCE
    while httpx.get(url, headers={"If-Modified-Since": httpx.get(url).headers["last-modified"]}).status_code != 304:
        assert time.monotonic() < deadline
    part = httpx.get(url, headers={"If-Range": date, "Range": "bytes=0-1"})
    assert (part.status_code, part.text) == (200, "other")
    assert httpx.get(url, headers={"If-Modified-Since": date}).text == "other"
    assert httpx.get(url, headers={"If-Unmodified-Since": date}).status_code == 412
    last = httpx.get(url).headers["last-modified"]
    part = httpx.get(url, headers={"If-Range": last, "Range": "bytes=0-1"})
    assert (part.status_code, part.text) == (206, "ot")


def test_replicas_have_the_same_tags(start, tmp_path):
    page(tmp_path / "one", "text")
    os.utime(tmp_path / "one/page.txt", ns=(OLD * 10**9 + 123_456_789,) * 2)
    shutil.copytree(tmp_path / "one", tmp_path / "other")  # keeps times
    urls = [start(tmp_path / name).url + "/page.txt" for name in ("one", "other")]
    deadline = time.monotonic() + PATIENCE
    while True:
        tags = {httpx.get(url).headers["etag"] for url in urls}
        if not any(tag.startswith("W/") for tag in tags) or time.monotonic() > deadline:
            break
    assert len(tags) == 1
    part = httpx.get(urls[1], headers={"If-Range": tags.pop(), "Range": "bytes=0-1"})
    assert part.status_code == 206


def test_links_that_end_inside_work(start, site, cache):
    (site / "whole.css").symlink_to(site / "style.css")
    (site / "whole").symlink_to(site / "docs")
    (site / "chain.css").symlink_to("whole.css")
    (site / "docs" / "over.css").symlink_to("../../site/style.css")
    (site / "out").symlink_to(site.parent)
    (site / "passwd").symlink_to("/etc/passwd")
    server = start(site, *cache)
    for path in ("/whole.css", "/chain.css", "/docs/over.css", "/whole/over.css"):
        for _ in range(2):
            assert httpx.get(server.url + path).text == "body { color: green }\n", path
    assert httpx.get(server.url + "/whole/").text == "<h1>docs</h1>\n"
    assert httpx.get(server.url + "/whole").headers["location"] == "/whole/"
    for path in ("/passwd", "/out", "/out/site/style.css"):
        assert httpx.get(server.url + path).status_code == 404, path


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs another user")
def test_folders_that_may_not_be_listed(start):
    with tempfile.TemporaryDirectory() as name:
        outer = pathlib.Path(name)
        page(outer / "site/sub", "text")
        page(outer / "site/sub", "index", "index.html")
        program(outer / "cgi", "program")
        for folder in ("site/sub", "site", "cgi", "."):
            (outer / folder).chmod(0o711)
        other = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
        server = start(outer / "site", "--cgi-dir", outer / "cgi", prefix=other)
        assert httpx.get(server.url + "/sub/page.txt").text == "text"
        assert httpx.get(server.url + "/sub/").text == "index"
        assert httpx.get(server.url + "/sub").headers["location"] == "/sub/"
        assert httpx.get(server.url + "/cgi-bin/show").text == "program"
        server.close()


def test_a_link_is_turned_to_another_release(start, tmp_path, cache):
    for release, text in (("1", "old"), ("2", "new")):
        page(tmp_path / release, text)
        program(tmp_path / f"cgi{release}", text)
    turn(tmp_path / "current", "1")
    turn(tmp_path / "cgi", "cgi1")
    url = start(tmp_path / "current", "--cgi-dir", tmp_path / "cgi", *cache).url
    for path in ("/page.txt", "/cgi-bin/show"):
        assert httpx.get(url + path).text == "old"
    turn(tmp_path / "current", "2")
    turn(tmp_path / "cgi", "cgi2")
    for path in ("/page.txt", "/cgi-bin/show"):
        assert awaits(url + path, "new"), path
    page(tmp_path / "2", "newer")
    assert httpx.get(url + "/page.txt").text == "newer"


def test_a_folder_is_removed_and_made_again(start, tmp_path, cache):
    site, cgi = tmp_path / "site", tmp_path / "cgi"
    page(site, "old")
    program(cgi, "old")
    url = start(site, "--cgi-dir", cgi, *cache).url
    for path in ("/page.txt", "/cgi-bin/show"):
        assert httpx.get(url + path).text == "old"
    shutil.rmtree(site)
    shutil.rmtree(cgi)
    for path in ("/page.txt", "/cgi-bin/show"):
        assert httpx.get(url + path).status_code == 404
    page(site, "new")
    program(cgi, "new")
    for path in ("/page.txt", "/cgi-bin/show"):
        assert httpx.get(url + path).text == "new"
