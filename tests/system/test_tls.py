"""TLS of the real `turtle`: the clients are curl, openssl and Python."""

import contextlib
import hashlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess

import pytest
import tls_sockets
from certificates import Authority
from lineage import Lineage, await_condition
from load import Load
from serving import PATIENCE, Turtle

STYLE = b"body { color: green }\n"


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def files(authority):
    """The server's certificate and its key."""
    return authority.issue("server")


@pytest.fixture
def begin(binary):
    """Starts lineages, and ends what is left of them after the test."""
    with contextlib.ExitStack() as stack:

        def begin_one(*arguments):
            lineage = Lineage(*arguments)
            stack.callback(lineage.close)
            return lineage

        yield begin_one


def with_tls(files, *more):
    chain, key = files
    return ["--https-port", 0, "--tls-certificate", chain, "--tls-key", key, "--threads", "2", *more]


def plain_url(server: Turtle) -> str:
    """The address without TLS, which the first line names before the one with TLS."""
    return re.search(r" at (http://127\.0\.0\.1:\d+)/, https://", server.line)[1]


def context_for(authority, version=ssl.TLSVersion.TLSv1_3) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(authority.certificate))
    context.minimum_version = context.maximum_version = version
    return context


def encrypt(context, port, session=None) -> ssl.SSLSocket:
    """A connection, on which an end without close_notify is an error."""
    plain = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    return context.wrap_socket(plain, server_hostname="localhost", session=session, suppress_ragged_eofs=False)


def ask(client, path="/style.css") -> bytes:
    """The whole response."""
    client.sendall(f"GET {path} HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n".encode())
    return client.makefile("rb").read()


def serial_of(context, port) -> str:
    with encrypt(context, port) as client:
        assert ask(client).endswith(STYLE)
        return client.getpeercert()["serialNumber"]


def curl(*arguments):
    """Returns the exit code and the output."""
    done = subprocess.run(["curl", "-sS", *map(str, arguments)], capture_output=True, timeout=PATIENCE, check=False)
    return done.returncode, done.stdout


def s_client(authority, port, *options, request="GET / HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n"):
    """What `openssl s_client` prints."""
    done = subprocess.run(
        ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-servername", "localhost", "-ign_eof",
         "-CAfile", str(authority.certificate), "-verify_return_error", *map(str, options)],
        input=request, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr


def stop_after_refusals(server: Turtle) -> str:
    """Ends a server that has refused handshakes. Returns the first reason in its log, which has no lines about
    anything else: a scanner must not fill it, so further refusals are only counted."""
    code, said = server.stop()
    first, *more = said.splitlines() or [""]
    reason = re.fullmatch(r"\S+ INFO TLS handshake of 127\.0\.0\.1:\d+ refused: (.+)", first)
    assert code == 0 and reason, said
    assert all(re.search(r" INFO .* TLS handshakes? (of \S+ )?refused", line) for line in more), said
    return reason[1]


def run(binary, *arguments):
    """Returns the exit code, the output and the errors."""
    command = [binary, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    return done.returncode, done.stdout, done.stderr


# --- clients -------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [["--tls-max", "1.2"], ["--tlsv1.3"]], ids=["1.2", "1.3"])
def test_curl_gets_each_byte_and_believes_no_other_signer(start, site, authority, files, version):
    server = start(site, *with_tls(files))
    code, body = curl(*version, "--cacert", authority.certificate, server.url + "/large.bin")
    assert code == 0
    assert hashlib.sha256(body).digest() == hashlib.sha256((site / "large.bin").read_bytes()).digest()
    assert curl(*version, server.url + "/style.css") == (60, b""), "curl: 60, the certificate is not trusted"
    assert server.stop()[0] == 0


def test_the_least_version_is_a_setting(start, site, authority, files):
    server = start(site, *with_tls(files, "--tls-version", "1.3"))
    ours = ["--cacert", authority.certificate, server.url + "/style.css"]
    assert curl("--tls-max", "1.2", *ours) == (35, b""), "curl: 35, no handshake"
    assert curl(*ours) == (0, STYLE)
    assert stop_after_refusals(server)


def test_clients_without_tls_are_redirected(start, site, authority, files):
    server = start(site, *with_tls(files))
    told = ["--cacert", authority.certificate, "-o", os.devnull, "-w", "%{http_code} %{num_redirects} %{url_effective}"]
    plain = plain_url(server)
    assert curl(*told, plain + "/style.css?a=b") == (0, f"308 0 {plain}/style.css?a=b".encode())
    assert curl(*told, "-L", plain + "/style.css?a=b") == (0, f"200 1 {server.url}/style.css?a=b".encode())
    assert server.stop() == (0, "")


def test_the_port_of_a_redirect_is_the_one_that_clients_see(start, site, files):
    server = start(site, *with_tls(files, "--https-public-port", "443"))
    told = ["-o", os.devnull, "-w", "%{redirect_url}"]
    assert curl(*told, plain_url(server) + "/style.css") == (0, b"https://127.0.0.1/style.css")
    assert server.stop() == (0, "")


def test_clients_without_tls_are_served(start, site, authority, files):
    server = start(site, *with_tls(files, "--http", "serve"))
    for url in (plain_url(server), server.url):
        assert curl("--cacert", authority.certificate, url + "/style.css") == (0, STYLE)
    assert server.stop() == (0, "")


def test_there_is_no_port_for_clients_without_tls(start, site, authority, files):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        server = start(site, *with_tls(files, "--http", "off"), port=taken.getsockname()[1])
    assert server.line == f"Serving {site} at https://127.0.0.1:{server.port}/\n"
    assert curl("--cacert", authority.certificate, server.url + "/style.css") == (0, STYLE)
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as client:
        client.sendall(b"GET /style.css HTTP/1.1\r\nHost: t\r\n\r\n")
        assert client.recv(4096) == b"", "it has no answer in plain text"
    assert stop_after_refusals(server)


def test_who_comes_to_a_path_needs_no_tls(start, site, files, tmp_path):
    """A proxy on the same machine."""
    path = tmp_path / "socket"
    server = start(site, *with_tls(files, "--http", "off", "--address", f"unix:{path},127.0.0.1"))
    assert curl("--unix-socket", path, "http://localhost/style.css") == (0, STYLE)
    assert server.stop() == (0, "")


def test_python_keeps_its_connection(start, site, authority, files):
    server = start(site, *with_tls(files))
    context = context_for(authority)
    context.set_alpn_protocols(["h2", "http/1.1"])
    client = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=PATIENCE, context=context)
    used = set()
    with contextlib.closing(client):
        for path, text in [("/style.css", STYLE), ("/", b"<h1>home</h1>\n"), ("/docs/", b"<h1>docs</h1>\n")] * 5:
            client.request("GET", path)
            assert client.getresponse().read() == text
            used.add(client.sock.getsockname())
        assert client.sock.selected_alpn_protocol() == "http/1.1"
    assert len(used) == 1
    assert server.stop() == (0, "")


@pytest.mark.parametrize("end", ["close_notify", "FIN"])
def test_a_request_is_answered_after_the_end_of_the_clients_half(start, site, authority, files, end):
    """Not all clients send a close_notify, and a request that has come in whole is no worse without."""
    server = start(site, *with_tls(files))
    client = tls_sockets.TlsSocket(fileno=socket.create_connection(("127.0.0.1", server.port)).detach())
    with client:
        client.settimeout(PATIENCE)
        client.begin(tls_sockets.Session(context_for(authority), "localhost"))
        client.sendall(b"GET /style.css HTTP/1.1\r\nHost: t\r\n\r\n")
        half = client if end == "close_notify" else super(tls_sockets.TlsSocket, client)
        half.shutdown(socket.SHUT_WR)
        reply = b"".join(iter(lambda: client.recv(1 << 16), b""))  # up to the server's close_notify
    assert reply.startswith(b"HTTP/1.1 200 ") and reply.endswith(STYLE)
    assert server.stop() == (0, "")


def test_a_program_learns_of_tls(start, site, authority, files, tmp_path):
    folder = tmp_path / "programs"
    folder.mkdir()
    text = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\necho \"${HTTPS-unset} $SERVER_PORT\"\n"
    (folder / "env").write_text(text, encoding="utf-8")
    (folder / "env").chmod(0o755)
    server = start(site, *with_tls(files, "--http", "serve", "--cgi-dir", folder))
    plain = plain_url(server)
    assert curl("--cacert", authority.certificate, server.url + "/cgi-bin/env") == (0, f"on {server.port}\n".encode())
    assert curl(plain + "/cgi-bin/env") == (0, f"unset {plain.rpartition(':')[2]}\n".encode())
    assert server.stop() == (0, "")


def test_only_clients_with_a_certificate(start, site, authority, files, tmp_path):
    server = start(site, *with_tls(files, "--tls-clients", "required", "--tls-client-ca", authority.certificate))
    issued = authority.issue("known"), Authority(tmp_path / "stranger").issue("unknown")
    known, unknown = (["--cert", chain, "--key", key] for chain, key in issued)
    ours = ["--cacert", authority.certificate, server.url + "/style.css"]
    assert curl(*known, *ours) == (0, STYLE)
    for refused in ([], unknown):
        code, body = curl(*refused, *ours)
        assert code != 0 and body == b""
    assert stop_after_refusals(server)


# --- handshakes ----------------------------------------------------------------------------------


def test_http_1_1_is_the_only_protocol(start, site, authority, files):
    server = start(site, *with_tls(files))
    said = s_client(authority, server.port, "-alpn", "h2,http/1.1")
    assert "ALPN protocol: http/1.1\n" in said
    assert "HTTP/1.1 200 OK" in said
    said = s_client(authority, server.port, "-alpn", "h2")
    assert "alert no application protocol" in said
    assert "HTTP/1.1" not in said
    assert stop_after_refusals(server)


def test_tls_1_1_is_refused(start, site, authority, files):
    server = start(site, *with_tls(files))
    said = s_client(authority, server.port, "-tls1_1", "-cipher", "DEFAULT:@SECLEVEL=0")
    assert "alert protocol version" in said
    assert "HTTP/1.1" not in said
    assert stop_after_refusals(server)


@pytest.mark.parametrize("tickets", ["on", "off"])
@pytest.mark.parametrize("version", ["tls1_2", "tls1_3"])
def test_who_comes_back_needs_no_full_handshake(start, site, authority, files, tmp_path, version, tickets):
    server = start(site, *with_tls(files, "--tls-tickets", tickets))
    session = tmp_path / "session"
    first = s_client(authority, server.port, f"-{version}", "-sess_out", session)
    assert re.search(r"^New, TLSv1\.[23], ", first, re.MULTILINE) and "HTTP/1.1 200 OK" in first
    if session.exists():
        again = s_client(authority, server.port, f"-{version}", "-sess_in", session)
        assert "HTTP/1.1 200 OK" in again
        assert bool(re.search("^Reused, ", again, re.MULTILINE)) == (tickets == "on")
    else:
        assert tickets == "off", "there was no ticket to keep"
    assert server.stop() == (0, "")


def test_a_certificate_comes_with_its_ocsp_response(start, site, authority, files):
    server = start(site, *with_tls(files, "--tls-ocsp", authority.staple(files[0])))
    said = s_client(authority, server.port, "-status")
    assert "OCSP Response Status: successful" in said and "Cert Status: good" in said
    assert server.stop() == (0, "")


def test_handshakes_are_counted(start, site, authority, files):
    server = start(site, *with_tls(files, "--operations", "127.0.0.1:0"))
    context = context_for(authority)
    with encrypt(context, server.port) as client:
        assert ask(client).endswith(STYLE)
        session = client.session
    with encrypt(context, server.port, session) as client:
        assert ask(client).endswith(STYLE)
        assert client.session_reused
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as client:
        client.sendall(b"this is no handshake\r\n\r\n")
        assert client.recv(4096) == b""

    def counts():
        metrics = curl(server.operations + "/metrics")[1].decode()
        found = re.findall(r'^turtle_tls_handshakes_total\{outcome="(\w+)"\} (\d+)$', metrics, re.MULTILINE)
        return {outcome: int(count) for outcome, count in found}

    wanted = {"full": 1, "resumed": 1, "failed": 1}
    await_condition(lambda: counts() == wanted, f"{wanted} instead of {counts()}")
    assert stop_after_refusals(server)


# --- signals -------------------------------------------------------------------------------------


def install(files, folder):
    """Puts a certificate and its key where a server finds them, as a client of ACME does. Returns where."""
    places = folder / "chain.pem", folder / "key.pem"
    for file, place in zip(files, places):
        fresh = place.with_suffix(".new")
        shutil.copy(file, fresh)
        fresh.replace(place)
    return places


def test_a_renewed_certificate_is_used_and_no_download_breaks_off(start, site, authority, files, tmp_path):
    server = start(site, *with_tls(install(files, tmp_path)))
    context, whole = context_for(authority), (site / "large.bin").read_bytes()
    before = serial_of(context, server.port)
    with encrypt(context, server.port) as client:
        client.sendall(b"GET /large.bin HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n")
        stream = client.makefile("rb")
        while stream.readline() != b"\r\n":
            pass
        got = stream.read(100_000)
        install(authority.issue("renewed"), tmp_path)
        server.signal(signal.SIGHUP)
        await_condition(lambda: "the settings were reloaded" in server.said(), "the line")
        assert serial_of(context, server.port) != before
        assert got + stream.read() == whole
    code, said = server.stop()
    assert code == 0
    assert "WARN" not in said and "ERROR" not in said


def test_a_certificate_that_is_wrong_changes_nothing(start, site, authority, files, tmp_path):
    chain, key = install(files, tmp_path)
    server = start(site, *with_tls((chain, key)))
    context = context_for(authority)
    before = serial_of(context, server.port)
    shutil.copy(authority.issue("renewed")[0], chain)  # and the key is still the old one's
    server.signal(signal.SIGHUP)
    await_condition(lambda: "the settings are unchanged" in server.said(), "the line")
    assert f"{key}: it is not the key of {chain}" in server.said()
    assert serial_of(context, server.port) == before
    assert server.stop()[0] == 0


class TlsLoad(Load):
    """As the load without TLS. The end of a connection must be a close_notify."""

    def __init__(self, context, port):
        super().__init__(port)
        self.context = context

    def connect(self):
        connection = encrypt(self.context, self.port)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream = connection.makefile("rwb")
        connection.close()  # the stream owns it
        return stream


def test_restarts_lose_no_request_and_no_ticket(begin, site, authority, files):
    turtle = begin(site, *with_tls(files))
    context = context_for(authority)
    with encrypt(context, turtle.port) as client:
        assert ask(client).endswith(STYLE)
        session = client.session
    with TlsLoad(context, turtle.port) as load:
        for _ in range(5):
            assert turtle.restart() == 0
            load.await_answers()
    assert load.failures() == []
    with encrypt(context, turtle.port, session) as client:
        assert ask(client).endswith(STYLE)
        assert client.session_reused, "the newest opens the tickets of the first"
    assert turtle.stop() == 0
    assert not re.search("WARN|ERROR", turtle.said())


# --- mistakes ------------------------------------------------------------------------------------


def no_chain(authority, folder):
    return folder / "none.pem", authority.issue("server")[1]


def no_key(authority, folder):
    return authority.issue("server")[0], folder / "none.key"


def foreign_key(authority, _):
    return authority.issue("server")[0], authority.issue("other")[1]


def open_key(authority, _):
    chain, key = authority.issue("open")
    key.chmod(0o644)
    return chain, key


def expired(authority, _):
    return authority.issue("expired", days=-1)


def no_certificate(authority, folder):
    (folder / "text.pem").write_text("no certificate\n")
    return folder / "text.pem", authority.issue("server")[1]


# Each mistake has the reason in the message, and the exit code of a start: 1 if a file can't be opened,
# 2 if its content is refused.
MISTAKES = [
    (no_chain, "{chain}: No such file or directory", 1),
    (no_key, "{key}: No such file or directory", 1),
    (foreign_key, "{key}: it is not the key of {chain}", 2),
    (open_key, "{key}: everybody on this machine may access this private key: chmod o= {key}", 2),
    (expired, "{chain}: the certificate has expired", 2),
    (no_certificate, "{chain}: it has no certificate in PEM", 2),
]


@pytest.mark.parametrize("wrong, reason, code", [pytest.param(*each, id=each[0].__name__) for each in MISTAKES])
def test_a_mistake_names_the_file_and_the_reason(binary, authority, tmp_path, wrong, reason, code):
    chain, key = wrong(authority, tmp_path)
    reason = reason.format(chain=chain, key=key)

    started = run(binary, "serve", tmp_path, "--port", 0, "--https-port", 0, "--tls-certificate", chain, "--tls-key", key)
    assert started == (code, "", f"turtle: {reason}\n")
    config = tmp_path / "turtle.json"
    settings = {"port": 0, "certificate": str(chain), "key": str(key)}
    config.write_text(json.dumps({"http": {"root_path": str(tmp_path)}, "port": 0, "tls": settings}), encoding="utf-8")
    assert run(binary, "-t", "-f", config) == (2, "", f"turtle: {config}: tls: {reason}\n")


@pytest.mark.parametrize(
    "arguments, named",
    [
        (["--tls-certificate", "chain.pem"], "tls.certificate: 'chain.pem' needs a tls.key"),
        (["--tls-key", "key.pem"], "tls.key: 'key.pem' needs a tls.certificate"),
        (["--tls-clients", "required"], "tls.clients: without a tls.certificate no client has TLS"),
        (["--http", "off"], "tls.http: without a tls.certificate nothing is served"),
    ],
)
def test_what_belongs_together(binary, arguments, named):
    code, output, errors = run(binary, "serve", ".", *arguments)
    assert (code, output) == (2, "")
    assert errors.startswith(f"turtle: {named}") and errors.count("\n") == 1, errors


def test_the_check_is_content(binary, site, files, tmp_path):
    config = tmp_path / "turtle.json"
    settings = {"port": 0, "certificate": str(files[0]), "key": str(files[1])}
    config.write_text(json.dumps({"http": {"root_path": str(site)}, "port": 0, "tls": settings}), encoding="utf-8")
    assert run(binary, "-t", "-f", config) == (0, f"{config} can be served\n", "")
