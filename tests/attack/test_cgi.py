"""Programs for CGI: what they see, what becomes of them, and what they may not do."""

import contextlib
import http.client

import channel
import pytest
import victims
from conftest import PATIENCE

PLAIN = "printf 'Content-Type: text/plain\\n\\n'\n"
# RFC 3875, section 4.1, and what a program needs to find others.
KNOWN = """
    AUTH_TYPE CONTENT_LENGTH CONTENT_TYPE GATEWAY_INTERFACE LANG PATH PATH_INFO PATH_TRANSLATED PWD
    QUERY_STRING REMOTE_ADDR REMOTE_HOST REMOTE_IDENT REMOTE_PORT REMOTE_USER REQUEST_METHOD
    REQUEST_URI SCRIPT_NAME SERVER_NAME SERVER_PORT SERVER_PROTOCOL SERVER_SOFTWARE TZ DOCUMENT_ROOT
    SHLVL OLDPWD _
""".split()
# What all web servers add for clients with TLS.
ENCRYPTED = {"HTTPS": "on"} if channel.NAME == "tls" else {}


def ask(server, name, **fields):
    with contextlib.closing(channel.HttpConnection("127.0.0.1", server.port, timeout=PATIENCE)) as client:
        client.request("GET", f"/cgi-bin/{name}", headers={"Connection": "close", **fields})
        reply = client.getresponse()
        said = reply.read().decode()
    assert reply.status == 200, said
    return said


def test_the_environment_is_made_and_not_inherited(start, site, program):
    folder = program("env", PLAIN + "exec env\n")
    server = start(site, "--cgi-dir", folder,
                   environment={"SECRET_TOKEN": "leaked", "LD_PRELOAD": "", "HTTP_PROXY": "leaked"})
    text = ask(server, "env", Proxy="evil", **{"X-Fine": "fine"})
    variables = dict(line.split("=", 1) for line in text.splitlines())
    assert "leaked" not in text and "evil" not in text
    assert "HTTP_PROXY" not in variables
    assert variables["HTTP_X_FINE"] == "fine"
    assert {name: value for name, value in variables.items() if name == "HTTPS"} == ENCRYPTED
    assert not [name for name in variables if name not in (*KNOWN, *ENCRYPTED) and not name.startswith("HTTP_")]


def test_a_program_has_three_descriptors(start, site, program):
    folder = program("fds", PLAIN + "exec ls -l /proc/self/fd\n")
    server = start(site, "--cgi-dir", folder, "--threads", "1")
    with server.connect() as other, server.connect() as reader:  # there is more to inherit than at the start
        other.sendall(b"GET / HTTP/1.1\r\n")
        reader.sendall(victims.get("/large.bin"))
        lines = [line.partition(" -> ") for line in ask(server, "fds").splitlines() if " -> " in line]
    opened = {link.split()[-1]: target for link, _, target in lines}
    assert {"0", "1", "2"} <= set(opened)
    for name, target in opened.items():
        assert name in "012" or target.startswith("/proc/"), opened  # ls has opened what it lists


def test_a_program_and_its_children_go_with_the_client(start, site, program, tmp_path):
    pids = tmp_path / "pids"
    folder = program("stays", f"sleep 1000 &\necho $$ $! > {pids}.new\nmv {pids}.new {pids}\n{PLAIN}echo begun\nwait\n")
    server = start(site, "--cgi-dir", folder)
    client = server.connect()
    client.sendall(victims.get("/cgi-bin/stays"))
    victims.await_true(pids.exists, PATIENCE, "the program runs")
    both = [int(pid) for pid in pids.read_text().split()]
    assert len(both) == 2 and all(map(victims.runs, both))
    victims.reset(client)
    victims.await_true(lambda: not any(map(victims.runs, both)), PATIENCE, "both have ended")
    victims.await_true(lambda: not victims.children(server.pid), PATIENCE, "no zombie is left")
    assert victims.is_served(server)


@pytest.mark.parametrize("reads", [True, False], ids=["read for a while", "not read"])
def test_output_without_end_ends_with_its_reader(start, site, program, tmp_path, reads):
    pid_file = tmp_path / "pid"
    folder = program("endless", f"echo $$ > {pid_file}.new\nmv {pid_file}.new {pid_file}\n{PLAIN}exec yes\n")
    server = start(site, "--cgi-dir", folder, "--write-timeout", "1", "--cgi-timeout", "3600")
    before = victims.resident_bytes(server.pid)
    client = server.connect()
    client.sendall(victims.get("/cgi-bin/endless"))
    victims.await_true(pid_file.exists, PATIENCE, "the program runs")
    pid = int(pid_file.read_text())
    if reads:
        got = 0
        while got < 4 << 20:
            got += len(client.recv(1 << 16))
        victims.reset(client)
    victims.await_true(lambda: not victims.runs(pid), PATIENCE, "the program has ended")
    victims.await_true(lambda: not victims.children(server.pid), PATIENCE, "no zombie is left")
    assert victims.resident_bytes(server.pid) - before < 32 << 20
    client.close()


def test_too_little_output_is_not_taken_for_all(start, site, program):
    folder = program("short", "printf 'Content-Type: text/plain\\nContent-Length: 10\\n\\nshort'\n")
    server = start(site, "--cgi-dir", folder)
    with pytest.raises((http.client.IncompleteRead, ConnectionError)):
        ask(server, "short")


def test_no_zombie_is_left_however_programs_end(start, site, program):
    program("fine", PLAIN + "echo fine\n")
    program("dies", "kill -9 $$\n")
    program("deaf", "exec 0<&-\n" + PLAIN)
    folder = program("orphans", "(sleep 0.1; exit) &\n" + PLAIN)
    server = start(site, "--cgi-dir", folder, "--threads", "2")
    for name in ("fine", "dies", "deaf", "orphans") * 5:
        with server.connect() as client:
            client.sendall(victims.get(f"/cgi-bin/{name}", "Connection: close"))
            assert victims.read_all(client).startswith(b"HTTP/1.1 ")
    victims.await_true(lambda: not victims.children(server.pid), PATIENCE, "no zombie is left")


def test_names_lead_to_no_other_program(start, site, program, tmp_path):
    (tmp_path / "outside").write_text("#!/bin/sh\necho 'Content-Type: text/plain\n\nOUTSIDE'\n")
    (tmp_path / "outside").chmod(0o755)
    folder = program("inside", PLAIN + "echo inside\n")
    (folder / "link").symlink_to("../outside")
    server = start(site, "--cgi-dir", folder)
    for name in ("link", "../outside", "%2e%2e/outside", "..%2foutside", "inside/../../outside", "./../outside", "%00",
                 "inside%00", "/bin/sh", "", "."):
        with server.connect() as client:
            client.sendall(victims.get(f"/cgi-bin/{name}", "Connection: close"))
            said = victims.read_all(client)
        assert said[9:12] in (b"400", b"403", b"404"), (name, said[:200])
        assert b"OUTSIDE" not in said
