#!/usr/bin/env python3
"""Fails one call after another while `turtle serve` has a client with TLS.

    TURTLE_CHANNEL=tls handshakes.py [--poller io_uring]             as in CI
    TURTLE_CHANNEL=tls handshakes.py --only malloc --every 1         each allocation of a visit
    TURTLE_CHANNEL=tls handshakes.py --first --every 1               each of a server's first visit

What fails at the start, matrix.py shows over TLS, too.

A visit is a handshake, two requests with their responses, and the end of both sides. One server gets
all visits, for its shim can be told which call fails next. After each fault, another client makes a
whole handshake and gets its responses, and so does a client that has been there all the time.

The first visit of a server is another matter: OpenSSL looks up its algorithms then, and remembers
what it has found. So each fault in it has a server of its own.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import pathlib
import ssl
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

import channel  # noqa: E402
import matrix  # noqa: E402
import session  # noqa: E402
import tls_sockets  # noqa: E402
from calls import Calls  # noqa: E402
from matrix import Fault  # noqa: E402
from serving import Turtle  # noqa: E402

LONG = bytes(range(256)) * 600  # read in pieces, and sealed in several records
# Allocation 1 of a visit fails, then 1 + EVERY, and so on: OpenSSL makes hundreds. A prime number, because
# the allocations repeat themselves.
EVERY = 13
RING_EVERY = 31  # likewise on io_uring, where OpenSSL makes the same ones
FIRST_EVERY = 29  # likewise in a server's first visit


class Kind:
    """A kind of visit. Each is another way through the handshake."""

    def __init__(self, name: str, version: ssl.TLSVersion, resumes: bool = False) -> None:
        self.name = name
        self._context = channel.new_context()
        self._context.minimum_version = self._context.maximum_version = version
        self._resumes = resumes
        self._before: ssl.SSLSession | None = None
        self.was_resumed = False

    def visit(self, port: int) -> str:
        """Returns where the client was cut, or "". Raises session.Wrong."""
        tls = tls_sockets.Session(self._context, "127.0.0.1", self._before)
        try:
            with session.Client(port, tls=tls) as client:
                client.ask("/small.html", body=session.SMALL)
                client.ask("/long.bin", body=LONG, more="Connection: close\r\n")
                client.end()
                client.leave()
        except session.Cut as cut:
            return f"{self.name}: {cut}"
        self.was_resumed = tls.was_resumed
        if self._resumes:
            self._before = tls.resumable
        return ""

    def demand(self, port: int) -> None:
        """A visit that must be well in every respect, and not the first one of its kind. Raises session.Wrong."""
        if cut := self.visit(port):
            raise session.Wrong(f"a client was cut without a fault: {cut}")
        if self.was_resumed != self._resumes:
            raise session.Wrong(f"{self.name}: {'' if self.was_resumed else 'not '}resumed")


def kinds() -> list[Kind]:
    return [
        Kind("TLS 1.3", ssl.TLSVersion.TLSv1_3),
        Kind("TLS 1.3, resumed", ssl.TLSVersion.TLSv1_3, resumes=True),
        Kind("TLS 1.2", ssl.TLSVersion.TLSv1_2),
        Kind("TLS 1.2, resumed", ssl.TLSVersion.TLSv1_2, resumes=True),
    ]


class Server:
    """A server with a shim. Works in `folder`."""

    def __init__(self, folder: pathlib.Path, shim: pathlib.Path, poller: str) -> None:
        session.make_site(folder)
        self._site = folder / "site"
        (self._site / "long.bin").write_bytes(LONG)
        self.calls = Calls(folder / "calls")
        environment = {
            "LD_PRELOAD": str(shim),
            "TURTLE_FAULT_CALLS": str(folder / "calls"),
        }
        # One loop, so that a visit makes the same calls each time; and a cache that long.bin doesn't fit into.
        arguments = [self._site, "--threads", 1, "--poller", poller, "--cache-size", "64K"]
        self.turtle = Turtle(*arguments, environment=environment, patience=session.PATIENCE)
        self._descriptors = 0

    def remember(self) -> None:
        """As many descriptors as now may be open later."""
        self._descriptors = matrix.descriptors(self.turtle.pid, self._site)

    def rest(self) -> None:
        """Waits until no client's descriptor is left. Raises session.Wrong."""
        limit = self._descriptors
        trouble = matrix.wait_for(
            lambda: matrix.descriptors(self.turtle.pid, self._site) <= limit, f"more than {limit} descriptors stay open"
        )
        if trouble:
            raise session.Wrong(trouble)

    def count(self, kind: Kind) -> dict[str, int]:
        """Returns what the server calls in a visit without any fault."""
        kind.visit(self.turtle.port)  # the first one of this kind isn't resumed, and reads the files
        self.rest()
        before = self.calls.count()
        kind.demand(self.turtle.port)
        self.rest()
        return {function: count - before.get(function, 0) for function, count in self.calls.count().items()}

    def suffer(self, kind: Kind, fault: Fault) -> tuple[bool, str]:
        """Makes a visit with a fault, whose numbers begin with the visit. Returns whether it was met, and where the
        client was cut."""
        fired = self.calls.fired
        begun = self.calls.count().get(fault.function, 0)
        self.calls.fail(fault.function, fault.outcome, begun + fault.first, fault.times)
        cut = kind.visit(self.turtle.port)
        self.calls.fail_nothing()
        return self.calls.fired > fired, cut

    def end(self) -> None:
        """Raises Wrong unless it ends as it should."""
        code, said = self.turtle.stop()
        if code != 0:
            raise session.Wrong(f"exit code {code}: {said[-300:]}")


class Handshakes:
    """Faults in visits. Works in `folder`."""

    def __init__(self, folder: pathlib.Path, poller: str = "epoll") -> None:
        self._folder = folder
        self._poller = poller
        self._shim = matrix.build_shim(folder)

    @contextlib.contextmanager
    def server(self):
        """A server of its own, for a `with` statement."""
        with tempfile.TemporaryDirectory(dir=self._folder) as name:
            server = Server(pathlib.Path(name), self._shim, self._poller)
            try:
                yield server
            finally:
                server.turtle.close()

    def each_call_of_a_visit(self, every: int = EVERY, may_fail=lambda function: True) -> list[str]:
        """Each call of a visit fails in every way, if its function may fail; of the allocations, only one
        in `every`. Returns what was wrong."""
        with self.server() as server:
            try:
                with session.Client(server.turtle.port) as neighbour:
                    neighbour.ask("/small.html", body=session.SMALL)
                    server.remember()
                    wrong = []
                    for kind in kinds():
                        wrong += self._suffer_all(server, kind, neighbour, every, may_fail)
                server.end()
            except (session.Wrong, session.Cut, OSError) as error:
                wrong = [f"{error}; {server.turtle.process.poll()} {server.turtle.said()[-300:]}"]
        return wrong

    def _suffer_all(self, server: Server, kind: Kind, neighbour: session.Client, every: int, may_fail) -> list[str]:
        calls = server.count(kind)
        chosen = [
            fault
            for fault in matrix.faults(calls, None)
            if may_fail(fault.function) and (fault.function != "malloc" or fault.first % every == 1 % every)
        ]
        met, cuts = 0, 0
        for fault in chosen:
            try:
                was_met, cut = server.suffer(kind, fault)
                neighbour.ask("/small.html", body=session.SMALL)
                kind.demand(server.turtle.port)
            except (session.Wrong, session.Cut, OSError) as error:
                raise session.Wrong(f"{kind.name}, {fault}: {error}") from error
            met += was_met
            cuts += bool(cut)
        server.rest()
        self._sum_up(f"{kind.name}, {calls['malloc']} allocations", len(chosen), met, cuts)
        is_enough = met >= matrix.LEAST_MET * len(chosen)
        return [] if is_enough else [f"{kind.name}: only {met} of {len(chosen)} faults were met"]

    @staticmethod
    def _sum_up(what: str, chosen: int, met: int, cuts: int) -> None:
        print(f"{what}: {chosen} faults, {met} were met, {cuts} clients were cut", flush=True)

    def each_of_the_first_visit(self, every: int = FIRST_EVERY, kind_number: int = 0) -> list[str]:
        """One allocation in `every` of a server's first visit fails. The visits after it must be well."""
        with self.server() as server:
            begun = server.calls.count()["malloc"]
            kinds()[kind_number].visit(server.turtle.port)
            count = server.calls.count()["malloc"] - begun

        def suffer(number: int) -> tuple[bool, str, str]:
            with self.server() as server:
                met, cut = True, ""
                try:
                    kind = kinds()[kind_number]
                    met, cut = server.suffer(kind, Fault("malloc", "ENOMEM", number))
                    for other in kinds():
                        if later := other.visit(server.turtle.port):
                            raise session.Wrong(f"a later client was cut: {later}")
                    server.end()
                except (session.Wrong, OSError) as error:
                    said = server.turtle.said()[-300:]
                    return met, cut, f"the first visit, allocation {number} of {count}: {error}; {said}"
                return met, cut, ""

        return self._in_pairs(f"the first visit, {count} allocations", suffer, range(1, count + 1, every))

    def _in_pairs(self, what: str, suffer, numbers) -> list[str]:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = list(pool.map(suffer, numbers))
        met = sum(was_met for was_met, _, _ in found)
        self._sum_up(what, len(found), met, sum(bool(cut) for _, cut, _ in found))
        wrong = [trouble for _, _, trouble in found if trouble]
        if met < matrix.LEAST_MET * len(found):
            wrong.append(f"{what}: only {met} of {len(found)} faults were met")
        return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--poller", default="epoll", help="of the server")
    parser.add_argument("--only", choices=sorted(matrix.FAULTS), metavar="FUNCTION")
    parser.add_argument("--every", type=int, metavar="N", help="every Nth allocation")
    parser.add_argument("--first", action="store_true", help="only the first visit of a server")
    parser.add_argument("--kind", type=int, default=0, help="with --first: which kind of visit, from 0")
    options = parser.parse_args()
    if channel.NAME != "tls":
        parser.error("set TURTLE_CHANNEL=tls")
    with tempfile.TemporaryDirectory(prefix="turtle-faults-") as folder:
        handshakes = Handshakes(pathlib.Path(folder), options.poller)
        wrong = []
        if not options.first:
            wrong += handshakes.each_call_of_a_visit(
                options.every or EVERY, lambda function: options.only in (None, function)
            )
        if options.first or not options.only:
            wrong += handshakes.each_of_the_first_visit(options.every or FIRST_EVERY, options.kind)
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
