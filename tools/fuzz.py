#!/usr/bin/env python3
"""Runs the fuzz targets of `final` (final/fuzz) that are built in a folder, some at a time.

  tools/fuzz.py build/fuzz --seconds 60 head uri

Each begins with its seeds and with what earlier runs kept in BUILD/fuzz/corpus. A finding is kept in
BUILD/fuzz/findings, and the exit code is 1. `./learn fuzz` builds first.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
SOURCES = ROOT / "final" / "fuzz"
# One input takes a millisecond; one that takes a minute on a busy machine never ends.
INPUT_SECONDS = 60
STUCK_SECONDS = 600  # beyond its time, for a machine that is very busy
TAIL_LINES = 60


def targets() -> list[str]:
    return sorted(path.name.removesuffix("_fuzz.cpp") for path in (SOURCES / "targets").glob("*_fuzz.cpp"))


def dictionary(target: str) -> pathlib.Path:
    own = SOURCES / "dictionaries" / f"{target}.dict"
    return own if own.is_file() else SOURCES / "dictionaries" / "http.dict"


def command(build: pathlib.Path, target: str, seconds: int) -> list[str]:
    folder = build / "fuzz"
    corpus = folder / "corpus" / target
    corpus.mkdir(parents=True, exist_ok=True)
    (folder / "findings").mkdir(exist_ok=True)
    return [
        str(folder / f"{target}_fuzz"),
        "-seed=20080",  # a run that finds something can be had again
        "-max_len=1000",
        f"-max_total_time={seconds}",
        f"-timeout={INPUT_SECONDS}",
        f"-dict={dictionary(target)}",
        f"-artifact_prefix={folder / 'findings' / target}-",
        str(corpus),
        str(SOURCES / "seeds" / target),
    ]


def summary(log: str) -> str:
    """How many inputs a run tried."""
    done = re.findall(r"^#(\d+)\s+DONE\s+cov: (\d+)", log, re.MULTILINE)
    return f"{int(done[-1][0]):,} inputs, {done[-1][1]} edges" if done else "no inputs"


def explain(build: pathlib.Path, target: str, log: str) -> str:
    """What a run found, and how to see it again."""
    found = re.findall(r"Test unit written to (\S+)", log)
    lines = [line for line in log.splitlines() if not line.startswith(("#", "INFO:"))]
    text = "\n".join(f"  | {line}" for line in lines[-TAIL_LINES:])
    if found:
        text += (
            f"\n  once more:   {build}/fuzz/{target}_fuzz {found[-1]}"
            f"\n  as a seed:   cp {found[-1]} {SOURCES.relative_to(ROOT)}/seeds/{target}/NAME"
        )
    return text


def run(build: pathlib.Path, target: str, seconds: int) -> tuple[bool, str]:
    """Whether all was well, and what is to be said."""
    options = "quarantine_size_mb=32:" + os.environ.get("ASAN_OPTIONS", "")
    try:
        done = subprocess.run(
            command(build, target, seconds),
            env={**os.environ, "ASAN_OPTIONS": options},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=seconds + STUCK_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return False, f"{target}: {error}"
    log = done.stdout.decode(errors="replace")
    if done.returncode == 0:
        return True, f"{target}: {summary(log)}, nothing found"
    return False, f"{target}: FOUND SOMETHING (status {done.returncode})\n{explain(build, target, log)}"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tools/fuzz.py", description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="a build of final with TURTLE_FUZZ")
    parser.add_argument("targets", metavar="TARGET", nargs="*", help=f"of {', '.join(targets())}; all")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--at-once", type=int, default=os.cpu_count() or 2)
    options = parser.parse_intermixed_args(arguments)
    if wrong := sorted(set(options.targets) - set(targets())):
        parser.error(f"there is no target {wrong[0]}; there are {', '.join(targets())}")
    with concurrent.futures.ThreadPoolExecutor(options.at_once) as pool:
        jobs = [pool.submit(run, options.build, each, options.seconds) for each in options.targets or targets()]
        for job in concurrent.futures.as_completed(jobs):
            print(job.result()[1], flush=True)
    return 0 if all(job.result()[0] for job in jobs) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
