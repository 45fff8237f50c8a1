"""Two processes of web_chat are one room behind a proxy: a line that one gets reaches the guests of both."""

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess

import pytest
from lineage import await_condition
from serving import BINARY, PATIENCE, ROOT, Server
from websocket_client import BINARY as BYTES
from websocket_client import CLOSE, DEFLATE, TEXT, Client, Raw, upgrade

PLACES = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"
HAPROXY = shutil.which("haproxy", path=PLACES)
NGINX = shutil.which("nginx", path=PLACES)
CHAT = BINARY.parent / "examples" / "web_chat"
KEY = "only for tests"


class Chat(Server):
    def __init__(self, port: int = 0, peer: int = 0) -> None:
        pages = ROOT / "final/examples/web_chat_page"
        arguments = ["--port", str(port), "--key", KEY, "--pages", pages, *(["--peer", str(peer)] if peer else [])]
        super().__init__(CHAT, *arguments, greeting="http://")


class Guest(Client):
    """A page of the chat."""

    def __init__(self, port: int, name: str) -> None:
        super().__init__(port, f"/chat?name={name}", "Origin: http://turtle", DEFLATE)
        assert self.message() == f"{name} has come".encode()
        self.name = name
        self.process = self.response["X-Process"]

    def say(self, line: str) -> bytes:
        """Returns the line as the others get it."""
        self.send_frame(TEXT, line.encode())
        return f"{self.name}: {line}".encode()

    def hears(self, line: bytes) -> bool:
        """Drops others before it."""
        while self.message() != line:
            pass
        return True


@pytest.fixture
def chats():
    """Two processes, each with the other as its peer. The first has to know a port that the second gets later."""
    assert CHAT.is_file(), f"{CHAT} is not there: build all of final"
    with contextlib.ExitStack() as stack:

        def start(*arguments) -> Chat:
            return stack.enter_context(contextlib.closing(Chat(*arguments)))

        first = start()
        assert first.stop() == (0, "")
        second = start(0, first.port)
        chats = [start(first.port, second.port), second]
        yield chats
        running = [each for each in chats if each.process.poll() is None]
        for each in running:
            each.signal()
        for each in running:
            assert (each.wait(), each.said()) == (0, "")


def haproxy(folder: pathlib.Path, listener: socket.socket, chats: list[Chat]) -> tuple[list, str]:
    servers = "".join(f"    server {each.port} 127.0.0.1:{each.port}\n" for each in chats)
    return [HAPROXY, "-db", "-f"], f"""
defaults
    mode http
    timeout connect 5s
    timeout client 60s
    timeout server 60s
    timeout tunnel 60s
    retries 3
    option redispatch 1
frontend site
    bind fd@{listener.fileno()}
    http-response set-header X-Process %s
    default_backend chats
backend chats
    balance roundrobin
{servers}"""


def nginx(folder: pathlib.Path, listener: socket.socket, chats: list[Chat]) -> tuple[list, str]:
    servers = "".join(f"server 127.0.0.1:{each.port};" for each in chats)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    kept = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    return [NGINX, "-p", folder, "-e", "stderr", "-c"], f"""
daemon off; pid {folder}/pid; error_log stderr warn;
events {{}}
http {{
    access_log off;
    {kept}
    upstream chats {{ {servers} }}
    server {{
        listen 127.0.0.1:{listener.getsockname()[1]};
        location / {{
            proxy_pass http://chats;
            proxy_http_version 1.1;
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection "upgrade";
            proxy_set_header Host $host;
            proxy_read_timeout 60s;
            add_header X-Process $upstream_addr always;
        }}
    }}
}}
"""


@pytest.fixture(params=[
    pytest.param(haproxy, marks=pytest.mark.skipif(not HAPROXY, reason="haproxy is not installed")),
    pytest.param(nginx, marks=pytest.mark.skipif(not NGINX, reason="nginx is not installed")),
], ids=lambda proxy: proxy.__name__)  # fmt: skip
def proxy(request, chats, tmp_path):
    """The port of a proxy before both. It has inherited its listener, so nobody else gets that port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        command, text = request.param(tmp_path, listener, chats)
        config = tmp_path / "proxy.conf"
        config.write_text(text, encoding="utf-8")
        process = subprocess.Popen(
            [*map(str, command), str(config)], pass_fds=[listener.fileno()], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env={**os.environ, "NGINX": f"{listener.fileno()};"},
        )  # fmt: skip
        try:
            yield listener.getsockname()[1]
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE)


@pytest.fixture
def guests(chats, proxy):
    """One guest of each process, as soon as each process listens to the other."""
    with contextlib.ExitStack() as stack:
        ada, grace = (stack.enter_context(Guest(proxy, name)) for name in ("ada", "grace"))
        assert ada.process != grace.process
        for speaker, listener in ((ada, grace), (grace, ada)):
            listener.socket.settimeout(0.1)

            def is_heard(speaker=speaker, listener=listener) -> bool:
                speaker.say("do you hear me?")
                with contextlib.suppress(TimeoutError):
                    return listener.hears(f"{speaker.name}: do you hear me?".encode())
                return False

            await_condition(is_heard, f"a line of {speaker.name}")
            listener.socket.settimeout(PATIENCE)
        yield ada, grace


def test_a_line_reaches_the_guests_of_both_processes(guests):
    for speaker in guests:
        for number in range(50):
            line = speaker.say(f"line {number} " + "again and " * 50)
            assert all(guest.hears(line) for guest in guests)


def test_a_guest_that_leaves_is_missed_in_the_other_process(guests):
    ada, grace = guests
    ada.send_frame(CLOSE, b"\x03\xe8")
    ada.until_close()
    assert ada.rest() == b""
    assert grace.hears(b"ada has left")


def test_a_proxy_passes_control_frames_and_binary_on(guests):
    ada, _ = guests
    assert ada.is_alive()
    ada.send_frame(BYTES, bytes(range(256)))
    end = ada.until_close()[1]
    assert (end.code, end.reason) == (1003, "only text")


def test_a_process_stops_and_its_guest_finds_the_other(chats, proxy, guests):
    """The guests of the other one stay."""
    ada, grace = guests
    stopped = next(chat for chat in chats if str(chat.port) == ada.process.rpartition(":")[2])
    stopped.signal()
    end = ada.until_close()[1]
    assert (end.code, end.reason) == (1001, "the server stops")
    ada.send_frame(CLOSE, end.payload)
    assert (stopped.wait(), stopped.said()) == (0, "")
    line = grace.say("and I am still here")
    assert grace.hears(line)
    with Guest(proxy, "ada") as again:
        assert again.process.split()[-1] == grace.process  # nginx lists each that it has tried
        assert grace.hears(again.say("back again"))


def test_a_refusal_passes_too(proxy):
    with Raw(proxy) as stranger:
        stranger.send(upgrade("/chat?name=eve", "Origin: https://evil.example"))
        assert stranger.head().status == 403
    with Raw(proxy) as stranger:
        stranger.send(upgrade("/relay", "X-Relay-Key: a guess"))
        assert stranger.head().status == 403
