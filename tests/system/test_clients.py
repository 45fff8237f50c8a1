"""Files, asked for by the clients that people use."""

import concurrent.futures
import os
import subprocess

import httpx


def curl(*arguments):
    done = subprocess.run(
        ["curl", "--silent", "--show-error", "--max-time", "20", *map(str, arguments)],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def test_pages_and_types(turtle):
    with httpx.Client(base_url=turtle.url) as client:
        home = client.get("/")
        assert (home.status_code, home.text) == (200, "<h1>home</h1>\n")
        assert home.headers["content-type"].startswith("text/html")
        assert client.get("/style.css").headers["content-type"].startswith("text/css")
        assert client.get("/docs/").text == "<h1>docs</h1>\n"
        moved = client.get("/docs")
        assert (moved.status_code, moved.headers["location"]) == (301, "/docs/")
        assert client.get("/docs", follow_redirects=True).text == "<h1>docs</h1>\n"
        assert client.get("/none").status_code == 404
        assert client.post("/", content=b"x").status_code == 405
        assert client.head("/large.bin").headers["content-length"] == "10240000"


def test_nothing_outside_the_folder(turtle, site):
    (site.parent / "secret").write_text("secret")
    (site / "link").symlink_to(site.parent / "secret")
    for path in ("/../secret", "/docs/../../secret", "/%2e%2e/secret", "/..%2fsecret", "/link"):
        status = curl("--path-as-is", "-o", os.devnull, "-w", "%{http_code}", turtle.url + path)
        assert status in (b"400", b"404"), path


def test_httpx_keeps_its_connection(turtle):
    used = set()
    with httpx.Client(base_url=turtle.url, limits=httpx.Limits(max_connections=1)) as client:
        for _ in range(50):
            with client.stream("GET", "/style.css") as reply:
                used.add(reply.extensions["network_stream"].get_extra_info("client_addr"))
                assert reply.read() == b"body { color: green }\n"
    assert len(used) == 1


def test_conditions(turtle):
    first = httpx.get(turtle.url + "/style.css")
    for field in ({"If-None-Match": first.headers["etag"]},
                  {"If-Modified-Since": first.headers["last-modified"]}):
        again = httpx.get(turtle.url + "/style.css", headers=field)
        assert (again.status_code, again.content) == (304, b""), field


def test_ranges_by_curl(turtle, site, tmp_path):
    whole = (site / "large.bin").read_bytes()
    url = turtle.url + "/large.bin"
    assert curl(url) == whole
    assert curl("--range", "1000-1999", url) == whole[1000:2000]
    assert curl("--range", "-10", url) == whole[-10:]
    assert b"multipart/byteranges" in curl("--range", "0-1,5000-5001", "--head", "-X", "GET", url)
    status = curl("--range", "99999999-", "-o", os.devnull, "-w", "%{http_code}", url)
    assert status == b"416"
    part = tmp_path / "part"
    part.write_bytes(whole[:4_000_000])  # a download that was interrupted
    curl("--continue-at", "-", "-o", part, url)
    assert part.read_bytes() == whole


def test_an_edited_page_is_never_stale(turtle, site):
    with httpx.Client(base_url=turtle.url) as client:
        for number in range(200):
            if number % 2:
                (site / "next").write_text(str(number))
                (site / "next").replace(site / "page")
            else:
                (site / "page").write_text(str(number))
            assert client.get("/page").text == str(number)


def test_many_at_once(turtle, site):
    whole = (site / "large.bin").read_bytes()

    def download(number):
        path = "/large.bin" if number % 4 == 0 else "/style.css"
        wanted = whole if number % 4 == 0 else b"body { color: green }\n"
        return client.get(path).content == wanted

    limits = httpx.Limits(max_connections=16)
    with httpx.Client(base_url=turtle.url, limits=limits, timeout=20) as client, \
            concurrent.futures.ThreadPoolExecutor(16) as pool:
        assert all(pool.map(download, range(64)))
