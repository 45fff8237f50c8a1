"""Every row of the table, against a live server. cases/ has the rows, row.py says how to read one."""

import collections
import random
import socket

import pytest

import cases
import channel
import runner
from row import HIDDEN
from row_server import explain


def parameters():
    parameters = []
    for row in cases.ROWS:
        marks = [pytest.mark.xfail(reason=row.unmet, strict=True)] if row.unmet else []
        parameters.append(pytest.param(row, id=row.id, marks=marks))
    return parameters


@pytest.mark.parametrize("row", parameters())
def test_row(row, answers, turtle):
    fault = runner.fault_of(row, answers[row.id], turtle.etag)
    if fault:
        pytest.fail(explain(row, fault), pytrace=False)


def split(whole: bytes, chosen: random.Random) -> dict:
    """Ways to send `whole` in pieces: name -> pieces."""
    ways = {}
    if len(whole) <= 600:
        ways["byte by byte"] = [whole[at : at + 1] for at in range(len(whole))]
    for at in chosen.sample(range(1, len(whole)), 2):
        ways[f"in two at {at}"] = [whole[:at], whole[at:]]
    cuts = [0, *sorted(chosen.sample(range(1, len(whole)), 5)), len(whole)]
    ways[f"at {cuts[1:-1]}"] = [whole[a:b] for a, b in zip(cuts, cuts[1:])]
    return ways


def asks_to_close(row) -> bool:
    if not row.closes or row.ends:
        return False
    last = row.replies()[-1]
    return last.minor == 0 or min(last.statuses) < 400 or "Connection: close" in row.sent


def test_pieces_make_no_difference(turtle):
    """What a row accepts does not depend on how its bytes arrive."""
    jobs, rows = {}, {}
    for row in cases.ROWS:
        whole = runner.encode(row.sent, turtle.etag)
        if row.later is not None or row.unmet or "100-continue" in row.sent.lower() or len(whole) < 10:
            continue  # who waits for 100 gets it only when the body comes later
        if asks_to_close(row) or row.cut:
            # Bytes that come when the server has closed are a reset, and rightly so: the client
            # has promised to send no more, or the reply can't be finished.
            if HIDDEN in row.sent:
                continue
        elif not row.ends:
            whole += runner.CANARY
        for name, way in split(whole, random.Random(row.id)).items():
            jobs[row.id, name] = (way, row.ends)
            rows[row.id, name] = row
    answers = runner.run(turtle.port, jobs)
    faults = {key: runner.fault_of(rows[key], answers[key], turtle.etag) for key in jobs}
    assert not {key: str(fault) for key, fault in faults.items() if fault}


# The begin and the end of what is on the wire.
ON_THE_WIRE = {
    "": (b"HTTP/1.1 200 ", b"\r\n\r\ncanary\n"),
    "rot13": (b"UGGC/1.1 200 ", b"\r\n\r\npnanel\n"),
}


def ask_on_the_wire(turtle) -> bytes:
    """What a client gets who knows of no TLS."""
    said = b""
    with socket.create_connection(("127.0.0.1", turtle.port), timeout=runner.PATIENCE) as wire:
        wire.sendall(channel.on_the_wire(runner.CANARY))
        while data := wire.recv(1 << 16):
            said += data
    return said


def test_the_wire_has_the_bytes_of_the_channel(turtle):
    """Otherwise the rows would show nothing of it."""
    said = ask_on_the_wire(turtle)
    if channel.NAME == "tls":
        assert said == b"", "without a handshake there is no answer"
    else:
        begin, end = ON_THE_WIRE[channel.NAME]
        assert said.startswith(begin) and said.endswith(end)


def test_every_row_is_named_and_sent_once():
    for what in ("id", "sentence"):
        counts = collections.Counter(getattr(row, what) for row in cases.ROWS)
        assert not [each for each, count in counts.items() if count > 1]
    sent = collections.Counter((row.sent, row.later, row.program, row.ends) for row in cases.ROWS)
    assert not [each for each, count in sent.items() if count > 1]
