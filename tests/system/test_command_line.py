"""What `turtle` says to whoever starts it."""

import json
import os
import re
import socket
import subprocess

import pytest


def run(binary, *arguments):
    return subprocess.run(
        [binary, *map(str, arguments)], capture_output=True, text=True, timeout=20, check=False
    )


def test_help_names_every_option(binary):
    done = run(binary, "serve", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    for option in ("DIR", "--port", "--address", "--threads", "--cgi-dir", "--cache-size"):
        assert option in done.stdout
    assert "serve" in run(binary, "--help").stdout


@pytest.mark.parametrize("arguments", [["--help"], ["serve", "--help"]])
def test_help_names_the_signals(binary, arguments):
    for number in ("SIGHUP", "SIGUSR1", "SIGUSR2", "SIGTERM", "SIGINT"):
        assert number in run(binary, *arguments).stdout


def test_version(binary):
    done = run(binary, "--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"turtle \d+\.\d+\.\d+\n", done.stdout)


@pytest.mark.parametrize(
    "arguments, named",
    [
        ([], "serve"),
        (["serve"], "no directory to serve: name one, such as turtle serve ."),
        (["serve", ".", "--user", "no such user"], "user: 'no such user': there is no such user"),
        (["serve", "--port", "99999"], "99999"),
        (["serve", "--prot", "80"], "did you mean --port?"),
        (["srve"], "did you mean serve?"),
        (["-f", "/no/such/file"], "/no/such/file"),
        (["serve", "/no/such/folder"], "/no/such/folder"),
        (["serve", "--cache-size", "much"], "much"),
        (["serve", "--cgi-dir", "/no/programs"], "/no/programs"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(binary, arguments, named):
    done = run(binary, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("turtle: ") and done.stderr.count("\n") == 1, done.stderr
    assert named in done.stderr


def test_an_address_that_is_none_is_found_at_the_start(binary):
    done = run(binary, "serve", ".", "--address", "no such host")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no such host" in done.stderr and done.stderr.count("\n") == 1


# Root must name a user, if other machines can reach it.
OURSELVES = {"user": str(os.geteuid()), "group": str(os.getegid())}


@pytest.mark.parametrize(
    "settings, key",
    [
        ({"address": "1.2.3"}, "address"),
        ({"address": ["127.0.0.1", "127.0.0.1"]}, "address"),
        ({"address": ["0.0.0.0", "127.0.0.1"], **OURSELVES}, "address"),
        ({"address": "unix:/no/such/folder/socket"}, "address"),
        ({"log": {"file": "/no/such/folder/turtle.log"}}, "log.file"),
        ({"access_log": {"file": "/no/such/folder/access.log"}}, "access_log.file"),
        ({"operations": {"address": "127.0.0.1:4507"}}, "operations.address"),
        ({"http": {"root_path": "/\0tmp"}}, "http.root_path"),
        ({"user": "no such user"}, "user"),
        ({"user": "root", "group": "no such group"}, "group"),
        ({"pid_file": "/no/such/folder/turtle.pid"}, "pid_file"),
    ],
)
def test_what_can_not_be_served_is_found_by_a_check(binary, tmp_path, settings, key):
    config = tmp_path / "turtle.json"
    config.write_text(json.dumps({"http": {"root_path": str(tmp_path)}, "port": 4507, **settings}), encoding="utf-8")
    done = run(binary, "-t", "-f", config)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"turtle: {config}: {key}: ") and done.stderr.count("\n") == 1, done.stderr


def test_a_check_leaves_a_running_server_alone(binary, start, site, tmp_path):
    log, path = tmp_path / "turtle.log", tmp_path / "socket"
    config = tmp_path / "turtle.json"
    settings = {"http": {"root_path": str(site)}, "address": [f"unix:{path}", "127.0.0.1"]}
    settings |= {"log": {"file": str(log)}, "access_log": {"file": str(tmp_path / "access.log")}}
    config.write_text(json.dumps({"port": 0, **settings}), encoding="utf-8")
    server = start("-f", config)
    config.write_text(json.dumps({"port": server.port, **settings}), encoding="utf-8")
    before = {file.name: (file.stat().st_ino, file.stat().st_mtime_ns) for file in tmp_path.iterdir()}
    assert run(binary, "-t", "-f", config).stdout == f"{config} can be served\n"
    assert before == {file.name: (file.stat().st_ino, file.stat().st_mtime_ns) for file in tmp_path.iterdir()}
    with server.connect() as client:
        client.sendall(b"GET /style.css HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n")
        assert client.makefile("rb").read().endswith(b"body { color: green }\n")
    server.stop()


def test_a_port_in_use_is_one_line_and_exit_code_1(binary, turtle):
    done = run(binary, "serve", ".", "--port", turtle.port)
    assert (done.returncode, done.stdout) == (1, "")
    where = rf"(bind|listen) 127\.0\.0\.1:{turtle.port}"
    assert re.fullmatch(rf"turtle: {where}: Address already in use\n", done.stderr), done.stderr


def test_a_port_of_its_own_choice_is_printed(start, site):
    first, second = start(site), start(site)
    assert first.line == f"Serving {site} at http://127.0.0.1:{first.port}/\n"
    assert first.port != second.port


def has_ipv6():
    """Many a container has none."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
def test_ipv6(start, site):
    server = start(site, "--address", "::1")
    assert server.url == f"http://[::1]:{server.port}"
    with server.connect("::1") as client:
        client.sendall(b"GET /style.css HTTP/1.1\r\nHost: [::1]\r\nConnection: close\r\n\r\n")
        assert client.makefile("rb").read().endswith(b"body { color: green }\n")
    assert server.stop() == (0, "")
