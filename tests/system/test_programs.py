"""Programs behind /cgi-bin/, among them the examples of the book."""

import signal
import subprocess

import httpx
import pytest


@pytest.fixture
def script(tmp_path):
    """Writes a shell script into a folder of programs."""
    folder = tmp_path / "programs"
    folder.mkdir()

    def write(name, *lines):
        path = folder / name
        path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
        path.chmod(0o755)
        return folder

    return write


def test_add(turtle):
    assert httpx.get(turtle.url + "/cgi-bin/add&1&2").text == "1 + 2 = 3\n"
    assert httpx.get(turtle.url + "/cgi-bin/add&-5&7").text == "-5 + 7 = 2\n"
    assert httpx.get(turtle.url + "/cgi-bin/add&1").status_code == 400
    assert httpx.get(turtle.url + "/cgi-bin/none").status_code == 404


def test_an_upload_by_length(turtle):
    body = b"a letter " * 50_000
    reply = httpx.post(turtle.url + "/cgi-bin/upper", content=body)
    assert reply.content == body.upper()
    assert reply.headers["content-length"] == str(len(body))


def test_an_upload_in_chunks(turtle):
    reply = httpx.post(turtle.url + "/cgi-bin/upper", content=(b"part %d " % i for i in range(999)))
    assert reply.content == b"".join(b"PART %d " % i for i in range(999))


def test_an_upload_by_curl(turtle, site):
    """Larger than 1 MB: curl waits for 100 Continue."""
    done = subprocess.run(
        ["curl", "-sS", "--max-time", "20", "--data-binary", f"@{site}/large.bin",
         turtle.url + "/cgi-bin/upper"],
        capture_output=True, check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == (site / "large.bin").read_bytes().upper()


def test_a_large_upload_is_refused(start, site, programs):
    server = start(site, "--cgi-dir", programs, "--max-body", "1K")
    assert httpx.post(server.url + "/cgi-bin/upper", content=b"x" * 1024).status_code == 200
    assert httpx.post(server.url + "/cgi-bin/upper", content=b"x" * 1025).status_code == 413


def test_the_environment(turtle):
    text = httpx.get(turtle.url + "/cgi-bin/environment/a/b?c=d", headers={"Proxy": "evil"}).text
    lines = text.splitlines()
    for line in ("REQUEST_METHOD=GET", "PATH_INFO=/a/b", "QUERY_STRING=c=d",
                 f"SERVER_PORT={turtle.port}", "REMOTE_ADDR=127.0.0.1", "HTTP_HOST=127.0.0.1:"
                 f"{turtle.port}"):
        assert line in lines
    assert "evil" not in text


def test_a_program_that_does_not_end_is_504(start, site, script):
    folder = script("silent", "exec sleep 1000")
    server = start(site, "--cgi-dir", folder, "--cgi-timeout", "1")
    assert httpx.get(server.url + "/cgi-bin/silent", timeout=20).status_code == 504
    code, errors = server.stop()
    assert code == 0
    assert "silent" in errors  # whoever runs it is told


def test_a_signal_lets_a_program_finish(start, site, script, tmp_path):
    folder = script(
        "slow", "printf 'Content-Type: text/plain\\n\\n'; echo begun",
        f"while [ ! -e {tmp_path}/go ]; do sleep 0.01; done", "echo done",
    )
    server = start(site, "--cgi-dir", folder, "--stop-timeout", "60")
    with httpx.stream("GET", server.url + "/cgi-bin/slow", timeout=20) as reply:
        lines = reply.iter_lines()
        assert next(lines) == "begun"
        server.signal(signal.SIGINT)
        (tmp_path / "go").touch()
        assert list(lines) == ["done"]
    assert server.wait() == 0


def test_who_ignores_sigchld_may_start_it(binary, site, programs):
    """A parent's "ignore" is inherited, and then the kernel reaps programs behind our back."""
    ignore = "trap '' CHLD; exec \"$@\""
    process = subprocess.Popen(
        ["/bin/sh", "-c", ignore, "sh", binary, "serve", site, "--port", "0", "--cgi-dir", programs],
        stdout=subprocess.PIPE,
    )
    try:
        url = process.stdout.readline().decode().split()[-1].rstrip("/")
        for _ in range(5):
            assert httpx.get(url + "/cgi-bin/add&1&2", timeout=20).text == "1 + 2 = 3\n"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
