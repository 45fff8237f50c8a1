#!/usr/bin/env python3
"""Runs clang-tidy on the files of a build, and not again on those that have passed and not changed since.

    tools/tidy.py BUILD [REGEX]      the files in BUILD/compile_commands.json whose path matches

What a file's result rests on is the file, all that it includes outside the system, its command, .clang-tidy
and the installed packages. --again looks at all of them.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from learn import proofs  # noqa: E402
from learn.chapters import ROOT  # noqa: E402

SETTINGS = ROOT / ".clang-tidy"


def included(command: list[str], folder: pathlib.Path) -> list[pathlib.Path]:
    """The file and what it includes, without the headers of the system, which packages bring."""
    at = command.index("-o") if "-o" in command else len(command)
    words = [word for number, word in enumerate(command) if number not in (at, at + 1) and word != "-c"]
    done = subprocess.run([*words, "-MM"], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return []
    names = re.sub(r"^[^:]*:|\\\n", " ", done.stdout)
    return [(folder / name).resolve() for name in shlex.split(names)]


def check(entry: dict, build: pathlib.Path, kept: proofs.Proofs) -> tuple[str, str]:
    """How one file fared: "cached", "ok", or "FAILED"; and what was said about it."""
    folder = pathlib.Path(entry["directory"])
    command = shlex.split(entry["command"])
    # The compiler cache has nothing to do with it, and its settings name the folder.
    while not re.search(r"(?:^|/)(?:clang\+\+|g\+\+|c\+\+)[^/]*$", command[0]):
        del command[0]
    inputs = included(command, folder)
    name = proofs.key(command, [*inputs, SETTINGS], {}) if inputs else ""
    if name and kept.find(name):
        return "cached", ""
    done = subprocess.run(
        ["clang-tidy", "--quiet", "-p", str(build), entry["file"]],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    said = "\n".join(line for line in done.stdout.splitlines() if not re.match(r"\d+ warnings? ", line)).strip()
    if done.returncode != 0 or ": warning: " in said or ": error: " in said:
        return "FAILED", said
    if name:
        kept.keep(name, {"file": entry["file"]})
    return "ok", ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("regex", nargs="?", default="")
    parser.add_argument("--again", action="store_true", help="also what has passed and not changed since")
    options = parser.parse_args()
    commands = json.loads((options.build / "compile_commands.json").read_text(encoding="utf-8"))
    chosen = {each["file"]: each for each in commands if re.search(options.regex, each["file"])}
    kept = proofs.Proofs("tidy", options.again)
    kept.remove_old()
    counts = dict.fromkeys(("ok", "cached", "FAILED"), 0)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        todo = {pool.submit(check, each, options.build, kept): each["file"] for each in chosen.values()}
        for number, done in enumerate(concurrent.futures.as_completed(todo), 1):
            status, said = done.result()
            counts[status] += 1
            if said:
                print(f"{said}\n", flush=True)
            print(f"[{number}/{len(chosen)}] {os.path.relpath(todo[done], ROOT)}: {status}", flush=True)
    print(f"{counts['ok']} passed, {counts['cached']} cached, {counts['FAILED']} failed")
    return 1 if counts["FAILED"] or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
