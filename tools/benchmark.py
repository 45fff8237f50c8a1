#!/usr/bin/env python3
"""The target `benchmark`: final on port 20080, 10,500 clients, five seconds, a connection for each request.

  tools/benchmark.py [BUILD]     BUILD is a build of final (build/final)

turtle-bench reports, and what the server cost is added; the exit code is turtle-bench's. `./learn bench`
compares with other servers.
"""

from __future__ import annotations

import argparse
import pathlib
import signal
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from measure import cli, process, run, table  # noqa: E402
from measure.process import Failed, Process  # noqa: E402

DESCRIPTORS = 10_600  # for the clients and a few files


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tools/benchmark.py", description=__doc__.splitlines()[0])
    parser.add_argument("build", metavar="BUILD", nargs="?", type=pathlib.Path, default=cli.BUILD)
    parser.add_argument("--port", type=int, default=20080)
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, cli.stop)
    try:
        return measure(options.build.resolve(), options.port)
    except Failed as failure:
        print(f"benchmark: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nbenchmark: interrupted", file=sys.stderr)
        return 130


def measure(build: pathlib.Path, port: int) -> int:
    server, bench = build / "turtle", run.find_bench(build)
    if not server.is_file() or not bench:
        raise Failed(f"turtle and turtle-bench are not both in {build}; build them: cmake --build {build}")
    if not process.is_free(port):
        raise Failed(f"port {port} is in use; `ss -ltnp` shows by whom")
    limit = process.raise_descriptors()
    if limit < DESCRIPTORS:
        raise Failed(f"10,500 clients need {DESCRIPTORS:,} descriptors, and `ulimit -Hn` allows {limit:,}")
    with tempfile.TemporaryDirectory(prefix="turtle-benchmark-") as folder:
        run.make_pages(pathlib.Path(folder))
        with Process([str(server), "serve", folder, "--port", str(port)]) as running:
            run.await_answer(port, table.SCENARIOS[0], running)
            run.check_replies(port, table.SCENARIOS[0])
            before = process.cpu_seconds(running.members())
            result = pathlib.Path(folder) / "figures.json"
            with Process(table.documented_command(bench, port, str(result))) as load:
                code = load.popen.wait()
            if running.popen.poll() is not None:
                raise Failed(f"the server ended under the load, with {running.popen.returncode}")
            if code == 0:
                report_cost(process.cpu_seconds(running.members()) - before, result)
            return code


def report_cost(seconds: float, result: pathlib.Path) -> None:
    """turtle-bench knows its own cost only."""
    if not process.PROC.is_dir():
        return
    requests = run.read_load(result.read_text(encoding="utf-8"))["requests"]
    print(f"  CPU of the server: {seconds:.2f} s, {seconds / requests * 1e6:.2f} us for each request", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
