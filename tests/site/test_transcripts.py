"""tools/transcripts.py on pages made for it."""

import subprocess
import sys
import textwrap
import time

import pytest
from conftest import ROOT

SERVER = """
import socket, sys
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", int(sys.argv[1])))
listener.listen()
print(f"listening on 127.0.0.1:{listener.getsockname()[1]}", flush=True)
while True:
    client, (host, port) = listener.accept()
    print(f"client {host}:{port}", flush=True)
    while data := client.recv(100):
        client.sendall(data)
    client.close()
"""

CLIENT = """
import socket, sys
server = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
for line in sys.stdin:
    server.sendall(line.encode())
    print(server.recv(100).decode(), end="", flush=True)
"""


@pytest.fixture
def book(tmp_path):
    (tmp_path / "chapters/02-x").mkdir(parents=True)
    (tmp_path / "build/02").mkdir(parents=True)
    (tmp_path / "build/ch01").mkdir(parents=True)
    (tmp_path / "build/02/server.py").write_text(SERVER)
    (tmp_path / "build/02/client.py").write_text(CLIENT)
    return tmp_path


def run(book, action, page=None):
    path = book / "chapters/02-x/README.md"
    if page is not None:
        path.write_text(textwrap.dedent(page))
    done = subprocess.run(
        [sys.executable, ROOT / "tools/transcripts.py", action, "02", "--root", book, "--build", book / "build"],
        capture_output=True, text=True, timeout=60, check=False,
    )
    return done.returncode, done.stdout + done.stderr, path.read_text()


def test_output_is_written_and_then_checked(book):
    page = """\
        # 02 X

        <!-- run: -->
        ```console
        $ echo one; echo two >&2
        old
        $ printf three \\
            | tr a-z A-Z
        ```
        after
        """
    status, said, text = run(book, "check", page)
    assert status == 1 and "-old" in said and "+one" in said
    status, _, text = run(book, "update")
    assert status == 0
    assert "$ echo one; echo two >&2\none\ntwo\n$ printf three \\\n    | tr a-z A-Z\nTHREE\n```\nafter\n" in text
    assert run(book, "check")[0] == 0


def test_terminals_ports_and_typing(book):
    page = f"""\
        <!-- run: terminal=server stays -->
        ```console
        $ {sys.executable} server.py 20080
        ```
        <!-- run: terminal=alice stays
        > hello
        < hello
        -->
        ```console
        $ {sys.executable} client.py 20080
        ```
        <!-- run: terminal=bob hangs
        > anybody?
        -->
        ```console
        $ {sys.executable} client.py 20080
        ```
        <!-- run: terminal=alice
        > bye
        < bye
        ^D
        s/bye$/BYE/
        -->
        ```console
        ```
        <!-- run: terminal=bob stays
        < anybody
        -->
        ```console
        ```
        <!-- run: terminal=server stays
        < :\\d+\\nclient
        -->
        ```console
        ```
        """
    status, said, text = run(book, "update", page)
    assert status == 0, said
    blocks = [block.split("```")[0].splitlines() for block in text.split("```console\n")[1:]]
    assert blocks[0][1:] == ["listening on 127.0.0.1:20080"]
    assert blocks[1][1:] == ["hello", "hello"]
    assert blocks[2][1:] == ["anybody?"]
    assert blocks[3] == ["BYE", "BYE"]
    assert blocks[4] == ["anybody?"]
    assert blocks[5] == ["client 127.0.0.1:54321", "client 127.0.0.1:54322"]
    assert run(book, "check")[0] == 0


def test_background_programs_are_ended(book):
    page = f"""\
        <!-- run -->
        ```console
        $ {sys.executable} server.py 20081 &
        $ echo hi | {sys.executable} client.py 20081
        $ kill $!
        $ {sys.executable} server.py 20082 &
        ```
        """
    status, said, text = run(book, "update", page)
    assert status == 0, said
    assert "20081\n$ echo hi" in text and "\nhi\n$ kill" in text
    assert "listening on 127.0.0.1:20082\n```" in text
    left = subprocess.run(["pgrep", "-f", str(book)], capture_output=True, text=True, check=False).stdout
    assert left == ""


@pytest.mark.parametrize(
    ("options", "command", "said"),
    [
        ("timeout=0.5", "sleep 60", "has not ended within 0.5 s"),
        ("", "exit 3", "status 3, not 0"),
        ("status=2", "exit 3", "status 3, not 2"),
        ("hangs", "true", "should hang, but has ended"),
        ("chapter=07", "true", "build the chapter first"),
        ("colour=red", "true", "unknown option"),
        ("stays timeout=0.5", "sleep 60", "prints nothing"),
        ("\n< never", "echo always", "no `never`"),
        ("\nhello", "cat", "is no `> type`"),
    ],
)
def test_what_goes_wrong_is_said_and_the_page_left_alone(book, options, command, said):
    started = time.monotonic()
    page = f"<!-- run: {options}\n-->\n```console\n$ {command}\nold\n```\n"
    status, output, text = run(book, "update", page)
    assert status == 1 and said in output and "README.md:1" in output
    assert text == page
    assert time.monotonic() - started < 30


def test_other_folders_and_statuses(book):
    page = """\
        <!-- run: chapter=01 status=3 -->
        ```console
        $ basename $PWD; exit 3
        ```
        <!-- run: dir=root -->
        ```console
        $ ls -d tools/transcripts.py
        $ cd build/02 && ls server.py
        ```
        """
    status, said, text = run(book, "update", page)
    assert status == 0, said
    assert "exit 3\nch01\n" in text
    assert "transcripts.py\ntools/transcripts.py\n" in text
    assert "ls server.py\nserver.py\n" in text


def test_a_program_may_close_its_terminal_before_it_ends(book):
    page = """\
        <!-- run: -->
        ```console
        $ echo done; exec <&- >&- 2>&-; sleep 0.3
        ```
        """
    status, said, text = run(book, "update", page)
    assert status == 0, said
    assert "sleep 0.3\ndone\n" in text


def test_times_are_made_constant(book):
    page = """\
        <!-- run: -->
        ```console
        $ echo "[       OK ] A.B (17 ms)"; echo "Total Test time (real) =   1.23 sec"
        ```
        """
    text = run(book, "update", page)[2]
    assert "(0 ms)\nTotal Test time (real) = 0.00 sec\n" in text


@pytest.mark.parametrize("compiled_as", ["tree", "build/02/tree", "build/ch02/tree"])
def test_a_source_is_named_from_its_tree_on(book, compiled_as):
    page = f"<!-- run: -->\n```console\n$ echo {compiled_as}/tests/socket_test.cpp:48: Failure\n```\n"
    text = run(book, "update", page)[2]
    assert "\ntree/tests/socket_test.cpp:48: Failure\n" in text


def test_a_program_whose_reader_goes_ends_silently_as_in_a_shell(book):
    page = "<!-- run: -->\n```console\n$ yes | head -n 1; echo ${PIPESTATUS[0]}\n```\n"
    status, said, text = run(book, "update", page)
    assert status == 0, said
    assert "\ny\n141\n" in text


def test_blocks_are_counted(book):
    page = "<!-- run: -->\n```console\n$ true\n```\n\n```console\n$ sudo true\n```\n"
    status, said, _ = run(book, "list", page)
    assert status == 0 and "1 run    1 only shown" in said


def test_the_page_of_the_cookbook_has_no_number(book):
    (book / "docs").mkdir()
    (book / "build/cookbook").mkdir()
    page = book / "docs/your-own-server.md"
    page.write_text("<!-- run -->\n```console\n$ basename $PWD; echo 20099\n```\n")
    command = [sys.executable, ROOT / "tools/transcripts.py", "update", "cookbook"]
    command += ["--root", book, "--build", book / "build"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert page.read_text().endswith("echo 20099\ncookbook\n20099\n```\n")


def test_the_page_about_deployment_has_its_own_directory_and_finds_the_program(book):
    (book / "docs/deployment").mkdir(parents=True)
    (book / "docs/deployment/site.conf").write_text("x\n")
    (book / "build/final").mkdir()
    program = book / "build/final/turtle"
    program.write_text("#!/bin/sh\necho slow and steady in $PWD\n")
    program.chmod(0o755)
    page = book / "docs/deployment.md"
    page.write_text("<!-- run -->\n```console\n$ ls; touch mine; turtle\n$ ls -1\n```\n")
    command = [sys.executable, ROOT / "tools/transcripts.py", "update", "deployment"]
    command += ["--root", book, "--build", book / "build"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "turtle\nsite.conf\nslow and steady in ~\n$ ls -1\nmine\nsite.conf\n```" in page.read_text()
    assert not (book / "docs/deployment/mine").exists()
