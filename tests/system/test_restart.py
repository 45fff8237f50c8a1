"""A new program in the place of the old one, under load, without a request that fails."""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import stat

import pytest
from lineage import Lineage, await_condition, children_of
from load import Load
from serving import BINARY, PATIENCE


@pytest.fixture
def begin(binary):
    """Starts lineages, and ends what is left of them after the test."""
    started = []

    def begin_one(*arguments, **options):
        started.append(Lineage(*arguments, **options))
        return started[-1]

    yield begin_one
    for each in reversed(started):
        each.close()


def get(port, path="/style.css"):
    """The whole reply, of a connection of its own."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as client:
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n".encode())
        return client.makefile("rb").read()


def names_in(log: pathlib.Path) -> list[str]:
    return re.findall(r'"GET /style\.css\?(\S+) HTTP', log.read_text(encoding="utf-8"))


def test_ten_restarts_lose_no_request(begin, site, tmp_path):
    log = tmp_path / "access.log"
    turtle = begin(site, "--threads", "2", "--access-log", log)
    with Load(turtle.port) as load:
        for _ in range(10):
            assert turtle.restart() == 0
            load.await_answers()
    assert load.failures() == []
    assert turtle.stop() == 0
    answered = load.answered()
    print(f"10 restarts, {len(answered)} requests, 0 failures")
    assert sorted(names_in(log)) == sorted(answered), "each answered once, and each line written"
    assert not re.search("WARN|ERROR", turtle.said())


def configure(config, site, threads, accept):
    text = f'{{"port": 0, "worker_processes": {threads}, "accept": "{accept}", "http": {{"root_path": "{site}"}}}}'
    edit(config, text)


def listeners(port: int) -> int:
    """How many sockets listen there: proc_net_tcp(5), state 0A."""
    lines = pathlib.Path("/proc/net/tcp").read_text(encoding="utf-8").splitlines()[1:]
    rows = [line.split() for line in lines]
    return sum(row[1] == f"0100007F:{port:04X}" and row[3] == "0A" for row in rows)


def test_restarts_with_more_and_fewer_loops_lose_no_request(begin, site, tmp_path):
    config = tmp_path / "turtle.json"
    configure(config, site, 2, "per-loop")
    turtle = begin("-f", config)
    assert listeners(turtle.port) == 2
    others = [(4, "per-loop"), (1, "per-loop"), (3, "shared"), (2, "per-cpu"), (2, "per-loop"), (1, "shared")]
    with Load(turtle.port) as load:
        for threads, accept in others:
            configure(config, site, threads, accept)
            assert turtle.restart() == 0
            assert listeners(turtle.port) == 2, "a hand-over neither opens nor closes one"
            load.await_answers()
    assert load.failures() == []
    assert "was left with 2 of 4 listeners: the first loop accepts for all" in turtle.said()
    assert turtle.stop() == 0
    assert listeners(turtle.port) == 0


def test_a_reload_keeps_each_listener(begin, site, tmp_path):
    config = tmp_path / "turtle.json"
    configure(config, site, 2, "per-loop")
    turtle = begin("-f", config)
    with Load(turtle.port) as load:
        configure(config, site, 3, "shared")
        os.kill(turtle.pid, signal.SIGHUP)
        await_condition(lambda: "the settings were reloaded" in turtle.said(), "the line")
        load.await_answers()
    assert load.failures() == []
    assert listeners(turtle.port) == 2
    assert "accept is 'per-loop' until the next start, and 'shared' from then on" in turtle.said()
    assert turtle.stop() == 0


def stands_still(pid: int) -> bool:
    """Each of its threads is stopped, proc_pid_stat(5): the state stands behind the name in parentheses."""
    threads = pathlib.Path(f"/proc/{pid}/task").glob("*/stat")
    return {each.read_text(encoding="utf-8").rpartition(")")[2].split()[0] for each in threads} == {"T"}


@pytest.mark.parametrize("accept", ["shared", "per-loop"])
def test_who_waits_in_a_queue_is_answered_by_the_new_one(begin, site, tmp_path, accept):
    """The clients come while both processes stand still, so they wait in each queue; the old one goes on
    when the new one has answered them."""
    config = tmp_path / "turtle.json"
    configure(config, site, 3, "per-loop")
    program = tmp_path / "turtle"
    program.symlink_to(BINARY)
    turtle = begin("-f", config, program=program)
    configure(config, site, 2, accept)
    program.unlink()
    program.write_text(f'#!/bin/sh\nkill -STOP $$\nexec {BINARY} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    old = turtle.pid
    turtle.pid = turtle.begin()
    await_condition(lambda: stands_still(turtle.pid), "a successor that stands still")
    os.kill(old, signal.SIGSTOP)
    await_condition(lambda: stands_still(old), "the old one")
    clients = [socket.create_connection(("127.0.0.1", turtle.port), timeout=PATIENCE) for _ in range(120)]
    for client in clients:
        client.sendall(b"GET /style.css HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n")
    os.kill(turtle.pid, signal.SIGCONT)
    for client in clients:
        assert b"200 OK" in client.makefile("rb").read()
        client.close()
    os.kill(old, signal.SIGCONT)
    assert turtle.wait(old) == 0
    assert turtle.stop() == 0


def test_a_restart_is_no_reason_to_send_clients_elsewhere(begin, site):
    """Whoever asks for /readyz without a pause gets no other answer than 200, whichever process gives it."""
    turtle = begin(site, "--threads", "2", "--operations", "127.0.0.1:0")
    port = int(turtle.turtle.operations.rsplit(":", 1)[1])
    await_condition(lambda: b" 200 OK" in get(port, "/readyz"), "ready")
    with Load(port, "/readyz") as load:
        for _ in range(5):
            assert turtle.restart() == 0
            load.await_answers()
    assert load.failures() == []
    assert turtle.stop() == 0


def test_whoever_asks_for_readyz_again_and_again_has_a_last_chance(begin, site):
    """On a connection that was idle when everything else had ended."""
    turtle = begin(site, "--threads", "2", "--operations", "127.0.0.1:0")
    old = turtle.pid
    port = int(turtle.turtle.operations.rsplit(":", 1)[1])
    await_condition(lambda: b" 200 OK" in get(port, "/readyz"), "ready")
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as client:
        client.sendall(b"GET /readyz HTTP/1.1\r\nHost: t\r\n\r\n")
        assert client.recv(4096).startswith(b"HTTP/1.1 200 OK\r\n")
        turtle.pid = turtle.begin()
        await_condition(lambda: len(os.listdir(f"/proc/{old}/task")) == 2, "the end of the public server's loops")
        client.sendall(b"GET /readyz HTTP/1.1\r\nHost: t\r\n\r\n")
        reply = client.makefile("rb").read()
    assert reply.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"\r\nConnection: close\r\n" in reply
    assert turtle.wait(old) == 0
    assert turtle.stop() == 0


def test_an_exchange_goes_on_while_another_process_serves(begin, site):
    turtle = begin(site, "--threads", "1")
    old = turtle.pid
    with socket.create_connection(("127.0.0.1", turtle.port), timeout=PATIENCE) as client:
        stream = client.makefile("rb")
        client.sendall(b"GET /large.bin HTTP/1.1\r\nHost: t\r\n\r\n")
        assert stream.readline() == b"HTTP/1.1 200 OK\r\n"
        turtle.pid = turtle.begin()
        # The old one has closed its listener when only the new one has it.
        assert b"200 OK" in get(turtle.port)
        while stream.readline() != b"\r\n":
            pass
        assert len(stream.read((site / "large.bin").stat().st_size)) == (site / "large.bin").stat().st_size
    assert turtle.wait(old) == 0
    assert turtle.stop() == 0


def test_the_newly_installed_program_is_started(begin, site, tmp_path):
    """By the name by which the first was, so that a link may point to another by then."""
    first, second = tmp_path / "v1", tmp_path / "v2"
    for folder in (first, second):
        folder.mkdir()
        shutil.copy(BINARY, folder / "turtle")
    link = tmp_path / "current"
    link.symlink_to(first)
    turtle = begin(site, program=link / "turtle")
    link.unlink()
    link.symlink_to(second)
    assert turtle.restart() == 0
    assert os.readlink(f"/proc/{turtle.pid}/exe") == str(second / "turtle")
    assert turtle.stop() == 0


def test_what_the_new_one_gets(begin, site, tmp_path):
    path = tmp_path / "socket"
    turtle = begin(site, "--address", f"unix:{path},127.0.0.1")
    before = os.stat(path).st_ino
    for _ in range(2):
        assert turtle.restart() == 0
        environment = pathlib.Path(f"/proc/{turtle.pid}/environ").read_bytes().split(b"\0")
        assert f"LISTEN_PID={turtle.pid}".encode() in environment
        assert b"LISTEN_FDS=2" in environment
        assert os.stat(path).st_ino == before, "the file of a listener that is handed over stays"
        status = pathlib.Path(f"/proc/{turtle.pid}/status")
        await_condition(lambda: re.search(r"^SigBlk:\s*0+$", status.read_text(encoding="utf-8"), re.MULTILINE), "signals")
        # Nothing came along but what was handed over: stdin to stderr, two listeners, the pipe.
        links = [os.readlink(each) for each in pathlib.Path(f"/proc/{turtle.pid}/fd").iterdir()]
        assert len([link for link in links if link.startswith("socket:")]) == 2, links
    assert turtle.stop() == 0
    assert not path.exists()


def edit(path: pathlib.Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("fault", ["configuration", "program", "no program"])
def test_a_new_one_that_fails_changes_nothing(begin, site, tmp_path, fault):
    program, config = tmp_path / "turtle", tmp_path / "turtle.json"
    shutil.copy(BINARY, program)
    good = f'{{"http": {{"root_path": "{site}"}}}}'
    edit(config, good)
    turtle = begin("-f", config, program=program)
    if fault == "configuration":
        edit(config, "{")
    else:
        program.rename(tmp_path / "elsewhere")
    if fault == "program":
        edit(program, "#!/bin/sh\nexit 3\n")
        program.chmod(0o755)
    os.kill(turtle.pid, signal.SIGUSR2)
    expected = {"configuration": "ended with code 2", "program": "ended with code 3", "no program": "No such file"}
    await_condition(lambda: expected[fault] in turtle.said(), expected[fault])
    assert "this process continues to serve" in turtle.said()
    if fault == "configuration":
        assert re.search(r"hand-over: .* It said: turtle: .*turtle\.json:1:2: ", turtle.said())
    assert children_of(turtle.pid) == [], "nobody is left, not even a zombie"
    assert b"200 OK" in get(turtle.port)
    # Put right, it may be tried again.
    edit(config, good)
    program.unlink(missing_ok=True)
    shutil.copy(BINARY, program)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    assert turtle.restart() == 0
    assert b"200 OK" in get(turtle.port)
    assert turtle.stop() == 0


def test_signals_that_come_too_early_do_not_end_the_new_one(begin, site, tmp_path):
    """Whoever rotates the logs of both, or asks twice by name, may meet it before it has begun."""
    program, config = tmp_path / "turtle", tmp_path / "turtle.json"
    shutil.copy(BINARY, program)
    edit(config, json.dumps({"http": {"root_path": str(site)}}))
    turtle = begin("-f", config, program=program)
    program.unlink()
    edit(program, f'#!/bin/sh\nkill -USR1 $$; kill -USR2 $$; kill -HUP $$\nexec "{BINARY}" "$@"\n')
    program.chmod(0o755)
    assert turtle.restart() == 0
    assert b"200 OK" in get(turtle.port)
    assert turtle.stop() == 0


def test_nobody_has_to_read_what_the_new_one_says(begin, site):
    """As behind `turtle | head -1`: the pipe that it inherits has no reader any more."""
    turtle = begin(site)
    turtle.turtle.process.stdout.close()
    assert turtle.restart() == 0
    assert b"200 OK" in get(turtle.port)
    assert turtle.stop() == 0


def test_a_new_one_that_fails_leaves_the_file_of_a_path(begin, site, tmp_path):
    """It has the listener already when it finds that something else is taken."""
    path, config = tmp_path / "socket", tmp_path / "turtle.json"
    settings = {"http": {"root_path": str(site)}, "address": f"unix:{path},127.0.0.1"}
    edit(config, json.dumps(settings))
    turtle = begin("-f", config)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        edit(config, json.dumps({**settings, "operations": {"address": place}}))
        os.kill(turtle.pid, signal.SIGUSR2)
        await_condition(lambda: "this process continues to serve" in turtle.said(), "the failure")
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
    assert turtle.restart() == 0
    assert turtle.stop() == 0
    assert not path.exists(), "it is the last one's"


def test_a_second_signal_meanwhile_is_only_told(begin, site, tmp_path):
    program = tmp_path / "turtle"
    shutil.copy(BINARY, program)
    turtle = begin(site, program=program)
    program.unlink()
    edit(program, "#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    successor = turtle.begin()
    os.kill(turtle.pid, signal.SIGUSR2)
    await_condition(lambda: "a hand-over is under way" in turtle.said(), "the line")
    assert children_of(turtle.pid) == [successor]
    # The end of the old one is the end of one that is not ready.
    assert turtle.stop() == 0
    await_condition(lambda: not pathlib.Path(f"/proc/{successor}").exists(), "its end")
    turtle.alive.discard(successor)


def test_a_reload_meanwhile_reaches_the_new_one(begin, site, tmp_path):
    """It may have read its files before they changed, and a service manager still signals the old one."""
    program, config, gate = tmp_path / "turtle", tmp_path / "turtle.json", tmp_path / "gate"
    shutil.copy(BINARY, program)
    edit(config, json.dumps({"http": {"root_path": str(site)}}))
    os.mkfifo(gate)
    turtle = begin("-f", config, program=program)
    program.unlink()
    edit(program, f'#!/bin/sh\nread line < "{gate}"\nexec "{BINARY}" "$@"\n')
    program.chmod(0o755)
    old, turtle.pid = turtle.pid, turtle.begin()
    os.kill(old, signal.SIGHUP)
    reloads = lambda: turtle.said().count("the settings were reloaded")  # noqa: E731
    await_condition(lambda: reloads() == 1, "the reload of the old one")
    gate.write_text("\n", encoding="utf-8")
    assert turtle.wait(old) == 0
    await_condition(lambda: reloads() == 2, "the reload of the new one")
    assert turtle.stop() == 0


def test_a_term_under_load(begin, site):
    """Clients that heed `Connection: close` and go elsewhere lose nothing."""
    old = begin(site, "--threads", "2", "--drain-time", "2")
    with Load(old.port) as load:
        os.kill(old.pid, signal.SIGTERM)
        # It still lets clients in, and sends each away after its answer.
        await_condition(lambda: b"\r\nConnection: close\r\n" in head_of_reply(old.port), "the drain")
        load.await_answers()
        load.over.set()
    assert load.failures() == []
    assert old.wait(old.pid) == 0


def head_of_reply(port) -> bytes:
    """Of a client who would keep the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as client:
        client.sendall(b"GET /style.css HTTP/1.1\r\nHost: t\r\n\r\n")
        return b"".join(iter(client.makefile("rb").readline, b"\r\n"))


def test_the_log_can_roll_while_two_write(begin, site, tmp_path):
    log = tmp_path / "access.log"
    turtle = begin(site, "--access-log", log, "--log-roll-size", "8K")
    with Load(turtle.port) as load:
        for _ in range(3):
            assert turtle.restart() == 0
            load.await_answers(20)
    assert turtle.stop() == 0
    assert load.failures() == []
    files = sorted(tmp_path.glob("access*.log"))
    assert len(files) > 3
    lines = [name for file in files for name in names_in(file)]
    assert sorted(lines) == sorted(load.answered())


def is_refused(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE).close()
    except ConnectionError:
        return True
    return False


def test_a_signal_on_the_way_out_is_only_told(begin, site):
    turtle = begin(site)
    with socket.create_connection(("127.0.0.1", turtle.port), timeout=PATIENCE) as client:  # keeps it there
        os.kill(turtle.pid, signal.SIGTERM)
        await_condition(lambda: is_refused(turtle.port), "a listener that is closed")
        os.kill(turtle.pid, signal.SIGUSR2)
        await_condition(lambda: "this process is about to end" in turtle.said(), "the line")
        client.sendall(b"GET /style.css HTTP/1.1\r\nHost: t\r\n\r\n")
        assert b"200 OK" in client.makefile("rb").read(), "connected before, it has its last chance"
    assert turtle.wait(turtle.pid) == 0
