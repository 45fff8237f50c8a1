"""Programs behind /cgi-bin/, among them the examples of the book."""

import os
import signal
import subprocess

import httpx
import pytest

from lineage import await_condition


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


def test_the_environment_holds_nothing_else_of_ours(start, site, programs):
    """What SECURITY.md says: of the server's own variables, PATH, TZ and LANG."""
    server = start(
        site, "--cgi-dir", programs,
        environment={"PATH": "/bin:/usr/bin", "TZ": "UTC0", "LANG": "C", "SECRET": "hidden", "LC_ALL": "C"},
    )
    with server.connect() as client:
        client.sendall(b"GET /cgi-bin/environment HTTP/1.0\r\nHost: t\r\n\r\n")
        text = b"".join(iter(lambda: client.recv(65536), b"")).decode()
    assert sorted(text.partition("\r\n\r\n")[2].splitlines()) == sorted([
        "GATEWAY_INTERFACE=CGI/1.1", "HTTP_HOST=t", "LANG=C", "PATH=/bin:/usr/bin", "QUERY_STRING=",
        "REMOTE_ADDR=127.0.0.1", "REMOTE_HOST=127.0.0.1", "REQUEST_METHOD=GET",
        "SCRIPT_NAME=/cgi-bin/environment", "SERVER_NAME=t", f"SERVER_PORT={server.port}",
        "SERVER_PROTOCOL=HTTP/1.0", "SERVER_SOFTWARE=turtle", "TZ=UTC0",
    ])


@pytest.mark.parametrize("first_line", ["#!/bin/sh\r", "#!/no/such", "#!/etc/passwd", "nothing"])
def test_a_program_that_cannot_run_is_502_and_the_log_says_why(start, site, script, first_line):
    folder = script("broken")
    (folder / "broken").write_bytes(first_line.encode() + b"\n")
    server = start(site, "--cgi-dir", folder)
    assert httpx.get(server.url + "/cgi-bin/broken").status_code == 502
    code, errors = server.stop()
    assert code == 0
    assert "cgi broken: execve: " in errors


def test_a_whole_reply_does_not_wait_for_its_program(start, site, script):
    folder = script("background", "printf 'Content-Type: text/plain\\nContent-Length: 2\\n\\nhi'",
                    "exec sleep 1000")
    server = start(site, "--cgi-dir", folder, "--cgi-timeout", "1000")
    with httpx.Client(base_url=server.url, timeout=20) as client:
        assert client.head("/cgi-bin/background").status_code == 200
        assert client.get("/cgi-bin/background").text == "hi"
        assert client.get("/").status_code == 200
    assert server.stop()[0] == 0


@pytest.mark.parametrize("closed", ["0<&-", "2>&-", "1>&-", "0<&- 2>&-", "0<&- 1>&- 2>&-"])
def test_closed_standard_descriptors_are_the_null_device(binary, site, script, tmp_path, closed):
    """Else a socket would be the server's standard error, and a program's, a file that it opens."""
    folder = script("writes", "exec 5>opened; echo lost >&2; exec 5>&-",
                    "printf 'Content-Type: text/plain\\n\\n'; cat opened; readlink /proc/$$/fd/2")
    path = tmp_path / "socket"
    process = subprocess.Popen(
        ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", binary, "serve", site, "--cgi-dir", folder,
         "--address", f"unix:{path}"],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )
    try:
        def answer():
            try:
                with httpx.Client(transport=httpx.HTTPTransport(uds=str(path)), timeout=20) as client:
                    return client.get("http://t/cgi-bin/writes")
            except httpx.ConnectError:
                return None

        text = await_condition(answer, "a server").text
        assert text.startswith("/dev/null" if "2>&-" in closed else "pipe:")
        for number, how in enumerate(("0<&-", "1>&-", "2>&-")):
            if how in closed:
                assert os.readlink(f"/proc/{process.pid}/fd/{number}") == "/dev/null"
    finally:
        process.kill()
        process.communicate()


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
