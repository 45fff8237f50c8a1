"""The benchmark from start to end, with a made-up server and a made-up load generator."""

import contextlib
import gzip
import io
import json
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from measure import process, run, table, websocket  # noqa: E402
from measure.process import Failed, Process  # noqa: E402

# Like `turtle`, with and without TLS and gzip, with a second process that does nothing but has to be ended too.
SERVER = """\
#!{python}
import gzip, http.server, os, pathlib, signal, ssl, sys
def word(option):
    return sys.argv[sys.argv.index(option) + 1]
if "--version" in sys.argv:
    sys.exit(print("made-up 1.0"))
if {broken}:
    sys.exit("made-up: no luck")
secure = "--tls-certificate" in sys.argv
folder, port = sys.argv[2], int(word("--https-port" if secure else "--port"))
if os.fork() == 0:
    signal.pause()
class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def __init__(self, *given):
        super().__init__(*given, directory=folder)
    def do_GET(self):
        if "--compression" not in sys.argv or self.headers.get("Accept-Encoding") != "gzip":
            return super().do_GET()
        plain, beside = (pathlib.Path(folder + self.path + suffix) for suffix in ("", ".gz"))
        body = beside.read_bytes() if beside.exists() else gzip.compress(plain.read_bytes())
        self.send_response(200)
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def copyfile(self, source, target):
        target.write(source.read({limit}))
        if {dies} and "urllib" in self.headers.get("User-Agent", ""):
            os.kill(os.getpid(), signal.SIGKILL)
    def log_message(self, *given):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
if secure:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(word("--tls-certificate"), word("--tls-key"))
    server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"""

# Like turtle-bench, for a handful of requests, of which it makes many.
LOAD = """\
#!{python}
import json, pathlib, signal, ssl, sys, urllib.request
arguments, url = sys.argv[1:], sys.argv[-1]
with open({calls!r}, "a") as calls:
    print(*arguments, file=calls)
if "--idle" in arguments:
    print("READY", flush=True)
    sys.stdin.read()
    sys.exit()
if {stays}:
    signal.pause()
count = 5
tls = {{}}
if url.startswith("https"):
    kinds = {{"full": 100_000, "resumed": 0}} if "--no-resume" in arguments else {{"full": 64, "resumed": 99_936}}
    tls = {{"tls": {{"version": "TLSv1.3", "cipher": {cipher!r}, **kinds}}}}
handlers = urllib.request.ProxyHandler({{}}), urllib.request.HTTPSHandler(context=ssl._create_unverified_context())
for _ in range(count):
    try:
        urllib.request.build_opener(*handlers).open(url).read()
    except OSError:
        pass
if "--json" in arguments:
    pathlib.Path(arguments[arguments.index("--json") + 1]).write_text(json.dumps({{
        "requests": 20_000 * count, "requests_per_second": 99.0, "errors": {{"reset": 0}},
        "latency_us": {{"p50": 1, "p99": 2, "max": 3}}, **tls}}))
"""


# Like websocket_turtle, for small frames. What isn't a handshake gets a 400.
ECHO = """\
#!{python}
import socketserver, struct, sys
class Client(socketserver.StreamRequestHandler):
    def handle(self):
        head = b"".join(iter(self.rfile.readline, b"\\r\\n"))
        if b"Upgrade: websocket" not in head:
            self.wfile.write(b"HTTP/1.1 400 Bad Request\\r\\nContent-Length: 0\\r\\n\\r\\n")
            return
        self.wfile.write(b"HTTP/1.1 101 Switching Protocols\\r\\nSec-WebSocket-Accept: {accept}\\r\\n\\r\\n")
        while start := self.rfile.read(2):
            size = start[1] & 0x7F
            more = self.rfile.read({{126: 2, 127: 8}}.get(size, 0))
            size = int.from_bytes(more, "big") if more else size
            key, payload = self.rfile.read(4), self.rfile.read(size)
            plain = bytes(byte ^ key[at % 4] for at, byte in enumerate(payload))
            self.wfile.write(bytes((start[0], start[1] & 0x7F)) + more + plain[:{limit}].ljust(size, b"-"))
class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True
Server(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])), Client).serve_forever()
"""


class MadeUp:
    """A build folder with both."""

    def __init__(self, folder, broken=False, stays=False, dies=False, limit=-1, cipher=table.TLS_CIPHER):
        self.folder = folder
        self.calls = folder / "calls"
        self.write("turtle", SERVER.format(python=sys.executable, broken=broken, dies=dies, limit=limit))
        load = LOAD.format(python=sys.executable, calls=str(self.calls), stays=stays, cipher=cipher)
        self.write("turtle-bench", load)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def write_echo(self, accept=websocket.ACCEPT, limit=1 << 20):
        self.write("bench/websocket_turtle", ECHO.format(python=sys.executable, accept=accept, limit=limit))

    def command(self, *arguments, tool="bench.py"):
        return [sys.executable, ROOT / "tools" / tool, *map(str, arguments)]

    def bench(self, *arguments):
        return subprocess.run(
            self.command("--build", self.folder, *arguments), capture_output=True, text=True, timeout=120
        )

    def running(self):
        """What still runs of this folder."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    line = (entry / "cmdline").read_bytes()
                except OSError:
                    continue
                if str(self.folder / "turtle").encode() in line.split(b"\0"):
                    found.append(entry.name)
        return found


@pytest.fixture
def made_up(tmp_path):
    return MadeUp(tmp_path)


def await_condition(condition, seconds=30.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true"
        time.sleep(0.01)


def server_command(scenario, server="final"):
    (scenario,) = table.choose(scenario, table.EVERY_LOAD, "load")
    (server,) = table.choose(server, table.SERVERS, "server")
    with run.Site(ROOT / "build" / "final", "turtle-bench", 1.0, 1) as site:
        return site.command(server, scenario, 20100, site.folder)


# --- processes ---


def test_ports_are_free_and_never_the_same():
    ports = process.free_ports(21000, 21400)
    first = next(ports)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", first))
        taken.listen()
        assert not process.is_free(first)
        again = [next(process.free_ports(first, first + 50)) for _ in range(3)]
        assert first not in again
    assert next(ports) > first


def test_a_process_that_ignores_the_request_to_end_is_ended_with_its_children(tmp_path):
    ready = tmp_path / "ready"
    script = (
        "import os, signal\nsignal.signal(15, signal.SIG_IGN)\nos.fork()\n"
        f"open({str(ready)!r}, 'a').write('x')\nwhile True: signal.pause()"
    )
    with Process([sys.executable, "-c", script]) as running:
        await_condition(lambda: ready.exists() and ready.stat().st_size == 2)
        assert len(running.members()) == 2
        running.stop(patience=0.0)
        assert running.members() == []
    assert running.popen.returncode == -signal.SIGKILL


def test_the_time_of_a_child_that_has_ended_counts():
    script = (
        "import os, time\nif os.fork() == 0:\n"
        "  while time.process_time() < 0.1: pass\n  os._exit(0)\nos.wait(); print('done', flush=True); input()"
    )
    with Process([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.popen.stdout.readline() == b"done\n"
        assert process.cpu_seconds(running.members()) >= 0.08


def test_without_proc_a_process_is_ended_too(monkeypatch, tmp_path):
    monkeypatch.setattr(process, "PROC", tmp_path / "no-proc")  # as on macOS
    with Process([sys.executable, "-c", "import signal; signal.pause()"]) as running:
        assert running.members() == [running.popen.pid]
    assert running.popen.returncode == -signal.SIGTERM


def test_a_program_that_is_not_there_is_named():
    with pytest.raises(Failed, match="^/no/such/program: No such file or directory$"):
        Process(["/no/such/program"])


# --- the whole ---


def test_a_whole_run(made_up, tmp_path):
    numbers, picture = tmp_path / "result.json", tmp_path / "picture.svg"
    done = made_up.bench(
        "--seconds", "0.1", "--rounds", "2", "--only", "S1,S5", "--servers", "final,final-no-cache,floor",
        "--json", numbers, "--svg", picture,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "| server | S1 | S5 |" in done.stdout and "| final-no-cache |" in done.stdout
    assert "- final, final-no-cache: made-up 1.0" in done.stdout
    assert "- floor: not measured: not built" in done.stdout
    result = json.loads(numbers.read_text())
    # The rounds are interleaved: each server once before any is measured again.
    assert [(each["scenario"], each["round"], each["server"]) for each in result["rows"]] == [
        (scenario, number, server)
        for scenario in ("S1", "S5")
        for number in (1, 2)
        for server in ("final", "final-no-cache")
    ]
    assert all("failed" not in each and each["requests"] == 100_000 for each in result["rows"])
    assert all("idle_bytes" in each for each in result["rows"] if each["scenario"] == "S5")
    assert result["machine"]["kernel"].startswith("Linux")
    assert picture.read_text().startswith("<svg ")
    calls = made_up.calls.read_text().splitlines()
    assert any(call.startswith("-c 10000 ") and " --idle http://127.0.0.1:" in call for call in calls)
    assert any("-c 64 -t 0.1 --keep-alive --json " in call for call in calls)


def test_a_recording_has_the_table_with_the_growth(made_up, tmp_path):
    folder = tmp_path / "measured"
    done = made_up.bench("--record", folder, "--parts", "table", "--quick", "--only", "S1", "--servers", "final")
    assert done.returncode == 0, done.stderr
    result = json.loads((folder / "table.json").read_text())
    assert [each["scenario"] for each in result["rows"]] == ["S1", "C1", "C10", "C100", "C1000", "C10000"]
    assert result["settings"]["rounds"] == 1
    assert {path.name for path in folder.iterdir()} == {"table.json", "table.svg"}
    assert made_up.running() == []


def test_the_loads_over_tls_are_recorded_without_the_table(made_up, tmp_path):
    folder = tmp_path / "measured"
    folder.mkdir()
    (folder / "table.json").write_text("of yesterday")
    done = made_up.bench("--record", folder, "--parts", "tls", "--quick", "--servers", "final")
    assert done.returncode == 0, done.stderr
    assert "T4      1/1 final " in done.stderr and "64 full and 99,936 resumed handshakes" in done.stderr
    result = json.loads((folder / "tls.json").read_text())
    assert [each["scenario"] for each in result["rows"]] == ["T1", "T2", "T3", "T4"]
    assert result["quoted"] == [] and result["rows"][2]["full"] == 100_000 and "cpu_us" in result["rows"][2]
    assert result["tls"]["agreed"] == f"{table.TLS_VERSION} {table.TLS_CIPHER}"
    assert result["tls"]["openssl"].startswith("OpenSSL ") and result["ratios"] == []
    assert {path.name for path in folder.iterdir()} == {"table.json", "tls.json"}
    assert (folder / "table.json").read_text() == "of yesterday"
    assert made_up.running() == []


def test_a_load_of_another_part_is_refused_before_anything_is_measured(made_up, tmp_path):
    done = made_up.bench("--record", tmp_path / "measured", "--parts", "tls", "--only", "S1", "--servers", "final")
    assert done.returncode == 1
    assert done.stderr == "bench: part tls: no load S1; there are: T1, T2, T3, T4\n"
    assert not made_up.calls.exists() and not (tmp_path / "measured").exists()


def test_the_loads_with_a_coding_are_recorded_without_the_table(made_up, tmp_path):
    folder = tmp_path / "measured"
    done = made_up.bench("--record", folder, "--parts", "compressed", "--quick", "--servers", "final")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in folder.iterdir()} == {"compressed.json"}
    result = json.loads((folder / "compressed.json").read_text())
    assert [each["scenario"] for each in result["rows"]] == ["Z1", "Z2"]
    assert result["rows"][0]["coded_bytes"] == len(run.text_in_advance()) and result["ratios"] == []
    assert f"{result['rows'][1]['coded_bytes']:,} bytes encoded" in done.stderr
    assert result["medians"][0]["coded_bytes"] == len(run.text_in_advance())
    calls = made_up.calls.read_text().splitlines()
    assert len(calls) == 2 and all("--keep-alive -H Accept-Encoding: gzip --json" in call for call in calls)


def test_the_echoes_are_recorded_without_the_table(made_up, tmp_path):
    made_up.write_echo()
    folder = tmp_path / "measured"
    done = made_up.bench("--record", folder, "--parts", "websocket", "--quick", "--servers", "websocket")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in folder.iterdir()} == {"websocket.json"}
    result = json.loads((folder / "websocket.json").read_text())
    assert [each["scenario"] for each in result["rows"]] == ["W1", "W2"]
    assert all("cpu_us" in each for each in result["rows"]) and result["ratios"] == [] and "tls" not in result
    assert "99 messages/s" in done.stderr
    calls = made_up.calls.read_text().splitlines()
    assert [call.split()[:6] for call in calls] == [
        ["-c", "64", "-t", "1", "--websocket", "64"], ["-c", "16", "-t", "1", "--websocket", "64K"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    "wrong, complaint",
    [({"limit": 63}, "another message came back"), ({"accept": "another"}, "the response is to another key")],
)
def test_a_server_that_sends_no_echo_is_not_measured(made_up, monkeypatch, wrong, complaint):
    made_up.write_echo(**wrong)
    monkeypatch.setattr(run, "START_SECONDS", 1)  # then its last complaint is the result
    (server,) = table.choose("websocket", table.SERVERS, "server")
    with run.Site(made_up.folder, str(made_up.folder / "turtle-bench"), 0.1, 1) as site:
        with pytest.raises(Failed, match=f"WebSocket /: {complaint}"):
            site.measure(server, table.WEBSOCKET[0])
    assert not made_up.calls.exists()


@pytest.mark.parametrize(
    "frames, complaint",
    [
        (b"\xc2\x02hi", "begins with 0xc2 0x02 is no part"),  # compressed
        (b"\x81\x02hi", "begins with 0x81 0x02 is no part"),  # a text
        (b"\x82\x82aaaahi", "begins with 0x82 0x82 is no part"),  # masked
        (b"\x02\x01h\x82\x01i", "begins with 0x82 0x01 is no part"),  # the next message within the first
        (b"\x82\x05hi", "the connection ended"),
    ],
)  # fmt: skip
def test_frames_that_are_no_echo_are_told(frames, complaint):
    with pytest.raises(Failed, match=complaint):
        websocket.read_message(io.BytesIO(frames))


def test_an_echo_may_come_in_fragments_and_of_every_length():
    assert websocket.read_message(io.BytesIO(b"\x02\x01h\x00\x00\x80\x01i")) == b"hi"
    for size in (0, 125, 126, 65_535, 65_536):
        frame = bytearray(websocket.masked_frame(bytes(size), bytes(4)))
        frame[1] &= 0x7F
        at = 2 + {126: 2, 127: 8}.get(frame[1], 0)
        del frame[at : at + 4]
        assert websocket.read_message(io.BytesIO(frame)) == bytes(size)
    assert websocket.masked_frame(b"Hello", b"\x37\xfa\x21\x3d")[6:] == b"\x7f\x9f\x4d\x51\x58"  # RFC 6455, 5.7


@pytest.mark.parametrize(
    "reply, complaint",
    [
        (b"Content-Length: 0\r\n\r\n", "HTTP/1.1 200 OK instead of a 101"),
        (b"Content-Length", "no whole response to the handshake"),
    ],
)
def test_a_server_without_websocket_is_told(reply, complaint):
    with answering(reply) as (port, asked):
        with pytest.raises(Failed, match=complaint):
            run.check_replies(port, table.WEBSOCKET[0])
    assert b"\r\nSec-WebSocket-Version: 13\r\n" in asked[0] and b"Extensions" not in asked[0]


def test_another_cipher_is_not_measured(tmp_path):
    made_up = MadeUp(tmp_path, cipher="TLS_CHACHA20_POLY1305_SHA256")
    done = made_up.bench("--quick", "--only", "T1", "--servers", "final")
    assert done.returncode == 1
    assert "T1, final: failed: client and server agreed on TLSv1.3 TLS_CHACHA20_POLY1305_SHA256 inst" in done.stdout


def test_a_server_with_tls_has_the_certificate_and_no_other_port():
    words = server_command("T3")
    assert words[words.index("--http") + 1] == "off" and words[words.index("--https-port") + 1] == "20100"
    assert words[-2:] == ["--deferred-accept", "1"] and "--deferred-accept" not in server_command("T1")
    chain, key = (words[words.index(option) + 1] for option in ("--tls-certificate", "--tls-key"))
    assert chain.endswith("/server.pem") and key.endswith("/server.key")


def test_a_server_with_another_certificate_is_not_measured(made_up, tmp_path):
    port = a_free_port()
    with run.Site(tmp_path, "turtle-bench", 1.0, 1) as site, run.Site(tmp_path, "turtle-bench", 1.0, 1) as other:
        load, trust = table.TLS[0], site.trust(table.TLS[0])
        command = site.command(table.SERVERS[0], load, port, site.folder)
        with Process(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
            run.await_answer(port, load, running, trust)
            run.check_replies(port, load, trust)
            with pytest.raises(Failed, match="GET /small.html: .*CERTIFICATE_VERIFY_FAILED"):
                run.check_replies(port, load, other.trust(load))
        assert site.trust(table.SCENARIOS[0]) is None


def test_a_certificate_that_can_not_be_made_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with run.Site(tmp_path, "turtle-bench", 1.0, 1) as site:
        with pytest.raises(Failed, match="no certificate could be made: .*openssl"):
            site.trust(table.TLS[0])


def test_a_server_compresses_only_for_the_loads_with_a_coding():
    assert server_command("Z1")[-2:] == ["--compression", "on"] and "--compression" not in server_command("S1")


@contextlib.contextmanager
def answering(*replies):
    """A server that sends each connection the next reply; its port, and what it was asked."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(30)
        asked = []

        def answer():
            for reply in replies:
                with listener.accept()[0] as client:
                    asked.append(client.recv(4096))
                    client.sendall(b"HTTP/1.1 200 OK\r\n" + reply)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield listener.getsockname()[1], asked
        thread.join()


def gzipped(body, fields=b""):
    return b"Content-Encoding: gzip\r\n%bContent-Length: %d\r\n\r\n%b" % (fields, len(body), body)


PLAIN = b"Content-Length: 5\r\n\r\nplain"


@pytest.mark.parametrize(
    "load, reply, complaint",
    [
        ("Z1", PLAIN, "GET /text.html: sent plain instead of gzip"),
        ("Z2", PLAIN, "GET /plain.html: sent plain instead of gzip"),
        ("Z2", b"Content-Encoding: br\r\n" + PLAIN, "GET /plain.html: sent br instead of gzip"),
        ("Z2", gzipped(b"plain"), "GET /plain.html: not gzip: Not a gzipped file"),
        ("Z2", gzipped(gzip.compress(run.page_of_text())[:1000]), "GET /plain.html: not gzip: "),
        ("Z2", gzipped(gzip.compress(b"plain")), "GET /plain.html: another text than the file has"),
        ("Z2", b"Content-Encoding: gzip\r\nContent-Length: 9\r\n\r\nplain", "GET /plain.html: IncompleteRead"),
        ("Z1", gzipped(gzip.compress(run.page_of_text(), 1)), "GET /text.html: not the file that was encoded in adv"),
    ],
)  # fmt: skip
def test_a_server_that_sends_something_else_than_the_encoded_page_is_not_measured(monkeypatch, load, reply, complaint):
    monkeypatch.setattr(run, "CODING_SECONDS", 0)
    (scenario,) = table.choose(load, table.COMPRESSED, "load")
    with answering(reply) as (port, asked):
        with pytest.raises(Failed, match=complaint):
            run.check_replies(port, scenario)
    assert b"\r\nAccept-Encoding: gzip\r\n" in asked[0]


def test_a_server_may_encode_the_page_in_its_own_time_and_in_chunks():
    coded = gzip.compress(run.page_of_text(), 4)
    chunked = b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(coded), coded)
    with answering(PLAIN, PLAIN, chunked) as (port, asked):
        assert run.check_coding(port, table.COMPRESSED[1]) == len(coded)
    assert len(asked) == 3


def test_a_server_that_does_not_compress_fails_with_words(made_up, monkeypatch):
    made_up.write("turtle", (made_up.folder / "turtle").read_text().replace("--compression", "--other"))
    monkeypatch.setattr(run, "CODING_SECONDS", 0)
    with run.Site(made_up.folder, str(made_up.folder / "turtle-bench"), 0.1, 1) as site:
        with pytest.raises(Failed, match="GET /text.html: sent plain instead of gzip"):
            site.measure(table.SERVERS[0], table.COMPRESSED[0])
    assert not made_up.calls.exists() and made_up.running() == []


def test_deferred_accept_is_for_connections_with_one_request():
    assert "--deferred-accept" not in server_command("S1")
    assert server_command("S3")[-2:] == ["--deferred-accept", "1"]


def test_very_many_connections_get_the_time_to_be_opened(made_up):
    done = made_up.bench("--seconds", "0.1", "--rounds", "1", "--only", "S6", "--servers", "final", "--scaling")
    assert done.returncode == 0, done.stderr
    calls = [" ".join(call.split()[:4]) for call in made_up.calls.read_text().splitlines()]
    assert calls == ["-c 10500 -t 3", "-c 1 -t 0.1", "-c 10 -t 0.1", "-c 100 -t 0.1", "-c 1000 -t 0.5", "-c 10000 -t 5"]


def test_a_server_that_does_not_start_is_told_with_its_last_words(tmp_path):
    made_up = MadeUp(tmp_path, broken=True)
    done = made_up.bench("--quick", "--only", "S1", "--servers", "final")
    assert done.returncode == 1
    assert "S1, final: failed: ended with 1 instead of starting (made-up: no luck)" in done.stdout


def test_a_server_that_cuts_the_page_is_not_measured(tmp_path):
    made_up = MadeUp(tmp_path, limit=1000)
    done = made_up.bench("--quick", "--only", "S1", "--servers", "final")
    assert done.returncode == 1
    assert "S1, final: failed: GET /big.html" in done.stdout
    assert not made_up.calls.exists()
    assert made_up.running() == []


def test_a_route_that_answers_something_else_is_not_measured():
    with answering(b"Content-Length: 3\r\n\r\nno\n") as (port, asked):
        with pytest.raises(Failed, match="/sum: 'no\\\\n' instead of"):
            run.check_replies(port, table.ROUTES[2])
    assert asked[0].startswith(b"POST /sum HTTP/1.1") and asked[0].endswith(table.ROUTES[2].body.encode())


def test_connections_that_have_one_reply_are_not_measured(made_up):
    load = (made_up.folder / "turtle-bench").read_text()
    made_up.write("turtle-bench", load.replace("20_000 * count", "64"))
    done = made_up.bench("--quick", "--only", "S1", "--servers", "final")
    assert done.returncode == 1
    assert "failed: no connection had a second reply" in done.stderr


def test_a_server_that_ends_under_the_load_is_told(tmp_path):
    made_up = MadeUp(tmp_path, dies=True)
    done = made_up.bench("--quick", "--only", "S1", "--servers", "final")
    assert done.returncode == 1
    assert "S1, final: failed: the server ended under the load, with -9" in done.stdout
    assert made_up.running() == []


def heed_interrupts():
    """What a shell starts in the background ignores SIGINT, and so does all that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_nothing_behind(tmp_path, number):
    made_up = MadeUp(tmp_path, stays=True)
    command = made_up.command("--build", tmp_path, "--quick", "--only", "S1", "--servers", "final")
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heed_interrupts
    ) as running:
        await_condition(made_up.calls.exists)
        assert made_up.running()
        running.send_signal(number)
        _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "interrupted" in said and "Traceback" not in said
    assert made_up.running() == []


@pytest.mark.parametrize(
    "arguments, complaint",
    [
        (["--servers", "iis"], "bench: no server iis; there are: final, final-per-loop, final-uring, "),
        (["--only", "S9"], "bench: no load S9; there are: S1, S2h"),
        (["--build", "/nowhere", "--servers", "final"], "bench: no server to measure: final: not built"),
        (["--servers", "final", "--json", "/nowhere/a.json"], "bench: /nowhere/a.json: No such file or directory"),
        (["--servers", "final", "--svg", "/nowhere/a.svg"], "bench: /nowhere/a.svg: No such file or directory"),
        (["--servers", "final", "--load", "/nowhere/wrk"], "bench: /nowhere/wrk: no such program"),
    ],
)
def test_what_can_not_be_measured_is_one_clear_line(made_up, arguments, complaint):
    done = made_up.bench(*arguments)
    assert done.returncode == 1
    assert done.stderr.startswith(complaint) and done.stderr.count("\n") == 1
    assert not made_up.calls.exists()


def test_what_an_earlier_run_has_written_stays_until_there_is_something_new(tmp_path):
    made_up = MadeUp(tmp_path, stays=True)
    numbers = tmp_path / "result.json"
    numbers.write_text("of yesterday")
    with subprocess.Popen(
        made_up.command("--build", tmp_path, "--quick", "--only", "S1", "--servers", "final", "--json", numbers),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=heed_interrupts,
    ) as running:  # fmt: skip
        await_condition(made_up.calls.exists)
        running.send_signal(signal.SIGINT)
        running.wait(timeout=60)
    assert numbers.read_text() == "of yesterday"


def test_a_missing_load_generator_is_told(made_up):
    (made_up.folder / "turtle-bench").unlink()
    done = made_up.bench("--servers", "final")
    assert done.returncode == 1
    assert done.stderr.startswith(f"bench: turtle-bench is not in {made_up.folder}; build it: cmake --build")


def test_the_list_says_what_is_not_there(made_up):
    done = made_up.bench("--list", "--servers", "final,floor")
    assert done.returncode == 0
    assert "  final           {program} serve {root}" in done.stdout
    assert "  floor           not there: not built: cmake --build build/final" in done.stdout


# --- the target `benchmark` ---


def a_free_port():
    return next(process.free_ports(22000, 22999))


def test_the_target_measures_as_documented_and_stops_the_server(made_up):
    port = a_free_port()
    done = subprocess.run(
        made_up.command(made_up.folder, "--port", port, tool="benchmark.py"), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    words = made_up.calls.read_text().split()
    assert words[:8] == ["-c", "10500", "-t", "5", "--close", "-2", "--get", "--json"]
    assert words[9:] == [f"http://127.0.0.1:{port}/small.html"]
    assert re.search(r"^  CPU of the server: \d+\.\d\d s, \d+\.\d\d us for each request$", done.stdout, re.MULTILINE)
    assert made_up.running() == [] and process.is_free(port)


def test_the_target_says_that_the_server_has_ended(tmp_path):
    made_up = MadeUp(tmp_path, dies=True)
    done = subprocess.run(
        made_up.command(tmp_path, "--port", a_free_port(), tool="benchmark.py"),
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == "benchmark: the server ended under the load, with -9\n"


def test_the_target_does_not_disturb_who_has_the_port(made_up):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(
            made_up.command(made_up.folder, "--port", port, tool="benchmark.py"),
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == f"benchmark: port {port} is in use; `ss -ltnp` shows by whom\n"
    assert not made_up.calls.exists()


def test_the_driver_refuses_a_wrong_name_before_it_builds():
    done = subprocess.run([ROOT / "learn", "bench", "--servers", "iis"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 1
    assert done.stderr.strip().startswith("learn: no server iis; there are: final,")


def test_the_driver_measures_what_is_built(made_up):
    done = subprocess.run(
        [ROOT / "learn", "bench", "--build", made_up.folder, "--quick", "--only", "S1", "--servers", "final"],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("## The benchmark\n")
