"""One `turtle serve` for all rows; which program that is, TURTLE_BINARY says."""

import os
import pathlib
import re
import select
import subprocess
import sys
import time

import pytest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import cases  # noqa: E402
import fixtures  # noqa: E402
import runner  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("TURTLE_BINARY", ROOT / "build/final/turtle")).resolve()


class Turtle:
    """A server, and the entity tag of its /file.txt."""

    def __init__(self, site, programs, errors):
        arguments = ["serve", "--port", "0", "--threads", "2", "--max-body", "1M", "--cgi-dir", programs, site]
        self.process = subprocess.Popen([BINARY, *arguments], stdout=subprocess.PIPE, stderr=errors)
        ready = select.select([self.process.stdout], [], [], runner.PATIENCE)[0]
        line = self.process.stdout.readline().decode() if ready else ""
        match = re.search(r":(\d+)/$", line.strip())
        assert match, f"{BINARY} did not begin to serve: {line!r}"
        self.port = int(match[1])
        self.etag = self._etag()

    def _etag(self):
        """A file that was just made has a weak tag for some milliseconds; the rows want a strong one."""
        end = time.monotonic() + runner.PATIENCE
        while True:
            request = b"HEAD /file.txt HTTP/1.1\r\nHost: turtle\r\nConnection: close\r\nRange: none\r\n\r\n"
            answer = runner.run(self.port, {0: ([request], False)})[0]
            etag = re.search(rb'ETag: ((?:W/)?"[^"]*")', answer)
            assert etag, answer
            if not etag[1].startswith(b"W/"):
                return etag[1].decode()
            assert time.monotonic() < end, "the tag stays weak"


@pytest.fixture(scope="session")
def turtle(tmp_path_factory):
    assert BINARY.is_file(), f"{BINARY} is not there: build final, or set TURTLE_BINARY"
    folder = tmp_path_factory.mktemp("conformance")
    site = fixtures.make_site(folder)
    programs = fixtures.make_programs(folder, cases.ROWS)
    with open(folder / "stderr", "wb") as errors:
        server = Turtle(site, programs, errors)
        yield server
        server.process.terminate()
        try:
            code = server.process.wait(timeout=runner.PATIENCE)
        finally:
            server.process.kill()
    assert code == 0, (folder / "stderr").read_text()


@pytest.fixture(scope="session")
def answers(turtle, request):
    """What the server said to the rows that are tested: all are sent before the first is judged."""
    rows = [item.callspec.params["row"] for item in request.session.items if hasattr(item, "callspec")]
    jobs = {row.id: (runner.pieces_of(row, turtle.etag), row.ends) for row in rows}
    return runner.run(turtle.port, jobs)
