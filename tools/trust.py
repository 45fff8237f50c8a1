#!/usr/bin/env python3
"""Runs the long proofs, and keeps what they counted for docs/trust.md in docs/measured/trust.json.

    tools/trust.py                          all of them, some hours
    tools/trust.py soak figures --minutes 15

Each proof is the command that CONTRIBUTING.md tells of; what it prints is read here. One that finds
fault is shown, the exit code is 1, and its old numbers stay. TURTLE_BINARY says which program;
without it build/final/turtle.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import time
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parents[1]
RESULTS = ROOT / "docs" / "measured" / "trust.json"
TAIL = 3000  # characters of a proof that failed

Numbers = dict[str, float]


class Unreadable(Exception):
    """A proof did not print what is looked for."""


@dataclasses.dataclass(frozen=True)
class Proof:
    commands: Callable[[argparse.Namespace], list[str]]  # for the shell
    read: Callable[[str], Numbers]


def numbers(pattern: str, text: str, *names: str) -> Numbers:
    """The groups of the last match, by `names`."""
    found = [*re.finditer(pattern, text, re.MULTILINE)]
    if not found:
        raise Unreadable(f"no {pattern!r}")
    return {name: number(group) for name, group in zip(names, found[-1].groups(), strict=True)}


def number(text: str) -> float:
    value = float(text.replace(",", ""))
    return int(value) if value.is_integer() else value


def read_rows(text: str) -> Numbers:
    return {
        **numbers(r"^all +(\d+) +(\d+) +(\d+) +(\d+)$", text, "must", "should", "may", "rows"),
        **numbers(r"(\d+) rows, (\d+) ways to cut them", text, "cut rows", "ways"),
    }


def read_tests(text: str) -> Numbers:
    return numbers(r"^(\d+) passed in ", text, "tests")


def read_figures(text: str) -> Numbers:
    return {
        **numbers(r"^half-open heads held +(\d+)$", text, "crowd"),
        **numbers(r"^others, median and p99 +([\d.]+) ms +([\d.]+) ms$", text, "median ms", "p99 ms"),
        **numbers(r"^  without the crowd +([\d.]+) ms +([\d.]+) ms$", text, "alone median ms", "alone p99 ms"),
        **numbers(r"^resident +([\d.]+) MiB, ([\d.]+) before$", text, "resident MiB", "before MiB"),
        **numbers(r"^each of them +(\d+) bytes$", text, "bytes"),
        **numbers(r"^CPU while nothing happens +([\d.]+) %$", text, "idle percent"),
        **{f"cut {name}": number(seconds) for name, seconds in re.findall(r"^  (\S.*?) +([\d.]+) s$", text, re.M)},
    }


def read_fuzz(text: str) -> Numbers:
    found = re.findall(r"^(\w+): ([\d,]+) inputs, \d+ edges, nothing found$", text, re.MULTILINE)
    if not found:
        raise Unreadable("no target has run")
    return {
        "targets": len(found),
        "inputs": sum(int(number(inputs)) for _, inputs in found),
        **{f"inputs {target}": number(inputs) for target, inputs in found},
    }


def read_faults(text: str) -> Numbers:
    sentence = r"(\d+) runs, (\d+) of them met their fault: (\d+) refused to start, in (\d+) a client"
    return numbers(sentence, text, "runs", "met", "refused", "noticed")


def read_stops(text: str) -> Numbers:
    return numbers(r"^(\d+) whole replies$", text, "replies")


def read_soak(text: str) -> Numbers:
    return {
        **numbers(r"^(\d+) requests, (\d+) resets, 0 faults$", text, "requests", "resets"),
        "acts": sum(int(count) for count in re.findall(r"^ +(\d+) \w+$", text, re.MULTILINE)),
        "rounds": len(re.findall(r"^  round ", text, re.MULTILINE)),
    }


def read_coverage(text: str) -> Numbers:
    excused = json.loads((ROOT / "tools/learn/unreached.json").read_text(encoding="utf-8"))["branches"]
    return {
        **numbers(r"^  all of final/src +(\d+) +([\d.]+)%$", text, "lines", "percent"),
        "excused": sum(map(len, excused.values())),
    }


def python(words: str) -> str:
    return f"{sys.executable} {words}"


# In the order of the page.
PROOFS = {
    "rows": Proof(
        lambda _: [
            python("tests/conformance/cases"),
            python("tests/conformance/cases --bytes | build/fuzz/fuzz/splits -"),
        ],
        read_rows,
    ),
    "attack": Proof(lambda _: ["build/venv/bin/python -m pytest -q -p no:cacheprovider tests/attack"], read_tests),
    "figures": Proof(lambda _: [python("tests/attack/figures.py")], read_figures),
    "fuzz": Proof(lambda options: [f"./learn fuzz --minutes {options.minutes:g}"], read_fuzz),
    "faults": Proof(lambda _: [python("tests/faults/matrix.py --all")], read_faults),
    "stops": Proof(lambda options: [python(f"tests/faults/stop.py --rounds {options.rounds}")], read_stops),
    "soak": Proof(
        lambda options: [python(f"tests/soak/soak.py --minutes {options.minutes:g} --threads 8")], read_soak
    ),
    "coverage": Proof(lambda _: ["./learn coverage"], read_coverage),
}
# What was asked for is a number too.
ASKED = {"fuzz": "minutes", "soak": "minutes", "stops": "rounds"}


def run(proof: Proof, options: argparse.Namespace) -> Numbers:
    said = ""
    for command in proof.commands(options):
        done = subprocess.run(command, shell=True, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
        said += done.stdout
        if done.returncode:
            raise Unreadable(f"{command} ended with {done.returncode}\n{said[-TAIL:]}")
    return proof.read(said)


def keep(name: str, found: Numbers, path: pathlib.Path = RESULTS) -> None:
    results = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    named = {re.sub(r"\W+", "-", what).strip("-"): value for what, value in found.items()}
    results[name] = {"date": time.strftime("%Y-%m-%d"), **named}
    ordered = {each: results[each] for each in PROOFS if each in results}
    path.write_text(json.dumps(ordered, indent=2) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("proofs", nargs="*", metavar="PROOF", help=f"of {', '.join(PROOFS)}; all")
    parser.add_argument("--minutes", type=float, default=15.0, help="of a soak, and of each fuzz target (%(default)g)")
    parser.add_argument("--rounds", type=int, default=1000, help="servers that are stopped (%(default)s)")
    options = parser.parse_intermixed_args()
    if wrong := [name for name in options.proofs if name not in PROOFS]:
        parser.error(f"there is no proof {wrong[0]}; there are {', '.join(PROOFS)}")
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    bad = 0
    for name in options.proofs or PROOFS:
        begun = time.monotonic()
        try:
            found = run(PROOFS[name], options)
        except Unreadable as error:
            bad += 1
            print(f"{name}: {error}", flush=True)
            continue
        if name in ASKED:
            found[ASKED[name]] = getattr(options, ASKED[name])
        keep(name, found)
        print(f"{name}, {time.monotonic() - begun:.0f} s: {found}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
