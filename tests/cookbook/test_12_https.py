"""A site over HTTPS: redirects, HSTS over TLS alone, and a new certificate without a restart."""

import contextlib
import http.client
import re
import shutil
import signal
import socket
import ssl
import subprocess

import pytest
from certificates import Authority
from lineage import await_condition
from serving import PATIENCE

PAGE = b"only for you\n"


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def files(authority, tmp_path):
    """The server's certificate and its key, which a test may replace."""
    return [shutil.copy(file, tmp_path) for file in authority.issue("first")]


class Site:
    """A recipe with two ports."""

    def __init__(self, recipe, authority):
        self.recipe = recipe
        self.authority = authority.certificate
        line = recipe.next_line()
        assert line.startswith("with TLS at https://127.0.0.1:")
        self.plain_port, self.port = recipe.port, int(line.rsplit(":", 1)[1])

    def ask(self, method, path, **fields):
        """A request over TLS, on its own connection. The response, its body, and the number of the certificate."""
        context = ssl.create_default_context(cafile=self.authority)
        client = http.client.HTTPSConnection("localhost", self.port, timeout=PATIENCE, context=context)
        with contextlib.closing(client):
            client.request(method, path, headers=fields)
            number = client.sock.getpeercert()["serialNumber"]
            reply = client.getresponse()
            return reply, reply.read(), number

    def number(self):
        """The number of its certificate."""
        return self.ask("GET", "/")[2]


@pytest.fixture
def site(start, authority, files, tmp_path):
    folder = tmp_path / "site"
    (folder / ".well-known/acme-challenge").mkdir(parents=True)
    (folder / ".well-known/acme-challenge/token").write_text("proof\n")
    (folder / "index.html").write_bytes(PAGE)
    return Site(start("https", 0, *files, folder), authority)


def curl(site, *arguments):
    """Its output. It trusts our authority alone."""
    done = subprocess.run(
        ["curl", "-sS", "--noproxy", "*", "--max-time", "20", "--cacert", site.authority, *arguments],
        capture_output=True, text=True, check=False, timeout=2 * PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_client_without_tls_is_led_to_the_page(site):
    reply = site.recipe.ask("GET", "/a%20b?c=d", Host=f"localhost:{site.plain_port}")
    assert (reply.status, reply.headers["Location"]) == (308, f"https://localhost:{site.port}/a%20b?c=d")
    assert PAGE.decode() == curl(site, "-L", f"http://localhost:{site.plain_port}/")


def test_a_client_that_does_not_trust_the_certificate_gets_no_page(site):
    client = http.client.HTTPSConnection("localhost", site.port, timeout=PATIENCE, context=ssl.create_default_context())
    with contextlib.closing(client), pytest.raises(ssl.SSLCertVerificationError):
        client.request("GET", "/")
    assert site.recipe.stop()[0] == 0  # its reason is logged, unless the client's reset has overtaken it


def test_the_method_stays_the_same(site):
    assert site.recipe.ask("POST", "/", b"text").status == 308
    after = curl(site, "-L", "-d", "text", "-o", "/dev/null", "-w", "%{method} %{http_code} %{scheme}",
                 f"http://localhost:{site.plain_port}/")  # fmt: skip
    assert after.lower() == "post 405 https", "files have no POST, and a GET would have got one"


@pytest.mark.parametrize("path, status", [("/", 200), ("/nothing", 404), ("/secure", 200)])
def test_only_tls_makes_browsers_remember_it(site, path, status):
    reply = site.ask("GET", path)[0]
    assert (reply.status, reply.headers["Strict-Transport-Security"]) == (status, "max-age=300")
    assert "Strict-Transport-Security" not in site.recipe.ask("GET", path).headers


def test_routes_know_whether_a_request_is_secure(site):
    assert site.ask("GET", "/secure")[1] == b"yes\n"
    assert site.recipe.ask("GET", "/secure").body == b"no\n"
    assert site.recipe.ask("GET", "/secure", X_Forwarded_Proto="https").body == b"no\n", "nobody is trusted"


def test_a_challenge_needs_no_tls(site):
    assert site.recipe.ask("GET", "/.well-known/acme-challenge/token").body == b"proof\n"


def test_a_plain_request_gets_no_plain_response_from_the_port_with_tls(site):
    with socket.create_connection(("127.0.0.1", site.port), PATIENCE) as client:
        client.sendall(b"GET /secure HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = client.makefile("rb").read()
    assert b"HTTP/" not in answer and b"no\n" not in answer
    await_condition(lambda: "TLS handshake of 127.0.0.1:" in site.recipe.said(), "the line about it")
    site.ask("GET", "/")
    site.recipe.signal(signal.SIGTERM)
    assert re.fullmatch(r"handshakes: 1 full, 0 resumed, 1 failed", site.recipe.next_line())
    assert site.recipe.wait() == 0


def test_new_clients_get_a_new_certificate(site, authority, files):
    first = site.number()
    context = ssl.create_default_context(cafile=site.authority)
    old = http.client.HTTPSConnection("localhost", site.port, timeout=PATIENCE, context=context)
    with contextlib.closing(old):
        old.request("GET", "/")
        assert old.getresponse().read() == PAGE
        for file, mine in zip(authority.issue("second"), files):
            shutil.copy(file, mine)
        site.recipe.signal(signal.SIGHUP)
        await_condition(lambda: "INFO certificate read again\n" in site.recipe.said(), "the new certificate")
        assert site.number() != first
        old.request("GET", "/")
        assert old.getresponse().read() == PAGE, "a client that was connected does not notice"
    assert site.recipe.stop()[0] == 0


def test_a_pair_that_does_not_fit_changes_nothing(site, authority, files):
    first = site.number()
    chain, key = authority.issue("second")
    shutil.copy(chain, files[0])
    site.recipe.signal(signal.SIGHUP)
    await_condition(lambda: " ERROR " in site.recipe.said(), "the reason")
    assert str(files[0]) in site.recipe.said() or str(files[1]) in site.recipe.said()
    assert site.number() == first
    shutil.copy(key, files[1])
    site.recipe.signal(signal.SIGHUP)
    await_condition(lambda: "INFO certificate read again\n" in site.recipe.said(), "the new certificate")
    assert site.number() != first
    assert site.recipe.stop()[0] == 0


def run(recipes, *arguments):
    command = [recipes / "https", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    return done.returncode, done.stderr


def test_a_mistake_at_the_start_is_named(recipes, authority, files, tmp_path):
    code, said = run(recipes, "0", "80x", *files)
    assert code == 2 and 'port "80x": not a number' in said
    code, said = run(recipes, "0", "0", files[0])
    assert code == 2 and said.startswith("usage: ")
    code, said = run(recipes, "0", "0", files[0], tmp_path / "none.pem")
    assert code == 1 and "none.pem" in said
    code, said = run(recipes, "0", "0", authority.issue("second")[0], files[1])
    assert code == 2 and said.startswith("https: ")
