#!/usr/bin/env python3
"""Runs the Autobahn suite against the example websocket_echo, and lists the cases that it does not pass.

    sudo python3 tests/websocket/autobahn.py --root DIR
    sudo python3 tests/websocket/autobahn.py --root DIR --tls --poller io_uring --cases '12.*' '13.*'

The suite needs Python 2, which no Debian has had since Debian 11. So DIR is the root of a Debian 11 in which `wstest`
is installed; CONTRIBUTING.md says how to make one. Without --root, `wstest` has to be in PATH.

A case passes if its result and that of its closing are OK or INFORMATIONAL. Others, such as NON-STRICT and
UNIMPLEMENTED, are faults. Each group of cases is a run of its own, since wstest keeps the traffic of all its cases in
memory. The exit code is 0 if each case of each group has passed.

TURTLE_BINARY  the program turtle, which has its examples beside it; without it build/final/turtle
"""

from __future__ import annotations

import argparse
import contextlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))

import certificates  # noqa: E402
import serving  # noqa: E402

ECHO = serving.BINARY.parent / "examples" / "websocket_echo"
# 12 and 13 are about compression: a thousand messages in each case.
GROUPS = [f"{number}.*" for number in (1, 2, 3, 4, 5, 6, 7, 9, 10)]
GROUPS += [f"12.{number}.*" for number in range(1, 6)] + [f"13.{number}.*" for number in range(1, 8)]
PASSED = ("OK", "INFORMATIONAL")
AGENT = "turtle"
LONGEST_RUN = 3600.0  # seconds of one group


class Suite:
    """`wstest`, in a root of its own or on this machine."""

    def __init__(self, root: pathlib.Path) -> None:
        self.root = root
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="turtle-autobahn-", dir=root / "tmp"))

    def run(self, url: str, cases: list[str]) -> dict[str, dict]:
        """Runs some cases. Returns the report on each."""
        reports, spec = self.folder / "reports", self.folder / "spec.json"
        shutil.rmtree(reports, ignore_errors=True)
        settings = {
            "outdir": self._inside(reports),
            "servers": [{"agent": AGENT, "url": url}],
            "cases": cases,
            "exclude-cases": [],
            "exclude-agent-cases": {},
        }
        spec.write_text(json.dumps(settings), encoding="utf-8")
        command = ["env", "PYTHONUNBUFFERED=1", "wstest", "-m", "fuzzingclient", "-s", self._inside(spec)]
        if self.root != pathlib.Path("/"):
            path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
            command = ["chroot", str(self.root), "env", "-i", path, "HOME=/root", *command]
        announced, said = self._run(command)
        index = reports / "index.json"
        if "Ok, will run 0 " in said:
            raise SystemExit(f"{cases}: there are no such cases")
        if not announced or not index.is_file():
            raise SystemExit(f"{cases}: wstest has failed: {said[-2000:]}")
        found = json.loads(index.read_text(encoding="utf-8")).get(AGENT, {})
        if len(found) != announced:
            raise SystemExit(f"{cases}: {announced} cases were announced, and {len(found)} reported")
        return found

    @staticmethod
    def _run(command: list[str]) -> tuple[int, str]:
        """Returns how many cases there are, and the output. Without any, wstest would never end."""
        said, announced = "", 0
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            watch = threading.Timer(LONGEST_RUN, process.kill)
            watch.start()
            try:
                for line in process.stdout:
                    said += line
                    if found := re.match(r"Ok, will run (\d+) test cases", line):
                        announced = int(found[1])
                        if not announced:
                            process.kill()
            finally:
                watch.cancel()
        return announced if process.returncode == 0 else 0, said

    def keep(self, into: pathlib.Path) -> None:
        """Copies the pages of the last run."""
        shutil.copytree(self.folder / "reports", into, dirs_exist_ok=True)

    def close(self) -> None:
        shutil.rmtree(self.folder)

    def _inside(self, path: pathlib.Path) -> str:
        return "/" + str(path.relative_to(self.root))


def faults_of(reports: dict[str, dict]) -> list[str]:
    return [
        f"{case}: {report['behavior']}, closing {report['behaviorClose']}"
        for case, report in sorted(reports.items(), key=lambda pair: [int(part) for part in pair[0].split(".")])
        if report["behavior"] not in PASSED or report["behaviorClose"] not in PASSED
    ]


def start(options: argparse.Namespace, folder: pathlib.Path) -> serving.Server:
    arguments = ["--port", "0"]
    if options.tls:
        arguments += ["--tls", *certificates.Authority(folder).issue("server")]
    if options.takeover:
        arguments += ["--takeover"]
    environment = {"TURTLE_POLLER": options.poller} if options.poller else {}
    return serving.Server(
        ECHO, *arguments, greeting="wss://" if options.tls else "ws://", environment=environment
    )


def test(suite: Suite, options: argparse.Namespace) -> list[str]:
    """Returns the faults."""
    faults, passed = [], 0
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(start(options, pathlib.Path(folder))) as server:
        url = f"{'wss' if options.tls else 'ws'}://127.0.0.1:{server.port}/"
        print(f"{ECHO} at {url}", flush=True)
        for group in options.cases:
            began = time.monotonic()
            reports = suite.run(url, [group])
            found = faults_of(reports)
            good, seconds = len(reports) - len(found), time.monotonic() - began
            print(f"  {group:<8}{good:>4} of {len(reports):>3} {seconds:7.1f} s", flush=True)
            if options.keep:
                suite.keep(options.keep / group.rstrip(".*"))
            faults += found
            passed += good
        code, said = server.stop()
        if code != 0 or said:
            faults.append(f"the server ends with {code}: {said}")
    print(f"{passed} cases passed, {len(faults)} faults")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path("/"), metavar="DIR",
                        help="root of a Debian that has wstest (default: %(default)s)")
    parser.add_argument("--tls", action="store_true", help="over TLS")
    parser.add_argument("--takeover", action="store_true", help="a compressed message may refer to earlier ones")
    parser.add_argument("--poller", choices=("epoll", "io_uring"), help="event interface (default: the server's)")
    parser.add_argument("--cases", nargs="+", default=GROUPS, metavar="GROUP",
                        help="such as 12.1.* (default: each group)")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="copy wstest's pages to this directory")
    options = parser.parse_args()
    if not ECHO.is_file():
        raise SystemExit(f"{ECHO} is not there: build final, or set TURTLE_BINARY")
    with contextlib.closing(Suite(options.root.resolve())) as suite:
        faults = test(suite, options)
    for each in faults:
        print(each)
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
