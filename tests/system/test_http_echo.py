"""The example http_echo, asked by curl."""

import contextlib
import subprocess

import pytest

from serving import Server


@pytest.fixture(scope="module")
def url(binary):
    program = binary.parent / "examples" / "http_echo"
    assert program.is_file(), f"{program} is not there: build all of final"
    with contextlib.closing(Server(program, "--port", "0", "--threads", "2")) as server:
        yield "http://" + server.url


def curl(*arguments):
    done = subprocess.run(
        ["curl", "-sS", "--max-time", "60", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_text_and_the_body_of_any_other_method(url):
    assert curl(url + "/") == "Send me something.\n"
    assert curl("-d", "one body", url + "/") == "one body"
    assert curl("-X", "DELETE", "-d", "another", url + "/") == "another"
    assert curl("-H", "Transfer-Encoding: chunked", "-d", "in chunks", url + "/") == "in chunks"
    assert curl("-X", "POST", url + "/") == ""


def test_the_fields_as_they_came(url):
    told = curl("-A", "a", "-H", "x-Odd:  one ", "-H", "X-oDD: two", url + "/echo").splitlines()
    assert told == [f"Host: {url.removeprefix('http://')}", "User-Agent: a", "Accept: */*", "x-Odd: one", "X-oDD: two"]


def test_the_cookies(url):
    assert curl("-H", "Cookie: a=1;b=two ;; c; d=", "-H", "Cookie: e=x=y", url + "/cookie") == "a=1\nb=two\nd=\ne=x=y\n"
    assert curl(url + "/cookie") == ""


def test_nothing_else(url):
    assert curl("-o", "/dev/null", "-w", "%{http_code}", url + "/other") == "404"


@pytest.mark.parametrize("path", ["/", "/echo", "/cookie", "/other"])
def test_trace_is_refused(url, path):
    told = curl("-i", "-X", "TRACE", "-H", "Cookie: secret=1", url + path)
    assert told.startswith("HTTP/1.1 405 ") and "\nAllow: GET, HEAD" in told.replace("\r", "")
    assert "secret" not in told


def test_wrong_options_are_told(binary):
    for arguments in (["--port"], ["--port", "x"], ["--port", "99999"], ["--wrong", "1"]):
        done = subprocess.run(
            [binary.parent / "examples" / "http_echo", *arguments],
            capture_output=True, text=True, check=False, timeout=60,
        )
        assert done.returncode == 1 and done.stderr.startswith("http_echo: "), arguments
