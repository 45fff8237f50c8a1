"""One measurement: start a server, check its replies, put load on it, end it."""

from __future__ import annotations

import contextlib
import functools
import gzip
import http.client
import importlib.util
import json
import os
import pathlib
import pwd
import random
import re
import select
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
import types
import zlib
from collections.abc import Iterator

from measure import process, table, websocket
from measure.process import Failed, Process
from measure.table import Scenario, Server

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEERS = ROOT / "final" / "bench" / "peers"
START_SECONDS = 10.0
SETTLE_SECONDS = 0.5  # of load before memory is looked at
AUTHORITY = ROOT / "tests" / "support" / "certificates.py"
MOST_OTHERS = 0.05  # of the handshakes may be of the other kind
CODING_SECONDS = 5.0  # until a file that is encoded beside other work has to be ready


def make_pages(folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    for page, size in table.PAGES.items():
        head, tail = b"<!doctype html><title>Turtle</title><p>", b"</p>\n"
        (folder / page[1:]).write_bytes(head + b"x" * (size - len(head) - len(tail)) + tail)
    texts = {table.TEXT: page_of_text(), f"{table.TEXT}.gz": text_in_advance(), table.PLAIN: page_of_text()}
    an_hour_ago = time.time() - 3600  # a file that has just changed might change again, so no server keeps it
    for name, content in texts.items():
        (folder / name[1:]).write_bytes(content)
        os.utime(folder / name[1:], (an_hour_ago, an_hour_ago))


@functools.cache
def page_of_text() -> bytes:
    """A page of made-up words, the same each time. As gzip it has about a third of its length, as prose has."""
    dice = random.Random(1)
    syllables = [first + second for first in "bdfglmnprst" for second in ("a", "e", "i", "o", "an", "er", "on")]
    words = ["".join(dice.choice(syllables) for _ in range(1 + rank % 3)) for rank in range(2000)]
    weights = [1 / (rank + 12) for rank in range(len(words))]  # a few words are most of what is said
    tail = b"</body>\n</html>\n"
    text = "<!doctype html>\n<html>\n<head><title>Turtle</title></head>\n<body>\n"
    while len(text) < table.TEXT_BYTES:
        said = [" ".join(dice.choices(words, weights, k=dice.randint(5, 18))).capitalize() for _ in range(5)]
        text += f'<h2 id="{said[0].split()[0].lower()}">{said[0]}</h2>\n<p>{". ".join(said[1:])}.</p>\n'
    return text[: table.TEXT_BYTES - len(tail)].encode() + tail


@functools.cache
def text_in_advance() -> bytes:
    return gzip.compress(page_of_text(), 6, mtime=0)


def fill(template: str, values: dict[str, str]) -> str:
    """Puts the values for @name@; a name without a value is a Failed."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise Failed(f"a template asks for @{match[1]}@, which nobody knows")
        return values[match[1]]

    return re.sub(r"@([a-z_]+)@", value, template)


class Site:
    """What all measurements share: the build, the pages, where things run. A context manager."""

    def __init__(self, build: pathlib.Path, bench: str, seconds: float, threads: int) -> None:
        self.build = build
        self.bench = bench
        self.seconds = seconds
        self.threads = threads
        self.ports = process.free_ports()
        every = sorted(os.sched_getaffinity(0))
        self.pinned = threads == 1 and {table.SERVER_CPU, table.LOAD_CPU} <= set(every)
        self.server_cpus = [table.SERVER_CPU] if self.pinned else every
        self.load_cpus = [table.LOAD_CPU] if self.pinned else every
        self.user = worker_user()

    def __enter__(self) -> Site:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="turtle-bench-"))
        self.folder.chmod(0o755)  # workers that give up root's rights read it too
        self.pages = self.folder / "pages"
        make_pages(self.pages)
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    @functools.cached_property
    def certificate(self) -> tuple[str, str, ssl.SSLContext]:
        """The files of the servers' certificate and its key, and what a client needs to verify it."""
        try:
            authority = load_certificates().Authority(self.folder / "certificates")
            chain, key = authority.issue("server")
        except (OSError, RuntimeError, subprocess.TimeoutExpired) as error:
            raise Failed(f"no certificate could be made: {error}") from error
        return str(chain), str(key), ssl.create_default_context(cafile=str(authority.certificate))

    def trust(self, scenario: Scenario) -> ssl.SSLContext | None:
        return self.certificate[2] if scenario.handshakes else None

    def program(self, server: Server) -> str:
        """The path of the server's program; empty where it is not installed."""
        return find_program(server, self.build)

    def command(self, server: Server, scenario: Scenario, port: int, work: pathlib.Path) -> list[str]:
        values = {
            "program": self.program(server), "root": str(self.pages), "port": str(port), "threads": str(self.threads),
            "work": str(work),
        }  # fmt: skip
        if scenario.handshakes:
            values["certificate"], values["key"], _ = self.certificate
        if server.config:
            values["user"] = table.user_line(server, self.user)
            values["modules"] = apache_modules()
            values.update(table.template_values(server, scenario, self.threads))
            values.update(table.tls_lines(server, values.get("certificate", ""), values.get("key", "")))
            values.update(table.coding_lines(server, scenario))
            config = work / server.config.removesuffix(".in")
            config.write_text(fill((PEERS / server.config).read_text(encoding="utf-8"), values), encoding="utf-8")
            values["config"] = str(config)
        options = server.closing_options if scenario.closing else ()
        return [word.format_map(values) for word in (*server.command_for(scenario), *options)]

    @contextlib.contextmanager
    def started(self, server: Server, scenario: Scenario) -> Iterator[tuple[Process, int]]:
        port = next(self.ports)
        work = pathlib.Path(tempfile.mkdtemp(prefix=f"{server.name}-", dir=self.folder))
        work.chmod(0o755)
        if self.user:
            shutil.chown(work, self.user)
        command = self.command(server, scenario, port, work)
        with open(work / "output.log", "wb") as log, Process(
            command, self.server_cpus, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=work
        ) as running:
            try:
                await_answer(port, scenario, running, self.trust(scenario))
                check_replies(port, scenario, self.trust(scenario))
            except Failed as failure:
                raise Failed(f"{failure}{last_words(work)}") from failure
            yield running, port

    def load(self, scenario: Scenario, port: int, seconds: float) -> dict:
        result = self.folder / "load.json"
        result.unlink(missing_ok=True)
        command = table.load_command(self.bench, scenario, port, seconds, str(result))
        with Process(
            command, self.load_cpus, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as running:
            try:
                _, said = running.popen.communicate(timeout=seconds + 30)
            except subprocess.TimeoutExpired as error:
                raise Failed(f"{pathlib.Path(self.bench).name} did not end") from error
        try:
            return read_load(result.read_text(encoding="utf-8"))
        except FileNotFoundError:
            words = said.decode(errors="replace").strip().splitlines()
            raise Failed(f"no result from {' '.join(command)}: {words[-1] if words else 'it said nothing'}") from None

    def timed_load(self, running: Process, scenario: Scenario, port: int) -> dict:
        """The load with what it cost the server, the load generator and others."""
        before, machine, children = process.cpu_seconds(running.members()), process.machine_seconds(), own_seconds()
        begin = time.monotonic()
        row = self.load(scenario, port, max(self.seconds, scenario.least_seconds))
        wall = time.monotonic() - begin
        server = process.cpu_seconds(running.members()) - before
        if running.popen.poll() is not None:
            raise Failed(f"the server ended under the load, with {running.popen.returncode}")
        if not scenario.closing and row["requests"] <= scenario.connections:
            raise Failed("no connection had a second reply")
        if scenario.handshakes:
            check_handshakes(row, scenario)
        load = own_seconds() - children
        row["cpu_us"] = server / row["requests"] * 1e6
        row["server_cpus"] = server / wall
        row["load_cpus"] = load / wall
        row["other_cpus"] = max(0.0, (process.machine_seconds() - machine - server - load) / wall)
        if scenario.coding:
            row["coded_bytes"] = check_coding(port, scenario)
        return row

    def measure(self, server: Server, scenario: Scenario) -> dict:
        """One row. A Failed says why there is none."""
        with self.started(server, scenario) as (running, port):
            if not scenario.idle:
                return self.timed_load(running, scenario, port)
            self.load(scenario, port, SETTLE_SECONDS)  # what the first clients need is no cost of the idle ones
            before = process.anonymous_bytes(running.members())
            command = table.idle_command(self.bench, scenario, port, self.seconds + 120)
            streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
            with Process(command, self.load_cpus, **streams) as holder:
                await_ready(holder, 60.0)
                held = process.anonymous_bytes(running.members()) - before
                row = self.timed_load(running, scenario, port)
                row["idle_bytes"] = held / scenario.idle
                return row


# --- parts ---------------------------------------------------------------------------------------


def read_load(text: str) -> dict:
    """What the table needs of turtle-bench's JSON."""
    try:
        result = json.loads(text)
        errors = {kind: int(count) for kind, count in result["errors"].items() if count}
        row = {
            "requests": int(result["requests"]),
            "requests_per_second": float(result["requests_per_second"]),
            "errors": sum(errors.values()),
            "error_kinds": errors,
            "p50_us": float(result["latency_us"]["p50"]),
            "p99_us": float(result["latency_us"]["p99"]),
            "max_us": float(result["latency_us"]["max"]),
        }
        if "tls" in result:
            row["agreed"] = f"{result['tls']['version']} {result['tls']['cipher']}"
            row["full"], row["resumed"] = int(result["tls"]["full"]), int(result["tls"]["resumed"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Failed(f"the load generator's JSON is not as expected: {error!r}") from error
    if row["requests"] == 0:
        kinds = ", ".join(f"{count} {kind}" for kind, count in errors.items()) or "none"
        raise Failed(f"no request was answered; errors: {kinds}")
    return row


def check_handshakes(row: dict, scenario: Scenario) -> None:
    """All servers are to do the same work: the same cipher, and handshakes of the kind that the load is about."""
    wanted = f"{table.TLS_VERSION} {table.TLS_CIPHER}"
    if row.get("agreed") != wanted:
        raise Failed(f"client and server agreed on {row.get('agreed', 'nothing')} instead of {wanted}")
    if scenario.handshakes not in row:
        return
    every = row["full"] + row["resumed"]
    first = scenario.connections if scenario.handshakes == "resumed" else 0  # nothing is there to be resumed yet
    if every - row[scenario.handshakes] > first + every * MOST_OTHERS:
        raise Failed(f"only {row[scenario.handshakes]:,} of {every:,} handshakes were {scenario.handshakes}")


def load_certificates() -> types.ModuleType:
    """tests/support/certificates.py, which makes the tests' certificates too."""
    spec = importlib.util.spec_from_file_location("turtle_certificates", AUTHORITY)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def find_program(server: Server, build: pathlib.Path) -> str:
    for name in server.programs:
        if name.startswith("./"):
            path = build / name
            if os.access(path, os.X_OK) and path.is_file():
                return str(path)
        elif shutil.which(name):
            return shutil.which(name) or ""
    return ""


def find_bench(build: pathlib.Path) -> str:
    """turtle-bench in a build of final; empty where it is not built."""
    path = build / "turtle-bench"
    return str(path) if path.is_file() else ""


def apache_modules() -> str:
    places = ("/usr/lib/apache2/modules", "/usr/lib64/httpd/modules", "/usr/libexec/apache2")
    return next((place for place in places if pathlib.Path(place).is_dir()), places[0])


def worker_user() -> str:
    """Whom root's servers run their workers as; empty for everybody else."""
    if os.geteuid() != 0:
        return ""
    for name in ("www-data", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    return ""


def own_seconds() -> float:
    """CPU time of this program and of the children that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@contextlib.contextmanager
def connected(port: int, seconds: float, trust: ssl.SSLContext | None) -> Iterator[socket.socket]:
    """A connection; with `trust` one over TLS, to a server that it can verify."""
    with socket.create_connection(("127.0.0.1", port), seconds) as plain:
        if trust is None:
            yield plain
            return
        with trust.wrap_socket(plain, server_hostname="127.0.0.1") as secure:
            yield secure


class NotCoded(Failed):
    """The reply has another coding than the one that was asked for."""


def fetch(
    port: int, page: str, seconds: float = 5.0, body: str = "", trust: ssl.SSLContext | None = None, coding: str = ""
) -> bytes:  # fmt: skip
    """The body of the reply, which must be a 200. With a `body` it is posted; with `trust` it is asked for over TLS.

    With a `coding` the body is encoded; if it isn't, that is a NotCoded.
    """
    method = "POST" if body else "GET"
    with connected(port, seconds, trust) as client:
        head = f"{method} {page} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        head += f"Accept-Encoding: {coding}\r\n" if coding else ""
        length = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
        client.sendall(f"{head}{length}\r\n{body}".encode())
        with http.client.HTTPResponse(client, method=method) as reply:
            try:
                reply.begin()
                if reply.status != 200:
                    raise Failed(f"{method} {page}: {reply.status} {reply.reason}")
                sent_as = reply.getheader("Content-Encoding", "")
                if sent_as != coding:
                    raise NotCoded(f"{method} {page}: sent {sent_as or 'plain'} instead of {coding or 'plain'}")
                return reply.read()
            except http.client.HTTPException as error:
                raise Failed(f"{method} {page}: {error}") from error


def check_replies(port: int, scenario: Scenario, trust: ssl.SSLContext | None = None) -> None:
    """Nothing is measured that does not send the whole page, a route's response or a message's echo."""
    if scenario.message:
        websocket.check_echo(port, scenario.page, scenario.message)
        return
    if scenario.reply:
        answered = fetch(port, scenario.page, body=scenario.body).decode(errors="replace")
        if answered != scenario.reply:
            raise Failed(f"{scenario.page}: {answered!r} instead of {scenario.reply!r}")
        return
    if scenario.coding:
        check_coding(port, scenario)
        return
    for page, size in table.PAGES.items():
        try:
            got = len(fetch(port, page, trust=trust))
        except OSError as error:
            raise Failed(f"GET {page}: {error}") from error
        if got != size:
            raise Failed(f"GET {page}: {got} bytes of {size}")


def check_coding(port: int, scenario: Scenario) -> int:
    """The bytes of the encoded page, which has to be the right one."""
    deadline = time.monotonic() + CODING_SECONDS
    while True:
        try:
            coded = fetch(port, scenario.page, coding=scenario.coding)
            break
        except NotCoded:  # a long file may be sent plain while it is encoded beside other work
            if time.monotonic() > deadline:
                raise
        except OSError as error:
            raise Failed(f"GET {scenario.page}: {error}") from error
        time.sleep(0.02)
    try:
        text = gzip.decompress(coded)
    except (OSError, EOFError, zlib.error) as error:
        raise Failed(f"GET {scenario.page}: not gzip: {error}") from error
    if text != page_of_text():
        raise Failed(f"GET {scenario.page}: another text than the file has")
    if scenario.page == table.TEXT and coded != text_in_advance():
        raise Failed(f"GET {scenario.page}: not the file that was encoded in advance")
    return len(coded)


def await_answer(port: int, scenario: Scenario, running: Process, trust: ssl.SSLContext | None = None) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        if running.popen.poll() is not None:
            raise Failed(f"ended with {running.popen.returncode} instead of starting")
        try:
            if scenario.message:
                websocket.check_echo(port, scenario.page, scenario.message, 1.0)
            else:
                fetch(port, scenario.page, 1.0, scenario.body, trust)
            return
        except (OSError, Failed) as error:
            if time.monotonic() > deadline:
                raise Failed(f"does not answer: {error}") from error
        time.sleep(0.02)


def await_ready(holder: Process, seconds: float) -> None:
    ready, _, _ = select.select([holder.popen.stdout], [], [], seconds)
    line = holder.popen.stdout.readline() if ready else b""
    if not line.startswith(b"READY"):
        raise Failed(f"the idle connections could not be opened: {line.decode(errors='replace').strip() or 'no READY'}")


def last_words(work: pathlib.Path) -> str:
    for name in ("output.log", "error.log"):
        with contextlib.suppress(OSError):
            lines = (work / name).read_text(errors="replace").strip().splitlines()
            if lines:
                return f" ({lines[-1].strip()[:200]})"
    return ""
