"""Behind HAProxy: three servers are restarted one after the other, and no client notices."""

import contextlib
import csv
import os
import shutil
import signal
import socket
import subprocess
import sys

import pytest
from lineage import await_condition
from load import Load
from serving import PATIENCE, Turtle

HAPROXY = shutil.which("haproxy", path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")


def operations_port(server: Turtle) -> int:
    return int(server.operations.rsplit(":", 1)[1])


def configuration(listener: int, stats, servers, more: str = "") -> str:
    """@param listener a descriptor that HAProxy is given, and servers by name"""
    lines = [f"server {name} 127.0.0.1:{each.port} check port {operations_port(each)}" for name, each in servers.items()]
    return f"""
global
    stats socket {stats}
defaults
    mode http
    timeout connect 2s
    timeout client 20s
    timeout server 20s
    retries 3
    option redispatch 1
    retry-on conn-failure empty-response
frontend site
    bind fd@{listener}
    default_backend turtles
    {more}
backend turtles
    balance roundrobin
    option httpchk GET /readyz
    http-check expect status 200
    http-request disable-l7-retry if !METH_GET !METH_HEAD
    default-server inter 100ms fall 1 rise 1 pool-purge-delay 500ms
    {chr(10).join(lines)}
"""


class HaProxy:
    """A proxy before some servers, on a port of the system's choice."""

    def __init__(self, folder, servers, more: str = "") -> None:
        """@param more a line of the frontend"""
        self.stats = folder / "stats"
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.port = listener.getsockname()[1]
            path = folder / "haproxy.cfg"
            path.write_text(configuration(listener.fileno(), self.stats, servers, more), encoding="utf-8")
            self.process = subprocess.Popen(
                [HAPROXY, "-db", "-f", str(path)],
                pass_fds=[listener.fileno()],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

    def status(self) -> dict[str, str]:
        """Of each server: UP or DOWN, after a first check."""
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as client:
            client.settimeout(PATIENCE)
            client.connect(str(self.stats))
            client.sendall(b"show stat\n")
            rows = csv.DictReader(client.makefile("r", encoding="utf-8").read().lstrip("# ").splitlines())
            return {row["svname"]: row["status"] for row in rows if row["check_status"].startswith("L7")
                    or row["status"] == "DOWN"}
        return {}

    def await_up(self, *names) -> None:
        assert self.process.poll() is None, "haproxy does not run"
        await_condition(lambda: all(self.status().get(name) == "UP" for name in names), f"{names} up")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


def test_a_rolling_restart_of_three_servers(site, tmp_path):
    assert HAPROXY, "haproxy is needed: apt-get install haproxy"
    arguments = (site, "--threads", "1", "--drain-time", "1")
    with contextlib.ExitStack() as stack:
        servers = {}

        def start(name, port=0, operations=0):
            servers[name] = Turtle(*arguments, "--operations", f"127.0.0.1:{operations}", port=port)
            stack.callback(servers[name].close)

        for name in ("one", "two", "three"):
            start(name)
        proxy = HaProxy(tmp_path, servers)
        stack.callback(proxy.close)
        proxy.await_up(*servers)
        with Load(proxy.port) as load:
            for name, old in list(servers.items()):
                old.signal(signal.SIGTERM)
                assert old.wait() == 0
                load.await_answers()  # of the two others
                start(name, old.port, operations_port(old))
                proxy.await_up(*servers)
                load.await_answers()
        assert load.failures() == []
        print(f"3 servers restarted behind HAProxy, {len(load.answered())} requests, every response 200")
        for each in servers.values():
            assert each.stop()[0] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="127.0.0.2 is not this machine")
def test_a_field_that_haproxy_appends_names_the_client(site, tmp_path):
    """HAProxy appends an X-Forwarded-For after the client's own."""
    assert HAPROXY, "haproxy is needed: apt-get install haproxy"
    log = tmp_path / "access.log"
    with contextlib.ExitStack() as stack:
        turtle = Turtle(site, "--operations", "127.0.0.1:0", "--trusted-proxies", "127.0.0.1", "--access-log", log)
        stack.callback(turtle.close)
        proxy = HaProxy(tmp_path, {"one": turtle}, "option forwardfor")
        stack.callback(proxy.close)
        proxy.await_up("one")
        for forged in ("192.0.2.7", "127.0.0.1", "\"", ""):
            with socket.create_connection(("127.0.0.1", proxy.port), PATIENCE, ("127.0.0.2", 0)) as client:
                client.sendall(b"GET / HTTP/1.1\r\nHost: t\r\nConnection: close\r\n"
                               b"X-Forwarded-For: " + forged.encode() + b"\r\n\r\n")
                assert client.makefile("rb").read().startswith(b"HTTP/1.1 200 ")
        assert turtle.stop()[0] == 0
    assert [line.split()[0] for line in log.read_text().splitlines()] == ["127.0.0.2"] * 4
