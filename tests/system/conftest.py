"""The real `turtle`, started on a port of the system's choice.

TURTLE_BINARY  the program; without it build/final/turtle. The example programs for CGI are beside
               it, in examples/cgi-bin.
"""

import contextlib
import os
import pathlib
import sys

import pytest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))

from serving import BINARY, Turtle  # noqa: E402


@pytest.fixture(scope="session")
def binary():
    assert BINARY.is_file(), f"{BINARY} is not there: build final, or set TURTLE_BINARY"
    return BINARY


@pytest.fixture(scope="session")
def programs(binary):
    """The folder of the example programs."""
    folder = binary.parent / "examples" / "cgi-bin"
    assert (folder / "add").is_file(), f"{folder}/add is not there: build all of final"
    return folder


@pytest.fixture
def start(binary):
    """Starts servers, and ends what is left of them after the test."""
    with contextlib.ExitStack() as stack:

        def start_one(*arguments, **options):
            turtle = Turtle(*arguments, **options)
            stack.callback(turtle.close)
            return turtle

        yield start_one


@pytest.fixture
def site(tmp_path):
    """A small site."""
    folder = tmp_path / "site"
    (folder / "docs").mkdir(parents=True)
    (folder / "index.html").write_text("<h1>home</h1>\n")
    (folder / "docs" / "index.html").write_text("<h1>docs</h1>\n")
    (folder / "style.css").write_text("body { color: green }\n")
    (folder / "large.bin").write_bytes(bytes(range(256)) * 40_000)  # 10 MB
    for path in folder.rglob("*.*"):
        os.utime(path, (1_600_000_000, 1_600_000_000))  # what has just been written has no final date
    return folder


@pytest.fixture
def turtle(start, site, programs):
    """A server of that site and of the example programs, which must end well."""
    server = start(site, "--cgi-dir", programs, "--threads", "2")
    yield server
    assert server.stop() == (0, "")
