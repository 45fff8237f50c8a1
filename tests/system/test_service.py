"""Under systemd: the units, activation by a socket, and what the service manager hears."""

import contextlib
import fnmatch
import os
import re
import shutil
import signal
import socket
import subprocess

import pytest
from lineage import Lineage, await_condition
from serving import BINARY, PATIENCE, ROOT, Turtle

CONF = ROOT / "final" / "conf"
ANALYZE = shutil.which("systemd-analyze")
ACTIVATE = shutil.which("systemd-socket-activate")
ROTATE = shutil.which("logrotate", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


@pytest.fixture
def units(tmp_path, binary):
    """The units, as an installation has them."""
    for name in ("turtle.service", "turtle.socket"):
        text = (CONF / name).read_text(encoding="utf-8").replace("/usr/local/bin/turtle", str(binary))
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.skipif(not ANALYZE, reason="systemd-analyze is not installed")
def test_the_units_are_right(units):
    command = [ANALYZE, "verify", "--man=no", str(units / "turtle.service"), str(units / "turtle.socket")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    # It reads the system's own units as well, which are none of ours.
    assert not re.search(r"turtle\.(service|socket)", result.stdout + result.stderr)
    assert result.returncode == 0, result.stderr


@pytest.mark.skipif(not ANALYZE, reason="systemd-analyze is not installed")
def test_the_service_may_do_little(units):
    command = [ANALYZE, "security", "--offline=true", "--no-pager", "--threshold=20", str(units / "turtle.service")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout  # 2.0 of 10 at most, "OK"


def test_rotated_logs_are_opened_again(units):
    """What no logrotate reads here, we do: each word is one that it knows, and the signal is the right one."""
    text = (CONF / "turtle.logrotate").read_text(encoding="utf-8")
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]
    assert lines[0].endswith("{") and lines[-1] == "}"
    script = lines[lines.index("postrotate") + 1 : lines.index("endscript")]
    assert script == ["systemctl kill -s USR1 --kill-who=main turtle.service 2>/dev/null || true"]
    words = {line.split()[0] for line in lines[1 : lines.index("postrotate")]}
    assert words <= {"daily", "rotate", "missingok", "notifempty", "compress", "delaycompress", "nocreate", "sharedscripts"}
    example = (CONF / "turtle.json.example").read_text(encoding="utf-8")
    names = re.findall(r'"(/var/log/turtle/[^"]+)"', example)
    assert len(names) > 1
    assert all(any(fnmatch.fnmatch(name, pattern) for pattern in lines[0].split()[:-1]) for name in names)
    assert "USR1" in (units / "turtle.service").read_text(encoding="utf-8")


@pytest.mark.skipif(not ROTATE, reason="logrotate is not installed")
def test_the_rotation_of_logs_is_right(tmp_path):
    state = tmp_path / "state"
    command = [ROTATE, "--debug", "--state", state, CONF / "turtle.logrotate"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "error:" not in result.stderr


class Activated:
    """`turtle serve`, started by the first client of a socket that it did not open."""

    def __init__(self, *arguments, listen) -> None:
        places = [f"--listen={place}" for place in listen]
        self.process = subprocess.Popen(
            [ACTIVATE, *places, str(BINARY), "serve", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


@pytest.fixture
def activate():
    with contextlib.ExitStack() as stack:

        def activate_one(*arguments, listen):
            activated = Activated(*arguments, listen=listen)
            stack.callback(activated.close)
            return activated

        yield activate_one


def free_port() -> int:
    """systemd opens no port 0. Nobody is given this one for a while."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def connect(port: int) -> socket.socket:
    """As soon as somebody listens."""

    def attempt():
        with contextlib.suppress(ConnectionRefusedError):
            return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)

    return await_condition(attempt, f"a listener on {port}")


def ask(client) -> bytes:
    client.settimeout(PATIENCE)
    client.sendall(b"GET /style.css HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n")
    return client.makefile("rb").read()


@pytest.mark.skipif(not ACTIVATE, reason="systemd-socket-activate is not installed")
def test_the_first_client_starts_the_server_and_is_answered(activate, site, tmp_path):
    path = tmp_path / "socket"
    port = free_port()
    places = [f"127.0.0.1:{port}", path]
    turtle = activate(site, "--port", port, "--address", f"127.0.0.1,unix:{path}", listen=places)
    with connect(port) as client:
        assert b"color: green" in ask(client)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        assert b"color: green" in ask(client)
    turtle.process.send_signal(signal.SIGTERM)
    assert turtle.process.wait(PATIENCE) == 0
    assert path.exists(), "it is systemd's, and stays"


@pytest.mark.skipif(not ACTIVATE, reason="systemd-socket-activate is not installed")
def test_a_listener_that_nobody_asked_for_is_named(activate, site, tmp_path):
    path = tmp_path / "socket"
    turtle = activate(site, "--port", "0", listen=[path])
    await_condition(path.exists, "the listener")

    def has_ended():
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
        return turtle.process.poll() is not None

    await_condition(has_ended, "its end")
    said = turtle.process.stderr.read()
    assert turtle.process.returncode == 1
    assert f"listens on unix:{path}: not among the addresses to serve" in said
    assert "inherited descriptor 3" in said


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_standard_output_may_be_a_socket(site, tmp_path, name):
    """As it is under systemd, for the journal: no name can be opened."""
    ours, theirs = socket.socketpair()
    command = [str(BINARY), "serve", str(site), "--port", "0", "--access-log", name]
    with ours, subprocess.Popen(command, stdout=theirs, stderr=subprocess.PIPE, cwd=tmp_path) as process:
        try:
            theirs.close()
            ours.settimeout(PATIENCE)
            lines = ours.makefile()
            port = int(lines.readline().rstrip("/\n").rsplit(":", 1)[1])
            for number in (signal.SIGUSR1, signal.SIGTERM):
                with connect(port) as client:
                    assert b"color: green" in ask(client)
                assert "GET /style.css " in lines.readline()
                process.send_signal(number)
            assert process.wait(PATIENCE) == 0
            assert not list(tmp_path.glob("-*"))
        finally:
            process.kill()


@pytest.mark.parametrize("abstract", [False, True])
def test_the_service_manager_is_told(site, tmp_path, abstract):
    name = f"@turtle-{os.getpid()}-notify" if abstract else str(tmp_path / "notify")
    config = tmp_path / "turtle.json"
    config.write_text(f'{{"http": {{"root_path": "{site}"}}}}', encoding="utf-8")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(name.replace("@", "\0"))
        manager.settimeout(PATIENCE)
        turtle = Turtle("-f", config, environment={"NOTIFY_SOCKET": name})
        try:
            assert manager.recv(1000) == b"READY=1"
            for _ in range(2):  # right, and with a mistake
                turtle.signal(signal.SIGHUP)
                assert re.fullmatch(rb"RELOADING=1\nMONOTONIC_USEC=\d+", manager.recv(1000))
                assert manager.recv(1000) == b"READY=1"
                config.write_text("{", encoding="utf-8")
            turtle.signal(signal.SIGTERM)
            assert manager.recv(1000) == b"STOPPING=1"
            assert turtle.wait() == 0
        finally:
            turtle.close()


def test_the_service_manager_learns_of_the_successor(site, tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(PATIENCE)
        turtle = Lineage(site, environment={"NOTIFY_SOCKET": str(tmp_path / "notify")})
        try:
            assert manager.recv(1000) == b"READY=1"
            assert turtle.restart() == 0
            assert manager.recv(1000) == f"READY=1\nMAINPID={turtle.pid}".encode()
            assert turtle.stop() == 0
            assert manager.recv(1000) == b"STOPPING=1"
        finally:
            turtle.close()
