"""docs/deployment.md says what is so: its outputs, its files before a live server, its numbers and its messages."""

import contextlib
import errno
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys

import httpx
import pytest
from certificates import Authority
from lineage import Lineage, await_condition
from load import Load
from serving import BINARY, PATIENCE, ROOT, Server, Turtle
from websocket_client import TEXT, Client, upgrade

PAGE = (ROOT / "docs/deployment.md").read_text(encoding="utf-8")
FILES = ROOT / "docs/deployment"
PLACES = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
NGINX = shutil.which("nginx", path=PLACES)
CADDY = shutil.which("caddy", path=PLACES)
HAPROXY = shutil.which("haproxy", path=PLACES)
PROMTOOL = shutil.which("promtool")
ANALYZE = shutil.which("systemd-analyze")
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
needs_root = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs another user")


def text_of(name: str) -> str:
    return (FILES / name).read_text(encoding="utf-8")


def replaced(text: str, *pairs) -> str:
    """Each first text must be there: what the page shows is what is tested."""
    for before, after in pairs:
        assert before in text, before
        text = text.replace(before, str(after))
    return text


# ---------------------------------------------------------------- the page


def test_each_file_is_shown():
    shown = set(re.findall(r"^<!-- file: docs/deployment/(\S+) -->$", PAGE, re.MULTILINE))
    assert shown == {path.name for path in FILES.iterdir()}


def test_the_outputs_are_what_the_commands_print(tmp_path):
    (tmp_path / "final").symlink_to(BINARY.parent)
    command = [sys.executable, ROOT / "tools/transcripts.py", "check", "deployment", "--build", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def sources() -> str:
    """All of the program's texts: literals side by side are one."""
    code = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "final/src").rglob("*.cpp")))
    return re.sub(r'"\s*\n\s*"', "", code)


SYMPTOMS = re.findall(r"^\| `([^`]+)` \|", PAGE.partition("## Symptoms")[2].partition("\n## ")[0], re.MULTILINE)


@pytest.mark.parametrize("message", SYMPTOMS)
def test_the_program_says_what_the_table_of_symptoms_quotes(message):
    """Up to what differs: an ellipsis stands for an address, a number, a name. The reason may be the system's."""
    parts = [part.strip(" :?").removeprefix("is not ") for part in message.split("…")]
    known = sources() + "\n".join(os.strerror(error) for error in errno.errorcode)
    assert [part for part in parts if part not in known and part.partition("; ")[0] not in known] == []


def test_there_are_symptoms():
    assert len(SYMPTOMS) >= 10


@pytest.mark.parametrize("key", sorted(set(re.findall(r"`((?:http|timeouts|log|access_log|operations|tls)\.\w+)`", PAGE))))
def test_a_key_that_is_named_is_there(key):
    schema = json.loads((ROOT / "final/conf/turtle.schema.json").read_text(encoding="utf-8"))
    section, name = key.split(".")
    assert name in schema["properties"][section]["properties"]


# ---------------------------------------------------------------- the configuration


@pytest.fixture
def configuration(site, tmp_path):
    """turtle.json of the page, with the paths and ports of this test."""
    (tmp_path / "logs").mkdir()
    text = replaced(
        (ROOT / "final/conf/turtle.json").read_text(encoding="utf-8"), ("/var/www/turtle", site),
        ("/var/log/turtle", tmp_path / "logs"), ('"port": 4507', '"port": 0'), ("127.0.0.1:9507", "127.0.0.1:0"), ('"drain": 5', '"drain": 0'),
    )
    path = tmp_path / "turtle.json"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_configuration_can_be_served(configuration):
    done = subprocess.run([BINARY, "-t", "-f", configuration], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def two_sites(tmp_path):
    """sites.json of the page, with directories of this test."""
    for folder in ("example.org/assets", "downloads"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "example.org/about.html").write_text("about\n")
    (tmp_path / "example.org/404.html").write_text("nothing\n")
    (tmp_path / "example.org/assets/a.css").write_text("b { color: green }\n")
    (tmp_path / "downloads/data.csv").write_text("1\n")
    path = tmp_path / "sites.json"
    path.write_text(text_of("sites.json").replace("/srv/www", str(tmp_path)), encoding="utf-8")
    return path


def test_the_sites_have_their_files_and_rules(two_sites, start):
    done = subprocess.run([BINARY, "-t", "-f", two_sites], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    turtle = start("-f", two_sites)

    def get(host, path):
        return httpx.get(turtle.url + path, headers={"Host": host})

    about = get("www.example.org", "/about")
    assert (about.text, about.headers["X-Content-Type-Options"]) == ("about\n", "nosniff")
    assert get("example.org", "/none").text == "nothing\n"
    assert get("example.org", "/assets/a.css").headers["Cache-Control"] == "max-age=31536000, immutable"
    old = get("example.org", "/old/a?b")
    assert (old.status_code, old.headers["Location"]) == (308, "/new/a?b")
    assert "data.csv" in get("downloads.example.org", "/").text
    assert get("other.example", "/").status_code == 421


@needs_root
def test_a_port_below_1024_needs_a_capability(start, site):
    done = subprocess.run([*NOBODY, BINARY, "serve", "/", "--port", "79"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "bind 127.0.0.1:79: Permission denied" in done.stderr
    capable = (*NOBODY, "--inh-caps=+net_bind_service", "--ambient-caps=+net_bind_service")
    turtle = Turtle("/", prefix=capable, port=79)
    try:
        assert turtle.port == 79
    finally:
        turtle.close()


OWN_USERS = ("unshare", "--user", "--map-root-user")
CAN_HAVE_OWN_USERS = subprocess.run([*OWN_USERS, "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not CAN_HAVE_OWN_USERS, reason="no user namespaces here")
def test_a_capability_among_private_users_opens_no_port():
    """Why the page and the unit say PrivateUsers=no."""
    command = [*OWN_USERS, BINARY, "serve", "/", "--port", "79"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 1 and "bind 127.0.0.1:79: Permission denied" in done.stderr


@pytest.mark.skipif(not ANALYZE, reason="systemd-analyze is not installed")
def test_the_drop_in_of_the_socket_is_right(tmp_path):
    for name in ("turtle.service", "turtle.socket"):
        text = (ROOT / "final/conf" / name).read_text(encoding="utf-8").replace("/usr/local/bin/turtle", str(BINARY))
        (tmp_path / name).write_text(text, encoding="utf-8")
    folder = tmp_path / "turtle.socket.d"
    folder.mkdir()
    for name in ("ports", "tls"):
        (folder / f"{name}.conf").write_text(text_of(f"{name}.ini"), encoding="utf-8")
    command = [ANALYZE, "verify", "--man=no", str(tmp_path / "turtle.socket")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "turtle.socket" not in done.stderr, done.stderr


# ---------------------------------------------------------------- TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificate")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=example.org",
         "-addext", "subjectAltName=DNS:example.org", "-keyout", folder / "key", "-out", folder / "cert"],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    return folder


def secure_get(port: int, certificate, path: str, **options) -> httpx.Response:
    """As a browser asks for https://example.org/…"""
    context = ssl.create_default_context(cafile=str(certificate / "cert"))
    transport = httpx.HTTPTransport(verify=context, local_address=options.pop("source", None))
    with httpx.Client(transport=transport, timeout=PATIENCE) as client:
        url = f"https://127.0.0.1:{port}{path}"
        headers = {"Host": "example.org", **options.pop("headers", {})}
        return client.request(options.pop("method", "GET"), url, headers=headers,
                              extensions={"sni_hostname": "example.org"}, **options)


@pytest.fixture
def with_tls(site, tmp_path, certificate):
    """tls.json of the page, with the paths and ports of this test."""
    (tmp_path / "logs").mkdir()
    text = replaced(
        text_of("tls.json"), ("/var/www/turtle", site), ("/var/log/turtle", tmp_path / "logs"), ('["0.0.0.0", "::"]', '"127.0.0.1"'),
        ('"port": 80', '"port": 0'), ('"port": 443', '"port": 0'), ("127.0.0.1:9507", "127.0.0.1:0"), ('"drain": 5', '"drain": 0'),
        ("/etc/ssl/certs/ssl-cert-snakeoil.pem", certificate / "cert"),
        ("/etc/ssl/private/ssl-cert-snakeoil.key", certificate / "key"),
    )
    path = tmp_path / "tls.json"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_configuration_with_tls_redirects_all_but_the_challenge(with_tls, certificate, site):
    done = subprocess.run([BINARY, "-t", "-f", with_tls], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    challenge = site / ".well-known/acme-challenge"
    challenge.mkdir(parents=True)
    (challenge / "token").write_text("proof\n")
    turtle = Server(BINARY, "-f", with_tls, greeting="Serving ")
    try:
        plain, secure = re.fullmatch(r"Serving .* at http://127\.0\.0\.1:(\d+)/, https://127\.0\.0\.1:(\d+)/\n", turtle.line).groups()
        response = httpx.get(f"http://127.0.0.1:{plain}/docs/?a", headers={"Host": "example.org"})
        assert response.status_code == 308
        assert response.headers["location"] == f"https://example.org:{secure}/docs/?a"
        assert httpx.get(f"http://127.0.0.1:{plain}/.well-known/acme-challenge/token").text == "proof\n"
        encrypted = secure_get(int(secure), certificate, "/style.css")
        assert (encrypted.status_code, encrypted.text) == (200, "body { color: green }\n")
        assert turtle.stop()[0] == 0
    finally:
        turtle.close()


def test_two_domains_have_their_certificates_and_files(tmp_path):
    """tls-sites.json of the page."""
    authority = Authority(tmp_path / "authority")
    for file in ("example.org/index.html", "app.example.net/index.html", "app.example.net/assets/a.js"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(file)
    (tmp_path / "example.org/long.txt").write_text("turtle " * 200)
    (tmp_path / "logs").mkdir()
    text = replaced(
        text_of("tls-sites.json"), ("/srv/www", tmp_path), ("/var/log/turtle", tmp_path / "logs"), ('["0.0.0.0", "::"]', '"127.0.0.1"'),
        ('"port": 80', '"port": 0'), ('"port": 443', '"port": 0'), ("127.0.0.1:9507", "127.0.0.1:0"),
    )
    for host in ("example.org", "app.example.net"):
        live = f"/etc/letsencrypt/live/{host}"
        chain, key = authority.issue(host, host)
        text = replaced(text, (f"{live}/fullchain.pem", chain), (f"{live}/privkey.pem", key))
    path = tmp_path / "turtle.json"
    path.write_text(text, encoding="utf-8")
    done = subprocess.run([BINARY, "-t", "-f", path], capture_output=True, text=True, check=False)
    warning = f"turtle: {path}: warning: sites[0].names: 'www.example.org': no certificate is valid for this host\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{path} can be served\n", warning)
    turtle = Server(BINARY, "-f", path, greeting="Serving ")
    try:
        plain, secure = re.search(r"http://127\.0\.0\.1:(\d+)/, https://127\.0\.0\.1:(\d+)/\n", turtle.line).groups()
        context = ssl.create_default_context(cafile=str(authority.certificate))

        def get(host, path):
            with httpx.Client(verify=context, timeout=PATIENCE) as client:
                return client.get(f"https://127.0.0.1:{secure}{path}", headers={"Host": host}, extensions={"sni_hostname": host})

        home = get("example.org", "/")
        assert (home.text, home.headers["Strict-Transport-Security"][:8]) == ("example.org/index.html", "max-age=")
        old = get("example.org", "/old/a?b")
        assert (old.status_code, old.headers["Location"]) == (308, "/new/a?b")
        assert get("example.org", "/none").status_code == 404
        assert get("example.org", "/long.txt").headers["Content-Encoding"] == "gzip"
        assert get("app.example.net", "/users/7").text == "app.example.net/index.html"
        assert get("app.example.net", "/assets/a.js").text == "app.example.net/assets/a.js"
        assert get("app.example.net", "/assets/none.js").status_code == 404
        with httpx.Client(verify=context, timeout=PATIENCE) as client:
            sni = {"sni_hostname": "example.org"}
            assert client.get(f"https://127.0.0.1:{secure}/", headers={"Host": "x.example"}, extensions=sni).status_code == 421
        assert httpx.get(f"http://127.0.0.1:{plain}/", headers={"Host": "x.example"}).status_code == 308
        assert turtle.stop()[0] == 0
    finally:
        turtle.close()


# ---------------------------------------------------------------- proxies


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Proxy:
    """A program in the foreground, which listens on `secure` by TLS."""

    def __init__(self, command, secure: int, certificate, environment=None) -> None:
        self.secure, self.certificate = secure, certificate
        self.process = subprocess.Popen(
            list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **(environment or {})},
        )
        await_condition(self._listens, "a proxy that listens")

    def _listens(self) -> bool:
        assert self.process.poll() is None, self.process.stderr.read()
        with contextlib.suppress(ConnectionError):
            socket.create_connection(("127.0.0.1", self.secure), timeout=PATIENCE).close()
            return True
        return False

    def get(self, path: str, **options) -> httpx.Response:
        return secure_get(self.secure, self.certificate, path, **options)

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def nginx(tmp_path, certificate):
    with contextlib.ExitStack() as stack:

        def run(port: int, more: str = "") -> Proxy:
            """@param more of the server with TLS"""
            secure, plain = free_port(), free_port()
            text = replaced(
                text_of("nginx.conf"), ("127.0.0.1:4507", f"127.0.0.1:{port}"), ("listen 443", f"listen 127.0.0.1:{secure}"),
                ("    location / {", f"{more}\n    location / {{"),
                ("listen 80", f"listen 127.0.0.1:{plain}"), ("/etc/ssl/example.org.pem", certificate / "cert"),
                ("/etc/ssl/private/example.org.key", certificate / "key"),
            )
            kept = "".join(f"{what}_temp_path {tmp_path}/{what};\n" for what in
                           ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
            config = tmp_path / "nginx.conf"
            config.write_text(f"daemon off; master_process off; pid {tmp_path}/pid; error_log stderr warn;\n"
                              f"events {{}}\nhttp {{ access_log off;\n{kept}{text}}}\n", encoding="utf-8")
            proxy = Proxy([NGINX, "-p", tmp_path, "-e", "stderr", "-c", config], secure, certificate)
            proxy.plain = plain
            stack.callback(proxy.close)
            return proxy

        yield run


@pytest.fixture
def caddy(tmp_path, certificate):
    with contextlib.ExitStack() as stack:

        def run(port: int) -> Proxy:
            secure = free_port()
            text = replaced(
                text_of("Caddyfile"), ("127.0.0.1:4507", f"127.0.0.1:{port}"),
                ("\nexample.org {\n", f"\nhttps://example.org:{secure} {{\n\tbind 127.0.0.1\n"
                                      f"\ttls {certificate / 'cert'} {certificate / 'key'}\n"),
            )
            config = tmp_path / "Caddyfile"
            config.write_text("{\n\tadmin off\n\tauto_https disable_redirects\n\tdefault_sni example.org\n}\n" + text,
                              encoding="utf-8")
            environment = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
            proxy = Proxy([CADDY, "run", "--config", config, "--adapter", "caddyfile"], secure, certificate, environment)
            stack.callback(proxy.close)
            return proxy

        yield run


SHOW = """#!/bin/sh
printf 'Content-Type: text/plain\\n\\n%s %s %s' "$REMOTE_ADDR" "$HTTP_X_FORWARDED_FOR" "$HTTP_X_FORWARDED_PROTO"
"""
PROXIES = [
    pytest.param("nginx", marks=pytest.mark.skipif(not NGINX, reason="nginx is not installed")),
    pytest.param("caddy", marks=pytest.mark.skipif(not CADDY, reason="caddy is not installed")),
]


@pytest.mark.parametrize("name", PROXIES)
def test_a_proxy_serves_the_site_by_tls(name, request, start, site, tmp_path):
    (tmp_path / "cgi").mkdir()
    show = tmp_path / "cgi/show"
    show.write_text(SHOW)
    show.chmod(0o755)
    log = tmp_path / "access.log"
    turtle = start(site, "--max-body", "1M", "--access-log", log, "--cgi-dir", show.parent)
    proxy = request.getfixturevalue(name)(turtle.port)
    for _ in range(3):
        response = proxy.get("/style.css")
        assert (response.status_code, response.text) == (200, "body { color: green }\n")
    assert proxy.get("/large.bin").content == (site / "large.bin").read_bytes()
    part = proxy.get("/large.bin", headers={"Range": "bytes=3-5"})
    assert (part.status_code, part.content) == (206, b"\x03\x04\x05")
    assert proxy.get("/docs", follow_redirects=False).headers["location"].endswith("/docs/")
    # The program learns of the client, the log of the proxy.
    assert proxy.get("/cgi-bin/show").text == "127.0.0.1 127.0.0.1 https"
    forged = proxy.get("/cgi-bin/show", headers={"X-Forwarded-For": "192.0.2.7"})
    assert forged.text == "127.0.0.1 127.0.0.1 https", "the proxy replaces the field: nobody can make it up"
    assert all(line.startswith("127.0.0.1 ") for line in log.read_text().splitlines())
    # Too large for turtle, and for nginx as well.
    assert proxy.get("/cgi-bin/show", method="POST", content=b"x" * 2_000_000).status_code == 413
    assert turtle.stop()[0] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="127.0.0.2 is not this machine")
@pytest.mark.parametrize("name", PROXIES)
def test_a_trusted_proxy_names_the_client(name, request, start, site, tmp_path):
    (tmp_path / "cgi").mkdir()
    show = tmp_path / "cgi/show"
    show.write_text("#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n%s %s' \"$REMOTE_ADDR\" \"${HTTPS-off}\"\n")
    show.chmod(0o755)
    log = tmp_path / "access.log"
    turtle = start(site, "--trusted-proxies", "127.0.0.1", "--access-log", log, "--cgi-dir", show.parent)
    proxy = request.getfixturevalue(name)(turtle.port)
    assert proxy.get("/cgi-bin/show", source="127.0.0.2").text == "127.0.0.2 on"
    for field in ("X-Forwarded-For", "Forwarded"):
        forged = {field: "192.0.2.7" if field.startswith("X") else "for=192.0.2.7;proto=http"}
        assert proxy.get("/cgi-bin/show", source="127.0.0.2", headers=forged).text == "127.0.0.2 on", field
    assert turtle.stop()[0] == 0
    assert [line.split()[0] for line in log.read_text().splitlines()] == ["127.0.0.2"] * 3


# ---------------------------------------------------------------- WebSockets behind a proxy


@pytest.fixture
def haproxy(tmp_path, certificate):
    with contextlib.ExitStack() as stack:

        def run(*ports: int) -> Proxy:
            secure, both = free_port(), tmp_path / "both.pem"
            both.write_text((certificate / "cert").read_text() + (certificate / "key").read_text())
            text = replaced(
                text_of("haproxy.cfg"), ("bind :443", f"bind 127.0.0.1:{secure}"), ("/etc/ssl/private/example.org.pem", both),
                ("127.0.0.1:8080", f"127.0.0.1:{ports[0]}"), ("127.0.0.1:8081", f"127.0.0.1:{ports[-1]}"),
            )
            config = tmp_path / "haproxy.cfg"
            config.write_text(text, encoding="utf-8")
            proxy = Proxy([HAPROXY, "-db", "-f", config], secure, certificate)
            stack.callback(proxy.close)
            return proxy

        yield run


@pytest.fixture
def chat():
    """Starts the example web_chat."""
    with contextlib.ExitStack() as stack:

        def run() -> Server:
            pages = ROOT / "final/examples/web_chat_page"
            server = Server(BINARY.parent / "examples/web_chat", "--port", "0", "--pages", pages, greeting="http://")
            stack.callback(server.close)
            return server

        yield run


class Guest(Client):
    """A page of the chat that has come through a proxy."""

    def __init__(self, proxy: Proxy, name: str) -> None:
        context = ssl.create_default_context(cafile=str(proxy.certificate / "cert"))
        plain = socket.create_connection(("127.0.0.1", proxy.secure), timeout=PATIENCE)
        self.socket = context.wrap_socket(plain, server_hostname="example.org")
        self._input = bytearray()
        host = f"example.org:{proxy.secure}"
        request = upgrade(f"/chat?name={name}", f"Origin: https://{host}").replace(b"Host: turtle", f"Host: {host}".encode())
        self.send(request)
        self.response = self.head()
        assert self.response.status == 101, self.response


def talk(proxy: Proxy, server: Server) -> None:
    """A guest joins, speaks, and receives the server's Close."""
    guest = Guest(proxy, "ada")
    assert guest.message() == b"ada has come"
    guest.send_frame(TEXT, b"hello")
    assert guest.message() == b"ada: hello"
    server.signal()
    assert guest.until_close()[1].code == 1001
    guest.close()
    assert server.wait() == 0


@pytest.mark.skipif(not NGINX, reason="nginx is not installed")
def test_nginx_passes_websockets_on_with_a_location_of_their_own(nginx, chat):
    server = chat()
    location = replaced(text_of("nginx-websocket.conf"), ("127.0.0.1:8080", f"127.0.0.1:{server.port}"))
    proxy = nginx(server.port, location)
    assert "<title>Chat</title>" in proxy.get("/").text
    talk(proxy, server)


@pytest.mark.skipif(not CADDY, reason="caddy is not installed")
def test_caddy_passes_websockets_on_by_itself(caddy, chat):
    server = chat()
    talk(caddy(server.port), server)


@pytest.mark.skipif(not HAPROXY, reason="haproxy is not installed")
def test_haproxy_passes_websockets_on_and_gives_each_process_some(haproxy, chat):
    one, two = chat(), chat()
    proxy = haproxy(one.port, two.port)
    ada, grace = Guest(proxy, "ada"), Guest(proxy, "grace")
    assert (ada.message(), grace.message()) == (b"ada has come", b"grace has come"), "neither hears of the other"
    for each in (one, two):
        each.signal()
    for guest in (ada, grace):
        assert guest.until_close()[1].code == 1001
        guest.close()
    assert (one.wait(), two.wait()) == (0, 0)


def test_a_proxy_waits_longer_than_a_silent_websocket_is_left_alone():
    options = (ROOT / "final/src/websocket/websocket_options.h").read_text(encoding="utf-8")
    ping, pong = (int(re.search(rf"{name}{{([\d']+)}}", options)[1].replace("'", "")) / 1000 for name in ("ping_interval", "pong_timeout"))
    for name, setting in (("nginx-websocket.conf", "proxy_read_timeout"), ("haproxy.cfg", "timeout tunnel")):
        assert int(re.search(rf"{setting} (\d+)s", text_of(name))[1]) > ping + pong
        assert f"ping_interval, {ping:.0f} s" in text_of(name)


# ---------------------------------------------------------------- TLS by a proxy, and restarts


@pytest.mark.skipif(not NGINX, reason="nginx is not installed")
def test_nginx_sends_plain_clients_to_tls(nginx, start, site):
    proxy = nginx(start(site).port)
    response = httpx.get(f"http://127.0.0.1:{proxy.plain}/docs/?a", headers={"Host": "example.org"})
    assert (response.status_code, response.headers["location"]) == (301, "https://example.org/docs/?a")


class SecureLoad(Load):
    """Clients of a proxy."""

    def __init__(self, proxy: Proxy) -> None:
        super().__init__(proxy.secure)
        self.context = ssl.create_default_context(cafile=str(proxy.certificate / "cert"))

    def connect(self):
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        secure = self.context.wrap_socket(plain, server_hostname="example.org")
        stream = secure.makefile("rwb")
        secure.close()
        return stream


@pytest.mark.parametrize("name", PROXIES)
def test_a_hand_over_behind_a_proxy_loses_no_request(name, request, site):
    turtle = Lineage(site, "--threads", "2")
    try:
        proxy = request.getfixturevalue(name)(turtle.port)
        with SecureLoad(proxy) as load:
            for _ in range(3):
                assert turtle.restart() == 0
                load.await_answers(20)
        assert load.failures() == []
        assert turtle.stop() == 0
    finally:
        turtle.close()


# ---------------------------------------------------------------- limits


def number(pattern: str) -> int:
    found = re.search(pattern, PAGE)
    assert found, pattern
    return int(found[1].replace(",", ""))


def test_silent_clients_take_what_the_page_says():
    figures = json.loads((ROOT / "docs/measured/trust.json").read_text(encoding="utf-8"))["figures"]
    assert 2_000 * figures["bytes"] < number(r"2,000 silent clients take less than (\d+) MiB") << 20
    each = number(r"by (\d+) KiB and by") << 10
    assert 2_000 * each > number(r"could take more\s+than (\d+) MiB") << 20
    assert 20_000 * each > number(r"20,000 of them more than (\d+) GiB") << 30


def descriptors(turtle) -> int:
    return len(os.listdir(f"/proc/{turtle.pid}/fd"))


def test_the_arithmetic_of_descriptors(start, site, tmp_path):
    fixed, each_loop = number(r"\| the server \| (\d+) \|"), number(r"\| a loop \| (\d+), or")
    if os.environ.get("TURTLE_POLLER") == "io_uring":
        each_loop = number(r"\| a loop \| .*, or (\d+) with io_uring \|")
    for loops in (1, 3):
        assert descriptors(start(site, "--threads", loops)) == fixed + each_loop * loops
    (tmp_path / "cgi").mkdir()
    program = tmp_path / "cgi/wait"
    program.write_text("#!/bin/sh\ncat\nexec sleep 600\n")
    program.chmod(0o755)
    turtle = start(site, "--threads", "1", "--cgi-dir", program.parent)
    before = descriptors(turtle)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(turtle.connect()) for _ in range(20)]
        await_condition(lambda: descriptors(turtle) == before + 20 * number(r"\| a client \| (\d+) \|"), "the clients")
        for client in clients:
            client.sendall(b"GET /cgi-bin/wait HTTP/1.1\r\nHost: t\r\n\r\n")
        most = number(r"\| a running program, besides its client \| up to (\d+) \|")
        await_condition(lambda: 20 < descriptors(turtle) - before - 20 <= 20 * most, "the programs")


def test_the_descriptors_of_a_further_site(two_sites, start, site):
    each = number(r"\| each further site of `sites`, on each loop \| (\d+) \|")
    for loops in (1, 3):
        one, two = start(site, "--threads", loops), start("-f", two_sites, "--threads", loops)
        assert descriptors(two) == descriptors(one) + each * loops


def test_a_cached_file_of_more_than_32_kib_stays_open(start, site):
    turtle = start(site, "--threads", "1")
    before = descriptors(turtle)
    for _ in range(3):
        assert httpx.get(f"{turtle.url}/large.bin").status_code == 200
    await_condition(lambda: descriptors(turtle) == before + 1, "one more descriptor")


# ---------------------------------------------------------------- health


@pytest.mark.skipif(not PROMTOOL, reason="promtool is not installed")
def test_the_alerts_are_rules():
    done = subprocess.run([PROMTOOL, "check", "rules", FILES / "alerts.yml"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_metrics_that_are_named_are_there(start, site, certificate):
    turtle = start(site, "--operations", "127.0.0.1:0", "--log-async", "on", "--log-file", "/dev/null", "--https-port", "0",
                   "--tls-certificate", certificate / "cert", "--tls-key", certificate / "key")  # fmt: skip
    assert secure_get(turtle.port, certificate, "/").status_code == 200
    metrics = httpx.get(f"{turtle.operations}/metrics").text
    for name in set(re.findall(r"\b(?:turtle|process)_\w+_\w+", text_of("alerts.yml") + PAGE)):
        assert f"# TYPE {name} " in metrics or name.endswith("_bucket"), name


# ---------------------------------------------------------------- containers

ALONE = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", 'mount -t proc proc /proc && exec "$@"', "sh")
CAN_BE_FIRST = subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode == 0


@pytest.fixture
def first(site, tmp_path):
    """The first process of a namespace, as a container's is."""
    (tmp_path / "cgi").mkdir()
    program = tmp_path / "cgi/leave"
    program.write_text("#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\nok'\nsetsid true </dev/null >/dev/null 2>&1 &\n")
    program.chmod(0o755)
    turtle = Turtle(site, "--cgi-dir", program.parent, prefix=ALONE)
    yield turtle
    turtle.close()


def states(turtle) -> list[str]:
    """Of the children of the server, as ps(1) shows them."""
    done = subprocess.run(["ps", "-o", "stat=", "--ppid", str(turtle.pid)], capture_output=True, text=True, check=False)
    return done.stdout.split()


@pytest.mark.skipif(not CAN_BE_FIRST, reason="no namespaces here")
def test_the_first_process_does_not_collect_orphans(first):
    """So the page asks for --init where there are programs."""
    assert "--init" in PAGE
    assert httpx.get(f"{first.url}/cgi-bin/leave").text == "ok"
    await_condition(lambda: any(state.startswith("Z") for state in states(first)), "a zombie")


@pytest.mark.skipif(not CAN_BE_FIRST, reason="no namespaces here")
def test_a_container_ends_with_its_first_process_and_so_does_the_successor(first):
    os.kill(first.pid, signal.SIGUSR2)
    assert first.wait() == 0

    def is_refused():
        try:
            socket.create_connection(("127.0.0.1", first.port), timeout=PATIENCE).close()
        except ConnectionRefusedError:
            return True
        return False

    await_condition(is_refused, "a port that nobody has")


def test_the_page_is_linked():
    for name, link in (("README.md", "docs/deployment.md"), ("docs/index.md", "deployment.md"),
                       ("docs/preface.md", "deployment.md"), ("docs/your-own-server.md", "deployment.md")):
        assert f"]({link}" in (pathlib.Path(ROOT) / name).read_text(encoding="utf-8"), name
