"""Servers to be attacked; which program that is, TURTLE_BINARY says."""

import contextlib
import pathlib
import sys

import pytest

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1] / "support")]

import channel  # noqa: E402
import serving  # noqa: E402

collect_ignore = [] if channel.NAME == "tls" else ["test_half_handshakes.py"]
if channel.NAME == "rot13":  # websocket_room doesn't know it
    collect_ignore.append("test_websocket.py")

PATIENCE = 60.0  # seconds that anything may take that has to happen: the machine may be busy


@pytest.fixture(scope="session", autouse=True)
def binary():
    assert serving.BINARY.is_file(), f"{serving.BINARY} is not there: build final, or set TURTLE_BINARY"


@pytest.fixture
def start():
    """Starts servers; each must still end well after the test."""
    with contextlib.ExitStack() as stack:
        servers = []

        def start_one(*arguments, **options):
            server = serving.Turtle(*arguments, patience=PATIENCE, **options)
            stack.callback(server.close)
            servers.append(server)
            return server

        yield start_one
        for server in servers:
            code, said = server.stop()
            assert code == 0, said


@pytest.fixture
def site(tmp_path):
    """A small site."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "index.html").write_text("<h1>home</h1>\n")
    (folder / "canary.txt").write_text("canary\n")
    with open(folder / "large.bin", "wb") as large:
        large.truncate(64 << 20)
    return folder


@pytest.fixture
def program(tmp_path):
    """Writes a shell script into a folder of programs; the folder."""
    folder = tmp_path / "programs"
    folder.mkdir()

    def write(name, text):
        path = folder / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return folder

    return write
