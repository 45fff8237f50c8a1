"""One `turtle serve` for a table of rows: their site, their programs, their entity tag."""

import pathlib
import re
import time

import fixtures
import runner
import serving


class RowServer(serving.Turtle):
    """A server of fixtures.py, made in `folder`, and the entity tag of its /file.txt."""

    def __init__(self, folder: pathlib.Path, rows: list, *arguments):
        self.site = fixtures.make_site(folder)
        programs = fixtures.make_programs(folder, rows)
        super().__init__("--threads", "2", "--max-body", "1M", "--dot-files", "on", "--cgi-dir", programs, *arguments, self.site)
        self.etag = self._etag()

    def _etag(self):
        """A new file has a weak tag for some milliseconds; the rows need a strong one."""
        end = time.monotonic() + runner.PATIENCE
        while True:
            request = b"HEAD /file.txt HTTP/1.1\r\nHost: turtle\r\nConnection: close\r\nRange: none\r\n\r\n"
            answer = runner.run(self.port, {0: ([request], False)})[0]
            etag = re.search(rb'ETag: ((?:W/)?"[^"]*")', answer)
            assert etag, answer
            if not etag[1].startswith(b"W/"):
                return etag[1].decode()
            assert time.monotonic() < end, "the tag stays weak"


def answers_to(server: RowServer, rows: list) -> dict:
    """Returns the responses to the rows, row.id -> bytes or the error."""
    return runner.run(server.port, {row.id: (runner.pieces_of(row, server.etag), row.ends) for row in rows})


def explain(row, fault) -> str:
    """Returns why a row has failed, for people."""
    sent = row.sent if len(row.sent) < 600 else row.sent[:300] + " … " + row.sent[-100:]
    return f"RFC {row.section}, {row.level}: {row.sentence}\n{fault}\nsent: {sent!r}"
