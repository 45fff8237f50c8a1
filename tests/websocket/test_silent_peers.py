"""Peers that are gone without a word: the server pings them, and closes when no byte comes back."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys

import pytest
from lineage import await_condition
from serving import PATIENCE
from websocket_client import CLOSE, PING, PONG, TEXT, Ended, Frame, frame

SUPPORT = pathlib.Path(__file__).parents[1] / "support"
QUICK = ("--ping-interval", "200", "--pong-timeout", "1000")
# Pongs as long as it runs. The arguments: a port.
ANSWERING = """
import sys
sys.path.insert(0, sys.argv[2])
import websocket_client
client = websocket_client.Client(int(sys.argv[1]))
print("connected", flush=True)
try:
    client.message()
except ConnectionError:
    print("ended", flush=True)
"""
OWN_NETWORK = ("unshare", "--user", "--map-root-user", "--net")
CAN_HAVE_OWN_NETWORK = subprocess.run([*OWN_NETWORK, "true"], capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def answering(server, *prefix):
    """Runs a client in a process of its own; for a `with`."""
    command = [*prefix, sys.executable, "-B", "-c", ANSWERING, str(server.port), str(SUPPORT)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "connected\n"
            yield process
        finally:
            process.kill()


def test_one_that_never_answers_is_closed_and_one_that_does_is_not(start, connect):
    server = start(*QUICK)
    with answering(server):
        silent = connect(server)
        assert silent.receive() == Frame(PING, b"")
        with pytest.raises(Ended):
            silent.receive()
        server.await_closed(1006)
        assert server.counts()["open"] == 1


def test_any_byte_is_an_answer(start, connect):
    """Even a part of a frame. The other one, which sends nothing, ends first."""
    server = start(*QUICK)
    talking, silent = connect(server), connect(server)
    whole = frame(TEXT, b"a text that comes one byte at a time, one for each Ping of the server")
    sent = 0
    with pytest.raises(Ended):
        while sent < len(whole) and silent.receive() == Frame(PING, b""):
            talking.send(whole[sent : sent + 1])
            sent += 1
            assert talking.receive() == Frame(PING, b"")
    server.await_closed(1006)
    talking.send(whole[sent:])
    assert talking.message() == b"a text that comes one byte at a time, one for each Ping of the server"


def test_a_process_that_is_stopped_is_closed(start):
    """Its kernel acknowledges every packet, so only the missing Pong shows that it doesn't run."""
    server = start(*QUICK)
    with answering(server) as client, answering(server):
        client.send_signal(signal.SIGSTOP)
        server.await_closed(1006)
        assert server.counts()["open"] == 1
        client.send_signal(signal.SIGCONT)
        assert client.stdout.readline() == "ended\n"


@pytest.mark.skipif(not CAN_HAVE_OWN_NETWORK, reason="no network namespaces here")
def test_a_peer_whose_network_is_gone_is_closed(start):
    """Neither a FIN nor a reset arrives, and nothing is acknowledged."""
    up = 'ip link set lo up && exec "$@"'
    server = start(*QUICK, prefix=(*OWN_NETWORK, "sh", "-c", up, "sh"))
    inside = ("nsenter", "--user", "--net", "--preserve-credentials", "--target", str(server.pid))

    def sockets() -> int:
        found = 0
        for each in pathlib.Path(f"/proc/{server.pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                found += os.readlink(each).startswith("socket:")
        return found

    with answering(server, *inside):
        open_ones = sockets()
        subprocess.run([*inside, "ip", "link", "set", "lo", "down"], check=True, timeout=PATIENCE)
        await_condition(lambda: sockets() == open_ones - 1, "the end of the connection")


def test_a_closing_that_the_client_does_not_answer_ends(start, connect):
    server = start("--close-timeout", "200")
    client = connect(server, "/close")
    client.send_frame(TEXT, b"4000")
    assert client.receive().code == 4000
    for _ in range(3):
        with contextlib.suppress(ConnectionError):
            client.send_frame(PING, b"but I am alive")
    server.await_closed(1006)
    with pytest.raises(Ended):
        client.receive()


def test_an_idle_one_is_closed_though_it_answers(start, connect):
    server = start("--ping-interval", "100", "--idle-timeout", "1000")
    client = connect(server)
    pings = 0
    while (found := client.receive()).opcode == PING:
        client.send_frame(PONG, found.payload)
        pings += 1
    assert pings > 0
    assert (found.opcode, found.code, found.reason) == (CLOSE, 1000, "idle")
    client.send_frame(CLOSE, found.payload)
    assert client.rest() == b""
    server.await_closed(1000)


def test_a_message_that_never_ends_is_refused_though_the_client_answers(start, connect):
    server = start("--ping-interval", "100", "--message-timeout", "1000")
    client = connect(server)
    client.send_frame(TEXT, b"the beginning", fin=False)
    while (found := client.receive()).opcode == PING:
        client.send_frame(PONG, found.payload)
    assert (found.opcode, found.code, found.reason) == (CLOSE, 1008, "a message is sent too slowly")
    client.send_frame(CLOSE, found.payload)
    server.await_closed(1008)
