"""System calls of one request: strace's output, and the driver against a program of known calls."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from measure import syscalls  # noqa: E402
from measure.process import Failed  # noqa: E402

LOG = """\
10 epoll_wait(3, [{events=EPOLLIN, data={u32=5}}], 64, -1) = 1
10 recvfrom(5, "x(", 16384, 0, NULL, NULL) = 64
11 epoll_wait(8,  <unfinished ...>
10 sendto(5, "x", 64, MSG_NOSIGNAL, NULL, 0) = 64
11 <... epoll_wait resumed>[], 64, -1) = -1 EINTR (Interrupted system call)
10 epoll_wait(3, 0x7ff, 64, -1)         = -1 EINTR (Interrupted system call)
10 --- SIGSTOP {si_signo=SIGSTOP, si_code=SI_USER} ---
10 --- stopped by SIGSTOP ---
10 accept4(4, NULL, NULL, SOCK_CLOEXEC) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)
10 close(5 <unfinished ...>
10 <... close resumed>)                 = 0
10 +++ exited with 0 +++
"""


def test_calls_are_counted_once_and_those_that_were_broken_off_not_at_all():
    assert syscalls.read_calls(LOG) == ["epoll_wait", "recvfrom", "sendto", "close"]


def test_what_both_runs_have_cancels_out():
    once = ["mmap", *["epoll_wait", "recvfrom", "sendto"] * 10, "munmap"]
    twice = ["mmap", *["epoll_wait", "recvfrom", "sendto"] * 20, "close"]
    calls = syscalls.difference(once, twice, 10)
    assert {name: calls[name] for name in ("epoll_wait", "recvfrom", "sendto")} == {
        "epoll_wait": 1, "recvfrom": 1, "sendto": 1,
    }  # fmt: skip
    assert "mmap" not in calls and "munmap" not in calls


ECHO = """\
#!{python} -SE
import selectors, socket, sys
listener = socket.create_server(("127.0.0.1", 0), backlog=64)
listener.setblocking(False)
poller = selectors.EpollSelector()
poller.register(listener, selectors.EVENT_READ)
print(f"listening on 127.0.0.1:{{listener.getsockname()[1]}}", flush=True)
while True:
    for key, _ in poller.select():
        if key.fileobj is listener:
            client = listener.accept()[0]
            poller.register(client, selectors.EVENT_READ)
        else:
            data = key.fileobj.recv(4096)
            if data:
                key.fileobj.sendall(data)
                {more}
            else:
                poller.unregister(key.fileobj)
                key.fileobj.close()
"""


@pytest.fixture
def echo(tmp_path):
    def make(more="pass"):
        path = tmp_path / "01/examples/echo_server"
        path.parent.mkdir(parents=True)
        path.write_text(ECHO.format(python=sys.executable, more=more))
        path.chmod(0o755)
        return syscalls.Program("01", "examples/echo_server", "echo", ("0",))

    return make


def test_a_programs_calls_are_found(echo, tmp_path):
    row = syscalls.measure(echo(), tmp_path, tmp_path, count=32)
    kept, closed = row["modes"]["keep-alive"], row["modes"]["close"]
    assert {name: kept.get(name) for name in ("epoll_wait", "recvfrom", "sendto")} == {
        "epoll_wait": 1, "recvfrom": 1, "sendto": 1,
    }  # fmt: skip
    assert {name: closed.get(name) for name in ("accept4", "recvfrom", "sendto", "close")} == {
        "accept4": 1, "recvfrom": 2, "sendto": 1, "close": 1,
    }  # fmt: skip
    assert closed["epoll_ctl"] == 2


def test_one_call_more_shows(echo, tmp_path):
    program = echo("key.fileobj.getpeername()")
    row = syscalls.measure(program, tmp_path, tmp_path, count=32)
    assert row["modes"]["keep-alive"]["getpeername"] == 1


def test_a_wrong_answer_is_no_result(echo, tmp_path):
    program = echo("key.fileobj.sendall(b'?' * len(data))")
    with pytest.raises(Failed, match="not what was sent"):
        syscalls.measure(program, tmp_path, tmp_path, count=32)


def test_a_program_that_does_not_start_is_told(tmp_path):
    path = tmp_path / "01/examples/echo_server"
    path.parent.mkdir(parents=True)
    path.write_text("#!/bin/sh\nexit 3\n")
    path.chmod(0o755)
    with pytest.raises(Failed, match="echo_server prints no"):
        syscalls.calls_of(syscalls.PROGRAMS[0], "keep-alive", tmp_path, tmp_path, 16)


def test_what_is_missing_is_told(tmp_path, monkeypatch, capsys):
    assert syscalls.main([str(tmp_path), "--only", "01"]) == 1
    assert "01/examples/echo_server is not built" in capsys.readouterr().err
    assert syscalls.main([str(tmp_path), "--only", "99"]) == 1
    assert "no program 99" in capsys.readouterr().err
    monkeypatch.setattr(syscalls.shutil, "which", lambda name: None)
    assert syscalls.main([str(tmp_path)]) == 1
    assert "strace is missing; on Debian: apt install strace" in capsys.readouterr().err


def test_every_chapter_has_a_row():
    there = {path.name[:2] for path in (ROOT / "chapters").glob("[0-9][0-9]-*")}
    rows = {each.chapter for each in syscalls.PROGRAMS}
    assert {number for number in there if number <= "15"} <= rows and "final" in rows
