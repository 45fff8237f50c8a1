"""CGI programs behind a password, and clients who are not let in."""

import base64
import os
import socket

import pytest
from lineage import await_condition
from serving import PATIENCE, DidNotServe

SECRET = "Basic " + base64.b64encode(b"ada:duck").decode()

PROGRAMS = {
    "hello": "printf 'Content-Type: text/plain\\n\\n'\necho \"hello, $REQUEST_METHOD ${PATH_INFO}\"\ncat\n",
    "environment": "printf 'Content-Type: text/plain\\n\\n'\nenv\n",
    "hang": "echo $$ > \"$(dirname \"$0\")/../pid\"\nexec sleep 1000\n",
    "crash": "kill -9 $$\n",
}


@pytest.fixture
def folder(tmp_path):
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, text in PROGRAMS.items():
        (programs / name).write_text("#!/bin/sh\n" + text)
        (programs / name).chmod(0o755)
    return programs


@pytest.fixture
def scripts(start, folder):
    return start("guarded_scripts", folder, environment={"AUTHORIZATION": SECRET})


def test_who_knows_the_password_gets_the_output(scripts):
    reply = scripts.ask("POST", "/scripts/hello/there", b"body\n", Authorization=SECRET)
    assert (reply.status, reply.body) == (200, b"hello, POST /there\nbody\n")


def test_a_blank_at_the_end_of_the_secret_is_no_part_of_it(start, folder):
    scripts = start("guarded_scripts", folder, environment={"AUTHORIZATION": SECRET + " "})
    assert scripts.ask("GET", "/scripts/hello", Authorization=SECRET).status == 200


@pytest.mark.parametrize(
    "told", [None, "", "Basic", SECRET[:-1], SECRET + "=", SECRET.lower(), "Bearer " + SECRET.split()[1]]
)
def test_nobody_else_does(scripts, told):
    fields = {} if told is None else {"Authorization": told}
    reply = scripts.ask("GET", "/scripts/hello", **fields)
    assert reply.status == 401
    assert reply.headers["WWW-Authenticate"].startswith("Basic ")
    assert b"hello" not in reply.body
    assert scripts.ask("GET", "/scripts/none", **fields).status == 401, "not even what there is"


def test_no_program_sees_the_password(scripts):
    told = scripts.ask("GET", "/scripts/environment", Authorization=SECRET).body
    assert b"REQUEST_METHOD=GET" in told
    assert SECRET.encode() not in told and SECRET.split()[1].encode() not in told


def test_a_program_that_hangs_is_ended(scripts, tmp_path):
    assert scripts.ask("GET", "/scripts/hang", Authorization=SECRET).status == 504
    pid = int((tmp_path / "pid").read_text())

    def has_gone():
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        return False

    await_condition(has_gone, "the end of the program")
    code, said = scripts.stop()
    assert code == 0 and said.endswith("ERROR cgi hang: it did not end in time\n")


def test_a_program_that_crashes_is_no_answer(scripts):
    assert scripts.ask("GET", "/scripts/crash", Authorization=SECRET).status == 502
    code, said = scripts.stop()
    assert code == 0 and said.endswith("ERROR cgi crash: the output ended before its header\n")


def test_a_network_that_is_blocked_gets_no_word(start, folder):
    scripts = start("guarded_scripts", folder, "127.0.0.8/29", environment={"AUTHORIZATION": SECRET})
    with socket.create_connection(("127.0.0.1", scripts.port), PATIENCE, ("127.0.0.9", 0)) as client:
        try:
            client.sendall(b"GET /scripts/hello HTTP/1.1\r\nHost: t\r\n\r\n")
            assert client.recv(100) == b""
        except ConnectionError:
            pass
    assert scripts.ask("GET", "/scripts/hello", Authorization=SECRET).status == 200


def test_what_is_no_network_is_named(start, folder):
    with pytest.raises(DidNotServe, match="10.0.0.1/8"):
        start("guarded_scripts", folder, "10.0.0.1/8", environment={"AUTHORIZATION": SECRET})
