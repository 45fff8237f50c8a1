"""./learn serve: the book, served by the server that it teaches."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

from learn import machine, setup
from learn.chapters import ROOT
from learn.errors import LearnError
from learn.steps import Runner

FINAL = ROOT / "final"
PROGRAM = ROOT / "build" / "final" / "turtle"
# No linker of the environment's choice: it has a say in what is inlined across files, and what
# tests/cost counts is to depend on our sources.
RELEASE = ("-DCMAKE_BUILD_TYPE=Release", "-DBUILD_TESTING=OFF", "-DCMAKE_EXE_LINKER_FLAGS=")
# What `./learn serve` runs.
SERVER = ROOT / "build" / "serve" / "turtle"
SOON = ("-DCMAKE_BUILD_TYPE=None", "-DBUILD_TESTING=OFF")
SITE = ROOT / "build" / "site"
BUILT = "final: Release"
# The program over a channel, for the suites that test the program.
ROT13_SOURCE = "tests/support/turtle_rot13.cpp"
ROT13 = PROGRAM.with_name("turtle_rot13")
ROT13_BUILT = "final: turtle_rot13"


def serve(address: str, port: int) -> int:
    refuse_used_port(address, port)
    print("Getting the book ready; the first time takes some minutes.", flush=True)
    runner = Runner(again=True)  # the program and the site have to be there
    setup.environment(runner)
    setup.packages(runner, (*machine.BUILD, *machine.PROGRAM, *machine.SITE))
    setup.python_environment(runner, [setup.SITE_REQUIREMENTS])
    has_program = (FINAL / "src" / "app" / "main.cpp").is_file()
    with runner.beside(build_site):
        if has_program:
            build_server(runner)
    if not runner.ok():
        raise LearnError("The book can't be served: see the step that failed above.")
    if not has_program:
        raise LearnError(
            f"The site is in {SITE.relative_to(ROOT)}, but the program `turtle` is not part of this tree yet"
            " (final/src/app/main.cpp is missing)."
        )
    return run_program(address, port)


def build_server(runner: Runner) -> bool:
    """The program as it is compiled soonest: for one reader it is fast enough."""
    make = [setup.configure(FINAL, SERVER.parent, *SOON), setup.build(SERVER.parent, "turtle")]
    return runner.step("the server", make, needs=["set up: packages"], seconds=900)


def build_program(runner: Runner) -> bool:
    """The program as its users have it."""
    make = [configure_release(), setup.build(PROGRAM.parent)]
    return runner.step(BUILT, make, needs=["set up: packages"], seconds=900, inputs=[FINAL], makes=make)


def build_rot13(runner: Runner) -> bool:
    """The same over a channel: of the Release build, one more file and a link."""
    make = [configure_release(), setup.build(ROT13.parent, ROT13.name)]
    return runner.step(ROT13_BUILT, make, needs=[BUILT], seconds=900, inputs=[FINAL], makes=make)


def configure_release() -> list[str]:
    options = [*RELEASE, "-DTURTLE_INLINE_EXAMPLES=OFF"]  # nobody measures the examples
    return setup.configure(FINAL, PROGRAM.parent, *options)


def build_site(runner: Runner) -> bool:
    make = [[setup.python(), ROOT / "tools" / "site.py", "build", SITE]]
    return runner.step(
        "site",
        make,
        needs=["set up: packages", "set up: Python packages"],
        seconds=600,
        inputs=[ROOT],
        makes=make,
    )


def refuse_used_port(address: str, port: int) -> None:
    """Before minutes of building, not after them."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
            probe.listen(1)
        except OSError as error:
            advice = f"or take another one: ./learn serve --port {port + 1 if port < 65535 else 20100}"
            if error.errno == errno.EADDRINUSE:
                raise LearnError(
                    f"Port {port} on {address} is in use. `ss -ltnp` shows by whom; stop that, {advice}"
                ) from error
            raise LearnError(f"Can't listen on {address}, port {port}: {error.strerror}; {advice}") from error


def run_program(address: str, port: int) -> int:
    """Runs the server until it is stopped; its exit code."""
    command = [str(SERVER), "serve", str(SITE), "--port", str(port), "--address", address]
    if os.geteuid() == 0:
        command += ["--user", "root"]  # in a container; root must say that it serves other machines on purpose
    server = subprocess.Popen(command, cwd=ROOT)

    def forward(number: int, _: object) -> None:
        server.send_signal(number)

    # ^C reaches the server by itself, it is in our process group; we only wait for it to finish.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, forward)
    host = f"[{address}]" if ":" in address else address
    url = f"http://{host}:{port}/"
    if answers(url, server):
        print(f"\nThe book is at {url}   (Ctrl-C stops it)\n", flush=True)
    elif server.poll() is None:
        server.terminate()
        server.wait()
        raise LearnError(f"The server runs, but {url} does not answer.")
    return server.wait()


def answers(url: str, server: subprocess.Popen[bytes], seconds: float = 10.0) -> bool:
    """Waits until `url` is served; False when the server ended or the time is up."""
    deadline = time.monotonic() + seconds
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with opener.open(url, timeout=2.0):
                return True
        except urllib.error.HTTPError:
            return True
        except OSError:
            time.sleep(0.05)
    return False
