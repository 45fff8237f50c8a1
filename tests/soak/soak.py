"""Good and bad clients against a live server, for as long as you like.

    python3 tests/soak/soak.py --minutes 15 --threads 8

turtle-bench brings the mass of good requests: keep-alive, pipelined, a connection for each. Threads
of this program do the rest (clients.py). With the channel rot13 they do all of it, since turtle-bench
doesn't know that channel. A soak is a row of rounds. After each, when the clients are gone, the server
must be as it was after the first ones: the same descriptors, the same memory, no child. At its end it
must not have said a word, but for handshakes that it has refused, and leave with 0.

TURTLE_BINARY  the program; turtle-bench is beside it
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
import traceback

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parents[1] / "support")]

import channel  # noqa: E402
import clients  # noqa: E402
import server_state  # noqa: E402
import serving  # noqa: E402

BENCH = serving.BINARY.with_name("turtle-bench")
LOADS = (
    ("/small.txt", "-c", "24", "--keep-alive"),
    ("/small.txt", "-c", "8", "--pipeline", "16"),
    ("/page.html", "-c", "8", "--close"),
)
if channel.NAME == "tls":  # the load before resumes its session, so this one makes whole handshakes
    LOADS += (("/small.txt", "-c", "4", "--close", "--no-resume"),)
if channel.NAME == "rot13":
    LOADS = ()
# The only lines that bad clients may cause: a line in a second for each loop.
REFUSED = re.compile(r" INFO (TLS handshake of \S+ refused: |\d+ more TLS handshakes? refused$)")
FEWEST_ROUNDS = 4
LONGEST_ROUND = 60.0  # seconds
MORE_DESCRIPTORS = 3
MORE_MEMORY = 1 << 20
MORE_ROUNDS = 3  # for memory that has grown: once is a peak, always is a leak
PATIENCE = clients.PATIENCE


@dataclasses.dataclass
class Tally:
    """What was done. Counted by several threads."""

    acts: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    requests: int = 0
    faults: list[str] = dataclasses.field(default_factory=list)
    lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)

    def add(self, name: str, requests: int) -> None:
        with self.lock:
            self.acts[name] += 1
            self.requests += requests

    def blame(self, text: str) -> None:
        with self.lock:
            self.faults.append(text)

    @property
    def resets(self) -> int:
        return sum(self.acts[act.__name__] for act in clients.RESETS)


class Soak:
    def __init__(self, seconds: float, threads: int, judge_memory: bool = True):
        self.seconds = seconds
        self.threads = threads
        self.judge_memory = judge_memory
        self.tally = Tally()

    def run(self) -> list[str]:
        """What was wrong; nothing when it is empty."""
        with tempfile.TemporaryDirectory(prefix="turtle-soak-") as folder:
            self.site, programs = clients.make_site(pathlib.Path(folder))
            arguments = [self.site, "--cgi-dir", programs, "--threads", "2", "--access-log", "/dev/null"]
            arguments += ["--compression", "on"]
            turtle = serving.Turtle(*arguments, patience=PATIENCE)
            try:
                self.soak(turtle)
                code, said = turtle.stop()
                if code != 0:
                    self.tally.blame(f"the server left with {code}")
                wrong = "".join(line for line in said.splitlines(keepends=True) if not REFUSED.search(line))
                if wrong:
                    self.tally.blame(f"the server said: {wrong[:4000]}")
            except Exception:  # noqa: BLE001: whatever it is, what the server said belongs to it
                self.tally.blame(traceback.format_exc() + turtle.said()[:4000])
            finally:
                turtle.close()
        return self.tally.faults

    def soak(self, turtle: serving.Turtle) -> None:
        listening = server_state.of(turtle.pid).sockets
        rounds = max(FEWEST_ROUNDS, round(self.seconds / LONGEST_ROUND))
        warm = None  # its state after the first half
        state = None
        for number in range(1, rounds + MORE_ROUNDS + 1):
            state = self.round(turtle, listening, self.seconds / rounds, f"{number} of {rounds}")
            if self.tally.faults:
                return
            if number <= rounds // 2:
                warm = state
                continue
            if abs(state.descriptors - warm.descriptors) > MORE_DESCRIPTORS:
                self.tally.blame(f"{state.descriptors} descriptors are open, and were {warm.descriptors}")
                return
            if number >= rounds:
                if not self.judge_memory or state.memory <= warm.memory + MORE_MEMORY:
                    return
                if number < rounds + MORE_ROUNDS:
                    warm = state
        self.tally.blame(f"memory grows round by round, last from {warm.memory} to {state.memory} bytes")

    def round(self, turtle: serving.Turtle, listening: int, seconds: float, name: str) -> server_state.State:
        """One round, and how the server is when its clients have gone."""
        end = time.monotonic() + seconds
        loads = [self.start_load(turtle, seconds, *load) for load in LOADS]
        visitors = [
            threading.Thread(target=self.visit, args=(turtle.port, end, random.random())) for _ in range(self.threads)
        ]
        try:
            for visitor in visitors:
                visitor.start()
            for visitor in visitors:
                visitor.join()
            for load in loads:
                self.count_load(load)
        finally:
            for load in loads:
                load.kill()  # which does nothing to what has ended
                load.wait()
        state = server_state.at_rest(turtle.pid, listening, PATIENCE)
        if state.children or state.sockets > listening:
            left = f"{state.children} children and {state.sockets - listening} sockets"
            self.tally.blame(f"after round {name} {left} are left")
        print(
            f"  round {name}: {self.tally.requests} requests, {self.tally.resets} resets;"
            f" {state.descriptors} descriptors, {state.memory >> 10} KiB",
            flush=True,
        )
        return state

    # --- clients ---

    def visit(self, port: int, end: float, seed: float) -> None:
        """One act after the other. The first fault is enough."""
        visitor = clients.Visitor(port, self.site, seed)
        acts, weights = list(clients.ACTS), list(clients.ACTS.values())
        while time.monotonic() < end and not self.tally.faults:
            act = visitor.random.choices(acts, weights)[0]
            try:
                self.tally.add(act.__name__, act(visitor))
            except Exception:  # noqa: BLE001: a fault, whichever it is
                self.tally.blame(f"{act.__name__}: {traceback.format_exc(limit=-3)}")

    def start_load(self, turtle: serving.Turtle, seconds: float, path: str, *options: str) -> subprocess.Popen:
        options = (*options, *channel.bench_arguments())
        command = [BENCH, *options, "-t", f"{seconds:.3f}", "--timeout", str(int(PATIENCE)), "--json", "-"]
        return subprocess.Popen(
            [*map(str, command), turtle.url + path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def count_load(self, load: subprocess.Popen) -> None:
        said, complaint = load.communicate(timeout=LONGEST_ROUND + 2 * PATIENCE)
        report = json.loads(said) if said else {}
        errors = {kind: count for kind, count in report.get("errors", {}).items() if count}
        if load.returncode or errors or not report.get("requests"):
            self.tally.blame(f"{' '.join(load.args)}: status {load.returncode}, {errors} {complaint}")
            return
        with self.tally.lock:
            self.tally.requests += report["requests"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--threads", type=int, default=6, help="clients of clients.py at once")
    parser.add_argument("--no-memory", action="store_true", help="don't judge memory, as under a sanitizer")
    options = parser.parse_args()
    soak = Soak(options.minutes * 60, options.threads, judge_memory=not options.no_memory)
    faults = soak.run()
    for name, count in soak.tally.acts.most_common():
        print(f"  {count:>9} {name}")
    print(f"{soak.tally.requests} requests, {soak.tally.resets} resets, {len(faults)} faults")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
