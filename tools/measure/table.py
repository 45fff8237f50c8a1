"""What is measured: the loads, the servers, and every command line. The one place to look.

In commands and templates: {program} the server's program, {root} the folder with the pages,
{port}, {threads}, {work} a folder of its own for this start, {config} the filled-in template from
final/bench/peers, {certificate} and {key} the files of a server with TLS. Templates write @port@ for
{port}, because their languages use braces.
"""

from __future__ import annotations

import dataclasses

SMALL, BIG = "/small.html", "/big.html"
PAGES = {SMALL: 612, BIG: 102_400}  # bytes
# The same text twice. It is encoded in advance as well, in a file beside the first.
TEXT, PLAIN = "/text.html", "/plain.html"
TEXT_BYTES = 102_400

SERVER_CPU, LOAD_CPU = 0, 1


# --- the loads -----------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Scenario:
    """One load. `options` are those of turtle-bench."""

    name: str
    title: str
    page: str
    connections: int
    options: tuple[str, ...]
    idle: int = 0  # connections that are opened first and then stay silent
    closing: bool = False  # a connection for each request
    least_seconds: float = 0.0  # opening very many connections must not be most of what is measured
    body: str = ""  # posted with each request
    reply: str = ""  # what has to come back; none: the page
    handshakes: str = ""  # over TLS: "few" (connections stay), "full" or "resumed"; none: without TLS
    coding: str = ""  # what the body has to be encoded with; none: plain
    message: int = 0  # bytes of the messages that are echoed over WebSocket; 0: HTTP
    aim: float = 0.0  # the most that our own may cost, as a multiple of aim_peer; 0: there is no such aim
    aim_peer: str = "nginx"

    @property
    def unit(self) -> str:
        return "message" if self.message else "request"


SCENARIOS = (
    Scenario("S1", "small file, keep-alive, 64 connections", SMALL, 64, ("--keep-alive",)),
    Scenario("S2h", "small file, 16 requests pipelined", SMALL, 64, ("--pipeline", "16")),
    Scenario("S3", "a connection for each request, 64 clients", SMALL, 64, ("--close",), closing=True),
    Scenario("S4", "100 KB file, read 8 KB at a time", BIG, 64, ("--keep-alive", "--read-size", "8192")),
    Scenario("S4h", "100 KB file, read 256 KB at a time", BIG, 64, ("--keep-alive", "--read-size", "262144")),
    Scenario("S5", "S1 beside 10,000 idle connections", SMALL, 64, ("--keep-alive",), idle=10_000),
    Scenario("S6", "a connection for each request, 10,500 clients", SMALL, 10_500, ("--close",), closing=True,
             least_seconds=3.0),
)  # fmt: skip

SCALING = tuple(
    Scenario(f"C{count}", f"small file, keep-alive, {count:,} connections", SMALL, count, ("--keep-alive",),
             least_seconds=count / 2_000)
    for count in (1, 10, 100, 1_000, 10_000)
)  # fmt: skip

# What final/bench/routes answers.
ROUTES = (
    Scenario("R1", "a route that answers with a text", "/text", 64, ("--keep-alive",), reply="Hello, world\n"),
    Scenario("R2", "two parameters in the path, JSON back", "/users/42/posts/7", 64, ("--keep-alive",),
             reply='{"post":7,"user":42}'),
    Scenario("R3", "JSON posted, JSON back", "/sum", 64, ("--keep-alive", "-H", "Content-Type: application/json"),
             body='{"items":[{"price":3,"count":2},{"price":10,"count":1},{"price":7,"count":12}]}',
             reply='{"total":100}'),
    Scenario("R4", "a row of SQLite", "/rows/42", 64, ("--keep-alive",), reply='{"id":42,"name":"row number 42"}'),
    Scenario("R5", "a handler on a pool of threads", "/worker", 64, ("--keep-alive",), reply="Hello, world\n"),
)  # fmt: skip

# The servers have the same certificate, which turtle-bench accepts unseen: to verify it is the client's cost.
# check_replies() verifies it once.
TLS_CERTIFICATE, TLS_VERSION, TLS_CIPHER = "ECDSA P-256", "TLSv1.3", "TLS_AES_256_GCM_SHA384"
TLS = (
    Scenario("T1", "small file over TLS, keep-alive, 64 connections", SMALL, 64, ("--keep-alive", "--insecure"),
             handshakes="few", aim=1.0),
    Scenario("T2", "100 KB file over TLS, keep-alive, 64 connections", BIG, 64, ("--keep-alive", "--insecure"),
             handshakes="few", aim=1.0),
    Scenario("T3", "a connection with a full handshake for each request, 64 clients", SMALL, 64,
             ("--close", "--insecure", "--no-resume"), closing=True, handshakes="full", aim=1.0),
    Scenario("T4", "a connection with a resumed handshake for each request, 64 clients", SMALL, 64,
             ("--close", "--insecure"), closing=True, handshakes="resumed", aim=1.0),
)  # fmt: skip

COMPRESSED = (
    Scenario("Z1", "100 KB of text as gzip, encoded in advance, keep-alive, 64 connections", TEXT, 64,
             ("--keep-alive", "-H", "Accept-Encoding: gzip"), coding="gzip", aim=1.0),
    Scenario("Z2", "100 KB of text as gzip, kept or encoded by the server, keep-alive, 64 connections", PLAIN, 64,
             ("--keep-alive", "-H", "Accept-Encoding: gzip"), coding="gzip", aim=1.0),
)  # fmt: skip

# What final/bench/websocket sends back. turtle-bench masks its messages, and offers no compression.
ECHO_PEER = "Beast-websocket"
WEBSOCKET = (
    Scenario("W1", "a message of 64 bytes and its echo over WebSocket, 64 connections", "/", 64,
             ("--websocket", "64"), message=64, aim=1.0, aim_peer=ECHO_PEER),
    Scenario("W2", "a message of 64 KiB and its echo over WebSocket, 16 connections", "/", 16,
             ("--websocket", "64K"), message=65_536, aim=1.0, aim_peer=ECHO_PEER),
)  # fmt: skip

# What `--record` keeps in files of their own: their loads.
COMPARED = {"table": (*SCENARIOS, *ROUTES), "tls": TLS, "compressed": COMPRESSED, "websocket": WEBSOCKET}
EVERY_LOAD = tuple(scenario for loads in COMPARED.values() for scenario in loads)


def load_command(bench: str, scenario: Scenario, port: int, seconds: float, result: str) -> list[str]:
    scheme = "https" if scenario.handshakes else "http"
    return [
        bench, "-c", str(scenario.connections), "-t", f"{seconds:g}", *scenario.options,
        *(("--post", scenario.body) if scenario.body else ()), "--json", result,
        f"{scheme}://127.0.0.1:{port}{scenario.page}",
    ]  # fmt: skip


def idle_command(bench: str, scenario: Scenario, port: int, seconds: float) -> list[str]:
    url = f"http://127.0.0.1:{port}{scenario.page}"
    return [bench, "-c", str(scenario.idle), "-t", f"{seconds:g}", "--idle", url]


def documented_command(bench: str, port: int, result: str) -> list[str]:
    """The target `benchmark`."""
    url = f"http://127.0.0.1:{port}{SMALL}"
    return [bench, "-c", "10500", "-t", "5", "--close", "-2", "--get", "--json", result, url]


# --- the servers ---------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Server:
    """One row. `programs`: the first that exists is used; a name with a slash is one of the build."""

    name: str
    programs: tuple[str, ...]
    command: tuple[str, ...]
    kind: str = "peer"  # "final", "floor" or "peer"
    config: str = ""
    only: tuple[str, ...] = ()  # scenarios; none: all that ask for a page
    secure: tuple[str, ...] = ()  # the command for TLS; none: it takes no part in those loads
    coding: tuple[str, ...] = ()  # likewise the command for loads with a coding
    unable: tuple[str, ...] = ()  # scenarios that it can't have
    closing_options: tuple[str, ...] = ()  # added when each connection has one request
    version: tuple[str, ...] = ()  # arguments that make the program tell
    missing: str = ""  # where it comes from

    def takes_part(self, scenario: Scenario) -> bool:
        if self.only or scenario.name in self.unable:
            return scenario.name in self.only
        return bool(self.command_for(scenario)) and scenario not in ROUTES and not scenario.message

    def command_for(self, scenario: Scenario) -> tuple[str, ...]:
        if scenario.handshakes:
            return self.secure
        return self.coding if scenario.coding else self.command


FINAL = ("{program}", "serve", "{root}", "--port", "{port}", "--threads", "{threads}", "--stop-timeout", "1")
SECURE = ("{program}", "serve", "{root}", "--https-port", "{port}", "--http", "off", "--tls-version", "1.3",
          "--tls-certificate", "{certificate}", "--tls-key", "{key}", "--threads", "{threads}",
          "--stop-timeout", "1")  # fmt: skip
CONFIGURED = ("{program}", "-c", "{config}")
FLOOR = ("{program}", "--port", "{port}", "--root", "{root}", "--threads", "{threads}")
BUILT = "not built: cmake --build build/final"
CLOSING = tuple(scenario.name for scenario in SCENARIOS if scenario.closing)
ROUTED = ("{program}", "{port}", "{work}/rows.db")
EVERY_ROUTE = tuple(scenario.name for scenario in ROUTES)
EVERY_ECHO = tuple(scenario.name for scenario in WEBSOCKET)
BUILD_AGAIN = ", then build final again"

SERVERS = (
    Server("final", ("./turtle",), FINAL, kind="final", closing_options=("--deferred-accept", "1"), secure=SECURE,
           coding=(*FINAL, "--compression", "on"), version=("--version",), missing=BUILT),
    Server("final-per-loop", ("./turtle",), (*FINAL, "--accept", "per-loop"), kind="final",
           closing_options=("--deferred-accept", "1"), version=("--version",), missing=BUILT),
    Server("final-uring", ("./turtle",), (*FINAL, "--poller", "io_uring"), kind="final",
           closing_options=("--deferred-accept", "1"), version=("--version",), missing=BUILT),
    Server("final-uring-per-loop", ("./turtle",), (*FINAL, "--poller", "io_uring", "--accept", "per-loop"),
           kind="final", closing_options=("--deferred-accept", "1"), version=("--version",), missing=BUILT),
    Server("final-no-cache", ("./turtle",), (*FINAL, "--cache-size", "0"), kind="final",
           closing_options=("--deferred-accept", "1"), version=("--version",), missing=BUILT),
    Server("final-no-defer", ("./turtle",), FINAL, kind="final", only=CLOSING, version=("--version",),
           missing=BUILT),
    Server("floor", ("./bench/floor_epoll",), FLOOR, kind="floor", missing=BUILT),
    Server("floor-deferred", ("./bench/floor_epoll",), (*FLOOR, "--deferred"), kind="floor", only=CLOSING,
           missing=BUILT),
    Server("floor-fin", ("./bench/floor_epoll",), (*FLOOR, "--deferred", "--fin"), kind="floor", only=CLOSING,
           missing=BUILT),
    Server("floor-sendfile", ("./bench/floor_epoll",), (*FLOOR, "--sendfile"), kind="floor", only=("S4", "S4h"),
           missing=BUILT),
    Server("floor-uring", ("./bench/floor_uring",), FLOOR, kind="floor", closing_options=("--deferred", "--fin"),
           missing="not built: needs the headers of Linux 6.1"),
    Server("nginx", ("nginx", "/usr/sbin/nginx"), CONFIGURED, config="nginx-tuned.conf.in", secure=CONFIGURED,
           coding=CONFIGURED, version=("-v",), missing="apt install nginx-light"),
    Server("nginx-shipped", ("nginx", "/usr/sbin/nginx"), CONFIGURED,
           config="nginx-shipped.conf.in", version=("-v",), missing="apt install nginx-light"),
    Server("lighttpd", ("lighttpd", "/usr/sbin/lighttpd"), ("{program}", "-D", "-f", "{config}"),
           config="lighttpd.conf.in", version=("-v",), missing="apt install lighttpd"),
    # h2o 2.2 gives a client that has resumed a session no new ticket: a third of its handshakes would be full.
    Server("h2o", ("h2o",), CONFIGURED, config="h2o.conf.in", secure=CONFIGURED, coding=CONFIGURED,
           unable=("T4",), version=("-v",), missing="apt install h2o"),
    Server("apache", ("apache2", "/usr/sbin/apache2", "httpd"), ("{program}", "-D", "FOREGROUND", "-f", "{config}"),
           config="apache.conf.in", version=("-v",), missing="apt install apache2"),
    Server("evhttp", ("./bench/evhttp_server",), ("{program}", "{port}", "{root}", "{threads}"),
           missing="apt install libevent-dev" + BUILD_AGAIN),
    Server("routes", ("./bench/routes_turtle",), ROUTED, kind="final", only=EVERY_ROUTE, missing=BUILT),
    Server("cpp-httplib", ("./bench/routes_httplib",), ROUTED, only=EVERY_ROUTE,
           missing="apt install libcpp-httplib-dev" + BUILD_AGAIN),
    Server("Beast", ("./bench/routes_beast",), ROUTED, only=EVERY_ROUTE,
           missing="apt install libboost-dev" + BUILD_AGAIN),
    Server("Pistache", ("./bench/routes_pistache",), ROUTED, only=EVERY_ROUTE[:-1],  # it has no other threads
           missing="apt install libpistache-dev" + BUILD_AGAIN),
    Server("websocket", ("./bench/websocket_turtle",), ("{program}", "--port", "{port}", "--threads", "{threads}"),
           kind="final", only=EVERY_ECHO, missing=BUILT),
    Server("floor-websocket", ("./bench/floor_websocket",), FLOOR, kind="floor", only=EVERY_ECHO, missing=BUILT),
    Server(ECHO_PEER, ("./bench/websocket_beast",), ("{program}", "{port}"), only=EVERY_ECHO,
           missing="apt install libboost-dev" + BUILD_AGAIN),
)  # fmt: skip


def template_values(server: Server, scenario: Scenario, threads: int) -> dict[str, str]:
    """What the templates in final/bench/peers want to know beyond port, root, threads and work."""
    return {
        "push": "on" if scenario.closing else "off",
        "workers": str(0 if threads == 1 else threads),  # lighttpd: 0 is no worker beside the server itself
        "apache_threads": str(256 * threads),
    }


def user_line(server: Server, user: str) -> str:
    """In the template's language: who the workers run as; only root can ask."""
    if not user:
        return ""
    return {"nginx": f"user {user};", "h2o": f"user: {user}", "apache": f"User {user}"}.get(
        server.name.partition("-")[0], ""
    )


def tls_lines(server: Server, certificate: str = "", key: str = "") -> dict[str, str]:
    """In the templates' languages: `ssl`, a word of the listener, and `tls`, its settings; empty without TLS."""
    if not certificate:
        return {"ssl": "", "tls": ""}
    settings = {
        # Without a cache of sessions, tickets are all that nginx resumes them by: as cheap as it gets.
        "nginx": f"ssl_certificate {certificate}; ssl_certificate_key {key}; ssl_protocols {TLS_VERSION};"
        f" ssl_conf_command Ciphersuites {TLS_CIPHER}; ssl_session_cache off; ssl_session_timeout 2h;",
        "h2o": f"ssl: {{certificate-file: {certificate}, key-file: {key}, minimum-version: {TLS_VERSION}}}",
    }
    return {"ssl": "ssl", "tls": settings.get(server.name, "")}


def coding_lines(server: Server, scenario: Scenario) -> dict[str, str]:
    """In the templates' languages: `coding`, the settings for loads with a coding; empty for the others.

    What is encoded while it is sent has the same level everywhere.
    """
    settings = {
        # For the file that is only sent, sendfile is the cheapest, with the head in the same packet.
        "nginx": "gzip_static on; gzip on; gzip_comp_level 4; gzip_min_length 1000; gzip_vary on;"
        f" location = {TEXT} {{ sendfile on; tcp_nopush on; }}",
        "h2o": "file.send-compressed: ON\ncompress: {gzip: 4}",
    }
    return {"coding": settings.get(server.name, "") if scenario.coding else ""}


@dataclasses.dataclass(frozen=True)
class Quoted:
    """A figure that can't be measured here, because no package has the server."""

    name: str
    scenario: str
    cpu_us: float
    date: str


# What is ours, of its kind: the others are compared with it.
OWN = ("final", "routes", "websocket")

# Measured by the authors in one run beside nginx (7.1) and the floor (5.95).
QUOTED = (
    Quoted("muduo", "S1", 6.8, "2026-11"),
    Quoted("TinyWebServer", "S1", 23.8, "2026-11"),
    Quoted("the ancestor", "S1", 13.6, "2026-11"),
)


def choose(wanted: str, there: tuple, what: str) -> tuple:
    """Those of `there` that a list of names asks for, in the order of the table. A wrong name is a ValueError."""
    if not wanted:
        return there
    names = [name.strip() for name in wanted.split(",") if name.strip()]
    known = {each.name.lower(): each for each in there}
    for name in names:
        if name.lower() not in known:
            raise ValueError(f"no {what} {name}; there are: {', '.join(each.name for each in there)}")
    return tuple(each for each in there if each.name.lower() in {name.lower() for name in names})
