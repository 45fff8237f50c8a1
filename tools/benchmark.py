#!/usr/bin/env python3
"""The target `benchmark`: final on port 20080, 10,500 clients, five seconds, a connection for each request.

  tools/benchmark.py [BUILD]     BUILD is a build of final (build/final)

turtle-bench reports; the exit code is its own. `./learn bench` compares with other servers.
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
            run.await_answer(port, running)
            run.check_replies(port)
            with Process(table.documented_command(bench, port)) as load:
                return load.popen.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
