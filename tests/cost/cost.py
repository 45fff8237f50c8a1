#!/usr/bin/env python3
"""What a request costs, held against what it may cost: the ceilings in ceilings.json.

    python3 tests/cost/cost.py [SCENARIO ...]           a table; status 1 if something costs more
    python3 tests/cost/cost.py --functions SCENARIO     where its instructions go
    python3 tests/cost/cost.py --update [SCENARIO ...]  new ceilings: what it costs now, with
                                                        2 % of room for instructions, none for the rest

TURTLE_BINARY names the program; without it build/final/turtle, a Release build. Instructions depend
on compiler and C library; ceilings.json names those that it was made with. With others, only system
calls are compared, and the table says so.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import pathlib
import platform
import re
import sys

import measure
import session

CEILINGS = pathlib.Path(__file__).resolve().parent / "ceilings.json"
ROOM = 1.02  # for instructions: the same source takes 0.1 % more or less from run to run
SLACK = 0.03  # for what is counted: an event in a hundred requests that came at another time
ATTEMPTS = 3  # what disturbs a run only adds to it, so the least of some runs is what counts
ADVICE = (
    "if that is what it has to cost: python3 tests/cost/cost.py --update, and commit ceilings.json;\n"
    "    where it goes: python3 tests/cost/cost.py --functions {name}"
)


@dataclasses.dataclass(frozen=True)
class Cost:
    """Of one request."""

    instructions: float
    allocations: float
    calls: dict[str, float]
    functions: dict[str, float] = dataclasses.field(default_factory=dict)

    @property
    def syscalls(self) -> float:
        return round(sum(self.calls.values()), 2)


# --- what the numbers depend on ------------------------------------------------------------------


def toolchain() -> dict[str, str]:
    """What counts of instructions depend on, besides the source."""
    program = measure.BINARY.read_bytes()  # of clang's programs parts are made by GCC
    compiler = re.search(rb"clang version [\d.]+", program) or re.search(rb"GCC: \([^)]*\) [\d.]+", program)
    release = dict(re.findall(r'^(\w+)="?([^"\n]*)', pathlib.Path("/etc/os-release").read_text(encoding="utf-8"), re.M))
    flags = re.search(r"^flags\s*:(.*)$", pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.M)
    return {
        "compiler": compiler[0].decode() if compiler else "unknown",
        "system": f"{release.get('ID', '?')} {release.get('VERSION_ID', '?')}",
        "libc": os.confstr("CS_GNU_LIBC_VERSION") or "unknown",
        # The C library chooses its memcpy by what the processor can do.
        "processor": platform.machine() + (" with AVX2" if flags and " avx2" in flags[1] else ""),
    }


def difference(recorded: dict[str, str], here: dict[str, str]) -> str:
    """Why instructions can't be compared; "": they can."""
    other = [f"{key} {here[key]}, not {recorded[key]}" for key in recorded if here.get(key) != recorded[key]]
    return f"instructions are not compared: the ceilings are of another {'; '.join(other)}" if other else ""


# --- comparing -----------------------------------------------------------------------------------


def excess(name: str, unit: str, value: float, ceiling: float, details: str = "") -> str:
    """What to say of a value above its ceiling; "": it isn't."""
    limit = ceiling if unit == "instructions" else ceiling + SLACK
    if value <= limit:
        return ""
    percent = f" (+{100 * (value / ceiling - 1):.1f} %)" if ceiling else ""
    return (
        f"{name}: {value:g} {unit} per request, the ceiling is {ceiling:g}{percent}\n"
        f"    {session.SCENARIOS[name].what}\n"
        f"{details}    {ADVICE.format(name=name)}"
    )


def check_calls(name: str, ceilings: dict[str, object]) -> str:
    """System calls of a scenario; "" or what is wrong."""
    trouble = ""
    for _ in range(ATTEMPTS):
        calls = measure.strace(session.SCENARIOS[name])
        details = f"    now: {describe(calls)}\n    then: {describe(ceilings['calls'])}\n"
        trouble = excess(name, "system calls", round(sum(calls.values()), 2), ceilings["syscalls"], details)
        if not trouble:
            break
    return trouble


def check_instructions(name: str, ceilings: dict[str, object]) -> str:
    """Instructions and allocations of a scenario; "" or what is wrong."""
    trouble = ""
    for _ in range(ATTEMPTS):
        instructions, allocations, functions = measure.callgrind(session.SCENARIOS[name])
        found = [
            excess(name, "instructions", round(instructions), ceilings["instructions"], table(functions, 8)),
            excess(name, "allocations", round(allocations, 2), ceilings["allocations"]),
        ]
        trouble = "\n".join(each for each in found if each)
        if not trouble:
            break
    return trouble


def describe(calls: dict[str, float]) -> str:
    return ", ".join(f"{name} {count:g}" for name, count in calls.items())


def table(functions: dict[str, float], lines: int) -> str:
    most = sorted(functions.items(), key=lambda item: -item[1])[:lines]
    return "".join(f"    {count:8.0f}  {name[:96]}\n" for name, count in most)


# --- the command ---------------------------------------------------------------------------------


def cost_of(name: str) -> Cost:
    scenario = session.SCENARIOS[name]
    runs = [Cost(*measure.callgrind(scenario)[:2], measure.strace(scenario)) for _ in range(2)]
    return Cost(
        min(each.instructions for each in runs),
        abs(round(min(each.allocations for each in runs), 2)),
        min((each.calls for each in runs), key=lambda calls: sum(calls.values())),
    )


def update(names: list[str]) -> int:
    here = toolchain()
    old = json.loads(CEILINGS.read_text(encoding="utf-8")) if CEILINGS.exists() else {}
    if names and old and difference(old["toolchain"], here):
        print("cost: with another toolchain all scenarios have to be updated", file=sys.stderr)
        return 2
    requests = {name: old["requests"][name] for name in session.SCENARIOS if name in old.get("requests", {})}
    for name in names or session.SCENARIOS:
        cost = cost_of(name)
        requests[name] = {
            "instructions": math.ceil(cost.instructions * ROOM),
            "allocations": cost.allocations,
            "syscalls": cost.syscalls,
            "calls": cost.calls,
        }
        print(f"{name}: {json.dumps(requests[name])}", flush=True)
    text = json.dumps({"toolchain": here, "requests": requests}, indent=2)
    CEILINGS.write_text(text + "\n", encoding="utf-8")
    return 0


def check(names: list[str]) -> int:
    ceilings = json.loads(CEILINGS.read_text(encoding="utf-8"))
    reason = difference(ceilings["toolchain"], toolchain())
    if reason:
        print(f"cost: {reason}")
    print(f"{'scenario':<16} {'instructions':>20} {'allocations':>14} {'system calls':>14}   (ceiling)")
    troubles = []
    for name in names or session.SCENARIOS:
        limit = ceilings["requests"][name]
        cost = cost_of(name)
        print(
            f"{name:<16} {cost.instructions:10.0f} ({limit['instructions']:7}) {cost.allocations:6g} "
            f"({limit['allocations']:5g}) {cost.syscalls:6g} ({limit['syscalls']:5g})   {describe(cost.calls)}",
            flush=True,
        )
        found = [excess(name, "system calls", cost.syscalls, limit["syscalls"])]
        if not reason:
            found += [
                excess(name, "instructions", round(cost.instructions), limit["instructions"]),
                excess(name, "allocations", cost.allocations, limit["allocations"]),
            ]
        troubles += [each for each in found if each]
    print("\n".join(troubles))
    return 1 if troubles else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help=", ".join(session.SCENARIOS))
    parser.add_argument("--update", action="store_true", help="write new ceilings")
    parser.add_argument("--functions", action="store_true", help="the functions that spend most")
    options = parser.parse_args()
    unknown = set(options.scenarios) - set(session.SCENARIOS)
    if unknown:
        parser.error(f"no such scenario: {', '.join(sorted(unknown))}")
    try:
        if options.functions:
            for name in options.scenarios or session.SCENARIOS:
                instructions, _, functions = measure.callgrind(session.SCENARIOS[name])
                print(f"{name}: {instructions:.0f} instructions per request\n{table(functions, 30)}", end="")
            return 0
        return update(options.scenarios) if options.update else check(options.scenarios)
    except measure.CannotMeasure as error:
        print(f"cost: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
