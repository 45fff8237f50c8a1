"""A program under a service manager: readiness, an end that loses nobody, listeners of somebody else."""

import re
import shutil
import signal
import socket
import subprocess
import sys

import pytest
from conftest import COOKBOOK
from lineage import await_condition
from serving import PATIENCE, DidNotServe


@pytest.fixture
def manager(tmp_path):
    """What NOTIFY_SOCKET leads to."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as one:
        one.bind(str(tmp_path / "notify"))
        one.settimeout(PATIENCE)
        yield one


class Operations:
    """The other port."""

    def __init__(self, recipe):
        self.recipe = recipe
        line = recipe.next_line()
        assert line.startswith("operations at 127.0.0.1:")
        self.port = int(line.rsplit(":", 1)[1])

    def ask(self, path):
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as client:
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n".encode())
            return client.makefile("rb").read()

    def status(self, path):
        return int(self.ask(path).split()[1])


def begin(service):
    """A request of which half the body has been sent."""
    client = service.connect()
    client.sendall(b"POST /upper HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\nhello")
    return client


def test_it_is_ready_when_it_says_so(manager, start):
    service = start("service", 0, environment={"NOTIFY_SOCKET": manager.getsockname()})
    operations = Operations(service)
    assert manager.recv(100) == b"READY=1"
    await_condition(lambda: operations.status("/readyz") == 200, "readiness")  # of all its loops
    assert operations.status("/livez") == 200
    assert service.ask("POST", "/upper", b"hello").body == b"HELLO"
    assert re.search(rb'\nturtle_http_requests_total\{loop="\d+",code="200"\} 1\n', operations.ask("/metrics"))


def test_at_its_end_it_finishes_what_was_begun(manager, start):
    service = start("service", 0, environment={"NOTIFY_SOCKET": manager.getsockname()})
    operations = Operations(service)
    assert manager.recv(100) == b"READY=1"
    with begin(service) as client:
        service.signal(signal.SIGTERM)
        assert manager.recv(100) == b"STOPPING=1"
        await_condition(lambda: operations.status("/readyz") == 503, "that nobody is sent here any more")
        assert operations.status("/livez") == 200, "to be restarted for that would be a mistake"
        client.sendall(b"world")
        answer = client.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n") and answer.endswith(b"HELLOWORLD")
    assert b"Connection: close\r\n" in answer
    assert service.wait() == 0
    assert service.said() == ""


def test_the_second_signal_ends_it_at_once(manager, start):
    service = start("service", 0, environment={"NOTIFY_SOCKET": manager.getsockname()})
    assert manager.recv(100) == b"READY=1"
    service.signal(signal.SIGTERM)
    assert manager.recv(100) == b"STOPPING=1"
    service.signal(signal.SIGTERM)
    assert service.wait() == 0


# As systemd starts it: the listener is descriptor 3, and LISTEN_PID the program's own number.
ACTIVATE = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
os.execv(sys.argv[2], sys.argv[2:])
"""


def activated(listener):
    """Options for start()."""
    number = listener.fileno()
    return {"prefix": (sys.executable, "-c", ACTIVATE, str(number)), "pass_fds": (number,)}


def test_who_comes_between_two_of_them_waits_and_is_served(start):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        for word in (b"first", b"again"):
            with socket.create_connection(("127.0.0.1", port), PATIENCE) as client:
                client.sendall(b"POST /upper HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\n" + word)
                service = start("service", 0, **activated(listener))
                assert service.port == port
                assert client.recv(1000).endswith(word.upper())
            assert service.stop() == (0, "")


def test_a_listener_that_nobody_would_serve_is_named(start):
    with socket.create_server(("127.0.0.2", 0)) as listener:
        with pytest.raises(DidNotServe) as thrown:
            start("service", 0, **activated(listener))
    assert thrown.value.code == 1
    assert "127.0.0.2:" in thrown.value.said and "inherited descriptor 3" in thrown.value.said


def test_a_port_that_is_taken_is_named_although_it_shares_its_own(start):
    first = start("service", 0)
    with pytest.raises(DidNotServe) as thrown:
        start("service", 0, port=first.port)
    assert thrown.value.code == 1
    assert f"bind 127.0.0.1:{first.port}: Address already in use" in thrown.value.said


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_the_units_are_right_and_allow_little(recipes, tmp_path):
    units = [tmp_path / "upper.service", tmp_path / "upper.socket"]
    for unit in units:
        text = (COOKBOOK / "10-service" / unit.name).read_text(encoding="utf-8")
        unit.write_text(text.replace("/usr/local/bin/service", str(recipes / "service")), encoding="utf-8")
    verify = ["systemd-analyze", "verify", "--man=no", *units]
    done = subprocess.run(verify, capture_output=True, text=True, check=False)
    assert not re.search(r"upper\.(service|socket)", done.stdout + done.stderr)
    assert done.returncode == 0, done.stderr
    security = ["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=50", units[0]]
    done = subprocess.run(security, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_units_and_the_program_agree():
    folder = COOKBOOK / "10-service"
    port = re.search(r"ListenStream=127\.0\.0\.1:(\d+)\n", (folder / "upper.socket").read_text())[1]
    service = (folder / "upper.service").read_text()
    assert f"ExecStart=/usr/local/bin/service {port} " in service
    source = (folder / "main.cpp").read_text()
    patience = sum(int(n) for n in re.findall(r"options\.(?:drain_time|stop_timeout) = std::chrono::seconds\((\d+)\)", source))
    assert int(re.search(r"TimeoutStopSec=(\d+)\n", service)[1]) > patience > 0
